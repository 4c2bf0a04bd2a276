"""`to_onnx`: a fitted model as an ONNX graph, which needs no Python."""

from __future__ import annotations

import json
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import FoundModel, find_layer, need_model
from lvq.onnx.graph import Graph
from lvq.onnx.inputs import OUTPUTS, Inputs, inputs_of, name_inputs
from lvq.onnx.predictions import Predictions, class_values
from lvq.onnx.rejection import accepted, certainty
from lvq.onnx.transformers import OWN_CONVERSIONS, by_position, register_transformers
from lvq.rejection import scores
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.costs import CostClassifier
from lvq.versions import need

if TYPE_CHECKING:
    from onnx import ModelProto
    from skl2onnx.common.data_types import DataType

OPSET, ML_OPSET, IR_VERSION = 18, 3, 10
# operations that do not change numbers
EXACT_OPERATORS = {"Concat", "Gather", "GatherElements", "Identity", "Reshape", "Slice", "Split", "Squeeze",
                   "Transpose", "Unsqueeze"}  # fmt: skip
# operations that give zeros, ones and small integers, which float32 represents exactly
ENCODERS = {"OneHotEncoder", "LabelEncoder"}


def to_onnx(estimator: BaseEstimator) -> ModelProto:
    """Convert a fitted model to an ONNX graph, for onnxruntime and other runtimes.

    Its input is ``X`` with one row per sample; or one input per column, with the names of the columns, where a
    ColumnTransformer takes strings and numbers. Its outputs are

    - ``label``: the class, a string or an int64;
    - ``probabilities``: as from `predict_proba`, one column per class;
    - ``certainty``: as from `lvq.rejection.certainty`, by the measure of the RejectClassifier, otherwise by "auto";
    - ``accepted``: as from `RejectClassifier.accept`; true for a model that does not reject.

    The graph computes in float64, so its labels are the model's. A row for which `predict` raises an error (NaN,
    infinite or too large values) is not accepted, and its certainty is NaN.

    Parameters
    ----------
    estimator : fitted model, Pipeline or RejectClassifier
        A model of this library; a Pipeline or a search with one, whose other steps skl2onnx can convert; or these in a
        CostClassifier, in a RejectClassifier, or in a RejectClassifier around a CostClassifier.

    Returns
    -------
    model : onnx.ModelProto
        Save it with ``onnx.save(model, "model.onnx")``.

    Examples
    --------
    >>> import lvq.onnx
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lvq.GLVQ(random_state=0).fit(X, y)
    >>> graph = lvq.onnx.to_onnx(model).graph
    >>> [value.name for value in graph.input], [value.name for value in graph.output]
    (['X'], ['label', 'probabilities', 'certainty', 'accepted'])
    """
    need("onnx", "onnx", "to_onnx")
    skl2onnx = need("skl2onnx", "onnx", "to_onnx")
    found = need_model(estimator, "to_onnx")
    _refuse(estimator, found)
    given = inputs_of(found)
    result = _steps_before(skl2onnx, found, given)
    _add_model(result, estimator, found)
    name_inputs(result.graph, given.names)
    return _finished(result, estimator, found)


def _refuse(estimator: BaseEstimator, found: FoundModel) -> None:
    """Raise an error for what no graph computes."""
    check_is_fitted(estimator)
    reject, by_cost = find_layer(estimator, RejectClassifier), find_layer(estimator, CostClassifier)
    if reject is not None:
        reject.check_calibrated()
    if reject is not None and by_cost is not None and find_layer(by_cost, RejectClassifier) is not None:
        raise ValueError(
            "to_onnx needs a RejectClassifier around a CostClassifier, not inside it, because thresholds belong to the "
            "predictions by cost; got a RejectClassifier inside."
        )
    if found.model.variances is not None:
        raise ValueError(
            f"to_onnx does not support missing='ignore' of {type(found.estimator).__name__}; fit it with "
            "missing='raise', and fill missing values in a step before, for example with sklearn.impute.SimpleImputer."
        )


