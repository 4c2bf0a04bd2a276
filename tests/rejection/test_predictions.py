"""What measures and cells need of an estimator: its own predictions, and distances only of a model of this library."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

from lvq import GLVQ
from lvq.rejection import CostClassifier
from lvq.rejection.scores import Predictions


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return 3 * rng.normal(size=(60, 2)) + 4 * np.eye(3)[y][:, :2] + 5, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def model(data):
    return GLVQ(n_prototypes=2, solver="online", max_iter=5, random_state=0).fit(*data)


def test_a_calibrator_predicts_itself(data, model):
    """Its predictions need not be those of the model inside."""
    calibrated = CalibratedClassifierCV(model, cv=3).fit(*data)
    found = Predictions(calibrated, data[0])
    assert found.found is None
    np.testing.assert_array_equal(found.predicted, calibrated.predict(data[0]))


def test_costs_decide_the_class(data, model):
    """With mistakes for "c" that cost nothing, nearly everything is "c"; the winner is of that class."""
    cost = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 0.0], [9.0, 9.0, 0.0]])
    wrapped = CostClassifier(model, costs=cost).fit(*data)
    found = Predictions(wrapped, data[0])
    assert found.by_cost
    np.testing.assert_array_equal(found.predicted, wrapped.predict(data[0]))
    assert (found.predicted != model.predict(data[0])).any()
    np.testing.assert_array_equal(found.model.classes[found.model.labels[found.winner]], found.predicted)


def test_winners_of_given_classes(data, model):
    """The nearest prototype of a class, for some rows."""
    found, rows = Predictions(model, data[0]), np.array([5, 7, 40])
    classes = np.array(["c", "a", "b"])
    expected = []
    for row, label in zip(rows, classes):
        own = np.flatnonzero(model.prototype_labels_ == label)
        expected.append(own[found.distances[row, own].argmin()])
    assert found.winner_for(classes, rows).tolist() == expected
