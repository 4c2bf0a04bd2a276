"""The task of a counterfactual: the samples, their predictions, and which predictions are wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, rejecting_layer
from lvq.inspection.columns import model_inputs
from lvq.inspection.mixed_rows import Layout, Mixed
from lvq.inspection.steps import Indices
from lvq.model.rows import as_numpy
from lvq.typing import Labels, MatrixLike


class Task:
    """Samples and what to reach: a given class, any class except the predicted one, or any accepted prediction."""

    def __init__(self, model: BaseEstimator, found: FoundModel, X: MatrixLike, target: ArrayLike | None) -> None:
        self.model, self.found = model, found
        self.Z = model_inputs(found, X, "counterfactual")
        self.rejecting = rejecting_layer(model, X)[0] is not None
        self.first, accepted = self.predicted(X)
        self.target = None if target is None else np.broadcast_to(np.asarray(target), len(self.Z))
        unknown = np.setdiff1d([] if self.target is None else self.target, found.model.classes).tolist()
        if unknown:
            raise ValueError(
                f"target must be a class of {found.model.classes.tolist()}, or one for each sample, got {unknown}."
            )
        self.done = accepted & self.wanted(np.arange(len(self.Z)), self.first)
        self.layout = Layout(found, X)
        self.X = self.layout.split(X)

    def predicted(self, X: MatrixLike) -> tuple[Labels, NDArray[np.bool_]]:
        """Classes, and which are accepted: all, if the model rejects nothing."""
        label = np.asarray(as_numpy(self.model.predict(X)))
        reject, inputs = rejecting_layer(self.model, X)
        return label, np.ones(len(label), dtype=np.bool_) if reject is None else np.asarray(reject.accept(inputs))

    def wanted(self, rows: Indices | np.intp, labels: Labels) -> NDArray[np.bool_]:
        """Whether classes may be reached from rows of X; one class for each row, or arrays that broadcast."""
        if self.target is not None:
            return np.asarray(labels == self.target[rows])
        return np.full(np.broadcast(rows, labels).shape, True) if self.rejecting else labels != self.first[rows]

    def reached(self, rows: Indices, changed: Mixed) -> NDArray[np.bool_]:
        """Whether changed samples, one for each row of X, are predicted as wanted."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        label, accepted = self.predicted(self.layout.join(changed))
        return accepted & self.wanted(rows, label)

    def inputs(self, changed: Mixed) -> NDArray[np.floating]:
        """Changed samples as they reach the model."""
        return model_inputs(self.found, self.layout.join(changed), "counterfactual")
