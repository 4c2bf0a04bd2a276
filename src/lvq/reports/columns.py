"""The columns that the page shows: those of the data where the steps before the model can be followed back.

Otherwise, as behind a Normalizer, they are the features that reach the model. This file alone asks how a pipeline maps
columns to features; the rest of the report sees names, values and contributions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import Fractions, category_fractions, input_cells, input_values, used_columns
from lvq.inspection.explain import explain
from lvq.inspection.steps import input_names
from lvq.plots import feature_names
from lvq.plots.arrays import pixel_places
from lvq.reports.metrics import Codes, Floats
from lvq.reports.text import rounded
from lvq.typing import JSONValue, MatrixLike

Cells = list[list[JSONValue]]
WHOLE = 0.995  # fraction from which a category is shown without it
NOTED = 0.005  # fraction from which missing values are mentioned


class Explained(NamedTuple):
    """Winner and rival of each sample, and the contributions of the columns that are shown."""

    winner: Codes
    rival: Codes
    contributions: Floats


class Columns:
    """Names, values and contributions of the columns that the page shows.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or in a Pipeline, a search or a RejectClassifier.
    X : array-like
        Some samples.
    names : sequence of str, optional
        Names of the columns of X, where X has none.
    dates : collection of str, default=()
        Columns that hold days since 1970, which are shown as dates.

    Attributes
    ----------
    in_units : bool
        Whether columns are those of X; otherwise they are the features of the model.
    names : list of str
        Names of the columns that are shown.
    places : ndarray of int
        Their indices among the columns of X, or among the features of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> columns = Columns(model, X, ["a", "b", "c", "d"])
    >>> columns.names, columns.in_units, columns.samples(columns.cells(X[:1], X[:1]))
    (['a', 'b', 'c', 'd'], True, [[5.1, 3.5, 1.4, 0.2]])
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        X: MatrixLike,
        names: Sequence[str] | None = None,
        dates: Collection[str] = (),
    ) -> None:
        self.estimator, self.found = estimator, need_model(estimator, "the report")
        self.model = self.found.model
        first = self.found.steps[0] if self.found.steps else self.found.estimator
        every = input_names(first).tolist() if hasattr(first, "n_features_in_") else []
        if names is not None and len(names) != len(every):
            raise ValueError(
                f"feature_names must have a name for each of the {len(every)} columns of X, got {len(names)}; give as "
                "many names as columns."
            )
        self.all_names = every if names is None else [str(name) for name in names]
        values, prototypes = self._follow(X), self.model.prototypes
        self.in_units = values is not None
        if values is None:
            self.names, self.fractions = feature_names(estimator).tolist(), Fractions({}, {})
            self.places, self.values = np.arange(len(self.names)), prototypes.astype(np.float64).tolist()
        else:
            self.places = used_columns(self.found.steps, self.model.n_features, len(self.all_names)).nonzero()[0]
            self.names = [self.all_names[place] for place in self.places]
            self.fractions = category_fractions(self.found, prototypes)
            encoded = [place in self.fractions.categories for place in self.places]
            self.values = [[str(cell) if code else cell for cell, code in zip(row, encoded)] for row in values]
        self.dates = self._timed(X, dates)

    def _follow(self, X: MatrixLike) -> Cells | None:
        """The prototypes in the columns of X that reach the model; None where these cannot be followed back."""
        try:
            cells = explain(self.estimator, X[:1] if not hasattr(X, "iloc") else X.iloc[:1]).prototype_values
        except ValueError:  # a step through which contributions cannot go back
            return None
        used = used_columns(self.found.steps, self.model.n_features, len(self.all_names))
        if cells is None or any(cell is None for cell in cells[:, used].ravel()):
            return None
        return cells[:, used].tolist()

    def _timed(self, X: MatrixLike, dates: Collection[str]) -> dict[int, bool]:
        """Which columns are shown as dates, and whether with the time of the day."""
        shown = {k: name for k, name in enumerate(self.names) if self.in_units and name in dates}
        days = {k: np.asarray(X[name], dtype=np.float64) for k, name in shown.items()}
        return {k: bool((values[np.isfinite(values)] % 1 != 0).any()) for k, values in days.items()}

    def shown(self, k: int, value: JSONValue, *, exact: bool = False) -> JSONValue:
        """A value of column k as the page shows it: a rounded number, a date, a category, or None."""
        if isinstance(value, bool) or not isinstance(value, float | int | np.number):
            return None if value is None else str(value)
        if k in self.dates:
            from lvq.tables.values import iso_date

            return iso_date(float(value), exact and self.dates[k])
        return rounded(float(value))

    def cells(self, X: MatrixLike, inputs: Floats) -> Cells:
        """The values of samples as they were given; None where a value is missing."""
        if not self.in_units:
            return [[None if cell != cell else cell for cell in row] for row in inputs.tolist()]
        rows = (input_cells(X, row) for row in range(len(inputs)))
        return [[row[place] for place in self.places] for row in rows]

    def samples(self, cells: Cells) -> Cells:
        """The values of samples as the page shows them."""
        return [[self.shown(k, cell, exact=True) for k, cell in enumerate(row)] for row in cells]

    def filled(self, samples: Cells, inputs: Floats) -> Cells:
        """The values that a step has put where samples have none; None elsewhere."""
        read = input_values(self.found, inputs) if self.in_units else None
        if read is None:
            return [[None] * len(self.names) for _ in samples]
        return [
            [self.shown(k, cells[place]) if given[k] is None else None for k, place in enumerate(self.places)]
            for given, cells in zip(samples, read)
        ]

    def explained(self, X: MatrixLike, inputs: Floats, predicted: Codes | None) -> Explained:
        """Winner, rival and contributions; `predicted` are classes that were not chosen by the nearest prototype."""
        if self.in_units:
            found = explain(self.estimator, X)
            return Explained(found.winner, found.rival, found.contributions[:, self.places])
        of_model = self.model.explain(inputs, predicted)
        return Explained(of_model.winner, of_model.rival, of_model.contributions)

    # -- prototypes ----------------------------------------------------------------------------------------------------

    def prototype(self, j: int, k: int) -> JSONValue:
        """Value of prototype j in column k: a number, a date, or the category with the largest fraction."""
        return self.shown(k, self.values[j][k])

    def prototype_text(self, j: int, k: int) -> JSONValue:
        """The same, with the fraction of a category where it is not the only one."""
        note, value = self.note(j, k), self.prototype(j, k)
        return f"{value} ({note})" if note and self.n_categories(k) else value

    def note(self, j: int, k: int) -> str:
        """The fraction of a category, or of missing values, of prototype j in column k; "" where there is none."""
        place = int(self.places[k])
        if place in self.fractions.categories:
            fraction = self.fractions.categories[place].fractions[j].max()
            return "" if fraction >= WHOLE else _percent(fraction)
        fraction = self.fractions.missing[place][j] if place in self.fractions.missing else 0.0
        return f"{_percent(fraction)} missing" if fraction >= NOTED else ""

    def n_categories(self, k: int) -> int | None:
        """Number of categories of column k; None for numbers."""
        known = self.fractions.categories.get(int(self.places[k]))
        return None if known is None else len(known.categories)

    def position(self, j: int, k: int, low: float, high: float) -> float:
        """Where the value of a prototype lies between two bounds, from 0 to 1; of a category its fraction."""
        known = self.fractions.categories.get(int(self.places[k]))
        if known is not None:
            return float(known.fractions[j].max())
        value = _number(self.values[j][k])
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low and np.isfinite(value) else 0.5

    def prototype_numbers(self) -> Floats:
        """Values of all prototypes; NaN for categories."""
        return as_numbers(self.values)

    # -- images --------------------------------------------------------------------------------------------------------

    def images(self, values: Floats | None = None) -> tuple[int, Floats] | None:
        """Side and pixels of the prototypes, or of given values of the columns; None where X is no image."""
        places = pixel_places(self.all_names) if self.in_units and self.all_names else None
        if places is None:
            return None
        own = self.prototype_numbers() if values is None else values
        whole = np.zeros((len(own), len(self.all_names)))
        whole[:, self.places] = np.nan_to_num(own)
        return places.side, places.whole(whole)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}\N{NO-BREAK SPACE}%"


def as_numbers(cells: Cells) -> Floats:
    """Cells as an array of numbers; NaN for categories and missing values."""
    return np.array([[_number(cell) for cell in row] for row in cells], dtype=np.float64)


def _number(cell: object) -> float:
    is_number = isinstance(cell, float | int | np.number) and not isinstance(cell, bool)
    return float(cell) if is_number else float("nan")  # type: ignore[arg-type]
