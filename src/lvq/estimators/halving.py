"""Successive halving: short fits of all candidates in some folds, longer ones of the best candidates in all folds.

The rule knows nothing of the candidates but their scores.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import log_softmax

from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.selection import Scores
from lvq.estimators.short_fits import Fold, Scorer, ShortFit, begin
from lvq.model.temperature import fitted_temperature
from lvq.solvers.threads import single_threaded_products

MIN_LOG_LIKELIHOOD = np.log(1e-6)  # of a sample, so that one cannot outweigh all others
KEPT_FRACTION, MIN_KEPT = 1 / 3, 3  # of the candidates after each round but the last


class Round(NamedTuple):
    """Iterations that each fit has had at the end of a round, and the fraction of the folds that take part."""

    iterations: int
    folds: float


# 10 iterations show which candidates are poor, and 30 which one is the best; 5 favour the simple ones
ROUNDS = (Round(10, 0.4), Round(20, 0.6), Round(30, 1.0))


def rounds_for(n_candidates: int) -> list[tuple[Round, int]]:
    """The rounds for a number of candidates, each with the number of candidates that are kept after it.

    A round after which all would be kept is left out, except the last.

    Examples
    --------
    >>> [(part.iterations, kept) for part, kept in rounds_for(9)]
    [(10, 3), (30, 3)]
    >>> [(part.iterations, kept) for part, kept in rounds_for(30)]
    [(10, 10), (20, 4), (30, 4)]
    """
    plan, left = list[tuple[Round, int]](), n_candidates
    for part in ROUNDS[:-1]:
        kept = max(MIN_KEPT, int(np.ceil(KEPT_FRACTION * left)))
        if kept < left:
            plan.append((part, kept))
            left = kept
    return [*plan, (ROUNDS[-1], left)]


class Outcome(NamedTuple):
    """What successive halving returns.

    `finalists` are the candidates of the last round, in the order in which they were given, and `scores` and
    `temperatures` their scores and the temperatures of their probabilities.
    `table` has one entry for each candidate, of the last round it took part in: its "mean_test_score", its
    "std_test_score" over the folds, the iterations of its fits, "n_iter", and the number of folds, "n_folds".
    """

    finalists: list[int]
    scores: Scores
    table: dict[str, np.ndarray]
    temperatures: list[float]


def successive_halving(
    candidates: Sequence[LVQClassifier], folds: Sequence[Fold], scorer: Scorer | None, parallel: Parallel
) -> Outcome:
    """Compare candidates round by round.

    Parameters
    ----------
    candidates : sequence of LVQClassifier
        Not fitted.
    folds : sequence of Fold
        The folds.
    scorer : callable, optional
        A scorer of scikit-learn; None is the log-likelihood of each validation sample, at the temperature with which
        the probabilities of all validation samples have the smallest log-loss.
    parallel : joblib.Parallel
        Runs the fits, in threads.
    """
    fits = Fits(candidates, folds, parallel)
    left, numbers = list(range(len(candidates))), np.zeros((4, len(candidates)))
    for part, kept in rounds_for(len(candidates)):
        n_folds = max(1, round(part.folds * len(folds)))
        with single_threaded_products():  # the fits are what runs in parallel
            scores = fits.scores(left, n_folds, part.iterations, scorer)
        means = scores.means()
        numbers[:, left] = means, scores.deviations(), fits.iterations(left), np.full(len(left), n_folds)
        best = np.sort(np.argsort(-means, kind="stable")[:kept])
        left = [left[index] for index in best]
        fits.keep(left)
    table = dict(zip(("mean_test_score", "std_test_score", "n_iter", "n_folds"), numbers))
    table |= {name: table[name].astype(int) for name in ("n_iter", "n_folds")}
    return Outcome(left, scores._replace(table=scores.table[best]), table, fits.temperatures(left))


class Fits:
    """The fits of candidates in folds, by their numbers; begun when they are first needed."""

    def __init__(self, candidates: Sequence[LVQClassifier], folds: Sequence[Fold], parallel: Parallel) -> None:
        self.candidates, self.folds, self.parallel = candidates, folds, parallel
        self.classes, self.y = np.unique(folds[0].labels, return_inverse=True)
        self.begun: dict[tuple[int, int], ShortFit] = {}

    def scores(self, left: Sequence[int], n_folds: int, iterations: int, scorer: Scorer | None) -> Scores:
        """Scores of some candidates in the first folds, after so many iterations."""
        self._begin(left, n_folds)
        pairs = list(product(left, range(n_folds)))
        advanced = self.parallel(delayed(_advance)(self.begun[pair], iterations) for pair in pairs)
        self.begun |= dict(zip(pairs, advanced))  # in other processes a copy was advanced
        used = self.folds[:n_folds]
        if scorer is None:
            table, weight = self._log_likelihoods(left, n_folds), [fold.weight[fold.test] for fold in used]
        else:
            units = self.parallel(delayed(self.begun[pair].score)(scorer) for pair in pairs)
            table, weight = np.reshape(units, (len(left), n_folds)), [np.ones(1)] * n_folds
        number = np.repeat(np.arange(n_folds), [len(part) for part in weight])
        test_ratio = float(np.mean([len(fold.test) / len(fold.train) for fold in used]))
        return Scores(table, np.concatenate(weight).astype(np.float64), number, test_ratio)

    def temperatures(self, left: Sequence[int]) -> list[float]:
        """Temperature of the probabilities of some candidates, from the validation samples of all folds."""
        test, tables = self._test(len(self.folds)), self._log_probabilities(left, len(self.folds))
        return [self._temperature(candidate, table, test) for candidate, table in zip(left, tables)]

    def _log_likelihoods(self, left: Sequence[int], n_folds: int) -> np.ndarray:
        """Log-likelihood of each validation sample, at the temperature of each candidate."""
        rows, test = list[np.ndarray](), self._test(n_folds)
        for candidate, table in zip(left, self._log_probabilities(left, n_folds)):
            sharp = log_softmax(table / self._temperature(candidate, table, test), axis=1)
            rows.append(np.maximum(sharp[np.arange(len(test)), self.y[test]], MIN_LOG_LIKELIHOOD))
        return np.stack(rows)

    def _log_probabilities(self, left: Sequence[int], n_folds: int) -> list[np.ndarray]:
        """Logarithms of the probabilities of all validation samples, for each candidate."""
        pairs = product(left, range(n_folds))
        parts = self.parallel(delayed(self.begun[pair].log_probabilities)(self.classes) for pair in pairs)
        return [np.concatenate(parts[start : start + n_folds]) for start in range(0, len(parts), n_folds)]

    def _temperature(self, candidate: int, table: np.ndarray, test: np.ndarray) -> float:
        """One where a candidate is not calibrated; samples of classes that were not trained on do not count."""
        y, weight = self.y[test], self.folds[0].weight[test]
        known = np.isfinite(table[np.arange(len(y)), y]) & (weight > 0)
        if self.candidates[candidate].calibration is None or not known.any():
            return 1.0
        return fitted_temperature(table[known], y[known], weight[known])

    def _test(self, n_folds: int) -> np.ndarray:
        """Rows of the validation samples of the first folds."""
        return np.concatenate([fold.test for fold in self.folds[:n_folds]])

    def iterations(self, left: Sequence[int]) -> list[int]:
        """Iterations that the fits of some candidates may have had."""
        return [self.begun[candidate, 0].iterations for candidate in left]

    def keep(self, left: Sequence[int]) -> None:
        """Forget the fits of all other candidates."""
        self.begun = {pair: fit for pair, fit in self.begun.items() if pair[0] in left}

    def _begin(self, left: Sequence[int], n_folds: int) -> None:
        missing = [[candidate for candidate in left if (candidate, fold) not in self.begun] for fold in range(n_folds)]
        started = self.parallel(
            delayed(begin)([self.candidates[candidate] for candidate in numbers], self.folds[fold])
            for fold, numbers in enumerate(missing)
        )
        for fold, numbers in enumerate(missing):
            self.begun |= {(candidate, fold): fit for candidate, fit in zip(numbers, started[fold])}


def _advance(fit: ShortFit, iterations: int) -> ShortFit:
    fit.advance(iterations)
    return fit
