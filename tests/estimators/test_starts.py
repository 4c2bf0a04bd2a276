"""Starting prototypes: how many per class, which start, and given prototypes."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from lvq import GLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.solvers.online import Online


def start_only(model=None, **parameters):
    """A model whose prototypes stay at their start: all rates are zero."""
    solver = Online(learning_rate=0.0, relevance_rate=0.0)
    return (model or GLVQ()).set_params(solver=solver, max_iter=1, random_state=0, **parameters)


# -- how many ----------------------------------------------------------------------------------------------------------


@pytest.mark.thin(4)
def test_a_dict_of_numbers(online_model, data):
    X, y = data
    online_model.set_params(n_prototypes={0: 1, 1: 3, 2: 2}).fit(X, y)
    np.testing.assert_array_equal(online_model.prototype_labels_, [0, 1, 1, 1, 2, 2])
    assert online_model.score(X, y) > 0.5


def test_warnings_name_the_line_of_the_call(data):
    few, pairs = ((np.array(rows)[:, None], [0, 0, 1, 1]) for rows in ([0.0, 0.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0]))
    short = LVQClassifier(relevance="matrix", max_iter=1, calibration=None)
    calls = [
        lambda: GLVQ(n_prototypes=2).fit(*few),
        lambda: GLVQ(n_prototypes=2).partial_fit(*few, classes=[0, 1]),
        lambda: short.fit(*data),
        lambda: LVQClassifierCV(estimator=short, candidates=[{}], cv=2).fit(*data),
        lambda: GLVQ(n_prototypes=2).fit(*pairs).add_class([[9.0]], 2),
        lambda: GLVQ(n_prototypes=2).partial_fit(*pairs, classes=[0, 1]).partial_fit([[9.0]], [2]),
        lambda: make_pipeline(GLVQ(n_prototypes=2)).fit(*few),
        lambda: RejectClassifier(short, cv=0.5).fit(*data),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="Fewer prototypes|Increase max_iter") as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_prototypes": {0: 1, 1: 1}}, r"missing: \['2'\], not a class: none"),
        ({"n_prototypes": {0: 1, 1: 1, 2: 1, 7: 1}}, r"missing: none, not a class: \[7\]"),
        ({"n_prototypes": {0: 0, 1: 1, 2: 1}}, "a whole number of at least 1"),
        ({"n_prototypes": {0: 1.5, 1: 1, 2: 1}}, "a whole number of at least 1"),
        ({"n_prototypes": 1.5}, "'n_prototypes' parameter of GLVQ must be an int"),
    ],
    ids=str,
)
def test_impossible_numbers(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        GLVQ(**parameters).fit(*data)


# -- given prototypes --------------------------------------------------------------------------------------------------


def test_an_array_with_labels_in_any_order(data):
    X, y = data
    names = np.array(["ash", "birch", "cedar"])
    given = np.arange(20.0).reshape(5, 4)
    model = start_only(init=(given, ["cedar", "ash", "birch", "ash", "cedar"])).fit(X, names[y])
    assert model.prototype_labels_.tolist() == ["ash", "ash", "birch", "cedar", "cedar"]
    np.testing.assert_allclose(model.prototypes_, given[[1, 3, 2, 0, 4]])


def test_a_stream_can_begin_with_an_array(data):
    X, y = data
    model = start_only(init=X[:3]).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    np.testing.assert_allclose(model.prototypes_, X[:3])
    np.testing.assert_array_equal(model.prototype_labels_, [0, 1, 2])


@pytest.mark.parametrize(
    ("init", "message"),
    [
        *[(np.zeros(shape), "must hold 3 prototypes of 4 features.*got an array of shape") for shape in ((3, 5), (4,))],
        *[(np.full((3, 4), value), "init of GLVQ contains NaN or infinite values") for value in (np.nan, np.inf)],
        (np.full((3, 4), 1e300), r"GLVQ .*overflow"),
        ((np.zeros((3, 4)), [0, 1, 2], 7), r"must be a pair \(prototypes, labels\), got 3 items"),
        *[
            ((np.zeros((3, 4)), labels), "labels in init of GLVQ must be the classes")
            for labels in ([0, 1, 1], ["a"] * 3)
        ],
        ((np.zeros((3, 4)), [0, 1, 5]), r"must be the classes \[0, 1, 2\], .*got \[0, 1, 5\]"),
        ((np.zeros((4, 4)), [0, 1, 2]), "init of GLVQ must hold 3 prototypes"),
    ],
)
def test_impossible_arrays(init, message, data):
    with pytest.raises(ValueError, match=message):
        GLVQ(init=init).fit(*data)
