"""Cross-fitting: one or several candidates judged by samples that are left out of short fits.

Calibration has one candidate, the choice of a form or of the number of prototypes a few, and `LVQClassifierCV` a table.
Each sample is predicted by a model that was not fitted to it. These models begin anew: a continued fit would remember
the samples that are left out. A few iterations are enough, as further ones change the ranking and the sharpness little.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators import training as steps
from lvq.estimators.specification import Parts
from lvq.model.rows import as_numpy, canonical_order, dense
from lvq.model.samples import ArraySamples, rows_by_class
from lvq.model.scores import fitted_temperature
from lvq.solvers.state import silent
from lvq.typing import Array, Fold

if TYPE_CHECKING:
    from lvq.estimators.base import BaseLVQ

N_FOLDS, SHORT_ITERATIONS = 5, 30  # 3 folds of 12 iterations choose forms that are 0.4 points less accurate
MIN_SAMPLES = 50  # with fewer a temperature is little more than chance
MAX_SAMPLES, MOST_OF_CLASS = 2_000, 20  # most samples used: this many in all, or this many for each class
SORTED_BY = 32  # features by which samples are sorted: folds do not depend on their order
LEAST_LIKELIHOOD = np.log(1e-6)  # of a probability: one sample cannot outweigh all others
STANDARD_ERRORS = 0.1  # how far a candidate may be behind the best; a whole one costs 0.5 points, none 0.1
BEHIND = 1.0  # a candidate more standard errors behind the best after some folds is left out of the others
NUMBERS = (1, 2, 3, 5, 10, 20)  # of prototypes of a class that n_prototypes="auto" chooses from


class Candidate(NamedTuple):
    """An estimator that is not fitted, and its parts."""

    estimator: "BaseLVQ"
    parts: Parts


class Choice(NamedTuple):
    """The place of the best candidate, the temperature of its probabilities, and mean log-likelihoods of all."""

    place: int
    temperature: float
    scores: np.ndarray


class Folds(NamedTuple):
    """Samples, rows to train on and rows that are left out, for each fold, and the classes."""

    samples: ArraySamples
    pairs: list[Fold]
    classes: np.ndarray

    @property
    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """Class indices and weights of the rows that are left out, fold by fold."""
        rows = np.concatenate([test for _, test in self.pairs])
        return as_numpy(self.samples.y)[rows], as_numpy(self.samples.weight)[rows].astype(float)

    @property
    def inflation(self) -> float:
        """Factor of the variance of a mean over the rows that are left out, as training sets of folds overlap.

        It is 1 + K n_test/n_train for K folds (Nadeau and Bengio 2003).
        """
        return 1 + float(np.sum([len(test) / len(train) for train, test in self.pairs]))

    def narrow(self) -> "Folds":
        """Sparse samples without features that are all 0: there plain prototypes are 0 and stay so."""
        X = self.samples.X[:, np.unique(self.samples.X.indices)]
        return self._replace(samples=ArraySamples(X, self.samples.y, self.samples.weight))


def cross_fit(candidates: Sequence[Candidate], folds: Folds, n_jobs: int | None = None) -> Choice:
    """The best of the candidates by the log-likelihood of samples that are left out of short fits, fold by fold.

    Candidates are in the order of preference: the first one within `STANDARD_ERRORS` of the best is chosen. A candidate
    that is `BEHIND` after some folds is left out of the others. Its score is the score of the chosen one plus their
    difference so far.
    """
    tables: list[list[np.ndarray]] = [[] for _ in candidates]
    kept, (y, weight) = list(range(len(candidates))), folds.known

    def judged(place: int) -> tuple[np.ndarray, float]:
        table = np.concatenate(tables[place])
        return log_likelihoods(table, y[: len(table)], weight[: len(table)])

    for done, pair in enumerate(folds.pairs, start=1):
        fits = (delayed(short_fit)(candidates[place], folds, pair) for place in kept)
        for place, table in zip(kept, Parallel(n_jobs=n_jobs, prefer="threads")(fits)):
            tables[place].append(table)
        likely = np.stack([judged(place)[0] for place in kept])
        allowed = BEHIND if done < len(folds.pairs) else STANDARD_ERRORS
        inflation = folds._replace(pairs=folds.pairs[:done]).inflation
        close = close_to_best(likely, weight[: likely.shape[1]], inflation, allowed)
        kept = [place for place, is_close in zip(kept, close) if is_close]
    best = kept[0]
    reference, temperature = judged(best)
    found = [judged(place)[0] for place in range(len(candidates))]
    behind = [np.average(one - reference[: len(one)], weights=weight[: len(one)]) for one in found]
    return Choice(best, temperature, np.average(reference, weights=weight) + np.array(behind))


def short_fit(candidate: Candidate, folds: Folds, pair: Fold) -> np.ndarray:
    """Log-probabilities of the rows that are left out of a fit of few iterations."""
    train, test = pair
    parts = replace(candidate.parts, max_runs=1, max_iter=min(SHORT_ITERATIONS, candidate.parts.max_iter))
    samples = ArraySamples(*folds.samples.take(train))
    with warnings.catch_warnings():  # about classes with few samples in a fold
        warnings.simplefilter("ignore", UserWarning)
        training = candidate.estimator._begin(parts, samples, folds.classes, RandomState(0))
    model = steps.fitted_model(steps.run(parts, training, samples, silent)[0], parts, folds.classes, None, None)
    table = model.over_blocks(model.probabilities, folds.samples.X[test])
    table = np.log(np.maximum(table.astype(np.float64), np.finfo(np.float64).tiny))
    table[:, np.setdiff1d(np.arange(len(folds.classes)), model.labels)] = -np.inf  # no sample to train on
    return table


# -- folds -------------------------------------------------------------------------------------------------------------


def choice_rows(n_samples: int, n_classes: int) -> int:
    """Number of samples that a choice uses."""
    return min(n_samples, max(MAX_SAMPLES, MOST_OF_CLASS * n_classes))


def make_folds(samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None = None) -> Folds | None:
    """Five folds of the samples, or of a part if there are many; fewer folds for few samples, None for too few.

    Classes with fewer distinct samples than folds are not used. With groups, no group is in two folds. Neither the
    order of the samples, unless some are drawn, nor the unit of the features matters.
    """
    most = choice_rows(samples.n_samples, len(classes))
    if not samples.in_memory:
        if groups is not None:
            raise ValueError("groups need samples in memory, got a dask collection. Give X.compute() if it fits.")
        samples = ArraySamples(*samples.sample(most, RandomState(0)))
    rows = np.arange(samples.n_samples)
    if len(rows) > most:
        rows = np.sort(RandomState(0).choice(rows, most, replace=False))
        samples = ArraySamples(*samples.take(rows))
    order = _canonical_rows(samples.X, as_numpy(samples.y))
    samples, rows = ArraySamples(*samples.take(order)), rows[order]
    y = as_numpy(samples.y)
    number = fold_numbers(samples.X, y) if groups is None else _group_numbers(y, groups[rows])
    used = number >= 0
    if used.sum() < MIN_SAMPLES or len(np.unique(y[used])) < 2:
        return None
    return Folds(samples, fold_pairs(number), classes)


def fold_pairs(number: np.ndarray) -> list[Fold]:
    """Rows to train on and rows that are left out, for each fold that has some, from the number of each row's fold."""
    used = number >= 0
    return [(np.flatnonzero(used & (number != k)), np.flatnonzero(number == k)) for k in np.unique(number[used])]


