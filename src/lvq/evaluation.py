"""Comparing models: repeated cross-validation on the same splits, a test that knows the splits overlap, and the models
that no other beats in both accuracy and number of prototypes.

Scores of repeated cross-validation are not independent, as their training sets share samples, so a plain t-test finds
differences where there are none. Nadeau and Bengio's correction widens the variance of the mean difference of J scores
by the share n_test/n_train of the samples: ``t = mean / sqrt((1/J + n_test/n_train) variance)``, with J - 1 degrees of
freedom. All models are tested against the one with the best mean; Holm's procedure holds the chance of any false
alarm among these tests.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.robustness import find_model

Floats = NDArray[np.float64]


def corrected_t_test(differences: ArrayLike, n_train: int, n_test: int) -> float:
    """P-value of "the two models are equally good", from differences of their scores on the same splits.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Score of one model less that of the other, split by split.
    n_train, n_test : int
        Samples in the training and in the test part of a split.

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
    """P-values adjusted for being several, by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        One of each test.

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)
        Those below a level are the tests that may be called significant at that level, all together.

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
    """Which candidates no other one beats: none has as much gain at less cost, or more gain at as much cost.

    Parameters
    ----------
    gain : array-like of shape (n_candidates,)
        More is better.
    cost : array-like of shape (n_candidates,)
        Less is better.

    Returns
    -------
    inside : bool ndarray of shape (n_candidates,)
        Of candidates that are equal in both, all or none.

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
class Standing:
    """One model in a comparison.

    Attributes
    ----------
    name : str
        Of the model.
    accuracy : float
        Mean over all splits.
    deviation : float
        Standard deviation over all splits.
    prototypes : float
        Mean number of prototypes.
    seconds : float
        Mean time of a fit.
    p_value : float
        Against the model with the best mean, corrected for overlapping splits and, by Holm, for the number of models;
        1 for that model itself.
    pareto : bool
        Whether no other model is as accurate with fewer prototypes, or more accurate with as many.
    """

    name: str
    accuracy: float
    deviation: float
    prototypes: float
    seconds: float
    p_value: float
    pareto: bool


@dataclass(frozen=True)
class Comparison:
    """What repeated cross-validation found.

    Attributes
    ----------
    standings : tuple of Standing
        The best mean accuracy first; of equal ones, fewer prototypes.
    scores : dict from str to ndarray of shape (n_splits,)
        Accuracies of each model, on the same splits for all.
    failures : dict from str to str
        Why a model could not be fitted.
    """

    standings: tuple[Standing, ...]
    scores: dict[str, Floats]
    failures: dict[str, str]


def compare_models(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: int = 5,
    repeats: int = 3,
    seed: int | None = 0,
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
        Folds, and how often they are drawn anew.
    seed : int or None, default=0
        Draws the folds.
    progress : callable, optional
        Called with (fits done, fits in all, name of the model) before each fit.

    Returns
    -------
    comparison : Comparison
        A model that raises a ValueError in any split is left out of the standings and named among the failures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"one": GLVQ(random_state=0), "three": GLVQ(n_prototypes=3, random_state=0)}
    >>> found = compare_models(models, X, y, folds=3, repeats=1)
    >>> sorted((standing.name, standing.prototypes) for standing in found.standings)
    [('one', 3.0), ('three', 9.0)]
    """
    X, y = indexable(X, column_or_1d(y))
    splits = list(RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(X, y))
    scores: dict[str, Floats] = {}
    failures: dict[str, str] = {}
    counts: dict[str, tuple[float, float]] = {}
    for place, (name, model) in enumerate(models.items()):
        results = []
        for done, (train, test) in enumerate(splits):
            if progress is not None:
                progress(place * len(splits) + done, len(models) * len(splits), name)
            try:
                results.append(_one_split(model, X, y, train, test))
            except ValueError as error:  # parts that do not go together, or too few samples for so many prototypes
                failures[name] = str(error)
                break
        else:
            accuracies, prototypes, seconds = np.array(results).T
            scores[name], counts[name] = accuracies, (float(prototypes.mean()), float(seconds.mean()))
    if progress is not None:
        progress(len(models) * len(splits), len(models) * len(splits), "")
    n_test = len(y) // folds
    return Comparison(_standings(scores, counts, len(y) - n_test, n_test), scores, failures)


def _one_split(model: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[float, float, float]:
    """Accuracy, number of prototypes, and seconds of the fit."""
    fresh = clone(model)
    start = time.perf_counter()
    with warnings.catch_warnings():  # a run that stopped early is compared as it is
        warnings.simplefilter("ignore", ConvergenceWarning)
        fresh.fit(_safe_indexing(X, train), y[train])
    seconds = time.perf_counter() - start
    right = np.asarray(fresh.predict(_safe_indexing(X, test))) == y[test]
    found = find_model(fresh)
    return float(right.mean()), float("nan") if found is None else len(found.model.prototypes_), seconds


def _standings(
    scores: Mapping[str, Floats], counts: Mapping[str, tuple[float, float]], n_train: int, n_test: int
) -> tuple[Standing, ...]:
    order = sorted(scores, key=lambda name: (-scores[name].mean(), counts[name][0]))
    if not order:
        return ()
    best, rest = order[0], order[1:]
    p_values = [1.0, *holm([corrected_t_test(scores[best] - scores[name], n_train, n_test) for name in rest])]
    accuracy = [float(scores[name].mean()) for name in order]
    # a model without prototypes is no rival for having few
    inside = pareto_set(accuracy, np.nan_to_num([counts[name][0] for name in order], nan=np.inf))
    return tuple(
        Standing(name, accuracy[k], float(scores[name].std(ddof=1)), *counts[name], float(p_values[k]), bool(inside[k]))
        for k, name in enumerate(order)
    )


def equally_good(standings: Sequence[Standing], level: float = 0.05) -> list[str]:
    """Models that are not shown to be worse than the best.

    Parameters
    ----------
    standings : sequence of Standing
        Of a comparison.
    level : float, default=0.05
        Chance of calling any one worse that is not.

    Returns
    -------
    names : list of str
        The best among them.

    Examples
    --------
    >>> equally_good([Standing("a", 0.9, 0.01, 2, 0.1, 1.0, True), Standing("b", 0.7, 0.01, 2, 0.1, 0.001, False)])
    ['a']
    """
    return [standing.name for standing in standings if standing.p_value >= level]