def _steps_before(skl2onnx: ModuleType, found: FoundModel, given: Inputs) -> ModelProto:
    """A graph of the transformers before the model; its only output is the samples as they reach the model."""
    from onnx import TensorProto, helper

    if not found.steps:
        samples = helper.make_tensor_value_info("input0", TensorProto.DOUBLE, [None, *given.widths])
        return helper.make_model(helper.make_graph([], "lvq", [samples], [samples]))
    register_transformers(skl2onnx)
    try:
        result = skl2onnx.convert_sklearn(
            Pipeline([(f"step{index}", by_position(step)) for index, step in enumerate(found.steps)]),
            name="lvq",
            initial_types=_types(given),
            target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
            **OWN_CONVERSIONS,
        )
    except (RuntimeError, NotImplementedError, AssertionError, TypeError, NameError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ValueError(f"to_onnx cannot convert these steps: {_names(found)}: {first_line}") from error
    read = {name for node in result.graph.node for name in node.input}
    for value in [value for value in result.graph.input if value.name not in read]:
        result.graph.input.remove(value)  # a column that a ColumnTransformer drops
    return result


def _add_model(result: ModelProto, estimator: BaseEstimator, found: FoundModel) -> None:
    """Add the nodes of a model, and of a RejectClassifier or CostClassifier around it, and the outputs."""
    from onnx import TensorProto, helper

    proto, number = result.graph, TensorProto.DOUBLE
    graph = Graph(proto.node, proto.initializer, "lvq")
    samples, kind = proto.output[0].name, proto.output[0].type.tensor_type.elem_type
    if kind != number:
        samples = graph.cast(samples, np.float64)
    floating = [value.name for value in proto.input if value.type.tensor_type.elem_type == number]
    reject, by_cost = find_layer(estimator, RejectClassifier), find_layer(estimator, CostClassifier)
    predictions = Predictions(graph, found.model, samples, floating, None if by_cost is None else by_cost.costs_)
    measure = scores.auto_measure(scores.Predictions(estimator, None)) if reject is None else reject.measure_
    values = certainty(predictions, measure)
    accept = predictions.valid if reject is None else accepted(predictions, reject, values)
    named = [predictions.label, predictions.probabilities, values, accept]
    del proto.output[:]
    is_text = class_values(found.model.classes).dtype.kind == "U"
    types = (TensorProto.STRING if is_text else TensorProto.INT64, number, number, TensorProto.BOOL)
    for name, output, element in zip(OUTPUTS, named, types):
        graph.name_output(output, name)
        shape = [None, len(found.model.classes)] if name == "probabilities" else [None]
        proto.output.append(helper.make_tensor_value_info(name, element, shape))


def _types(given: Inputs) -> list[tuple[str, DataType]]:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    kinds = {"number": DoubleTensorType, "integer": Int64TensorType, "text": StringTensorType}
    return [(f"input{place}", kinds[kind]([None, width])) for place, (_, kind, width) in enumerate(zip(*given))]


def _finished(result: ModelProto, estimator: BaseEstimator, found: FoundModel) -> ModelProto:
    """The graph with fixed versions and metadata, checked."""
    import onnx

    for entry in result.opset_import:
        if entry.domain == "":
            entry.version = OPSET
    result.ir_version = IR_VERSION
    result.producer_name, result.producer_version = "lvq", metadata.version("lvq")
    about = {"estimator": type(found.estimator).__name__, "classes": json.dumps(found.model.classes.tolist())}
    if hasattr(estimator, "feature_names_in_"):
        about["features"] = json.dumps([str(name) for name in estimator.feature_names_in_])
    onnx.helper.set_model_props(result, about)
    problem = f"to_onnx cannot convert these steps: {_names(found)}"
    try:
        onnx.checker.check_model(result, full_check=True)
    except Exception as error:  # of the checker, of shape inference, or of what they are written in
        raise ValueError(f"{problem}: {error}; transform X with them first.") from error
    rounding = rounding_nodes(result)
    if rounding:
        raise ValueError(
            f"{problem}: skl2onnx converts them to {', '.join(rounding)}, which computes in float32; transform X with "
            "that step first, and pass the rest of the pipeline."
        )
    return result


def _names(found: FoundModel) -> str:
    """The names of all transformers before a model."""
    return ", ".join(type(step).__name__ for step in found.steps) or "none"


def rounding_nodes(model: ModelProto) -> list[str]:
    """The operations of a float64 graph that round to float32, by name.

    Parameters
    ----------
    model : onnx.ModelProto

    Returns
    -------
    operations : list of str
        For example "Scaler"; empty where nothing is rounded.
    """
    import onnx

    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = [*inferred.value_info, *inferred.input, *inferred.output]
    types = {value.name: value.type.tensor_type.elem_type for value in values}
    types |= {tensor.name: tensor.data_type for tensor in inferred.initializer}
    single, whole = onnx.TensorProto.FLOAT, (onnx.TensorProto.INT64, onnx.TensorProto.BOOL, onnx.TensorProto.INT32)
    found = []
    for node in inferred.node:
        if node.domain == "ai.onnx.ml":  # no types are inferred for these operations; their floats are float32
            types = dict.fromkeys(node.output, single) | types
        counts = node.op_type in ENCODERS or (node.op_type == "Cast" and types.get(node.input[0]) in whole)
        rounds = node.op_type not in EXACT_OPERATORS and not counts
        if rounds and any(types.get(name) == single for name in node.output):
            found.append(node.op_type)
    return sorted(set(found))
