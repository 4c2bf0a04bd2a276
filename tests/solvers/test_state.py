"""Units, statistics, the stopping rule, the training state, and the lines of `verbose`."""

from types import SimpleNamespace

import numpy as np
import pytest

from lvq.model.costs import GLVQCost, LOGMCost, WinnerRule
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Params
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers import state as module
from lvq.solvers.state import (
    StoppingRule,
    TrainingState,
    Units,
    mean_units,
    new_statistics,
    progress_lines,
    spread_of,
    stretched,
)
from tests.model.formulas import distances

LABELS = np.array([0, 0, 1, 1, 2])
RELEVANCES = {
    "plain": Relevance(),
    "hebbian": Hebbian(),
    "hebbian weighted": Hebbian(weighted_step=True),
    "gradient": Weights(),
    "matrix": Matrix(rank=2),
    "matrix per class": Matrix(local="class"),
    "weights per class": Weights(local="class"),
}


def draw(relevance, n_samples=40, dtype=np.float64):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_samples, 3)).astype(dtype), np.arange(n_samples) % 3
    weight = rng.uniform(0.5, 2.0, n_samples).astype(dtype)
    R = relevance.start(ArraySamples(X, y, weight), LABELS)
    R = None if R is None else (R * rng.uniform(0.5, 2.0, R.shape)).astype(dtype)
    return ArraySamples(X, y, weight), Params(rng.normal(size=(5, 3)).astype(dtype), R)


# -- units -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [Identity(), Gaussian(width=2.0)], ids=["identity", "gaussian"])
@pytest.mark.parametrize("relevance", RELEVANCES)
def test_units_are_the_mean_smallest_distances(relevance, link):
    """The step's unit is divided by the largest eigenvalue of Lambda where the step carries Lambda."""
    relevance = RELEVANCES[relevance]
    samples, params = draw(relevance)
    metric = relevance.metric(LABELS)
    units = stretched(spread_of(metric, params, samples, link), relevance, params)
    D = distances(metric, samples.X, *params[:2]).min(axis=1)
    R, stretch = params.relevance, 1.0
    if R is not None and relevance.weighted_step:
        if isinstance(relevance, Matrix):
            matrices = [omega.T @ omega for omega in np.reshape(R, (-1, *R.shape[-2:]))]
        else:
            matrices = [np.diag(weights) for weights in np.atleast_2d(R)]
        stretch = max(np.linalg.eigvalsh(matrix).max() for matrix in matrices)
    assert units.link == pytest.approx(np.average(link.value(D), weights=samples.weight), rel=1e-12)
    assert units.step == pytest.approx(np.average(D, weights=samples.weight) / stretch, rel=1e-12)
    assert units.samples == pytest.approx(samples.weight.sum(), rel=1e-12)


def test_units_are_measured_in_blocks(monkeypatch):
    """So that memory stays bounded; the sum is the same."""
    samples, params = draw(Relevance(), dtype=np.float32)
    whole = spread_of(Euclidean(), params, samples)
    monkeypatch.setattr("lvq.model.rows.BLOCK", 35)
    assert samples.block_rows(5) == 7
    np.testing.assert_allclose(spread_of(Euclidean(), params, samples)[:3], whole[:3], rtol=1e-6)


def test_units_without_any_spread_are_one_of_no_samples():
    places = np.zeros((5, 3))
    assert spread_of(Euclidean(), Params(places), ArraySamples(places, LABELS, np.ones(5))) == Units(1.0, 1.0, 0.0)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_units_of_samples_that_are_prototypes_follow_the_prototypes(offset):
    places = offset + np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    units = spread_of(Euclidean(), Params(places), ArraySamples(places, np.arange(3), np.ones(3)))
    assert units[:3] == pytest.approx((0.2 * (9 + 9 + 16) / 3, 0.2 * (9 + 9 + 16) / 3, 0))


def test_units_of_two_batches_together_are_those_of_their_union():
    samples, params = draw(Relevance())
    parts = (ArraySamples(*samples.take(rows)) for rows in (slice(13), slice(13, None), slice(None)))
    *halves, whole = (spread_of(Euclidean(), params, part, Gaussian(1.0)) for part in parts)
    np.testing.assert_allclose(mean_units(*halves)[:3], whole[:3], rtol=1e-12)
    nothing = Units(1.0, 1.0, 0.0)
    assert mean_units(nothing, whole) == mean_units(whole, nothing) == whole


