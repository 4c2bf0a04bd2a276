"""`to_onnx`: a fitted model as an ONNX graph, which needs no Python."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import find_layer, need_model
from lvq.onnx.converters import DTYPES, by_position, register, require_skl2onnx
from lvq.onnx.inputs import Inputs, inputs_of, name_inputs
from lvq.onnx.precision import rounding_nodes
from lvq.onnx.transformers import own_conversions
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.costs import CostClassifier

if TYPE_CHECKING:
    from onnx import ModelProto
    from skl2onnx.common.data_types import DataType

OPSET, ML_OPSET, IR_VERSION = 18, 3, 10


def to_onnx(estimator: BaseEstimator, *, dtype: str = "float64") -> ModelProto:
    """Convert a fitted model to an ONNX graph, for onnxruntime and other runtimes.

    Its input is ``X`` with one row per sample; or one input per column, with the names of the columns, where a
    ColumnTransformer takes strings and numbers. Its outputs are

    - ``label``: the class, a string or an int64;
    - ``probabilities``: as `predict_proba`, one column per class;
    - ``certainty``: as `lvq.rejection.certainty`, by the measure of the RejectClassifier, else by "auto";
    - ``accepted``: as `RejectClassifier.accept`; true for a model that does not reject.

    A row for which `predict` raises an error (NaN, infinite or too large values) is not accepted, and its certainty is
    NaN.

    Parameters
    ----------
    estimator : fitted model, Pipeline or RejectClassifier
        A model of this library; a Pipeline or a search with one, whose other steps skl2onnx can convert; a
        CostClassifier or a RejectClassifier around either, or the latter around the former.
    dtype : {"float64", "float32"}, default="float64"
        Type in which the graph computes. Labels of the float64 graph are those of the model; in float32 samples at a
        decision boundary can get the other label.

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
    if dtype not in DTYPES:
        raise ValueError(f"dtype of to_onnx must be 'float64' or 'float32', got {dtype!r}.")
    skl2onnx = require_skl2onnx()
    register()
    steps, last = split_steps(estimator)
    found = need_model(estimator, "to_onnx")
    given = inputs_of(found)
    whole = Pipeline([(f"step{index}", by_position(step)) for index, step in enumerate(steps)] + [("model", last)])
    try:
        result = skl2onnx.convert_sklearn(
            whole if steps else last,
            name="lvq",
            initial_types=_types(given, dtype),
            target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
            options={id(last): {"zipmap": False, "dtype": dtype}},
            **own_conversions(dtype),
        )
    except (RuntimeError, NotImplementedError, AssertionError, TypeError, NameError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ValueError(f"to_onnx cannot convert these steps: {step_names(estimator)}: {first_line}") from error
    name_inputs(result.graph, given.names)
    return _finished(result, estimator, dtype)


def split_steps(estimator: BaseEstimator) -> tuple[list[BaseEstimator], BaseEstimator]:
    """The transformers before the model, CostClassifier or RejectClassifier that predicts, and the latter."""
    found = need_model(estimator, "to_onnx")
    reject, by_cost = find_layer(estimator, RejectClassifier), find_layer(estimator, CostClassifier)
    if reject is not None and by_cost is not None and find_layer(by_cost, RejectClassifier) is not None:
        raise ValueError(
            "to_onnx needs a RejectClassifier around a CostClassifier, not inside it, as thresholds belong to the "
            "predictions by cost; got a RejectClassifier inside."
        )
    last = reject or by_cost or found.estimator
    check_is_fitted(last)
    if found.model.variances is not None:
        raise ValueError(
            f"to_onnx does not support missing='ignore' of {type(found.estimator).__name__}; fit it with "
            "missing='raise', and fill missing values in a step before, for example with sklearn.impute.SimpleImputer."
        )
    return list(found.steps[: len(found.steps) - len(need_model(last, "to_onnx").steps)]), last


def _types(given: Inputs, dtype: str) -> list[tuple[str, DataType]]:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    kinds = {
        "number": DoubleTensorType if dtype == "float64" else FloatTensorType,
        "integer": Int64TensorType,
        "text": StringTensorType,
    }
    return [(f"input{place}", kinds[kind]([None, width])) for place, (_, kind, width) in enumerate(zip(*given))]


def _finished(result: ModelProto, estimator: BaseEstimator, dtype: str) -> ModelProto:
    """The graph with fixed versions and metadata, checked."""
    import onnx

    for entry in result.opset_import:
        if entry.domain == "":
            entry.version = OPSET
    result.ir_version = IR_VERSION
    result.producer_name, result.producer_version = "lvq", metadata.version("lvq")
    found = need_model(estimator, "to_onnx")
    about = {"estimator": type(found.estimator).__name__, "classes": json.dumps(found.model.classes.tolist())}
    if hasattr(estimator, "feature_names_in_"):
        about["features"] = json.dumps([str(name) for name in estimator.feature_names_in_])
    onnx.helper.set_model_props(result, about)
    problem = f"to_onnx(dtype={dtype!r}) cannot convert these steps: {step_names(estimator)}"
    try:
        onnx.checker.check_model(result, full_check=True)
    except Exception as error:  # of the checker, of shape inference, or of what they are written in
        raise ValueError(f"{problem}: {error}") from error
    rounding = rounding_nodes(result) if dtype == "float64" else []
    if rounding:
        raise ValueError(
            f"{problem}: skl2onnx converts them to {', '.join(rounding)}, which computes in float32. Use "
            "dtype='float32', or remove that step."
        )
    return result


def step_names(estimator: BaseEstimator) -> str:
    """The names of all transformers before a model."""
    return ", ".join(type(step).__name__ for step in need_model(estimator, "to_onnx").steps) or "none"
