"""Certainty of predictions and whether they are accepted, as an ONNX graph: the measures and thresholds of rejection.

A threshold is the certainty of a calibration sample, and that sample is accepted. So that rounding on another machine
does not change this, thresholds of a float64 graph are lowered by `SLACK`. A row for which the model would raise an
error (NaN, infinite or too large values) has the certainty NaN and is never accepted.

Where a requested coverage separates samples of equal certainty, the second certainty is in the graph. The draw by the
values of a row is not: the graph rejects all samples that are equal in both, so it accepts nothing that the model
rejects.
"""

from collections.abc import Callable

import numpy as np

from lvq.model.metrics import LocalMetric
from lvq.onnx.predictions import Predictions
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.measures import SampleFunction
from lvq.rejection.ties import BITS, Ties

SLACK = 1e-11  # relative to the larger of one and the threshold
KNOWN_SLACK = 1e-6  # of known fractions, which are multiples of one over the number of columns


def _relsim(predictions: Predictions) -> str:
    graph = predictions.graph
    if len(predictions.known) == 1:  # a stream that has not met a second class
        return predictions.ones
    near, far = predictions.linked(predictions.near), predictions.linked(predictions.far)
    total = graph.node("Add", near, far)
    safe = graph.node("Where", graph.node("Greater", total, graph.number(0)), total, graph.number(1))
    return graph.node("Div", graph.node("Sub", far, near), safe)


def _boundary(predictions: Predictions) -> str:
    """(D_j - D+)/(2 |p_j - p+|), the smallest over the prototypes j of other classes."""
    graph, model = predictions.graph, predictions.model
    if isinstance(model.metric, LocalMetric):
        raise ValueError(f"measure='boundary' needs one metric for all prototypes, got {model!r}; use 'relsim'.")
    W, root = model.prototypes.astype(np.float64), model.matrix_of(0)
    P = (W - W.mean(axis=0)) * root if root.ndim == 1 else (W - W.mean(axis=0)) @ root.T
    apart = np.linalg.norm(P[:, None] - P[None], axis=2)
    same = predictions.labels[:, None] == predictions.labels[None]
    # a prototype of the same class is not a rival; one equal to the winner has distance 0
    factor = np.divide(0.5, apart, out=np.zeros_like(apart), where=apart > 0)
    gap = graph.node("Sub", predictions.distances, graph.column(predictions.near))
    lengths = graph.node("Mul", gap, graph.node("Gather", graph.constant(factor), predictions.winner, axis=0))
    rivals = graph.node("Gather", graph.constant(~same), predictions.winner, axis=0)
    farthest = graph.number(np.finfo(graph.dtype).max)
    return graph.reduce("ReduceMin", graph.node("Where", rivals, lengths, farthest))


def _distance(predictions: Predictions) -> str:
    return predictions.graph.node("Neg", predictions.graph.node("Sqrt", predictions.near))


def _probability(predictions: Predictions) -> str:
    table = predictions.posterior if predictions.model.decision.soft else predictions.probabilities
    return predictions.graph.take(table, predictions.predicted)


def _margin(predictions: Predictions) -> str:
    graph, priced = predictions.graph, predictions.prices is not None
    scores = predictions.savings if priced else predictions.scores
    if predictions.n_classes == 1:
        return predictions.ones
    if predictions.n_classes == 2:  # one score, positive for the second class
        columns = graph.split(scores, [1, 1])
        second = graph.node("Sub", columns[1], columns[0]) if predictions.by_posterior or priced else columns[1]
        score = graph.node("Squeeze", second, graph.constant(np.array([1])))
        is_second = graph.node("Equal", predictions.predicted, graph.constant(np.array(1)))
        return graph.node("Where", is_second, score, graph.node("Neg", score))
    own = graph.is_class(predictions.predicted, predictions.n_classes)
    others = graph.node("Where", own, graph.number(-np.inf), scores)
    return graph.node("Sub", graph.take(scores, predictions.predicted), graph.reduce("ReduceMax", others))


def _automatic(predictions: Predictions) -> str:
    if predictions.prices is not None:
        return _margin(predictions)
    return _relsim(predictions) if predictions.model.decision.xi is None else _probability(predictions)


MEASURES: dict[str, Callable[[Predictions], str]] = {
    "auto": _automatic,
    "relsim": _relsim,
    "boundary": _boundary,
    "distance": _distance,
    "probability": _probability,
    "margin": _margin,
}


