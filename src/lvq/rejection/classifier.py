"""A classifier that may decline to answer: any scikit-learn classifier, a measure of certainty, and thresholds per cell.

Rules kept here:
- `predict` always gives a class; whether to use it is a separate question, answered by `accept` and `reason`;
- thresholds are fitted on samples the answering model was not trained on: given (prefit), held out, or cross-fitted;
- for a guarantee, path, outlier limits and order of tests are settled before the testing samples are looked at, and
  these are drawn at random (not by class), because the exact test needs independent samples;
- calibration counts samples: weights go to the estimator's `fit`, and a sample of weight 0 is left out throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from lvq.estimators.validation import ParameterConstraints, at_least_one, strings, unit_interval
from lvq.rejection.binomial import perfect_record
from lvq.rejection.measures import MEASURES, Answers, Combination, as_combination, cells_of, doubt_of, measured
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import OperatingPoint
from lvq.rejection.procedures import PROCEDURES, GuaranteeError
from lvq.rejection.risk import CertifiedPoint, certify
from lvq.rejection.samples import BoolArray, FloatArray, IntArray, check_share, label_codes
from lvq.rejection.thresholds import METHODS, local_thresholds

PATH_SHARE = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part
DEFAULT_COVERAGE = 0.9


class Classified(NamedTuple):
    """Samples and what became of them: how sure, how typical, whether right, in which cell, as which class."""

    certainty: FloatArray
    typical: FloatArray
    correct: BoolArray
    cell: NDArray[Any]
    predicted: NDArray[Any]

    def take(self, rows: Any) -> Classified:
        """Some of them."""
        return Classified(*(part[rows] for part in self))


class OutlierLimits(NamedTuple):
    """A sample is an outlier if it is less typical than the limit of its cell; small and new cells share one."""

    by_cell: dict[Hashable, float]
    others: float

    def outlying(self, typical: FloatArray, cell: NDArray[Any]) -> BoolArray:
        """Which samples are outliers."""
        cells, code = label_codes(cell)
        limit = np.array([self.by_cell.get(label, self.others) for label in cells.tolist()])[code]
        return typical < limit


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
        Answer at least this share of the calibration samples, as accurately as can be.
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
        check_classification_targets(y)
        self._outlook(len(y))
        for_fit, for_split = self._routed(sample_weight, fit_params)
        counts = np.ones(len(y), dtype=np.bool_) if sample_weight is None else np.asarray(sample_weight) > 0
        rng = check_random_state(self.random_state)
        training, held_out = self._shares(y, counts, rng)
        fold_of = self._folds(X, y, training, for_split)
        if self._is_prefit():
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
        else:
            self.estimator_ = self._trained(X, y, training, for_fit)
        crossed = [self._judged(self._trained(X, y, a, for_fit), X, y, b[counts[b]]) for a, b in fold_of]
        samples = self._judged(self.estimator_, X, y, held_out) if len(held_out) else None
        fitting, testing = self._parts(crossed, samples, rng)
        self._calibrate(fitting, testing, wish)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self
