"""StandardNormalVariate and SavitzkyGolay as ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lvq.onnx.graph import Graph

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope


def _graph(scope: Scope, operator: Operator, container: ModelComponentContainer) -> tuple[Graph, str]:
    from skl2onnx.common.data_types import FloatTensorType

    variable = operator.inputs[0]
    single = isinstance(variable.type, FloatTensorType)
    return Graph(scope, container, np.float32 if single else np.float64), variable.full_name


def convert_normal_variate(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """(x - mean)/deviation of each row; a deviation of 0 counts as 1."""
    graph, samples = _graph(scope, operator, container)
    count = graph.number(float(operator.raw_operator.n_features_in_))
    mean = graph.node("Div", graph.reduce("ReduceSum", samples, keep=True), count)
    centred = graph.node("Sub", samples, mean)
    squares = graph.reduce("ReduceSum", graph.node("Mul", centred, centred), keep=True)
    spread = graph.node("Sqrt", graph.node("Div", squares, count))
    positive = graph.node("Where", graph.node("Greater", spread, graph.number(0.0)), spread, graph.number(1.0))
    graph.name_output(graph.node("Div", centred, positive), operator.outputs[0].full_name)


def convert_filter(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """The product with the filter's matrix."""
    graph, samples = _graph(scope, operator, container)
    product = graph.node("MatMul", samples, graph.constant(operator.raw_operator.matrix_))
    graph.name_output(product, operator.outputs[0].full_name)
