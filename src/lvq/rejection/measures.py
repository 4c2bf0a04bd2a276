"""How sure a classifier is of its answer, and in which cell it was given. Higher is surer, whatever the measure.

| name | certainty | for |
|---|---|---|
| "relsim" | (d- - d+)/(d- + d+), after the kernel: relative similarity | our models |
| "boundary" | distance to the nearest midplane of winner and rival, in the model's metric | one metric for all |
| "radius" | `lvq.certified_radius`: no smaller change of the sample changes the answer | as that function |
| "distance" | minus the distance to the winner, in the model's metric: low for outliers | our models |
| "probability" | probability of the answer; the posterior of the soft models | any with predict_proba |
| "margin" | score of the answer less the best other score | any with decision_function |
| "auto" | "relsim", else "probability", else "margin" | any |
| "combined" | "auto" for ambiguity, and "distance" for outliers: see `Combination` | our models |

A measure of one's own is a function ``measure(estimator, X) -> certainty``. d+ is the distance to the nearest prototype
of the predicted class, the winner; d- that to the nearest of all other classes. One table of distances feeds them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lvq.model.certainty import relative_similarity
from lvq.model.costs import SoftCost
from lvq.model.metrics import LocalMatrix
from lvq.rejection.samples import FloatArray, IntArray, label_codes
from lvq.robustness import answers_by_posterior, certified_radius, find_model, last_step, metric_root, project


class Answers:
    """What an estimator answers for some samples, and what measures and cells need to know; each computed once.

    Parameters
    ----------
    estimator : fitted classifier
    X : array-like of shape (n_samples, n_features)
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        self.estimator, self.X = estimator, X
        self.found = find_model(estimator)

    @property
    def model(self) -> Any:
        """The model of this library that answers; a sentence where there is none."""
        if self.found is None:
            raise ValueError(
                "Distances and prototypes need a model of this library, or a Pipeline that ends in one, got "
                f"{type(self.estimator).__name__}; use measure='probability' or 'margin' and cells='class', or "
                "functions of your own."
            )
        return self.found.model

    @cached_property
    def distances(self) -> NDArray[Any]:
        """Squared distances to all prototypes, before any kernel: (n_samples, n_prototypes)."""
        model = self.model  # says what is missing
        assert self.found is not None
        return model._distances(self.found.inputs(self.X))

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """The predicted classes."""
        if self.found is None or answers_by_posterior(self.model):
            return np.asarray(self.estimator.predict(self.X))
        return self.model.classes_[self.model._labels[self.distances.argmin(axis=1)]]

    @cached_property
    def sides(self) -> tuple[IntArray, IntArray]:
        """Winner and rival: the nearest prototypes of the predicted class and of all others."""
        return self._nearest(own=True), self._nearest(own=False)

    def winner_for(self, predicted: NDArray[Any]) -> IntArray:
        """The nearest prototype of given classes, whatever this estimator would have predicted itself."""
        same = self._owners(predicted)
        return np.where(same, self.distances, np.inf).argmin(axis=1)

    def _nearest(self, *, own: bool) -> IntArray:
        same = self._owners(self.predicted)
        return np.where(same == own, self.distances, np.inf).argmin(axis=1)

    def _owners(self, predicted: NDArray[Any]) -> NDArray[np.bool_]:
        return self.model.prototype_labels_[None, :] == predicted[:, None]

    def at(self, prototype: IntArray) -> NDArray[Any]:
        """The squared distance of every sample to one prototype."""
        return np.take_along_axis(self.distances, prototype[:, None], axis=1)[:, 0]


def _relsim(answers: Answers) -> FloatArray:
    winner, rival = answers.sides
    model = answers.model
    if len(np.unique(model._labels)) == 1:  # a stream that has not met a second class
        return np.ones(len(winner))
    return relative_similarity(model._link.value(answers.at(winner)), model._link.value(answers.at(rival)))


