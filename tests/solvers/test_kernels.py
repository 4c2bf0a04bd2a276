"""The compiled kernels equal a plain, slow implementation of the papers' formulas (reference.py), update by update."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from lvq.model.costs import (
    CrossEntropyCost,
    GLVQCost,
    LOGMCost,
    MCECost,
    RSLVQCost,
    SNPCCost,
    WindowRule,
    WinnerRule,
)
from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, RationalQuadratic
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    FisherNeighbours,
    FisherPrototypes,
    Hebbian,
    Matrix,
    Relevance,
    Weights,
)
from lvq.model.samples import ArraySamples
from lvq.solvers import online
from lvq.solvers.online import COSTS, KERNELS, RELEVANCES, Online, train
from lvq.solvers.state import TrainingState, Units, new_statistics
from tests.solvers import reference

TOLERANCE = 1e-10
FEATURES = 4

# name: (the library's part, the same for the reference, settings of the solver)
RULES = {
    "lvq1": (WinnerRule(), {"cost": "lvq1"}, {}),
    "olvq1": (WinnerRule(own_rates=True), {"cost": "olvq1", "rate": 0.3}, {"learning_rate": 0.3}),
    "lvq2.1": (WindowRule(window=0.4), {"cost": "lvq21", "window": 0.4}, {}),
    "lvq3": (WindowRule(window=0.4, epsilon=0.3), {"cost": "lvq3", "window": 0.4, "epsilon": 0.3}, {}),
}
RELATIVE = {"step": "relative"}
MARGINS = {
    "glvq": (GLVQCost(), {"cost": "glvq"}, {}),
    "glvq sigmoid": (GLVQCost(slope=3.0), {"cost": "glvq", "sigmoid": 3.0}, {}),
    "glvq time": (GLVQCost(slope="time"), {"cost": "glvq", "sigmoid": "time"}, {}),
    "glvq relative": (GLVQCost(), {"cost": "glvq", "relative": True}, RELATIVE),
    "glvq sigmoid relative": (GLVQCost(slope=10.0), {"cost": "glvq", "sigmoid": 10.0, "relative": True}, RELATIVE),
    "glvq alpha relative": (GLVQCost(alpha=0.3), {"cost": "glvq", "alpha": 0.3, "relative": True}, RELATIVE),
    "glvq alpha": (GLVQCost(alpha=0.3), {"cost": "glvq", "alpha": 0.3}, {}),
    "mce": (MCECost(xi=0.7), {"cost": "mce", "xi": 0.7}, {}),
    "mce alpha": (MCECost(alpha=0.2, xi=0.7), {"cost": "mce", "xi": 0.7, "alpha": 0.2}, {}),
    "logm": (LOGMCost(xi=0.7), {"cost": "logm", "xi": 0.7}, {}),
    "logm alpha": (LOGMCost(alpha=0.2, xi=0.7), {"cost": "logm", "xi": 0.7, "alpha": 0.2}, {}),
}
ENTROPY = {"cost": "cross_entropy", "xi": 0.6}
SOFT = {
    "snpc": (SNPCCost(xi=0.6), {"cost": "snpc", "xi": 0.6}, {}),
    "snpc alpha": (SNPCCost(alpha=0.2, xi=0.6), {"cost": "snpc", "xi": 0.6, "alpha": 0.2}, {}),
    "rslvq": (RSLVQCost(xi=0.6), {"cost": "rslvq", "xi": 0.6}, {}),
    "rslvq alpha": (RSLVQCost(alpha=0.2, xi=0.6), {"cost": "rslvq", "xi": 0.6, "alpha": 0.2}, {}),
    "cross entropy": (CrossEntropyCost(alpha=0.0, xi=0.6), ENTROPY, {}),
    "cross entropy alpha": (CrossEntropyCost(alpha=0.2, xi=0.6), ENTROPY | {"alpha": 0.2}, {}),
}
ALL_COSTS = RULES | MARGINS | SOFT

PUBLISHED = {"weighted_step": True, "scores": "max", "no_variance": "between"}
NEAREST = PUBLISHED | {"rivals": "nearest"}
HEURISTICS = {
    "plain": (Relevance(), {}),
    "hebbian": (Hebbian(), {"relevance": "hebbian"}),
    "hebbian squared": (Hebbian(squared=True), {"relevance": "hebbian", "squared": True}),
    "hebbian weighted": (Hebbian(weighted_step=True), {"relevance": "hebbian", "weighted_step": True}),
    "fc1": (FisherPrototypes(), {"relevance": "fc1"}),
    "fc1 maximum": (FisherPrototypes(scores="max"), {"relevance": "fc1", "scores": "max"}),
    "fc1 between": (FisherPrototypes(no_variance="between"), {"relevance": "fc1", "no_variance": "between"}),
    "fc1 even": (FisherPrototypes(classes="even"), {"relevance": "fc1", "classes": "even"}),
    "fc1 published": (FisherPrototypes(**PUBLISHED), {"relevance": "fc1", **PUBLISHED}),
    "fc2": (FisherNeighbours(), {"relevance": "fc2"}),
    "fc2 maximum": (FisherNeighbours(scores="max"), {"relevance": "fc2", "scores": "max"}),
    "fc2 nearest": (FisherNeighbours(rivals="nearest"), {"relevance": "fc2", "rivals": "nearest"}),
    "fc2 weighted": (FisherNeighbours(weighted_step=True), {"relevance": "fc2", "weighted_step": True}),
    "fc2 published": (FisherNeighbours(**NEAREST), {"relevance": "fc2", **NEAREST}),
}
IN_MATRIX_FORM = {"relevance": "matrix", "weighted_step": True}
IN_WEIGHTS_FORM = {"relevance": "gradient", "weighted_step": True}
GRADIENTS = {
    "gradient": (Weights(), IN_WEIGHTS_FORM),
    "weights per class": (Weights(local="class"), IN_WEIGHTS_FORM),
    "weights per prototype": (Weights(local="prototype"), IN_WEIGHTS_FORM),
    "matrix": (Matrix(), IN_MATRIX_FORM),
    "matrix rank 2": (Matrix(rank=2), IN_MATRIX_FORM),
    "matrix rank 1": (Matrix(rank=1), IN_MATRIX_FORM),
    "matrix per class": (Matrix(local="class"), IN_MATRIX_FORM),
    "matrix per class rank 2": (Matrix(local="class", rank=2), IN_MATRIX_FORM),
    "matrix per prototype": (Matrix(local="prototype"), IN_MATRIX_FORM),
    "matrix per prototype rank 2": (Matrix(local="prototype", rank=2), IN_MATRIX_FORM),
}
ALL_RELEVANCES = HEURISTICS | GRADIENTS

LINKS = {
    "identity": (Identity(), {}),
    "gaussian": (Gaussian(), {"kernel": "gaussian"}),
    "cauchy": (Cauchy(), {"kernel": "cauchy"}),
    "inverse multiquadric": (InverseMultiquadric(), {"kernel": "inverse_multiquadric"}),
    "rational quadratic": (RationalQuadratic(shape=2.5), {"kernel": "rational_quadratic", "shape": 2.5}),
}


def pairs(costs, relevances):
    """All pairs of a cost and a relevance rule that make a model: rules without a cost have no gradient."""
    return [
        (cost, relevance) for cost in costs for relevance in relevances if cost not in RULES or relevance in HEURISTICS
    ]


# By default every cost meets every kind of relevance rule, three costs meet every variant of these, and tests of what
# all loops have in common take each loop once. The slow tests take all pairs.
PRINCIPAL = (
    "plain", "hebbian", "fc1", "fc2", "gradient", "weights per prototype", "matrix", "matrix per class",
    "matrix per prototype rank 2",
)  # fmt: skip
MODELS_AND_RELEVANCES = pairs(ALL_COSTS, PRINCIPAL) + pairs(
    ("lvq1", "glvq", "rslvq"), [name for name in ALL_RELEVANCES if name not in PRINCIPAL]
)
EVERY_LOOP = [
    *[("lvq1", "plain"), ("olvq1", "plain"), ("lvq3", "hebbian"), ("glvq", "plain"), ("logm", "fc2")],
    *[("rslvq", "plain"), ("glvq", "gradient"), ("rslvq alpha", "weights per prototype"), ("glvq sigmoid", "matrix")],
    ("mce", "matrix per class"),
]


class Problem:
    """Samples, prototypes and a metric for one relevance rule, without ties and not near the origin.

    The last class has one prototype, so its first one is the only one.
    """

    def __init__(self, seed, relevance, n_samples=13, n_features=FEATURES, counts=(2, 3, 1), dtype=np.float64):
        rng = np.random.default_rng(seed)
        self.labels = np.repeat(np.arange(len(counts)), counts)
        self.y = rng.integers(0, len(counts), n_samples)
        centres = rng.normal(size=(len(counts), n_features)) + 3.0
        self.X = (centres[self.y] + rng.normal(size=(n_samples, n_features))).astype(dtype)
        self.W = (centres[self.labels] + rng.normal(size=(len(self.labels), n_features))).astype(dtype)
        self.weight = rng.uniform(0.5, 1.5, n_samples)
        self.relevance, self.sparse, self.variances = relevance, False, None
        # on a line some distances are nearly zero, and high rates would amplify rounding errors
        self.rate, self.relevance_rate = (2e-4, 1e-4) if getattr(relevance, "rank", None) == 1 else (0.05, 0.02)
        self.metric = relevance.start(
            ArraySamples(self.X, np.arange(n_samples) % len(counts), self.weight), self.labels
        )
        if isinstance(relevance, Matrix):
            self.metric = rng.normal(size=self.metric.shape)
            self.metric /= np.sqrt((self.metric**2).sum(axis=(-2, -1), keepdims=True))
            self.metric = self.metric.astype(dtype)
        elif isinstance(relevance, Weights | Hebbian):
            self.metric = rng.dirichlet(np.full(n_features, 5.0), self.metric.shape[:-1]).astype(dtype)

    def on(self, rows):
        """The same on sparse rows, or on rows without two fifths of their values and with a feature of no variance."""
        rng = np.random.default_rng(0)
        self.sparse = rows == "sparse"
        if self.sparse:
            self.X[rng.random(self.X.shape) < 0.5] = 0.0
        if rows == "incomplete":
            self.X[rng.random(self.X.shape) < 0.4] = np.nan
            self.X[0], self.X[5:7, 1:] = 3.0, np.nan  # complete, and with one value
            self.X[np.isnan(self.X).all(axis=1), 1] = 2.5
            self.variances = np.append(rng.uniform(0.5, 2.0, self.X.shape[1] - 1), 0.0)
        return self

    @property
    def owner(self):
        if getattr(self.relevance, "local", None) is None:
            return None
        return self.labels if self.relevance.local == "class" else np.arange(len(self.labels))

    def take(self, count):
        return self.X[:count], self.y[:count], self.weight[:count]

    def compiled(self, cost, link, settings, width=None, count=None, max_iter=1, **more):
        """The library's result after the first `count` samples."""
        relevance = self.relevance
        rates = {"learning_rate": self.rate, "relevance_rate": self.relevance_rate}
        fixed = {"schedule": "constant", "step": "gradient", "shuffle": False}
        settings = Online(**(rates | fixed | settings | more))
        params = Params(self.W, self.metric, width)
        objective = Objective(relevance.metric(self.labels), link, cost, self.labels)
        statistics = new_statistics(relevance, cost, self.W.shape, self.labels.max() + 1, settings.learning_rate)
        unused = np.random.RandomState(0)  # nothing is shuffled here
        state = TrainingState(cost, relevance, Units(1.0, 1.0), statistics, 0.0, unused, (), self.variances)
        X, y, weight = self.take(count)
        samples = ArraySamples(sparse.csr_array(X) if self.sparse else X, y, weight)
        result, _ = train(objective, params, samples, max_iter, settings, state)
        return result

    def slow(self, spec, width=1.0, count=None, n_epochs=1, **more):
        """The states of the reference after each of its steps."""
        spec = reference.Spec(**({"rate": self.rate, "relevance_rate": self.relevance_rate} | spec | more))
        state = reference.State(self.W, self.labels, self.metric, self.owner, width, self.variances)
        yield from reference.learn(spec, state, *self.take(count), n_epochs)


