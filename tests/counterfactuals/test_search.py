"""Counterfactuals: they reach the target, no smaller change does, and their lengths are correct."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE, RSLVQ, SNPC, LVQClassifier
from lvq.counterfactuals import counterfactual
from lvq.inspection.certify import certified_radius
from lvq.model.relevance import Matrix, Weights
from lvq.rejection import Combination, RejectClassifier
from tests.placed import placed

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}
MODELS = [
    GLVQ(),
    GLVQ(n_prototypes=4),
    GRLVQ(n_prototypes=2),
    GMLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2), n_prototypes=3),
    GLVQ(n_prototypes=3, kernel="gaussian"),
    LGMLVQ(),
    LGMLVQ(relevance=Matrix(local="prototype", rank=2), n_prototypes=2),
    GLVQ(relevance=Weights(local="prototype"), n_prototypes=2),
]
MEASURES = ["relsim", "boundary", "distance", "combined", Combination("boundary")]


def draw(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_samples)
    return rng.normal(size=(n_samples, 5)) + 2 * np.eye(3, 5)[code], np.array(["cat", "dog", "eel"])[code]


def cost(model, changes):
    """Length in the model's metric; in the mean of them where there are several."""
    roots = [model.model_.matrix_of(j) for j in range(len(model.model_.prototypes))]
    parts = [((changes * root if root.ndim == 1 else changes @ root.T) ** 2).sum(axis=1) for root in roots]
    return np.sqrt(np.mean(parts, axis=0))


def something_nearer(model, X, changed, reached, rng, n_tries=1500, by=1e-6):
    """Samples for which a random search around what was found finds something that costs less."""
    better = 0
    for x, found, least in zip(X, changed.samples, changed.cost):
        size = np.linalg.norm(found - x) * rng.choice([0.02, 0.1, 0.3, 1], size=(n_tries, 1))
        tries = x + 0.98 * (found - x) + rng.normal(size=(n_tries, len(x))) * size
        tries = tries[cost(model, tries - x) < least * (1 - by)]
        better += bool(len(tries)) and bool(reached(tries).any())
    return better


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_another_class(model):
    X, y = draw(300)
    model.set_params(**QUICK).fit(X, y)
    X, before = X[:20], model.predict(X[:20])
    changed = counterfactual(model, X)
    assert np.array_equal(model.predict(changed.samples), changed.label)
    assert np.all(changed.label != before)
    np.testing.assert_allclose(cost(model, changed.samples - X), changed.cost, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(changed.samples - X, axis=1), changed.distance, rtol=1e-9)
    rng, nearer = np.random.default_rng(1), 0
    exact = len(set(model.model_.group)) == 1  # local metrics: a local optimum, along tangent planes of the boundary
    for row in range(20):
        one = type(changed)(*(part[row : row + 1] for part in changed[:4]), changed.units)
        reached = lambda tries, row=row: model.predict(tries) != before[row]  # noqa: E731
        nearer += something_nearer(model, X[row : row + 1], one, reached, rng, by=1e-6 if exact else 0.05)
    assert nearer <= (0 if exact else 1)


def random_local_model(rng):
    """Prototypes anywhere in the plane, each with a metric of its own, of its own scale."""
    labels = np.repeat(np.arange(rng.integers(2, 4)), rng.integers(1, 4))
    W = 2 * rng.normal(size=(len(labels), 2))
    return placed(W, labels, rng.normal(size=(len(labels), 2, 2)) * rng.uniform(0.2, 2, size=(len(labels), 1, 1)))


def nearest_on_a_grid(model, x, reach, n_steps=100):
    """The cost of the cheapest point of another class, of a grid over all that costs less than `reach`."""
    roots = model.model_.relevance
    spread, axes = np.linalg.eigh(np.einsum("kmi,kmj->ij", roots, roots) / len(roots))
    ticks = reach * np.linspace(-1, 1, 2 * n_steps + 1)
    moves = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    moves = moves[np.linalg.norm(moves, axis=1) < reach]
    other = model.predict(x + moves / np.sqrt(spread) @ axes.T) != model.predict(x[None])
    return np.linalg.norm(moves[other], axis=1).min(initial=reach)


