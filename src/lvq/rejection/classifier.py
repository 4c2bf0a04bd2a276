"""A classifier that may decline to answer: any scikit-learn classifier, a measure of certainty, thresholds per cell.

`predict` always gives a class; whether to use it is a separate question, answered by `accept` and `reason`. How the
thresholds come about is told in `calibration.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from lvq.estimators.validation import ParameterConstraints, at_least_one, strings, unit_interval
from lvq.rejection.calibration import Data, calibrate, calibration_samples, is_prefit, plain_point, shares
from lvq.rejection.measures import MEASURES, Answers, Combination, as_combination, cells_of, doubt_of, measured
from lvq.rejection.procedures import PROCEDURES
from lvq.rejection.samples import BoolArray, FloatArray, check_share, label_codes
from lvq.rejection.thresholds import METHODS


def _estimator_has(name: str) -> Callable[[Any], bool]:
    """For `available_if`: whether the estimator, fitted or not, has a method; its own AttributeError where not."""

    def check(self: RejectClassifier) -> bool:
        getattr(self.predicting_estimator, name)
        return True

    return check


class RejectClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that says when not to trust it, around any scikit-learn classifier.

    `predict` gives classes as ever; `accept` says which of them to use and `reason` why not. A sample is rejected iff
    its certainty is below the threshold of its cell. The operating point is chosen by one wish: `coverage`, `accuracy`,
    `cost_ratio` or `max_error`; without any, ``coverage=0.9``.

    Parameters
    ----------
    estimator : classifier
        A model of this library, a Pipeline that ends in one, or any scikit-learn classifier.
    measure : str, Combination or callable, default="auto"
        How sure an answer is: "relsim", "boundary", "radius", "distance", "probability", "margin", or a function of
        (estimator, X). "auto" is "relsim" for our models, else "probability", else "margin". "combined", or a
        `Combination`, rejects outliers as well and tells the two apart. See `lvq.rejection.measures`.
    thresholds : {"optimal", "hull", "greedy", "global"}, default="optimal"
        How they are fitted; see `local_thresholds`.
    cells : {"auto", "prototype", "class"} or callable, default="auto"
        What has a threshold of its own: the winning prototype, the predicted class, or the labels that a function of
        (estimator, X) gives. "auto" is "prototype" for our models and "class" for others.
    min_cell_size : int, default=10
        Cells with fewer calibration samples share a threshold.
    coverage : float, optional
        Answer at least this share of the calibration samples, as accurately as the points of the path allow; where
        rejecting the next errors would go below, nothing more is rejected.
    accuracy : float, optional
        Be right on at least this share of the accepted calibration samples, and accept as many as can be. What holds on
        these samples need not hold on others: `max_error` makes that a promise.
    cost_ratio : float, optional
        Make the cost on the calibration samples small, where a rejection costs this share of an error (Chow).
    max_error : float, optional
        P(error | accepted) is at most this, with probability `confidence` over the calibration samples; `fit` raises a
        `GuaranteeError` where that cannot be had.
    confidence : float, default=0.95
        Of `max_error`.
    per_class : bool, default=False
        Whether `max_error` holds for each predicted class, all at once.
    procedure : {"fixed_sequence", "bonferroni"}, default="fixed_sequence"
        Of `max_error`; see `certify`.
    impossible : {"raise", "reject"}, default="raise"
        What to do where `max_error` cannot be had, with `per_class` for a class: raise, or reject everything there.
    cv : None, "prefit", int, splitter or iterable, default=None
        Where the calibration samples come from. None: a share of the samples given to `fit`, on which the estimator is
        then not trained. "prefit", or an estimator in a `sklearn.frozen.FrozenEstimator`: all samples given to `fit`;
        the estimator is fitted already. Else cross-fitting: each fold's samples are judged by a model trained on the
        others, and the answering model is trained on all; with `max_error` that fits the path, and the tests take the
        share of None, so that the promise is about the model that answers.
    calibration_size : float, default=0.3
        That share.
    random_state : int, RandomState or None, default=0
        Draws the shares. Trying others until the result suits voids a guarantee.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator that answers.
    classes_ : ndarray of shape (n_classes,)
        Its classes.
    point_ : OperatingPoint or CertifiedPoint
        The thresholds, and what they do on the calibration (or testing) samples that are no outliers; with `per_class`
        a dict from class to CertifiedPoint, or to None for a class that is rejected whole.
    path_ : ThresholdPath
        All operating points there were, with their counts on the samples they were fitted on; with `per_class` a dict.
    outlier_limits_ : OutlierLimits or None
        How typical a sample must be, where `measure` is a combination.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    References
    ----------
    L. Fischer, B. Hammer, H. Wersing, Local rejection strategies for learning vector quantization, ICANN 2014.
    A. Angelopoulos et al., Learn then test: calibrating predictive algorithms to achieve risk control, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lvq import GLVQ
    >>> from lvq.rejection import RejectClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RejectClassifier(GLVQ(random_state=0), max_error=0.05).fit(X[:1200], y[:1200])
    >>> labels, accepted = model.predict(X[1200:]), model.accept(X[1200:])
    >>> bool((labels == y[1200:])[accepted].mean() > (labels == y[1200:]).mean())
    True
    >>> model.predict_or_reject(X[1200:1203], reject_label=-1).shape
    (3,)
    """

    _parameter_constraints: ClassVar[ParameterConstraints] = {
        "measure": [strings(*MEASURES, "combined"), Combination, callable],
        "thresholds": [strings(*METHODS)],
        "cells": [strings("auto", "prototype", "class"), callable],
        "min_cell_size": [at_least_one],
        "confidence": [unit_interval],
        "per_class": ["boolean"],
        "procedure": [strings(*PROCEDURES)],
        "impossible": [strings("raise", "reject")],
        "cv": ["cv_object", strings("prefit")],
        "calibration_size": [unit_interval],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        measure: Any = "auto",
        thresholds: str = "optimal",
        cells: Any = "auto",
        min_cell_size: int = 10,
        coverage: float | None = None,
        accuracy: float | None = None,
        cost_ratio: float | None = None,
        max_error: float | None = None,
        confidence: float = 0.95,
        per_class: bool = False,
        procedure: str = "fixed_sequence",
        impossible: str = "raise",
        cv: Any = None,
        calibration_size: float = 0.3,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.thresholds = thresholds
        self.cells = cells
        self.min_cell_size = min_cell_size
        self.coverage = coverage
        self.accuracy = accuracy
        self.cost_ratio = cost_ratio
        self.max_error = max_error
        self.confidence = confidence
        self.per_class = per_class
        self.procedure = procedure
        self.impossible = impossible
        self.cv = cv
        self.calibration_size = calibration_size
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator, unless it is fitted already, and its thresholds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, of whatever kind the estimator takes.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for the estimator's `fit`. A sample of weight 0 is not used for calibration either; all others
            count once there.
        **fit_params : dict
            For the estimator's `fit` (and, with metadata routing, the splitter); those with an entry per sample are
            split as the samples are.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        wish = self._wish()
        if y is None:
            raise ValueError("RejectClassifier requires y to be passed, but the target y is None.")
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        weight = _checked_weight(sample_weight, len(y))
        for_fit, for_split = self._routed(None if sample_weight is None else weight, fit_params)
        data = Data(X, y, weight > 0, for_fit, for_split)
        rng = check_random_state(self.random_state)
        training, held_out = shares(self, data, rng)
        if is_prefit(self):
            check_is_fitted(self.estimator)
            known = np.asarray(getattr(self.estimator, "classes_", y)).tolist()
            if set(y.tolist()).isdisjoint(known):
                raise ValueError(
                    f"y must hold classes of the fitted estimator, {known[:5]}, got {np.unique(y)[:5].tolist()}; give "
                    "the labels it was fitted with."
                )
        estimator = self.estimator if is_prefit(self) else training.trained(self.estimator)
        fitting, testing = calibration_samples(self, estimator, training, held_out, rng)
        testing_share = 0.0 if testing is None else len(testing.correct) / len(y)
        # all at once: where calibration fails, no new model is left with old thresholds
        self.path_, self.point_, self.outlier_limits_ = calibrate(self, fitting, testing, wish, testing_share)
        self.estimator_ = estimator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _wish(self) -> dict[str, float]:
        """The one thing asked for."""
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")):
            raise ValueError(f"estimator must be a classifier with fit and predict, got {self.estimator!r}.")
        names = ("coverage", "accuracy", "cost_ratio", "max_error")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if len(given) > 1:
            raise ValueError(f"RejectClassifier takes one of {', '.join(names)}, got {', '.join(given)}; choose one.")
        for name, value in given.items():
            check_share(name, value, open_interval=name == "max_error")
        if self.per_class and self.max_error is None:
            raise ValueError("per_class=True is about max_error, which is None; give max_error.")
        return given or {"coverage": 0.9}

    def _routed(self, sample_weight: Any, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What goes to the estimator's `fit` and to the splitter's `split`."""
        if sample_weight is not None:
            fit_params = {"sample_weight": sample_weight, **fit_params}
        if not get_config()["enable_metadata_routing"]:
            return fit_params, {}
        routed = process_routing(self, "fit", **fit_params)
        return routed.estimator.fit, routed.splitter.split if hasattr(self.cv, "split") else {}

    # -- answering -----------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for every sample, accepted or not.

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

    def accept(self, X: Any) -> BoolArray:
        """Which answers to use.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        accepted : bool ndarray of shape (n_samples,)
        """
        return self.reason(X) == ""

    def reason(self, X: Any) -> NDArray[np.str_]:
        """Why answers are not to be used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        reason : str ndarray of shape (n_samples,)
            "" for an accepted sample; "ambiguous" or "outlier" for one whose certainty is too low (of both "outlier");
            "unseen cell" for one in a cell without calibration samples; "uncertified" where `max_error` could not be
            had.
        """
        check_is_fitted(self)
        return self._reasons(Answers(self.estimator_, X))

    def _reasons(self, answers: Answers) -> NDArray[np.str_]:
        parts = as_combination(self.measure)
        values, cell = measured(answers, parts.ambiguity), cells_of(answers, self.cells)
        points = self.point_ if isinstance(self.point_, dict) else {None: self.point_}
        reason = np.full(len(values), "uncertified")
        for group, point in points.items():
            here = np.ones(len(values), dtype=np.bool_) if group is None else answers.predicted == group
            if point is None or not here.any():
                continue
            plain = plain_point(point)
            cells, code = label_codes(cell[here])
            seen = set(plain.cells.tolist())
            known = np.array([label in seen for label in cells.tolist()])[code] | (plain.unseen < np.inf)
            rejected = np.where(known, doubt_of(parts.ambiguity), "unseen cell")
            reason[here] = np.where(plain.accept(values[here], cell[here]), "", rejected)
        if self.outlier_limits_ is not None:
            assert parts.outlier is not None
            reason[self.outlier_limits_.outlying(measured(answers, parts.outlier), cell)] = "outlier"
        return reason

    def certainty(self, X: Any) -> FloatArray:
        """How sure the answers are, by the measure that has the thresholds; higher is surer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        certainty : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return measured(Answers(self.estimator_, X), as_combination(self.measure).ambiguity)

    def cell(self, X: Any) -> NDArray[Any]:
        """Which threshold each sample is held against: the index of its prototype, its class, or its own label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        cell : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return cells_of(Answers(self.estimator_, X), self.cells)

    def predict_or_reject(self, X: Any, reject_label: Any = None) -> NDArray[Any]:
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
            Of the classes' type where that can hold the label, as integers hold -1; else of objects, so that no class
            changes its type.
        """
        check_is_fitted(self)
        classes = np.asarray(self.classes_)
        dtype = _common_type(classes, reject_label)
        answers = Answers(self.estimator_, X)
        labels = answers.predicted.astype(dtype)
        labels[self._reasons(answers) != ""] = reject_label
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the accepted answers that are right.

        It says nothing about how many are accepted: look at `coverage_scorer` beside it, or use `cost_scorer`, which
        weighs the two.

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
        score : float
            NaN where nothing is accepted.
        """
        check_is_fitted(self)
        answers = Answers(self.estimator_, X)
        y = column_or_1d(y)
        weight = np.ones(len(y)) if sample_weight is None else column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(answers.predicted, y, weight)
        weight = np.where(self._reasons(answers) == "", weight, 0.0)
        right = answers.predicted == y
        return float((weight * right).sum() / weight.sum()) if weight.sum() > 0 else float("nan")

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self.estimator_.classes_

    @property
    def predicting_estimator(self) -> Any:
        """For `find_model`: the estimator whose answers these are."""
        return getattr(self, "estimator_", self.estimator)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, as the estimator gives them.

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
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the classes, as the estimator gives them.

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

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: weights and the like to the estimator's `fit`, groups to the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Any:
        """What the estimator takes, this takes."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.non_deterministic = inner.input_tags, inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def _checked_weight(sample_weight: Any, n_samples: int) -> FloatArray:
    weight = np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = np.full(n_samples, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one entry per sample, got {weight.shape}.")
    if not (weight >= 0).all() or not (weight > 0).any():
        raise ValueError("sample_weight must not be negative or NaN, nor zero for all samples; zero leaves one out.")
    return weight


def _common_type(classes: NDArray[Any], label: Any) -> np.dtype[Any]:
    """A type that holds classes and label without changing the value of a class."""
    if np.ndim(label) or any(label == known for known in classes.tolist()):
        raise ValueError(
            f"reject_label must be a scalar that is not a class, got {label!r} beside the classes {classes.tolist()}; "
            "use None, or a label that no sample can have."
        )
    given = np.asarray(label)
    alike = {classes.dtype.kind, given.dtype.kind} <= set("iuf") or classes.dtype.kind == given.dtype.kind
    common = np.result_type(classes.dtype, given.dtype) if alike else np.dtype(object)
    # there and back: large integers do not survive as floats, which a comparison of the two would hide
    return common if np.array_equal(classes.astype(common).astype(classes.dtype), classes) else np.dtype(object)
