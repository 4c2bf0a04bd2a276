"""Random settings: whatever the rates, kernels, starts and data, nothing becomes NaN or infinite."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC
from lvq.model.links import KERNELS
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian
from lvq.model.starts import STARTS

any_rate = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
sum_to_one = [FisherPrototypes(weighted_step=True), FisherNeighbours(weighted_step=True, rivals="nearest"), Hebbian()]
by_maximum = [
    FisherPrototypes(scores="max", no_variance="between"),
    FisherNeighbours(scores="max", no_variance="between", rivals="nearest", weighted_step=True),
]
rules = st.sampled_from([None, "hebbian", "fc1", "fc2", *sum_to_one, *by_maximum])
gradients = st.sampled_from([None, "gradient", "matrix", "local_matrix", "local_diagonal"])

common = {
    "n_prototypes": st.sampled_from([1, 2, 5]),
    "init": st.sampled_from(STARTS),
    "kernel": st.sampled_from([None, *KERNELS]),
    "kernel_width": st.one_of(st.just("auto"), any_rate),
    "learning_rate": st.one_of(st.just(0.0), any_rate),
    "relevance_rate": st.one_of(st.just(0.0), any_rate),
    "schedule": st.sampled_from(["linear", "constant", "inverse"]),
    "max_iter": st.sampled_from([1, 3]),
    "shuffle": st.booleans(),
    "class_weight": st.sampled_from([None, "balanced"]),
    "random_state": st.integers(0, 3),
}
own_rates = {name: values for name, values in common.items() if name != "schedule"}
# parameters of the models with a cost; only they can learn a width
smooth = common | {
    "kernel_width": st.one_of(st.sampled_from(["auto", "learned"]), any_rate),
    "alpha": st.one_of(st.just(0.0), any_rate),
    "solver": st.just("online"),
    "step": st.sampled_from(["scaled", "gradient"]),
}
relative = smooth | {
    "step": st.sampled_from(["scaled", "gradient", "relative"]),
    "slope": st.one_of(st.sampled_from([None, "time"]), any_rate),
}
local = st.sampled_from(["class", "prototype"])
steep = smooth | {"xi": any_rate, "relevance": st.one_of(gradients, rules), "local": local}
soft = steep | {"decision": st.sampled_from(["nearest", "posterior"])}
window = st.floats(0.01, 0.99)

ONLINE = {
    LVQ1: common | {"relevance": rules},
    OLVQ1: own_rates | {"relevance": rules, "learning_rate": st.floats(1e-6, 0.999999)},
    LVQ21: common | {"relevance": rules, "window": window},
    LVQ3: common | {"relevance": rules, "window": window, "epsilon": window},
    RLVQ: common | {"squared": st.booleans()},
    GLVQ: relative | {"relevance": st.one_of(gradients, rules), "local": local},
    GRLVQ: relative,
    GMLVQ: relative | {"rank": st.sampled_from([None, 1])},
    LGMLVQ: relative | {"rank": st.sampled_from([None, 1]), "local": local},
    MCE: steep,
    LOGM: steep,
    SNPC: soft,
    RSLVQ: soft,
}
# the batch solvers have a gradient to follow, and so no rules
moderate = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
penalty = st.one_of(st.just(0.0), moderate)
BATCH = {
    cls: parameters
    | {
        "solver": st.sampled_from(["lbfgs", "adam"]),
        "slope" if "slope" in parameters else "xi": st.one_of(st.none(), moderate)
        if "slope" in parameters
        else moderate,
        "alpha": st.one_of(st.just(0.0), moderate),
        "step": st.just("scaled"),
        "learning_rate": st.floats(1e-6, 1.0),
        "kernel_width": st.one_of(st.sampled_from(["auto", "learned"]), moderate),
    }
    | ({"relevance": gradients} if "relevance" in parameters else {})
    | ({"sparsity": penalty, "smoothness": penalty} if cls in (GRLVQ, GMLVQ) else {})
    for cls, parameters in ONLINE.items()
    if "solver" in parameters
}


@st.composite
def settings_of(draw, table):
    """A class and its parameters."""
    cls = draw(st.sampled_from(list(table)))
    parameters = {name: draw(values) for name, values in table[cls].items()}
    if parameters["kernel"] is None and parameters["kernel_width"] == "learned":
        parameters["kernel_width"] = "auto"
    return cls, parameters


@st.composite
def samples(draw, largest=100):
    """Few samples: normal, on a grid with many ties, all the same, of any scale and far from the origin or not."""
    classes = draw(st.integers(2, 4))
    count = draw(st.integers(classes, 12))
    features = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kind = draw(st.sampled_from(["normal", "grid", "same", "outlier"]))
    X = rng.normal(size=(count, features))
    if kind == "grid":
        X = rng.integers(-1, 2, (count, features)).astype(float)
    elif kind == "same":
        X = np.ones((count, features))
    elif kind == "outlier":
        X[0] *= 1e6
    if draw(st.booleans()):
        X[:, 0] = 0.1  # a constant feature
    if draw(st.booleans()):
        X[-1] = X[0]  # a duplicate, of another class in most cases
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    exponents = [0, 0, -5, 5, -11] if dtype == np.float32 else [0, 0, -8, 8, -largest, largest]
    exponent = draw(st.sampled_from([k for k in exponents if abs(k) <= largest]))
    X = X * 10.0**exponent + draw(st.sampled_from([0.0, 0.0, 1e3])) * 10.0**exponent
    y = rng.permutation(np.arange(count) % classes)
    weight = draw(st.sampled_from([None, "random", "steep"]))
    if weight == "random":
        weight = rng.uniform(0, 2, count)
    elif weight == "steep":
        weight = 10.0 ** rng.uniform(-6, 6, count)
    return X.astype(dtype), y, weight


def check(model, X, y):
    assert np.isfinite(model.prototypes_).all(), "prototypes"
    assert model.prototypes_.dtype == X.dtype
    if hasattr(model, "relevances_"):
        assert np.isfinite(model.relevances_).all(), "relevances"
        assert (model.relevances_ >= 0).all(), "relevances"
        if getattr(getattr(model, "relevance", None), "scores", "sum") == "sum":
            np.testing.assert_allclose(model.relevances_.sum(axis=-1), 1, atol=1e-5)
        else:
            assert model.relevances_.max() <= 1 + 1e-5
    if hasattr(model, "omega_"):
        assert np.isfinite(model.omega_).all(), "omega"
        np.testing.assert_allclose(np.square(model.omega_).sum(axis=(-2, -1)), 1, rtol=1e-3)
    if hasattr(model, "kernel_width_"):
        assert 0 < model.kernel_width_ < np.inf
    predicted = model.predict(X)
    assert np.isin(predicted, np.unique(y)).all()
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all(), "probabilities"
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-4)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], predicted)
    scores = model.decision_function(X)
    assert not np.isnan(scores).any(), "scores"
    explanation = model.explain(X)
    assert np.isfinite(explanation.certainty).all(), "certainty"
    assert np.isfinite(explanation.contributions).all(), "contributions"
    assert not np.isnan(model.objective_history_).any(), "history"


relaxed = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


def check_fit(drawn, data):
    (cls, parameters), (X, y, weight) = drawn, data
    model = cls(**parameters)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Fewer prototypes than requested")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weight)
    check(model, X, y)


def check_stream(drawn, data, size):
    (cls, parameters), (X, y, weight) = drawn, data
    model = cls(**parameters | {"class_weight": None})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Fewer prototypes than requested")
        for begin in range(0, len(X), size):
            rows = slice(begin, begin + size)
            model.partial_fit(
                X[rows], y[rows], classes=np.unique(y), sample_weight=None if weight is None else weight[rows]
            )
    check(model, X, y)


@settings(max_examples=300, **relaxed)
@given(drawn=settings_of(ONLINE), data=samples())
def test_online(drawn, data):
    check_fit(drawn, data)


@settings(max_examples=100, **relaxed)
@given(drawn=settings_of(ONLINE), data=samples(), size=st.integers(1, 6))
def test_streams(drawn, data, size):
    check_stream(drawn, data, size)


@settings(max_examples=100, **relaxed)
@given(drawn=settings_of(BATCH), data=samples(largest=5))
def test_batch(drawn, data):
    check_fit(drawn, data)


@pytest.mark.slow
@settings(max_examples=2000, **relaxed)
@given(drawn=settings_of(ONLINE), data=samples())
def test_many_fits(drawn, data):
    check_fit(drawn, data)


@pytest.mark.slow
@settings(max_examples=1000, **relaxed)
@given(drawn=settings_of(ONLINE), data=samples(), size=st.integers(1, 6))
def test_many_streams(drawn, data, size):
    check_stream(drawn, data, size)


@pytest.mark.parametrize("cls", ONLINE)
def test_every_parameter_is_drawn(cls):
    """What is not drawn: numbers of runs, output, and what only other solvers read."""
    left_out = {"n_prototypes_total", "tol", "n_iter_no_change", "warm_start", "verbose"}
    left_out |= {"batch_size", "validation_fraction", "device", "missing", "cost_matrix", "log_determinant"}
    left_out |= {"feature_groups", "sparsity", "smoothness", "sample_prototypes"}
    assert set(cls().get_params()) - left_out <= set(ONLINE[cls]) | {"rank"}
