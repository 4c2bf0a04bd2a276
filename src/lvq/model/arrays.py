"""The few array operations that NumPy and torch spell differently, and those in which ties go to the first index.

Everything else in this package is written with `xp = namespace(array)`. torch is looked up only if a tensor is given,
so nothing here imports it.
"""

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TypeGuard, TypeVar

import numpy as np
from scipy import sparse

from lvq.typing import Array

Given = TypeVar("Given")


def namespace(array: Array) -> ModuleType:
    """The module whose functions take this array: torch where a tensor is given, else numpy, for sparse rows too."""
    if isinstance(array, np.ndarray | np.generic | float) or sparse.issparse(array):
        return np
    if is_tensor(array):
        return sys.modules["torch"]
    raise TypeError(f"expected a NumPy array or a torch tensor, got {type(array).__name__}")


def is_tensor(array: object) -> TypeGuard[Array]:
    """Whether this is a torch tensor; without torch imported there is none."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def as_numpy(array: Given) -> Given | np.ndarray:
    """A tensor as a NumPy array, of float32 where NumPy has no such type (bfloat16); anything else unchanged."""
    if not is_tensor(array):
        return array
    tensor = array.detach().cpu()
    return (tensor.float() if tensor.dtype is sys.modules["torch"].bfloat16 else tensor).numpy()


def first_argmin(values: Array) -> Array:
    """Index of the smallest value of each row; the first of equal values, which torch does not guarantee."""
    xp = namespace(values)
    if xp is np:
        return values.argmin(axis=1)
    columns = xp.arange(values.shape[1], device=values.device)
    hits = values == xp.amin(values, dim=1, keepdim=True)
    return xp.where(hits, columns, values.shape[1]).amin(dim=1)


def take_columns(values: Array, index: Array) -> Array:
    """values[i, index[i]] for each row i."""
    xp = namespace(values)
    if xp is np:
        return values[np.arange(len(index)), index]
    return xp.gather(values, 1, index[:, None])[:, 0]


def put_columns(values: Array, index: Array, new: Array | float) -> None:
    """Set values[i, index[i]] of each row i."""
    xp = namespace(values)
    rows = np.arange(len(index)) if xp is np else xp.arange(len(index), device=values.device)
    values[rows, index] = new


def take_along(values: Array, index: Array) -> Array:
    """values[i, index[i, k]] for each row i and column k."""
    return np.take_along_axis(values, index, 1) if namespace(values) is np else values.gather(1, index)


def as_columns(one: Array, other: Array) -> Array:
    """Two vectors as the columns of a matrix."""
    xp = namespace(one)
    return np.array((one, other)).T if xp is np else xp.stack((one, other), 1)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of the given shape with the type and place of another array."""
    xp = namespace(like)
    return np.zeros(shape, dtype=like.dtype) if xp is np else xp.zeros(shape, dtype=like.dtype, device=like.device)


def like(values: Array, other: Array) -> Array:
    """The values as an array with the type and place of another."""
    xp = namespace(other)
    if xp is np:
        return (
            values.astype(other.dtype, copy=False) if sparse.issparse(values) else np.asarray(values, dtype=other.dtype)
        )
    return xp.asarray(values, dtype=other.dtype, device=other.device)


def beside(array: np.ndarray, other: Array) -> Array:
    """An array of its own type where another is; it may be read-only, which tensors are not."""
    return array if namespace(other) is np else namespace(other).tensor(array, device=other.device)


def wide(array: Array) -> Array:
    """The numbers in float64; in float32 on a device without float64 (Apple's)."""
    if namespace(array) is np:
        return np.asarray(array, dtype=np.float64)
    return array.double() if has_float64(array.device) else array.float()


def has_float64(device: object) -> bool:
    """Whether a device of torch, or its name, has float64."""
    return not str(device).startswith("mps")


def numpy_type(array: Array) -> np.dtype:
    """float32 or float64, as NumPy names the type of an array or tensor."""
    if namespace(array) is np:
        return array.dtype
    return np.dtype(np.float32 if array.element_size() == 4 else np.float64)


def round_centre(rows: Array) -> Array:
    """A point near the rows' mean whose digits are few, so that subtracting it from round numbers is exact."""
    xp = namespace(rows)
    low, high = (rows.min(0), rows.max(0)) if xp is np else (rows.amin(0), rows.amax(0))
    return rounded_centre(rows.mean(0), low, high)


def rounded_centre(mean: Array, low: Array, high: Array) -> Array:
    """`round_centre` of rows with a given mean and range."""
    xp = namespace(mean)
    mean = xp.clip(mean, low, high)  # rounding may carry the mean of equal numbers past them
    spread = xp.maximum(high - mean, mean - low)
    one = xp.ones_like(spread)
    quantum = xp.exp2(xp.floor(xp.log2(xp.where(spread > 0, spread, one))))
    return xp.where(spread > 0, xp.round(mean / quantum) * quantum, mean)


def clipped(values: Array) -> Array:
    """Values not below zero, in the same memory."""
    return np.maximum(values, 0, out=values) if namespace(values) is np else values.clamp_(min=0)


def fused_kernels(array: Array) -> ModuleType | None:
    """The module of GPU kernels where this array can use them, else None: float32 on CUDA, with Triton installed."""
    if not is_tensor(array) or not array.is_cuda or array.element_size() != 4:
        return None
    if find_spec("triton") is None or sys.modules["torch"].version.hip is not None:  # AMD has no TF32 passes
        return None
    from lvq.model import fused

    return fused
