"""The command line: ``lvq fit``, ``predict``, ``compare``, ``report``, ``export``, ``reproduce`` and ``demo``.

Every command is one call of a function of `lvq.workflow`. Nothing heavy is imported before a command runs, so that help
and completion are quick.
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
