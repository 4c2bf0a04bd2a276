"""Comparison of models: repeated cross-validation on the same splits, a corrected t-test and the Pareto set.

Scores of repeated cross-validation are not independent, because the training sets overlap. An uncorrected t-test
reports too many differences. Nadeau and Bengio correct the variance of the mean of J differences by the ratio
n_test/n_train: ``t = mean / sqrt((1/J + n_test/n_train) variance)``, with J - 1 degrees of freedom. All models are
tested against the one with the best mean; Holm's procedure controls the family-wise error rate of these tests.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import find_model
from lvq.estimators.grouped_calibration import group_folds
from lvq.typing import Fold, Labels, MatrixLike

Floats = NDArray[np.float64]


def corrected_t_test(differences: ArrayLike, n_train: int, n_test: int) -> float:
    """P-value of the hypothesis that two models are equally good, from their scores on the same splits.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Score of one model minus that of the other, for each split.
    n_train, n_test : int
        Training and test samples of a split.

    Returns
    -------
    p_value : float
        Two-sided; 1 where all differences are 0.

    References
    ----------
    C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> round(corrected_t_test([0.02, 0.01, 0.03, 0.02, 0.02], n_train=80, n_test=20), 4)
    0.0135
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or n_train < 1 or n_test < 1:
        raise ValueError(
            "corrected_t_test needs the differences of at least 2 splits and samples in both parts of each, got "
            f"{values.shape} differences, n_train={n_train} and n_test={n_test}."
        )
    mean = float(values.mean())
    spread = np.sqrt((1 / len(values) + n_test / n_train) * values.var(ddof=1))
    if spread <= 1e-12 * max(abs(mean), 1e-300):  # the same difference in every split
        return 1.0 if mean == 0 else 0.0
    return float(2 * t.sf(abs(mean) / spread, df=len(values) - 1))


