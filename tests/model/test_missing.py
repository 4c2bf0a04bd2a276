"""Distances over observed features against the formula, their gradient against finite differences."""

import numpy as np
import pytest

from lvq.model.incomplete_samples import IncompleteSamples, filled, samples_of
from lvq.model.links import Identity
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.metrics import Diagonal
from lvq.model.missing import Observed, packed
from lvq.model.objective import Objective, Params
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import RELEVANCES, MatrixRelevance, Relevance
from lvq.model.samples import ArraySamples, observed_variances
from lvq.model.storage import from_arrays, to_arrays
from tests.model.test_gradients import LABELS, chosen_links, differences, random_metric, relative_error, relevances

RULES = [pytest.param(rule, id=name) for name, rule in relevances()]


def parameters(rng, relevance, n_features=4):
    """Prototypes and random parameters of the metric."""
    W = rng.normal(size=(len(LABELS), n_features))
    R = relevance.start(W, LABELS, np.ones(len(W)), LABELS)
    if R is not None:
        R = random_metric(rng, relevance, R.shape)
    return W, R


def incomplete(rng, count, n_features, fraction=0.3):
    """Samples of which about a fraction of the values is missing; the first has none, the second nothing else."""
    X = rng.normal(size=(count, n_features)) * 1.5
    X[rng.random(X.shape) < fraction] = np.nan
    X[0] = rng.normal(size=n_features)
    X[1] = np.nan
    return X


def by_formula(X, W, R, metric, v):
    """The distances of the module, one by one."""
    D, groups = np.empty((len(X), len(W))), groups_of(metric)
    for i, j in np.ndindex(*D.shape):
        if R is None:
            matrix = np.eye(W.shape[1])
        elif isinstance(metric, Diagonal | LocalDiagonal):
            matrix = np.diag(R if R.ndim == 1 else R[groups[j]])
        else:
            omega = R if R.ndim == 2 else R[groups[j]]
            matrix = omega.T @ omega
        seen = ~np.isnan(X[i])
        e = np.where(seen, X[i] - W[j], 0)
        weights = np.diag(matrix) * v
        s = weights[seen].sum() / weights.sum()
        D[i, j] = e @ matrix @ e / (s if s > 0 else 1)
    return D


def groups_of(metric):
    edges = getattr(metric, "groups", (0, len(LABELS)))
    return np.repeat(np.arange(len(edges) - 1), np.diff(edges))


