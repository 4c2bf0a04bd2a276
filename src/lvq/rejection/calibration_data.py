"""What a calibration works on: settings, samples as given, and samples as predicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from lvq.estimators.over_partitions import chosen_rows
from lvq.estimators.partition_checks import is_dask
from lvq.rejection.corrections import Guarantee
from lvq.rejection.guarantee import ClassifiedSamples
from lvq.rejection.measures import Combination, SampleFunction
from lvq.rejection.validation import BoolArray, FloatArray, IntArray
from lvq.typing import Argument, CrossValidation, FittedFold, Labels, MatrixLike


@dataclass(frozen=True)
class Settings:
    """The parameters of a RejectClassifier as `fit` uses them; see there.

    `target` names the target of the operating point and its value; with a guarantee it is not used.
    """

    estimator: BaseEstimator
    measure: Combination
    thresholds: str = "optimal"
    cells: str | SampleFunction = "auto"
    min_cell_size: int = 10
    target: tuple[str, float] = ("min_coverage", 0.9)
    guarantee: Guarantee | None = None
    per_class: bool = False
    on_failure: str = "raise"
    cv: CrossValidation | Iterable[FittedFold] | Literal["prefit"] = None
    calibration_size: float = 0.3
    min_known: float | None = None
    usual_missing: float = 0.0  # missing values of a training sample, on the mean

    @property
    def is_prefit(self) -> bool:
        """Whether the estimator is fitted already."""
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    @property
    def is_cross_fitted(self) -> bool:
        """Whether the thresholds are fitted on the samples of cross-validation."""
        return self.cv is not None and not self.is_prefit

    @property
    def breaks_ties(self) -> bool:
        """Whether a coverage is requested, for which samples of equal certainty may have to be separated."""
        return self.guarantee is None and self.target[0] == "min_coverage"


class Data(NamedTuple):
    """Samples and classes, which samples have weight, and the metadata for `fit` and `split`."""

    X: MatrixLike
    y: Labels
    weighted: BoolArray
    for_fit: dict[str, Argument]
    for_split: dict[str, Argument]

    def take(self, rows: IntArray) -> Data:
        """Some of the samples, with their metadata."""
        for_fit, for_split = (
            {name: rows_of(value, rows) if _has_entries(value, len(self.y)) else value for name, value in given.items()}
            for given in (self.for_fit, self.for_split)
        )
        return Data(rows_of(self.X, rows), self.y[rows], self.weighted[rows], for_fit, for_split)

    def trained(self, estimator: BaseEstimator) -> BaseEstimator:
        """A copy of the estimator, fitted to these samples."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


def rows_of(X: MatrixLike, rows: IntArray) -> MatrixLike:
    """Some rows of an array, a sparse matrix, a frame, a list or, in ascending order, a dask collection."""
    if is_dask(X):
        return chosen_rows(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _has_entries(value: object, n_samples: int) -> bool:
    length = value.shape[:1] == (n_samples,) if hasattr(value, "shape") else None
    return isinstance(value, list | tuple) and len(value) == n_samples if length is None else length


class ScoredSamples(NamedTuple):
    """Samples as predicted: certainty, second certainty, outlier measure, whether correct, cell, predicted class.

    `enough` is False for samples that are rejected whatever their certainty, as too little of them is known.
    """

    certainty: FloatArray
    second: FloatArray
    typicality: FloatArray
    correct: BoolArray
    cell: Labels
    predicted: Labels
    enough: BoolArray

    def take(self, rows: IntArray | BoolArray) -> ScoredSamples:
        """Some of them."""
        certainty, second, typicality, correct, cell, predicted, enough = self
        numbers = certainty[rows], second[rows], typicality[rows]
        return ScoredSamples(*numbers, correct[rows], cell[rows], predicted[rows], enough[rows])

    @classmethod
    def joined(cls, parts: Sequence[ScoredSamples]) -> ScoredSamples:
        """All samples of several parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts)))

    @property
    def classified(self) -> ClassifiedSamples:
        """What thresholds are fitted to."""
        return self.certainty, self.correct, self.cell


class Control(NamedTuple):
    """Samples that correct counts of cross-fitted samples, with weights of both; see `_control`."""

    samples: ScoredSamples
    weight: FloatArray
    own_weight: FloatArray
