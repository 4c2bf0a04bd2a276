"""The rows of a table as a fitted model takes them, and its predictions for some of them.

Rules:
- columns are matched by name; a missing column is an error, one that the model does not use is named in a note;
- a row is always rejected if it has an unknown category, a missing value in a column that had none in training, or a
  number whose distances overflow; if a number is missing or too large, it has no label either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, find_model
from lvq.inspection.columns import input_blocks
from lvq.inspection.explain import LARGEST_LOGARITHM, contributions_between
from lvq.inspection.steps import adapter
from lvq.preprocessing.table import Kind, TablePreprocessor, read_cells
from lvq.rejection.classifier import judged
from lvq.rejection.scores import Predictions
from lvq.tables.header import MISSING_TEXT, TableError, check_columns, listed
from lvq.tables.read import Table
from lvq.tables.values import Marks, Meaning, as_text
from lvq.workflow.columns import LARGEST
from lvq.workflow.pipeline import ignores_missing

#: Columns of the predictions.
COLUMNS = ("label", "certainty", "accepted", "reason", "because", "winner")
MAX_REASONS, MIN_SHARE = 3, 0.05  # columns that support a label: their number, and their share of all contributions
_TEXTS = ("label", "reason", "because", "winner")
_EMPTY = dict(zip(COLUMNS, (None, np.nan, False, "", "", None)))  # a row without a prediction
_NOTES = {
    "missing value": "a missing value of {name!r}, which had none in training",
    "unknown category": "an unknown category of {name!r}",
    "value too large": "a value of {name!r} that is too large to compute distances",
}


class RowPredictor:
    """Predicts rows of a table by a model that was fitted to a DataFrame, and counts values that it cannot use.

    Attributes
    ----------
    names : list of str
        The columns of the model, in their order.
    categories : dict from str to set of str
        The known categories of some.
    gaps : set of str
        Columns in which values may be missing; all columns of numbers where the model ignores missing values.
    reader : TablePreprocessor
        The first step of the model, or one that knows nothing about its columns.
    """

    def __init__(self, model: BaseEstimator, table: Table, *, probabilities: bool = False) -> None:
        if not hasattr(model, "feature_names_in_"):
            raise ValueError(
                "The model was fitted to an array without column names, so the columns of a table cannot be matched; "
                "fit it to a DataFrame, or with `lvq fit`."
            )
        self.model, self.table, self.found = model, table, find_model(model)
        self.names, self.reader = [str(name) for name in model.feature_names_in_], TablePreprocessor()
        self.categories, self.gaps = dict[str, set[str]](), set[str]()
        if self.found is not None and self.found.steps and isinstance(self.found.steps[0], TablePreprocessor):
            self.reader = self.found.steps[0]
        for block in [] if self.found is None else input_blocks(self.found)[0]:
            chosen = [self.names[place] for place in block.columns]
            known = adapter(block.steps[0]) if block.steps else None
            if known is not None and known.encodes:
                categories = [set(map(str, values)) for values in block.steps[0].categories_]
                self.categories.update(zip(chosen, categories))
            elif known is not None and known.keeps == "values":
                self.gaps.update(chosen)
        if ignores_missing(model):
            self.gaps.update(name for name in self.names if name not in self.categories)
        self.probability_columns = [f"probability {label}" for label in model.classes_] if probabilities else []
        if probabilities and not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no probabilities; leave out --probabilities.")
        self.unusable: dict[tuple[str, str], list[int]] = {}  # (reason, column): number of rows, first position

    def _kind(self, name: str) -> Kind:
        """The kind of a column."""
        return "category" if name in self.categories else getattr(self.reader, "kinds_", {}).get(name, "number")

    def meaning(self, marks: Marks, codes: Sequence[str] = ()) -> Meaning:
        """How the columns are read, and others with codes."""
        return Meaning({*self.categories, *codes}, self.reader.detection_limits, marks)

    def check_columns(self, keep: Sequence[str] = (), target: str | None = None) -> list[str]:
        """Notes on the columns of the table; one error names all that are missing."""
        names = self.table.names
        wanted = [*keep, *([] if target is None else [target]), *self.names]
        check_columns(names, wanted, str(self.table.path), self.table.notes)
        extra = [name for name in names if name not in {*self.names, *keep, target}]
        taken = [name for name in keep if name in (*COLUMNS, *self.probability_columns)]
        if taken:
            raise TableError(f"The column {listed(taken)} cannot be kept: the predictions have a column of that name.")
        return [f"Columns that the model does not use: {listed(extra)}."] if extra else []

    def __call__(self, rows: pd.DataFrame, start: int) -> pd.DataFrame:
        """Predictions for rows, the first of which is at position `start` of the table."""
        X, reason, usable = self.features(rows, start)
        empty = _EMPTY | dict.fromkeys(self.probability_columns, np.nan)
        predictions = pd.DataFrame(empty, index=rows.index).astype(dict.fromkeys(_TEXTS, object))
        if usable.any():
            for name, values in self._predict(X[usable], rows.loc[usable, self.names]).items():
                predictions.loc[usable, name] = values
        predictions["reason"] = np.where(reason == "", predictions["reason"], reason)
        predictions["accepted"] = predictions["reason"] == ""
        return predictions

    def features(self, rows: pd.DataFrame, start: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """The columns of the model, the reason for rejection of each row, and whether the model can predict it."""
        features: dict[str, np.ndarray] = {}
        reason, usable = np.full(len(rows), "", dtype=object), np.ones(len(rows), dtype=bool)
        source = str(self.table.path)
        for name in self.names:
            known = self.categories.get(name, set())
            values = features[name] = read_cells(
                rows[name], self._kind(name), known, source, lambda place: self.table.row_number(start + place)
            )
            if name in self.categories:
                unknown = np.array([value not in known for value in values])
                missing = unknown & (values == MISSING_TEXT)
                self._reject("unknown category", name, unknown & ~missing, reason, start)
            else:
                missing = np.isnan(values) & (name not in self.gaps)
                large = np.abs(values) > LARGEST
                usable &= ~missing & ~large
                self._reject("value too large", name, large, reason, start)
            self._reject("missing value", name, missing, reason, start)
        return pd.DataFrame(features, columns=self.names, index=rows.index), reason, usable

    def _reject(self, why: str, name: str, here: np.ndarray, reason: np.ndarray, start: int) -> None:
        if here.any():
            count = self.unusable.setdefault((why, name), [0, start + int(here.argmax())])
            count[0] += int(here.sum())
            reason[here & (reason == "")] = why

    def _predict(self, X: pd.DataFrame, cells: pd.DataFrame) -> dict[str, ArrayLike]:
        predictions, certainty, reason = judged(self.model, X)
        result: dict[str, ArrayLike] = {
            "label": predictions.predicted.astype(str).astype(object),
            "certainty": six_digits(certainty),
            "reason": reason.astype(object),
        }
        if self.found is not None:
            result["because"] = strongest(self.found, predictions, cells)
            result["winner"] = [f"P{index + 1}" for index in predictions.winner]
        if self.probability_columns:
            assert predictions.probabilities is not None
            result |= dict(zip(self.probability_columns, map(six_digits, predictions.probabilities.T)))
        return result

    def notes(self) -> list[str]:
        """Notes on the rows that were rejected before the model."""
        return [
            f"{count} {'row' if count == 1 else 'rows'} with {_NOTES[why].format(name=name)} (first in row "
            f"{self.table.row_number(place)}): rejected."
            for (why, name), (count, place) in self.unusable.items()
        ]


def strongest(found: FoundModel, predictions: Predictions, cells: pd.DataFrame) -> list[str]:
    """The columns that support each label most, as "odds against bad: size=4.2 (x3.1); colour=red (x1.4)".

    A factor is of this column alone, on the odds of the label against the second class. For models without odds, a
    column has its share of all contributions; the string is empty where a step before the model cannot be followed.
    """
    model, nearest = predictions.model, predictions.nearest
    try:
        amounts = contributions_between(found, predictions.inputs, nearest.winner, nearest.rival)
    except ValueError:
        return [""] * len(cells)
    scale, total = model.log_odds_scale, np.abs(amounts).sum(axis=1, keepdims=True)
    share = np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)
    factor = np.exp(np.minimum(amounts * (scale or 0.0), LARGEST_LOGARITHM))
    shown = np.char.mod("x%.3g", factor) if scale is not None else np.char.mod("%.0f %%", 100 * share)
    numbers = cells.select_dtypes("float").astype("float64")
    rounded = numbers.apply(lambda column: column.where(column % 1 == 0, six_digits(column)))
    texts = {name: as_text(column) for name, column in cells.assign(**rounded).items()}
    names, start = list(cells), "against" if scale is None else "odds against"
    reasons = (
        "; ".join(
            f"{names[k]}={texts[names[k]][row] or MISSING_TEXT} ({shown[row, k]})"
            for k in np.argsort(-amounts[row], kind="stable")[:MAX_REASONS]
            if share[row, k] > MIN_SHARE
        )
        for row in range(len(cells))
    )
    rivals = model.classes[model.labels[nearest.rival]].tolist()
    return [f"{start} {rival}: {text}" if text else "" for rival, text in zip(rivals, reasons)]


def six_digits(values: np.ndarray) -> np.ndarray:
    """Numbers rounded to six significant digits.

    Examples
    --------
    >>> six_digits(np.array([1 / 3, 1234567.0, np.nan])).tolist()
    [0.333333, 1234570.0, nan]
    """
    return np.array([float(f"{value:.6g}") for value in values])
