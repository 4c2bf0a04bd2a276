"""Models as ONNX graphs. Importing this loads neither onnx nor skl2onnx; `to_onnx` and `register` do."""

from lvq.onnx.converters import register
from lvq.onnx.exporting import to_onnx

__all__ = ["register", "to_onnx"]
