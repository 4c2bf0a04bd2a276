"""The experiments of the papers, which only a checkout has."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path


def experiments_root() -> Path | None:
    """The checkout that contains this package and the experiments; None where the package is installed alone."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "experiments" / "__main__.py").exists() else None


def reproduce(paper: str, arguments: tuple[str, ...] = ()) -> int:
    """Repeat the experiments of a paper, in a checkout.

    Parameters
    ----------
    paper : str
        Name of a paper.
    arguments : tuple of str, default=()
        Further arguments of ``python -m experiments``.

    Returns
    -------
    code : int
        Its exit code.
    """
    root = experiments_root()
    if root is None:
        raise FileNotFoundError(
            "The experiments of the papers are not part of the installed package; get a checkout of the project, "
            "install it with `pip install --editable .`, and run this command again."
        )
    # a terminal sends Ctrl-C to the experiments too, which report what they keep; their exit code is waited for
    handler = None
    if threading.current_thread() is threading.main_thread():
        handler = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.call([sys.executable, "-m", "experiments", paper, *arguments], cwd=root)
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
    return code if code >= 0 else 128 - code  # as a shell has it