def _canonical_rows(X: Array, y: np.ndarray) -> np.ndarray:
    """The rows class by class, in an order that depends neither on their given order nor on the unit of X.

    Rows with the same first numbers are sorted by their bytes, which are quicker to compare.
    """
    rank = np.empty(len(y), dtype=int)
    rank[canonical_order(X)[0]] = np.arange(len(y))
    numbers = dense(X[:, :SORTED_BY])
    return np.lexsort((rank, *as_numpy(numbers).T[::-1], y))


def fold_numbers(X: Array, y: np.ndarray, n_folds: int = N_FOLDS) -> np.ndarray:
    """Number of each sample's fold; -1 for samples of a class with fewer distinct samples than folds.

    There are `n_folds`, or fewer if half of the distinct samples are in smaller classes, and at least two. The distinct
    samples of a class are dealt at random. Copies follow each other, to be in different folds: where features have few
    values, new samples are mostly copies of known ones too.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[3.0], [1.0], [2.0], [4.0], [5.0], [1.0]]), np.array([0, 0, 0, 0, 0, 1])
    >>> sorted(fold_numbers(X, y).tolist())
    [-1, 0, 1, 2, 3, 4]
    """
    fold, random = np.full(len(y), -1), RandomState(0)
    by_class = rows_by_class(y, int(y.max()) + 1)
    orders = [canonical_order(X[rows]) for rows in by_class]
    sizes = [len(distinct) for _, distinct in orders]
    n_folds = int(np.clip(np.median(np.repeat(sizes, sizes)), 2, n_folds))
    for rows, (order, distinct) in zip(by_class, orders):
        if len(distinct) >= n_folds:
            place = random.permutation(len(distinct))[np.argsort(np.argsort(order[distinct]))]
            place = np.repeat(place, np.diff(distinct, append=len(rows)))
            fold[rows[order[np.argsort(place, kind="stable")]]] = np.arange(len(rows)) % n_folds
    return fold