def _boundary(answers: Answers) -> FloatArray:
    model = answers.model
    if isinstance(model._metric, LocalMatrix):
        raise ValueError(
            f"measure='boundary' needs one metric for all prototypes, got {type(model).__name__} with several; use "
            "'relsim' or 'radius'."
        )
    W = model._params.prototypes.astype(np.float64)
    projected = project(W - W.mean(axis=0), metric_root(model))
    winner, _ = answers.sides
    D, near = answers.distances.astype(np.float64), answers.at(winner).astype(np.float64)
    result = np.empty(len(D))
    farthest = np.finfo(np.float64).max  # without a rival there is no border
    for own in np.unique(winner):
        rows = np.flatnonzero(winner == own)
        rivals = np.flatnonzero(model._labels != model._labels[own])
        apart = np.linalg.norm(projected[rivals] - projected[own], axis=1)
        gap = D[np.ix_(rows, rivals)] - near[rows, None]
        distance = np.divide(gap, 2 * apart, out=np.zeros_like(gap), where=np.broadcast_to(apart > 0, gap.shape))
        result[rows] = distance.min(axis=1, initial=farthest)
    return result


def _distance(answers: Answers) -> FloatArray:
    return -np.sqrt(answers.at(answers.sides[0]))


def _probability(answers: Answers) -> FloatArray:
    estimator = answers.estimator
    soft = answers.found is not None and isinstance(answers.model._parts().cost, SoftCost)
    if not soft and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"measure='probability' needs a classifier with predict_proba, which {type(estimator).__name__} has not; "
            "use measure='margin' or a function."
        )
    if soft:
        assert answers.found is not None
        table = answers.model._posterior(answers.found.inputs(answers.X))
    else:
        table = estimator.predict_proba(answers.X)
    return _of_the_answer(answers, np.asarray(table))


def _margin(answers: Answers) -> FloatArray:
    estimator = answers.estimator
    if not hasattr(estimator, "decision_function"):
        raise ValueError(
            f"measure='margin' needs a classifier with decision_function, which {type(estimator).__name__} has not; "
            "use measure='probability' or a function."
        )
    if len(estimator.classes_) > 2 and getattr(last_step(estimator), "decision_function_shape", None) == "ovo":
        # with three classes there are as many pairs, and the shape would not tell
        raise ValueError(
            "measure='margin' needs a score for each class, got those of pairs of classes; set "
            "decision_function_shape='ovr'."
        )
    scores = np.asarray(estimator.decision_function(answers.X), dtype=np.float64)
    if len(estimator.classes_) == 1:
        return np.ones(len(scores))
    if scores.ndim == 1:  # two classes: one column, positive for the second
        return np.where(answers.predicted == estimator.classes_[1], scores, -scores)
    own = _of_the_answer(answers, scores)
    others = np.where(answers.predicted[:, None] == estimator.classes_[None, :], -np.inf, scores)
    return own - others.max(axis=1)


def _of_the_answer(answers: Answers, table: NDArray[Any]) -> FloatArray:
    """The column of the predicted class, which need not be the largest (support vector machines by Platt's method)."""
    classes = answers.estimator.classes_
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise ValueError(f"expected a column for each of {len(classes)} classes, got shape {table.shape}.")
    column = (answers.predicted[:, None] == classes[None, :]).argmax(axis=1)
    return np.take_along_axis(table, column[:, None], axis=1)[:, 0]


def _radius(answers: Answers) -> FloatArray:
    # a certainty is finite; an infinite radius is the surest there is
    return np.minimum(certified_radius(answers.estimator, answers.X), np.finfo(np.float64).max)


def _automatic(answers: Answers) -> FloatArray:
    if answers.found is not None:
        return _relsim(answers)
    if not hasattr(answers.estimator, "predict_proba") and not hasattr(answers.estimator, "decision_function"):
        raise ValueError(
            f"measure='auto' needs a classifier with predict_proba or decision_function, and "
            f"{type(answers.estimator).__name__} has neither; give measure a function of (estimator, X)."
        )
    return _probability(answers) if hasattr(answers.estimator, "predict_proba") else _margin(answers)


class Measure(NamedTuple):
    """A function of `Answers`, and what a low value means."""

    certainty: Callable[[Answers], FloatArray]
    doubt: str = "ambiguous"


