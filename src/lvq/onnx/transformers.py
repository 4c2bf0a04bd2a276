"""Transformers as ONNX: this library's, and two of scikit-learn's that skl2onnx converts in float32."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from lvq.inspection.steps import dense, indicated, linear_map
from lvq.onnx.graph import Graph
from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate
from lvq.typing import Argument

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope

ENCODER = "SklearnOneHotEncoder"  # in skl2onnx's registry


def by_position(step: BaseEstimator) -> BaseEstimator:
    """The transformer with columns by their positions: skl2onnx finds named ones only among inputs of that name."""
    if not isinstance(step, ColumnTransformer):
        return step
    changed = ColumnTransformer(step.transformers)  # which a TablePreprocessor is, behind its reading of cells
    vars(changed).update(vars(step))
    changed.transformers_ = [
        (name, inner, list(step._transformer_to_input_indices[name])) for name, inner, _ in step.transformers_
    ]
    return changed


def register_transformers(skl2onnx: Argument) -> None:
    """Register the transformers of this library with skl2onnx."""
    for kind, convert in (
        (StandardNormalVariate, _convert_normal_variate),
        (SavitzkyGolay, _convert_linear),
        (NuisanceRemoval, _convert_linear),
    ):
        skl2onnx.update_registered_converter(kind, f"Lvq{kind.__name__}", _shapes, convert)


def _shapes(operator: Operator) -> None:
    """One feature for each input feature, and one for each indicator."""
    step, variable = operator.raw_operator, operator.inputs[0]
    width = step.n_features_in_ + len(indicated(step))
    operator.outputs[0].type = type(variable.type)([variable.get_first_dimension(), width])


def _graph(scope: Scope, container: ModelComponentContainer) -> Graph:
    return Graph(container.nodes, container.initializers, scope.get_unique_operator_name("step"))


def _convert_linear(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """A (x - m) + f(m), with m the mean of the samples where the step has one: no digits are lost far from 0."""
    step, graph = operator.raw_operator, _graph(scope, container)
    centre = np.reshape(getattr(step, "mean_", np.zeros(step.n_features_in_)), (1, -1))
    centred = graph.node("Sub", operator.inputs[0].full_name, graph.constant(centre))
    product = graph.node("MatMul", centred, graph.constant(dense(linear_map(step)).T))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        moved = graph.node("Add", product, graph.constant(step.transform(centre)))
    graph.name_output(moved, operator.outputs[0].full_name)


def _convert_normal_variate(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """(x - mean)/deviation of each row; a deviation of 0 counts as 1."""
    graph, samples = _graph(scope, container), operator.inputs[0].full_name
    centred = graph.node("Sub", samples, graph.reduce("ReduceMean", samples, keep=True))
    squares = graph.reduce("ReduceMean", graph.node("Mul", centred, centred), keep=True)
    spread = graph.node("Sqrt", squares)
    positive = graph.node("Where", graph.node("Greater", spread, graph.number(0.0)), spread, graph.number(1.0))
    graph.name_output(graph.node("Div", centred, positive), operator.outputs[0].full_name)


def _convert_imputer(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Replace every missing number by the statistic of its feature; strings are never missing in ONNX."""
    from skl2onnx.common.data_types import StringTensorType

    step, variable = operator.raw_operator, operator.inputs[0]
    values, graph, flagged = variable.full_name, _graph(scope, container), indicated(step)
    if isinstance(variable.type, StringTensorType):
        if len(flagged):
            raise ValueError("to_onnx cannot convert SimpleImputer(add_indicator=True) for strings; impute them first.")
        graph.name_output(values, operator.outputs[0].full_name)
        return
    statistics = step.statistics_.astype(np.float64)
    if not np.isfinite(statistics).all():
        raise ValueError("to_onnx cannot convert a SimpleImputer that drops columns without values; drop them before.")
    missing = float(step.missing_values)
    flags = graph.node("IsNaN", values) if np.isnan(missing) else graph.node("Equal", values, graph.number(missing))
    filled = graph.node("Where", flags, graph.constant(statistics[None]), values)
    if len(flagged):
        shown = graph.node("Gather", flags, graph.constant(flagged), axis=1)
        filled = graph.node("Concat", filled, graph.cast(shown, np.float64), axis=1)
    graph.name_output(filled, operator.outputs[0].full_name)


def _encoder_shapes(operator: Operator) -> None:
    """One feature for each output column: skl2onnx counts infrequent categories one by one."""
    from skl2onnx.common.data_types import DoubleTensorType

    width = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = DoubleTensorType([operator.inputs[0].get_first_dimension(), width])


def _convert_encoder(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """The nodes of skl2onnx, then a cast of its zeros and ones."""
    from skl2onnx.common._registration import get_converter

    codes, graph = scope.get_unique_variable_name("codes"), _graph(scope, container)
    inner = SimpleNamespace(raw_operator=operator.raw_operator, inputs=operator.inputs, output_full_names=codes)
    get_converter(ENCODER)(scope, inner, container)
    graph.name_output(graph.cast(codes, np.float64), operator.outputs[0].full_name)


# arguments of `skl2onnx.convert_sklearn` for the transformers that it would convert in float32
OWN_CONVERSIONS: dict[str, dict[type, Argument]] = {
    "custom_conversion_functions": {SimpleImputer: _convert_imputer, OneHotEncoder: _convert_encoder},
    "custom_shape_calculators": {SimpleImputer: _shapes, OneHotEncoder: _encoder_shapes},
}
