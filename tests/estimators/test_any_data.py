"""Any data: shapes, types, memory orders, labels and weights give a model or a clear error, nothing else.

Each case draws a model and data. Data that are within the rules must give a model; data that are not must give a
ValueError or TypeError of this library or of scikit-learn's validation. Never NaN, a wrong shape, another exception.
"""

import faulthandler
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, RLVQ
from lvq.estimators.kohonen import KohonenLVQ
from lvq.estimators.registry import estimator_types
from lvq.model.relevance import Matrix, Weights

SECONDS = 900  # a case that takes longer hangs: the run ends with a traceback; the first may compile
relaxed = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}

MODELS = {name: kind for name, kind in estimator_types().items() if name != "LVQClassifierCV"}
SMOOTH = ["gradient", "matrix", Matrix(rank=1), "local_matrix", "local_diagonal", Weights(local="prototype")]
FIXED = {  # relevances of the models that have one of their own
    RLVQ: ["hebbian"],
    GRLVQ: ["gradient"],
    GMLVQ: ["matrix", Matrix(rank=1)],
    LGMLVQ: ["local_matrix", Matrix(rank=1, local="prototype")],
}


# -- data --------------------------------------------------------------------------------------------------------------


class Data(NamedTuple):
    """What `fit` is given, whether it is within the rules (None: either), and how it was made."""

    X: object
    y: object
    weight: np.ndarray | None
    valid: bool | None
    made: tuple


def memmap(X):
    path = Path(tempfile.mkdtemp()) / "X"
    mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def every_other(X):
    wide = np.empty((2 * X.shape[0], 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": every_other,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "memmap": memmap,
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
    if layout in ("memmap", "big-endian") and dtype == "O":
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


@st.composite
def models(draw):
    """Any estimator with few iterations and one or two parts of its own."""
    kind = MODELS[draw(st.sampled_from(sorted(MODELS)))]
    names, rule = kind().get_params(), issubclass(kind, KohonenLVQ)
    choices = {
        "max_iter": [1, 3],
        "n_prototypes": [1, 2],
        "solver": ["auto", "online"] if rule else ["auto", "lbfgs", "adam", "online"],
        "relevance": [None, "hebbian", "fc1", "fc2"] if rule else [None, *SMOOTH],
        "init": ["means", "kmeans", "samples", "random"],
        "class_weight": [None, None, "balanced"],
        "kernel": [None, None, "gaussian"],
        "calibration": [None, None, "temperature"],
    }
    if kind in FIXED:
        choices["relevance"] = FIXED[kind]
    parameters = {name: draw(st.sampled_from(options)) for name, options in choices.items() if name in names}
    return kind(random_state=0, **parameters)


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
    predicted = model.predict(X)
    assert predicted.shape == (n_samples,)
    assert np.isin(predicted, classes).all()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (n_samples, len(classes))
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-3)
    scores = model.decision_function(X)
    assert scores.shape == ((n_samples,) if len(classes) == 2 else (n_samples, len(classes)))
    assert not np.isnan(scores).any()
    plain = np.array(dense(X), dtype=model.prototypes_.dtype, order="C")
    same = model.predict(plain) == predicted
    if sparse.issparse(X):  # other sums: where two classes are equally near but for rounding, either may be predicted
        first, second = np.sort(probabilities, axis=1)[:, :-3:-1].T
        same |= first - second < 1e-6
    assert same.all()
    if hasattr(model, "feature_importances_"):
        assert np.isfinite(model.feature_importances_).all()


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


@settings(max_examples=400, **relaxed)
@given(model=models(), drawn=data())
def test_a_model_or_a_clear_error(model, drawn):
    check(model, drawn)


few_samples = pytest.mark.filterwarnings("ignore:The number of unique classes is greater than 50%:UserWarning")


def many_classes(count):
    rng = np.random.default_rng(0)
    X = np.stack(np.divmod(rng.permutation(count), 100), axis=1).astype(float)
    return X, np.arange(count)


@few_samples
@pytest.mark.parametrize("model", [GLVQ(max_iter=1), LVQ1(max_iter=1)], ids=lambda model: type(model).__name__)
def test_ten_thousand_classes(model):
    """One sample of each: with the start at the means every sample is its own prototype."""
    X, y = many_classes(10_000)
    model.set_params(random_state=0).fit(X, y)
    assert model.prototypes_.shape == X.shape
    assert model.score(X[::50], y[::50]) == 1
    assert model.predict_proba(X[:20]).shape == (20, 10_000)
