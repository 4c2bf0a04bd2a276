"""The online solver around the compiled rows: schedules, stopping, shuffling, streams, units, and its sentences."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from lvq.model.costs import GLVQCost, LOGMCost, RSLVQCost, WindowRule, WinnerRule
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    FisherNeighbours,
    FisherPrototypes,
    GradientRelevance,
    Hebbian,
    MatrixRelevance,
    Relevance,
)
from lvq.solvers.online import Online, Units, new_memory, round_centre, train, units_of

SEEDS = (0, 1, 2)
LABELS = np.array([0, 0, 1, 1, 2, 2])
FIXED = Online(learning_rate=0.05, relevance_rate=0.02, schedule="constant", step="gradient", shuffle=False, max_iter=1)
RULES = {"lvq1": WinnerRule(), "olvq1": WinnerRule(own_rates=True), "lvq3": WindowRule(0.4, 0.3)}
COSTS = {"glvq": GLVQCost(alpha=0.1), "logm": LOGMCost(xi=0.5), "rslvq": RSLVQCost(xi=0.5)}
HEURISTICS = {
    "plain": Relevance(),
    "hebbian": Hebbian(),
    "fc1": FisherPrototypes(),
    "fc2": FisherNeighbours(),
    "fc2 nearest": FisherNeighbours(rivals="nearest"),
}
GRADIENTS = {
    "gradient": GradientRelevance(),
    "matrix": MatrixRelevance(),
    "matrix per class": MatrixRelevance(rank=2, local="class"),
    "matrix per prototype": MatrixRelevance(local="prototype"),
}
RELEVANCES = HEURISTICS | GRADIENTS
MODELS = [(cost, relevance) for cost in RULES for relevance in HEURISTICS] + [
    (cost, relevance) for cost in COSTS for relevance in RELEVANCES
]


class Run:
    """A small problem and a model to train on it."""

    def __init__(self, seed=0, cost="glvq", relevance="plain", n_samples=60, offset=0.0):
        rng = np.random.default_rng(seed)
        middle = 2 * rng.normal(size=(3, 4))
        self.y = rng.integers(0, 3, n_samples)
        self.X = middle[self.y] + rng.normal(size=(n_samples, 4)) + offset
        self.weight = rng.uniform(0.5, 1.5, n_samples)
        W = middle[LABELS] + rng.normal(size=(6, 4)) + offset
        self.cost, self.relevance = (RULES | COSTS)[cost], RELEVANCES[relevance]
        self.link = Identity()
        self.params = Params(W, self.relevance.start(self.X, self.y, self.weight, LABELS))

    def memory(self, settings=FIXED):
        return new_memory(self.relevance, self.cost, self.params, 3, settings.learning_rate)

    def train(self, settings=FIXED, params=None, rows=slice(None), memory=None, random_state=0, **more):
        objective = Objective(self.relevance.metric(LABELS), self.link, self.cost, LABELS)
        memory = self.memory(settings) if memory is None else memory
        data = self.X[rows], self.y[rows], self.weight[rows]
        units, random_state = more.pop("units", Units(1.0, 1.0)), np.random.RandomState(random_state)
        params = self.params if params is None else params
        return train(objective, self.relevance, params, *data, settings, units, memory, random_state, **more)


def assert_same(one, other, **tolerance):
    for ours, theirs in zip(one.params, other.params):
        if theirs is None:
            assert ours is None
        elif tolerance:
            np.testing.assert_allclose(ours, theirs, **tolerance)
        else:
            np.testing.assert_array_equal(ours, theirs)


# -- schedules ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_iter", [1, 4])
@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ("constant", lambda t, n, epochs: 0.3),
        ("linear", lambda t, n, epochs: 0.3 * (1 - t / (n * epochs))),
        ("inverse", lambda t, n, epochs: 0.3 / (1 + t / n)),
    ],
)
def test_schedules_in_closed_form(schedule, rate, max_iter):
    """One prototype a class and one place for all samples: what is left of the way is the product of 1 - rate."""
    run = Run(n_samples=5)
    run.X[:], run.y[:], run.weight[:] = 1.0, 0, 1.0
    run.params = Params(np.vstack((np.zeros((1, 4)), np.full((5, 4), 9.0))))
    run.cost = WinnerRule()
    result = run.train(replace(FIXED, learning_rate=0.3, schedule=schedule, max_iter=max_iter))
    left = np.prod([1 - rate(t, 5, max_iter) for t in range(5 * max_iter)])
    np.testing.assert_allclose(result.params.prototypes[0], 1 - left, rtol=1e-12)


def test_a_stream_keeps_the_linear_schedule_at_its_start():
    run = Run()
    linear, constant = replace(FIXED, schedule="linear", max_iter=50), replace(FIXED, max_iter=1)
    result = run.train(linear, stream=True)
    assert result.n_iter == len(result.history) == 1
    assert_same(result, run.train(constant))


# -- stopping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patience", [1, 3, 5])
def test_training_stops_when_nothing_improves(patience):
    """At rate 0 the first epoch sets the mark and the next ones do not fall below it."""
    settings = replace(FIXED, learning_rate=0.0, max_iter=50, tol=1e-9, n_iter_no_change=patience)
    result = Run().train(settings)
    assert result.converged
    assert result.n_iter == len(result.history) == 1 + patience


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tol", [0.0, 1e-3, 1e-2])
def test_stopping_follows_the_history(tol, seed):
    """Replay the rule on the history: no fall by more than tol below the best so far for three epochs."""
    run = Run(seed, "logm")
    settings = replace(FIXED, learning_rate=0.01, max_iter=200, tol=tol, n_iter_no_change=3, schedule="linear")
    result = run.train(settings)
    waited, best, stop = 0, np.inf, None
    for epoch, value in enumerate(result.history, start=1):
        waited = 0 if value < best - tol else waited + 1
        best = min(best, value)
        if waited == 3 and stop is None:
            stop = epoch
    assert result.converged == (stop is not None)
    assert result.n_iter == (stop or 200)


def test_without_a_tolerance_every_epoch_is_run():
    result = Run().train(replace(FIXED, learning_rate=0.0, max_iter=30))
    assert (result.n_iter, result.converged, len(result.history)) == (30, False, 30)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_watching_changes_nothing_but_the_end(cost, relevance, seed):
    """Epochs run one by one, to be watched, and many in one call give the same bits."""
    run = Run(seed, cost, relevance)
    blind = run.train(replace(FIXED, max_iter=6, shuffle=True))
    watched = run.train(replace(FIXED, max_iter=6, shuffle=True, tol=0.0, n_iter_no_change=100))
    assert_same(blind, watched)
    assert blind.history == watched.history


def test_the_report_is_told_every_watched_epoch():
    told = []
    result = Run().train(
        replace(FIXED, max_iter=4, tol=0.0), report=lambda done, value, last: told.append((done, value))
    )
    assert told == list(enumerate(result.history, start=1))


# -- shuffling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_the_same_seed_gives_the_same_bits(cost, relevance):
    run = Run(0, cost, relevance)
    settings = replace(FIXED, max_iter=5, shuffle=True)
    one, again, other = (run.train(settings, random_state=seed) for seed in (1, 1, 2))
    assert_same(one, again)
    assert one.history == again.history
    assert (one.params.prototypes != other.params.prototypes).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_shuffled_epochs_are_permutations_drawn_one_after_another(seed):
    run = Run(seed)
    settings = replace(FIXED, max_iter=3, shuffle=True)
    result = run.train(settings, random_state=seed)
    source = np.random.RandomState(seed)
    order = np.concatenate([source.permutation(len(run.X)) for _ in range(3)])
    assert_same(result, run.train(FIXED, rows=order), rtol=1e-12)


def test_without_shuffling_no_random_number_is_drawn():
    run, source = Run(), np.random.RandomState(5)
    objective = Objective(Euclidean(), Identity(), run.cost, LABELS)
    before = source.get_state()[1:3]
    train(
        objective, run.relevance, run.params, run.X, run.y, run.weight, FIXED, Units(1.0, 1.0), run.memory(), source
    )  # fmt: skip
    after = source.get_state()[1:3]
    assert before[1] == after[1]
    np.testing.assert_array_equal(before[0], after[0])


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("time_slope", [False, True])
@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_a_stream_in_batches_equals_one_run(cost, relevance, time_slope, seed):
    """Batches of any size, the rest of the state in the memory: as if all samples had come at once."""
    if time_slope and cost != "glvq":
        pytest.skip("only GLVQ has a slope")
    run = Run(seed, cost, relevance)
    settings = replace(FIXED, time_slope=time_slope, learning_rate=0.3 if cost == "olvq1" else 0.05)
    whole = run.train(settings)
    memory, params, costs = run.memory(settings), run.params, 0.0
    for begin, end in ((0, 1), (1, 8), (8, 9), (9, 40), (40, 60)):
        part = run.train(settings, params, slice(begin, end), memory, stream=True)
        params = part.params
        costs += part.history[0] * run.weight[begin:end].sum()
    assert memory.step == 60
    assert_same(part, whole, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(costs / run.weight.sum(), whole.history[0], rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_learned_width_goes_on_where_it_stopped(seed):
    run = Run(seed, "glvq")
    run.link = Gaussian()
    run.params = run.params._replace(width=1.5)
    settings = replace(FIXED, width_rate=0.05)
    whole = run.train(settings)
    memory, params = run.memory(), run.params
    for begin in range(0, 60, 20):
        params = run.train(settings, params, slice(begin, begin + 20), memory, stream=True).params
    np.testing.assert_allclose(params.width, whole.params.width, rtol=1e-10)
    assert params.width != 1.5


# -- the centre --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [1.0, 0.25, 1024.0, 2.0**-10])
@pytest.mark.parametrize("offset", [0, 1000, -(2**15)])
def test_subtracting_the_centre_from_round_numbers_is_exact(offset, unit, dtype, seed):
    rng = np.random.default_rng(seed)
    X = ((rng.integers(-50, 50, (30, 5)) * rng.integers(1, 9, 5) + offset) * unit).astype(dtype)
    centre = round_centre(X)
    assert centre.dtype == dtype
    moved = X - centre
    for i, j in np.ndindex(X.shape):
        assert Fraction(float(moved[i, j])) == Fraction(float(X[i, j])) - Fraction(float(centre[j]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e145])
def test_the_centre_is_near_the_mean(scale, seed):
    X = (np.random.default_rng(seed).normal(size=(40, 3)) + np.array([0, 5, -100])) * scale
    spread = np.abs(X - X.mean(axis=0)).max(axis=0)
    assert (np.abs(round_centre(X) - X.mean(axis=0)) <= spread).all()


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1 / 3, 1e9 + 0.1, 1e-300])
def test_the_round_centre_a_constant_feature_is_its_value(constant):
    """Within the rounding of a mean."""
    for count in (1, 2, 3, 7, 10, 49):
        centre = round_centre(np.full((count, 1), constant))
        assert abs(centre[0] - constant) <= 4 * np.spacing(abs(constant))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_a_place_far_away_gives_the_same_result_there(cost, relevance, seed):
    near, far = Run(seed, cost, relevance), Run(seed, cost, relevance)
    near.X, far.X = np.round(near.X * 1024) / 1024, np.round(near.X * 1024) / 1024 + 2.0**20
    W = np.round(near.params.prototypes * 1024) / 1024
    near.params, far.params = near.params._replace(prototypes=W), near.params._replace(prototypes=W + 2.0**20)
    one, other = near.train(), far.train()
    np.testing.assert_allclose(other.params.prototypes - 2.0**20, one.params.prototypes, atol=1e-8)
    np.testing.assert_allclose(other.history, one.history, rtol=1e-9)


# -- units -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relevance", RELEVANCES)
@pytest.mark.parametrize("link", [Identity(), Gaussian(width=2.0)], ids=["identity", "gaussian"])
def test_units_are_the_mean_smallest_distances(link, relevance, seed):
    run = Run(seed, "glvq", relevance)
    objective = Objective(run.relevance.metric(LABELS), link, run.cost, LABELS)
    units = units_of(objective, run.relevance, run.params, run.X, run.weight)
    D = objective.metric.distances(run.X, run.params.prototypes, run.params.relevance).min(axis=1)
    R, stretch = run.params.relevance, 1.0
    if R is not None and run.relevance.weighted_step:
        matrices = [np.diag(R)] if R.ndim == 1 else [omega.T @ omega for omega in np.reshape(R, (-1, *R.shape[-2:]))]
        stretch = max(np.linalg.eigvalsh(matrix).max() for matrix in matrices)
    assert units.link == pytest.approx(np.average(link.value(D), weights=run.weight), rel=1e-12)
    assert units.step == pytest.approx(np.average(D, weights=run.weight) / stretch, rel=1e-12)


def test_units_without_any_spread_are_one():
    objective = Objective(Euclidean(), Identity(), GLVQCost(), LABELS)
    places = np.zeros((6, 4))
    assert units_of(objective, Relevance(), Params(places), places, np.ones(6)) == Units(1.0, 1.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relevance", ["plain", "gradient", "fc1", "matrix"])
def test_the_scaled_step_is_the_gradient_step_in_units_of_the_spread(relevance, seed):
    run = Run(seed, "glvq", relevance)
    scaled = run.train(replace(FIXED, step="scaled"), units=Units(2.5, 7.0))
    assert_same(scaled, run.train(replace(FIXED, learning_rate=0.05 * 2.5)), rtol=1e-12)


@pytest.mark.parametrize("cost", RULES)
def test_rules_have_no_unit(cost):
    run = Run(0, cost)
    assert_same(run.train(replace(FIXED, step="scaled"), units=Units(2.5, 7.0)), run.train())


# -- what goes in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_arrays_may_be_read_only_and_in_any_order(cost, relevance):
    run = Run(0, cost, relevance)
    expected = run.train()
    run.X = np.asfortranarray(run.X)
    run.params = run.params._replace(prototypes=np.asfortranarray(run.params.prototypes))
    for array in (run.X, run.params.prototypes, run.params.relevance):
        if array is not None:
            array.flags.writeable = False
    assert_same(run.train(), expected)


@pytest.mark.parametrize("rate", [1e2, 1e6, 1e12])
@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_no_rate_makes_anything_infinite(cost, relevance, rate):
    for seed in SEEDS:
        run = Run(seed, cost, relevance)
        learning_rate = 0.9 if cost == "olvq1" else rate
        result = run.train(replace(FIXED, learning_rate=learning_rate, relevance_rate=rate, max_iter=5))
        assert np.isfinite(result.params.prototypes).all()
        if result.params.relevance is not None:
            assert np.isfinite(result.params.relevance).all()
        assert np.isfinite(result.history).all()


@dataclass(frozen=True)
class MyCost(GLVQCost):
    """A cost of one's own, though it looks like a known one."""


@dataclass(frozen=True)
class MyLink(Gaussian):
    """A link of one's own."""


@dataclass(frozen=True)
class MyRelevance(FisherPrototypes):
    """A rule of one's own."""


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("cost", MyCost(), r"knows the costs .*'GLVQCost'.*, not MyCost; .* for a cost of your own\."),
        ("link", MyLink(), r"knows the kernels .*'Gaussian'.*, not MyLink; .* for a kernel of your own\."),
        ("relevance", MyRelevance(), r"knows the relevances .*'FisherPrototypes'.*, not MyRelevance; .*of your own\."),
        ("cost", object(), r"knows the costs .*, not object"),
        ("link", object(), r"knows the kernels .*, not object"),
    ],
)
def test_a_part_of_ones_own_gets_a_sentence(part, value, message):
    run = Run(0, "glvq", "fc1")
    setattr(run, part, value)
    with pytest.raises(ValueError, match=f"solver='online' {message}"):
        run.train()