MEASURES: dict[str, Measure] = {
    "auto": Measure(_automatic),
    "relsim": Measure(_relsim),
    "boundary": Measure(_boundary),
    "radius": Measure(_radius),
    "distance": Measure(_distance, doubt="outlier"),
    "probability": Measure(_probability),
    "margin": Measure(_margin),
}


@dataclass(frozen=True)
class Combination:
    """Ambiguous or outlying: two measures, each with thresholds of its own, and a reason for every rejection.

    Errors show where answers are ambiguous, hence those thresholds are fitted to errors. Outliers are samples the
    calibration data has none of, so there are no errors to learn from: a sample is an outlier if it is less typical
    than all but `outlier_share` of the calibration samples of its cell.

    Parameters
    ----------
    ambiguity : str or callable, default="auto"
        The measure whose thresholds are fitted.
    outlier : str or callable, default="distance"
        The measure of how typical a sample is.
    outlier_share : float, default=0.01
        Share of the calibration samples that may be called outliers. In a cell of fewer than 1/outlier_share samples a
        sample is one if it is less typical than all of these.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> from lvq.rejection import Combination, RejectClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RejectClassifier(GLVQ(random_state=0), measure=Combination("relsim", "distance")).fit(X, y)
    >>> model.reason([[5.0, 3.4, 1.5, 0.2], [50.0, 3.4, 1.5, 0.2]])
    array(['', 'outlier'], dtype='<U11')
    """

    ambiguity: Any = "auto"
    outlier: Any = "distance"
    outlier_share: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.outlier_share < 1:
            raise ValueError(f"outlier_share must be in [0, 1), got {self.outlier_share!r}.")


def as_combination(measure: Any) -> Combination:
    """Any `measure` parameter as a combination; a plain measure has no part for outliers."""
    if isinstance(measure, Combination):
        return measure
    return Combination() if measure == "combined" else Combination(measure, None)


def doubt_of(measure: Any) -> str:
    """What a low value of a measure means: "ambiguous" or "outlier"; a function may say so by an attribute `doubt`."""
    return MEASURES[measure].doubt if isinstance(measure, str) else getattr(measure, "doubt", "ambiguous")


def measured(answers: Answers, measure: Any) -> FloatArray:
    """The certainty of answers by a measure's name or by a function of estimator and samples."""
    if isinstance(measure, str):
        if measure not in MEASURES:
            names = ", ".join(map(repr, MEASURES))
            raise ValueError(f"measure must be one of {names}, 'combined', or a function, got {measure!r}.")
        values = MEASURES[measure].certainty(answers)
    elif callable(measure):
        values = measure(answers.estimator, answers.X)
    else:
        raise ValueError(f"measure must be a name or a function of (estimator, X), got {measure!r}.")
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(answers.predicted),):
        raise ValueError(
            f"a measure must give one number per sample, shape ({len(answers.predicted)},), got shape {values.shape}."
        )
    return values


def certainty(estimator: Any, X: Any, measure: Any = "auto") -> FloatArray:
    """How sure a fitted classifier is of its answers; higher is surer.

    Parameters
    ----------
    estimator : fitted classifier
        A model of this library, a Pipeline that ends in one, or any scikit-learn classifier.
    X : array-like of shape (n_samples, n_features)
        Samples.
    measure : {"auto", "relsim", "boundary", "radius", "distance", "probability", "margin"} or callable, default="auto"
        See the table at the top of `lvq.rejection.measures`.

    Returns
    -------
    certainty : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]], learning_rate=0).fit([[0], [4]], ["left", "right"])
    >>> certainty(model, [[1.0], [2.0]], "relsim"), certainty(model, [[1.0], [2.0]], "boundary")
    (array([0.8, 0. ]), array([1., 0.]))
    """
    return measured(Answers(estimator, X), measure)


def cells_of(answers: Answers, cells: Any) -> NDArray[Any]:
    """Where answers were given: "prototype" (the winner), "class" (the predicted), "auto", or by a function."""
    if callable(cells):
        labels, code = label_codes(cells(answers.estimator, answers.X))
        return labels[code]
    if cells == "prototype" or (cells == "auto" and answers.found is not None):
        return answers.sides[0]
    return answers.predicted
