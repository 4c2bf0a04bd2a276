"""Training from streams: batches of a function, or files larger than memory, with checkpoints."""

from lvq.streaming.fitting import fit_batches

__all__ = ["fit_batches"]
