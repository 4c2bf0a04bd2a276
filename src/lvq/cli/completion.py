"""Shell completion: names of models, of kernels, and of the columns of a table; imports no heavy module at start."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from lvq.estimators.registry import ESTIMATORS, short_name


def complete_model(incomplete: str) -> list[str]:
    """Names of models that begin with a text.

    Examples
    --------
    >>> complete_model("gm")
    ['gmlvq']
    """
    return [name for name in map(short_name, ESTIMATORS) if name.startswith(incomplete.lower())]


def complete_kernel(incomplete: str) -> list[str]:
    """Names of kernels that begin with a text.

    Examples
    --------
    >>> complete_kernel("ga")
    ['gaussian']
    """
    from lvq.model.links import KERNELS

    return [name for name in (*KERNELS, "none") if name.startswith(incomplete.lower())]


def complete_column(incomplete: str) -> list[str]:
    """Columns that begin with a text, of the table on the command line; none where it cannot be read."""
    try:
        words = shlex.split(os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "")
        table = next(Path(word) for word in words[2:] if Path(word).is_file() and not word.endswith(".lvq"))
        from lvq.tables import column_names

        return [name for name in column_names(table) if name and name.startswith(incomplete)]
    except (StopIteration, ValueError, OSError, ImportError):
        return []
