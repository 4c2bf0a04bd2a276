"""Predictions of an estimator for some samples, as measures of certainty and cells need them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import find_layer, find_model
from lvq.inspection.columns import model_inputs
from lvq.model.certainty import Nearest, nearest
from lvq.model.prototype_model import PrototypeModel
from lvq.prices import PriceClassifier
from lvq.rejection.validation import IntArray
from lvq.typing import Labels, MatrixLike


class Predictions:
    """An estimator's predictions for some samples, and what measures and cells need; each is computed once.

    Parameters
    ----------
    estimator : fitted classifier
    X : array-like of shape (n_samples, n_features)
    """

    def __init__(self, estimator: BaseEstimator, X: MatrixLike) -> None:
        self.estimator, self.X = estimator, X
        self.found = find_model(estimator)
        self.priced = find_layer(estimator, PriceClassifier) is not None  # the class need not be that of the nearest

    @cached_property
    def model(self) -> PrototypeModel:
        """The fitted model that predicts; ValueError where there is none."""
        if self.found is None:
            raise ValueError(
                "Distances and prototypes need a model of this library, or a Pipeline that ends in one, got "
                f"{type(self.estimator).__name__}; use measure='probability' or 'margin' and cells='class', or your "
                "own functions."
            )
        check_is_fitted(self.found.estimator)
        return self.found.model

    @cached_property
    def inputs(self) -> np.ndarray:
        """Samples as they reach the model."""
        if self.found is None or not hasattr(self.found.estimator, "model_"):
            self.model  # noqa: B018 (raises the error)
        assert self.found is not None
        return model_inputs(self.found, self.X)

    @cached_property
    def distances(self) -> np.ndarray:
        """Squared distances to all prototypes, before any kernel: (n_samples, n_prototypes)."""
        return self.model.distances(self.inputs)

    @cached_property
    def predicted(self) -> Labels:
        """The predicted classes."""
        if self.found is None or self.priced:
            return np.asarray(self.estimator.predict(self.X))
        return self.model.classes[self.model.decide(self.distances)]

    @cached_property
    def nearest(self) -> Nearest:
        """Winner and rival, the nearest prototypes of the predicted class and of all others, and their distances."""
        return self._nearest(self.predicted)

    @property
    def winner(self) -> IntArray:
        """Index of the winner of each sample."""
        return self.nearest.winner

    def winner_for(self, classes: Labels, rows: IntArray) -> IntArray:
        """The nearest prototype of the given classes, which need not be the predicted ones, for some samples."""
        return self._nearest(classes, rows).winner

    def _nearest(self, classes: Labels, rows: IntArray | slice = slice(None)) -> Nearest:
        model = self.model
        return nearest(self.distances[rows], model.labels, np.searchsorted(model.classes, classes))
