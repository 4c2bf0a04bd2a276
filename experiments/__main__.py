"""`python -m experiments PAPER [--quick] [--jobs N] [--out DIR] [--only DATASET ...]`."""

import os
import sys

# Cells run in threads, so every matrix product gets one; NumPy reads these once, when it is first imported.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

from experiments.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