def _group_numbers(y: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Fold numbers with no group in two folds; -1 for samples of a fold if a class is missing from the other folds."""
    fold = np.full(len(y), -1)
    if len(np.unique(groups)) < 2:
        return fold
    for number, (train, test) in enumerate(group_folds(y, groups, N_FOLDS)):
        if len(np.unique(y[train])) == len(np.unique(y)):
            fold[test] = number
    return fold


def group_folds(
    y: np.ndarray, groups: ArrayLike, n_folds: int, seed: int | None = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds without a common group, stratified by class as far as the groups allow; at most one for each group.

    Examples
    --------
    >>> folds = group_folds(np.array([0, 1] * 3), [1, 1, 2, 2, 3, 3], n_folds=5)
    >>> sorted(test.tolist() for _, test in folds)
    [[0, 1], [2, 3], [4, 5]]
    """
    from sklearn.model_selection import StratifiedGroupKFold  # here: a first fit does not load the module

    groups = column_or_1d(groups)
    check_consistent_length(y, groups)
    n_folds = min(n_folds, len(np.unique(groups)), int(np.unique(y, return_counts=True)[1].max()))
    if n_folds < 2:
        raise ValueError("groups must have at least two different values, as one is left out; got one.")
    with warnings.catch_warnings():  # a class with fewer samples than folds is absent from some folds
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return [fold for fold in splitter.split(np.zeros((len(y), 1)), y, groups) if len(fold[0]) and len(fold[1])]


# -- choices -----------------------------------------------------------------------------------------------------------


def log_likelihoods(table: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Log-likelihood of each sample at the best temperature for the table, and that temperature.

    It ignores samples of a class that the fit of their fold did not know.
    """
    rows = np.arange(len(y))
    known = np.isfinite(table[rows, y])
    temperature = fitted_temperature(table[known], y[known], weight[known]) if known.any() else 1.0
    sharp = log_softmax(table / temperature, axis=1)[rows, y]
    return np.maximum(sharp, LEAST_LIKELIHOOD), temperature


def close_to_best(table: np.ndarray, weight: np.ndarray, inflation: float, allowed: float) -> np.ndarray:
    """Whether each candidate is behind the best one by at most `allowed` standard errors of their difference.

    Differences on the same samples vary less than scores.

    Parameters
    ----------
    table : ndarray of shape (n_candidates, n_samples)
        Score of each candidate on each sample.
    weight : ndarray of shape (n_samples,)
        Weights of the samples.
    inflation : float
        Factor of the variance of a mean, see `Folds`.
    allowed : float
        Number of standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[-1.0, -0.9, -1.3, -0.8], [-1.1, -0.7, -1.3, -0.89], [-0.1, -0.2, -0.1, -0.2]])
    >>> close_to_best(table, np.ones(4), 2.0, allowed=1.0).tolist()
    [False, False, True]
    """
    fraction = weight / weight.sum()
    mean = table @ fraction
    best = int(mean.argmax())
    difference, behind = table - table[best], mean[best] - mean
    concentration = float(fraction @ fraction)  # one over the number of samples where their weights are equal
    variance = (difference + behind[:, None]) ** 2 @ fraction * concentration / max(1 - concentration, 1e-9)
    return behind <= allowed * np.sqrt(inflation * variance)


def chosen_number(estimator: "BaseLVQ", parts: Parts, samples: ArraySamples, classes: np.ndarray) -> int:
    """The number of prototypes per class, from `NUMBERS`, with the smallest log-loss of left-out samples."""
    folds = make_folds(samples, classes)
    fewest = 0 if folds is None else int(np.bincount(folds.known[0], minlength=len(classes)).min())
    numbers = [number for number in NUMBERS if number == 1 or 6 * number <= fewest]
    if folds is None or len(numbers) == 1:
        return 1
    candidates = [Candidate(clone(estimator).set_params(n_prototypes=number), parts) for number in numbers]
    return numbers[cross_fit(candidates, folds).place]
