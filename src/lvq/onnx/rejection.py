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
    return predictions.graph.relative(predictions.linked(predictions.near), far)


def _distance(predictions: Predictions) -> str:
    return predictions.graph.node("Neg", predictions.graph.node("Sqrt", predictions.near))


def _probability(predictions: Predictions) -> str:
    table = predictions.posterior if predictions.model.decision.soft else predictions.probabilities
    return predictions.graph.take(table, predictions.predicted)


def _margin(predictions: Predictions) -> str:
    """How much the choice saves, where costs decide."""
    graph, savings = predictions.graph, predictions.savings
    own = graph.is_class(predictions.predicted, predictions.n_classes)
    others = graph.node("Where", own, graph.number(-np.inf), savings)
    return graph.node("Sub", graph.take(savings, predictions.predicted), graph.reduce("ReduceMax", others))


def _with_none(predictions: Predictions, distance: float) -> str:
    """As `NoneOfThese`: times Z/(Z + exp(-xi b)), where Z is the sum of exp(-xi d)."""
    graph, rule = predictions.graph, predictions.model.decision
    own = _probability if predictions.costs is None else _margin
    if rule.xi is None and predictions.costs is not None:
        return graph.node("Mul", own(predictions), _relative(predictions, graph.number(distance)))
    if rule.xi is None:
        far = predictions.linked(predictions.far)
        return _relative(predictions, graph.node("Min", far, graph.number(distance)))
    H = predictions.linked(predictions.distances) if rule.soft else predictions.class_links
    xi = rule.xi if rule.soft else rule.xi / rule.temperature
    log_sum = graph.reduce("ReduceLogSumExp", graph.node("Mul", H, graph.number(-xi)))
    log_odds = graph.node("Add", log_sum, graph.number(xi * distance))
    return graph.node("Mul", own(predictions), graph.node("Sigmoid", log_odds))


MEASURES: dict[str, Callable[[Predictions], str]] = {
    "relsim": _relsim,
    "distance": _distance,
    "probability": _probability,
    "margin": _margin,
}


def certainty(predictions: Predictions, measure: Measure) -> str:
    """Certainty of each prediction by the name of a measure, (N,); NaN for rows that are not valid."""
    if isinstance(measure, NoneOfThese):
        values = _with_none(predictions, measure.distance)
    elif isinstance(measure, str) and measure in MEASURES and (measure != "margin" or predictions.costs is not None):
        values = MEASURES[measure](predictions)
    else:
        raise ValueError(
            "to_onnx supports the measures 'relsim', 'distance', 'probability' and 'combined', and 'margin' of a "
            f"CostClassifier, not {measure!r}. Fit the RejectClassifier with one of these."
        )
    graph = predictions.graph
    return graph.node("Where", predictions.valid, values, graph.number(np.nan))


def accepted(predictions: Predictions, model: RejectClassifier, values: str) -> str:
    """Which predictions a RejectClassifier accepts, given their certainty, (N,)."""
    graph = predictions.graph
    limits = model.point_.threshold_of(np.arange(len(predictions.labels)))
    stored = graph.constant(np.where(limits == np.inf, np.nan, limits))  # nothing reaches NaN: all is rejected
    reached = graph.node("GreaterOrEqual", values, graph.node("Gather", stored, predictions.winner, axis=0))
    return graph.node("And", reached, predictions.valid)
