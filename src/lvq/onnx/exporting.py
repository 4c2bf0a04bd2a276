"""`to_onnx`: a fitted model as a graph that runs without Python."""

import json
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ
from lvq.onnx import imputing
from lvq.onnx.converters import ESTIMATORS, OUTPUTS, by_position, found_in, register, require_skl2onnx
from lvq.onnx.inputs import Inputs, inputs_of, name_inputs
from lvq.onnx.precision import rounding_nodes
from lvq.onnx.rejection import MEASURES
from lvq.rejection.classifier import RejectClassifier

OPSET, ML_OPSET, IR_VERSION = 18, 3, 10


def to_onnx(estimator: Any, *, dtype: str = "float64", measure: str = "auto") -> Any:
    """A fitted model as an ONNX graph, which runs where onnxruntime does.

    Its input is ``X`` with a row for each sample, any number of them; or an input for each column, under the columns'
    names, where a ColumnTransformer takes texts and numbers. Its outputs are

    - ``label``: the class, a string or an int64;
    - ``probabilities``: as `predict_proba`, a column for each class;
    - ``certainty``: as `lvq.rejection.certainty`, by the measure of the RejectClassifier, or by `measure`;
    - ``accepted``: as `RejectClassifier.accept`; always true for a model that does not reject.

    Parameters
    ----------
    estimator : fitted model, Pipeline or RejectClassifier
        A model of this library; a Pipeline (or a search) that ends in one, whose other steps skl2onnx can convert; or a
        RejectClassifier around either.
    dtype : {"float64", "float32"}, default="float64"
        In what the graph computes. Labels of the float64 graph are those of the model; in float32 samples near a
        decision boundary can fall to the other side.
    measure : {"auto", "relsim", "boundary", "distance", "probability", "margin"}, default="auto"
        What ``certainty`` is for a model that does not reject; "auto" is "relsim".

    Returns
    -------
    model : onnx.ModelProto
        Write it with ``onnx.save(model, "model.onnx")``.

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
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype of to_onnx must be 'float64' or 'float32', got {dtype!r}.")
    if measure not in MEASURES:
        raise ValueError(f"measure of to_onnx must be one of {', '.join(map(repr, MEASURES))}, got {measure!r}.")
    skl2onnx = require_skl2onnx()
    register()
    steps, last = chain(estimator)
    given = inputs_of([*steps, *found_in(last).steps], found_in(last).model)
    steps = [by_position(step) for step in steps]
    whole = Pipeline([(f"step{index}", step) for index, step in enumerate(steps)] + [("model", last)])
    try:
        result = skl2onnx.convert_sklearn(
            whole if steps else last,
            name="lvq",
            initial_types=_types(given, dtype),
            target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
            options={
                id(last): {"zipmap": False} | ({} if isinstance(last, RejectClassifier) else {"measure": measure})
            },
            custom_conversion_functions={SimpleImputer: imputing.convert},
            custom_shape_calculators={SimpleImputer: imputing.shapes},
        )
    except (RuntimeError, NotImplementedError, AssertionError, TypeError, NameError) as error:
        raise ValueError(f"to_onnx cannot write these steps: {steps_of(estimator)}: {_brief(error)}") from error
    name_inputs(result.graph, given.names)
    return _finished(result, estimator, found_in(last).model, dtype)


def chain(estimator: Any) -> tuple[list[Any], Any]:
    """The transformers of an estimator, and the model or RejectClassifier that answers."""
    last = estimator
    while not isinstance(last, BaseLVQ | RejectClassifier):
        if isinstance(last, Pipeline):
            last = last.steps[-1][1]
        elif isinstance(last, FrozenEstimator):
            last = last.estimator
        elif hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        else:
            break
    before, inside = found_in(estimator).steps, found_in(last).steps
    check_is_fitted(last)
    model = found_in(last).model
    if type(model) not in ESTIMATORS:
        raise ValueError(f"to_onnx writes the models of this library, got {type(model).__name__}, a class of its own.")
    return list(before[: len(before) - len(inside)]), last


def _types(given: Inputs, dtype: str) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    kinds = {
        "number": DoubleTensorType if dtype == "float64" else FloatTensorType,
        "integer": Int64TensorType,
        "text": StringTensorType,
    }
    return [(f"input{place}", kinds[kind]([None, width])) for place, (_, kind, width) in enumerate(zip(*given))]


def _finished(result: Any, estimator: Any, model: Any, dtype: str) -> Any:
    """Versions pinned, provenance written, and everything checked."""
    import onnx

    names = [output.name for output in result.graph.output]
    if names != list(OUTPUTS):
        raise ValueError(f"to_onnx expected the outputs {', '.join(OUTPUTS)}, got {', '.join(names)}.")
    for entry in result.opset_import:
        if entry.domain == "":
            entry.version = OPSET
    result.ir_version = IR_VERSION
    result.producer_name, result.producer_version = "lvq", metadata.version("lvq")
    notes = {"estimator": type(model).__name__, "classes": json.dumps(np.asarray(model.classes_).tolist())}
    if hasattr(estimator, "feature_names_in_"):
        notes["features"] = json.dumps([str(name) for name in estimator.feature_names_in_])
    onnx.helper.set_model_props(result, notes)
    try:
        onnx.checker.check_model(result, full_check=True)
    except Exception as error:  # of the checker, of shape inference, or of what they are written in
        raise ValueError(
            f"to_onnx(dtype={dtype!r}) cannot write these steps: {steps_of(estimator)}: {error}"
        ) from error
    rounding = rounding_nodes(result) if dtype == "float64" else []
    if rounding:
        raise ValueError(
            f"to_onnx(dtype='float64') cannot write these steps: {steps_of(estimator)}: skl2onnx makes "
            f"{', '.join(rounding)} of them, which computes in float32. Use dtype='float32', or leave that step out."
        )
    return result


def steps_of(estimator: Any) -> str:
    """The names of all transformers before a model."""
    return ", ".join(type(step).__name__ for step in found_in(estimator).steps) or "none"


def _brief(error: Exception) -> str:
    """The first line of what a library says."""
    return str(error).strip().partition("\n")[0]