def assert_close(result, state, what, tolerance=TOLERANCE):
    """Compare prototypes, metric and width."""
    for name, ours, theirs in (
        ("prototypes", result.params.prototypes, state.prototypes),
        ("metric", result.params.relevance, state.metric),
        ("width", result.params.width, state.width),
    ):
        if ours is None:
            assert theirs is None or name == "width"
            continue
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
        assert error <= tolerance, f"{name} of {what}: relative error {error:.1e}"


def test_all_parts_of_the_loops_are_covered():
    for cases, codes in ((ALL_COSTS, COSTS), (ALL_RELEVANCES, RELEVANCES), (LINKS, KERNELS)):
        assert {type(part) for part, *_ in cases.values()} == set(codes)


def compare_update_by_update(cost, relevance, link_name, seed=0, rows="dense"):
    """After 1, 3, 7 and 13 samples, and after two epochs; weights of samples and the width of a kernel included."""
    part, cost_spec, settings = ALL_COSTS[cost]
    rule, relevance_spec = ALL_RELEVANCES[relevance]
    link, link_spec = LINKS[link_name]
    problem, sums = Problem(seed, rule).on(rows), np.zeros(2)
    width = None if link_name == "identity" or cost in RULES else 1.7  # where it is learned
    link = link if link_name == "identity" else link.with_width(1.7)
    spec, rate = cost_spec | relevance_spec | link_spec, 0.0 if width is None else problem.rate
    tolerance = TOLERANCE if rows == "dense" else 1e-9
    for done, state in enumerate(problem.slow(spec, 1.7, n_epochs=2, width_rate=rate), start=1):
        sums[(done - 1) // 13] += state.cost * problem.weight[(done - 1) % 13]
        if done in (1, 3, 7, 13):
            result = problem.compiled(part, link, settings, width=width, count=done)
            assert_close(result, state, f"{link_name} after {done}", tolerance)
    result = problem.compiled(part, link, settings, width=width, max_iter=2)
    assert_close(result, state, f"{link_name} after two epochs", tolerance)
    np.testing.assert_allclose(result.history, sums / problem.weight.sum(), rtol=1e-9, atol=1e-10)
    assert width is None or state.width != 1.7  # it was changed


@pytest.mark.parametrize(("number", "pair"), list(enumerate(MODELS_AND_RELEVANCES)))
def test_every_model_update_by_update(number, pair):
    """The kernels, and none, in turn, so that each meets every loop."""
    compare_update_by_update(*pair, list(LINKS)[number % len(LINKS)])


@pytest.mark.parametrize("rows", ["sparse", "incomplete"])
@pytest.mark.parametrize("number", range(len(ALL_COSTS)))
def test_sparse_and_incomplete_rows_update_by_update(number, rows):
    """Costs, relevances and kernels in turn; all costs of all rules on sparse rows in the plain metric."""
    cost, link = list(ALL_COSTS)[number], list(LINKS)[number % len(LINKS)]
    if cost in RULES:  # incomplete rows of rules have a test of their own
        compare_update_by_update(cost, "plain", "identity", rows="sparse")
        return
    for relevance in ["plain", *list(GRADIENTS)[number % 5 :: 5]]:
        compare_update_by_update(cost, relevance, link, rows=rows)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["dense", "incomplete"])
