"""Random settings: whatever the rates, kernels, starts and data, nothing becomes NaN or infinite."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC
from lvq.model.links import KERNELS
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix, Weights
from lvq.model.start_prototypes import STARTS
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online, is_compiled

COMPILED_KERNELS = {name: kernel for name, kernel in KERNELS.items() if is_compiled(kernel)}  # any solver has these
any_rate = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
any_rate_or_none = st.one_of(st.just(0.0), any_rate)
moderate = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
locality = st.sampled_from([None, "class", "prototype"])
sum_to_one = [FisherPrototypes(weighted_step=True), FisherNeighbours(weighted_step=True, rivals="nearest")]
by_maximum = [
    FisherPrototypes(scores="max", no_variance="between"),
    FisherNeighbours(scores="max", no_variance="between", rivals="nearest", weighted_step=True),
]
hebbian = st.builds(Hebbian, squared=st.booleans())
rules = st.one_of(st.sampled_from([None, "hebbian", "fc1", "fc2", *sum_to_one, *by_maximum]), hebbian)
weights = st.one_of(st.just("gradient"), st.builds(Weights, local=locality))
matrices = st.one_of(st.just("matrix"), st.builds(Matrix, local=locality, rank=st.sampled_from([None, 1])))
gradients = st.one_of(st.sampled_from([None, "local_matrix", "local_diagonal"]), weights, matrices)


def kernels(widths):
    """No kernel, one by its name, or one of any kind with a width."""
    kinds = [st.builds(type(kernel), width=widths) for kernel in COMPILED_KERNELS.values()]
    return st.one_of(st.sampled_from([None, *COMPILED_KERNELS]), *kinds)


def online(steps=("scaled",), rates=any_rate_or_none):
    """The online solver with any rates."""
    return st.builds(
        Online,
        learning_rate=rates,
        relevance_rate=st.one_of(st.sampled_from([None, 0.0]), any_rate),
        schedule=st.sampled_from(["linear", "constant", "inverse"]),
        step=st.sampled_from(steps),
        shuffle=st.booleans(),
    )


common = {
    "n_prototypes": st.sampled_from([1, 2, 5]),
    "init": st.sampled_from(STARTS),
    "relevance": rules,
    "kernel": kernels(st.one_of(st.just("auto"), any_rate)),
    "solver": online(),
    "max_iter": st.sampled_from([1, 3]),
    "class_weight": st.sampled_from([None, "balanced"]),
    "random_state": st.integers(0, 3),
}
# parameters of the models with a cost; only they can learn a width
smooth = common | {
    "relevance": st.one_of(gradients, rules),
    "kernel": kernels(st.one_of(st.sampled_from(["auto", "learned"]), any_rate)),
    "solver": online(("scaled", "gradient")),
    "alpha": any_rate_or_none,
}
relative = smooth | {
    "solver": online(("scaled", "gradient", "relative")),
    "slope": st.one_of(st.sampled_from([None, "time"]), any_rate),
}
steep = smooth | {"xi": any_rate}
soft = steep | {"decision": st.sampled_from(["nearest", "posterior"])}
window = st.floats(0.01, 0.99)

ONLINE = {
    LVQ1: common,
    OLVQ1: common | {"solver": online(rates=st.floats(1e-6, 0.999999))},
    LVQ21: common | {"window": window},
    LVQ3: common | {"window": window, "epsilon": window},
    RLVQ: common | {"relevance": hebbian},
    GLVQ: relative,
    GRLVQ: relative | {"relevance": weights},
    GMLVQ: relative | {"relevance": matrices},
    LGMLVQ: relative | {"relevance": matrices.filter(lambda rule: rule != "matrix")},
    MCE: steep,
    LOGM: steep,
    SNPC: soft,
    RSLVQ: soft,
}
# the batch solvers have a gradient to follow, and so no rules
penalty = st.one_of(st.just(0.0), moderate)
penalties = {"sparsity": penalty, "smoothness": penalty}
BATCH_RELEVANCES = {
    GRLVQ: st.builds(Weights, local=locality, **penalties),
    GMLVQ: st.builds(Matrix, local=locality, rank=st.sampled_from([None, 1]), **penalties),
    LGMLVQ: ONLINE[LGMLVQ]["relevance"],
}
BATCH = {
    cls: parameters
    | {
        "solver": st.one_of(st.just(LBFGS()), st.builds(Adam, learning_rate=st.floats(1e-6, 1.0))),
        "kernel": kernels(st.one_of(st.sampled_from(["auto", "learned"]), moderate)),
        "relevance": BATCH_RELEVANCES.get(cls, gradients),
        "alpha": st.one_of(st.just(0.0), moderate),
    }
    | ({"slope": st.one_of(st.none(), moderate)} if "slope" in parameters else {"xi": moderate})
    for cls, parameters in ONLINE.items()
    if "alpha" in parameters
}


@st.composite
def settings_of(draw, table):
    """A class and its parameters."""
    cls = draw(st.sampled_from(list(table)))
    return cls, {name: draw(values) for name, values in table[cls].items()}


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


@pytest.mark.parametrize("cls", ONLINE)
def test_every_parameter_is_drawn(cls):
    """What is not drawn: output, and what has tests of its own."""
    left_out = {"warm_start", "verbose", "missing", "cost_matrix", "metric"}
    assert set(cls().get_params(deep=False)) - left_out == set(ONLINE[cls])
