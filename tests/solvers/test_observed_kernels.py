"""The compiled loops for samples with missing values equal a slow implementation, whose gradients are complex steps."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import LVQ1, LVQ3, LVQ21, OLVQ1
from lvq.model.costs import GLVQCost, LOGMCost, MCECost, RSLVQCost, SNPCCost
from lvq.model.links import Gaussian, Identity, InverseMultiquadric
from lvq.model.objective import Objective, Params
from lvq.model.observed import Observed
from lvq.model.relevance import Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers.online import Online, train
from lvq.solvers.state import TrainingState, Units, new_statistics
from tests.model.formulas import differences

FEATURES = 5
COSTS = {
    "glvq": (GLVQCost(), {"cost": "glvq"}, {}),
    "glvq sigmoid relative": (GLVQCost(slope=4.0), {"sigmoid": 4.0, "relative": True}, {"step": "relative"}),
    "glvq time": (GLVQCost(slope="time"), {"sigmoid": "time"}, {}),
    "mce alpha": (MCECost(alpha=0.2, xi=0.7), {"cost": "mce", "xi": 0.7, "alpha": 0.2}, {}),
    "logm": (LOGMCost(xi=0.7), {"cost": "logm", "xi": 0.7}, {}),
    "snpc": (SNPCCost(xi=0.6), {"cost": "snpc", "xi": 0.6}, {}),
    "rslvq alpha": (RSLVQCost(alpha=0.2, xi=0.6), {"cost": "rslvq", "xi": 0.6, "alpha": 0.2}, {}),
}
RELEVANCES = {
    "plain": Relevance(),
    "gradient": Weights(),
    "weights per class": Weights(local="class"),
    "weights per prototype": Weights(local="prototype"),
    "matrix": Matrix(),
    "matrix rank 2": Matrix(rank=2),
    "matrix per class": Matrix(local="class"),
    "matrix per prototype rank 2": Matrix(local="prototype", rank=2),
}
LINKS = {
    "identity": (Identity(), {}),
    "gaussian": (Gaussian().with_width(1.7), {"kernel": "gaussian"}),
    "inverse multiquadric": (InverseMultiquadric().with_width(1.7), {"kernel": "inverse_multiquadric"}),
}
EVERY_MODEL = pytest.mark.parametrize("relevance", RELEVANCES), pytest.mark.parametrize("cost", COSTS)


def every_model(test):
    for mark in EVERY_MODEL:
        test = mark(test)
    return test


class Problem:
    """Samples without two fifths of their values: one complete, one with a single one; a feature without variance."""

    def __init__(self, relevance, seed=0, n_samples=14, counts=(2, 3, 2), dtype=np.float64):
        rng = np.random.default_rng(seed)
        self.relevance, self.labels = relevance, np.repeat(np.arange(len(counts)), counts)
        self.y = rng.integers(0, len(counts), n_samples)
        centres = rng.normal(size=(len(counts), FEATURES)) + 3.0
        self.X = (centres[self.y] + rng.normal(size=(n_samples, FEATURES))).astype(dtype)
        self.X[rng.random(self.X.shape) < 0.4] = np.nan
        self.X[3], self.X[5, 1:] = 3.0, np.nan
        self.X[np.isnan(self.X).all(axis=1), 1] = 2.5
        self.W = (centres[self.labels] + rng.normal(size=(len(self.labels), FEATURES))).astype(dtype)
        self.weight = rng.uniform(0.5, 1.5, n_samples)
        self.variances = np.append(rng.uniform(0.5, 2.0, FEATURES - 1), 0.0)
        self.metric = relevance.start(
            ArraySamples(np.nan_to_num(self.X), np.arange(n_samples) % 3, self.weight), self.labels
        )
        if isinstance(relevance, Matrix):
            self.metric = rng.normal(size=self.metric.shape)
            self.metric /= np.sqrt((self.metric**2).sum(axis=(-2, -1), keepdims=True))
        elif self.metric is not None:
            self.metric = rng.dirichlet(np.full(FEATURES, 5.0), self.metric.shape[:-1])
        self.metric = None if self.metric is None else self.metric.astype(dtype)

    @property
    def owner(self):
        if getattr(self.relevance, "local", None) is None:
            return None
        return self.labels if self.relevance.local == "class" else np.arange(len(self.labels))

    def samples(self, count=None):
        return ArraySamples(self.X[:count], self.y[:count], self.weight[:count])

    def compiled(self, cost, link, settings, width=None, samples=None, max_iter=1, **more):
        fixed = {"learning_rate": 0.05, "relevance_rate": 0.02, "schedule": "constant", "step": "gradient"}
        settings = Online(**(fixed | {"shuffle": False} | settings | more))
        objective = Objective(self.relevance.metric(self.labels), link, cost, self.labels)
        statistics = new_statistics(self.relevance, cost, self.W.shape, 3, settings.learning_rate)
        state = TrainingState(
            cost, self.relevance, Units(1.0, 1.0), statistics, 0.0, np.random.RandomState(0), (), self.variances
        )
        samples = self.samples() if samples is None else samples
        return train(objective, Params(self.W, self.metric, width), samples, max_iter, settings, state)[0]

    def slow(self, reference, spec, width=1.7, n_epochs=1, **more):
        rates = {"rate": 0.05, "relevance_rate": 0.02}
        spec = reference.Spec(**({"cost": "glvq"} | rates | spec | more))
        state = reference.State(self.W.astype(float), self.labels, self.metric, self.owner, width)
        for _ in range(n_epochs):
            for rows in zip(self.X.astype(float), self.y, self.weight):
                slow_step(reference, spec, state, self.variances, *rows)
                yield state


# -- the slow implementation -------------------------------------------------------------------------------------------


def parts_of(x, w, metric, variances):
    """e'Lambda e and s as the documents define them, for complex numbers too."""
    seen = ~np.isnan(x)
    Lambda = np.eye(len(x)) if metric is None else np.diag(metric) if metric.ndim == 1 else metric.T @ metric
    e = (x - w)[seen]
    weights = np.diag(Lambda) * variances
    s = weights[seen].sum() / weights.sum()
    return e @ Lambda[np.ix_(seen, seen)] @ e, s if s.real > 0 and not seen.all() else 1.0


