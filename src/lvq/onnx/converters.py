"""Our estimators in the registry of skl2onnx: what goes in, what comes out, and the graph between."""

import copy
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.names import MODELS
from lvq.estimators.search import LVQClassifierCV
from lvq.onnx.answers import Answers, class_values
from lvq.onnx.graph import Graph
from lvq.onnx.rejection import MEASURES, accepted, certainty
from lvq.rejection.classifier import RejectClassifier
from lvq.robustness import Found, find_model

OUTPUTS = ("label", "probabilities", "certainty", "accepted")
ESTIMATORS = (*dict.fromkeys(spelling.estimator for spelling in MODELS.values()), LVQClassifier, LVQClassifierCV)
ALIAS = "LvqClassifier"  # in skl2onnx's registry; one graph for all


def register() -> None:
    """Tell skl2onnx about the estimators of this library, so that it converts pipelines with them.

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
    for kind in (*ESTIMATORS, RejectClassifier):
        skl2onnx.update_registered_converter(
            kind,
            ALIAS,
            shapes,
            convert,
            parser=parse_reject if kind is RejectClassifier else parse,
            # zipmap is an option of all classifiers there; probabilities are a plain array here, whatever it says
            options={"zipmap": [True, False, "columns"], "measure": list(MEASURES)},
        )


def require_skl2onnx() -> Any:
    """skl2onnx, or a sentence that says how to get it."""
    try:
        import onnx  # noqa: F401
        import skl2onnx
    except ImportError:
        raise ImportError('to_onnx needs onnx and skl2onnx. Install them with: pip install "lvq[onnx]"') from None
    return skl2onnx


def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the operator of a model and its outputs."""
    from skl2onnx.common.data_types import BooleanTensorType, Int64TensorType

    check_is_fitted(model)
    if len(inputs) > 1:
        inputs = [_joined(scope, inputs)]
    operator = scope.declare_local_operator(ALIAS, model)
    operator.inputs = inputs
    number = number_type(inputs)
    for name, kind in zip(OUTPUTS, (Int64TensorType, number, number, BooleanTensorType)):
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def parse_reject(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """As `parse`, after the transformers that stand before the model inside a RejectClassifier."""
    from skl2onnx._parse import _parse_sklearn

    check_is_fitted(model)
    for step in found_in(model).steps:
        named = {str(name) for name in getattr(step, "feature_names_in_", ["?"])} <= {i.raw_name for i in inputs}
        inputs = _parse_sklearn(scope, step if named else by_position(step), inputs, custom_parsers=custom_parsers)
    return parse(scope, model, inputs, custom_parsers)


def by_position(step: Any) -> Any:
    """The transformer with columns by their positions: skl2onnx finds named ones only among inputs of that name."""
    if not isinstance(step, ColumnTransformer):
        return step
    changed = copy.copy(step)
    changed.transformers_ = [
        (name, inner, list(step._transformer_to_input_indices[name])) for name, inner, _ in step.transformers_
    ]
    return changed


def _joined(scope: Any, inputs: Any) -> Any:
    """Columns side by side."""
    operator = scope.declare_local_operator("SklearnConcat")
    operator.inputs = inputs
    joined = scope.declare_local_variable("merged_columns", number_type(inputs)([None, None]))
    operator.outputs.append(joined)
    return joined


def number_type(inputs: Any) -> Any:
    """In what a model computes: float32 for float32 samples, else float64."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return FloatTensorType if all(isinstance(i.type, FloatTensorType) for i in inputs) else DoubleTensorType


def found_in(model: Any) -> Found:
    """The nearest-prototype model of an estimator, and what stands before it."""
    found = find_model(model)
    if found is None:
        raise ValueError(
            "to_onnx writes models of this library, alone, in a Pipeline or in a RejectClassifier, got "
            f"{type(model).__name__} without one."
        )
    return found


def shapes(operator: Any) -> None:
    """Types and shapes of the outputs."""
    from skl2onnx.common.data_types import BooleanTensorType, Int64TensorType, StringTensorType

    count = operator.inputs[0].get_first_dimension()
    classes = class_values(found_in(operator.raw_operator).model)
    number = number_type(operator.inputs)
    kinds = (
        (StringTensorType if classes.dtype.kind == "U" else Int64TensorType)([count]),
        number([count, len(classes)]),
        number([count]),
        BooleanTensorType([count]),
    )
    for output, kind in zip(operator.outputs, kinds):
        output.type = kind


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a model, or of a RejectClassifier around one."""
    from skl2onnx.common.data_types import DoubleTensorType

    estimator = operator.raw_operator
    number = number_type(operator.inputs)
    graph = Graph(scope, container, np.float64 if number is DoubleTensorType else np.float32)
    samples = operator.inputs[0].full_name
    if not isinstance(operator.inputs[0].type, number):
        samples = graph.cast(samples, graph.dtype)
    answers = Answers(graph, found_in(estimator).model, samples)
    values = [answers.label, answers.probabilities]
    if len(operator.outputs) > 2:  # an ensemble of skl2onnx around a model asks for the first two alone
        rejects = isinstance(estimator, RejectClassifier)
        measure = estimator.measure_.ambiguity if rejects else _option(container, estimator)
        sure = certainty(answers, measure)
        everything = graph.node("Equal", answers.answer, answers.answer)  # a plain model stands by all its answers
        values += [sure, accepted(answers, estimator, sure) if rejects else everything]
    for value, output in zip(values, operator.outputs):
        graph.name_output(value, output.full_name)


def _option(container: Any, model: Any) -> str:
    return container.get_options(model, {"measure": "auto"})["measure"]