def test_local_matrices_against_a_grid():
    """The result is a local optimum; only rarely another point is nearer by more than two steps of a grid."""
    rng, missed = np.random.default_rng(4), []
    for _ in range(8):
        model, X = random_local_model(rng), 2.5 * rng.normal(size=(8, 2))
        for x, found in zip(X, counterfactual(model, X).cost):
            reach = min(found, 15.0)  # far beyond all prototypes, if there is no counterfactual
            missed.append(nearest_on_a_grid(model, x, reach) < 0.98 * reach)
    assert np.mean(missed) <= 0.04  # 2 of 64; with one start it would be about one in seven


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ(relevance=Matrix(rank=2)), GRLVQ()], ids=str)
def test_the_boundary_is_at_the_certified_radius(model):
    """With one prototype per class the cost is the distance to the boundary; without a metric also the radius."""
    X, y = draw(300)
    model.set_params(**QUICK).fit(X, y)
    X = X[:40]
    safe = RejectClassifier(model, measure="boundary", cv="prefit").fit(*draw(300, 1))
    np.testing.assert_allclose(counterfactual(model, X).cost, safe.certainty(X), rtol=1e-4, atol=1e-6)
    if isinstance(model, GLVQ):
        np.testing.assert_allclose(counterfactual(model, X).distance, certified_radius(model, X), rtol=1e-4, atol=1e-6)


def test_a_given_class():
    X, y = draw(300)
    model = GMLVQ(n_prototypes=2, **QUICK).fit(X, y)
    X, before = X[:30], model.predict(X[:30])
    everyone = counterfactual(model, X, "eel")
    assert set(everyone.label) == {"eel"}
    assert np.array_equal(everyone.distance == 0, before == "eel")
    assert np.array_equal(everyone.samples[before == "eel"], X[before == "eel"])
    each = counterfactual(model, X, np.where(before == "cat", "dog", "cat"))
    assert np.array_equal(each.label, np.where(before == "cat", "dog", "cat"))
    each = [counterfactual(model, X, label).cost + 1e9 * (before == label) for label in model.classes_]
    nearest = np.min(each, axis=0)
    np.testing.assert_allclose(counterfactual(model, X).cost, nearest)


ACCEPTED = [
    *itertools.product([GLVQ(n_prototypes=4)], MEASURES, ["optimal", "global"]),
    *itertools.product([GMLVQ(relevance=Matrix(rank=2), n_prototypes=3)], ["boundary", "combined"], ["optimal"]),
    *itertools.product([GLVQ(n_prototypes=3, kernel="gaussian")], ["relsim", "combined"], ["optimal", "global"]),
    *itertools.product([LGMLVQ()], ["distance"], ["global"]),
    *itertools.product(
        [LGMLVQ(relevance=Matrix(local="prototype", rank=2), n_prototypes=2)], ["combined"], ["optimal"]
    ),
]


@pytest.mark.parametrize(("model", "measure", "thresholds"), ACCEPTED, ids=str)
def test_an_accepted_prediction(model, measure, thresholds):
    model.set_params(**QUICK).fit(*draw(300))
    X, y = draw(100, 1)
    safe = RejectClassifier(model, measure=measure, thresholds=thresholds, cv="prefit", min_coverage=0.6).fit(X, y)
    accepted = safe.accept(X)
    changed = counterfactual(safe, X)
    assert np.array_equal(changed.distance == 0, accepted)
    assert np.all(np.isfinite(changed.distance))
    assert safe.accept(changed.samples[~accepted]).all()
    assert np.array_equal(safe.predict(changed.samples), changed.label)
    np.testing.assert_allclose(cost(model, changed.samples - X), changed.cost, rtol=1e-9, atol=1e-12)
    rejected = np.flatnonzero(~accepted)[:10]
    some = type(changed)(*(part[rejected] for part in changed[:4]), changed.units)
    # with thresholds of single prototypes the regions are not convex
    nearer = something_nearer(model, X[rejected], some, safe.accept, np.random.default_rng(2), by=1e-5)
    assert nearer <= (thresholds == "optimal")


def first_feature(estimator, Z):
    """A measure of the user's own."""
    return Z[:, 0]


MEASURED = [
    (LVQClassifier(n_prototypes=2, kernel=None), {}),
    (MCE(), {}),
    (LOGM(n_prototypes=2), {"thresholds": "global"}),
    (SNPC(), {"thresholds": "global"}),
    (RSLVQ(n_prototypes=2), {}),
    (GLVQ(n_prototypes=2), {"measure": "probability"}),
    (GLVQ(), {"measure": "radius"}),
    (GLVQ(), {"measure": first_feature}),
]


@pytest.mark.parametrize(("model", "options"), MEASURED, ids=lambda part: str(part)[:40])
def test_by_the_measure_that_the_classifier_rejects_by(model, options):
    """Also where "auto" is the probability: accepted by its own `accept`, and nothing nearer in the same direction."""
    model.set_params(**QUICK).fit(*draw(300))
    X, y = draw(100, 1)
    safe = RejectClassifier(model, cv="prefit", min_coverage=0.6, **options).fit(X, y)
    rejected = X[~safe.accept(X)][:12]
    changed = counterfactual(safe, rejected)
    assert safe.accept(changed.samples).all()
    for fraction in (0.3, 0.7, 0.999):
        assert not safe.accept(rejected + fraction * (changed.samples - rejected)).any()
    if not callable(options.get("measure")):  # moves are made of differences to prototypes, which it does not know
        assert something_nearer(model, rejected, changed, safe.accept, np.random.default_rng(2), by=1e-5) <= 2


