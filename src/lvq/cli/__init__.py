"""The command line: ``lvq fit``, ``predict``, ``validate``, ``compare``, ``export`` and ``demo``.

Every command calls one function of `lvq.workflow`. Heavy modules are imported only when a command runs, so help and
completion are fast.
"""

import sys


def main() -> None:
    """Run the command line with the arguments of the process."""
    try:
        from lvq.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'Error: the command line needs {error.name}, which is not installed: pip install "lvq[cli]".')
    app(prog_name="lvq")
