"""Certified radii: no attack inside succeeds, the next one outside does, and a pipeline's radius is in its units."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from lvq import GLVQ, GMLVQ, LGMLVQ, RSLVQ
from lvq.inspection.certify import certified_radius
from tests.inspection.populations import draw, table
from tests.placed import placed

NORMS = (1, 2, np.inf)
QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}


def random_model(rng, kind, per_class=None):
    """Prototypes anywhere, one to three in each of two to four classes, in a metric of the given kind."""
    n, n_classes = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    counts = rng.integers(1, 4, n_classes) if per_class is None else np.full(n_classes, per_class)
    labels = np.repeat(np.arange(n_classes), counts)
    W = rng.normal(size=(len(labels), n)) * rng.uniform(0.2, 3)
    if kind == "none":
        return placed(W, labels)
    if kind == "lambda":
        weights = rng.random(n) * (rng.random(n) < 0.8)
        return placed(W, labels, weights + (weights.sum() == 0))
    if kind == "local lambda":
        weights = rng.random((len(labels), n)) * rng.uniform(0.2, 3, (len(labels), 1))
        return placed(W, labels, weights * (rng.random(weights.shape) < 0.9), weights=True)
    rank = n if kind in ("full", "local") else int(rng.integers(1, n))
    omega = rng.normal(size=(rank, n))
    if kind in ("full", "low rank"):
        return placed(W, labels, omega)
    return placed(W, labels, omega + rng.uniform(0, 1) * rng.normal(size=(len(labels), rank, n)))


def steepest(gradient, norm):
    """The direction of length one along which a linear function falls fastest."""
    if norm == 2:
        return -gradient / np.maximum(np.linalg.norm(gradient, axis=-1, keepdims=True), 1e-300)
    if norm == 1:
        largest = np.abs(gradient).argmax(axis=-1)[..., None]
        return -np.sign(gradient) * (np.arange(gradient.shape[-1]) == largest)
    return -np.sign(gradient)


def square(model, j):
    """Lambda of prototype j."""
    omega = model.model_.matrix_of(j)
    return np.diag(omega**2) if omega.ndim == 1 else omega.T @ omega


def attacks(model, X, radius, norm, rng):
    """Perturbed samples: at random, and down the gradient of D_j - D_k for every pair, straightened a few times."""
    found = []
    for _ in range(20):
        d = rng.normal(size=X.shape) if norm != 1 else rng.exponential(size=X.shape) * rng.choice([-1, 1], X.shape)
        d = np.sign(d) if norm == np.inf and rng.random() < 0.5 else d
        found.append(d / np.linalg.norm(d, ord=norm, axis=1, keepdims=True))
    W, labels, local = model.model_.prototypes, model.model_.labels, len(np.unique(model.model_.group)) > 1
    for j, k in itertools.permutations(range(len(W)), 2):
        if labels[j] == labels[k]:
            continue
        d = np.zeros_like(X)
        for _ in range(3 if local else 1):
            at = X + radius[:, None] * d
            gradient = (at - W[j]) @ square(model, j) - (at - W[k]) @ square(model, k)
            d = steepest(gradient, norm)
            found.append(d)
    return X + radius[:, None] * np.array(found)


@pytest.mark.parametrize("kind", ["none", "lambda", "full", "low rank", "local", "local low rank", "local lambda"])
def test_no_attack_inside_the_radius_succeeds(kind):
    """With one prototype for each class and one metric the next step outside does."""
    rng, n_models, positive = np.random.default_rng(len(kind)), 15 if "local" in kind else 25, 0
    for number in range(n_models):
        model = random_model(rng, kind, per_class=1 if number % 2 else None)
        X = np.concatenate((rng.normal(size=(10, model.n_features_in_)) * 2, model.model_.prototypes[:2] + 1e-3))
        for norm in NORMS:
            radius = certified_radius(model, X, norm)
            assert np.all(radius >= 0)
            positive += np.count_nonzero(radius > 0)
            inside = attacks(model, X, np.minimum(radius, 1e6) * (1 - 1e-9), norm, rng)
            labels = model.predict(inside.reshape(-1, X.shape[1])).reshape(inside.shape[:2])
            assert np.array_equal(labels, np.broadcast_to(model.predict(X), labels.shape))
            if number % 2 and "local" not in kind:
                outside = attacks(model, X, radius * (1 + 1e-6), norm, rng)
                labels = model.predict(outside.reshape(-1, X.shape[1])).reshape(outside.shape[:2])
                assert np.all(np.any(labels != model.predict(X), axis=0) | np.isinf(radius))
    assert positive > 0.9 * n_models * 12 * 3


@pytest.mark.parametrize("kind", ["local", "local low rank", "local lambda"])
def test_local_matrices_too_in_the_euclidean_norm(kind):
    """With one prototype per class, a general solver finds the next flip just where the radius ends."""
    rng = np.random.default_rng(10)
    for _ in range(12):
        model = random_model(rng, kind, per_class=1)
        x = rng.normal(size=model.n_features_in_) * 2
        winner = model.model_.distances(x[None]).argmin()
        nearest = np.inf
        for rival in set(range(len(model.model_.prototypes))) - {winner}:
            u, v, Lu, Lv = (f(model, k) for f in (lambda m, k: m.model_.prototypes[k], square) for k in (winner, rival))

            def flipped(d, x=x, u=u, v=v, Lu=Lu, Lv=Lv):
                return (x + d - u) @ Lu @ (x + d - u) - (x + d - v) @ Lv @ (x + d - v)

            for start in (v - x, *rng.normal(size=(4, len(x))) * 5):
                found = minimize(
                    lambda d: d @ d,
                    start,
                    method="SLSQP",
                    constraints={"type": "ineq", "fun": flipped},
                    options={"maxiter": 300, "ftol": 1e-12},
                )
                if found.success and flipped(found.x) > -1e-7:
                    nearest = min(nearest, np.sqrt(found.fun))
        assert certified_radius(model, x[None])[0] == pytest.approx(nearest, rel=1e-4)


def test_equal_local_metrics_are_one_metric():
    rng = np.random.default_rng(2)
    W, labels, X = rng.normal(size=(5, 4)), np.array([0, 0, 1, 1, 2]), rng.normal(size=(50, 4))
    omega, weights = rng.normal(size=(3, 4)), rng.uniform(0.2, 2, 4)
    matrices = placed(W, labels, omega), placed(W, labels, np.repeat(omega[None], 5, axis=0))
    diagonal = placed(W, labels, weights), placed(W, labels, np.repeat(weights[None], 5, axis=0), weights=True)
    for (shared, local), norm in itertools.product((matrices, diagonal), NORMS):
        np.testing.assert_allclose(certified_radius(local, X, norm), certified_radius(shared, X, norm), rtol=1e-6)


def test_values():
    model = placed(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array(["a", "b"]))
    X = [[0.0, 0.0], [1.0, 7.0], [2.0, 5.0], [9.0, 0.0]]
    for norm in NORMS:  # the border is x = 2: along an axis all norms agree
        np.testing.assert_allclose(certified_radius(model, X, norm), [2, 1, 0, 7], atol=1e-12)
    diagonal = placed(np.array([[0.0, 0.0], [2.0, 2.0]]), np.array(["a", "b"]))
    radii = [float(certified_radius(diagonal, [[0.0, 0.0]], norm)[0]) for norm in NORMS]
    np.testing.assert_allclose(radii, [2, np.sqrt(2), 1])


def test_another_prototype_of_the_same_class_may_become_the_winner():
    model = placed(np.array([[0.0], [2.0], [10.0]]), np.array([0, 0, 1]))
    # With the winner at 0 alone the radius would be 5; with the prototype at 2 it is 6.
    assert certified_radius(model, [[0.0]])[0] == pytest.approx(6)


def test_always_a_tie_and_no_rival():
    ignored = placed(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 9.0]]), np.array([0, 0, 1]), np.array([1.0, 0.0]))
    assert certified_radius(ignored, [[0.0, 0.0]])[0] == 0  # two classes in one place: always a tie
    stream = GLVQ(solver="online").partial_fit([[0.0], [1.0]], [0, 0], classes=[0, 1])
    assert certified_radius(stream, [[3.0]])[0] == np.inf


MIXED = ColumnTransformer(
    [("few", RobustScaler(), [3, 1]), ("mixed", make_pipeline(StandardScaler(), PCA(2)), [0, 1, 2])]
)
STEPS = [
    (StandardScaler(), GMLVQ()),
    (PCA(4, whiten=True), GLVQ()),
    (SelectKBest(k=3), GLVQ(relevance="local_diagonal")),
    (MIXED, GMLVQ()),
    (MIXED, LGMLVQ()),
    (make_pipeline("passthrough", MinMaxScaler((-1, 3)), TruncatedSVD(4)), LGMLVQ()),
    (make_pipeline(StandardScaler(with_std=False), MaxAbsScaler(), IncrementalPCA(3), VarianceThreshold()), GMLVQ()),
]


@pytest.mark.parametrize(("step", "model"), STEPS, ids=str)
def test_the_radius_is_in_the_units_of_the_pipeline(step, model):
    """No change within the radius flips; for one metric the change just beyond it, down the slope, does."""
    X, y = draw(seed=5)
    pipeline = make_pipeline(step, model.set_params(**QUICK)).fit(X, y)
    labels = pipeline.predict(X)
    step_size = 1e-4 * X.std(axis=0)

    def gaps(Z):
        D = pipeline[-1].model_.distances(pipeline[:-1].transform(Z))
        return D - D.min(axis=1, keepdims=True)

    # gradients of D_other - D_winner by differences, so that nothing here depends on the steps
    moved = [(gaps(X + h * e) - gaps(X - h * e)) / (2 * h) for h, e in zip(step_size, np.eye(5))]
    gradients = np.stack(moved, axis=-1).transpose(1, 0, 2)
    for norm in NORMS:
        radius = certified_radius(pipeline, X, norm)
        assert np.mean(radius > 0) > 0.95
        for scale in (1 - 1e-9, 1 + 1e-5):
            flips = [
                pipeline.predict(X + scale * radius[:, None] * steepest(gradient, norm)) != labels
                for gradient in gradients
            ]
            if scale < 1:
                assert not np.any(flips)
            elif not pipeline[-1].model_.group.any():  # one metric
                assert np.any(flips, axis=0).all()


def test_float32_and_metrics_of_very_different_scale():
    """The rounding error of distances in the wide metric is large for those in the narrow one."""
    W, labels = np.array([[10, 0], [-10, 0]], dtype=np.float32), np.array([0, 1])
    scales = np.stack((np.eye(2), 1e-3 * np.eye(2))).astype(np.float32)
    model = placed(W, labels, scales)
    rng = np.random.default_rng(12)
    angle, away = rng.uniform(0, 2 * np.pi, 500), rng.uniform(0, 0.03, 500)
    X = (W[0] + away[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)).astype(np.float32)
    radius, predicted = certified_radius(model, X), model.predict(X)
    assert np.mean(radius > 0) > 0.1
    for _ in range(30):
        d = rng.normal(size=X.shape)
        moved = (X + d * ((1 - 1e-3) * radius / np.linalg.norm(d, axis=1))[:, None]).astype(np.float32)
        inside = np.linalg.norm(moved.astype(np.float64) - X, axis=1) < radius * (1 - 1e-4)
        assert np.array_equal(model.predict(moved)[inside], predicted[inside])


def test_refused():
    X, y = draw(seed=9)
    model, soft = GLVQ(**QUICK).fit(X, y), RSLVQ(decision="posterior", **QUICK).fit(X, y)
    steps = (QuantileTransformer(n_quantiles=10), MinMaxScaler(clip=True))
    bent, clipping = (make_pipeline(step, GLVQ(**QUICK)).fit(X, y) for step in steps)
    for refused, message in (
        (LogisticRegression(), "certified_radius needs a model of this library, .* got LogisticRegression"),
        (soft, "predictions by the nearest prototype, got RSLVQ with decision='posterior'"),
        (bent, "supports linear steps only .* got QuantileTransformer; transform X"),
        (clipping, r"got MinMaxScaler\(clip=True\)"),
    ):
        with pytest.raises(ValueError, match=message):
            certified_radius(refused, X)
    with pytest.raises(ValueError, match="norm must be 1, 2 or inf, got 3"):
        certified_radius(model, X, 3)
    with pytest.raises(NotFittedError, match="This GLVQ instance is not fitted yet"):
        certified_radius(make_pipeline(StandardScaler(), GLVQ()), X)


@pytest.mark.parametrize(
    ("model", "norm", "scaler"),
    [
        (GLVQ(), 1, StandardScaler()),
        (GMLVQ(n_prototypes=2), np.inf, "passthrough"),
        (LGMLVQ(max_iter=500), 2, StandardScaler()),
    ],
    ids=str,
)
def test_categories_and_missing_values_stay(model, norm, scaler):
    """No change of the numbers inside the radius changes a prediction; the units of the columns can be given."""
    X, y = table()
    gaps = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    texts = make_pipeline(OneHotEncoder(sparse_output=False), scaler)
    blocks = [("numbers", gaps, ["width", "length", "height"]), ("texts", texts, ["colour", "shape"])]
    pipeline = make_pipeline(ColumnTransformer(blocks), clone(model).set_params(random_state=0)).fit(X, y)
    units, numbers = np.array([1.0, 100.0, 0.01, np.nan, np.nan]), ["length", "width", "height"]
    rng, rows = np.random.default_rng(1), X.iloc[:40]
    before = pipeline.predict(rows)
    for given in (None, units):
        radius, scale = certified_radius(pipeline, rows, norm, units=given), np.ones(3) if given is None else units[:3]
        assert (radius > 0).any()
        for _ in range(60):
            change = rng.normal(size=(40, 3)) * rng.choice([0.02, 1.0], size=(40, 3))
            change *= 0.999 * (radius / np.linalg.norm(change, ord=norm, axis=1))[:, None] * scale
            moved = rows.assign(**{name: rows[name] + change[:, k] for k, name in enumerate(numbers)})
            assert np.array_equal(pipeline.predict(moved), before)


def test_units_are_those_of_a_scaler():
    X, y = draw()
    X = X[:, :2]
    for model in (GMLVQ(random_state=0), LGMLVQ(random_state=0)):
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
        expected = certified_radius(pipeline[-1], pipeline[0].transform(X))
        np.testing.assert_allclose(certified_radius(pipeline, X, units=pipeline[0].scale_), expected, rtol=1e-9)
    with pytest.raises(ValueError, match=r"units of certified_radius must be 2 positive numbers, one for each column"):
        certified_radius(pipeline, X, units=[1.0, 0.0])
