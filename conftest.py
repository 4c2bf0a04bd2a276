"""Doctests of the GPU kernels cannot even be imported without torch and Triton."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") and find_spec("triton") else ["src/lvq/model/fused.py"]
