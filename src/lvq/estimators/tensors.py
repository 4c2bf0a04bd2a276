"""torch at the interface: tensors in, tensors out, and the device a model is fitted on. torch is imported late.

Samples of a tensor stay on their device, except to raise the error of an array, and some thousands of them where rows
must be sorted: for starts with several prototypes, and for folds. Labels and weights are small, so scikit-learn checks
them as arrays.
"""

import sys

import numpy as np

from lvq.model.rows import largest_value, numpy_type
from lvq.typing import Array


def require_torch(device: str) -> None:
    """Raise an error where torch or the device is missing; it says what to install."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch, which is not installed. Install it with: pip install 'lvq[gpu]'"
        ) from None
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # without CUDA it is an AssertionError
        reason = str(error).partition("\n")[0]
        raise ValueError(f"device={device!r} is not a device that torch {torch.__version__} finds: {reason}") from None


def on_device(array: np.ndarray, device: str) -> Array:
    """A tensor on the device, of the array's type."""
    return sys.modules["torch"].tensor(np.ascontiguousarray(array), device=device)


def floating(X: Array, dtype: np.dtype, name: str) -> Array:
    """A tensor of real numbers in float32 or float64; other types are converted to the given one."""
    torch = sys.modules["torch"]
    if X.is_complex():
        raise ValueError(f"{name} needs real numbers. Complex data not supported; got a tensor of {X.dtype}.")
    if X.dtype in (torch.float32, torch.float64):
        return X.detach()
    return X.detach().to(torch.float32 if dtype == np.float32 else torch.float64)


def is_valid(X: Array, smallest_range: float = 0.0) -> bool:
    """Whether a tensor has rows of finite values, none so large, or all so close, that squared distances fail."""
    if X.ndim != 2 or 0 in X.shape:
        return False
    low, high = X.amin(0), X.amax(0)
    limit, spread = largest_value(numpy_type(X), X.shape[1]), float((high - low).max())
    inside = -limit <= float(low.min()) and float(high.max()) <= limit  # both are NaN where a value is
    return inside and not 0 < spread < smallest_range
