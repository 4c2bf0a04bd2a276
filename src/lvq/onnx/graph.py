"""Formulas as nodes of an ONNX graph; arrays of the graph are referred to by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.typing import Argument

if TYPE_CHECKING:
    from collections.abc import MutableSequence

    from onnx import NodeProto, TensorProto


class Graph:
    """Adds nodes and constants to a graph.

    Parameters
    ----------
    nodes, initializers : list
        The names that the graph already has.
    prefix : str
        Prefix of the new names; no other name of the graph begins with it.
    """

    def __init__(
        self,
        nodes: MutableSequence[NodeProto],
        initializers: MutableSequence[TensorProto],
        prefix: str,
    ) -> None:
        self.nodes, self.initializers, self.prefix = nodes, initializers, prefix

    def _add(self, operation: str, inputs: Sequence[str], outputs: list[str], **attributes: Argument) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(operation, inputs, outputs, name=self._name(operation), **attributes))

    def _name(self, kind: str) -> str:
        return f"{self.prefix}_{kind}_{len(self.nodes)}_{len(self.initializers)}"

    def node(self, operation: str, *inputs: str, **attributes: Argument) -> str:
        """The one output of an operation."""
        output = self._name(operation.lower())
        self._add(operation, inputs, [output], **attributes)
        return output

    def split(self, values: str, sizes: Sequence[int] | NDArray[np.intp]) -> list[str]:
        """Columns in slices of the given widths."""
        widths = self.constant(np.array(sizes))
        outputs = [f"{self._name('slice')}_{place}" for place in range(len(sizes))]
        self._add("Split", [values, widths], outputs, axis=1)
        return outputs

    def name_output(self, values: str, name: str) -> None:
        """Give values the name of an output."""
        self._add("Identity", [values], [name])

    def constant(self, values: ArrayLike) -> str:
        """Numbers, booleans or strings; floating numbers in float64, integers as int64."""
        from onnx import numpy_helper

        array, name = np.asarray(values), self._name("constant")
        types = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "U": np.dtype(object)}
        array = np.ascontiguousarray(array.astype(types.get(array.dtype.kind, array.dtype)))
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def number(self, value: float) -> str:
        """One number."""
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
        lowest = self.reduce("ReduceMin", self.cast(flags, np.float64))
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

    def relative(self, near: str, far: str) -> str:
        """(far - near)/(far + near), 0 where both are 0."""
        total = self.node("Add", near, far)
        safe = self.node("Where", self.node("Greater", total, self.number(0)), total, self.number(1))
        return self.node("Div", self.node("Sub", far, near), safe)
