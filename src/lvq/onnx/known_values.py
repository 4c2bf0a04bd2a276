"""The known fraction of a row as an ONNX graph: certainties fall with what is missing, as in the library.

Missing are NaN in an input of numbers and the text "(missing)" in an input of texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import used_columns
from lvq.onnx.graph import Graph
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.known_values import MISSING_TEXT, SMALLEST

if TYPE_CHECKING:
    from skl2onnx.common._topology import Variable


def counts_missing(model: RejectClassifier) -> bool:
    """Whether the certainty of a model depends on what is missing: a model without steps takes no missing values."""
    return getattr(model, "min_known_", None) is not None and bool(need_model(model, "to_onnx").steps)


def known_fraction(graph: Graph, model: RejectClassifier, inputs: list[Variable]) -> str:
    """The known fraction of each row, (N,), from the samples as a RejectClassifier takes them."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    found = need_model(model, "to_onnx")
    widths = [int(variable.type.shape[1] or 0) if len(variable.type.shape) > 1 else 0 for variable in inputs]
    used = used_columns(found.steps, found.model.n_features, sum(widths))
    if min(widths) < 1 or len(used) != sum(widths):
        raise ValueError(
            f"to_onnx needs inputs with the {len(used)} columns that the model was fitted to, to count missing values, "
            f"got {sum(widths)} of fixed number; fit RejectClassifier with min_known=None, or use lvq.onnx.to_onnx."
        )
    total, begin = graph.number(0), 0
    for variable, width in zip(inputs, widths):
        weights = used[begin : begin + width].astype(np.float64)[:, None]
        begin += width
        if isinstance(variable.type, DoubleTensorType | FloatTensorType):
            flags = graph.cast(graph.node("IsNaN", variable.full_name), graph.dtype)
        elif isinstance(variable.type, StringTensorType):
            flags = graph.cast(graph.text_flags(variable.full_name, MISSING_TEXT), graph.dtype)
        else:
            continue
        total = graph.node("Add", total, graph.node("MatMul", flags, graph.constant(weights)))
    n_used = int(used.sum())
    known = graph.node("Sub", graph.number(n_used), total)
    known = graph.node("Div", known, graph.number(max(n_used - model.usual_missing_, 1.0)))
    known = graph.node("Min", known, graph.number(1))
    return graph.node("Reshape", known, graph.constant(np.array([-1])))


def lowered(graph: Graph, certainty: str, known: str) -> str:
    """Certainties that fall with what is missing."""
    factor = graph.node("Max", known, graph.number(SMALLEST))
    positive = graph.node("Greater", certainty, graph.number(0))
    return graph.node("Where", positive, graph.node("Mul", certainty, factor), graph.node("Div", certainty, factor))
