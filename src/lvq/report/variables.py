"""The columns of a table as the reader knows them, where several features of the model belong to one column."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from lvq.inspection.columns import input_cells
from lvq.inspection.explain import explain
from lvq.inspection.inverse import VariableTable, numbers_of, variable_table
from lvq.report.features import Features, Floats
from lvq.report.formatting import rounded
from lvq.typing import JSONValue, MatrixLike


class Variables:
    """The columns of the input that reach the model, as numbers and categories; see `variables_of`.

    Parameters
    ----------
    features : Features
        The features of the model.
    prototypes : VariableTable
        All prototypes of the model.
    """

    def __init__(self, features: Features, prototypes: VariableTable) -> None:
        self.features, self.prototypes, self.columns = features, prototypes, prototypes.columns
        self.names = features.renamed(prototypes.names.tolist())

    def ranges(self, X: MatrixLike, n_samples: int) -> tuple[list[float | None], list[float | None], list[int | None]]:
        """For each variable the 1st and 99th percentile of samples, and the number of categories instead.

        Samples are those that were given, so that a missing value has no part in it, also where a step has filled it.
        """
        rows, known = [input_cells(X, row) for row in range(n_samples)], self.prototypes.parts.categories
        ends, counts = [], list[int | None]()
        for column in self.columns.tolist():
            numbers = numbers_of([row[column] for row in rows])
            counts.append(len(known[column].categories) if column in known else None)
            is_number = len(numbers) and column not in known
            ends.append(np.quantile(numbers, [0.01, 0.99]).tolist() if is_number else [None, None])
        low, high = zip(*ends)
        return rounded(list(low)), rounded(list(high)), counts

    def spread(self, low: list[float | None], high: list[float | None]) -> Floats:
        """How much the prototypes differ in each variable: of numbers in their ranges, of categories 0 or 1."""
        spread = np.zeros(len(self.names))
        for k, (least, most) in enumerate(zip(low, high)):
            column = [row[k] for row in self.prototypes.values]
            if least is None or most is None:
                spread[k] = float(len(set(column)) > 1)
            else:
                spread[k] = np.ptp(numbers_of(column)) / ((most - least) or 1.0)
        return spread

    def contributions(self, model: BaseEstimator, X: MatrixLike) -> Floats:
        """Contributions of the variables to D- - D+, for each sample."""
        return explain(model, X).contributions[:, self.columns]

    def samples(self, X: MatrixLike, n_samples: int) -> list[list[JSONValue]]:
        """Samples as they were given; None where a value is missing."""
        rows = [input_cells(X, row) for row in range(n_samples)]
        return [[_shown(row[column]) for column in self.columns] for row in rows]


def variables_of(features: Features, model: BaseEstimator, X: MatrixLike) -> Variables | None:
    """The variables, where several features of the model belong to one; None where features are the variables.

    Also None where features are shown as the model sees them, as a step cannot be inverted or combines columns.
    """
    table = variable_table(features.found, features.model.prototypes) if features.in_units else None
    if table is None:
        return None
    try:
        explain(model, X)
    except ValueError:  # a step through which contributions cannot go back
        return None
    return Variables(features, table)


def _shown(cell: object) -> JSONValue:
    if isinstance(cell, float | int) and not isinstance(cell, bool):
        return rounded(float(cell))
    return None if cell is None else str(cell)
