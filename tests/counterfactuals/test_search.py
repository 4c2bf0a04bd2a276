"""Counterfactuals: they reach the target, no smaller change does, and their lengths are correct."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.counterfactuals import counterfactual
from lvq.inspection.certify import certified_radius
from lvq.model.relevance import Matrix
from lvq.rejection import RejectClassifier
from tests.placed import placed

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}
MODELS = [
    GLVQ(),
    GLVQ(n_prototypes=4),
    GRLVQ(n_prototypes=2),
    GMLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2), n_prototypes=3),
    GLVQ(n_prototypes=3, kernel="gaussian"),
]


def draw(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_samples)
    return rng.normal(size=(n_samples, 5)) + 2 * np.eye(3, 5)[code], np.array(["cat", "dog", "eel"])[code]


def cost(model, changes):
    """Length in the model's metric."""
    root = model.model_.matrix_of(0)
    return np.linalg.norm(changes * root if root.ndim == 1 else changes @ root.T, axis=1)


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
    rng = np.random.default_rng(1)
    for row in range(20):
        one = type(changed)(*(part[row : row + 1] for part in changed[:4]), changed.units, [])
        reached = lambda tries, row=row: model.predict(tries) != before[row]  # noqa: E731
        assert not something_nearer(model, X[row : row + 1], one, reached, rng)


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ(relevance=Matrix(rank=2)), GRLVQ()], ids=str)
def test_the_boundary_is_at_the_certified_radius(model):
    """With one prototype per class the cost is the distance to the boundary; without a metric also the radius."""
    X, y = draw(300)
    model.set_params(**QUICK).fit(X, y)
    X = X[:40]
    if isinstance(model, GMLVQ):
        Z, P = model.transform(X), model.transform(model.prototypes_)
    else:
        roots = np.sqrt(model.relevances_ if isinstance(model, GRLVQ) else 1.0)
        Z, P = X * roots, model.prototypes_ * roots
    D, apart = cdist(Z, P, "sqeuclidean"), cdist(P, P)
    winner, rows = D.argmin(axis=1), np.arange(len(X))
    with np.errstate(invalid="ignore"):
        border = (D - D[rows, winner][:, None]) / (2 * apart[winner])
    np.testing.assert_allclose(counterfactual(model, X).cost, np.nanmin(border, axis=1), rtol=1e-4, atol=1e-6)
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


def first_feature(estimator, Z):
    """A measure of the user's own."""
    return Z[:, 0]


MEASURED = [
    (LVQClassifier(n_prototypes=2, kernel=None), {}),
    (LOGM(n_prototypes=2), {"thresholds": "global"}),
    (RSLVQ(n_prototypes=2), {}),
    (GMLVQ(relevance=Matrix(rank=2), n_prototypes=3), {"measure": "radius", "thresholds": "optimal"}),
    (GLVQ(n_prototypes=3, kernel="gaussian"), {"measure": "combined"}),
    (LGMLVQ(), {"measure": "distance"}),
    (GLVQ(), {"measure": "radius"}),
    (GLVQ(), {"measure": first_feature}),
]


@pytest.mark.parametrize(("model", "options"), MEASURED, ids=lambda part: str(part)[:40])
def test_by_the_measure_that_the_classifier_rejects_by(model, options):
    """Accepted by its own `accept`, and nothing nearer in the same direction, nor in others within the bounds."""
    model.set_params(**QUICK).fit(*draw(300))
    X, y = draw(100, 1)
    safe = RejectClassifier(model, cv="prefit", min_coverage=0.6, **options).fit(X, y)
    accepted = safe.accept(X)
    rejected = X[~accepted][:8]
    changed = counterfactual(safe, rejected, samples=X)
    assert safe.accept(changed.samples).all()
    assert np.array_equal(safe.predict(changed.samples), changed.label)
    for fraction in (0.3, 0.7, 0.999):
        assert not safe.accept(rejected + fraction * (changed.samples - rejected)).any()
    assert not counterfactual(safe, X[accepted][:5], samples=X).distance.any()
    wanted = counterfactual(safe, X[:8], "dog", samples=X)
    assert set(safe.predict_or_reject(wanted.samples, "?")) == {"dog"}


@pytest.mark.parametrize("step", [StandardScaler(), MinMaxScaler(), PCA(3), PCA(4, whiten=True)], ids=str)
def test_through_a_pipeline(step):
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
    for safe, accept in ((inside, inside.accept), (outside, lambda Z: outside[-1].accept(outside[:-1].transform(Z)))):
        changed = counterfactual(FrozenEstimator(safe), others[:10], samples=others)
        assert np.array_equal(changed.distance == 0, accept(others[:10]))
        assert accept(changed.samples).all()


def test_through_blocks_of_columns():
    """Blocks of scaled columns, in another order; columns that the model does not see stay as they are."""
    X, y = draw(300)
    table = pd.DataFrame(X * [1, 50, 0.01, 3, 1] + [0, 1000, 0, -5, 0.1], columns=list("abcde"))
    table.loc[::3, "d"] = np.nan
    table["note"] = y  # not used
    blocks = [("some", make_pipeline(StandardScaler(), PCA(2)), ["e", "b"]), ("one", MinMaxScaler(), ["a"])]
    columns = ColumnTransformer([*blocks, ("plain", "passthrough", [2])])
    pipeline = make_pipeline(columns, GMLVQ(**QUICK)).fit(table, y)
    changed = counterfactual(pipeline, table[:20])
    after = changed.samples
    assert after["note"].tolist() == table["note"][:20].tolist()
    assert np.array_equal(pipeline.predict(after), changed.label)
    assert np.all(changed.label != pipeline.predict(table[:20]))
    np.testing.assert_array_equal(after["d"], table["d"][:20])
    # with one prototype per class no change smaller than the radius is enough
    assert np.all(certified_radius(pipeline, table[:20]) <= changed.distance * (1 + 1e-6))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda c: pytest.importorskip("pyarrow").table(c)])
def test_frames(frame):
    X, y = draw(300)
    table = frame(dict(zip("abcde", X.T)))
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(table, y)
    plain = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    np.testing.assert_allclose(counterfactual(model, table[:5]).samples, counterfactual(plain, X[:5]).samples)


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
    table = pd.DataFrame(X, columns=list("abcde")).assign(e=y)
    columns = [("numbers", StandardScaler(), ["a", "b"]), ("texts", OneHotEncoder(sparse_output=False), ["e"])]
    clipped = ColumnTransformer([("clipped", MinMaxScaler(clip=True), [0, 1])])
    samples = "counterfactual needs real samples, .* for a"
    for model, given, message in (
        (LogisticRegression(), X, "counterfactual needs a model of this library, .* got LogisticRegression"),
        (RSLVQ(decision="posterior", **QUICK), X, "needs predictions by the nearest prototype, got RSLVQ"),
        (LGMLVQ(**QUICK), X, f"{samples} model with local metrics"),
        (RejectClassifier(GLVQ(**QUICK)), X, f"{samples} RejectClassifier"),
        (
            make_pipeline(clipped, GLVQ(**QUICK)),
            X,
            r"MinMaxScaler\(clip=True\).* or pass real samples as samples=",
        ),
        (make_pipeline(ColumnTransformer(columns), GLVQ(**QUICK)), table, "has categories, got OneHotEncoder and no"),
    ):
        with pytest.raises(ValueError, match=message):
            counterfactual(model.fit(given, y), given)
    with pytest.raises(ValueError, match=r"target must be a class of \['cat', 'dog', 'eel'\], .* got \['fox'\]"):
        counterfactual(GLVQ(**QUICK).fit(X, y), X, "fox")
