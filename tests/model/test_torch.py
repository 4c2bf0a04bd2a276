"""The same function on torch tensors: equal to that of NumPy arrays."""

from itertools import product

import numpy as np
import pytest

from lvq.model.links import KERNELS, Identity
from lvq.model.objective import Objective, Params, Problem
from lvq.model.relevance import DataScale, Matrix, Scale, Weights
from lvq.model.samples import ArraySamples
from tests.model.formulas import distances, value_and_gradient
from tests.model.test_gradients import costs, random_params, relevances

torch = pytest.importorskip("torch")

LABELS = np.array([0, 0, 0, 1, 1, 2])
FEATURES = 4
WIDTH = 1.3
COSTS = costs()
LINKS = ["identity", *KERNELS]
GROUPED = {"feature_groups": ("a", "b", "b", None), "sparsity": 0.2, "smoothness": 0.3}
METRICS = relevances()
DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    ),
]


def combinations():
    """Every pair of a cost and a metric with a link in turn; every third of them, the others are slow."""
    for number, (cost, metric) in enumerate(product(COSTS, METRICS)):
        step = number + number // len(METRICS)
        marks = pytest.mark.slow if step % 3 else ()
        yield pytest.param(cost, METRICS[metric], LINKS[step // 3 % len(LINKS)], id=f"{cost}-{metric}", marks=marks)


def draw(seed, relevance, dtype, count=40):
    """Parameters, and samples whose nearest prototypes of both kinds are clear in float32 too."""
    rng = np.random.default_rng(seed)
    W, R, _ = random_params(rng, relevance, LABELS, FEATURES)
    X, y = rng.normal(size=(20 * count, FEATURES)) * 1.5, rng.integers(0, 3, 20 * count)
    D = distances(relevance.metric(LABELS), X, W, R)
    mine = y[:, None] == LABELS
    groups = [mine, ~mine, *(k == LABELS for k in range(3))]
    gaps = [np.diff(np.sort(np.where(group, D, np.inf))[:, :2])[:, 0] for group in groups[:-1]]  # the last has one
    clear = np.flatnonzero((np.min(gaps, axis=0) > 0.02) & (D.min(1) > 0.02))
    assert len(clear) >= count
    rows = clear[:count]
    weight = rng.uniform(0.5, 2.0, count)
    arrays = W.astype(dtype), None if R is None else R.astype(dtype), X[rows].astype(dtype), y[rows]
    return *arrays, weight.astype(dtype)


def tensor(array, device="cpu"):
    return None if array is None else torch.as_tensor(array, device=device)


def objective_on(relevance, link, cost, dtype, device=None):
    """The objective for NumPy, or for tensors on a device."""
    kernel = Identity() if link == "identity" else KERNELS[link].with_width(WIDTH)
    objective = Objective(relevance.metric(LABELS), kernel, cost, LABELS)
    example = np.zeros((1, FEATURES), dtype)
    samples = ArraySamples(example if device is None else tensor(example, device), LABELS[:1], np.ones(1))
    return objective.beside(Params(np.zeros((len(LABELS), FEATURES))), samples, 0.0)[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-12), pytest.param(np.float32, 1e-5, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("cost", "relevance", "link"), list(combinations()))
def test_tensors_give_the_result_of_arrays(cost, relevance, link, dtype, tolerance, device):
    W, R, X, y, weight = draw(0, relevance, dtype)
    width, arrays = None if link == "identity" else 1.7, objective_on(relevance, link, COSTS[cost], dtype)
    value, gradient = value_and_gradient(arrays, Params(W, R, width), X, y, weight)
    params, data = (
        Params(tensor(W, device), tensor(R, device), width),
        (tensor(part, device) for part in (X, y, weight)),
    )
    found, there = value_and_gradient(objective_on(relevance, link, COSTS[cost], dtype, device), params, *data)
    assert there.prototypes.dtype == tensor(W).dtype
    assert there.prototypes.device.type == device
    assert float(found) == pytest.approx(float(value), rel=tolerance, abs=tolerance)
    for ours, theirs in zip(there, gradient):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            scale = float(np.abs(theirs).max())
            np.testing.assert_allclose(ours.cpu().numpy(), theirs, rtol=0, atol=10 * tolerance * scale)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "relevance",
    [
        Matrix(ridge=0.1, rank=2, log_determinant=0.2),
        Matrix(local="class", **GROUPED),
        Matrix(local="class", ridge=0.1, shrinkage=0.2),
        Weights(local="class"),
        Weights(local="class", ridge=0.1, **GROUPED),
        Scale(ridge=0.1),
    ],
    ids=repr,
)
def test_constraints_and_penalties_on_tensors(relevance, device):
    W, R, X, y, weight = draw(3, relevance, np.float64)
    normalised = weight / weight.sum()
    problem = Problem(
        objective_on(relevance, "gaussian", COSTS["logm"], np.float64), relevance, unit=2.5, scale=DataScale(1.7, 40)
    )
    moved = Problem(
        objective_on(relevance, "gaussian", COSTS["logm"], np.float64, device),
        relevance,
        unit=2.5,
        scale=DataScale(1.7, 40),
    )
    free = Params(W, R, 0.4)
    value, gradient = problem.value_and_gradient(free, ArraySamples(X, y, normalised))
    found, other = moved.value_and_gradient(
        Params(tensor(W, device), tensor(R, device), torch.tensor(0.4, dtype=torch.float64, device=device)),
        ArraySamples(tensor(X, device), tensor(y, device), tensor(normalised, device)),
    )
    assert float(found) == pytest.approx(float(value), rel=1e-12)
    for ours, theirs in zip(other, gradient):
        np.testing.assert_allclose(ours.cpu().numpy(), theirs, rtol=1e-10, atol=1e-12)
