"""Whether a float64 graph computes in float64: some converters of skl2onnx round to float32 without a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

# operations that do not change numbers
EXACT_OPERATORS = {"Concat", "Gather", "GatherElements", "Identity", "Reshape", "Slice", "Split", "Squeeze",
                   "Transpose", "Unsqueeze"}  # fmt: skip
# operations that give zeros, ones and small integers, which float32 represents exactly
ENCODERS = {"OneHotEncoder", "LabelEncoder"}


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
