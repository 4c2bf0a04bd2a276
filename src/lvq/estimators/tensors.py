"""torch at the door: tensors in, tensors out, and the device a model learns on. Imported only when asked for."""

import sys
from typing import Any

import numpy as np


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor; nobody who has not imported torch can hold one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def as_numpy(X: Any) -> Any:
    """A tensor's numbers in a NumPy array; anything else as it is."""
    return X.detach().cpu().numpy() if is_tensor(X) else X


def same_kind(values: np.ndarray, X: Any) -> Any:
    """Values as a tensor beside X where X is one and the values are numbers, else as they are."""
    if not is_tensor(X) or values.dtype.kind not in "biuf":
        return values
    return sys.modules["torch"].as_tensor(values, device=X.device)


def on_device(array: Any, device: str) -> Any:
    """A tensor on the device, of the array's type."""
    torch = require_torch(device)
    return None if array is None else torch.as_tensor(np.ascontiguousarray(array), device=device)


def require_torch(device: str) -> Any:
    """torch, or a sentence that says how to get it."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch, which is not installed. Install it with: pip install 'lvq[gpu]'"
        ) from None
    if str(device).startswith("cuda") and not torch.cuda.is_available():
        raise RuntimeError(f"device={device!r} needs a CUDA device, and torch {torch.__version__} sees none here.")
    return torch
