"""The graph of every model predicts as the model does: equal labels, and numbers up to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, MCE, RSLVQ, SNPC, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.estimators.registry import ESTIMATORS, estimator_types
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.model.rows import largest_value
from lvq.onnx import to_onnx
from lvq.onnx.predictions import refuse_unknown_parts
from lvq.rejection import certainty

pytestmark = [
    pytest.mark.usefixtures("run"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
VARIANTS = [
    GLVQ(n_prototypes=3, kernel="gaussian"),
    GLVQ(n_prototypes={"ash": 1, "birch": 3, "cedar": 2}, kernel="cauchy"),
    GLVQ(kernel="inverse_multiquadric"),
    GLVQ(kernel=Gaussian(width=0.05)),  # saturates: all distances are equal after the kernel
    GLVQ(kernel=Gaussian(width=1e4)),  # all distances are nearly 0 after the kernel
    GMLVQ(relevance=Matrix(rank=2), kernel="gaussian", n_prototypes=2),
    LGMLVQ(relevance=Matrix(local="prototype", rank=2), n_prototypes=2),
    LGMLVQ(n_prototypes={"ash": 1, "birch": 3, "cedar": 2}),
    MCE(relevance="local_matrix", n_prototypes=2),
    LOGM(relevance=Matrix(rank=2), alpha=0.01, kernel="gaussian"),
    SNPC(decision="posterior", n_prototypes=2, kernel="gaussian"),
    RSLVQ(decision="posterior", n_prototypes={"ash": 1, "birch": 3, "cedar": 2}),
    LVQClassifier(cost="cross_entropy", n_prototypes={"ash": 1, "birch": 3, "cedar": 2}, relevance="matrix"),
    LVQClassifier(relevance="local_diagonal"),
    GLVQ(relevance="local_diagonal", n_prototypes={"ash": 1, "birch": 3, "cedar": 2}),
    RSLVQ(relevance="local_scale", decision="posterior", kernel="cauchy"),
    LVQClassifierCV(cv=2, candidates=[{"relevance": Matrix(local="prototype", ridge=0.01)}]),
]


def spelled(model):
    return "".join(str(model).split())[:80]


def quick(model):
    """The model with few iterations."""
    return model.set_params(random_state=0, **({"max_iter": 5} if "max_iter" in model.get_params() else {}))


def assert_same(found, model, X, digits):
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=digits)
    assert_allclose(found["certainty"], certainty(model, X), rtol=0, atol=digits)
    assert found["accepted"].all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_model(name, run, data):
    X, y = data
    model = quick(estimator_types()[name]()).fit(X, y)
    assert_same(run(to_onnx(model), X), model, X, 1e-9)


@pytest.mark.parametrize("model", VARIANTS, ids=spelled)
def test_every_part(model, run, data):
    X, y = data
    quick(model).fit(X, y)
    assert_same(
        run(to_onnx(model), X),
        model,
        X,
        1e-8 if getattr(getattr(model, "kernel", None), "width", None) == 1e4 else 1e-9,
    )


@pytest.mark.parametrize("model", VARIANTS[::6], ids=spelled)
def test_far_from_all_prototypes(model, run, data):
    """Where kernels saturate the nearest prototype still decides; a posterior there is a tie."""
    X, y = data
    quick(model).fit(X, y)
    far = np.concatenate((1e3 * X, 1e6 * X))
    found = run(to_onnx(model), far)
    if model.get_params().get("decision") == "posterior":
        certain = np.diff(np.sort(model.predict_proba(far), axis=1)[:, -2:])[:, 0] > 1e-9
        assert_array_equal(found["label"][certain], model.predict(far)[certain])
    else:
        assert_array_equal(found["label"], model.predict(far))
    assert np.isfinite(found["probabilities"]).all()
    assert_allclose(found["probabilities"].sum(axis=1), 1)


def test_ties_go_to_the_first(run):
    model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0], [2.0, 2.0]]).fit([[0, 0], [4, 0], [2, 2]], [5, 6, 7])
    X = np.array([[2.0, 0.0], [2.0, -9.0], [2.0, 2.0], [3.0, 1.0], [1.0, 1.0]])
    assert_array_equal(run(to_onnx(model), X)["label"], model.predict(X))


def test_far_from_the_origin(run):
    """Without centring, rounding would hide the differences."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = 1e8 + rng.normal(size=(200, 3)) + 2 * y[:, None]
    model = GMLVQ(random_state=0, max_iter=20).fit(X, y)
    assert_array_equal(run(to_onnx(model), X)["label"], model.predict(X))


