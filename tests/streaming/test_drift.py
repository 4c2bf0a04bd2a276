"""Idle prototypes are reseeded where the model is wrong."""

import numpy as np
import pytest

from lvq import GLVQ, fit_batches
from lvq.streaming.drift import reseed_idle


@pytest.fixture
def model():
    """Prototypes at 0 and 100 of class 0, at 5 of class 1."""
    init = (np.array([[0.0], [100.0], [5.0]]), np.array([0, 0, 1]))
    return GLVQ(init=init, learning_rate=0).partial_fit([[0.0], [5.0]], [0, 1], classes=[0, 1])


def reseed(model, X, y, idle, after=4):
    return reseed_idle(model, np.array(X, dtype=float)[:, None], np.array(y), idle, after, np.random.RandomState(0))


def test_rows_of_its_class_without_a_win_are_counted(model):
    before = model.model_
    assert reseed(model, [0, 1, 5], [0, 0, 1], []) == [0, 2, 0]
    assert reseed(model, [5, 5], [1, 1], [0, 2, 0]) == [0, 2, 0]  # no row of its class
    assert reseed(model, [99], [0], [0, 2, 0]) == [1, 0, 0]
    assert model.model_ is before


def test_an_idle_prototype_moves_to_an_error(model):
    assert reseed(model, [0, 1, 6, 5], [0, 0, 0, 1], [0, 2, 0]) == [0, 0, 0]
    assert model.prototypes_.ravel().tolist() == [0, 6, 5]
    assert model.predict([[6.0]]) == [0]


def test_without_an_error_it_stays(model):
    assert reseed(model, [0, 1, 0, 1], [0, 0, 0, 0], [0, 2, 0]) == [0, 6, 0]
    assert model.prototypes_.ravel().tolist() == [0, 100, 5]


def test_training_continues_from_the_new_place(model):
    reseed(model, [0, 1, 6, 5], [0, 0, 0, 1], [0, 2, 0])
    model.set_params(learning_rate=0.1).partial_fit([[6.5], [5.0]], [0, 1])
    assert model.prototypes_[1, 0] > 6
    assert model.prototypes_[1, 0] < 7


def test_prototypes_of_new_classes_start_the_count_again(model):
    assert reseed(model, [0, 1], [0, 0], [7, 7]) == [0, 2, 0]


@pytest.mark.parametrize("seed", range(3))
def test_a_sudden_change_needs_it(seed):
    """Clusters that jump far away: the prototypes that do not win any more follow only if they are reseeded."""
    rng = np.random.default_rng(seed)
    y, cluster = rng.integers(2, size=6000), rng.integers(2, size=6000)
    late = np.arange(6000) >= 3000
    angle = np.pi / 2 * (2 * cluster + y + late)
    X = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.5 * rng.normal(size=(6000, 2)) + 8.0 * late[:, None]
    settings = {"batch_rows": 50, "shuffle_rows": 0, "random_state": seed}
    scores = [
        fit_batches(GLVQ(n_prototypes=2), [(X, y)], reseed_after=after, **settings).score(X[-500:], y[-500:])
        for after in (None, 200)
    ]
    assert scores[1] > scores[0] + 0.1
