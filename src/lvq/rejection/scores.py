"""How certain a prediction is, and in which cell it lies. Higher is more certain for every measure.

| name | certainty | for |
|---|---|---|
| "relsim" | (d- - d+)/(d- + d+), after the kernel: relative similarity | models of this library |
| "radius" | `lvq.certified_radius`: no smaller change of the sample changes the prediction | as that function |
| "distance" | minus the distance to the winner, in the model's metric: low for outliers | models of this library |
| "probability" | probability of the predicted class; the posterior of the soft models | any with predict_proba |
| "margin" | score of the predicted class minus the best other score | any with decision_function |
| "auto" | see below | any |
| "combined" | as "auto", where "none of these" is one more class: see `NoneOfThese` | models of this library |

A user's own measure is a function ``measure(estimator, X) -> certainty``; its attribute `reason`, "ambiguous" or
"outlier", names what a low value means. d+ is the distance to the nearest prototype of the predicted class, the winner;
d- is the distance to the nearest prototype of all other classes. All measures use the same table of distances.

"auto" is "relsim" for models of this library with a cost of relative distances, and "probability" for models with a
steepness xi (on the development data it more often ranks errors first); "margin" for a `CostClassifier`, the cost that
its choice saves; "probability", or if there is none "margin", for other classifiers.

Probability finds mistakes and distance finds foreign inputs. "combined" finds both; it needs calibration samples, so
only `RejectClassifier` has it, as "auto" for metric="cosine" and for samples of one length, such as embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import FoundModel, find_layer, find_model, last_step
from lvq.inspection.certify import certified_radius
from lvq.inspection.columns import model_inputs
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import is_sparse, row_squares
from lvq.model.scores import Nearest, class_distances, nearest, relative_similarity
from lvq.rejection.costs import CostClassifier
from lvq.rejection.path import IntArray
from lvq.rejection.thresholds import in_steps, step_of
from lvq.typing import Floats, Labels, MatrixLike

# a user's own measure or cells: of a fitted estimator and samples, one value for each sample
SampleFunction: TypeAlias = Callable[[BaseEstimator, MatrixLike], ArrayLike]
Measure: TypeAlias = "str | SampleFunction | NoneOfThese"
LARGEST = np.finfo(np.float64).max  # certainty where nothing limits it; a certainty is finite
KNOWN = 0.99  # fraction of the calibration samples that are nearer to a prototype than "none of these",
KNOWN_ON_SPHERE = 0.95  # and of samples of one length
ONE_LENGTH = 0.01  # relative difference of lengths that count as one
PLACES = 65  # distances of "none of these" that are compared where there are outliers,
LOSS = 0.03  # and how much smaller the area under the ROC curve for mistakes may be


class Predictions:
    """An estimator's predictions for some samples, and what measures and cells need; each is computed once.

    Parameters
    ----------
    estimator : fitted classifier
    X : array-like of shape (n_samples, n_features)
    inputs : ndarray, optional
        The samples as they reach the model, where they are known; X is then for measures that are computed from it.
    """

    def __init__(self, estimator: BaseEstimator, X: MatrixLike, inputs: np.ndarray | None = None) -> None:
        self.estimator, self.X = estimator, X
        self.found = find_model(estimator)
        self.by_cost = find_layer(estimator, CostClassifier)  # the class need not be that of the nearest
        if inputs is not None:
            self.inputs = inputs

    def take(self, rows: IntArray) -> Predictions:
        """The predictions for some of the samples, from the same distances."""
        part = Predictions(self.estimator, _safe_indexing(self.X, rows))
        if self.found is not None:
            part.inputs, part.distances = self.inputs[rows], self.distances[rows]
        return part

    @cached_property
    def _fitted(self) -> FoundModel:
        if self.found is None:
            raise ValueError(
                "Distances, as for measure='combined', need a model of this library, or a Pipeline that ends in one, "
                f"got {type(self.estimator).__name__}; use measure='probability' or 'margin', or your own function."
            )
        check_is_fitted(self.found.estimator)
        return self.found

    @property
    def model(self) -> PrototypeModel:
        """The fitted model that predicts; ValueError where there is none."""
        return self._fitted.model

    @cached_property
    def inputs(self) -> np.ndarray:
        """Samples as they reach the model."""
        return model_inputs(self._fitted, self.X)

    @cached_property
    def distances(self) -> np.ndarray:
        """Squared distances to all prototypes, before any kernel: (n_samples, n_prototypes)."""
        return self.model.distances(self.inputs)

    @cached_property
    def predicted(self) -> Labels:
        """The predicted classes."""
        if self.found is None:
            return np.asarray(self.estimator.predict(self.X))
        costs = self.expected_costs
        return self.model.classes[self.model.decide(self.distances) if costs is None else costs.argmin(axis=1)]

    @cached_property
    def probabilities(self) -> Floats | None:
        """Probabilities of the classes; None where the estimator has none."""
        if not hasattr(self.estimator, "predict_proba"):
            return None
        fitted = self.found is not None
        return np.asarray(self.model.probabilities(self.distances) if fitted else self.estimator.predict_proba(self.X))

    @cached_property
    def expected_costs(self) -> Floats | None:
        """Expected cost of predicting each class; None where a model of this library predicts the nearest."""
        if self.found is None or self.by_cost is None:
            return None
        assert self.probabilities is not None
        return self.probabilities @ self.by_cost.costs_

    @cached_property
    def nearest(self) -> Nearest:
        """Winner and rival, the nearest prototypes of the predicted class and of all others, and their distances."""
        return self.nearest_of(self.predicted)

    @property
    def winner(self) -> IntArray:
        """Index of the winner of each sample."""
        return self.nearest.winner

    def nearest_of(self, classes: Labels, rows: IntArray | slice = slice(None)) -> Nearest:
        """Winner and rival where these classes are predicted, for some samples."""
        model = self.model
        return nearest(self.distances[rows], model.labels, np.searchsorted(model.classes, classes))


def _relsim(predictions: Predictions) -> Floats:
    found, model = predictions.nearest, predictions.model
    if len(np.unique(model.labels)) == 1:  # a stream with samples of one class so far
        return np.ones(len(found.winner))
    return relative_similarity(model.link.value(found.winner_distance), model.link.value(found.rival_distance))


def _scores(predictions: Predictions, measure: str, method: str) -> np.ndarray:
    """What a method of the classifier gives; ValueError where it does not have it."""
    if not hasattr(predictions.estimator, method):
        raise ValueError(
            f"measure={measure!r} needs a classifier with {method}, which {type(predictions.estimator).__name__} does "
            "not have; use another measure, or a function of (estimator, X)."
        )
    return np.asarray(getattr(predictions.estimator, method)(predictions.X), dtype=np.float64)


def _probability(predictions: Predictions) -> Floats:
    if predictions.found is not None:
        model = predictions.model
        table = model.posterior if model.decision.soft else model.probabilities
        return _of_predicted_class(predictions, table(predictions.distances))
    return _of_predicted_class(predictions, _scores(predictions, "probability", "predict_proba"))


def _class_scores(predictions: Predictions) -> np.ndarray:
    """What `decision_function` gives."""
    if predictions.found is None:
        return _scores(predictions, "margin", "decision_function")
    if predictions.expected_costs is not None:
        return -predictions.expected_costs
    scores = predictions.model.scores(predictions.distances)
    return scores[:, 1] if scores.shape[1] == 2 else scores


def _margin(predictions: Predictions) -> Floats:
    estimator, scores = predictions.estimator, _class_scores(predictions)
    if len(estimator.classes_) > 2 and getattr(last_step(estimator), "decision_function_shape", None) == "ovo":
        # three classes have three pairs, so the shape does not show it
        raise ValueError(
            "measure='margin' needs a score for each class, got scores for pairs of classes; set "
            "decision_function_shape='ovr'."
        )
    if len(estimator.classes_) == 1:
        return np.ones(len(scores))
    if scores.ndim == 1:  # two classes: one column, positive for the second
        return np.where(predictions.predicted == estimator.classes_[1], scores, -scores)
    own = _of_predicted_class(predictions, scores)
    others = np.where(predictions.predicted[:, None] == estimator.classes_[None, :], -np.inf, scores)
    return own - others.max(axis=1)


def _of_predicted_class(predictions: Predictions, table: np.ndarray) -> Floats:
    """The column of the predicted class, which need not be the largest (support vector machines by Platt's method)."""
    classes = predictions.estimator.classes_
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise ValueError(f"expected a column for each of {len(classes)} classes, got shape {table.shape}.")
    column = (predictions.predicted[:, None] == classes[None, :]).argmax(axis=1)
    return np.take_along_axis(table, column[:, None], axis=1)[:, 0]


def auto_measure(predictions: Predictions) -> str:
    """The measure that "auto" means for an estimator."""
    estimator = predictions.estimator
    if predictions.by_cost is not None:
        return "margin"
    if predictions.found is not None:  # a cost with a steepness compares differences, the others relative ones
        return "relsim" if predictions.model.decision.xi is None else "probability"
    has_scores_only = hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba")
    return "margin" if has_scores_only else "probability"


MEASURES: dict[str, Callable[[Predictions], Floats]] = {
    "relsim": _relsim,
    "radius": lambda made: np.minimum(certified_radius(made.estimator, made.X), LARGEST),
    "distance": lambda made: -np.sqrt(made.nearest.winner_distance),
    "probability": _probability,
    "margin": _margin,
}


@dataclass(frozen=True)
class NoneOfThese:
    """Certainty of the predicted class where "none of these" is one more class, at one distance from every sample.

    For models with a steepness xi it is the probability of the predicted class times the probability that the sample is
    of a known class, ``Z/(Z + exp(-xi b))`` where Z is the sum of exp(-xi d) over the known classes. For models of
    relative distances it is the relative similarity, where "none of these" is a rival at distance b. Near prototypes
    both are what they are without it; far from all they fall with the distance. What a `CostClassifier` saves is
    multiplied by that probability, or by the relative similarity against "none of these" alone.

    Parameters
    ----------
    distance : float
        The distance b, after the kernel.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]]).fit([[0], [4]], ["left", "right"])
    >>> NoneOfThese(4.0).certainty(Predictions(model, [[0.0], [1.0], [-2.0], [-6.0]]))
    array([ 1. ,  0.6,  0. , -0.8])
    """

    distance: float

    def __post_init__(self) -> None:
        if not 0 <= self.distance < np.inf:
            raise ValueError(f"distance of NoneOfThese must be finite and not negative, got {self.distance!r}.")

    @classmethod
    def calibrated(cls, known: Predictions, y: Labels, outliers: Predictions | None) -> NoneOfThese:
        """The distance that nearly all known samples are nearer than; with outliers a smaller one, if it finds more.

        It is the one with the largest area under the ROC curve of known samples against outliers, among those whose
        area for mistakes is nearly as large as without outliers.
        """
        near = known.model.link.value(known.nearest.winner_distance).astype(np.float64)
        fraction = KNOWN_ON_SPHERE if on_sphere(known) else KNOWN
        candidates = [cls(float(place)) for place in np.quantile(near, np.linspace(fraction, 0, PLACES))]
        if outliers is None:
            return candidates[0]
        steps = [step_of(one.certainty(known)) for one in candidates]  # smaller differences separate nothing
        inside, outside = (
            [in_steps(one.certainty(rows), step) for one, step in zip(candidates, steps)] for rows in (known, outliers)
        )
        mistakes = np.array([_area(known.predicted == y, values) for values in inside])
        is_known = np.repeat([True, False], [len(y), len(outside[0])])
        found = np.array([_area(is_known, np.concatenate(values)) for values in zip(inside, outside)])
        return candidates[int(np.where(mistakes >= mistakes[0] - LOSS, found, -1.0).argmax())]

    def certainty(self, predictions: Predictions) -> Floats:
        """The certainty of predictions."""
        model = predictions.model
        if predictions.by_cost is not None:
            return _margin(predictions) * self._membership(predictions)
        if model.decision.xi is not None:
            return _probability(predictions) * self._membership(predictions)
        found = predictions.nearest
        rival = np.minimum(model.link.value(found.rival_distance), self.distance)
        return relative_similarity(model.link.value(found.winner_distance), rival)

    def _membership(self, predictions: Predictions) -> Floats:
        """How much a sample is of a known class: a probability, or the relative similarity against none of these."""
        model, rule = predictions.model, predictions.model.decision
        if rule.xi is None:
            return relative_similarity(model.link.value(predictions.nearest.winner_distance), self.distance)
        H, steepness = model.link.value(predictions.distances).astype(np.float64), rule.xi
        if not rule.soft:
            H, steepness = class_distances(H, model.labels, len(model.classes)), rule.xi / rule.temperature
        return expit(steepness * self.distance + logsumexp(-steepness * H, axis=1))

    def reason(self, predictions: Predictions) -> np.ndarray:
        """Why a sample is rejected, if it is: "outlier" where "none of these" is nearer than the winner."""
        winner = predictions.model.link.value(predictions.nearest.winner_distance)
        return np.where(winner > self.distance, "outlier", "ambiguous")


def _area(positive: np.ndarray, values: Floats) -> float:
    """Area under the ROC curve; 1 where there is nothing to separate."""
    from sklearn.metrics import roc_auc_score  # slow to import

    return 1.0 if positive.all() or not positive.any() else float(roc_auc_score(positive, values))


def on_sphere(predictions: Predictions) -> bool:
    """Whether samples have one length, as most embeddings have; 0 and a single other value are codes of categories."""
    X = predictions.inputs
    lengths, sizes = np.sqrt(row_squares(X)), np.abs(X.data if is_sparse(X) else X)
    coded = bool(np.isin(sizes, (0, sizes.max(initial=0))).all())
    apart = np.sqrt(
        max((lengths**2).mean() - np.square(np.asarray(X.mean(axis=0))).sum(), 0)
    )  # not far from the origin
    return not coded and bool(np.ptp(lengths) <= ONE_LENGTH * min(apart, lengths.max()))


def mean_measure(measures: Sequence[Measure]) -> Measure:
    """The measure of the predicting model, from the measures of the folds' models."""
    own = [each.distance for each in measures if isinstance(each, NoneOfThese)]
    return NoneOfThese(float(np.mean(own))) if own else measures[0]


def reason_of(predictions: Predictions, measure: Measure) -> str | np.ndarray:
    """The reason for rejection that a low value of a measure means, "ambiguous" or "outlier", for all or for each."""
    if isinstance(measure, NoneOfThese):
        return measure.reason(predictions)
    return "outlier" if measure == "distance" else getattr(measure, "reason", "ambiguous")


def certainty_of(predictions: Predictions, measure: Measure) -> Floats:
    """Certainty of predictions by a measure: a name, or a function of estimator and samples; else ValueError."""
    name = auto_measure(predictions) if measure == "auto" else measure
    if isinstance(measure, NoneOfThese):
        given: ArrayLike = measure.certainty(predictions)
    elif callable(measure):
        given = measure(predictions.estimator, predictions.X)
    elif name in MEASURES:
        given = MEASURES[name](predictions)
    else:
        names = ", ".join(map(repr, ("auto", *MEASURES)))
        raise ValueError(
            f"measure must be one of {names}, or a function of (estimator, X), got {measure!r}; 'combined' is for "
            "RejectClassifier."
        )
    values = np.asarray(given, dtype=np.float64)
    n_samples = len(predictions.predicted)
    if values.shape != (n_samples,):
        raise ValueError(f"a measure must give one number per sample, shape ({n_samples},), got shape {values.shape}.")
    return values


def certainty(estimator: BaseEstimator, X: MatrixLike, measure: str | SampleFunction = "auto") -> Floats:
    """Certainty of a fitted classifier's predictions; higher is more certain.

    Parameters
    ----------
    estimator : fitted classifier
        A model of this library, a Pipeline that ends in one, or any scikit-learn classifier.
    X : array-like of shape (n_samples, n_features)
        Samples.
    measure : {"auto", "relsim", "radius", "distance", "probability", "margin"} or callable, default="auto"
        See the table at the top of `lvq.rejection.scores`.

    Returns
    -------
    certainty : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]]).fit([[0], [4]], ["left", "right"])
    >>> certainty(model, [[1.0], [2.0]], "relsim"), certainty(model, [[1.0], [2.0]], "radius").round(6)
    (array([0.8, 0. ]), array([1., 0.]))
    """
    return certainty_of(Predictions(estimator, X), measure)


def fingerprint(estimator: BaseEstimator) -> str:
    """A digest of the model of a fitted estimator; the classes of other classifiers."""
    found = find_model(estimator)
    return repr(np.asarray(estimator.classes_).tolist()) if found is None else found.model.fingerprint


def cells_of(predictions: Predictions) -> Labels:
    """Cell of each sample: its winning prototype, or its predicted class."""
    return predictions.predicted if predictions.found is None else predictions.winner
