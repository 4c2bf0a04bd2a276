"""Units, statistics, the stopping rule, the training state, and the lines of `verbose`."""

from types import SimpleNamespace

import numpy as np
import pytest

from lvq.model.costs import LOGMCost, WinnerRule
from lvq.model.links import Gaussian
from lvq.model.metrics import Euclidean
from lvq.model.objective import Params
from lvq.model.relevance import Hebbian, Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers import state as module
from lvq.solvers.state import (
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


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_units_are_the_mean_smallest_distances(relevance):
    """The step's unit is divided by the largest eigenvalue of Lambda where the step carries Lambda."""
    relevance = RELEVANCES[relevance]
    (samples, params), link = draw(relevance), Gaussian(width=2.0)
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


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_units_of_samples_that_are_prototypes_follow_the_prototypes(offset):
    places = offset + np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    units = spread_of(Euclidean(), Params(places), ArraySamples(places, np.arange(3), np.ones(3)))
    assert units[:3] == pytest.approx((0.25 * (9 + 9 + 16) / 3, 0.25 * (9 + 9 + 16) / 3, 0))


def test_units_of_two_batches_together_are_those_of_their_union():
    samples, params = draw(Relevance())
    parts = (ArraySamples(*samples.take(rows)) for rows in (slice(13), slice(13, None), slice(None)))
    *halves, whole = (spread_of(Euclidean(), params, part, Gaussian(1.0)) for part in parts)
    np.testing.assert_allclose(mean_units(*halves)[:3], whole[:3], rtol=1e-12)
    nothing = Units(1.0, 1.0, 0.0)
    assert mean_units(nothing, whole) == mean_units(whole, nothing) == whole


# -- the state ---------------------------------------------------------------------------------------------------------


def training_state(cost):
    statistics = new_statistics(Relevance(), cost, (5, 3), 4, rate=0.3)
    return TrainingState(cost, Relevance(), Units(4.0, 2.0, 30.0), statistics, 7.0, np.random.RandomState(0))


def test_the_scaled_cost_is_in_plain_numbers():
    """Multiples of 1/spread are divided by the spread of H, 2 here."""
    cost = training_state(LOGMCost(alpha=0.1, xi=3.0)).scaled_cost()
    assert (cost.alpha, cost.xi) == (0.05, 1.5)
    rule = WinnerRule()
    assert training_state(rule).scaled_cost() is rule


# -- progress ----------------------------------------------------------------------------------------------------------


def test_a_line_has_the_name_the_objective_and_the_time_left(monkeypatch, capsys):
    times = iter([100.0, 130.0, 140.0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    report = progress_lines("fit", 8)
    report(2, 0.123456789)
    report(8, 0.1)
    assert capsys.readouterr().out == "fit 2/8  objective 0.12346  90 s left\nfit 8/8  objective 0.1  0 s left\n"
