"""Which predictions a counterfactual is to reach, and what a model predicts."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.input_columns import Indices
from lvq.linear_maps import Floats
from lvq.model.arrays import as_numpy
from lvq.rejection.classifier import find_reject_classifier
from lvq.typing import Label, Labels, MatrixLike


class Goal(NamedTuple):
    """Which predictions to reach: a given class, any class except the first prediction, or any that is accepted."""

    first: Labels
    target: Labels | None
    rejecting: bool

    def reached(self, label: Labels, accepted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each row is predicted as wanted."""
        if self.target is not None:
            return accepted & (label == self.target)
        return accepted if self.rejecting else label != self.first

    def take(self, rows: Indices) -> Self:
        """The goals of some rows, which may repeat."""
        return type(self)(self.first[rows], None if self.target is None else self.target[rows], self.rejecting)

    def allows(self, row: int | np.intp, label: Label) -> bool:
        """Whether a class may be reached from a row."""
        if self.target is not None:
            return bool(label == self.target[row])
        return self.rejecting or bool(label != self.first[row])


def predictions(model: BaseEstimator, X: MatrixLike) -> tuple[Labels, NDArray[np.bool_]]:
    """Predicted classes, and which are accepted: all, if the model rejects nothing."""
    label = np.asarray(as_numpy(model.predict(X)))
    reject, inputs = find_reject_classifier(model, X)
    return label, np.ones(len(label), dtype=np.bool_) if reject is None else reject.accept(inputs)


def numbers_of(X: MatrixLike) -> Floats:
    try:
        return np.array(as_numpy(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("counterfactual needs X of numbers; leave out columns of other values.") from error


def like(X: MatrixLike, values: Floats) -> MatrixLike:
    """Changed values as the frame they came in, so that the model finds its feature names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns, index=X.index)
    if hasattr(X, "column_names"):  # pyarrow
        return type(X).from_arrays(list(values.T), names=X.column_names)
    return type(X)(values, schema=X.columns, orient="row") if hasattr(X, "columns") else values


def known_classes(target: ArrayLike | None, classes: Labels, n_samples: int) -> Labels | None:
    if target is None:
        return None
    goal = np.broadcast_to(np.asarray(target), n_samples)
    unknown = [label for label in np.unique(goal).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"target must be a class of {classes.tolist()}, or one for each sample, got {unknown}.")
    return goal