@pytest.mark.parametrize("link_name", LINKS)
@pytest.mark.parametrize(("cost", "relevance"), pairs(ALL_COSTS, ALL_RELEVANCES))
def test_every_model_with_every_kernel_update_by_update(cost, relevance, link_name, rows):
    if rows == "dense" or (cost not in RULES and relevance in ("plain", *GRADIENTS)):
        compare_update_by_update(cost, relevance, link_name, seed=1, rows=rows)


@pytest.mark.parametrize(
    ("cost", "relevance"),
    [("glvq", "weights per class"), ("glvq", "hebbian"), ("rslvq", "fc2"), ("logm alpha", "matrix rank 2")],
)
def test_sparse_rows_whose_steps_change_every_feature(cost, relevance, monkeypatch):
    """They are dense a few at a time: here five of 13."""
    monkeypatch.setattr(online, "FILLED_BYTES", 5 * FEATURES * 8)
    part, cost_spec, settings = ALL_COSTS[cost]
    problem = Problem(0, ALL_RELEVANCES[relevance][0])
    problem.X[np.random.default_rng(0).random(problem.X.shape) < 0.4] = 0.0
    problem.sparse = True
    spec = cost_spec | ALL_RELEVANCES[relevance][1] | {"schedule": "linear", "horizon": 26}
    *_, state = problem.slow(spec, n_epochs=2)
    assert_close(problem.compiled(part, Identity(), settings, max_iter=2, schedule="linear"), state, "two epochs")
    assert np.abs(state.metric - problem.metric).max() > 1e-4  # it was changed


