"""Speed, measured against the machine's own limit in the same run. Run with `make bench`."""
