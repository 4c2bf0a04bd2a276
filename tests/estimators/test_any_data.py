"""Any data and any settings give a model or a clear error, nothing else.

Each case draws a model, with any rates, kernels and starts, and data of any shape, type, memory order, labels and
weights. Data that are within the rules must give a model; data that are not must give a ValueError or TypeError of this
library or of scikit-learn's validation. Never NaN, a wrong shape, another exception.
"""

import faulthandler
import traceback
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC, LVQClassifier
from lvq.model.links import KERNELS
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix, Weights
from lvq.model.starts import STARTS
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online, is_compiled

SECONDS = 900  # a case that takes longer hangs: the run ends with a traceback; the first may compile
relaxed = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}

# -- data --------------------------------------------------------------------------------------------------------------


class Data(NamedTuple):
    """What `fit` is given, whether it is within the rules (None: either), and how it was made."""

    X: object
    y: object
    weight: np.ndarray | None
    valid: bool | None
    made: tuple


def every_other(X):
    wide = np.empty((2 * X.shape[0], 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": every_other,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "broadcast": lambda X: np.broadcast_to(X, X.shape),
    "list": lambda X: X.tolist(),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "sparse": lambda X: sparse.csr_array(X.astype(float) if X.dtype.kind in "Ob" or X.dtype.itemsize < 4 else X),
}
TYPES = ["f8", "f4", "f2", "i8", "i1", "u1", "?", "O"]
VALUES = ["normal", "grid", "same", "duplicates", "collinear", "constant feature", "outlier", "far", "sorted"]
LIMITS = ["denormal", "huge", "tiny"]  # refused, or a model
INVALID = ["NaN", "infinite"]


def values_of(kind, rng, samples, features, dtype):
    smallest = float(np.finfo(dtype if dtype in ("f4", "f8") else "f8").tiny)
    X = rng.normal(size=(samples, features))
    first = X[:, :1]
    made = {
        "grid": lambda: rng.integers(0, 2, X.shape).astype(float),
        "same": lambda: np.full(X.shape, 0.1),
        "duplicates": lambda: X[rng.integers(0, min(2, samples), samples)],
        "collinear": lambda: first * rng.normal(size=features) + 1,
        "constant feature": lambda: np.where(np.arange(features) == 0, 0.1, X),
        "outlier": lambda: np.where(np.arange(samples)[:, None] == 0, 100 * X, X),
        "far": lambda: X + 60,
        "sorted": lambda: np.sort(X, axis=0),
        "denormal": lambda: X * (smallest / 1024),
        "tiny": lambda: X * smallest**0.52,
        "huge": lambda: X / smallest**0.9,
        "NaN": lambda: np.where(rng.random(X.shape) < 0.1, np.nan, X),
        "infinite": lambda: np.where(rng.random(X.shape) < 0.1, np.inf, X),
    }
    return made.get(kind, lambda: X)()


LABELS = {
    "int": lambda y: y,
    "negative": lambda y: -y - 3,
    "large": lambda y: y + 2**62,
    "uint8": lambda y: y.astype(np.uint8),
    "bool": lambda y: y > y.min(),
    "whole floats": lambda y: y * 2.0,
    "text": lambda y: np.array([f"Klasse {k} é" for k in y]),
    "objects": lambda y: np.array([f"{k}" for k in y], dtype=object),
    "list": lambda y: y.tolist(),
    "strided": lambda y: np.repeat(y, 2)[::2],
}
INVALID_LABELS = {
    "one class": np.zeros_like,
    "too few": lambda y: y[:-1],
    "fractions": lambda y: y + 0.5 + np.arange(len(y)) / 7,
    "NaN": lambda y: np.where(np.arange(len(y)) == 0, np.nan, y),
    "two columns": lambda y: np.column_stack([y, y]),
    "None": lambda y: None,
}
WEIGHTS = {
    "none": lambda rng, y: None,
    "random": lambda rng, y: rng.uniform(0.1, 2, len(y)),
    "some zero": lambda rng, y: np.where(np.arange(len(y)) < 2, 0.0, 1.0),
    "steep": lambda rng, y: 10.0 ** rng.uniform(-6, 6, len(y)),
    "float32": lambda rng, y: rng.uniform(0.1, 2, len(y)).astype(np.float32),
    "whole": lambda rng, y: rng.integers(1, 4, len(y)),
}
INVALID_WEIGHTS = {
    "all zero": lambda rng, y: np.zeros(len(y)),
    "negative": lambda rng, y: -np.ones(len(y)),
    "NaN": lambda rng, y: np.full(len(y), np.nan),
    "too few": lambda rng, y: np.ones(len(y) + 1),
}


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


@st.composite
def data(draw):
    """Mostly within the rules; else with one thing that is not."""
    fault = draw(st.sampled_from([None, None, None, None, "limit", "values", "labels", "weights", "shape"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 5))
    samples = draw(st.sampled_from([classes, classes + 1, 12, 30]))  # the first: one of each class
    features = draw(st.sampled_from([1, 2, 3, 7, 40]))
    kind = draw(st.sampled_from(LIMITS if fault == "limit" else INVALID if fault == "values" else VALUES))
    dtype = draw(st.sampled_from(TYPES[:2] if fault in ("limit", "values") else TYPES))
    X = values_of(kind, rng, samples, features, dtype)
    if fault == "values" and np.isfinite(X).all():
        X[0, 0] = np.nan
    layout = draw(st.sampled_from(sorted(LAYOUTS)))
    if layout == "big-endian" and dtype == "O":
        layout = "C"
    if dtype in ("i1", "u1"):
        X = np.clip(np.abs(X), 0, 120)
    X = X.astype(dtype)
    y = rng.permutation(np.arange(samples) % classes)
    labelling = draw(st.sampled_from(sorted(INVALID_LABELS if fault == "labels" else LABELS)))
    weighting = draw(st.sampled_from(sorted(INVALID_WEIGHTS if fault == "weights" else WEIGHTS)))
    weight = (INVALID_WEIGHTS if fault == "weights" else WEIGHTS)[weighting](rng, y)
    left = y if weight is None or fault == "weights" else y[weight > 0]
    if fault is None and len(np.unique(left > 0 if labelling == "bool" else left)) < 2:
        weight, weighting = None, "none"
    given_labels = (INVALID_LABELS | LABELS)[labelling](y) if fault == "labels" else LABELS[labelling](y)
    shape = draw(st.sampled_from(["no samples", "no features", "one axis", "three axes"])) if fault == "shape" else ""
    X = LAYOUTS[layout](X)
    if shape:
        array = dense(X)
        X = {"no samples": array[:0], "no features": array[:, :0], "one axis": array[:, 0], "three axes": array[None]}[
            shape
        ]
    made = (fault, kind, dtype, layout, labelling, weighting, shape, samples, features)
    return Data(X, given_labels, weight, None if fault == "limit" else fault is None, made)


# -- models ------------------------------------------------------------------------------------------------------------


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
        schedule=st.sampled_from(["linear", "constant"]),
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
penalties = {"smoothness": penalty}
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
BATCH[LVQClassifier] = {
    "solver": st.sampled_from(["auto", "lbfgs", "adam", "online"]),
    "relevance": st.sampled_from([None, "gradient", "matrix", Matrix(rank=1), "local_matrix", "local_diagonal"]),
    "calibration": st.sampled_from([None, "temperature"]),
    "class_weight": st.sampled_from([None, "balanced"]),
    "n_prototypes": st.sampled_from([1, 2]),
    "max_iter": st.sampled_from([1, 3]),
}


@st.composite
def models(draw, table):
    """Any estimator of a table, with any parameters."""
    kind = draw(st.sampled_from(list(table)))
    return kind(**{name: draw(values) for name, values in table[kind].items()})


# -- the check ---------------------------------------------------------------------------------------------------------

OWN = ("/lvq/", "/sklearn/", "\\lvq\\", "\\sklearn\\")


def fit(model, drawn):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Fewer prototypes than requested")
        return model.fit(drawn.X, drawn.y, sample_weight=drawn.weight)


def check_error(error, model, drawn):
    assert drawn.valid is not True, (drawn.made, error)
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    assert any(part in last for part in OWN), (drawn.made, last, error)
    assert len(str(error)) > 20, (drawn.made, error)
    assert not hasattr(model, "model_"), drawn.made


def check_model(model, drawn):
    assert drawn.valid is not False, drawn.made
    X, classes = drawn.X, model.classes_
    n_samples, n_features = dense(X).shape
    assert np.isfinite(model.prototypes_).all()
    assert model.prototypes_.shape[1:] == (n_features,)
    predicted, probabilities, scores = model.predict(X), model.predict_proba(X), model.decision_function(X)
    assert predicted.shape == (n_samples,)
    assert probabilities.shape == (n_samples, len(classes))
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-3)
    np.testing.assert_array_equal(classes[probabilities.argmax(axis=1)], predicted)
    assert scores.shape == ((n_samples,) if len(classes) == 2 else (n_samples, len(classes)))
    best = (scores > 0).astype(int) if len(classes) == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(classes[best], predicted)
    assert not np.isnan(scores).any()
    plain = np.array(dense(X), dtype=model.prototypes_.dtype, order="C")
    same = model.predict(plain) == predicted
    if sparse.issparse(X):  # other sums: where two classes are equally near but for rounding, either may be predicted
        first, second = np.sort(probabilities, axis=1)[:, :-3:-1].T
        same |= first - second < 1e-6
    assert same.all()
    check_learned(model, plain)


def check_learned(model, X):
    for name in ("relevances_", "omega_", "feature_importances_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    if hasattr(model, "relevances_"):
        assert (model.relevances_ >= 0).all()
        if not model._relevance().free_size and getattr(model.relevance, "scores", "sum") == "sum":
            np.testing.assert_allclose(model.relevances_.sum(axis=-1), 1, atol=1e-5)
    elif hasattr(model, "omega_") and not isinstance(model, LVQClassifier):  # its matrices are of free size
        np.testing.assert_allclose(np.square(model.omega_).sum(axis=(-2, -1)), 1, rtol=1e-3)
    assert 0 < getattr(model, "kernel_width_", 1.0) < np.inf
    explanation = model.explain(X)
    assert np.isfinite(explanation.certainty).all()
    assert np.isfinite(explanation.contributions).all()
    assert not np.isnan(model.objective_history_).any()


def check(model, drawn):
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        try:
            fit(model, drawn)
        except (ValueError, TypeError) as error:
            check_error(error, model, drawn)
        else:
            check_model(model, drawn)
    finally:
        faulthandler.cancel_dump_traceback_later()


def stream(model, drawn, size):
    """In batches of a size, as dense arrays."""
    X, y = dense(drawn.X), np.asarray(drawn.y)
    for begin in range(0, len(X), size):
        rows = slice(begin, begin + size)
        weight = None if drawn.weight is None else drawn.weight[rows]
        if weight is None or weight.any():
            model.partial_fit(X[rows], y[rows], classes=np.unique(y), sample_weight=weight)


@settings(max_examples=150, **relaxed)
@given(model=models(ONLINE), drawn=data())
def test_online(model, drawn):
    check(model, drawn)


@settings(max_examples=150, **relaxed)
@given(model=models(BATCH), drawn=data())
def test_batch(model, drawn):
    check(model, drawn)


@settings(max_examples=60, **relaxed)
@given(model=models(ONLINE), drawn=data().filter(lambda drawn: drawn.valid), size=st.integers(1, 6))
def test_streams(model, drawn, size):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Fewer prototypes than requested")
        stream(model.set_params(class_weight=None), drawn, size)
    check_learned(model, np.array(dense(drawn.X), dtype=model.prototypes_.dtype))


@pytest.mark.parametrize("cls", ONLINE)
def test_every_parameter_is_drawn(cls):
    """What is not drawn: output, and what has tests of its own."""
    left_out = {"warm_start", "verbose", "missing", "metric"}
    assert set(cls().get_params(deep=False)) - left_out == set(ONLINE[cls])
