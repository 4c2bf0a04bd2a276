"""The estimators of this library in the registry of skl2onnx: their inputs, their outputs and their graph."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import find_layer, need_model
from lvq.estimators.registry import estimator_types
from lvq.onnx.graph import Graph
from lvq.onnx.predictions import Predictions, class_values
from lvq.onnx.rejection import accepted, certainty
from lvq.onnx.transformers import register_transformers
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.costs import CostClassifier

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope, Variable
    from skl2onnx.common.data_types import DataType

OUTPUTS = ("label", "probabilities", "certainty", "accepted")
DTYPES = ("float64", "float32")
Parsers = dict[type, Callable[..., object]]  # of the user, by the class of the estimator
ALIAS = "LvqClassifier"  # in skl2onnx's registry


def register() -> None:
    """Register the estimators of this library with skl2onnx, to convert pipelines with them.

    Examples
    --------
    >>> import numpy as np, skl2onnx
    >>> import lvq.onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> lvq.onnx.register()
    >>> X = np.array([[0.0, 1.0], [4.0, 1.5]])
    >>> model = make_pipeline(StandardScaler(), lvq.GLVQ(random_state=0)).fit(X, ["left", "right"])
    >>> graph = skl2onnx.to_onnx(model, X).graph
    >>> [output.name for output in graph.output]
    ['label', 'probabilities', 'certainty', 'accepted']
    """
    skl2onnx = require_skl2onnx()
    for kind in (*estimator_types().values(), RejectClassifier, CostClassifier):
        skl2onnx.update_registered_converter(
            kind,
            ALIAS,
            shapes,
            convert,
            parser=parse,
            # zipmap is an option of all classifiers there; it is ignored, probabilities are always an array
            options={"zipmap": [True, False, "columns"], "dtype": [None, *DTYPES]},
        )
    register_transformers(skl2onnx)


def require_skl2onnx() -> ModuleType:
    """skl2onnx; an ImportError that states how to install it where it is missing."""
    try:
        import onnx  # noqa: F401
        import skl2onnx
    except ImportError:
        raise ImportError('to_onnx needs onnx and skl2onnx. Install them with: pip install "lvq[onnx]"') from None
    return skl2onnx


def parse(
    scope: Scope, model: BaseEstimator, inputs: list[Variable], custom_parsers: Parsers | None = None
) -> list[Variable]:
    """Declare the transformers inside a RejectClassifier or CostClassifier, the operator of a model and its outputs."""
    from skl2onnx._parse import _parse_sklearn
    from skl2onnx.common.data_types import BooleanTensorType, Int64TensorType

    check_is_fitted(model)
    for step in need_model(model, "to_onnx").steps:
        named = {str(name) for name in getattr(step, "feature_names_in_", ["?"])} <= {i.raw_name for i in inputs}
        inputs = _parse_sklearn(scope, step if named else by_position(step), inputs, custom_parsers=custom_parsers)
    if len(inputs) > 1:  # columns, to be put side by side
        concat = scope.declare_local_operator("SklearnConcat")
        concat.inputs = inputs
        inputs = [scope.declare_local_variable("merged_columns", number_type(inputs)([None, None]))]
        concat.outputs.append(inputs[0])
    operator = scope.declare_local_operator(ALIAS, model)
    operator.inputs = inputs
    number = number_type(inputs, scope.get_options(model, {"dtype": None})["dtype"])
    for name, kind in zip(OUTPUTS, (Int64TensorType, number, number, BooleanTensorType)):
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


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


def number_type(inputs: list[Variable], dtype: str | None = None) -> type[DataType]:
    """The type in which a model computes: the requested one, else float32 for float32 samples, else float64."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    single = all(isinstance(i.type, FloatTensorType) for i in inputs) if dtype is None else dtype == "float32"
    return FloatTensorType if single else DoubleTensorType


def shapes(operator: Operator) -> None:
    """Types and shapes of the outputs."""
    from skl2onnx.common.data_types import BooleanTensorType, Int64TensorType, StringTensorType

    count = operator.inputs[0].get_first_dimension()
    classes = class_values(need_model(operator.raw_operator, "to_onnx").model.classes)
    number = type(operator.outputs[1].type)
    kinds = (
        (StringTensorType if classes.dtype.kind == "U" else Int64TensorType)([count]),
        number([count, len(classes)]),
        number([count]),
        BooleanTensorType([count]),
    )
    for output, kind in zip(operator.outputs, kinds):
        output.type = kind


def convert(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Add the nodes of a model, or of a RejectClassifier or CostClassifier around one."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    estimator, number = operator.raw_operator, type(operator.outputs[1].type)
    graph = Graph(scope, container, np.float64 if number is DoubleTensorType else np.float32)
    samples = operator.inputs[0].full_name
    if not isinstance(operator.inputs[0].type, number):
        samples = graph.cast(samples, graph.dtype)
    floating = [i.full_name for i in scope.input_variables if isinstance(i.type, DoubleTensorType | FloatTensorType)]
    by_cost = find_layer(estimator, CostClassifier)
    costs = None if by_cost is None else by_cost.costs_
    predictions = Predictions(graph, need_model(estimator, "to_onnx").model, samples, floating, costs)
    values = [predictions.label, predictions.probabilities]
    if len(operator.outputs) > 2:  # an ensemble of skl2onnx around a model uses only the first two
        rejects = isinstance(estimator, RejectClassifier)
        values.append(certainty(predictions, estimator.measure_ if rejects else "auto"))
        values.append(accepted(predictions, estimator, values[-1]) if rejects else predictions.valid)
    for value, output in zip(values, operator.outputs):
        graph.name_output(value, output.full_name)
