"""Training from streams: batches of a function, or files larger than memory."""
