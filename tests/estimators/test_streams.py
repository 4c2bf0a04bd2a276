"""`partial_fit`: streams from scratch with `classes=`, batches without some classes, and classes first seen later."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import lvq
from lvq import GLVQ, LGMLVQ, LVQ21, MCE, OLVQ1, RSLVQ, LVQClassifier
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix, Weights
from lvq.solvers.online import Online


def stream(model, X, y, size, classes=(0, 1, 2)):
    for begin in range(0, len(X), size):
        model.partial_fit(X[begin : begin + size], y[begin : begin + size], classes=list(classes))
    return model


# -- the steps ---------------------------------------------------------------------------------------------------------


def test_one_batch_is_one_epoch(online_model, data):
    """From the same start a batch does what an epoch of a constant rate does."""
    X, y = data
    online_model.set_params(solver__schedule="constant", max_iter=1)
    epoch = clone(online_model).fit(X, y)
    batch = online_model.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(batch.prototypes_, epoch.prototypes_)
    assert batch.n_iter_ == 1


def test_cutting_a_batch_changes_nothing(online_model, data):
    """Parts of any size after the first batch are the whole, in the order of the data."""
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    online_model.set_params(solver__schedule="constant", solver__shuffle=False).partial_fit(X, y, classes=[0, 1, 2])
    whole, costs = clone(online_model).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y, sample_weight=weight), 0.0
    for begin, end in pairwise((0, 1, 8, 9, 40, 90)):
        part = slice(begin, end)
        online_model.partial_fit(X[part], y[part], sample_weight=weight[part])
        costs += online_model.objective_history_[-1] * weight[part].sum()
    np.testing.assert_allclose(online_model.prototypes_, whole.prototypes_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(costs / weight.sum(), whole.objective_history_[-1], rtol=1e-9)
    for name in ("relevances_", "omega_", "kernel_width_"):
        if hasattr(whole, name):
            np.testing.assert_allclose(getattr(online_model, name), getattr(whole, name), rtol=1e-6, atol=1e-9)


@pytest.mark.thin(4)
def test_partial_fit_continues_fit(streamed, data):
    X, y = data
    before = streamed.fit(X, y).prototypes_.copy()
    iterations = streamed.n_iter_
    streamed.partial_fit(X, y)
    assert (streamed.prototypes_ != before).any()
    assert streamed.n_iter_ == iterations + 1


@pytest.mark.parametrize(("solver", "relevance"), [("lbfgs", "matrix"), ("adam", None)])
def test_streams_are_online_whatever_the_solver(solver, relevance, data):
    X, y = data
    one = stream(GLVQ(relevance=relevance, solver="online", random_state=0), X, y, 30)
    other = stream(GLVQ(relevance=relevance, solver=solver, random_state=0), X, y, 30)
    np.testing.assert_array_equal(other.prototypes_, one.prototypes_)


# -- classes that are missing or late ----------------------------------------------------------------------------------


@pytest.mark.thin(4)
@pytest.mark.parametrize("late", [1, *(pytest.param(label, marks=pytest.mark.slow) for label in (0, 2))])
def test_a_class_first_seen_later(streamed, data, late):
    """Before, between or after the others: prototypes stay in the order of the classes."""
    X, y = data
    early = y != late
    streamed.partial_fit(X[early], y[early], classes=[0, 1, 2])
    known = np.setdiff1d([0, 1, 2], [late])
    np.testing.assert_array_equal(np.unique(streamed.prototype_labels_), known)
    assert set(streamed.predict(X)) <= set(known)
    scores = streamed.decision_function(X)
    assert (scores[:, late] <= scores[:, known].min(axis=1)).all()
    streamed.partial_fit(X[~early], y[~early])
    np.testing.assert_array_equal(streamed.prototype_labels_, np.repeat([0, 1, 2], streamed.n_prototypes))
    streamed.partial_fit(X, y)
    assert np.isfinite(streamed.prototypes_).all()
    # one direction, chosen without the late class, need not separate it
    if streamed.get_params().get("relevance__rank") != 1:
        assert streamed.score(X[~early], y[~early]) > 0.3
        assert streamed.score(X, y) > 0.5


@pytest.mark.thin(4)
def test_nothing_moves_while_there_is_one_class(streamed, data):
    X, y = data
    streamed.partial_fit(X[y == 1], y[y == 1], classes=[0, 1, 2])
    before = streamed.prototypes_.copy()
    streamed.partial_fit(X[y == 1] + 1, y[y == 1])
    np.testing.assert_array_equal(streamed.prototypes_, before)
    np.testing.assert_array_equal(streamed.predict(X), np.ones(len(X)))


def rate_zero(model):
    """The same model with rates of zero, so that only new classes change it."""
    return model.set_params(random_state=0, solver=Online(learning_rate=0.0, relevance_rate=0.0, shuffle=False))


@pytest.mark.parametrize("late", [0, 2])
def test_new_classes_start_from_their_own_samples(late, data):
    X, y = data
    early = y != late
    model = rate_zero(GLVQ())
    model.partial_fit(X[early], y[early], classes=[0, 1, 2]).partial_fit(X[~early], y[~early])
    means = [X[y == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(model.prototypes_, means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("late", "local", "rank"), [(0, "class", None), (1, "prototype", 2), (2, "class", 2)])
def test_local_matrices_stay_with_their_prototypes(late, local, rank, data):
    """The matrices learned so far stay with their class or prototype when another takes a place among them."""
    X, y = data
    early = y != late
    model = LGMLVQ(
        relevance=Matrix(rank=rank, local=local), n_prototypes=2, solver=Online(relevance_rate=0.1), random_state=0
    )
    model.partial_fit(X[early], y[early], classes=[0, 1, 2]).partial_fit(X[early], y[early])
    before = dict(zip(np.unique(model.prototype_labels_), model.omega_.reshape(2, -1, *model.omega_.shape[1:])))
    few = np.flatnonzero(~early)[:4]
    rate_zero(model).partial_fit(X[few], y[few])
    after = dict(zip([0, 1, 2], model.omega_.reshape(3, -1, *model.omega_.shape[1:])))
    for label, matrices in before.items():
        np.testing.assert_allclose(after[label], matrices, atol=1e-12)
    assert after[late].shape == next(iter(before.values())).shape
    np.testing.assert_allclose(np.square(after[late]).sum(axis=(-2, -1)), 1)


@pytest.mark.parametrize(
    ("late", "counts"), [(0, {0: 1, 1: 2, 2: 3}), (1, {0: 2, 1: 1, 2: 2}), (2, {0: 1, 1: 1, 2: 1})]
)
def test_statistics_stay_with_their_prototypes(late, counts, data):
    """FC2's means and counts, and the counts of the classes, whatever the numbers of prototypes and classes are."""
    X, y = data
    early = y != late
    model = GLVQ(relevance="fc2", solver=Online(learning_rate=0.0), n_prototypes=counts, random_state=0)
    model.partial_fit(X[early], y[early], classes=[0, 1, 2])
    labels, before = model.prototype_labels_, model._state.statistics
    few = np.flatnonzero(~early)[:3]
    model.partial_fit(X[few], y[few])
    after = model._state.statistics
    expected = np.bincount(y[early], minlength=3)
    expected[late] += 3
    np.testing.assert_array_equal(after.seen, expected)
    for label in np.unique(labels):
        mine, now = labels == label, model.prototype_labels_ == label
        np.testing.assert_array_equal(after.wins[now], before.wins[mine])
        np.testing.assert_allclose(after.scatter[now], before.scatter[mine])


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_classes_are_needed_first_and_stay(data):
    X, y = data
    with pytest.raises(ValueError, match=r"classes must be passed on the first call to GLVQ\.partial_fit"):
        GLVQ().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"needs samples of at least two classes .* got 1 class: \[0\]"):
        GLVQ().partial_fit(X[y == 0], y[y == 0], classes=[0])
    model = GLVQ().partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] is not the same as on the first call"):
        model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.filterwarnings("ignore:.*learned without class")
