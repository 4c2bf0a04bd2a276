"""Thresholds per cell: the strict rule, unknown cells, and certainties that are never accepted."""

import numpy as np
import pytest

from lvq.rejection import local_thresholds
from lvq.rejection.point import CellThresholds


def accept(certainty, cell, thresholds):
    return CellThresholds(np.array(list(thresholds)), np.array(list(thresholds.values())), np.inf).accept(
        certainty, cell
    )


def test_reject_iff_strictly_below():
    assert accept([0.29, 0.3, 0.31], [0, 0, 0], {0: 0.3}).tolist() == [False, True, True]


def test_infinite_thresholds():
    mask = accept([-5.0, 5.0, 1e308], ["none", "all", "all"], {"none": -np.inf, "all": np.inf})
    assert mask.tolist() == [True, False, False]


@pytest.mark.parametrize("certainty", [np.nan, np.inf, -np.inf])
def test_nan_and_infinite_are_rejected_even_where_nothing_else_is(certainty):
    assert accept([certainty, -1e308], [0, 0], {0: -np.inf}).tolist() == [False, True]


def test_new_cells_are_rejected_unless_there_is_a_single_threshold():
    samples = [0.1, 0.2, 0.8, 0.9], [False, True, False, True], [0, 0, 1, 1]
    local = local_thresholds(*samples).point(0)
    assert local.accept([0.9, 0.9], [1, 2]).tolist() == [True, False]
    shared = local_thresholds(*samples, method="global").pick(max_rejected_correct=0)
    assert shared.thresholds.tolist() == [0.2, 0.2]
    assert shared.accept([0.19, 0.2], ["new", "new"]).tolist() == [False, True]
    assert shared.threshold_of([1, "new"]).tolist() == [0.2, 0.2]


def test_labels_are_compared_as_in_python():
    assert accept([1.0, 1.0, 1.0], [1.0, "1", (1,)], {1: 0.5}).tolist() == [True, False, False]
    assert accept(np.ones(2), np.array(["a", "b"]), {"a": 0.5}).tolist() == [True, False]


def test_no_samples():
    assert accept([], [], {0: 0.5}).tolist() == []


def test_lengths():
    with pytest.raises(ValueError, match="certainty has 2, cell has 1"):
        accept([0.1, 0.2], [0], {0: 0.5})


def test_points_are_compared_by_identity_and_can_be_members_of_a_set():
    """Arrays have no single truth value, nor a hash."""
    path = local_thresholds([0.1, 0.2, 0.8], [False, True, True], [0, 0, 1])
    for make in (lambda: path.point(0), lambda: CellThresholds(path.cells, np.zeros(2), np.inf)):
        one, other = make(), make()
        assert one == one
        assert one != other
        assert len({one, other}) == 2
