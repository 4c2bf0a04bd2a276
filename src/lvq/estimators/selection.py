"""Which candidate of a search to take: the best one, or one that is as good within the error of the scores."""

from typing import NamedTuple

import numpy as np

STANDARD_ERRORS = 0.25  # by which a candidate may be behind the best one; with a whole one the accuracy is lower


class Scores(NamedTuple):
    """Scores of candidates on the same validation samples.

    Parameters
    ----------
    table : ndarray of shape (n_candidates, n_units)
        Score of each candidate on each unit: a validation sample, or a whole fold where only its score is known.
    weight : ndarray of shape (n_units,)
        Weights of the units.
    fold : ndarray of shape (n_units,)
        The fold of each unit.
    test_ratio : float
        Mean number of validation samples of a fold for each of its training samples.
    """

    table: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    test_ratio: float

    def means(self) -> np.ndarray:
        """Weighted mean score of each candidate."""
        return self.table @ self.weight / self.weight.sum()

    def deviations(self) -> np.ndarray:
        """Standard deviation over the folds of each candidate's mean score; folds without weight do not count."""
        total = np.bincount(self.fold, self.weight)
        sums = np.stack([np.bincount(self.fold, self.weight * row) for row in self.table])
        return (sums[:, total > 0] / total[total > 0]).std(axis=1)

    def standard_errors(self, reference: int) -> np.ndarray:
        """Standard error of the mean difference of each candidate to a reference; NaN for a single unit.

        Differences on the same units vary less than scores. Training sets of folds overlap, so their models and their
        scores are correlated: the variance of a mean over K folds grows by the factor 1 + K n_test/n_train (Nadeau and
        Bengio 2003).
        """
        fraction = self.weight / self.weight.sum()
        concentration = float(fraction @ fraction)  # one over the number of units where their weights are equal
        n_folds = len(np.unique(self.fold))
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = self.table - self.table[reference]
            variance = (difference - (difference @ fraction)[:, None]) ** 2 @ fraction / (1 - concentration)
            return np.sqrt(variance * concentration * (1 + n_folds * self.test_ratio))


def choose(scores: Scores, allowed: float = STANDARD_ERRORS) -> int:
    """The first candidate that is behind the best one by at most `allowed` standard errors of their difference.

    Candidates are in the order of preference, so that a choice that the scores do not support falls on the preferred
    one. With a single unit there is no error to measure, and the best one is taken.

    Parameters
    ----------
    scores : Scores
        Scores of the candidates, the preferred one first.
    allowed : float
        Number of standard errors.

    Returns
    -------
    index : int
        The candidate to take.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[-1.0, -0.9, -1.3, -0.8], [-1.1, -0.7, -1.2, -0.9], [-0.1, -0.2, -0.1, -0.2]])
    >>> choose(Scores(table[:2], np.ones(4), np.array([0, 0, 1, 1]), 1.0))
    0
    >>> choose(Scores(table, np.ones(4), np.array([0, 0, 1, 1]), 1.0))
    2
    """
    mean = scores.means()
    mean[np.isnan(mean)] = -np.inf  # a scorer may return NaN
    best = int(mean.argmax())
    if not np.isfinite(mean[best]):
        return best
    behind, error = mean[best] - mean, scores.standard_errors(best)
    return int(np.argmax((behind <= allowed * error) | (behind <= 0)))
