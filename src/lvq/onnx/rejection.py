"""Certainty of predictions and whether they are accepted, as an ONNX graph: the measures and thresholds of rejection.

A prediction is accepted iff its certainty is at least the threshold, by the same numbers as in the library. A threshold
is half a step below the certainty of the calibration samples that set it (`lvq.rejection.thresholds.STEP`), so rounding
on another machine does not change whether these are accepted. A row for which the model would raise an error (NaN,
infinite or too large values) has the certainty NaN and is never accepted.
"""

from collections.abc import Callable

import numpy as np

from lvq.onnx.predictions import Predictions
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.scores import Measure, NoneOfThese


def _relsim(predictions: Predictions) -> str:
    return _relative(predictions, predictions.linked(predictions.far))


def _relative(predictions: Predictions, far: str) -> str:
    """Relative similarity of the winner and something at a distance."""
    graph, near = predictions.graph, predictions.linked(predictions.near)
    total = graph.node("Add", near, far)
    safe = graph.node("Where", graph.node("Greater", total, graph.number(0)), total, graph.number(1))
    return graph.node("Div", graph.node("Sub", far, near), safe)


def _boundary(predictions: Predictions) -> str:
    """(D_j - D+)/(2 |p_j - p+|), the smallest over the prototypes j of other classes."""
    graph, model = predictions.graph, predictions.model
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
    graph, by_cost = predictions.graph, predictions.costs is not None
    scores = predictions.savings if by_cost else predictions.scores
    if predictions.n_classes == 2:  # one score, positive for the second class
        columns = graph.split(scores, [1, 1])
        second = graph.node("Sub", columns[1], columns[0]) if predictions.by_posterior or by_cost else columns[1]
        score = graph.node("Squeeze", second, graph.constant(np.array([1])))
        is_second = graph.node("Equal", predictions.predicted, graph.constant(np.array(1)))
        return graph.node("Where", is_second, score, graph.node("Neg", score))
    own = graph.is_class(predictions.predicted, predictions.n_classes)
    others = graph.node("Where", own, graph.number(-np.inf), scores)
    return graph.node("Sub", graph.take(scores, predictions.predicted), graph.reduce("ReduceMax", others))


def _with_none(predictions: Predictions, distance: float) -> str:
    """As `NoneOfThese`: the probability p becomes p/(1 + exp(-xi b)/Z), where Z is the sum of exp(-xi d)."""
    graph, rule = predictions.graph, predictions.model.decision
    own = _probability if predictions.costs is None else _margin
    if rule.xi is None and own is _margin:
        return graph.node("Mul", own(predictions), _relative(predictions, graph.number(distance)))
    if rule.xi is None:
        far = predictions.linked(predictions.far)
        return _relative(predictions, graph.node("Min", far, graph.number(distance)))
    H = predictions.linked(predictions.distances) if rule.soft else predictions.class_links
    xi = rule.xi if rule.soft else rule.xi / rule.temperature
    nearest = graph.reduce("ReduceMin", H, keep=True)

    def membership(gap: str) -> str:
        return graph.node("Exp", graph.node("Mul", gap, graph.number(xi)))

    total = graph.reduce("ReduceSum", membership(graph.node("Sub", nearest, H)), keep=True)
    none = graph.node("Div", membership(graph.node("Sub", nearest, graph.number(distance))), total)
    odds = graph.reduce("ReduceSum", graph.node("Add", none, graph.number(1)))
    return graph.node("Div", own(predictions), odds)


MEASURES: dict[str, Callable[[Predictions], str]] = {
    "relsim": _relsim,
    "boundary": _boundary,
    "distance": _distance,
    "probability": _probability,
    "margin": _margin,
}


def certainty(predictions: Predictions, measure: Measure) -> str:
    """Certainty of each prediction by the name of a measure, (N,); NaN for rows that are not valid."""
    if isinstance(measure, NoneOfThese):
        values = _with_none(predictions, measure.distance)
    elif not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(
            f"to_onnx supports the measures {', '.join(map(repr, MEASURES))}, not {measure!r}. Fit the "
            "RejectClassifier with one of these."
        )
    else:
        values = MEASURES[measure](predictions)
    graph = predictions.graph
    return graph.node("Where", predictions.valid, values, graph.number(np.nan))


def accepted(predictions: Predictions, model: RejectClassifier, values: str) -> str:
    """Which predictions a RejectClassifier accepts, given their certainty, (N,)."""
    graph = predictions.graph
    limits = model.threshold_of(np.arange(len(predictions.labels)))
    stored = graph.constant(np.where(limits == np.inf, np.nan, limits))  # nothing reaches NaN: all is rejected
    reached = graph.node("GreaterOrEqual", values, graph.node("Gather", stored, predictions.winner, axis=0))
    return graph.node("And", reached, predictions.valid)