def holm(p_values: ArrayLike) -> Floats:
    """P-values adjusted for multiple tests, by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        One for each test.

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)
        Adjusted values; those below a level are significant at that family-wise error rate.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def pareto_set(gain: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Candidates that no other dominates: none has the same gain at less cost, or more gain at the same cost.

    Parameters
    ----------
    gain : array-like of shape (n_candidates,)
        Larger is better.
    cost : array-like of shape (n_candidates,)
        Smaller is better.

    Returns
    -------
    inside : bool ndarray of shape (n_candidates,)
        Whether each candidate is in the set; equal candidates are all in it or all outside.

    Examples
    --------
    >>> pareto_set([0.9, 0.95, 0.94, 0.9], [2, 4, 6, 3])
    array([ True,  True, False, False])
    """
    gains, costs = np.asarray(gain, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    no_worse = (gains[:, None] >= gains[None, :]) & (costs[:, None] <= costs[None, :])
    better = (gains[:, None] > gains[None, :]) | (costs[:, None] < costs[None, :])
    return np.asarray(~(no_worse & better).any(axis=0))


@dataclass(frozen=True)
class RankedModel:
    """One model in the ranking of a comparison.

    Attributes
    ----------
    name : str
        Name of the model.
    accuracy : float
        Mean accuracy over all splits.
    standard_deviation : float
        Standard deviation of the accuracy over all splits.
    n_prototypes : float
        Mean number of prototypes; NaN for a model without prototypes.
    seconds : float
        Median time of a fit over the splits, so that the compilation in the first fit of a kind does not count.
    p_value : float
        Of the test against the model with the best mean, adjusted by Holm; 1 for that model itself.
    pareto : bool
        Whether no other model has the same accuracy with fewer prototypes, or a higher one with the same number.
    """

    name: str
    accuracy: float
    standard_deviation: float
    n_prototypes: float
    seconds: float
    p_value: float
    pareto: bool


@dataclass(frozen=True)
class Comparison:
    """Result of `compare_models`.

    Attributes
    ----------
    ranking : tuple of RankedModel
        By decreasing mean accuracy, then by number of prototypes.
    scores : dict from str to ndarray of shape (n_splits,)
        Accuracies of each model, on the same splits.
    failures : dict from str to str
        Error messages of models that could not be fitted.
    """

    ranking: tuple[RankedModel, ...]
    scores: dict[str, Floats]
    failures: dict[str, str]


def compare_models(
    models: Mapping[str, BaseEstimator],
    X: MatrixLike,
    y: ArrayLike,
    *,
    folds: int = 5,
    repeats: int = 3,
    seed: int | None = 0,
    groups: ArrayLike | None = None,
    splits: Sequence[Fold] | None = None,
    keep: Callable[[Mapping[str, Floats]], Collection[str]] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Comparison:
    """Compare models by repeated stratified cross-validation, all on the same splits.

    Parameters
    ----------
    models : mapping from str to estimator
        Models of this library, or Pipelines that end in one; they are cloned.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their classes.
    folds, repeats : int, default=5 and 3
        Number of folds and of repetitions.
    seed : int or None, default=0
        Random state of the folds.
    groups : array-like of shape (n_samples,), optional
        Groups, such as patients, that no fold splits.
    splits : sequence of (train, test), optional
        At least 2 splits, such as those in the order of time, in place of what `folds`, `repeats` and `groups` make.
    keep : callable, optional
        Called with the scores of all models; only those whose names it returns are ranked.
    progress : callable, optional
        Called with (fits done, number of fits, name of the model) before each fit and at the end.

    Returns
    -------
    comparison : Comparison
        A model that raises a ValueError in a split is in `failures` and not in the ranking.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"one": GLVQ(random_state=0), "three": GLVQ(n_prototypes=3, random_state=0)}
    >>> found = compare_models(models, X, y, folds=3, repeats=1)
    >>> sorted((model.name, model.n_prototypes) for model in found.ranking)
    [('one', 3.0), ('three', 9.0)]
    """
    X, labels = indexable(X, column_or_1d(y))
    if splits is not None:
        if len(splits) < 2:
            raise ValueError(
                f"splits of compare_models must be 2 or more, got {len(splits)}; leave it out, or split more."
            )
    elif groups is None:
        splits = list(RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(X, labels))
    else:
        seeds = np.random.RandomState(seed).randint(2**31 - 1, size=repeats)
        splits = [split for number in seeds for split in group_folds(labels, groups, folds, int(number))]
    scores: dict[str, Floats] = {}
    failures: dict[str, str] = {}
    counts: dict[str, tuple[float, float]] = {}
    for position, (name, model) in enumerate(models.items()):
        results = []
        for done, (train, test) in enumerate(splits):
            if progress is not None:
                progress(position * len(splits) + done, len(models) * len(splits), name)
            try:
                results.append(_one_split(model, X, labels, train, test))
            except ValueError as error:  # incompatible parameters, or too few samples for the prototypes
                failures[name] = str(error)
                break
        else:
            accuracies, prototypes, seconds = np.array(results).T
            scores[name], counts[name] = accuracies, (float(prototypes.mean()), float(np.median(seconds)))
    if progress is not None:
        progress(len(models) * len(splits), len(models) * len(splits), "")
    if keep is not None:
        kept = keep(scores)
        scores = {name: values for name, values in scores.items() if name in kept}
    n_train, n_test = (max(1, int(np.mean([len(rows) for rows in parts]))) for parts in zip(*splits))
    return Comparison(_ranking(scores, counts, n_train, n_test), scores, failures)


def _one_split(
    model: BaseEstimator, X: MatrixLike, y: Labels, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[float, float, float]:
    """Accuracy, number of prototypes and time of the fit in seconds."""
    fresh = clone(model)
    start = time.perf_counter()
    with warnings.catch_warnings():  # a model that has not converged is compared too
        warnings.simplefilter("ignore", ConvergenceWarning)
        fresh.fit(_safe_indexing(X, train), y[train])
    seconds = time.perf_counter() - start
    correct = np.asarray(fresh.predict(_safe_indexing(X, test))) == y[test]
    found = find_model(fresh)
    return float(correct.mean()), float("nan") if found is None else len(found.model.prototypes), seconds


def _ranking(
    scores: Mapping[str, Floats], counts: Mapping[str, tuple[float, float]], n_train: int, n_test: int
) -> tuple[RankedModel, ...]:
    order = sorted(scores, key=lambda name: (-scores[name].mean(), counts[name][0]))
    if not order:
        return ()
    best, rest = order[0], order[1:]
    p_values = [1.0, *holm([corrected_t_test(scores[best] - scores[name], n_train, n_test) for name in rest])]
    accuracy = [float(scores[name].mean()) for name in order]
    # a model without prototypes does not count as one with few
    inside = pareto_set(accuracy, np.nan_to_num([counts[name][0] for name in order], nan=np.inf))
    return tuple(
        RankedModel(
            name, accuracy[k], float(scores[name].std(ddof=1)), *counts[name], float(p_values[k]), bool(inside[k])
        )
        for k, name in enumerate(order)
    )


def not_significantly_worse(ranking: Sequence[RankedModel], level: float = 0.05) -> list[str]:
    """Names of the models that are not significantly worse than the best.

    Parameters
    ----------
    ranking : sequence of RankedModel
        From a comparison.
    level : float, default=0.05
        Family-wise error rate of the tests.

    Returns
    -------
    names : list of str
        Names, including the best.

    Examples
    --------
    >>> models = [RankedModel("a", 0.9, 0.01, 2, 0.1, 1.0, True), RankedModel("b", 0.7, 0.01, 2, 0.1, 0.001, False)]
    >>> not_significantly_worse(models)
    ['a']
    """
    return [model.name for model in ranking if model.p_value >= level]
