"""Whether a float64 graph is one: some converters of skl2onnx go through float32, and say nothing about it."""

from typing import Any

# what passes numbers on as they are
PASSING = {
    "Concat",
    "Gather",
    "GatherElements",
    "Identity",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
}
# zeros, ones and small whole numbers, which float32 holds exactly
COUNTING = frozenset({"OneHotEncoder", "LabelEncoder"})


def rounding_nodes(model: Any) -> list[str]:
    """The operations of a float64 graph that round to float32, by name.

    Parameters
    ----------
    model : onnx.ModelProto

    Returns
    -------
    operations : list of str
        Such as "Scaler"; empty where nothing is lost.
    """
    import onnx

    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = [*inferred.value_info, *inferred.input, *inferred.output]
    types = {value.name: value.type.tensor_type.elem_type for value in values}
    types |= {tensor.name: tensor.data_type for tensor in inferred.initializer}
    single, whole = onnx.TensorProto.FLOAT, (onnx.TensorProto.INT64, onnx.TensorProto.BOOL, onnx.TensorProto.INT32)
    exact = {tensor.name for tensor in inferred.initializer}  # weights in float32 show by what is made of them
    found = []
    for node in inferred.node:
        if not any(types.get(name) == single for name in node.output):
            continue
        given = [name for name in node.input if types.get(name) == single]
        passes = node.op_type in PASSING and all(name in exact for name in given)
        counts = node.op_type in COUNTING or (node.op_type == "Cast" and types.get(node.input[0]) in whole)
        if passes or counts:
            exact.update(node.output)
        else:
            found.append(node.op_type)
    return sorted(set(found))