@pytest.mark.parametrize("name", ["lvq1", "glvq"])
@pytest.mark.parametrize("relevance", [name for name in HEURISTICS if name.startswith("fc")])
def test_fisher_relevances_equal_their_definition_over_a_longer_run(relevance, name):
    """Long enough for every prototype to have statistics; one constant feature, which never has any variance."""
    part, spec, settings = ALL_COSTS[name]
    problem = Problem(0, ALL_RELEVANCES[relevance][0], n_samples=60)
    problem.X[:, 1] = 0.5
    problem.W[:, 1] = np.where(problem.labels == 1, 0.25, 0.5)
    spec = spec | ALL_RELEVANCES[relevance][1]
    for done, state in enumerate(problem.slow(spec), start=1):
        if done % 7 == 0 or done == 60:
            assert_close(problem.compiled(part, Identity(), settings, count=done), state, f"{done} samples")
    assert len(state.scores) > 20  # scores were compared
    if ALL_RELEVANCES[relevance][0].scores == "sum":
        np.testing.assert_allclose(state.metric.sum(), 1.0)


def test_rlvq_restarts_when_all_relevances_are_clipped_to_zero():
    """A rate so high that a correct winner clips all relevances at zero."""
    problem = Problem(0, Hebbian())
    spec = {"cost": "lvq1", "relevance": "hebbian", "relevance_rate": 50.0}
    restarts = 0
    for done, state in enumerate(problem.slow(spec), start=1):
        restarts += bool(np.allclose(state.metric, 1 / FEATURES, rtol=1e-15))
        result = problem.compiled(WinnerRule(), Identity(), {}, count=done, relevance_rate=50.0)
        assert_close(result, state, f"{done} samples")
    assert restarts > 0


