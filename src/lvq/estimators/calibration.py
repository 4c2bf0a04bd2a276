"""The temperature of a classifier's probabilities, from short fits in folds.

Each sample is predicted by a model that was not fitted to it. These models begin anew: a continued fit would remember
the samples that are left out. A few iterations are enough, as further ones change the sharpness little.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import RandomState

from lvq.estimators import training as steps
from lvq.estimators.parts import Parts
from lvq.model.arrays import as_numpy
from lvq.model.incomplete_samples import samples_of
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import take_rows
from lvq.model.starts import canonical_order
from lvq.model.temperature import fitted_temperature
from lvq.solvers.progress import silent
from lvq.typing import Array

if TYPE_CHECKING:
    from lvq.estimators.base import BaseLVQ

N_FOLDS, ITERATIONS = 3, 12
MIN_SAMPLES = 50  # with fewer the temperature is little more than chance
MAX_SAMPLES = 20_000  # of more samples so many are drawn
SMALLEST_LOGARITHM = np.log(1e-6)  # of a probability, so that one sample cannot outweigh all others


def cross_fitted_temperature(estimator: "BaseLVQ", parts: Parts, samples: ArraySamples, classes: np.ndarray) -> float:
    """Temperature with the smallest log-loss of samples that were left out of a fit.

    Parameters
    ----------
    estimator : BaseLVQ
        The estimator; it is not changed.
    parts : Parts
        Its parts.
    samples : ArraySamples
        Training samples.
    classes : ndarray of shape (n_classes,)
        Their classes.

    Returns
    -------
    temperature : float
        One where fewer than 50 samples, or one class, can be used: a class needs more than twice as many distinct
        samples as prototypes.
    """
    block = sampled_rows(samples)
    y, weight = as_numpy(block.y), as_numpy(block.weight)
    fold = fold_numbers(block.X, y, 2 * estimator._counts(classes) + 2)
    used = np.flatnonzero(fold >= 0)
    if len(used) < MIN_SAMPLES or len(np.unique(y[used])) < 2:
        return 1.0
    table = left_out_logarithms(estimator, parts, block, fold, classes)
    return fitted_temperature(table[used], y[used], weight[used])


def left_out_logarithms(
    estimator: "BaseLVQ", parts: Parts, block: Block, fold: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Logarithms of the probabilities of each sample, by a short fit to the other folds; NaN for those of fold -1."""
    table = np.full((len(fold), len(classes)), np.nan)
    for number in range(N_FOLDS):
        model = short_fit(estimator, parts, block, np.flatnonzero((fold >= 0) & (fold != number)), classes)
        rows = np.flatnonzero(fold == number)
        table[rows] = log_probabilities(model, take_rows(block.X, rows))
    return table


def fold_numbers(X: Array, y: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Number of each sample's fold; -1 for those of a class with fewer distinct samples than `least` of it.

    The samples of a class are dealt in their order, except that copies follow each other: at least half of the distinct
    samples of a class are then in every two folds.

    Examples
    --------
    >>> import numpy as np
    >>> fold_numbers(np.array([[3.0], [1.0], [2.0], [1.0]]), np.array([0, 0, 0, 1]), np.array([3, 3])).tolist()
    [0, 1, 2, -1]
    """
    fold = np.full(len(y), -1)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        order, distinct = canonical_order(take_rows(X, rows))
        order = as_numpy(order)
        if len(distinct) >= least[label]:
            first = np.repeat(order[distinct], np.diff(distinct, append=len(rows)))  # the sample, or its first copy
            fold[rows[order[np.argsort(first, kind="stable")]]] = np.arange(len(rows)) % N_FOLDS
    return fold


def log_probabilities(model: PrototypeModel, X: Array) -> np.ndarray:
    """Logarithms of the probabilities of samples."""
    table = model.over_blocks(lambda distances: model.probabilities(as_numpy(distances)), X)
    return np.log(np.maximum(table.astype(np.float64), np.finfo(np.float64).tiny))


def sampled_rows(samples: ArraySamples) -> Block:
    """The samples, or some of many; NaN where values are missing."""
    return samples.with_nan().sample(MAX_SAMPLES, RandomState(0))


def short_fit(
    estimator: "BaseLVQ", parts: Parts, block: Block, rows: np.ndarray, classes: np.ndarray
) -> PrototypeModel:
    """A model of some samples, after few iterations."""
    iterations = min(ITERATIONS, estimator.max_iter)
    online, batch = replace(parts.online, max_iter=iterations), replace(parts.batch, max_iter=iterations)
    parts = replace(parts, online=online, batch=batch, max_runs=1)
    samples = samples_of(take_rows(block.X, rows), block.y[rows], block.weight[rows])
    training = estimator._begin(parts, samples, classes, RandomState(0))
    return steps.fitted_model(steps.run(parts, training, samples, silent)[0], parts, classes, None, None)
