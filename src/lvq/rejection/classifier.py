"""A classifier with a reject option: any scikit-learn classifier, a measure of certainty, thresholds.

`fit` goes: split -> scored samples -> path of thresholds -> operating point; see `calibration.py`. What a fitted
classifier does depends on its fitted state alone: parameters that change after `fit` have no effect until the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, check_random_state, indexable
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from lvq.estimators.base import unchanged_on_error
from lvq.estimators.find_model import find_layer, rejecting_layer
from lvq.estimators.inputs import is_dask
from lvq.rejection.around import AroundClassifier
from lvq.rejection.calibration import (
    Data,
    Folds,
    calibrated,
    cross_fitted,
    fit_thresholds,
    held_out_rows,
    path_and_test_rows,
    score,
)
from lvq.rejection.guarantee import Guarantee, too_few
from lvq.rejection.path import BoolArray, IntArray, OperatingPoint, ThresholdPath, positions
from lvq.rejection.scores import (
    MEASURES,
    Measure,
    Predictions,
    SampleFunction,
    auto_measure,
    cells_of,
    certainty_of,
    fingerprint,
    on_sphere,
    reason_of,
)
from lvq.rejection.thresholds import METHODS
from lvq.typing import Argument, Floats, Label, Labels, MatrixLike, Seed

TARGETS = ("min_coverage", "min_accuracy", "cost_ratio", "max_error")
FITTED_FRACTION = 0.3  # of the samples held out by default


def _estimator_has(name: str) -> Callable[[RejectClassifier], bool]:
    """For `available_if`: whether the estimator, fitted or not, has a method; its own AttributeError where not."""

    return lambda self: getattr(self.predicting_estimator, name) is not None


class RejectClassifier(AroundClassifier):
    """A classifier with a reject option, around any scikit-learn classifier.

    `predict` gives a class for every sample; `accept` reports which to use and `reason` why the others are rejected:
    those whose certainty is below the threshold. One target chooses the operating point: `min_coverage`,
    `min_accuracy`, `cost_ratio` or `max_error`. Without any it is ``min_coverage=0.9``: about 90 % of new samples are
    accepted, whatever their error rate is. By default 30 % of the samples set the thresholds and do not train (`cv`).

    Whether a sample is accepted depends on this sample alone. Samples of equal certainty are accepted or rejected
    together; `notes_` says where more are accepted than requested for this reason.

    Parameters
    ----------
    estimator : classifier
        A model of this library, a Pipeline that ends in one, or any scikit-learn classifier.
    measure : str or callable, default="auto"
        The measure of certainty: "relsim", "radius", "distance", "probability", "margin", or a function of
        (estimator, X). "combined" adds "none of these" to the classes, for models of this library. "auto" is "combined"
        with ``metric="cosine"``, if all calibration samples have the same length, as embeddings have, and if `fit` gets
        `outliers`; otherwise "probability" for models with a steepness `xi` (LVQClassifier, MCE, LOGM) and for other
        classifiers, "relsim" for the other models of this library. See `lvq.rejection.scores`.
    thresholds : {"global", "optimal", "greedy"}, default="global"
        One threshold for all samples; or one for each cell, found by an optimal search or by the greedy one of Fischer
        et al. A cell is a winning prototype of a model of this library, or a predicted class of another classifier.
        Local thresholds need about 100 calibration samples for each cell; `notes_` says where there are fewer, and
        cells with fewer than 10 share one threshold.
    min_coverage : float, optional
        Accept about this fraction of new samples, with a high accuracy; more if many are equally certain.
    min_accuracy : float, optional
        Reach at least this accuracy on the accepted calibration samples, with the highest coverage. On other samples
        it may be lower; only `max_error` guarantees it.
    cost_ratio : float, optional
        Minimise the cost on the calibration samples, where a rejection costs this fraction of an error (Chow).
    max_error : float or list of floats, optional
        P(error | accepted) is at most this, with probability `confidence` over the calibration samples; `fit` raises a
        `GuaranteeError` if this is not achievable. With a list, the lowest achievable one is used, and `notes_` says
        why lower ones are not; choose the list before looking at the samples.
    confidence : float, default=0.95
        Confidence of `max_error`.
    cv : float, "prefit", int, splitter or iterable, default=0.3
        Which samples are used for calibration. A fraction of the samples given to `fit`, which the estimator is then
        not trained on. "prefit", or an estimator in a `sklearn.frozen.FrozenEstimator`: all samples given to `fit`; the
        estimator is already fitted, and `fit` keeps a copy of it. Otherwise cross-fitting: each fold's samples are
        predicted by a model trained on the others, and the predicting model is trained on all. A number of folds takes
        samples in their order; where neighbours are alike, give a splitter that shuffles. Folds may also be (train,
        test, model), with a model already fitted to the training samples of the fold. A guarantee is for the model that
        predicts, so `max_error` needs a fraction or "prefit".
    random_state : int, RandomState or None, default=0
        Draws the held-out samples. A guarantee is void if several values are tried and the best result is chosen.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator that predicts.
    classes_ : ndarray of shape (n_classes,)
        Its classes.
    calibrated_model_ : str
        Digest of the model that was calibrated. Where `estimator_` has another one, as after `add_class`,
        `remove_class` or `partial_fit`, predictions raise an error until the thresholds are calibrated again. Steps
        before the model are not in it: calibrate again after refitting one of these, too.
    measure_ : str, callable or NoneOfThese
        The measure of certainty that the thresholds belong to, with "auto" replaced by what it means here, and
        "combined" by a `NoneOfThese` with its distance.
    point_ : OperatingPoint or CertifiedPoint
        The thresholds, and their counts on the calibration (or testing) samples.
    path_ : ThresholdPath
        All operating points, with their counts on the samples they were fitted on.
    notes_ : tuple of str
        Deviations from the request, and what the thresholds or the guarantee are for where it is not obvious.
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

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "measure": [StrOptions({"auto", *MEASURES, "combined"}), callable],
        "thresholds": [StrOptions(set(METHODS))],
        **{name: [Interval(Real, 0, 1, closed="both"), None] for name in TARGETS[:3]},
        "max_error": [Interval(Real, 0, 1, closed="neither"), "array-like", None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "cv": [
            Interval(Real, 0, 1, closed="neither"),
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            StrOptions({"prefit"}),
            list,
        ],
        "random_state": ["random_state"],
    }

    measure_: Measure
    calibrated_model_: str
    path_: ThresholdPath
    point_: OperatingPoint
    notes_: tuple[str, ...]

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        measure: str | SampleFunction = "auto",
        thresholds: str = "global",
        min_coverage: float | None = None,
        min_accuracy: float | None = None,
        cost_ratio: float | None = None,
        max_error: float | Sequence[float] | None = None,
        confidence: float = 0.95,
        cv: float | Folds | Literal["prefit"] = FITTED_FRACTION,
        random_state: Seed = 0,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.thresholds = thresholds
        self.min_coverage = min_coverage
        self.min_accuracy = min_accuracy
        self.cost_ratio = cost_ratio
        self.max_error = max_error
        self.confidence = confidence
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        outliers: MatrixLike | None = None,
        **fit_params: Argument,
    ) -> Self:
        """Fit the estimator, unless it is already fitted, and its thresholds.

        A `fit` that fails or is interrupted leaves the classifier as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in memory, of any kind that the estimator takes.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for the estimator's `fit`. A sample of weight 0 is not used for calibration either; all others
            count once there.
        groups : array-like of shape (n_samples,), optional
            Groups of samples that are not independent, such as patients with several rows. Whole groups are held out
            or left out of a fold. With `max_error`, one row drawn from each group is tested, and the guarantee is for
            a randomly chosen row of a new group. The groups are also given to an estimator whose `fit` has `groups`.
        outliers : array-like of shape (n_outliers, n_features), optional
            Inputs of no class, for ``measure="combined"``: they set the distance of "none of these" and do not train
            the model. This distance finds most of them while mistakes are found nearly as well. Without outliers,
            99 % of the calibration samples are nearer to a prototype than this distance, or 95 % of samples that all
            have the same length. The target still chooses how many are accepted, and `max_error` holds for samples
            like the calibration samples: nothing is guaranteed for inputs of no class. To see how many pass, use
            `accept` on other such inputs.
        **fit_params : dict
            Passed to the estimator's `fit`; arrays with an entry per sample are split with the samples.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with unchanged_on_error(self):
            self._validate_params()
            self._check_target()
            data = self._checked(X, y, sample_weight, groups, fit_params)
            self.estimator_, self.measure_, thresholds = self._calibrated(
                data, outliers, check_random_state(self.random_state)
            )
            self.path_, self.point_, self.notes_ = thresholds
            self.calibrated_model_ = fingerprint(self.estimator_)
            return self

    def _check_target(self) -> None:
        given = [name for name in TARGETS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"RejectClassifier takes one of {', '.join(TARGETS)}, got {', '.join(given)}; choose one.")
        for value in () if self.max_error is None else np.atleast_1d(self.max_error).tolist():
            if not 0 < value < 1:
                raise ValueError(f"max_error must be strictly between 0 and 1, got {value!r}; 5 % is 0.05.")
        if self.max_error is not None and not self._is_prefit and not isinstance(self.cv, float):
            raise ValueError(
                "cv of RejectClassifier must be a fraction of the samples or 'prefit' where max_error is given, "
                f"because a guarantee is tested on samples that no model was trained on; got {self.cv!r}."
            )

    def _checked(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        fit_params: dict[str, Argument],
    ) -> Data:
        """The samples with what belongs to them, checked."""
        if y is None:
            raise ValueError("RejectClassifier requires y to be passed, but the target y is None.")
        if is_dask(X):
            raise TypeError(
                "RejectClassifier takes samples in memory, got a dask collection; fit the estimator to it, then "
                "calibrate on other samples, in memory, with cv='prefit'."
            )
        X, given, names = indexable(X, y, groups)
        labels = column_or_1d(given, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        names = None if names is None else column_or_1d(names)
        for_fit, weighted = dict(fit_params), np.ones(len(labels), dtype=np.bool_)
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, labels, ensure_non_negative=True)
            for_fit, weighted = {"sample_weight": weight, **for_fit}, weight > 0
        if names is not None and has_fit_parameter(self.estimator, "groups"):
            for_fit = {"groups": names, **for_fit}
        return Data(X, labels, names, weighted, for_fit)

    def _calibrated(
        self, data: Data, outliers: MatrixLike | None, rng: np.random.RandomState
    ) -> tuple[BaseEstimator, Measure, tuple[ThresholdPath, OperatingPoint, tuple[str, ...]]]:
        """The predicting estimator, its measure of certainty, and its thresholds."""
        guarantees, nothing = list[Guarantee](), np.zeros(0, dtype=np.intp)
        if not self._is_prefit and not isinstance(self.cv, float):
            estimator = data.trained(self.estimator)
            measure = self._measure(Predictions(estimator, data.X), outliers)
            fitting, measure = cross_fitted(estimator, self.estimator, self.cv, measure, data, outliers)
            testing = fitting.take(nothing)
        else:
            rows = self._held_out_rows(data, rng)
            held_out, for_path, for_tests = data.take(rows), np.arange(len(rows)), nothing
            if self.max_error is not None:
                for_path, for_tests = path_and_test_rows(held_out.units, rng)
                guarantees = self._guarantees(len(for_tests), data)
            estimator = self._fitted(data, rows)
            # from the samples of the path alone: what depends on the testing samples would make the tests invalid
            made = Predictions(estimator, held_out.X)
            known = made.take(for_path)
            measure = calibrated(self._measure(known, outliers), known, held_out.y[for_path], outliers)
            scored = score(made, measure, held_out.y)
            fitting, testing = scored.take(for_path), scored.take(for_tests)
        target = next((name for name in TARGETS[:3] if getattr(self, name) is not None), None)
        wanted = ("min_coverage", 0.9) if target is None else (target, getattr(self, target))
        return estimator, measure, fit_thresholds(self.thresholds, wanted, guarantees, fitting, testing)

    def _measure(self, known: Predictions, outliers: MatrixLike | None) -> Measure:
        """The measure to calibrate, given calibration samples."""
        if outliers is not None and self.measure not in ("auto", "combined"):
            raise ValueError(
                f"outliers of RejectClassifier.fit need measure='combined' or 'auto', got {self.measure!r}, which "
                "does not use them."
            )
        if self.measure != "auto":
            return self.measure
        if outliers is not None:
            return "combined"
        as_directions = known.found is not None and (known.model.unit_length or on_sphere(known))
        return "combined" if as_directions else auto_measure(known)

    def _held_out_rows(self, data: Data, rng: np.random.RandomState) -> IntArray:
        """Samples for calibration, on which the predicting estimator is not trained."""
        rows = np.flatnonzero(data.weighted)
        if not self._is_prefit:
            rows = held_out_rows(data, float(self.cv), rng, for_tests=self.max_error is not None)  # type: ignore[arg-type]
        if not len(rows):
            raise ValueError(
                f"RejectClassifier found no sample to calibrate on among n_samples = {len(data.y)}, with cv={self.cv}; "
                "give more samples, or a larger fraction or a number of folds as cv."
            )
        return rows

    def _fitted(self, data: Data, held_out: IntArray) -> BaseEstimator:
        """The estimator that predicts: trained on the other samples, or given."""
        if self._is_prefit:
            _check_prefit(self.estimator, data.y)
            # a copy: the user may fit the given estimator again, and the thresholds hold for this one only
            return deepcopy(self.estimator)
        # rows of weight 0 of a held-out group are left out too
        return data.take(np.flatnonzero(~np.isin(data.units, data.units[held_out]))).trained(self.estimator)

    def _guarantees(self, n_tested: int, data: Data) -> list[Guarantee]:
        """What is to be guaranteed, where so many units are tested; GuaranteeError where none could pass a test."""
        fraction, unit = n_tested / len(np.unique(data.units)), "samples" if data.groups is None else "groups"
        errors = np.atleast_1d(np.asarray(self.max_error, dtype=np.float64)).tolist()
        error = too_few(n_tested, n_tested, Guarantee(max(errors), 1 - self.confidence, fraction, unit))
        if error is not None:
            raise error
        return [Guarantee(error, 1 - self.confidence, fraction, unit) for error in errors]

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

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
        self.check_calibrated()
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: MatrixLike) -> Floats:
        """Probabilities of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        self.check_calibrated()
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: MatrixLike) -> Floats:
        """Scores of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        self.check_calibrated()
        return self.estimator_.decision_function(X)

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

    def reason(self, X: MatrixLike) -> NDArray[np.str_]:
        """Why predictions are rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        reason : str ndarray of shape (n_samples,)
            "" for an accepted sample; "ambiguous" or "outlier" for one whose certainty is too low, by "combined"
            "outlier" where "none of these" is nearer than the winner; "unseen cell" for one in a cell without
            calibration samples, where thresholds are local.
        """
        return judged(self, X).reason

    def check_calibrated(self) -> None:
        """Raise a ValueError if the model of the estimator has changed since the thresholds were calibrated."""
        check_is_fitted(self)
        if fingerprint(self.estimator_) != self.calibrated_model_:
            raise ValueError(
                "RejectClassifier must be calibrated again, because the model of its estimator_ has changed, as by "
                "add_class, remove_class or partial_fit. Fit RejectClassifier(estimator_, cv='prefit') to samples of "
                "all its classes."
            )

    def certainty(self, X: MatrixLike) -> Floats:
        """Certainty of the predictions by the measure that the thresholds belong to; higher is more certain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        certainty : ndarray of shape (n_samples,)
        """
        return judged(self, X).certainty

    def cell(self, X: MatrixLike) -> Labels:
        """The cell of each sample: the index of its winning prototype, or its predicted class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        cell : ndarray of shape (n_samples,)
        """
        return cells_of(judged(self, X).predictions)

    def predict_or_reject(self, X: MatrixLike, reject_label: Label = None) -> Labels:
        """Classes, and a separate label for the rejected samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        reject_label : scalar, default=None
            Any label that is not a class.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            It has the type of the classes if that can hold the label, as integers can hold -1; otherwise it holds
            objects, so no class changes its type.
        """
        found = judged(self, X)
        labels = found.predictions.predicted.astype(_common_type(np.asarray(self.classes_), reject_label))
        labels[~found.accepted] = reject_label
        return labels

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
        accepted = self.accept(X)
        return float(np.average(accepted, weights=_check_sample_weight(sample_weight, accepted)))

    def accepted_accuracy(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the accepted predictions.

        It does not depend on how many are accepted: see `coverage`.

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
        labels, found = column_or_1d(y), judged(self, X)
        predicted = found.predictions.predicted
        check_consistent_length(predicted, labels)
        weight = _check_sample_weight(sample_weight, labels) * found.accepted
        return float(np.average(predicted == labels, weights=weight)) if weight.any() else float("nan")


class Judged(NamedTuple):
    """Predictions with their certainty, and why they are rejected; "" for accepted ones."""

    predictions: Predictions
    certainty: Floats
    reason: NDArray[np.str_]

    @property
    def accepted(self) -> BoolArray:
        """Which predictions are accepted."""
        return np.asarray(self.reason == "")


def judged(estimator: BaseEstimator, X: MatrixLike, inputs: NDArray | None = None) -> Judged:
    """Predict each sample once, and judge the predictions by the RejectClassifier that an estimator is or contains.

    Without one the certainty is by the measure "auto", and all are accepted. `inputs` are the samples as they reach the
    model, where they are known; X is then what the RejectClassifier takes, for measures that are computed from it.
    """
    reject, reaching = find_layer(estimator, RejectClassifier), X
    if reject is None:
        made = Predictions(estimator, X, inputs)
        return Judged(made, certainty_of(made, "auto"), np.full(len(made.predicted), ""))
    if inputs is None:
        _, reaching = rejecting_layer(estimator, X)
    reject.check_calibrated()
    made, point = Predictions(reject.estimator_, reaching, inputs), reject.point_
    values, cell = certainty_of(made, reject.measure_), cells_of(made)
    unseen = (positions(cell, point.cells) < 0) & (point.unseen == np.inf)
    rejected = np.where(unseen, "unseen cell", reason_of(made, reject.measure_))
    return Judged(made, values, np.where(point.accept(values, cell), "", rejected))


def _common_type(classes: Labels, label: Label) -> np.dtype:
    """A type that holds classes and label without changing the value of a class."""
    if np.ndim(label) or any(label == known for known in classes.tolist()):
        raise ValueError(
            f"reject_label must be a scalar that is not one of the classes {classes.tolist()}, got {label!r}; use "
            "None, or a label that no sample can have."
        )
    given = np.asarray(label).dtype
    return np.result_type(classes.dtype, given) if classes.dtype.kind == given.kind else np.dtype(object)


def _check_prefit(estimator: BaseEstimator, y: Labels) -> None:
    check_is_fitted(estimator)
    known = np.asarray(getattr(estimator, "classes_", y)).tolist()
    if set(y.tolist()).isdisjoint(known):
        raise ValueError(
            f"y must contain classes of the fitted estimator, {known[:5]}, got {np.unique(y)[:5].tolist()}; give the "
            "labels it was fitted with."
        )
