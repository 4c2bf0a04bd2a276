"""The fitted model: predictions by a slow independent computation and by the estimators, frozen and checked arrays."""

import copy
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
from dataclasses import FrozenInstanceError, replace
from itertools import product

import numpy as np
import pytest

from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, RationalQuadratic
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import largest_value
from lvq.model.scores import DecisionRule
from tests.model.formulas import distances

N_FEATURES = 4
LABELS = np.array([0, 0, 1, 2, 2])
GROUPS = (0, 2, 3, 5)
METRICS = {
    "euclidean": (Euclidean(), None),
    "diagonal": (Diagonal(), (N_FEATURES,)),
    "matrix": (Mahalanobis(), (2, N_FEATURES)),
    "local matrix": (LocalMahalanobis(GROUPS), (3, 3, N_FEATURES)),
    "local diagonal": (LocalDiagonal(GROUPS), (3, N_FEATURES)),
}
LINKS = {
    "identity": (Identity(), lambda D: D),
    "gaussian": (Gaussian(1.4), lambda D: 2 - 2 * np.exp(-D / (2 * 1.4**2))),
    "cauchy": (Cauchy(1.4), lambda D: 2 - 2 / (1 + D / 1.4**2)),
    "inverse multiquadric": (InverseMultiquadric(1.4), lambda D: 2 - 2 / np.sqrt(1 + D / 1.4**2)),
    "rational quadratic": (RationalQuadratic(1.4, 2.5), lambda D: 2 - 2 * (1 + D / (5 * 1.4**2)) ** -2.5),
}
DECISIONS = {
    "relative": DecisionRule(sharpness=3.0),
    "steep": DecisionRule(xi=1.3),
    "cross entropy": DecisionRule(xi=1.3, temperature=0.8, log_probabilities=True),
    "soft": DecisionRule(xi=1.3, soft=True),
    "posterior": DecisionRule(xi=1.3, soft=True, by_posterior=True),
}


def make_model(metric="euclidean", link="identity", decision="relative", classes=("a", "b", "c"), dtype=np.float64):
    """A model of random arrays; with two classes, the last two of three are one."""
    rng = np.random.default_rng(1)
    part, shape = METRICS[metric]
    weights = isinstance(part, Diagonal | LocalDiagonal)
    R = None if shape is None else (rng.uniform(0.1, 1.0, shape) if weights else rng.normal(size=shape))
    return PrototypeModel(
        prototypes=rng.normal(size=(5, N_FEATURES)).astype(dtype),
        labels=np.minimum(LABELS, len(classes) - 1),
        classes=np.array(classes),
        metric=part,
        relevance=None if R is None else R.astype(dtype),
        link=LINKS[link][0],
        decision=DECISIONS[decision],
    )


def samples(count=30, seed=0):
    return np.random.default_rng(seed).normal(size=(count, N_FEATURES)) * 1.5


def softmax(z):
    return np.exp(z) / np.exp(z).sum()


def slow_prediction(model, link, x):
    """Class index, scores, probabilities, winner, rival and certainty of one sample, by the definitions."""
    omegas = [np.diag(omega) if omega.ndim == 1 else omega for omega in map(model.matrix_of, range(5))]
    D = distances(model.metric, x[None], model.prototypes, model.relevance)[0]
    H, rule, n_classes = LINKS[link][1](D), model.decision, len(model.classes)
    if rule.by_posterior:
        memberships = softmax(-rule.xi * H)
        probabilities = np.array([memberships[model.labels == k].sum() for k in range(n_classes)])
        scores = np.log(probabilities)
        if n_classes == 2:
            scores = scores - scores[::-1]
    else:
        d = np.array([H[model.labels == k].min() for k in range(n_classes)])
        others = np.array([min(d[c] for c in range(n_classes) if c != k) for k in range(n_classes)])
        if rule.xi is None:
            scores = (others - d) / (others + d)
            probabilities = softmax(scores * rule.sharpness / 2)
        else:
            probabilities = softmax(-rule.xi / rule.temperature * d)
            scores = rule.xi * (others - d)
            if rule.log_probabilities:
                scores = np.log(probabilities) if n_classes > 2 else scores / rule.temperature
    predicted = int(scores.argmax())
    winner = min((j for j in range(5) if model.labels[j] == predicted), key=lambda j: D[j])
    rival = min((j for j in range(5) if model.labels[j] != predicted), key=lambda j: D[j])
    certainty = (H[rival] - H[winner]) / (H[rival] + H[winner])
    if rule.by_posterior:
        second, first = np.sort(probabilities)[-2:]
        certainty = (first - second) / (first + second)
    contributions = []
    for j in (rival, winner):
        u = x - model.prototypes[j]
        contributions.append(u * (omegas[j].T @ omegas[j] @ u))
    return D, predicted, scores, probabilities, winner, rival, certainty, contributions[0] - contributions[1]


