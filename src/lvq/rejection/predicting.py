"""What a fitted classifier with a reject option predicts, accepts and rejects.

Everything here depends on the fitted state alone: parameters that change after `fit` have no effect until the next.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lvq.estimators.over_partitions import by_partition
from lvq.estimators.partition_checks import in_memory, is_dask
from lvq.rejection.known_values import TOO_LITTLE, known_fraction, lowered, missing_counts
from lvq.rejection.measures import Combination, SampleFunction, cells_of, certainty_of, reason_of
from lvq.rejection.path import Paths, Points
from lvq.rejection.point import CellThresholds
from lvq.rejection.predictions import Predictions
from lvq.rejection.ties import Ties, draws, second_certainty
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, positions
from lvq.typing import Label, Labels, MatrixLike


def _estimator_has(name: str) -> Callable[[BaseRejectClassifier], bool]:
    """For `available_if`: whether the estimator, fitted or not, has a method; its own AttributeError where not."""

    return lambda self: getattr(self.predicting_estimator, name) is not None


class BaseRejectClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """The methods of a fitted classifier with a reject option; see `RejectClassifier` for the attributes."""

    estimator: BaseEstimator
    estimator_: BaseEstimator
    measure_: Combination
    cells_: str | SampleFunction
    path_: Paths
    point_: Points
    outlier_limits_: CellThresholds | None
    ties_: Ties | None
    notes_: tuple[str, ...]
    min_known_: float | None
    usual_missing_: float

    @by_partition
    def predict(self, X: MatrixLike) -> Labels:
        """Predict a class for every sample, accepted or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    @by_partition
    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Probabilities of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    @by_partition
    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Scores of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @property
    def classes_(self) -> Labels:
        """The classes."""
        return self.estimator_.classes_

    @property
    def predicting_estimator(self) -> BaseEstimator:
        """The estimator that makes the predictions: the fitted one, before `fit` the given one."""
        return getattr(self, "estimator_", self.estimator)

    @by_partition
    def accept(self, X: MatrixLike) -> BoolArray:
        """Which predictions are accepted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        accepted : bool ndarray of shape (n_samples,)
        """
        return self.reason(X) == ""

    @by_partition
    def reason(self, X: MatrixLike) -> NDArray[np.str_]:
        """Why predictions are rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        reason : str ndarray of shape (n_samples,)
            "" for an accepted sample; "ambiguous" or "outlier" for one whose certainty is too low (of both "outlier");
            "unseen cell" for one in a cell without calibration samples; "uncertified" where `max_error` was not
            achievable; "too little known" for one with too many missing values, whatever its certainty.
        """
        return self.reason_for(self.predictions(X))

    def predictions(self, X: MatrixLike) -> Predictions:
        """The predictions for samples with their distances, computed once; see `reason_for`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        predictions : lvq.rejection.predictions.Predictions
        """
        check_is_fitted(self)
        return Predictions(self.estimator_, X)

    def reason_for(self, predictions: Predictions) -> NDArray[np.str_]:
        """`reason` of predictions that were made already.

        Parameters
        ----------
        predictions : lvq.rejection.predictions.Predictions
            As `predictions` returns them.

        Returns
        -------
        reason : str ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        values, cell = self.certainty_for(predictions), cells_of(predictions, self.cells_)
        points = self.point_ if isinstance(self.point_, dict) else {None: self.point_}
        reason = np.full(len(values), "uncertified", dtype=f"<U{len(TOO_LITTLE)}")
        for group, point in points.items():
            here = np.ones(len(values), dtype=np.bool_) if group is None else predictions.predicted == group
            if point is None or not here.any():
                continue
            unseen = (positions(cell[here], point.cells) < 0) & (point.unseen == np.inf)
            rejected = np.where(unseen, "unseen cell", reason_of(self.measure_.ambiguity))
            reason[here] = np.where(point.accept(values[here], cell[here]), "", rejected)
        if self.ties_ is not None:
            reason[self._rejected_ties(predictions, values, reason == "")] = reason_of(self.measure_.ambiguity)
        if self.outlier_limits_ is not None:
            typicality = certainty_of(predictions, self.measure_.outlier)
            reason[~self.outlier_limits_.accept(typicality, cell)] = "outlier"
        if self._counts_missing:
            reason[self.known_fraction(predictions.X) < self.min_known_] = TOO_LITTLE
        return reason

    def _rejected_ties(self, predictions: Predictions, values: FloatArray, accepted: BoolArray) -> IntArray:
        """The samples at the threshold that are rejected although it accepts them; see `ties.py`."""
        assert self.ties_ is not None
        rows = np.flatnonzero(accepted & self.ties_.at_threshold(values))
        if not len(rows):
            return rows
        X = predictions.X if predictions.found is None else predictions.inputs
        return rows[self.ties_.rejects(second_certainty(predictions)[rows], draws(X, rows))]

    @by_partition
    def certainty(self, X: MatrixLike) -> FloatArray:
        """Certainty of the predictions by the measure that the thresholds belong to; higher is more certain.

        It is multiplied by `known_fraction`, unless `min_known` is None.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        certainty : ndarray of shape (n_samples,)
        """
        return self.certainty_for(self.predictions(X))

    def certainty_for(self, predictions: Predictions) -> FloatArray:
        """`certainty` of predictions that were made already.

        Parameters
        ----------
        predictions : lvq.rejection.predictions.Predictions
            As `predictions` returns them.

        Returns
        -------
        certainty : ndarray of shape (n_samples,)
        """
        values = certainty_of(predictions, self.measure_.ambiguity)
        return lowered(values, self.known_fraction(predictions.X)) if self._counts_missing else values

    @by_partition
    def known_fraction(self, X: MatrixLike) -> FloatArray:
        """Fraction of the usual number of values that each sample has; see `lvq.rejection.known_values`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        fraction : ndarray of shape (n_samples,)
            At most 1, which is that of samples without missing values.
        """
        check_is_fitted(self)
        return known_fraction(*missing_counts(self.estimator_, X), getattr(self, "usual_missing_", 0.0))

    @property
    def _counts_missing(self) -> bool:
        return getattr(self, "min_known_", None) is not None  # no such attribute in files of earlier versions

    @by_partition
    def cell(self, X: MatrixLike) -> Labels:
        """The cell of each sample: the index of its prototype, its class, or its own label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        cell : ndarray of shape (n_samples,)
        """
        return cells_of(self.predictions(X), self.cells_)

    @by_partition
    def predict_or_reject(self, X: MatrixLike, reject_label: Label = None) -> Labels:
        """Classes, and a label of its own for the rejected samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        reject_label : scalar, default=None
            Any label that is not a class.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of the classes' type where it can hold the label, as integers hold -1; otherwise of objects, so that no
            class changes its type.
        """
        predictions = self.predictions(X)
        dtype = _common_type(np.asarray(self.classes_), reject_label)
        labels = predictions.predicted.astype(dtype)
        labels[self.reason_for(predictions) != ""] = reject_label
        return labels

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of all predictions, accepted or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        accuracy : float
        """
        from sklearn.metrics import accuracy_score  # slow to import

        return accuracy_score(in_memory(y), in_memory(self.predict(X)), sample_weight=in_memory(sample_weight))

    def coverage(self, X: MatrixLike, sample_weight: ArrayLike | None = None) -> float:
        """Fraction of the samples that are accepted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        coverage : float
        """
        accepted, sample_weight = in_memory(self.accept(X)), in_memory(sample_weight)
        weight = None if sample_weight is None else column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(accepted, weight)
        return float(np.average(accepted.astype(np.float64), weights=weight))

    def accepted_accuracy(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the accepted predictions.

        It does not depend on how many are accepted: see `coverage`, or `lvq.rejection.chow_scorer` for model selection.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        accuracy : float
            NaN where nothing is accepted.
        """
        labels, sample_weight = column_or_1d(in_memory(y)), in_memory(sample_weight)
        if is_dask(X):
            predicted, accepted = in_memory(self.predict(X)), in_memory(self.accept(X))
        else:
            predictions = self.predictions(X)
            predicted, accepted = predictions.predicted, self.reason_for(predictions) == ""
        weight = np.ones(len(labels)) if sample_weight is None else column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(predicted, labels, weight)
        weight = np.where(accepted, weight, 0.0)
        correct = np.asarray(predicted == labels, dtype=np.float64)
        return float(np.average(correct, weights=weight)) if weight.sum() > 0 else float("nan")


def _common_type(classes: Labels, label: Label) -> np.dtype:
    """A type that holds classes and label without changing the value of a class."""
    if np.ndim(label) or any(label == known for known in classes.tolist()):
        raise ValueError(
            f"reject_label must be a scalar that is not a class, got {label!r} beside the classes {classes.tolist()}; "
            "use None, or a label that no sample can have."
        )
    given = np.asarray(label)
    alike = {classes.dtype.kind, given.dtype.kind} <= set("iuf") or classes.dtype.kind == given.dtype.kind
    common = np.result_type(classes.dtype, given.dtype) if alike else np.dtype(object)
    # to the new type and back: floats do not hold large integers, which a comparison of the two would hide
    return common if np.array_equal(classes.astype(common).astype(classes.dtype), classes) else np.dtype(object)
