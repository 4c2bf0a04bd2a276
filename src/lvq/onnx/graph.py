"""Formulas as nodes of an ONNX graph; arrays of the graph are referred to by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Scope


class Graph:
    """Adds nodes and constants to a graph that skl2onnx is making.

    Parameters
    ----------
    scope, container : objects of skl2onnx
        The first provides names, the second collects the nodes.
    dtype : numpy.float64 or numpy.float32
        Type in which the graph computes.
    """

    def __init__(self, scope: Scope, container: ModelComponentContainer, dtype: np.dtype | type) -> None:
        self.scope, self.container, self.dtype = scope, container, np.dtype(dtype)

    def node(self, operation: str, *inputs: str, **attributes: int | float | str) -> str:
        """The one output of an operation."""
        output = self.scope.get_unique_variable_name(operation.lower())
        name = self.scope.get_unique_operator_name(operation)
        self.container.add_node(operation, list(inputs), [output], name=name, **attributes)
        return output

    def split(self, values: str, sizes: Sequence[int] | NDArray[np.intp]) -> list[str]:
        """Columns in slices of the given widths."""
        outputs = [self.scope.get_unique_variable_name("slice") for _ in sizes]
        name = self.scope.get_unique_operator_name("Split")
        self.container.add_node("Split", [values, self.constant(np.array(sizes))], outputs, name=name, axis=1)
        return outputs

    def name_output(self, values: str, name: str) -> None:
        """Give values the name of an output."""
        self.container.add_node("Identity", [values], [name], name=self.scope.get_unique_operator_name("Identity"))

    def constant(self, values: ArrayLike) -> str:
        """Numbers, booleans or strings; floating numbers in the graph's type, integers as int64."""
        from onnx import TensorProto, numpy_helper

        array = np.asarray(values)
        name = self.scope.get_unique_variable_name("constant")
        if array.dtype.kind in "US":
            texts = [str(text).encode("utf-8") for text in array.ravel()]
            self.container.add_initializer(name, TensorProto.STRING, list(array.shape), texts)
            return name
        if array.dtype.kind != "b":
            array = array.astype(self.dtype if array.dtype.kind == "f" else np.int64)
        self.container.add_initializer(name, None, None, numpy_helper.from_array(np.ascontiguousarray(array)))
        return name

    def number(self, value: float) -> str:
        """One number in the graph's type."""
        return self.constant(np.float64(value))

    def cast(self, values: str, dtype: np.dtype | type) -> str:
        """Values in another type."""
        from onnx import helper

        return self.node("Cast", values, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def reduce(self, operation: str, values: str, axis: int = 1, *, keep: bool = False) -> str:
        """ReduceMin, ReduceMax or ReduceSum along an axis."""
        return self.node(operation, values, self.constant(np.array([axis])), keepdims=int(keep))

    def first(self, operation: str, values: str) -> str:
        """ArgMin or ArgMax of each row; of equal ones the first."""
        return self.node(operation, values, axis=1, keepdims=0, select_last_index=0)

    def all_of(self, flags: str) -> str:
        """Whether all entries of a row are True."""
        lowest = self.reduce("ReduceMin", self.cast(flags, self.dtype))
        return self.node("Greater", lowest, self.number(0.5))

    def column(self, values: str) -> str:
        """A vector as a column."""
        return self.node("Unsqueeze", values, self.constant(np.array([1])))

    def take(self, table: str, index: str) -> str:
        """table[i, index[i]] for each row i."""
        taken = self.node("GatherElements", table, self.column(index), axis=1)
        return self.node("Squeeze", taken, self.constant(np.array([1])))

    def is_class(self, index: str, count: int) -> str:
        """One row per sample, True in the column of its index."""
        return self.node("Equal", self.constant(np.arange(count)[None]), self.column(index))
