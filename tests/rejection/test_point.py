"""Accepting samples: the strict rule, and what is not known."""

import numpy as np
import pytest

from lvq.rejection import accept_mask, local_thresholds


def test_reject_iff_strictly_below():
    assert accept_mask([0.29, 0.3, 0.31], [0, 0, 0], {0: 0.3}).tolist() == [False, True, True]


def test_infinite_thresholds():
    mask = accept_mask([-5.0, 5.0, np.inf], ["none", "all", "all"], {"none": -np.inf, "all": np.inf})
    assert mask.tolist() == [True, False, False]


def test_nan_is_rejected_even_where_nothing_else_is():
    assert accept_mask([np.nan, -np.inf], [0, 0], {0: -np.inf}).tolist() == [False, True]


def test_new_cells_are_rejected_but_for_one_threshold():
    samples = [0.1, 0.2, 0.8, 0.9], [False, True, False, True], [0, 0, 1, 1]
    local = local_thresholds(*samples).point(0)
    assert local.accept([0.9, 0.9], [1, 2]).tolist() == [True, False]
    shared = local_thresholds(*samples, method="global").pick(rejected_correct=0)
    assert shared.thresholds.tolist() == [0.2, 0.2]
    assert shared.accept([0.19, 0.2], ["new", "new"]).tolist() == [False, True]


def test_labels_meet_as_in_python():
    assert accept_mask([1.0, 1.0, 1.0], [1.0, "1", (1,)], {1: 0.5}).tolist() == [True, False, False]
    assert accept_mask(np.ones(2), np.array(["a", "b"]), {"a": 0.5}).tolist() == [True, False]


def test_no_samples():
    assert accept_mask([], [], {0: 0.5}).tolist() == []


def test_lengths():
    with pytest.raises(ValueError, match="certainty has 2, cell has 1"):
        accept_mask([0.1, 0.2], [0], {0: 0.5})