def combinations():
    """Every pair of a metric and a decision with a link and a number of classes in turn; the slow cases are all."""
    classes = ("a", "b", "c"), ("a", "b")
    for number, (metric, decision, link) in enumerate(product(METRICS, DECISIONS, LINKS)):
        pair = number // len(LINKS)
        for place, names in enumerate(classes):
            chosen = number % len(LINKS) == (pair + pair // len(DECISIONS)) % len(LINKS) and place == pair % 2
            yield pytest.param(metric, link, decision, names, marks=() if chosen else pytest.mark.slow)


@pytest.mark.parametrize(("metric", "link", "decision", "classes"), list(combinations()))
def test_predictions_equal_a_slow_computation(metric, link, decision, classes):
    model, X = make_model(metric, link, decision, classes), samples()
    columns = zip(*(slow_prediction(model, link, x) for x in X))
    D, predicted, scores, probabilities, winner, rival, certainty, contributions = map(np.array, columns)
    close = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(model.distances(X), D, **close)
    np.testing.assert_array_equal(model.predict(X), model.classes[predicted])
    np.testing.assert_allclose(model.predict_proba(X), probabilities, **close)
    np.testing.assert_allclose(model.decision_function(X), scores[:, 1] if len(classes) == 2 else scores, **close)
    explanation = model.explain(X)
    np.testing.assert_array_equal(explanation.label, model.classes[predicted])
    np.testing.assert_array_equal(explanation.winner, winner)
    np.testing.assert_array_equal(explanation.rival, rival)
    np.testing.assert_allclose(explanation.certainty, certainty, **close)
    np.testing.assert_allclose(explanation.contributions, contributions, **close)
    rows = np.arange(len(X))
    np.testing.assert_allclose(explanation.contributions.sum(axis=1), D[rows, rival] - D[rows, winner], **close)


# -- parts of a prediction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["relative", "steep"])
def test_posterior_needs_a_soft_cost(decision):
    model = make_model(decision=decision)
    with pytest.raises(ValueError, match="posterior needs a model with a soft cost, SNPC or RSLVQ"):
        model.posterior(model.distances(samples()))


def test_one_class_so_far_is_predicted_with_certainty():
    """A stream can begin with samples of one class."""
    model = replace(make_model(), labels=np.ones(5, dtype=int))
    X = samples()
    assert set(model.predict(X)) == {"b"}
    assert (model.explain(X).certainty == 1).all()
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# -- samples -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3)), r"X of PrototypeModel must have shape \(n_samples, 4\), got \(2, 3\)"),
        (np.zeros(4), r"must have shape \(n_samples, 4\), got \(4,\)"),
        (np.full((1, 4), np.nan), "contains NaN or infinite values"),
        (np.full((1, 4), np.inf), "contains NaN or infinite values"),
        (np.full((1, 4), 1e160), "overflow for values as large as 1e.160"),
        ([["a", "b", "c", "d"]], "could not convert string to float"),
        (np.zeros((1, 4), dtype=complex), "must hold real numbers, got complex128"),
    ],
    ids=["features", "axes", "nan", "infinite", "large", "text", "complex"],
)
def test_samples_that_do_not_fit_are_refused(X, message):
    for method in ("predict", "predict_proba", "decision_function", "explain"):
        with pytest.raises(ValueError, match=message):
            getattr(make_model(), method)(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_value_does_not_overflow(dtype):
    model = replace(make_model(), prototypes=make_model().prototypes.astype(dtype))
    limit = largest_value(dtype, N_FEATURES)
    X = np.array([[limit, -limit, limit, -limit]], dtype=dtype) * dtype(0.999)
    assert np.isfinite(model.distances(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_give_the_predictions_of_the_whole(metric, monkeypatch):
    model, X = make_model(metric, "gaussian"), samples(100)
    whole, explained = model.predict_proba(X), model.explain(X)
    monkeypatch.setattr("lvq.model.rows.BLOCK", 100)
    sizes = []
    model.over_blocks(lambda D: sizes.append(len(D)) or D, X)
    assert max(sizes) <= 20
    assert sum(sizes) == 100
    np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-12)
    for part, of_whole in zip(model.explain(X)[1:], explained[1:]):
        np.testing.assert_allclose(part, of_whole, rtol=1e-9, atol=1e-12)
    assert model.predict(X[:0]).shape == (0,)
    assert model.explain(X[:0]).contributions.shape == (0, N_FEATURES)


@pytest.mark.parametrize(
    ("n_prototypes", "n_features", "metric"), [(2000, 2, Mahalanobis()), (2, 300, Euclidean())], ids=["many", "wide"]
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain"])
def test_memory_is_bounded_for_any_number_of_samples(method, n_prototypes, n_features, metric, monkeypatch):
    """Neither all distances nor a copy of all samples is held at a time; explanations have the size of the samples."""
    monkeypatch.setattr("lvq.model.rows.BLOCK", 2**16)
    rng = np.random.default_rng(0)
    model = PrototypeModel(
        prototypes=rng.normal(size=(n_prototypes, n_features)),
        labels=np.repeat([0, 1], n_prototypes // 2),
        classes=np.array([0, 1]),
        metric=metric,
        relevance=None if isinstance(metric, Euclidean) else np.eye(n_features),
    )
    X = rng.normal(size=(16 * 2**20 // (8 * max(n_prototypes, n_features)), n_features))
    monkeypatch.setattr(PrototypeModel, "checked", lambda self, X: X)  # it looks at all samples at once
    tracemalloc.start()
    try:
        getattr(model, method)(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 2**20 + (2 * X.nbytes if method == "explain" else 0)


# -- agreement of all outputs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "offset"), [(np.float64, 1e6), (np.float32, 0.0), (np.float32, 1e6)])
@pytest.mark.parametrize(("link", "decision"), [("identity", "relative"), ("gaussian", "steep")])
@pytest.mark.parametrize("metric", METRICS)
def test_all_outputs_agree_and_are_those_of_the_distances(metric, link, decision, offset, dtype):
    """Also far from the origin. Some samples are at prototypes, some halfway between two, where rounding decides."""
    model, X = make_model(metric, link, decision), samples(300)
    W = np.round(model.prototypes * 16) / 16
    X = np.vstack((np.round(X * 16) / 16, W, (W[:4] + W[1:]) / 2))  # float32 has these digits at the offset too
    model = replace(model, prototypes=(W + offset).astype(dtype))
    if model.relevance is not None:
        model = replace(model, relevance=model.relevance.astype(dtype))
    rows = (X + offset).astype(dtype)
    D = model.distances(rows)
    expected = distances(model.metric, rows.astype(float), model.prototypes.astype(float), model.relevance)
    tolerance = 1e-11 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(D, expected, rtol=tolerance, atol=tolerance * expected.max())
    assert D.dtype == dtype
    predicted = model.predicted(rows)
    found, certainty = model.nearest(D)
    scores, probabilities = model.scores(D), model.predict_proba(rows)
    np.testing.assert_array_equal(model.predict(rows), model.classes[predicted])
    np.testing.assert_array_equal(model.decide(D), predicted)
    np.testing.assert_array_equal(model.labels[found.winner], predicted)
    np.testing.assert_array_equal(scores.argmax(axis=1), predicted)
    np.testing.assert_array_equal(model.decision_function(rows), scores)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), predicted)
    np.testing.assert_array_equal(model.explain(rows).label, model.classes[predicted])
    assert ((certainty >= 0) & (certainty <= 1)).all()
    clear = np.sort(expected)[:, 1] - np.sort(expected)[:, 0] > 10 * tolerance * expected.max()
    np.testing.assert_array_equal(found.winner[clear], expected.argmin(axis=1)[clear])
    assert clear.mean() > 0.9


def test_the_posterior_decides_in_float64():
    """Also of float32 samples: at a boundary, posteriors that differ in float64 can be equal in float32."""
    model, X = make_model("euclidean", "identity", "posterior", dtype=np.float32), samples(3000).astype(np.float32)
    labels = model.predict(X)
    low, high = X[labels == "a"], X[labels != "a"]
    low, high = low[: len(high)], high[: len(low)]
    for _ in range(60):
        middle = (low + high) / 2
        same = (model.predict(middle) == "a")[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    near = np.concatenate((low, high))
    np.testing.assert_array_equal(model.classes[model.decision_function(near).argmax(axis=1)], model.predict(near))
    np.testing.assert_array_equal(model.classes[model.predict_proba(near).argmax(axis=1)], model.predict(near))


# -- frozen arrays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda model: model, lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
def test_arrays_are_read_only(again):
    model = again(replace(make_model("matrix"), importances=np.full(N_FEATURES, 0.25)))
    for name in ("prototypes", "labels", "classes", "relevance", "importances"):
        array = getattr(model, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'link'"):
        model.link = Identity()


# -- inconsistent arrays and parts -------------------------------------------------------------------------------------


OF_LISTS = np.array(["a", ["b"], "c"], dtype=object)
WITHOUT_SOFT = DecisionRule(xi=1.0, by_posterior=True)
FIELDS = {  # what is wrong with each of these values of a field
    "needs prototypes of shape": ("prototypes", np.zeros(4), np.zeros((5, 4), int), np.zeros((0, 4)), [[0.0]]),
    "not finite": ("prototypes", np.full((5, 4), np.nan)),
    "one-dimensional array of classes": ("classes", np.array([["a"]]), np.array([]), ["a"]),
    "not distinct": ("classes", np.array(["a", "b", "a"]), np.array([0.0, np.nan, 1.0]), OF_LISTS),
    "ascending class index": ("labels", *map(np.array, ([0, 0, 1, 2], [0, 1, 0, 2, 2], [0.0] * 5))),
    "outside of its 3 classes": ("labels", np.array([0, 0, 1, 2, 3]), np.array([-1, 0, 1, 2, 2])),
    "2 feature names for 4 features": ("feature_names", ("a", "b")),
    "importances that do not fit": ("importances", np.ones(3), np.array([1.0, 0, 0, np.nan])),
    "relevances that its metric does not use": ("relevance", np.ones(4)),
    "variances that are negative": ("variances", np.array([1, -1, 1, 1.0])),
    "variances that do not fit": ("variances", np.ones(3), np.full(4, np.nan), [1.0] * 4),
    "has no metric": ("metric", None),
    "has no link": ("link", None),
    "not a positive number": ("link", RationalQuadratic(1.0, -1.0), *map(Gaussian, (0.0, np.inf, 10**400, "1"))),
    "xi is not a positive number": ("decision", *(DecisionRule(xi=xi) for xi in (0.0, np.inf, 10**400))),
    "sharpness is not a positive number": ("decision", DecisionRule(sharpness=0.0)),
    "log_probabilities that needs a steepness xi": ("decision", DecisionRule(log_probabilities=True)),
    "without soft=True and a steepness xi": ("decision", DecisionRule(soft=True), WITHOUT_SOFT),
}
GROUPED = [(0, 4), (1, 5), (0, 3, 3, 5), (0.0, 5.0), (0, True, 5), [0, 5], (5,)]
PARAMETERS = {  # the same of a metric and its parameters
    "relevances that do not fit": [
        *[(Diagonal(), None), (Diagonal(), np.ones((2, 4)))],
        *[(Mahalanobis(), np.ones((2, 3))), (Mahalanobis(), np.full((2, 4), np.inf))],
    ],
    "negative relevances": [(Diagonal(), np.array([1.0, 1, 1, -1]))],
    "another number of metrics": [(LocalMahalanobis((0, 5)), np.ones((2, 2, 4)))],
    "metrics for other groups": [(LocalMahalanobis(groups), np.ones((1, 2, 4))) for groups in GROUPED],
}


def test_inconsistent_arrays_and_parts_are_refused():
    for message, (field, *values) in FIELDS.items():
        for value in values:
            with pytest.raises(ValueError, match=f"PrototypeModel .*{message}"):
                replace(make_model(), **{field: value})
    for message, cases in PARAMETERS.items():
        for metric, relevance in cases:
            with pytest.raises(ValueError, match=f"PrototypeModel .*{message}"):
                replace(make_model(), metric=metric, relevance=relevance)


def test_models_with_variances_take_missing_values():
    """They are stored with a model; without them, a missing value is an error."""
    X, model = np.array([[1.0, np.nan, 0.0]]), PrototypeModel(np.eye(3), np.arange(3), np.array(["a", "b", "c"]))
    ignoring = replace(model, variances=np.array([1.0, 2.0, 3.0]))
    again = PrototypeModel.from_arrays(ignoring.to_arrays())
    assert again.predict(X).tolist() == ["a"]
    assert (again.variances.tolist(), again.variances.flags.writeable) == ([1, 2, 3], False)
    assert PrototypeModel.from_arrays(model.to_arrays()).variances is None
    for refusing, row in ((model, X), (again, np.array([[1.0, np.nan, np.inf]]))):
        with pytest.raises(ValueError, match="contains NaN or infinite values"):
            refusing.predict(row)
    with pytest.raises(ValueError, match="transform needs samples without missing values, also of a model with miss"):
        again.images(X)


# -- without scikit-learn ----------------------------------------------------------------------------------------------


def test_prediction_needs_no_scikit_learn(tmp_path):
    """A saved model is loaded and used in a process where importing scikit-learn, numba or torch is an error."""
    model, X = make_model("local matrix", "gaussian", "posterior"), samples()
    model.save(tmp_path / "model.npz")
    np.save(tmp_path / "X.npy", X)
    program = """
        import sys

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("sklearn", "numba", "torch", "pandas"):
                    raise ImportError(f"{name} must not be imported")

        sys.meta_path.insert(0, Refuse())
        import numpy as np
        from lvq.model.prototype_model import PrototypeModel

        model, X = PrototypeModel.load("model.npz"), np.load("X.npy")
        model.explain(X)
        np.savez("found.npz", label=model.predict(X), proba=model.predict_proba(X), score=model.decision_function(X))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, check=True, timeout=60)
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_array_equal(found["proba"], model.predict_proba(X))
        np.testing.assert_array_equal(found["score"], model.decision_function(X))
