"""Models as ONNX graphs. onnx and skl2onnx are imported on the first call, not by this module."""

from lvq.onnx.converters import register
from lvq.onnx.export import to_onnx

__all__ = ["register", "to_onnx"]
