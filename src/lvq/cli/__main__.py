"""``python -m lvq.cli`` is ``lvq``."""

from lvq.cli import main

if __name__ == "__main__":
    main()
