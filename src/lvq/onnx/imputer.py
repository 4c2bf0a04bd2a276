"""SimpleImputer as ONNX: skl2onnx converts it to ONNX's Imputer, which has neither float64 nor indicators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.impute import SimpleImputer

from lvq.onnx.graph import Graph

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope


def shapes(operator: Operator) -> None:
    """One feature per input feature, and one per indicator."""
    step, variable = operator.raw_operator, operator.inputs[0]
    width = step.n_features_in_ + len(_indicated(step))
    operator.outputs[0].type = type(variable.type)([variable.get_first_dimension(), width])


def convert(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Replace every missing number by the statistic of its feature; texts are never missing in ONNX."""
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    step, variable = operator.raw_operator, operator.inputs[0]
    values, name = variable.full_name, operator.outputs[0].full_name
    graph = Graph(scope, container, np.float32 if isinstance(variable.type, FloatTensorType) else np.float64)
    if isinstance(variable.type, StringTensorType):
        if len(_indicated(step)):
            raise ValueError("to_onnx cannot convert SimpleImputer(add_indicator=True) for texts; impute them before.")
        graph.name_output(values, name)
        return
    statistics = step.statistics_.astype(np.float64)
    if not np.isfinite(statistics).all():
        raise ValueError("to_onnx cannot convert a SimpleImputer that drops columns without values; drop them before.")
    missing = float(step.missing_values)
    is_missing = (
        graph.node("IsNaN", values) if np.isnan(missing) else graph.node("Equal", values, graph.number(missing))
    )
    filled = graph.node("Where", is_missing, graph.constant(statistics[None]), values)
    if len(_indicated(step)):
        shown = graph.node("Gather", is_missing, graph.constant(_indicated(step)), axis=1)
        filled = graph.node("Concat", filled, graph.cast(shown, graph.dtype), axis=1)
    graph.name_output(filled, name)


def _indicated(step: SimpleImputer) -> np.ndarray:
    """The features that have an indicator."""
    return np.asarray(step.indicator_.features_) if step.add_indicator else np.zeros(0, dtype=np.int64)
