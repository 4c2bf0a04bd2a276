"""What the ways to fit a table have in common: their result and their progress."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lvq.rejection import RejectClassifier
from lvq.typing import JSONValue

Progress = Callable[[str, int, int], None]  # (current step, number of steps done, number of steps)


@dataclass(frozen=True)
class FitResult:
    """Result of `fit_table`.

    Attributes
    ----------
    model : RejectClassifier
        Fitted to the training rows.
    summary : dict
        Content of metrics.json; see `lvq.report.summarize`.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    folder : Path or None
        The folder of the run.
    """

    model: RejectClassifier
    summary: dict[str, JSONValue]
    notes: tuple[str, ...]
    folder: Path | None


def quiet(what: str, done: int, total: int) -> None:
    """Show no progress."""
