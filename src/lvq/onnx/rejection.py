"""How sure an answer is and whether to use it, as an ONNX graph: `lvq.rejection.measures` and the thresholds.

A threshold is the certainty of a calibration sample, and that sample is accepted. So that the last digit of another
machine's arithmetic does not turn it round, thresholds of a float64 graph are lowered by `SLACK`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from lvq.model.metrics import LocalMatrix
from lvq.onnx.answers import Answers
from lvq.robustness import metric_root, project

SLACK = 1e-11  # relative to the larger of one and the threshold


def _relsim(answers: Answers) -> str:
    graph = answers.graph
    if len(answers.known) == 1:  # a stream that has not met a second class
        return answers.ones
    near, far = answers.linked(answers.near), answers.linked(answers.far)
    total = graph.node("Add", near, far)
    safe = graph.node("Where", graph.node("Greater", total, graph.number(0)), total, graph.number(1))
    return graph.node("Div", graph.node("Sub", far, near), safe)


def _boundary(answers: Answers) -> str:
    """(D_j - D+)/(2 |p_j - p+|), the smallest over the prototypes j of other classes."""
    graph, model = answers.graph, answers.model
    if isinstance(model._metric, LocalMatrix):
        raise ValueError(
            f"measure='boundary' needs one metric for all prototypes, got {type(model).__name__} with several; use "
            "'relsim'."
        )
    W = model._params.prototypes.astype(np.float64)
    P = project(W - W.mean(axis=0), metric_root(model))
    apart = np.linalg.norm(P[:, None] - P[None], axis=2)
    same = answers.labels[:, None] == answers.labels[None]
    # a prototype of the own class is no rival; one in the same place as the winner is at no distance
    factor = np.divide(0.5, apart, out=np.zeros_like(apart), where=apart > 0)
    gap = graph.node("Sub", answers.distances, graph.column(answers.near))
    lengths = graph.node("Mul", gap, graph.node("Gather", graph.constant(factor), answers.winner, axis=0))
    rivals = graph.node("Gather", graph.constant(~same), answers.winner, axis=0)
    farthest = graph.number(np.finfo(graph.dtype).max)
    return graph.reduce("ReduceMin", graph.node("Where", rivals, lengths, farthest))


def _distance(answers: Answers) -> str:
    return answers.graph.node("Neg", answers.graph.node("Sqrt", answers.near))


def _probability(answers: Answers) -> str:
    table = answers.posterior if answers.is_soft else answers.probabilities
    return answers.graph.take(table, answers.answer)


def _margin(answers: Answers) -> str:
    graph = answers.graph
    if answers.n_classes == 1:
        return answers.ones
    if answers.n_classes == 2:  # one score, positive for the second class
        columns = graph.split(answers.scores, [1, 1])
        second = graph.node("Sub", columns[1], columns[0]) if answers.by_posterior else columns[1]
        score = graph.node("Squeeze", second, graph.constant(np.array([1])))
        is_second = graph.node("Equal", answers.answer, graph.constant(np.array(1)))
        return graph.node("Where", is_second, score, graph.node("Neg", score))
    own = graph.is_class(answers.answer, answers.n_classes)
    others = graph.node("Where", own, graph.number(-np.inf), answers.scores)
    return graph.node("Sub", graph.take(answers.scores, answers.answer), graph.reduce("ReduceMax", others))


MEASURES: dict[str, Callable[[Answers], str]] = {
    "auto": _relsim,
    "relsim": _relsim,
    "boundary": _boundary,
    "distance": _distance,
    "probability": _probability,
    "margin": _margin,
}


def certainty(answers: Answers, measure: Any) -> str:
    """How sure each answer is, by a measure's name, (N,)."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(
            f"to_onnx can write the measures {', '.join(map(repr, MEASURES))}, not {measure!r}. Fit the "
            "RejectClassifier with one of these."
        )
    return MEASURES[measure](answers)


def accepted(answers: Answers, model: Any, values: str) -> str:
    """Which answers a RejectClassifier would use, given their certainty, (N,)."""
    graph = answers.graph
    if callable(model.cells_):
        raise ValueError(
            f"to_onnx cannot write cells={model.cells_!r} of RejectClassifier; use cells='prototype' or 'class'."
        )
    by_class = model.cells_ == "class"
    cell = answers.answer if by_class else answers.winner
    limits = graph.constant(lowered(thresholds(answers, model, by_class=by_class), graph.dtype))
    result = graph.node("GreaterOrEqual", values, graph.node("Gather", limits, cell, axis=0))
    if model.outlier_limits_ is None:
        return result
    typical = certainty(answers, model.measure_.outlier)
    least = graph.constant(lowered(_outlier_limits(answers, model, by_class=by_class), graph.dtype))
    usual = graph.node("GreaterOrEqual", typical, graph.node("Gather", least, cell, axis=0))
    return graph.node("And", result, usual)


def lowered(limits: np.ndarray, dtype: Any) -> np.ndarray:
    """Limits with the slack of a float64 graph; NaN, which nothing reaches, where all is rejected."""
    finite = np.where(np.isfinite(limits), limits, 0.0)
    slack = SLACK * np.maximum(1.0, np.abs(finite)) if np.dtype(dtype) == np.float64 else 0.0
    return np.where(limits == np.inf, np.nan, np.where(np.isfinite(limits), finite - slack, limits))


def thresholds(answers: Answers, model: Any, *, by_class: bool) -> np.ndarray:
    """The threshold of every cell: of each class, or of each prototype; infinite where all is rejected."""
    classes = np.asarray(answers.model.classes_).tolist()
    owners = range(len(classes)) if by_class else answers.labels.tolist()
    result = []
    for cell, owner in enumerate(owners):
        point = model.point_.get(classes[owner]) if isinstance(model.point_, dict) else model.point_
        if point is None:  # nothing could be certified for this class
            result.append(np.inf)
            continue
        result.append(point.threshold_of([classes[cell] if by_class else cell])[0])
    return np.array(result, dtype=np.float64)


def _outlier_limits(answers: Answers, model: Any, *, by_class: bool) -> np.ndarray:
    cells = np.asarray(answers.model.classes_) if by_class else np.arange(len(answers.labels))
    return model.outlier_limits_.threshold_of(cells)