# -- stored projections ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("local", "rank"), [(None, None), (None, 2), ("class", 5), ("prototype", 2)])
@pytest.mark.parametrize("cost", ["glvq", "logm alpha"])
def test_stored_projections_equal_the_direct_computation_after_an_epoch(cost, local, rank):
    part, spec, settings = ALL_COSTS[cost]
    problem = Problem(0, Matrix(rank=rank, local=local), n_samples=150, n_features=9, counts=(4, 5, 3))
    # at a low rank many distances are small, and high rates would amplify rounding errors beyond 1e-10
    *_, state = problem.slow(spec | IN_MATRIX_FORM, rate=0.005, relevance_rate=0.002)
    result = problem.compiled(part, Identity(), settings, learning_rate=0.005, relevance_rate=0.002)
    assert_close(result, state, "an epoch")
    assert np.abs(state.prototypes - problem.W).max() > 0.01
    assert np.abs(state.metric - problem.metric).max() > 0.01


# -- the plain loop, in blocks of samples ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_samples", "counts", "cost"),
    [
        *[(1, (1, 1), "lvq1"), (8, (8, 8), "glvq"), (9, (9, 5, 3), "olvq1"), (65, (40, 1, 30), "logm alpha")],
        *[(63, (500, 1, 600), "olvq1"), (130, (500, 1, 600), "glvq")],
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in product((1, 7, 8, 9, 64, 65), ((1, 1), (8, 8), (9, 5, 3), (40, 1, 30)), (*RULES, "glvq"))
        ),
    ],
)
def test_block_boundaries_of_samples_and_prototypes(n_samples, counts, cost):
    """Counts of samples around the block of 8, counts of prototypes around the search's 16.

    Prototypes that do not fit in the cache have blocks of 64 samples.
    """
    part, spec, settings = ALL_COSTS[cost]
    problem = Problem(0, Relevance(), n_samples, FEATURES if max(counts) < 500 else 64, counts)
    assert (problem.W.nbytes > 2**19) == (max(counts) == 600)
    *_, state = problem.slow(spec)
    assert_close(problem.compiled(part, Identity(), settings), state, "an epoch")


@pytest.mark.parametrize("rows", ["dense", "sparse"])
@pytest.mark.parametrize("cost", ["lvq1", "lvq3", "glvq"])
def test_long_steps_are_seen_by_later_samples(cost, rows):
    """Products with a prototype that has moved are updated for the later samples alone, or winners would be wrong.

    With a rate of one the scale of sparse prototypes becomes zero.
    """
    part, spec, settings = ALL_COSTS[cost]
    for seed in range(15):
        problem = Problem(seed, Relevance(), n_samples=16, n_features=2, counts=(2, 2)).on(rows)
        problem.rate = 0.5 if cost == "glvq" or seed % 2 else 1.0
        *_, state = problem.slow({"rate": problem.rate} | spec)
        assert_close(problem.compiled(part, Identity(), settings), state, f"seed {seed}", tolerance=1e-8)


