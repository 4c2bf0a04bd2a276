"""The number of prototypes of each class, chosen by samples that are left out of short fits.

All classes begin with one prototype. In each round every class that still gains gets another one; it keeps it if its
own samples then have a smaller log-loss, and if the log-loss of all samples falls by more than chance. At the end
prototypes that do not pay are removed again.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from lvq.estimators.calibration import (
    N_FOLDS,
    SMALLEST_LOGARITHM,
    fold_numbers,
    left_out_logarithms,
    sampled_rows,
)
from lvq.estimators.parts import Parts
from lvq.estimators.selection import Scores
from lvq.model.arrays import as_numpy
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import take_rows
from lvq.model.starts import canonical_order
from lvq.model.temperature import fitted_temperature

if TYPE_CHECKING:
    from lvq.estimators.base import BaseLVQ

MOST = 6  # prototypes of a class
# A gain is a fall of the mean log-loss by more than so many of its standard errors (as in the search) and this number
STANDARD_ERRORS, MIN_GAIN = 0.25, 0.002
DISTINCT = 2 * N_FOLDS  # distinct samples of a class for each of its prototypes
MAX_REMOVALS = 8  # classes of which one prototype less is tried


def chosen_counts(estimator: "BaseLVQ", parts: Parts, samples: ArraySamples, classes: np.ndarray) -> np.ndarray:
    """Number of prototypes of each class.

    Parameters
    ----------
    estimator, parts, samples, classes
        As those of `lvq.estimators.calibration.cross_fitted_temperature`.

    Returns
    -------
    counts : ndarray of int of shape (n_classes,)
        Between 1 and 6, and at most one for 6 distinct samples; all ones if a class has fewer than 6.
    """
    trial = Trial.of(estimator, parts, samples, classes)
    counts = np.ones(len(classes), dtype=int)
    if trial is None:
        return counts
    best = trial.losses(counts)
    growing = trial.most > 1
    gains = np.full(len(classes), -np.inf)
    while growing.any():
        one_more = trial.losses(counts + growing)
        gain = trial.by_class(best - one_more)
        kept = growing & (gain > 0)
        if kept.any() and (kept < growing).any():
            one_more = trial.losses(counts + kept)
        if not kept.any() or not trial.is_gain(best, one_more):
            break
        counts, best = counts + kept, one_more
        gains[kept] = gain[kept]
        growing = kept & (counts < trial.most)
    return _without_needless(trial, counts, best, gains)


def _without_needless(trial: "Trial", counts: np.ndarray, best: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Take back the last prototype of classes that gained least, where the log-loss does not rise beyond chance."""
    several = np.flatnonzero(counts > 1)
    for label in several[np.argsort(gains[several], kind="stable")][:MAX_REMOVALS]:
        fewer = counts - (np.arange(len(counts)) == label)
        losses = trial.losses(fewer)
        if not trial.is_gain(losses, best):
            counts, best = fewer, losses
    return counts


class Trial(NamedTuple):
    """Short fits with given numbers of prototypes, judged on the samples that each was not fitted to."""

    estimator: "BaseLVQ"
    parts: Parts
    block: Block
    fold: np.ndarray
    classes: np.ndarray
    most: np.ndarray  # prototypes of each class

    @classmethod
    def of(cls, estimator: "BaseLVQ", parts: Parts, samples: ArraySamples, classes: np.ndarray) -> "Trial | None":
        """A trial; None where the samples are too few for one."""
        block = sampled_rows(samples)
        y = as_numpy(block.y)
        fold = fold_numbers(block.X, y, np.full(len(classes), DISTINCT))
        if (fold < 0).any() or len(np.unique(y)) < len(classes):
            return None
        rows = [np.flatnonzero(y == label) for label in range(len(classes))]
        distinct = np.array([len(canonical_order(take_rows(block.X, part))[1]) for part in rows])
        return cls(estimator, parts, block, fold, classes, np.clip(distinct // DISTINCT, 1, MOST))

    def losses(self, counts: np.ndarray) -> np.ndarray:
        """Calibrated log-loss of each sample with these numbers of prototypes."""
        y, weight = as_numpy(self.block.y), as_numpy(self.block.weight)
        numbers = dict(zip(self.classes.tolist(), counts.tolist()))
        model = clone(self.estimator).set_params(n_prototypes=numbers)
        table = left_out_logarithms(model, self.parts, self.block, self.fold, self.classes)
        table = log_softmax(table / fitted_temperature(table, y, weight), axis=1)
        return -np.maximum(table[np.arange(len(y)), y], SMALLEST_LOGARITHM)

    def by_class(self, values: np.ndarray) -> np.ndarray:
        """Weighted sum of values over the samples of each class."""
        return np.bincount(as_numpy(self.block.y), as_numpy(self.block.weight) * values, len(self.classes))

    def is_gain(self, before: np.ndarray, after: np.ndarray) -> bool:
        """Whether log-losses fell by more than chance."""
        ratio = 1 / (N_FOLDS - 1)
        scores = Scores(-np.stack([before, after]), as_numpy(self.block.weight), self.fold, ratio)
        old, new = scores.means()
        return bool(new - old > max(STANDARD_ERRORS * scores.standard_errors(1)[0], MIN_GAIN))