# -- statistics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relevance", "cost", "sizes"),
    [
        (Relevance(), WinnerRule(), {}),
        (Relevance(), WinnerRule(own_rates=True), {"rates": (5,)}),
        (FisherPrototypes(), GLVQCost(), {"wins": (5,), "seen": (4,)}),
        (FisherNeighbours(), GLVQCost(), {"wins": (5,), "seen": (4,), "mean": (5, 3), "scatter": (5, 3)}),
    ],
    ids=["none", "rates", "fc1", "fc2"],
)
def test_statistics_have_the_sizes_that_a_rule_needs(relevance, cost, sizes):
    statistics = new_statistics(relevance, cost, (5, 3), 4, rate=0.3)
    expected = {"wins": (0,), "seen": (0,), "mean": (0, 0), "scatter": (0, 0), "scores": (1,), "rates": (0,)} | sizes
    assert {name: array.shape for name, array in statistics._asdict().items()} == expected
    assert (statistics.rates == 0.3).all()
    assert not any(array.any() for name, array in statistics._asdict().items() if name != "rates")


def test_shifted_statistics_are_a_copy_in_which_known_means_move():
    statistics = new_statistics(FisherNeighbours(), GLVQCost(), (5, 3), 4, rate=0.3)
    statistics.wins[1] = 2.0
    statistics.mean[1] = 1.0
    moved = statistics.shifted(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(moved.mean[1], [2.0, 3.0, 4.0])
    assert not moved.mean[[0, 2, 3, 4]].any()  # the mean of no samples
    assert (statistics.mean[1] == 1.0).all()
    assert not any(np.shares_memory(one, other) for one, other in zip(statistics, moved) if one.size)


# -- the state ---------------------------------------------------------------------------------------------------------


def training_state(cost):
    statistics = new_statistics(Relevance(), cost, (5, 3), 4, rate=0.3)
    return TrainingState(cost, Relevance(), Units(4.0, 2.0, 30.0), statistics, 7.0, np.random.RandomState(0))


def test_a_copy_has_its_own_random_state():
    state = training_state(GLVQCost())
    copied = state.copy()
    drawn = copied.random_state.randint(2**31)
    assert state.random_state.randint(2**31) == drawn  # not the second number
    assert (copied.step, copied.units) == (state.step, state.units)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_scaled_cost_is_in_plain_numbers(dtype):
    """Multiples of 1/spread are divided by the spread of H, 2 here; a cost matrix gets the type of the data."""
    cost = training_state(LOGMCost(alpha=0.1, xi=3.0, cost_matrix=np.ones((2, 2)))).scaled_cost(dtype)
    assert (cost.alpha, cost.xi) == (0.05, 1.5)
    assert cost.cost_matrix.dtype == dtype
    rule = WinnerRule()
    assert training_state(rule).scaled_cost(dtype) is rule


# -- stopping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tol", "patience", "values", "stops_after"),
    [
        (None, 1, [1.0, 1.0, 1.0], None),
        (0.0, 1, [1.0, 1.0], 2),
        (0.0, 2, [1.0, 0.9, 0.9, 0.9], 4),
        (0.1, 2, [1.0, 0.95, 0.8, 0.75, 0.74], 5),  # 0.8 is an improvement by more than 0.1 on 0.95
        (0.1, 2, [1.0, 0.95, 0.9, 0.5], 3),  # each by less than 0.1 on the best so far
        (0.0, 2, [1.0, 2.0, 0.5, 2.0, 0.4], None),
    ],
)
def test_stopping_rule(tol, patience, values, stops_after):
    rule = StoppingRule(tol, patience)
    stopped = []
    for value in values:
        rule.update(value)
        stopped.append(rule.converged)
    assert stopped.index(True) + 1 == stops_after if stops_after else not any(stopped)


# -- progress ----------------------------------------------------------------------------------------------------------


def test_a_line_has_the_name_the_objective_and_the_time_left(monkeypatch, capsys):
    times = iter([100.0, 130.0, 140.0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    report = progress_lines("fit", 8)
    report(2, 0.123456789)
    report(8, 0.1)
    report(8, 0.1, last=True)  # it has a line already
    assert capsys.readouterr().out == "fit 2/8  objective 0.12346  90 s left\nfit 8/8  objective 0.1  0 s left\n"


def test_every_tenth_and_the_last_iteration_have_a_line(capsys):
    report = progress_lines("fit", 64)
    for done in range(1, 31):
        report(done, 1.0)
    report(30, 1.0, last=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["7/64", "14/64", "21/64", "28/64", "30/64"]
