"""torch at the interface: tensors in, tensors out, and the device a model is fitted on. torch is imported late."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType

import numpy as np

from lvq.model.arrays import has_float64, is_tensor
from lvq.typing import Array

_HOST_ONLY: ContextVar[bool] = ContextVar("host_only", default=False)


@contextmanager
def on_host() -> Iterator[None]:
    """Inside, predictions of arrays are computed without the device of a model, which need not be here."""
    token = _HOST_ONLY.set(True)
    try:
        yield
    finally:
        _HOST_ONLY.reset(token)


def predicting_device(device: str | None) -> str | None:
    """The device on which arrays are predicted; None inside `on_host`."""
    return None if _HOST_ONLY.get() else device


def same_kind(values: np.ndarray, X: object) -> Array:
    """Values as a tensor on the device of X where X is one and the values are numbers; else unchanged."""
    if not is_tensor(X) or values.dtype.kind not in "biuf":
        return values
    return sys.modules["torch"].as_tensor(values, device=X.device)


def on_device(array: np.ndarray | None, device: str) -> Array | None:
    """A tensor on the device, of the array's type; of float32 where the device has no float64."""
    torch = require_torch(device)
    if array is None:
        return None
    narrow = array.dtype == np.float64 and not has_float64(device)
    return torch.tensor(np.ascontiguousarray(array, dtype=np.float32 if narrow else None), device=device)


def require_torch(device: str) -> ModuleType:
    """torch, or an error with the install command."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch, which is not installed. Install it with: pip install 'lvq[gpu]'"
        ) from None
    try:
        torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device={device!r} is not a device of torch: {error}") from None
    if str(device).startswith("cuda") and not torch.cuda.is_available():
        raise RuntimeError(f"device={device!r} needs a CUDA device, and torch {torch.__version__} finds none.")
    if str(device).startswith("mps") and not torch.backends.mps.is_available():
        raise RuntimeError(f"device={device!r} needs an Apple GPU, and torch {torch.__version__} finds none.")
    return torch


def float_types(device: str | None) -> list[type]:
    """Types of samples on a device, or on the host: Apple's GPUs have no float64."""
    return [np.float64, np.float32] if device is None or has_float64(device) else [np.float32]


def floating(X: Array, dtype: np.dtype, name: str) -> Array:
    """A tensor of real numbers in float32 or float64; other types are converted to that of the model."""
    torch = sys.modules["torch"]
    if X.is_complex():
        raise ValueError(f"{name} needs real numbers. Complex data not supported; got a tensor of {X.dtype}.")
    if X.dtype in (torch.float32, torch.float64):
        return X.detach()
    return X.detach().to(torch.float32 if dtype == np.float32 else torch.float64)
