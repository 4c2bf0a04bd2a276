"""The same function on torch tensors: equal to that of NumPy arrays."""

from itertools import product

import numpy as np
import pytest

from lvq.model.links import KERNELS, Identity
from lvq.model.objective import Objective, Params
from lvq.model.samples import ArraySamples
from tests.model.formulas import value_and_gradient
from tests.model.test_gradients import LABELS, Case, costs, relevances

torch = pytest.importorskip("torch")

FEATURES = 4
WIDTH = 1.3
COSTS = costs()
LINKS = ["identity", *KERNELS]
METRICS = relevances()
WITHOUT_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
DEVICES = ["cpu", pytest.param("cuda", marks=WITHOUT_CUDA)]


def combinations():
    """Every pair of a cost and a metric with a link in turn; every third of them, the others are slow."""
    for number, (cost, metric) in enumerate(product(COSTS, METRICS)):
        step = number + number // len(METRICS)
        marks = pytest.mark.slow if step % 3 else ()
        yield pytest.param(cost, METRICS[metric], LINKS[step // 3 % len(LINKS)], id=f"{cost}-{metric}", marks=marks)


def draw(relevance, dtype):
    """Parameters, and samples whose nearest prototypes of both kinds are clear in float32 too."""
    case = Case(0, relevance, count=40, n_features=FEATURES)
    W, R, X, weight = (None if part is None else part.astype(dtype) for part in (*case.params[:2], case.X, case.weight))
    return W, R, X, case.y, weight


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
    W, R, X, y, weight = draw(relevance, dtype)
    width, arrays = None if link == "identity" else 1.7, objective_on(relevance, link, COSTS[cost], dtype)
    value, gradient = value_and_gradient(arrays, Params(W, R, width), X, y, weight)
    params, data = Params(tensor(W, device), tensor(R, device), width), (tensor(p, device) for p in (X, y, weight))
    found, there = value_and_gradient(objective_on(relevance, link, COSTS[cost], dtype, device), params, *data)
    assert there.prototypes.dtype == tensor(W).dtype
    assert there.prototypes.device.type == device
    assert float(found) == pytest.approx(float(value), rel=tolerance, abs=tolerance)
    for ours, theirs in zip(there, gradient):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            scale = float(np.abs(theirs).max())
            np.testing.assert_allclose(ours.cpu().numpy(), theirs, rtol=0, atol=10 * tolerance * scale)
