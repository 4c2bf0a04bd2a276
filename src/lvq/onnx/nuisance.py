"""NuisanceRemoval as ONNX: what is measured in the centred samples, and what is subtracted for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lvq.onnx.graph import Graph

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope


def shapes(operator: Operator) -> None:
    """One feature per input feature."""
    variable = operator.inputs[0]
    count, width = variable.get_first_dimension(), operator.raw_operator.n_features_in_
    operator.outputs[0].type = type(variable.type)([count, width])


def convert(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """x - ((x - mean) directions') patterns."""
    from skl2onnx.common.data_types import FloatTensorType

    step, variable = operator.raw_operator, operator.inputs[0]
    graph = Graph(scope, container, np.float32 if isinstance(variable.type, FloatTensorType) else np.float64)
    samples = graph.node("Sub", variable.full_name, graph.constant(step.mean_[None]))
    measured = graph.node("MatMul", samples, graph.constant(step.directions_.T))
    removed = graph.node("MatMul", measured, graph.constant(step.patterns_))
    graph.name_output(graph.node("Sub", variable.full_name, removed), operator.outputs[0].full_name)