@pytest.mark.parametrize(
    ("cost", "relevance"), [("lvq3", "plain"), ("lvq1", "fc1"), ("glvq", "plain"), ("mce", "matrix")]
)
def test_no_loss_of_precision_far_from_the_origin(cost, relevance):
    """Data and prototypes moved by 2**27, all on a grid so that moving them is exact."""
    part, _, settings = ALL_COSTS[cost]
    problem = Problem(0, ALL_RELEVANCES[relevance][0], n_samples=40)
    problem.X, problem.W = np.round(problem.X * 1024) / 1024, np.round(problem.W * 1024) / 1024
    near = problem.compiled(part, Identity(), settings)
    problem.X, problem.W = problem.X + 2.0**27, problem.W + 2.0**27
    far = problem.compiled(part, Identity(), settings)
    # a prototype itself is stored with the digits that its own size leaves
    np.testing.assert_allclose(far.params.prototypes - 2.0**27, near.params.prototypes, atol=2.0**-25)
    np.testing.assert_allclose(far.history, near.history, rtol=1e-12)
    if near.params.relevance is not None:
        np.testing.assert_allclose(far.params.relevance, near.params.relevance, rtol=1e-12)


# -- ties and zeros ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "relevance"), EVERY_LOOP)
def test_ties_go_to_the_lowest_index(cost, relevance):
    """Samples on a small grid of whole numbers, prototypes in equal pairs: the first step has many ties."""
    part, spec, settings = ALL_COSTS[cost]
    rng = np.random.default_rng(0)
    problem = Problem(0, ALL_RELEVANCES[relevance][0], n_samples=12, counts=(4, 6, 4))
    problem.metric = problem.relevance.start(ArraySamples(problem.X, problem.y, problem.weight), problem.labels)
    problem.W[:] = np.repeat(rng.integers(0, 2, (7, FEATURES)), 2, axis=0)
    grid = rng.integers(0, 2, (12, FEATURES)) + 0.5 * rng.integers(0, 2, (12, FEATURES))
    for x, label in zip(grid, problem.y.copy()):
        if cost.startswith(("glvq", "lvq2", "lvq3")) and not ((x - problem.W) ** 2).sum(axis=1).min():
            continue  # 0/0 has its own test
        problem.X[0], problem.y[0] = x, label
        (state,) = problem.slow(spec | ALL_RELEVANCES[relevance][1], count=1)
        assert_close(problem.compiled(part, Identity(), settings, count=1), state, f"{x}")


@pytest.mark.parametrize(("relevance", "slope", "cost"), [("plain", 0.0, 0.0), ("matrix", 4.0, 0.5)])
def test_glvq_with_both_distances_zero(relevance, slope, cost):
    """d+ = d- = 0 gives mu = 0 and no step; the cost is f(0)."""
    problem = Problem(0, ALL_RELEVANCES[relevance][0], n_samples=1, counts=(1, 1))
    problem.W[:] = problem.X[0] = np.arange(FEATURES)
    result = problem.compiled(GLVQCost(slope=slope), Identity(), {})
    np.testing.assert_array_equal(result.params.prototypes, problem.W)
    assert result.history == [cost]


# -- single precision, weights -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "relevance"), EVERY_LOOP)
def test_float32_is_close_to_float64_and_weights_multiply_the_rates(cost, relevance):
    """Twice the weight of every sample equals twice all rates, except for OLVQ1, which adapts its rates."""
    part, _, settings = ALL_COSTS[cost]
    known = cost not in RULES and relevance in ("plain", *GRADIENTS)  # whose incomplete rows the reference has
    for rows in ("dense", "sparse", "incomplete") if known else ("dense", "sparse"):
        double, single = (
            Problem(0, ALL_RELEVANCES[relevance][0], n_samples=24, dtype=dtype).on(rows)
            for dtype in (np.float64, np.float32)
        )
        for link in (Identity(), Gaussian().with_width(1.7)):
            ours, theirs = (problem.compiled(part, link, settings).params for problem in (single, double))
            for name, start in (("prototypes", double.W), ("relevance", double.metric)):
                found, expected = getattr(ours, name), getattr(theirs, name)
                if expected is None:
                    continue
                assert found.dtype == np.float32
                moved = np.abs(expected - start).max()
                np.testing.assert_allclose(found, expected, rtol=0, atol=0.01 * moved + 4e-6)
        if cost == "olvq1":
            continue
        double.weight *= 2
        rates = {"learning_rate": double.rate / 2, "relevance_rate": double.relevance_rate / 2}
        twice = double.compiled(part, link, settings, **rates).params
        np.testing.assert_allclose(twice.prototypes, theirs.prototypes, rtol=1e-12)
        if theirs.relevance is not None:
            np.testing.assert_allclose(twice.relevance, theirs.relevance, rtol=1e-12, atol=1e-15)
