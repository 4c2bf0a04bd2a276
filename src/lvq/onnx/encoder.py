"""OneHotEncoder as ONNX: skl2onnx gives float32 in graphs of float64, and counts infrequent categories one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from lvq.onnx.graph import Graph

if TYPE_CHECKING:
    from skl2onnx.common._container import ModelComponentContainer
    from skl2onnx.common._topology import Operator, Scope

ALIAS = "SklearnOneHotEncoder"  # in skl2onnx's registry


class Codes:
    """The converter of skl2onnx, with zeros and ones in the type of the graph.

    Parameters
    ----------
    dtype : {"float64", "float32"}
        Type in which the graph computes.
    """

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)

    def shapes(self, operator: Operator) -> None:
        """One feature for each output column of the encoder."""
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

        kind = DoubleTensorType if self.dtype == np.float64 else FloatTensorType
        width = len(operator.raw_operator.get_feature_names_out())
        operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), width])

    def convert(self, scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
        """The nodes of skl2onnx, then a cast."""
        from skl2onnx.common._registration import get_converter

        codes = scope.get_unique_variable_name("codes")
        inner = SimpleNamespace(raw_operator=operator.raw_operator, inputs=operator.inputs, output_full_names=codes)
        get_converter(ALIAS)(scope, inner, container)
        graph = Graph(scope, container, self.dtype)
        graph.name_output(graph.cast(codes, self.dtype), operator.outputs[0].full_name)