LABELS = {
    "strings": ["x", "yy", "zü"],
    "objects": np.array(["x", "yy", "z"], dtype=object),
    "integers": [3, -1, 2**40],
    "unsigned": np.array([1, 2, 3], dtype=np.uint16),
    "whole floats": [0.0, 1.0, 2.0],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind, run, data):
    X, y = data[0], np.asarray(LABELS[kind])[np.unique(data[1], return_inverse=True)[1]]
    model = GLVQ(random_state=0).fit(X, y)
    found = run(to_onnx(model), X)["label"]
    assert found.dtype.kind in "Oi"
    assert_array_equal(found, model.predict(X))


def test_labels_that_onnx_cannot_store():
    classes = np.array([0, 2**63], dtype=np.uint64)
    model = GLVQ(init=[[0.0], [4.0]]).fit([[0.0], [4.0]], classes)
    with pytest.raises(ValueError, match=r"fit into int64, got classes of uint64: .*9223372036854775808"):
        to_onnx(model)


def test_any_number_of_samples(run, data):
    X, y = data
    graph = to_onnx(LVQClassifier(random_state=0, max_iter=3).fit(X, y))
    whole = run(graph, X)
    for size in (0, 1, 7):
        part = run(graph, X[:size])
        for name in whole:
            assert part[name].shape == (size, *whole[name].shape[1:])
        assert_array_equal(part["label"], whole["label"][:size])


def test_classes_without_prototypes_are_refused(data):
    """A stream without samples of some classes so far."""
    X, y = data
    here = y != "birch"
    model = GLVQ(random_state=0).partial_fit(X[here], y[here], classes=np.unique(y))
    with pytest.raises(ValueError, match=r"prototypes of every class, got none of \['birch'\]"):
        to_onnx(model)


# -- rows for which `predict` raises an error --------------------------------------------------------------------------


def invalid_rows(X):
    """Rows with NaN, infinite and too large values in one feature or in all; the last three rows are valid."""
    limit = largest_value(X.dtype, X.shape[1])
    values = [np.nan, np.inf, -np.inf, np.finfo(np.float64).max, -10 * limit, 1.01 * limit]
    rows = np.repeat(X[:1], 2 * len(values), axis=0)
    rows[: len(values), 1] = values
    rows[len(values) :] = np.array(values)[:, None]
    return np.concatenate((rows, X[:2], np.full((1, X.shape[1]), 0.9 * limit)))


def assert_rejected(found, n_valid=3):
    assert np.isnan(found["certainty"][:-n_valid]).all()
    assert not found["accepted"][:-n_valid].any()
    assert not np.isnan(found["certainty"][-n_valid:]).any()


@pytest.mark.parametrize("measure", ["auto", "relsim", "combined", "distance"])
def test_invalid_rows_are_not_accepted(measure, run, data):
    X, y = data
    rows = invalid_rows(X)
    for model in (GMLVQ(relevance=Matrix(rank=2), random_state=0, max_iter=5), RSLVQ(random_state=0, max_iter=5)):
        model.fit(X, y)
        for row in rows[:-3]:
            with pytest.raises(ValueError, match=r"NaN|inf|large"):
                model.predict(row[None])
        found = run(to_onnx(model), rows)
        assert_rejected(found)
        assert found["accepted"][-3:].all()
        safe = RejectClassifier(model, cv="prefit", measure=measure, min_coverage=0.8).fit(X, y)
        assert_rejected(run(to_onnx(safe), rows[:-1]), n_valid=2)


class OwnPart:
    """A kernel or metric of a user."""

    def value(self, distances):
        return distances / (1 + distances)

    def derivative(self, distances):
        return 1 / (1 + distances) ** 2

    def prepare(self, prototypes, relevance):
        raise AssertionError("no distances are computed")


def test_own_parts_are_refused(data):
    X, y = data
    for kernel in (OwnPart(), "rational_quadratic"):
        model = GLVQ(kernel=kernel, random_state=0, max_iter=3).fit(X, y)
        with pytest.raises(ValueError, match=r"does not support the kernel .*; it supports Identity"):
            to_onnx(model)
    model = GLVQ(random_state=0, max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match=r"does not support the metric .*OwnPart.*; it supports Euclidean"):
        refuse_unknown_parts(replace(model.model_, metric=OwnPart()))
