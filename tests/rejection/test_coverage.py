"""A requested coverage is that of new samples: continuous, discrete and saturated certainties."""

import numpy as np
import pytest
from scipy.stats import betabinom
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from lvq import GLVQ
from lvq.rejection import RejectClassifier, local_thresholds
from lvq.rejection.coverage import Calibrated, _about_ties, coverage_point
from tests.rejection.populations import QUICK, draw


def few_distinct(n_samples, seed):
    """Twelve distinct rows of very different frequency, two noisy classes."""
    rng = np.random.default_rng(seed)
    row = rng.choice(12, n_samples, p=np.arange(1, 13)[::-1] ** 2 / np.sum(np.arange(1, 13) ** 2))
    X = np.column_stack((row % 2, row // 2 % 3, row // 6)).astype(float)
    return X, (rng.random(n_samples) < (0.1 + 0.8 * (row % 5) / 4)).astype(int)


def saturated(n_samples, seed):
    """Classes so far apart that each prediction has the probability 1."""
    X, y = draw(n_samples, seed)
    return 1000 * (X + 50 * np.eye(3, 4)[np.searchsorted(["cat", "dog", "eel"], y)]), y


def within(n_accepted, n_new, n_calibration, coverage, mass=0.999):
    """Whether a number of accepted new samples is in the central part of its distribution."""
    k = (1 - coverage) * (n_calibration + 1)
    low, high = betabinom.interval(mass, n_new, n_calibration + 1 - k, k)
    return low <= n_accepted <= high


MODELS = {
    "few distinct rows": (few_distinct, GLVQ(n_prototypes=2, **QUICK)),
    "saturated probabilities": (saturated, LinearDiscriminantAnalysis()),
    "leaves of a tree": (draw, DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)),
    "continuous": (draw, GLVQ(n_prototypes=2, **QUICK)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cv", [None, 4])
def test_coverage_of_new_samples(name, cv):
    source, model = MODELS[name]
    X, y = source(400, 0)
    X_new, _ = source(300, 1)
    n_calibration = 400 if cv else 120
    for coverage in (0.95, 0.8, 0.5):
        safe = RejectClassifier(model, min_coverage=coverage, cv=cv).fit(X, y)
        found = safe.accept(X_new)
        assert within(found.sum(), 300, n_calibration, coverage), (coverage, found.mean())
        assert np.array_equal(found, safe.accept(X_new))  # the same table, the same result


def test_identical_rows_are_separated_and_others_do_not_matter():
    X, y = few_distinct(400, 0)
    safe = RejectClassifier(MODELS["few distinct rows"][1], min_coverage=0.5).fit(X, y)
    assert safe.ties_ is not None
    assert "are equal in certainty at the threshold" in safe.notes_[0]
    at_threshold = safe.ties_.at_threshold(safe.certainty(X))
    accepted = safe.accept(X)
    assert 0 < accepted[at_threshold].mean() < 1
    assert np.array_equal(safe.accept(X[at_threshold]), accepted[at_threshold])
    assert np.array_equal(safe.accept(X[::-1])[::-1][~at_threshold], accepted[~at_threshold])


def test_where_the_coverage_is_not_achievable():
    X, y = draw(300, 1)
    model = FrozenEstimator(LogisticRegression().fit(*draw(300, 2)))
    few = RejectClassifier(model, min_coverage=0.99).fit(X[:30], y[:30])
    assert few.accept(X).all()
    assert few.notes_ == (
        "A coverage of 0.99 is not achievable with 30 calibration samples, of which no threshold rejects so few: all "
        "samples will be accepted. Give at least 100 of them.",
    )
    enough = RejectClassifier(model, min_coverage=0.9).fit(X, y)
    assert enough.notes_ == ()


def test_local_thresholds_first_then_a_level():
    """Errors of one cell are rejected by its own threshold; the rest by the lowest certainties of all."""
    certainty = np.concatenate((np.arange(100) / 100 + 1, np.arange(100) / 1000))
    correct = np.concatenate((np.arange(100) >= 10, np.ones(100, dtype=bool)))
    cell = np.repeat(["errors first", "correct"], 100)
    path = local_thresholds(certainty, correct, cell)
    samples = Calibrated(certainty, np.zeros(200), correct, cell, np.ones(200))
    point = coverage_point(path, samples, 0.8, n_samples=200).point
    assert point.rejected_errors == 10
    by_cell = dict(zip(point.cells.tolist(), point.thresholds))
    assert by_cell["errors first"] == pytest.approx(1.1)
    # 40.2 are to be rejected: 10 errors, and as each of the two thresholds counts one more, 28 others
    assert by_cell["correct"] == pytest.approx(0.028)
    assert point.coverage == pytest.approx(162 / 200)


@pytest.mark.parametrize("method", ["global", "optimal"])
def test_the_level_holds_for_cells_never_seen(method):
    """A shared threshold is raised for them as for all others; with local ones they stay rejected."""
    rng = np.random.default_rng(0)
    certainty, correct, cell = rng.random(100), rng.random(100) < 0.9, np.arange(100) % 2
    path = local_thresholds(certainty, correct, cell, method=method)
    samples = Calibrated(certainty, np.zeros(100), correct, cell, np.ones(100))
    point = coverage_point(path, samples, 0.5, n_samples=100).point
    known, new = point.threshold_of([0, "never seen"])
    assert np.quantile(certainty, 0.4) < known < np.quantile(certainty, 0.6)
    assert new == (known if method == "global" else np.inf)


@pytest.mark.parametrize("n_equal", [2, 10])
def test_few_equal_samples_at_the_threshold_need_no_note(n_equal):
    certainty = np.arange(200.0)
    certainty[100 - n_equal // 2 : 100 + n_equal // 2] = 100.0
    path = local_thresholds(certainty, np.ones(200, dtype=bool), np.zeros(200))
    samples = Calibrated(certainty, np.zeros(200), np.ones(200, dtype=bool), np.zeros(200), np.ones(200))
    found = coverage_point(path, samples, 0.5, n_samples=200)
    assert found.ties.certainty == 100.0
    assert len(found.notes) == (n_equal > 0.02 * 200)


def plain_samples(certainty, correct=None, weight=None):
    """Samples of one cell, without ties in a second certainty."""
    n = len(certainty)
    return Calibrated(
        certainty,
        np.zeros(n),
        np.ones(n, dtype=bool) if correct is None else correct,
        np.zeros(n),
        np.ones(n) if weight is None else weight,
    )


@pytest.mark.parametrize(
    ("n_samples", "rank", "outliers"), [(9, 3, 0), (9, 3, 5), (19, 1, 0), (99, 40, 0), (99, 40, 20), (99, 99, 0)]
)
def test_the_level_is_an_order_statistic(n_samples, rank, outliers):
    """A new sample is below the k-th smallest of n others with the probability k / (n + 1)."""
    certainty = np.random.default_rng(n_samples).permutation(n_samples) + 1.0
    samples = plain_samples(certainty)
    path = local_thresholds(certainty, samples.correct, samples.cell)
    coverage = 1 - (rank + outliers) / (n_samples + 1)
    found = coverage_point(path, samples, coverage, n_samples=n_samples, expected_outliers=outliers)
    accepted = found.point.accept(certainty, samples.cell)
    assert np.sort(certainty[accepted]).tolist() == list(range(rank, n_samples + 1))
    assert found.point.coverage == pytest.approx((n_samples - rank + 1) / n_samples)


def test_counts_are_sums_of_weights():
    """Coverage and accuracy of the accepted samples, each with its weight."""
    rng = np.random.default_rng(3)
    certainty, correct, weight = rng.random(100), rng.random(100) < 0.7, rng.uniform(0.2, 3, 100)
    weight *= 100 / weight.sum()
    samples = plain_samples(certainty, correct, weight)
    path = local_thresholds(certainty, correct, samples.cell, method="global")
    for coverage in (0.3, 0.6, 0.9):
        point = coverage_point(path, samples, coverage, n_samples=100).point
        accepted = point.accept(certainty, samples.cell)
        assert point.coverage == pytest.approx(weight[accepted].sum() / 100)
        assert point.coverage == pytest.approx(coverage, abs=0.04)
        assert point.accuracy == pytest.approx(weight[accepted & correct].sum() / weight[accepted].sum())
        assert point.rejected_correct == path.n_correct - round(weight[accepted & correct].sum())
        assert point.rejected_errors == path.n_errors - round(weight[accepted & ~correct].sum())


@pytest.mark.parametrize(("weight", "fraction"), [(1.0, 1.0), (1.2, 0.8), (1.6, 0.6), (1.75, 0.4)])
def test_local_thresholds_reject_less_where_their_samples_weigh_more(weight, fraction):
    """Every second sample of one cell is an error; its own threshold ends above an error, within what is allowed."""
    certainty = np.concatenate((np.arange(100) / 100 + 1, np.arange(100) / 1000))
    correct = np.concatenate((np.arange(100) % 2 == 1, np.ones(100, dtype=bool)))
    cell = np.repeat(["errors", "correct"], 100)
    path = local_thresholds(certainty, correct, cell)
    samples = Calibrated(certainty, np.zeros(200), correct, cell, np.repeat([weight, 2 - weight], 100))
    point = coverage_point(path, samples, 0.8, n_samples=200).point
    by_cell = dict(zip(point.cells.tolist(), point.thresholds))
    n_errors = int(fraction * 0.2 * 201) // 2  # with one less of the others, and one for the threshold itself
    assert by_cell["errors"] == pytest.approx(1 + (2 * n_errors - 1) / 100)


def test_the_note_about_equal_samples_has_both_fractions():
    """A quarter of the samples is equal at the threshold, of which two fifths are rejected."""
    assert _about_ties(0.25, 0.4).startswith("25.0 % of the calibration samples are equal in certainty")
    assert "Of such samples 60.0 % will be accepted" in _about_ties(0.25, 0.4)
