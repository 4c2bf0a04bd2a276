"""Starting prototypes: how many per class, which start, and given prototypes."""

import numpy as np
import pytest

from lvq import GLVQ, GMLVQ, LVQ1, LVQ21, LVQClassifier
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online


def start_only(model=None, **parameters):
    """A model whose prototypes stay at their start: all rates are zero."""
    solver = Online(learning_rate=0.0, relevance_rate=0.0)
    return (model or GLVQ()).set_params(solver=solver, max_iter=1, random_state=0, **parameters)


# -- how many ----------------------------------------------------------------------------------------------------------


def test_a_dict_of_numbers(online_model, data):
    X, y = data
    online_model.set_params(n_prototypes={0: 1, 1: 3, 2: 2}).fit(X, y)
    np.testing.assert_array_equal(online_model.prototype_labels_, [0, 1, 1, 1, 2, 2])
    assert online_model.score(X, y) > 0.5


@pytest.mark.parametrize("init", ["kmeans", "means", "samples", "random"])
def test_too_few_samples(init):
    """As many prototypes as the class has distinct samples, and a warning with the class and both numbers."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 6.0], [7.0, 5.0]])
    y = np.array(["few", "few", "many", "many", "many", "many"])
    model = LVQ1(n_prototypes=3, init=init, random_state=0)
    with pytest.warns(UserWarning, match="class few has 2 distinct samples for 3 prototypes"):
        model.fit(X, y)
    assert model.prototype_labels_.tolist() == ["few"] * 2 + ["many"] * 3
    assert model.score(X, y) == 1


def test_warnings_name_the_line_of_the_call(data):
    few = np.array([[0.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 1]
    calls = [
        lambda: GLVQ(n_prototypes=2).fit(*few),
        lambda: LVQClassifier(n_prototypes=2, relevance=None).fit(*few),
        lambda: GLVQ(n_prototypes=2).partial_fit(*few, classes=[0, 1]),
        lambda: GLVQ(max_iter=1).fit(*data),
        lambda: LVQClassifier(relevance="matrix", max_iter=1, calibration=None).fit(*data),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="Fewer prototypes|Increase max_iter") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.thin(5)
@pytest.mark.parametrize("init", ["kmeans", "means", "samples", "random"])
@pytest.mark.parametrize(
    ("copies", "features", "dtype"), [(7, 3, np.float64), (33, 100, np.float32), (1001, 64, np.float64)]
)
def test_copies_are_not_distinct(init, copies, features, dtype):
    """Copies of one sample count as one sample, whatever a product over their rows rounds to."""
    rng = np.random.default_rng(copies + features)
    X = np.concatenate([np.repeat(rng.normal(size=(1, features)), copies, axis=0), rng.normal(size=(5, features)) + 9])
    y = np.repeat([0, 1], [copies, 5])
    model = LVQ1(n_prototypes=2, init=init, max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="class 0 has 1 distinct samples for 2 prototypes"):
        model.fit(X.astype(dtype), y)
    np.testing.assert_array_equal(model.prototype_labels_, [0, 1, 1])


@pytest.mark.parametrize("offset", [1e6, 1e12, 1e17])
def test_a_large_constant_feature_does_not_hide_differences(offset, data):
    """Samples that differ are distinct, however large a feature is in which they do not."""
    X, y = data
    X = np.column_stack([np.full(len(X), offset), X])
    model = GLVQ(solver="online", n_prototypes=2, random_state=0, max_iter=5).fit(X, y)
    assert len(model.prototypes_) == 6
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_prototypes": {0: 1, 1: 1}}, r"missing: \['2'\], not a class: none"),
        ({"n_prototypes": {0: 1, 1: 1, 2: 1, 7: 1}}, r"missing: none, not a class: \[7\]"),
        ({"n_prototypes": {0: 0, 1: 1, 2: 1}}, "a whole number of at least 1"),
        ({"n_prototypes": {0: 1.5, 1: 1, 2: 1}}, "a whole number of at least 1"),
        ({"n_prototypes": 0}, r"'n_prototypes' parameter of GLVQ must be an int in the range \[1, inf\)"),
        ({"n_prototypes": 1.5}, "'n_prototypes' parameter of GLVQ must be an int"),
        ({"n_prototypes": "many"}, "'n_prototypes' parameter of GLVQ must be an int"),
    ],
    ids=str,
)
def test_impossible_numbers(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        GLVQ(**parameters).fit(*data)


# -- which start -------------------------------------------------------------------------------------------------------


def test_means_with_a_small_spread(data):
    X, y = data
    model = start_only(init="means", n_prototypes=4).fit(X, y)
    for label in range(3):
        mine = model.prototypes_[model.prototype_labels_ == label]
        assert len(np.unique(mine, axis=0)) == 4
        assert (np.abs(mine - X[y == label].mean(axis=0)) < 0.6 * X[y == label].std(axis=0)).all()


# -- given prototypes --------------------------------------------------------------------------------------------------


def test_an_array_class_by_class(data):
    X, y = data
    given = np.arange(24.0).reshape(6, 4)
    model = start_only(init=given, n_prototypes=2).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, given, rtol=1e-14)
    np.testing.assert_array_equal(model.prototype_labels_, [0, 0, 1, 1, 2, 2])


def test_an_array_with_labels_in_any_order(data):
    X, y = data
    names = np.array(["ash", "birch", "cedar"])
    given = np.arange(20.0).reshape(5, 4)
    model = start_only(init=(given, ["cedar", "ash", "birch", "ash", "cedar"])).fit(X, names[y])
    assert model.prototype_labels_.tolist() == ["ash", "ash", "birch", "cedar", "cedar"]
    np.testing.assert_allclose(model.prototypes_, given[[1, 3, 2, 0, 4]])


def test_the_array_is_not_changed(online_model, data):
    X, y = data
    given = X[:3].copy()
    online_model.set_params(n_prototypes=1, init=given).fit(X, y)
    np.testing.assert_array_equal(given, X[:3])


def test_prototypes_of_another_model(data):
    """LVQ2.1 is meant to follow another model."""
    X, y = data
    first = LVQ1(n_prototypes=2, random_state=0).fit(X, y)
    second = LVQ21(init=(first.prototypes_, first.prototype_labels_), max_iter=2, random_state=0).fit(X, y)
    assert np.abs(second.prototypes_ - first.prototypes_).max() < 1
    assert second.score(X, y) > 0.8


def test_a_stream_can_begin_with_an_array(data):
    X, y = data
    model = start_only(init=X[:3]).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    np.testing.assert_allclose(model.prototypes_, X[:3])
    np.testing.assert_array_equal(model.prototype_labels_, [0, 1, 2])


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.zeros((3, 5)), r"init of GLVQ must hold 3 prototypes of 4 features.*got an array of shape \(3, 5\)"),
        (np.zeros((4, 4)), r"init of GLVQ must hold 3 prototypes of 4 features.*got an array of shape \(4, 4\)"),
        (np.zeros(4), r"init of GLVQ must hold 3 prototypes of 4 features.*got an array of shape \(4,\)"),
        (np.full((3, 4), np.nan), "init of GLVQ contains NaN or infinite values"),
        (np.full((3, 4), np.inf), "init of GLVQ contains NaN or infinite values"),
        (np.full((3, 4), 1e300), r"GLVQ .*overflow"),
        ((np.zeros((3, 4)), [0, 1, 2], 7), r"init of GLVQ must be a pair \(prototypes, labels\), got 3 items"),
        ((np.zeros((3, 4)), [0, 1, 1]), r"labels in init of GLVQ must be the classes \[0, 1, 2\], each at least once"),
        ((np.zeros((3, 4)), [0, 1, 5]), r"labels in init of GLVQ must be the classes \[0, 1, 2\], .*got \[0, 1, 5\]"),
        ((np.zeros((3, 4)), ["a", "b", "c"]), "labels in init of GLVQ must be the classes"),
        ((np.zeros((4, 4)), [0, 1, 2]), "init of GLVQ must hold 3 prototypes"),
        ((np.zeros((3, 3)), [0, 1, 2]), "init of GLVQ must hold 3 prototypes of 4 features"),
        ("middle", "'init' parameter of GLVQ must be a str among"),
        (3, "'init' parameter of GLVQ must be a str among"),
    ],
)
def test_impossible_arrays(init, message, data):
    with pytest.raises(ValueError, match=message):
        GLVQ(init=init).fit(*data)


@pytest.mark.parametrize("init", [np.full((3, 4), 1e25), [[1e25] * 4] * 3])
def test_arrays_too_large_for_float32(init, data):
    X, y = data
    with pytest.raises(ValueError, match=r"GLVQ .*overflow"):
        GLVQ(init=init).fit(X.astype(np.float32), y)


def test_equal_prototypes(online_model, data):
    """All prototypes of all classes in one place: ties everywhere, and nothing breaks."""
    X, y = data
    online_model.set_params(init=np.zeros((3, 4)), n_prototypes=1).fit(X, y)
    assert np.isfinite(online_model.prototypes_).all()
    assert np.isfinite(online_model.predict_proba(X)).all()


@pytest.mark.parametrize("rank", [1, 2])
def test_low_rank_starts_from_discriminant_directions(rank, data):
    """Not from the first features, which are noise here."""
    X, y = data
    X = np.column_stack([np.random.default_rng(0).normal(size=(len(X), 3)), X[:, :3]])
    model = start_only(GMLVQ(relevance=Matrix(rank=rank))).fit(X, y)
    assert np.square(model.omega_[:, 3:]).sum() > 0.7