def test_an_accepted_prediction_of_a_given_class():
    model = GLVQ(n_prototypes=2, **QUICK).fit(*draw(300))
    X, y = draw(200, 1)
    safe = RejectClassifier(model, cv="prefit", min_coverage=0.6).fit(X, y)
    changed = counterfactual(safe, X[:30], "dog")
    assert set(safe.predict_or_reject(changed.samples, "?")) == {"dog"}
    assert np.all(changed.cost >= counterfactual(safe, X[:30]).cost - 1e-9)


def test_balls_against_a_general_solver():
    """A relative similarity of at least theta, by SLSQP with the constraints written out."""
    model = GLVQ(n_prototypes=1, **QUICK).fit(*draw(300))
    X, y = draw(200, 1)
    safe = RejectClassifier(model, cv="prefit", thresholds="global", min_coverage=0.4).fit(X, y)
    theta, W = safe.point_.thresholds[0], model.prototypes_
    rejected = np.flatnonzero(~safe.accept(X))[:15]
    for x, found in zip(X[rejected], counterfactual(safe, X[rejected]).cost):
        best = np.inf
        for t in range(3):
            others = [j for j in range(3) if j != t]

            def inside(z, t=t, others=others):
                D = ((z - W) ** 2).sum(axis=1)
                return (1 - theta) * D[others] - (1 + theta) * D[t]

            for start in (W[t], (3 * W[t] + x) / 4, (W[t] + x) / 2):  # from one of them the solver may fail
                solution = minimize(
                    lambda z, x=x: ((z - x) ** 2).sum(),
                    start,
                    method="SLSQP",
                    constraints={"type": "ineq", "fun": inside},
                    options={"ftol": 1e-12, "maxiter": 500},
                )
                best = min(best, np.sqrt(solution.fun)) if solution.success else best
        assert found == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("step", [StandardScaler(), MinMaxScaler(), PCA(3), PCA(4, whiten=True)], ids=str)
def test_through_a_pipeline(step):
    rng = np.random.default_rng(3)
    X, y = draw(300)
    X = X * [1, 50, 0.01, 3, 1] + [0, 1000, 0, -5, 0.1]
    pipeline = make_pipeline(step, GMLVQ(relevance=Matrix(rank=2), n_prototypes=2, **QUICK)).fit(X, y)
    X = X[:20]
    changed = counterfactual(pipeline, X)
    assert np.array_equal(pipeline.predict(changed.samples), changed.label)
    assert np.all(changed.label != pipeline.predict(X))
    moved = pipeline[:-1].transform(changed.samples) - pipeline[:-1].transform(X)
    np.testing.assert_allclose(cost(pipeline[-1], moved), changed.cost, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(changed.samples - X, axis=1), changed.distance, rtol=1e-6)
    # of all changes of X with the same effect on the model, the shortest
    B = (
        pipeline[-1].model_.relevance
        @ (pipeline[:-1].transform(np.eye(5)) - pipeline[:-1].transform(np.zeros((5, 5)))).T
    )
    unseen = np.linalg.svd(B)[2][2:]
    np.testing.assert_allclose((changed.samples - X) @ unseen.T, 0, atol=1e-6 * np.abs(changed.samples - X).max())
    others, classes = draw(300, 4)
    inside = RejectClassifier(make_pipeline(step, GMLVQ(**QUICK)), min_coverage=0.5).fit(others, classes)
    outside = make_pipeline(step, RejectClassifier(GMLVQ(**QUICK), min_coverage=0.5)).fit(others, classes)
    others = others + rng.normal(size=others.shape)
    for safe, accept in ((inside, inside.accept), (outside, lambda Z: outside[-1].accept(outside[:-1].transform(Z)))):
        changed = counterfactual(FrozenEstimator(safe), others)
        assert np.array_equal(changed.distance == 0, accept(others))
        assert accept(changed.samples).mean() > 0.99


