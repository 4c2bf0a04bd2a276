"""Operations that NumPy and torch spell differently, and the round centre."""

import sys
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from lvq import model
from lvq.model import arrays
from lvq.model.arrays import (
    as_numpy,
    first_argmin,
    fused_kernels,
    is_tensor,
    like,
    namespace,
    round_centre,
    take_columns,
    zeros,
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("offset", "unit"), [(0, 1.0), (1000, 0.25), (-(2**15), 1024.0), (1000, 2.0**-10), (0, 2.0**-12)]
)
def test_subtracting_the_centre_from_round_numbers_is_exact(offset, unit, dtype):
    rng = np.random.default_rng(0)
    X = ((rng.integers(-50, 50, (30, 5)) * rng.integers(1, 9, 5) + offset) * unit).astype(dtype)
    centre = round_centre(X)
    assert centre.dtype == dtype
    moved = X - centre
    for i, j in np.ndindex(X.shape):
        assert Fraction(float(moved[i, j])) == Fraction(float(X[i, j])) - Fraction(float(centre[j]))


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e145])
def test_the_centre_is_near_the_mean(scale):
    X = (np.random.default_rng(0).normal(size=(40, 3)) + np.array([0, 5, -100])) * scale
    spread = np.abs(X - X.mean(axis=0)).max(axis=0)
    assert (np.abs(round_centre(X) - X.mean(axis=0)) <= spread).all()


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1 / 3, 1e9 + 0.1, 1e-300])
def test_the_centre_of_a_constant_feature_is_its_value(constant):
    """Up to the rounding of a mean."""
    for count in (1, 2, 3, 7, 10, 49):
        centre = round_centre(np.full((count, 1), constant))
        assert abs(centre[0] - constant) <= 4 * np.spacing(abs(constant))


def test_numpy_needs_no_torch():
    values = np.array([[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]])
    assert namespace(values) is namespace(1.0) is np
    assert not is_tensor(values)
    assert as_numpy(values) is values
    assert first_argmin(values).tolist() == [1, 0]
    assert take_columns(values, np.array([2, 0])).tolist() == [1.0, 2.0]
    assert zeros((2,), values.astype(np.float32)).dtype == like([1, 2], values.astype(np.float32)).dtype == np.float32


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="expected a NumPy array or a torch tensor, got list"):
        namespace([1.0])


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("hip", [None, "6.0"])
def test_gpu_kernels_need_triton_and_no_amd(installed, hip, monkeypatch):
    torch = pytest.importorskip("torch")

    class OnGpu(torch.Tensor):
        is_cuda = True

    kernels = ModuleType("lvq.model.fused")
    monkeypatch.setitem(sys.modules, "lvq.model.fused", kernels)
    monkeypatch.setattr(model, "fused", kernels, raising=False)
    monkeypatch.setattr(arrays, "find_spec", lambda name: object() if installed and name == "triton" else None)
    monkeypatch.setattr(torch.version, "hip", hip)
    rows = torch.zeros(2, dtype=torch.float32).as_subclass(OnGpu)
    assert fused_kernels(rows) is (kernels if installed and hip is None else None)
    assert fused_kernels(rows.double()) is None
    assert fused_kernels(torch.zeros(2)) is None
