"""Models as ONNX graphs. onnx and skl2onnx are imported on the first call, not by this module."""

from lvq.onnx.export import to_onnx

__all__ = ["to_onnx"]