@pytest.mark.parametrize("relevance", RULES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_distances_are_those_of_the_formula(relevance, dtype, tolerance):
    rng = np.random.default_rng(0)
    (W, R), X, v = parameters(rng, relevance), incomplete(rng, 30, 4), rng.uniform(0.5, 2, 4)
    metric = relevance.metric(LABELS)
    single = None if R is None else R.astype(dtype)
    D = Observed(metric, v).distances(packed(X.astype(dtype)), W.astype(dtype), single)
    assert D.dtype == dtype
    np.testing.assert_allclose(D, by_formula(X, W, R, metric, v), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(D[0], metric.distances(X[:1], W, R)[0], rtol=tolerance)
    assert (D[1] == 0).all()


def test_distances_lose_no_digits_far_from_the_origin():
    rng = np.random.default_rng(0)
    W, X = rng.normal(size=(5, 4)), incomplete(rng, 30, 4)
    here, there = (
        Observed(Relevance().metric(LABELS), np.ones(4)).distances(packed(X + by), W + by, None) for by in (0, 2.0**30)
    )
    np.testing.assert_allclose(there, here, atol=1e-5)


@pytest.mark.parametrize(("cost", "relevance", "chosen"), chosen_links())
def test_gradient_equals_finite_differences(cost, relevance, chosen):
    for seed, (name, link) in enumerate(chosen):
        rng = np.random.default_rng(seed)
        v, metric, X, y = rng.uniform(0.5, 2, 4), relevance.metric(LABELS), np.empty((0, 4)), np.empty(0, dtype=int)
        W, R = parameters(rng, relevance)
        while len(X) < 10:  # samples near a kink are left out
            x, label = np.where(rng.random(4) < 0.4, np.nan, rng.normal(size=4) * 1.5)[None], rng.integers(0, 3)
            D = by_formula(x, W, R, metric, v)[0]
            own, other = np.sort(D[label == LABELS]), np.sort(D[label != LABELS])
            if min(own[0], other[0]) > 0.05 and np.diff(own[:2]).min(initial=1) > 0.05 and other[1] - other[0] > 0.05:
                X, y = np.vstack((X, x)), np.append(y, label)
        X, y = np.vstack((X, np.full((1, 4), np.nan))), np.append(y, 0)  # no value, and no gradient
        weight = rng.uniform(0.5, 2.0, len(X))
        at = Params(W, R, None if name == "identity" else 1.3)
        objective = Objective(Observed(metric, v), link, cost, LABELS)
        value, gradient = objective.value_and_gradient(at, packed(X), y, weight)

        def evaluate(at, link=objective.linked, X=X, y=y, v=v, metric=metric, weight=weight):
            H = link(at).value(by_formula(X, at.prototypes, at.relevance, metric, v))
            return weight @ cost.value_and_derivative(H, y, LABELS)[0] / weight.sum()

        assert value == pytest.approx(evaluate(at), rel=1e-12)
        by_prototype = differences(lambda W, at=at: evaluate(at._replace(prototypes=W)), W)
        assert relative_error(gradient.prototypes, by_prototype) < 1e-5, name
        if R is None:
            assert gradient.relevance is None
        else:
            by_relevance = differences(lambda R, at=at: evaluate(at._replace(relevance=R)), R)
            assert relative_error(gradient.relevance, by_relevance) < 1e-5, name
        # the pullback alone, for solvers of a user's own
        D = Observed(metric, v).distances(packed(X), W, R)
        inner = objective.linked(at)
        by_link = cost.value_and_derivative(inner.value(D), y, LABELS)[1]
        at_pairs = D if by_link.touched is None else np.take_along_axis(D, by_link.touched, 1)
        by_distance = by_link._replace(
            value=by_link.value * inner.derivative(at_pairs) * weight[:, None] / weight.sum()
        )
        by_prototype, by_relevance = objective.metric.pullback(packed(X), W, R, by_distance)
        np.testing.assert_allclose(by_prototype, gradient.prototypes, atol=1e-12)
        if R is not None:
            np.testing.assert_allclose(by_relevance, gradient.relevance, atol=1e-12)


def test_complete_rows_of_a_block_are_of_the_ordinary_part():
    """The sum over a block with complete and incomplete rows is that over both kinds."""
    from lvq.model.costs import LOGMCost

    rng = np.random.default_rng(0)
    rule = MatrixRelevance(local="prototype")
    (W, R), X, y = parameters(rng, rule), incomplete(rng, 40, 4), rng.integers(0, 3, 40)
    X[5:20] = rng.normal(size=(15, 4))
    objective = Objective(Observed(rule.metric(LABELS), np.ones(4)), Identity(), LOGMCost(), LABELS)
    part = objective.part(Params(W, R), None)
    whole = ~np.isnan(X).any(axis=1)
    samples = ArraySamples(packed(X), y, np.ones(40))
    ordinary = part.complete(ArraySamples(X[whole], y[whole], np.ones(whole.sum())).take(slice(None)))
    rest = part(samples.take(~whole))
    both = part(samples.take(slice(None)))
    assert both.value == pytest.approx(ordinary.value + rest.value, rel=1e-13)
    np.testing.assert_allclose(both.gradient.relevance, ordinary.gradient.relevance + rest.gradient.relevance)


def test_distances_are_unbiased_for_uncorrelated_differences():
    rng = np.random.default_rng(0)
    v, omega = np.array([0.5, 1.0, 4.0, 2.0]), rng.normal(size=(4, 4))
    X, W = rng.normal(size=(200_000, 4)) * np.sqrt(v), np.zeros((1, 4))
    ordinary = MatrixRelevance().metric(np.zeros(1, dtype=int)).distances(X, W, omega).mean()
    for seen in ([True, False, True, False], [False, False, True, True], [True, False, False, False]):
        D = Observed(MatrixRelevance().metric(LABELS), v).distances(packed(np.where(seen, X, np.nan)), W, omega)
        assert D.mean() == pytest.approx(ordinary, rel=0.02)


def test_distances_do_not_depend_on_the_units_of_features():
    rng = np.random.default_rng(0)
    X, W, omega = incomplete(rng, 20, 4), rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    units, v = np.array([1.0, 1000.0, 0.01, 7.0]), rng.uniform(0.5, 2, 4)
    metric = MatrixRelevance().metric(LABELS)
    D = Observed(metric, v).distances(packed(X), W, omega)
    scaled = Observed(metric, v * units**2).distances(packed(X * units), W * units, omega / units)
    np.testing.assert_allclose(scaled, D, rtol=1e-9, atol=1e-12)


def test_features_without_weight_or_variance_leave_finite_distances():
    X = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    metric = RELEVANCES["gradient"]().metric(LABELS)
    D = Observed(metric, np.array([0.0, 1.0, 1.0])).distances(packed(X), np.zeros((1, 3)), np.array([0.5, 0.0, 0.5]))
    assert D.ravel().tolist() == [0.5, 0.0, 0.0]


def test_filled_by_class_means_then_overall_means_then_zero():
    nan = np.nan
    X = np.array([[1.0, nan, nan], [nan, nan, nan], [5.0, 4.0, nan], [7.0, nan, nan]])
    expected = [[1, 4, 0], [1, 4, 0], [5, 4, 0], [7, 4, 0]]
    assert filled(X, np.array([0, 0, 1, 1]), np.ones(4)).tolist() == expected


def test_weights_of_variances_and_means_are_copies():
    rng = np.random.default_rng(0)
    X, y, copies = incomplete(rng, 30, 4), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    many = X.repeat(copies, 0), y.repeat(copies)
    ours, theirs = observed_variances(X, copies.astype(float)), observed_variances(many[0], np.ones(len(many[0])))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(ours, np.nanvar(many[0], axis=0), rtol=1e-12)
    weighted = filled(X, y, copies.astype(float)).repeat(copies, 0)
    np.testing.assert_allclose(weighted, filled(*many, np.ones(len(many[0]))), rtol=1e-12)


def test_samples_without_missing_values_are_plain():
    X, y = np.ones((4, 2)), np.zeros(4, dtype=int)
    assert type(samples_of(X, y, np.ones(4))) is ArraySamples
    X[0, 0] = np.nan
    samples = samples_of(X, y, np.ones(4))
    assert type(samples) is IncompleteSamples
    assert samples.take(slice(1)).X.tolist() == [[0, 1, 0, 1]]
    assert samples.arranged(np.ones(2)).X[:2].tolist() == [[0, 0, 0, 1], [0, 0, 1, 1]]


def model(variances, **changes):
    return PrototypeModel(np.eye(3), np.arange(3), np.array(["a", "b", "c"]), variances=variances, **changes)


def test_stored_models_keep_their_variances():
    again = from_arrays(PrototypeModel, to_arrays(model(np.array([1.0, 2.0, 3.0]))))
    assert again.variances.tolist() == [1, 2, 3]
    assert not again.variances.flags.writeable
    assert from_arrays(PrototypeModel, to_arrays(model(None))).variances is None


@pytest.mark.parametrize("variances", [np.ones(2), np.array([1.0, np.nan, 1.0]), [1.0, 1.0, 1.0]])
def test_variances_must_fit_the_features(variances):
    with pytest.raises(ValueError, match="has variances that do not fit its 3 features"):
        model(variances)


def test_variances_must_not_be_negative():
    with pytest.raises(ValueError, match="variances that are negative"):
        model(np.array([1.0, -1.0, 1.0]))


def test_models_without_variances_raise_for_missing_values():
    X = np.array([[1.0, np.nan, 0.0]])
    with pytest.raises(ValueError, match="contains NaN or infinite values"):
        model(None).predict(X)
    with pytest.raises(ValueError, match="contains NaN or infinite values"):
        model(np.ones(3)).predict(np.array([[1.0, np.nan, np.inf]]))
    assert model(np.ones(3)).predict(X).tolist() == ["a"]
    with pytest.raises(
        ValueError, match="transform needs samples without missing values, also of a model with missing"
    ):
        model(np.ones(3)).images(X)
