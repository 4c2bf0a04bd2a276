"""Counterfactuals: they reach the target, no smaller change does, and their lengths are correct."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.counterfactuals import counterfactual
from lvq.inspection.certify import certified_radius
from lvq.model.relevance import Matrix
from lvq.rejection import RejectClassifier
from tests.placed import placed

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}


def draw(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_samples)
    return rng.normal(size=(n_samples, 5)) + 2 * np.eye(3, 5)[code], np.array(["cat", "dog", "eel"])[code]


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ(relevance=Matrix(rank=2)), GRLVQ()], ids=str)
def test_the_boundary_is_at_the_certified_radius(model):
    """With one prototype per class the regions are convex, and the radius is the distance to the nearest of them."""
    X, y = draw(300)
    model.set_params(**QUICK).fit(X, y)
    asked, before = X[:20], model.predict(X[:20])
    options = {"samples": X, "units": np.ones(5), "bounds": dict.fromkeys(range(5), (-1e3, 1e3))}
    found = [counterfactual(model, asked, label, **options) for label in model.classes_]
    for label, changed in zip(model.classes_, found):
        assert set(changed.label) == set(model.predict(changed.samples)) == {label}
        assert np.array_equal(changed.distance == 0, before == label)
        assert np.array_equal(changed.samples[before == label], asked[before == label])
        np.testing.assert_allclose(np.linalg.norm(changed.samples - asked, axis=1), changed.distance, rtol=1e-9)
    nearest = np.min([each.distance + 1e9 * (each.distance == 0) for each in found], axis=0)
    np.testing.assert_allclose(nearest, certified_radius(model, asked), rtol=1e-4)
    each = counterfactual(model, asked, np.where(before == "cat", "dog", "cat"), **options)
    assert np.array_equal(each.label, np.where(before == "cat", "dog", "cat"))


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
    changed = counterfactual(pipeline, X[:20], samples=X)
    assert np.array_equal(pipeline.predict(changed.samples), changed.label)
    assert np.all(changed.label != pipeline.predict(X[:20]))
    np.testing.assert_allclose(np.linalg.norm((changed.samples - X[:20]) / changed.units, axis=1), changed.distance)
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
    changed = counterfactual(pipeline, table[:20], samples=table, immutable=["note"])
    after = changed.samples
    assert after["note"].tolist() == table["note"][:20].tolist()
    assert np.array_equal(pipeline.predict(after), changed.label)
    assert np.all(changed.label != pipeline.predict(table[:20]))
    np.testing.assert_allclose(after["d"], table["d"][:20], rtol=1e-6)
    radius = certified_radius(pipeline, table[:20], units=changed.units)
    assert np.all(radius <= changed.distance * (1 + 1e-6))


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, arrow], ids=["pandas", "polars", "pyarrow"])
def test_frames(frame):
    X, y = draw(300)
    table = frame(dict(zip("abcde", X.T)))
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(table, y)
    plain = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    changed = counterfactual(model, table[:5], samples=table).samples
    np.testing.assert_allclose(changed, counterfactual(plain, X[:5], samples=X).samples)


def test_where_no_change_is_enough():
    """Two classes in one place: no change makes the second win, as ties go to the first."""
    model = placed(np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 0.0]]), np.array(["a", "b", "c"]))
    with pytest.warns(UserWarning, match=r"no change for 1 of 1 samples \(rows 0\)"):
        changed = counterfactual(model, [[1.0, 1.0]], "b", samples=model.prototypes_)
    assert changed.distance.tolist() == [np.inf]
    assert np.isnan(changed.samples).all()
    assert counterfactual(model, [[1.0, 1.0]], samples=model.prototypes_).label.tolist() == ["c"]


def test_refused():
    X, y = draw(300)
    for model, message in (
        (LogisticRegression(), "counterfactual needs a model of this library, .* got LogisticRegression"),
        (RSLVQ(decision="posterior", **QUICK), "needs predictions by the nearest prototype, got RSLVQ"),
    ):
        with pytest.raises(ValueError, match=message):
            counterfactual(model.fit(X, y), X, samples=X)
    with pytest.raises(ValueError, match=r"target must be a class of \['cat', 'dog', 'eel'\], .* got \['fox'\]"):
        counterfactual(GLVQ(**QUICK).fit(X, y), X, "fox", samples=X)