def distance(x, w, metric, variances):
    square, s = parts_of(x, w, metric, variances)
    return square / s


def derivative(function, point, step=1e-30):
    """All partial derivatives by complex steps, which lose no digits."""
    result = np.zeros(point.shape)
    for place in np.ndindex(point.shape):
        moved = point.astype(complex)
        moved[place] += 1j * step
        result[place] = function(moved).imag / step
    return result


def slow_step(reference, spec, state, variances, x, label, weight):
    """One sample: all derivatives first, then all updates. The step is the gradient times s."""
    W, metric = state.prototypes.copy(), state.metric
    metrics = [None if metric is None else state.matrix_of(j) for j in range(len(W))]
    D = np.array([distance(x, W[j], metrics[j], variances).real for j in range(len(W))])
    H, by_distance, by_width = reference.induced(spec, state, D)
    state.cost, by_induced = reference.cost_and_derivatives(spec, state, H, int(label))
    left = reference.decay(spec, state.time) * weight
    by_metric = None if metric is None else np.zeros_like(metric)
    for j in range(len(W)):
        s, factor = parts_of(x, W[j], metrics[j], variances)[1], by_induced[j] * by_distance[j]
        by_prototype = derivative(lambda w, j=j: distance(x, w, metrics[j], variances), W[j])
        state.prototypes[j] = W[j] - spec.rate * left * s * factor * by_prototype
        if metric is not None:
            own = derivative(lambda R, j=j: distance(x, W[j], R, variances), metrics[j])
            part = by_metric if state.owner is None else by_metric[state.owner[j]]
            part += s * factor * own
    move_metric(reference, spec, state, by_metric, left)
    if spec.width_rate:
        state.width = np.exp(np.log(state.width) - spec.width_rate * left * (by_induced * by_width).sum())
    state.time += 1