def certainty(predictions: Predictions, measure: str | SampleFunction | None) -> str:
    """Certainty of each prediction by the name of a measure, (N,); NaN for rows that are not valid."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(
            f"to_onnx supports the measures {', '.join(map(repr, MEASURES))}, not {measure!r}. Fit the "
            "RejectClassifier with one of these."
        )
    graph = predictions.graph
    return graph.node("Where", predictions.valid, MEASURES[measure](predictions), graph.number(np.nan))


def accepted(predictions: Predictions, model: RejectClassifier, values: str, known: str | None = None) -> str:
    """Which predictions a RejectClassifier accepts, given their certainty and their known fraction, (N,)."""
    graph, cells = predictions.graph, model.cells_
    if callable(cells):
        raise ValueError(
            f"to_onnx does not support cells={cells!r} of RejectClassifier; fit it with cells='prototype' or 'class'."
        )
    by_class = cells == "class"
    cell = predictions.predicted if by_class else predictions.winner

    def reach(measured: str, limits: np.ndarray) -> str:
        limit = graph.node("Gather", graph.constant(lowered(limits, graph.dtype)), cell, axis=0)
        return graph.node("GreaterOrEqual", measured, limit)

    result = reach(values, thresholds(predictions, model, by_class=by_class))
    result = graph.node("And", result, predictions.valid)
    if known is not None and model.min_known_ is not None:
        enough = graph.node("GreaterOrEqual", known, graph.number(model.min_known_ - KNOWN_SLACK))
        result = graph.node("And", result, enough)
    if model.ties_ is not None:
        result = graph.node("And", result, graph.node("Not", _rejected_ties(predictions, model.ties_, values)))
    if model.outlier_limits_ is None:
        return result
    least = model.outlier_limits_.threshold_of(_cells(predictions, by_class=by_class))
    return graph.node("And", result, reach(certainty(predictions, model.measure_.outlier), least))


def _rejected_ties(predictions: Predictions, ties: Ties, values: str) -> str:
    """Which samples at the threshold are rejected: all that the model may reject, as a graph cannot draw by values."""
    graph = predictions.graph
    second = graph.node("Sub", predictions.far, predictions.near)
    least = bounds_of_step(ties.second)[1 if ties.rejected_fraction > 0 else 0]
    below = graph.node("LessOrEqual" if ties.rejected_fraction > 0 else "Less", second, graph.number(least))
    low, high = bounds_of_step(ties.certainty)
    reached = graph.node("LessOrEqual", values, graph.number(high))
    reached = graph.node("And", reached, graph.node("GreaterOrEqual", values, graph.number(low)))
    return graph.node("And", reached, below)


def bounds_of_step(step: float) -> tuple[float, float]:
    """The lowest and the highest number that `in_steps` rounds to a step, but for one at the edge itself.

    Examples
    --------
    >>> from lvq.rejection.ties import in_steps
    >>> low, high = bounds_of_step(0.75)
    >>> [bool(in_steps(np.array([value]))[0] == 0.75) for value in (low * (1 + 1e-12), high * (1 - 1e-12))]
    [True, True]
    >>> bounds_of_step(0.0)
    (0.0, 0.0)
    """
    if step < 0:
        low, high = bounds_of_step(-step)
        return -high, -low
    _, exponent = np.frexp(step)
    half = float(np.ldexp(2.0 ** -(BITS + 1), exponent)) if step else 0.0
    finer = step > 0 and np.frexp(step)[0] == 0.5  # below a power of two the steps have half the length
    return step - (half / 2 if finer else half), step + half


def _cells(predictions: Predictions, *, by_class: bool) -> np.ndarray:
    return predictions.model.classes if by_class else np.arange(len(predictions.labels))


def lowered(limits: np.ndarray, dtype: np.dtype | type) -> np.ndarray:
    """Limits with the slack of a float64 graph; NaN, which nothing reaches, where all is rejected."""
    finite = np.where(np.isfinite(limits), limits, 0.0)
    slack = SLACK * np.maximum(1.0, np.abs(finite)) if np.dtype(dtype) == np.float64 else 0.0
    return np.where(limits == np.inf, np.nan, np.where(np.isfinite(limits), finite - slack, limits))


def thresholds(predictions: Predictions, model: RejectClassifier, *, by_class: bool) -> np.ndarray:
    """The threshold of every cell: of each class, or of each prototype; infinite where all is rejected."""
    cells, classes = _cells(predictions, by_class=by_class), predictions.model.classes
    owners = (classes if by_class else classes[predictions.labels]).tolist()
    points = model.point_ if isinstance(model.point_, dict) else dict.fromkeys(owners, model.point_)
    limits = {label: point.threshold_of(cells) for label, point in points.items() if point is not None}
    return np.array([limits[owner][cell] if owner in limits else np.inf for cell, owner in enumerate(owners)])
