"""A classifier with a reject option: any scikit-learn classifier, a measure of certainty, thresholds per cell.

The parameters and `fit`; `calibration.py` fits the thresholds, `predicting.py` holds what the fitted classifier does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, assert_all_finite, check_random_state, get_tags, indexable
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from lvq.estimators.atomic import unchanged_on_error
from lvq.estimators.partition_checks import held_partitions, in_memory, is_dask, lengths_of
from lvq.estimators.specification import DOCUMENTATION
from lvq.rejection.calibration import calibrate
from lvq.rejection.calibration_data import Data, Settings
from lvq.rejection.corrections import CORRECTIONS, Guarantee
from lvq.rejection.known_values import MIN_KNOWN
from lvq.rejection.measures import MEASURES, Combination, SampleFunction, as_combination
from lvq.rejection.predicting import BaseRejectClassifier
from lvq.rejection.thresholds import METHODS
from lvq.rejection.validation import FloatArray, check_fraction
from lvq.typing import Argument, CrossValidation, FittedFold, Labels, MatrixLike, Seed

TARGETS = ("min_coverage", "min_accuracy", "cost_ratio", "max_error")


class RejectClassifier(BaseRejectClassifier):
    """A classifier with a reject option, around any scikit-learn classifier.

    `predict` gives a class for every sample; `accept` reports which to use and `reason` why the others are rejected:
    those whose certainty is below the threshold of their cell. One target chooses the operating point: `min_coverage`,
    `min_accuracy`, `cost_ratio` or `max_error`. Without any it is ``min_coverage=0.9``: about 90 % of new samples are
    accepted, whatever their error rate is. By default 30 % of the samples set the thresholds and do not train (`cv`).

    Parameters
    ----------
    estimator : classifier
        A model of this library, a Pipeline that ends in one, or any scikit-learn classifier.
    measure : str, Combination or callable, default="auto"
        The measure of certainty: "relsim", "boundary", "radius", "distance", "probability", "margin", or a function of
        (estimator, X). "auto" is "probability" for models with a steepness `xi` (LVQClassifier, MCE, LOGM) and for
        other classifiers, "relsim" for the other models of this library. "combined", or a `Combination`, also rejects
        outliers and distinguishes the two. See `lvq.rejection.measures`.
    thresholds : {"optimal", "hull", "greedy", "global"}, default="optimal"
        How the thresholds are fitted; see `local_thresholds`.
    cells : {"auto", "prototype", "class"} or callable, default="auto"
        What has its own threshold: the winning prototype, the predicted class, or the labels that a function of
        (estimator, X) returns. "auto" is "prototype" for models of this library and "class" for others.
    min_cell_size : int, default=10
        Cells with fewer calibration samples share a threshold.
    min_coverage : float, optional
        Accept about this fraction of new samples, with a high accuracy. Samples of equal certainty at the threshold are
        separated by a second certainty, then by a draw from their values; see `lvq.rejection.ties`.
    min_accuracy : float, optional
        Reach at least this accuracy on the accepted calibration samples, with the highest coverage. What holds on these
        samples need not hold on others: `max_error` guarantees it.
    cost_ratio : float, optional
        Minimise the cost on the calibration samples, where a rejection costs this fraction of an error (Chow).
    max_error : float, optional
        P(error | accepted) is at most this, with probability `confidence` over the calibration samples; `fit` raises a
        `GuaranteeError` where this is not achievable.
    confidence : float, default=0.95
        Of `max_error`.
    per_class : bool, default=False
        Whether `max_error` holds for each predicted class, for all of them at once.
    correction : {"fixed_sequence", "bonferroni"}, default="fixed_sequence"
        How several tests for `max_error` keep the confidence: thresholds in a fixed sequence until the first failure,
        or thresholds over the whole path with a divided level. Choose it before looking at the samples.
    on_failure : {"raise", "reject", "relax"}, default="raise"
        What to do where `max_error` is not achievable, with `per_class` for a class: raise, reject everything there, or
        guarantee the lowest rate that can be, with the same confidence: `point_.max_error` is that rate, `notes_` tells
        it, and `point_.times_needed` how many times as many samples would do for `point_.requested_error`.
    cv : None, "prefit", int, splitter or iterable, default=None
        Which samples are used for calibration. None: a fraction of the samples given to `fit`, which the estimator is
        then not trained on. "prefit", or an estimator in a `sklearn.frozen.FrozenEstimator`: all samples given to
        `fit`; the estimator is fitted already and a copy of it is kept. Otherwise cross-fitting: each fold's samples
        are predicted by a model trained on the others, and the predicting model is trained on all. A number of folds
        takes samples in their order; where neighbours are alike, give a splitter that shuffles. With `max_error`
        cross-fitting fits the path of thresholds, and the tests use held-out samples as with None, so that the
        guarantee is about the model that predicts. Without `max_error` folds may also be (train, test, model), with a
        model that is fitted to the training samples of the fold already.
    calibration_size : float, default=0.3
        The fraction of samples that is held out.
    min_known : float or None, default=0.5
        Certainties fall with what is missing in a sample: they are multiplied by the fraction of the usual number of
        values that it has, and a sample below `min_known` is rejected as "too little known". Samples without missing
        values are not affected. It matters for an estimator that takes missing values, such as a Pipeline with an
        imputer, or ``missing="ignore"``. None: missing values do not count. See `lvq.rejection.known_values`.
    random_state : int, RandomState or None, default=0
        Draws the held-out samples. A guarantee is void if several values are tried and the best result is chosen.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator that predicts.
    classes_ : ndarray of shape (n_classes,)
        Its classes.
    measure_ : Combination
        The measure of certainty that the thresholds belong to.
    cells_ : "prototype", "class" or callable
        The cells that the thresholds belong to.
    point_ : OperatingPoint, CertifiedPoint or None
        The thresholds, and their counts on the calibration (or testing) samples that are no outliers; None where
        everything is rejected. With `per_class` a dictionary by class.
    path_ : ThresholdPath
        All operating points, with their counts on the samples they were fitted on; with `per_class` a dictionary.
    outlier_limits_ : CellThresholds or None
        The lowest outlier measure of an accepted sample, where `measure` is a combination.
    ties_ : Ties or None
        Which of the samples at the threshold are rejected, where a coverage is requested and samples are equal there.
    notes_ : tuple of str
        What is not as requested, and what will be accepted instead.
    min_known_ : float or None
        The known fraction below which samples are rejected.
    usual_missing_ : float
        Mean number of missing values of the training samples (with ``cv="prefit"`` of those given to `fit`).
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
    >>> model.accepted_accuracy(X[1200:], y[1200:]) > model.score(X[1200:], y[1200:])
    True
    >>> model.predict_or_reject(X[1200:1203], reject_label=-1).shape
    (3,)
    """

    _doc_link_module = "lvq"
    _doc_link_template = DOCUMENTATION
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "measure": [StrOptions({*MEASURES, "combined"}), Combination, callable],
        "thresholds": [StrOptions(set(METHODS))],
        "cells": [StrOptions({"auto", "prototype", "class"}), callable],
        "min_cell_size": [Interval(Integral, 1, None, closed="left")],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "per_class": ["boolean"],
        "correction": [StrOptions(set(CORRECTIONS))],
        "on_failure": [StrOptions({"raise", "reject", "relax"})],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "min_known": [Interval(Real, 0, 1, closed="both"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        measure: str | SampleFunction | Combination = "auto",
        thresholds: str = "optimal",
        cells: str | SampleFunction = "auto",
        min_cell_size: int = 10,
        min_coverage: float | None = None,
        min_accuracy: float | None = None,
        cost_ratio: float | None = None,
        max_error: float | None = None,
        confidence: float = 0.95,
        per_class: bool = False,
        correction: str = "fixed_sequence",
        on_failure: str = "raise",
        cv: CrossValidation | Iterable[FittedFold] | Literal["prefit"] = None,
        calibration_size: float = 0.3,
        min_known: float | None = MIN_KNOWN,
        random_state: Seed = 0,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.thresholds = thresholds
        self.cells = cells
        self.min_cell_size = min_cell_size
        self.min_coverage = min_coverage
        self.min_accuracy = min_accuracy
        self.cost_ratio = cost_ratio
        self.max_error = max_error
        self.confidence = confidence
        self.per_class = per_class
        self.correction = correction
        self.on_failure = on_failure
        self.cv = cv
        self.calibration_size = calibration_size
        self.min_known = min_known
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Argument) -> Self:
        """Fit the estimator, unless it is fitted already, and its thresholds.

        A `fit` that fails or is interrupted leaves the classifier as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, of any kind that the estimator takes. The rows of a dask array or data frame stay in their
            partitions: the estimator is fitted and the certainties are computed there. All labels, and of each
            calibration sample the prediction with its certainties and its cell, come to the client.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for the estimator's `fit`. A sample of weight 0 is not used for calibration either; all others
            count once there.
        **fit_params : dict
            For the estimator's `fit` (and, with metadata routing, the splitter); arrays with an entry per sample are
            split as the samples are.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight, fit_params)

    def _fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None, fit_params: dict[str, Argument]
    ) -> Self:
        self._validate_params()
        settings = self._settings()
        if y is None:
            raise ValueError("RejectClassifier requires y to be passed, but the target y is None.")
        given, sample_weight = in_memory(y), in_memory(sample_weight)
        fit_params = {name: in_memory(value) for name, value in fit_params.items()}
        X, given = (X, given) if is_dask(X) else indexable(X, given)
        labels = column_or_1d(given, warn=True)
        _check_partitions(X, labels)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        weight = _checked_weight(sample_weight, len(labels))
        if sample_weight is not None:
            fit_params = {"sample_weight": weight, **fit_params}
        data = Data(X, labels, weight > 0, *self._routed(fit_params))
        found = calibrate(settings, data, check_random_state(self.random_state))
        thresholds = {f"{name}_": value for name, value in found.thresholds._asdict().items()}
        fitted = {"measure_": settings.measure, "estimator_": found.estimator, "cells_": found.cells} | thresholds
        fitted |= {"min_known_": settings.min_known, "usual_missing_": found.usual_missing}
        names = ("n_features_in_", "feature_names_in_")
        fitted |= {name: getattr(found.estimator, name) for name in names if hasattr(found.estimator, name)}
        kept = {name: value for name, value in vars(self).items() if name not in (*fitted, *names)}
        self.__dict__ = kept | fitted  # one assignment, which cannot be interrupted half-way
        return self

    def _settings(self) -> Settings:
        """The parameters as `fit` uses them."""
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")):
            raise ValueError(f"estimator must be a classifier with fit and predict, got {self.estimator!r}.")
        given = {name: getattr(self, name) for name in TARGETS if getattr(self, name) is not None}
        if len(given) > 1:
            raise ValueError(f"RejectClassifier takes one of {', '.join(TARGETS)}, got {', '.join(given)}; choose one.")
        for name, value in given.items():
            check_fraction(name, value, open_interval=name == "max_error")
        if self.per_class and self.max_error is None:
            raise ValueError("per_class=True of RejectClassifier needs max_error, which is None; give max_error.")
        max_error = given.pop("max_error", None)
        as_given = {field.name: getattr(self, field.name) for field in fields(Settings) if hasattr(self, field.name)}
        computed: dict[str, Argument] = {
            "measure": as_combination(self.measure),
            "target": next(iter(given.items()), ("min_coverage", 0.9)),
            "guarantee": None if max_error is None else Guarantee(max_error, 1 - self.confidence, self.correction),
        }
        return Settings(**as_given | computed)

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: weights and the like go to the estimator's `fit`, groups to the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _routed(self, fit_params: dict[str, Argument]) -> tuple[dict[str, Argument], dict[str, Argument]]:
        """Metadata for the estimator's `fit` and for the splitter's `split`."""
        if not get_config()["enable_metadata_routing"]:
            return fit_params, {}
        routed = process_routing(self, "fit", **fit_params)
        return routed.estimator.fit, routed.splitter.split if hasattr(self.cv, "split") else {}

    def __sklearn_tags__(self) -> Tags:
        """The tags of the estimator about its input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.non_deterministic = inner.input_tags, inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def _check_partitions(X: MatrixLike, labels: Labels) -> None:
    """Raise ValueError for a dask collection of another length."""
    if is_dask(X) and (length := sum(lengths_of(X, held_partitions(X)))) != len(labels):
        raise ValueError(
            f"y of RejectClassifier.fit must have one value for each of the {length} samples of X, got {len(labels)}."
        )


def _checked_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    weight = np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = np.full(n_samples, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one entry per sample, got {weight.shape}.")
    if not (weight >= 0).all() or not (weight > 0).any():
        raise ValueError("sample_weight must not be negative or NaN, nor zero for all samples; zero omits a sample.")
    return weight