def test_through_blocks_of_columns():
    """Blocks of scaled columns, in another order; columns that the model does not see stay as they are."""
    X, y = draw(300)
    table = pd.DataFrame(X * [1, 50, 0.01, 3, 1] + [0, 1000, 0, -5, 0.1], columns=list("abcde"))
    table.loc[::3, "d"] = np.nan
    blocks = [("some", make_pipeline(StandardScaler(), PCA(2)), ["e", "b"]), ("one", MinMaxScaler(), ["a"])]
    columns = ColumnTransformer([*blocks, ("plain", "passthrough", [2])])
    pipeline = make_pipeline(columns, GMLVQ(**QUICK)).fit(table, y)
    changed = counterfactual(pipeline, table[:20])
    after = pd.DataFrame(changed.samples, columns=table.columns)
    assert np.array_equal(pipeline.predict(after), changed.label)
    assert np.all(changed.label != pipeline.predict(table[:20]))
    np.testing.assert_array_equal(after["d"], table["d"][:20])
    moved = pipeline[:-1].transform(after) - pipeline[:-1].transform(table[:20])
    np.testing.assert_allclose(cost(pipeline[-1], moved), changed.cost, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(((after - table[:20]) ** 2).sum(axis=1)), changed.distance, rtol=1e-6)
    # with one prototype per class no change smaller than the radius is enough
    assert np.all(certified_radius(pipeline, table[:20]) <= changed.distance * (1 + 1e-6))


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, arrow], ids=["pandas", "polars", "pyarrow"])
def test_frames(frame):
    X, y = draw(300)
    table = frame(dict(zip("abcde", X.T)))
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(table, y)
    plain = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    np.testing.assert_allclose(counterfactual(model, table[:5]).samples, counterfactual(plain, X[:5]).samples)


def test_guarantees_and_classes():
    X, y = draw(3000)
    safe = RejectClassifier(GLVQ(**QUICK), max_error=0.08, cv=0.5, thresholds="optimal").fit(X, y)
    rejected = X[~safe.accept(X)][:20]
    assert safe.accept(counterfactual(safe, rejected).samples).all()
    dog = int(np.flatnonzero(safe.estimator_.prototype_labels_ == "dog")[0])
    safe.point_.thresholds[dog] = np.inf  # as if nothing of it could be accepted
    changed = counterfactual(safe, rejected)
    assert "dog" not in set(changed.label)
    with pytest.warns(UserWarning, match="no change for 20 of 20 samples .* Try another target"):
        none = counterfactual(safe, rejected, "dog")
    assert np.all(np.isinf(none.distance))
    assert np.all(np.isnan(none.samples))


def test_where_no_change_is_enough():
    """Two classes in one place: no change makes the second win, as ties go to the first."""
    model = placed(np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 0.0]]), np.array(["a", "b", "c"]))
    with pytest.warns(UserWarning, match=r"no change for 1 of 1 samples \(rows 0\)"):
        changed = counterfactual(model, [[1.0, 1.0]], "b")
    assert changed.distance.tolist() == changed.cost.tolist() == [np.inf]
    assert np.isnan(changed.samples).all()
    assert counterfactual(model, [[1.0, 1.0]]).label.tolist() == ["c"]


def test_refused():
    X, y = draw(300)
    model = GLVQ(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"counterfactual needs a model of this library, .* got LogisticRegression"):
        counterfactual(LogisticRegression().fit(X, y), X)
    with pytest.raises(ValueError, match="needs predictions by the nearest prototype, got RSLVQ"):
        counterfactual(RSLVQ(decision="posterior", **QUICK).fit(X, y), X)
    with pytest.raises(ValueError, match=r"target must be a class of \['cat', 'dog', 'eel'\], .* got \['fox'\]"):
        counterfactual(model, X, "fox")
    with pytest.raises(ValueError, match=r"does not support MinMaxScaler\(clip=True\), which clips; set clip=False"):
        counterfactual(make_pipeline(MinMaxScaler(clip=True), model).fit(X, y), X)
    clipped = ColumnTransformer([("clipped", MinMaxScaler(clip=True), [0, 1])])
    with pytest.raises(ValueError, match=r"does not support MinMaxScaler\(clip=True\), which clips; set clip=False"):
        counterfactual(make_pipeline(clipped, model).fit(X, y), X)
    table = pd.DataFrame(X, columns=list("abcde")).assign(e=y, note=y)
    columns = [("numbers", StandardScaler(), ["a", "b"]), ("texts", OneHotEncoder(sparse_output=False), ["e"])]
    with pytest.raises(ValueError, match="has categories, got OneHotEncoder and no samples; pass the training samples"):
        counterfactual(make_pipeline(ColumnTransformer(columns), model).fit(table, y), table)
    with pytest.raises(ValueError, match="counterfactual needs X of numbers; leave out columns of other values"):
        counterfactual(make_pipeline(ColumnTransformer(columns[:1]), model).fit(table, y), table)