def move_metric(reference, spec, state, by_metric, left):
    metric = state.metric
    if metric is None:
        return
    turned = metric - spec.relevance_rate * left * by_metric
    if metric.ndim == (2 if state.owner is None else 3):
        state.metric = turned / np.sqrt((turned**2).sum(axis=(-2, -1), keepdims=True))
        return
    state.metric = np.reshape([reference.clip_and_normalise(row) for row in np.atleast_2d(turned)], metric.shape)


# -- the comparison ----------------------------------------------------------------------------------------------------


def assert_close(params, state, what):
    for name, ours, theirs in (
        ("prototypes", params.prototypes, state.prototypes),
        ("metric", params.relevance, state.metric),
        ("width", params.width, state.width),
    ):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10, err_msg=f"{name} {what}")


@every_model
def test_every_model_update_by_update(reference, cost, relevance):
    """After 1, 4, 6 and 14 samples, and after two epochs; the links in turn."""
    part, spec, settings = COSTS[cost]
    name = list(LINKS)[(list(COSTS).index(cost) + list(RELEVANCES).index(relevance)) % len(LINKS)]
    link, link_spec = LINKS[name]
    problem, sums = Problem(RELEVANCES[relevance]), np.zeros(2)
    for done, state in enumerate(problem.slow(reference, spec | link_spec, n_epochs=2), start=1):
        sums[(done - 1) // 14] += state.cost * problem.weight[(done - 1) % 14]
        if done in (1, 4, 6, 14):
            result = problem.compiled(part, link, settings, samples=problem.samples(done))
            assert_close(result.params, state, f"{name} after {done}")
    result = problem.compiled(part, link, settings, max_iter=2)
    assert_close(result.params, state, f"{name} after two epochs")
    np.testing.assert_allclose(result.history, sums / problem.weight.sum(), rtol=1e-9)
    if problem.metric is not None:
        assert np.abs(state.metric - problem.metric).max() > 1e-4  # it was changed


@pytest.mark.parametrize("relevance", ["plain", "gradient", "matrix", "matrix per class"])
@pytest.mark.parametrize("schedule", ["linear", "inverse"])
def test_schedules_and_learned_width(reference, schedule, relevance):
    part, spec, settings = COSTS["logm"]
    problem = Problem(RELEVANCES[relevance])
    spec = spec | {"kernel": "gaussian", "schedule": schedule, "horizon": 28 if schedule == "linear" else 14}
    *_, state = problem.slow(reference, spec, n_epochs=2, width_rate=0.05)
    link = LINKS["gaussian"][0]
    result = problem.compiled(part, link, settings, width=1.7, max_iter=2, schedule=schedule)
    assert_close(result.params, state, schedule)
    assert abs(state.width - 1.7) > 1e-3


@every_model
def test_a_step_is_the_gradient_of_the_objective(cost, relevance):
    """By central differences of the library's own objective; the step has the factor s."""
    part, _, settings = COSTS[cost]
    rule = RELEVANCES[relevance]
    if "time" in cost or "relative" in cost:
        pytest.skip("a step that is no gradient by definition")
    problem = Problem(rule, n_samples=14)
    metric = Observed(rule.metric(problem.labels), problem.variances)
    objective = Objective(metric, Identity(), part, problem.labels)
    for row in (0, 3, 8):
        X, y = problem.X[row : row + 1], problem.y[row : row + 1]
        after = problem.compiled(part, Identity(), settings, samples=ArraySamples(X, y, np.ones(1))).params

        def cost_at(W, R, X=X, y=y):
            return float(objective.value_and_gradient(Params(W, R), X, y, np.ones(1))[0])

        by_prototype = differences(lambda W: cost_at(W, problem.metric), problem.W)
        mask = (~np.isnan(X)).astype(float)
        s = metric.prepare(problem.W, problem.metric).fractions(mask)[0]  # of each group of prototypes
        of_prototype = s[0] if problem.owner is None else s[problem.owner]
        moved = ((problem.W - after.prototypes).T / 0.05 / of_prototype).T
        np.testing.assert_allclose(moved, by_prototype, rtol=1e-5, atol=1e-7)
        if problem.metric is None:
            continue
        by_metric = differences(lambda R: cost_at(problem.W, R), problem.metric)
        features = by_metric.reshape(len(s), -1, FEATURES)
        moved = problem.metric.reshape(features.shape) - 0.02 * s[:, None, None] * features
        if isinstance(rule, Matrix):
            expected = moved / np.linalg.norm(moved, axis=(1, 2), keepdims=True)
        else:
            expected = np.maximum(moved, 0) / np.maximum(moved, 0).sum(axis=2, keepdims=True)
        np.testing.assert_allclose(after.relevance, expected.reshape(problem.metric.shape), rtol=1e-6, atol=1e-9)


@every_model
def test_complete_rows_among_incomplete_ones_have_the_ordinary_step(cost, relevance):
    """A row without any value, of the same class, changes nothing and makes the loop look at masks."""
    part, _, settings = COSTS[cost]
    if "time" in cost:
        pytest.skip("its step counts rows")
    problem = Problem(RELEVANCES[relevance])
    problem.X = np.nan_to_num(problem.X, nan=2.0)
    ordinary = problem.samples()
    empty = np.full((1, FEATURES), np.nan), problem.y[:1], np.ones(1)
    mixed = ArraySamples(*(np.concatenate(parts) for parts in zip(ordinary.take(slice(None)), empty)))
    ours, theirs = (
        problem.compiled(part, Identity(), settings, samples=samples, max_iter=3).params
        for samples in (mixed, ordinary)
    )
    np.testing.assert_allclose(ours.prototypes, theirs.prototypes, rtol=1e-10)
    if problem.metric is not None:
        np.testing.assert_allclose(ours.relevance, theirs.relevance, rtol=1e-9, atol=1e-12)


@every_model
def test_a_row_without_any_value_changes_nothing(cost, relevance):
    part, _, settings = COSTS[cost]
    problem = Problem(RELEVANCES[relevance])
    row = ArraySamples(np.full((1, FEATURES), np.nan), problem.y[:1], np.ones(1))
    params = problem.compiled(part, Identity(), settings, samples=row).params
    np.testing.assert_array_equal(params.prototypes, problem.W)
    if problem.metric is not None:
        np.testing.assert_allclose(params.relevance, problem.metric, rtol=1e-15)


@every_model
def test_weights_multiply_the_rates(cost, relevance):
    part, _, settings = COSTS[cost]
    problem = Problem(RELEVANCES[relevance])
    rates = {"learning_rate": 0.04, "relevance_rate": 0.02}
    one = problem.compiled(part, Identity(), settings, **rates)
    problem.weight *= 2
    two = problem.compiled(part, Identity(), settings, **{name: rate / 2 for name, rate in rates.items()})
    np.testing.assert_allclose(one.params.prototypes, two.params.prototypes, rtol=1e-12)
    if one.params.relevance is not None:
        np.testing.assert_allclose(one.params.relevance, two.params.relevance, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-12)


@every_model
def test_float32_stays_float32_and_inputs_stay_as_they_are(cost, relevance):
    part, _, settings = COSTS[cost]
    single = Problem(RELEVANCES[relevance], dtype=np.float32)
    samples = single.samples()
    given = samples.X, single.W, single.metric
    before = [None if array is None else array.copy() for array in given]
    ours = single.compiled(part, Identity(), settings, samples=samples).params
    theirs = Problem(RELEVANCES[relevance]).compiled(part, Identity(), settings).params
    assert ours.prototypes.dtype == np.float32
    np.testing.assert_allclose(ours.prototypes, theirs.prototypes, rtol=1e-4, atol=1e-4)
    if ours.relevance is not None:
        assert ours.relevance.dtype == np.float32
        np.testing.assert_allclose(ours.relevance, theirs.relevance, rtol=1e-3, atol=1e-4)
    for old, new in zip(before, given):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("relevance", ["gradient", "weights per class", "matrix", "matrix per class"])
def test_rows_of_features_without_weight(relevance, dtype):
    """Where all weight is on features that are missing, s is tiny or 0; nothing overflows or becomes NaN."""
    problem = Problem(RELEVANCES[relevance], dtype=dtype)
    problem.X[:, 0] = np.nan
    for tiny in (0.0, 1e-45, 1e-38, 1e-20):
        metric = np.full_like(problem.metric, tiny)
        metric[..., 0] = 1.0
        problem.metric = metric
        for cost in ("glvq", "logm", "rslvq alpha"):
            result = problem.compiled(COSTS[cost][0], Identity(), {}, max_iter=2)
            assert np.isfinite(result.params.prototypes).all()
            assert np.isfinite(result.params.relevance).all()
            assert np.isfinite(result.history).all()


@pytest.mark.parametrize("rows", [slice(None), [0]])
def test_the_number_of_variances_is_checked(rows):
    problem = Problem(Relevance())
    problem.variances = problem.variances[1:]
    with pytest.raises(ValueError, match="variances that do not fit the model"):
        problem.compiled(GLVQCost(), Identity(), {}, samples=ArraySamples(*problem.samples().take(rows)))


def rule_steps(model, X, y, W, labels, variances, rate=0.07, epochs=2):
    """Kohonen's rules, step by step: in what is observed, as if nothing else were there."""
    W, rates = W.copy(), np.full(len(W), rate)
    for x, label in [*zip(X, y)] * epochs:
        known = ~np.isnan(x)
        fraction = variances[known].sum() / variances.sum()
        distances = np.array([((x - w)[known] ** 2).sum() / fraction for w in W])
        first, second = np.argsort(distances, kind="stable")[:2]
        own = labels == label
        if isinstance(model, LVQ1 | OLVQ1):
            sign = 1.0 if own[first] else -1.0
            W[first, known] += sign * rates[first] * (x - W[first])[known]
            if isinstance(model, OLVQ1):
                rates[first] = min(rates[first] / (1 + sign * rates[first]), rate)
            continue
        ratio = np.sqrt(distances[first] / distances[second])
        if own[first] != own[second] and ratio > (1 - model.window) / (1 + model.window):
            for j in (first, second):
                W[j, known] += (1.0 if own[j] else -1.0) * rate * (x - W[j])[known]
        elif isinstance(model, LVQ3) and own[first] and own[second]:
            for j in (first, second):
                W[j, known] += model.epsilon * rate * (x - W[j])[known]
    return W


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", [LVQ1(), OLVQ1(), LVQ21(window=0.5), LVQ3(window=0.5)], ids=str)
def test_rules_without_a_cost(model, seed):
    rng = np.random.default_rng(seed)
    y, labels = np.arange(40) % 2, np.array([0, 0, 1, 1])
    X = rng.normal(size=(40, 4)) + y[:, None]
    X[rng.random(X.shape) < 0.3] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    y = y[: len(X)]
    W = rng.normal(size=(4, 4)) + labels[:, None]
    solver = Online(learning_rate=0.07, schedule="constant", shuffle=False)
    given = {"init": (W, labels), "n_prototypes": 2, "max_iter": 2, "solver": solver}
    found = clone(model).set_params(missing="ignore", **given).fit(X, y)
    expected = rule_steps(model, X, y, W, labels, np.nanvar(X, axis=0))
    assert (np.abs(expected - W).max(axis=1) > 0.01).sum() >= 2
    np.testing.assert_allclose(found.prototypes_, expected, rtol=1e-9, atol=1e-12)
