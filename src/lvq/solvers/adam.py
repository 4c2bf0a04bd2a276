"""Adam on mini-batches of the objective, for large data; NumPy or torch, CPU or GPU.

On a GPU all arrays stay there; only one number per epoch is copied to the host, the mean cost.
"""

from dataclasses import dataclass

import numpy as np

from lvq.model.links import Part
from lvq.model.objective import Params, Problem
from lvq.model.rows import is_tensor, like, namespace
from lvq.model.samples import ArraySamples
from lvq.solvers.state import Report, Result, not_finite, silent
from lvq.typing import Array

#: Distances add up over the features, so a step of a given length is a smaller one in each of many features: rates are
#: for up to so many features, and fall with the root of their number beyond.
FULL_RATE_FEATURES = 16
DECAYS = (0.9, 0.999)  # of the running means of the gradient and of its square, as in Kingma and Ba
EPSILON = 1e-8
FIRST_SAMPLES, FIRST_EPOCHS = 400_000, (10, 20)  # before L-BFGS: samples of all epochs, and limits of their number,
FIRST_RATE, FIRST_BATCHES, FIRST_SIZES = 0.01, 64, (64, 512)  # their first rate, batches of an epoch, and their sizes
GPU_BATCHES, GPU_EPOCHS = 16, 20  # of tensors: on a GPU a step takes a millisecond up to some 10,000 samples


@dataclass(frozen=True)
class Adam(Part):
    """Adam on mini-batches.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Rate at the start.
    batch_size : int, default=256
        Samples in one step.
    schedule : {"linear", "constant"}, default="linear"
        Rates fall to 0 over all epochs, or stay constant.
    device : str, optional
        Where to compute, as in `LBFGS`.
    """

    learning_rate: float = 0.1
    batch_size: int = 256
    schedule: str = "linear"
    device: str | None = None


def train(
    problem: Problem,
    params: Params,
    samples: ArraySamples,
    max_iter: int,
    settings: Adam,
    random_state: np.random.RandomState,
    report: Report = silent,
) -> Result:
    """Run `max_iter` epochs.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    params : Params
        Where to start.
    samples : ArraySamples
        Samples, class by class, with weights of sum one.
    max_iter : int
        Epochs.
    settings : Adam
        Rates and batch size.
    random_state : RandomState
        For the order of the samples.
    report : callable
        Called with the number of epochs done and the objective.
    """
    free = problem.free(params)
    means = RunningMeans()
    batches = -(-samples.n_samples // settings.batch_size)
    history: list[float] = []
    while len(history) < max_iter:
        order = _permutation(samples.X, random_state)
        total: Array = 0.0
        for batch in range(batches):
            done = len(history) + batch / batches
            rate = settings.learning_rate * (1 - done / max_iter if settings.schedule == "linear" else 1)
            part = _take(samples, order[batch::batches], free.prototypes)
            value, gradient = problem.value_and_gradient(free, part)
            free = means.step(free, gradient, rate)
            total = total + value
        history.append(float(total) / batches)
        if not np.isfinite(history[-1]):
            raise not_finite(free.prototypes.dtype)
        report(len(history), history[-1])
    return Result(problem.params(free), len(history), history)


def first_epochs(
    problem: Problem, params: Params, samples: ArraySamples, max_iter: int, report: Report = silent
) -> Result:
    """Some epochs that come before another solver, whose steps are rough.

    The order of the samples is the same in every call, so the result is a function of the data.
    """
    if not is_tensor(samples.X):
        batch = int(np.clip(samples.n_samples // FIRST_BATCHES, *FIRST_SIZES))
        epochs = int(np.clip(FIRST_SAMPLES // samples.n_samples, *FIRST_EPOCHS))
    else:
        batch, epochs = -(-samples.n_samples // GPU_BATCHES), GPU_EPOCHS
    settings = Adam(learning_rate=FIRST_RATE, batch_size=batch)
    return train(problem, params, samples, min(epochs, max_iter), settings, np.random.RandomState(0), report)


class RunningMeans:
    """Running means of the gradient and of its square, for each part of the parameters."""

    def __init__(self) -> None:
        self.first: list[Array] = [0.0] * len(Params._fields)
        self.second: list[Array] = [0.0] * len(Params._fields)
        self.steps = 0

    def step(self, free: Params, gradient: Params, rate: float) -> Params:
        """Parameters after one step."""
        self.steps += 1
        slow, slower = DECAYS
        correction = rate * (1 - slower**self.steps) ** 0.5 / (1 - slow**self.steps)
        moved: list[Array | None] = []
        for k, (part, slope) in enumerate(zip(free, gradient)):
            if part is None:
                moved.append(None)
                continue
            self.first[k] = slow * self.first[k] + (1 - slow) * slope
            self.second[k] = slower * self.second[k] + (1 - slower) * slope * slope
            moved.append(part - correction * _scale(part) * (self.first[k] / (self.second[k] ** 0.5 + EPSILON)))
        return Params(*moved)


def _scale(part: Array) -> float:
    """Factor of the rate of a part of the parameters."""
    shape = np.shape(part)
    return min(1.0, (FULL_RATE_FEATURES / shape[-1]) ** 0.5) if shape else 1.0


def _take(samples: ArraySamples, rows: Array, prototypes: Array) -> ArraySamples:
    """Some samples in the prototypes' type, with weights scaled to make their weighted sum estimate the whole mean."""
    X, y, weight = samples.take(np.sort(rows) if isinstance(rows, np.ndarray) else rows)  # memory is read in order
    return ArraySamples(like(X, prototypes), y, like(weight * (samples.n_samples / rows.shape[0]), prototypes))


def _permutation(X: Array, random_state: np.random.RandomState) -> Array:
    xp = namespace(X)
    if xp is np:
        return random_state.permutation(X.shape[0])
    generator = xp.Generator(device=X.device)
    generator.manual_seed(int(random_state.randint(2**31)))
    return xp.randperm(X.shape[0], generator=generator, device=X.device)
