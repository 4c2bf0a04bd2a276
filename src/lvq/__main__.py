"""``python -m lvq`` is the command ``lvq``."""

from lvq.cli import main

if __name__ == "__main__":
    main()