@pytest.mark.parametrize("rows", [1, 12])
def test_labels_that_no_call_has_named_are_added(default, data, rows):
    X, y = data
    X, y = np.concatenate((X, X[:rows] + 20)), np.append(y, np.repeat(7, rows))
    model = default.partial_fit(X[:-rows], y[:-rows], classes=[0, 1, 2])
    alone = clone(default).partial_fit(X[:-rows], y[:-rows], classes=[0, 1, 2]).add_class(X[-rows:], 7)
    model.partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    np.testing.assert_array_equal(model.prototypes_, alone.partial_fit(X, y).prototypes_)
    assert (model.predict(X[-rows:]) == 7).all()
    np.testing.assert_array_equal(model.partial_fit(X, y).classes_, [0, 1, 2, 7])
    weight = np.append(np.repeat([1.0, 0.0], len(y) // 2), np.zeros(len(y) % 2))
    before = clone(default).partial_fit(X[:-rows], y[:-rows], classes=[0, 1, 2])
    assert before.partial_fit(X, y, sample_weight=weight).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("relevance", "labels", "message"),
    [(None, ["a", "b", "c"], "must be like the classes"), ("local_diagonal", [0, 5, 2], "size is learned")],
)
def test_labels_that_cannot_be_added(relevance, labels, message, data):
    X, y = data
    model = MCE(relevance=relevance, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before = model.prototypes_.copy()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, np.array(labels)[y])
    np.testing.assert_array_equal(model.prototypes_, before)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


# -- streams continue the model that they find -------------------------------------------------------------------------


MATRIX = LVQClassifier(relevance="matrix", n_prototypes=1)
CHANGES = [
    *[(MATRIX, {"n_prototypes": 2}), (MATRIX, {"init": "random"}), (MATRIX, {"kernel": "cauchy"})],
    *[(MATRIX, {"kernel": Gaussian(width=3.0)}), (MATRIX, {"cost": "glvq"}), (MATRIX, {"relevance": "local_matrix"})],
    *[(MATRIX, {"relevance": Matrix(rank=2)}), (GLVQ(), {"relevance": "matrix"})],
    *[(GLVQ(relevance=before), {"relevance": "fc2"}) for before in ("fc1", "gradient")],
]


@pytest.mark.parametrize(("model", "change"), CHANGES, ids=str)
def test_changed_parts_are_refused(model, change, data, tmp_path):
    """The compiled loops check no bounds: other parts than those of the fit would read and write beyond the arrays."""
    X, y = data
    model = clone(model).set_params(max_iter=2, solver="online", random_state=0).fit(X, y)
    given, name = model.get_params(deep=False), next(iter(change))
    lvq.save(model.set_params(**change), tmp_path / "model.lvq")
    for changed in (model, lvq.load(tmp_path / "model.lvq")):
        before = changed.prototypes_
        with pytest.raises(ValueError, match=rf"partial_fit of {type(model).__name__} .*'{name}' has changed.*Set it"):
            changed.partial_fit(X, y)
        assert changed.prototypes_ is before
    model.set_params(**given).partial_fit(X, y)


@pytest.mark.parametrize(
    ("model", "change"),
    [(MCE(), {"xi": 20.0}), (LVQ21(), {"window": 0.05})],
    ids=repr,
)
def test_parameters_of_the_cost_may_change(model, change, data):
    """They hold from the next batch on: as if the stream had had them, with the units and prototypes of before."""
    X, y = data
    rate_zero(model).partial_fit(X, y, classes=[0, 1, 2])
    expected = clone(model).set_params(**change).partial_fit(X, y, classes=[0, 1, 2])
    for each in (model, expected):
        each.set_params(**change, solver=Online(learning_rate=0.05, shuffle=False)).partial_fit(X, y)
    np.testing.assert_array_equal(model.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(("model", "scale"), [(GLVQ(), 0.1), (RSLVQ(), 2.0**-20)], ids=repr)
def test_single_samples_of_a_small_scale_learn(model, scale):
    """One sample has no spread, so the units are measured on the first samples that do."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(np.tile(np.arange(150), 4))
    single, batches = (clone(model).set_params(random_state=0) for _ in range(2))
    for i in order:
        single.partial_fit(scale * X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    for begin in range(0, len(order), 30):
        rows = order[begin : begin + 30]
        batches.partial_fit(scale * X[rows], y[rows], classes=[0, 1, 2])
    assert batches.score(scale * X, y) > 0.9
    assert single.score(scale * X, y) > 0.9


@pytest.mark.parametrize("params", [{}, {"missing": "ignore"}], ids=str)
def test_the_default_classifier_names_the_parameters_of_a_stream(params):
    """What the message names makes `partial_fit` available."""
    model = LVQClassifier(**params)
    assert not hasattr(model, "partial_fit")
    named = "set solver='online' and a relevance such as 'local_diagonal', or a relevance without a ridge"
    with pytest.raises(AttributeError, match=named):
        model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    X, y = np.random.default_rng(0).normal(size=(60, 3)) + 4 * np.eye(3)[np.arange(60) % 3], np.arange(60) % 3
    named = {"solver": Online(learning_rate=0.01), "relevance": "local_diagonal"}, {"relevance": Weights(local="class")}
    for setting in named:
        model = LVQClassifier(**params, **setting)
        assert model.partial_fit(X, y, classes=[0, 1, 2]).score(X, y) > 0.9


@pytest.mark.parametrize("call", ["partial_fit", "fit"])
def test_a_model_that_was_changed_by_hand_is_refused(call, data):
    """Its statistics are of other prototypes, and the compiled loops check no bounds."""
    model = OLVQ1(random_state=0, warm_start=True).fit(*data)
    model.model_ = replace(model.model_, prototypes=model.prototypes_[:2], labels=model.model_.labels[:2])
    with pytest.raises(ValueError, match=r"OLVQ1 has changed since it was fitted: it has statistics .*Call fit again"):
        getattr(model, call)(*data)
