"""What the ways to fit a table have in common: their result, their progress, and notes on thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lvq.rejection import RejectClassifier
from lvq.rejection.coverage import OUTLIER_REMEDY
from lvq.rejection.guarantee_error import weaker_guarantee
from lvq.rejection.point import CertifiedPoint
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


def threshold_notes(classifier: RejectClassifier, n_rows: int, unit: str) -> list[str]:
    """What about the thresholds is not as requested; the classifier keeps it, in rows of the user's table."""
    point = classifier.point_
    if isinstance(point, CertifiedPoint) and point.requested_error is not None:
        classifier.notes_ = (weaker_guarantee(point, n_rows, unit),)
    # a parameter of RejectClassifier that fit_table and the command line do not have
    classifier.notes_ = tuple(text.replace(OUTLIER_REMEDY, "") for text in classifier.notes_)
    return list(classifier.notes_)
