"""Successive halving: which candidates take part in which rounds, and what is reported of them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from joblib import Parallel
from sklearn.model_selection import StratifiedKFold

from lvq import LVQClassifier
from lvq.estimators import halving
from lvq.estimators.halving import ROUNDS, rounds_for, successive_halving
from lvq.estimators.short_fits import make_fold

QUALITY = "alpha"  # a parameter that tells a scorer how good a candidate is; it changes the fits little


def folds(n_folds=5):
    rng = np.random.default_rng(0)
    y = np.arange(50) % 2
    X = rng.normal(size=(50, 2)) + y[:, None]
    return [make_fold(X, y, np.ones(50), *split) for split in StratifiedKFold(n_folds).split(X, y)]


def run(qualities, scorer, n_folds=5, **settings):
    models = [LVQClassifier(alpha=quality, n_prototypes=1, random_state=0, **settings) for quality in qualities]
    return successive_halving(models, folds(n_folds), scorer, Parallel(n_jobs=1, prefer="threads"))


def by_quality(model, X, y):
    return getattr(model, QUALITY)


@pytest.mark.parametrize("n_candidates", range(1, 60))
def test_rounds(n_candidates):
    plan = rounds_for(n_candidates)
    assert plan[-1][0] == ROUNDS[-1]
    assert [part for part, _ in plan] == sorted(part for part, _ in plan)
    kept = [n_candidates, *(number for _, number in plan)]
    for before, after in pairwise(kept[:-1]):
        assert 3 * after >= before > after  # at least a third is kept, and some are dropped
    assert kept[-1] == kept[-2] <= max(3, n_candidates)


def test_few_candidates_are_all_compared_in_all_folds():
    assert rounds_for(3) == [(ROUNDS[-1], 3)]


def test_the_best_stay():
    qualities = [0.01, 0.09, 0.05, 0.02, 0.08, 0.03, 0.07, 0.04, 0.06]
    outcome = run(qualities, by_quality)
    assert outcome.finalists == [1, 4, 6]  # in the order in which they were given
    assert outcome.scores.table.tolist() == [[0.09] * 5, [0.08] * 5, [0.07] * 5]
    final = np.isin(np.arange(9), outcome.finalists)
    assert outcome.table["n_folds"].tolist() == np.where(final, 5, 2).tolist()
    assert outcome.table["n_iter"].tolist() == np.where(final, 30, 10).tolist()
    np.testing.assert_allclose(outcome.table["mean_test_score"], qualities)
    np.testing.assert_allclose(outcome.table["std_test_score"], 0, atol=1e-12)


def test_of_equal_candidates_the_first_stay():
    assert run([0.01] * 7, by_quality).finalists == [0, 1, 2]


def test_fits_are_continued_and_not_repeated(monkeypatch):
    """Each fit of a finalist begins once; 10 iterations in two folds come before 30 in all."""
    begun, advanced = [], []
    begin, advance = halving.begin, halving._advance
    monkeypatch.setattr(halving, "begin", lambda models, fold: begun.extend(models) or begin(models, fold))
    monkeypatch.setattr(halving, "_advance", lambda fit, n: advanced.append(n) or advance(fit, n))
    run([0.01 * number for number in range(1, 7)], by_quality)
    assert len(begun) == 6 * 2 + 3 * 3
    assert advanced == [10] * 12 + [30] * 15


def test_log_likelihoods_are_pooled_over_the_folds():
    """Without a scorer each validation sample is a unit of its own."""
    outcome = run([0.01, 0.02], None, n_folds=3)
    assert outcome.scores.table.shape == (2, 50)
    assert np.bincount(outcome.scores.fold).tolist() == [17, 17, 16]
    np.testing.assert_allclose(outcome.table["mean_test_score"], outcome.scores.table.mean(axis=1))
    deviation = [[row[outcome.scores.fold == k].mean() for k in range(3)] for row in outcome.scores.table]
    np.testing.assert_allclose(outcome.table["std_test_score"], np.std(deviation, axis=1))
    assert outcome.scores.test_ratio == pytest.approx(np.mean([17 / 33, 17 / 33, 16 / 34]))


@pytest.mark.parametrize("n_folds", [2, 3, 10])
def test_any_number_of_folds(n_folds):
    outcome = run([0.01, 0.02, 0.03, 0.04], by_quality, n_folds)
    assert outcome.table["n_folds"].tolist() == [max(1, round(0.4 * n_folds))] + [n_folds] * 3


def test_a_candidate_with_few_iterations_of_its_own():
    assert run([0.01], None, max_iter=7).table["n_iter"].tolist() == [7]


def test_fits_in_other_processes():
    """A process works on a copy, and what it has learned comes back with the result."""

    def elsewhere(calls):
        return [pickle.loads(pickle.dumps(function(*args, **kwargs))) for function, args, kwargs in copied(calls)]

    def copied(calls):
        return (pickle.loads(pickle.dumps(call)) for call in calls)

    models = [LVQClassifier(n_prototypes=number, random_state=0) for number in (1, 2)]
    here = successive_halving(models, folds(3), None, Parallel(n_jobs=1, prefer="threads"))
    there = successive_halving(models, folds(3), None, elsewhere)
    np.testing.assert_allclose(there.scores.table, here.scores.table, rtol=1e-10)
    assert there.temperatures == pytest.approx(here.temperatures)
