"""Words for the shell's completion, without anything heavy: names of models, kernels, and of a table's columns."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

MODELS = (
    "lvq", "lvq-cv", "lvq1", "lvq2.1", "lvq3", "olvq1", "rlvq", "glvq", "grlvq", "gmlvq", "lgmlvq", "mce", "logm",
    "snpc", "rslvq", "dk-glvq", "dk-gmlvq",
)  # fmt: skip
KERNELS = ("gaussian", "cauchy", "inverse_multiquadric", "rational_quadratic", "none")


def complete_model(incomplete: str) -> list[str]:
    """Models that begin so.

    Examples
    --------
    >>> complete_model("gm")
    ['gmlvq']
    """
    return [name for name in MODELS if name.startswith(incomplete.lower())]


def complete_kernel(incomplete: str) -> list[str]:
    """Kernels that begin so.

    Examples
    --------
    >>> complete_kernel("ga")
    ['gaussian']
    """
    return [name for name in KERNELS if name.startswith(incomplete.lower())]


def complete_column(incomplete: str) -> list[str]:
    """Columns, of the table that has been named already, that begin so; none where it cannot be read."""
    try:
        words = shlex.split(os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "")
        table = next(Path(word) for word in words[2:] if Path(word).is_file() and not word.endswith(".lvq"))
        from lvq.tables import column_names

        return [name for name in column_names(table) if name and name.startswith(incomplete)]
    except (StopIteration, ValueError, OSError, ImportError):
        return []
