"""Checks of arrays: labels of any type, and clear messages for invalid values."""

import numpy as np
import pytest

from lvq.rejection.validation import (
    check_flags,
    check_fraction,
    check_samples,
    label_codes,
    positions,
    sorted_by_pool,
)


@pytest.mark.parametrize(
    ("labels", "distinct", "code"),
    [
        ([7, 3, 7], [3, 7], [1, 0, 1]),
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([(1, "a"), (0, "b"), (1, "a")], [(1, "a"), (0, "b")], [0, 1, 0]),
        ([1, "1", 1], [1, "1"], [0, 1, 0]),
        (np.array([None, "x", None], dtype=object), [None, "x"], [0, 1, 0]),
        ([], [], []),
    ],
)
def test_labels(labels, distinct, code):
    found, codes = label_codes(labels)
    assert found.tolist() == distinct
    assert codes.tolist() == code


def test_labels_of_a_table_are_refused():
    with pytest.raises(ValueError, match=r"labels must be one-dimensional, got shape \(2, 2\)"):
        label_codes(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "labels",
    [[1.0, np.nan], np.array([np.nan, np.nan], dtype=np.float32), ["a", float("nan")]],
    ids=["list", "array", "objects"],
)
def test_labels_that_are_nan_are_refused(labels):
    with pytest.raises(ValueError, match="labels must not be NaN, which is not equal to itself; give such"):
        label_codes(labels)
    with pytest.raises(ValueError, match="labels must not be NaN"):
        check_samples([0.1, 0.2], [1, 0], labels)


@pytest.mark.parametrize(
    ("certainty", "correct", "cell", "message"),
    [
        ([0.1, np.nan], [1, 0], [0, 0], "certainty must be finite, got 1 NaN or infinite of 2"),
        ([0.1, np.inf], [1, 0], [0, 0], "certainty must be finite, got 1 NaN or infinite of 2"),
        ([], [], [], r"certainty must be one-dimensional and not empty, got shape \(0,\)"),
        ([[0.1]], [1], [0], r"certainty must be one-dimensional and not empty, got shape \(1, 1\)"),
        ([0.1, 0.2], [1], [0, 0], "certainty has 2, correct has 1, cell has 2"),
        ([0.1, 0.2], [1, 0], [0], "certainty has 2, correct has 2, cell has 1"),
        ([0.1, 0.2], [1, 2], [0, 0], r"correct must hold only True/False or 1/0, got \['1', '2'\]"),
        ([0.1, 0.2], ["yes", "no"], [0, 0], r"correct must hold only True/False or 1/0, got \['no', 'yes'\]"),
        ([0.1, 0.2], [1.0, np.nan], [0, 0], "correct must hold only True/False or 1/0"),
        ([0.1, 0.2], [[1, 0]], [0, 0], r"correct must be one-dimensional, got shape \(1, 2\)"),
    ],
)
def test_refused(certainty, correct, cell, message):
    with pytest.raises(ValueError, match=message):
        check_samples(certainty, correct, cell)


def test_numbers_as_flags():
    assert check_flags("correct", [1.0, 0.0]).tolist() == [True, False]
    samples = check_samples([1, 2, 3], [1, 0, 0], "aab")
    assert (samples.n_correct, samples.n_errors) == (1, 2)


@pytest.mark.parametrize("value", [0, 1, -0.1, 5, np.nan])
def test_open_fraction(value):
    with pytest.raises(ValueError, match=r"max_error must be strictly between 0 and 1, got .*not a percentage"):
        check_fraction("max_error", value, open_interval=True)


def test_sorted_by_pool_omits_the_unknown():
    samples = check_samples([3, 1, 2, 0, 9], [1, 1, 0, 0, 1], [0, 0, 0, 1, 2])
    parts = list(sorted_by_pool(samples, np.array([0, 0, 0, 1, -1]), 2))
    assert [(right.tolist(), wrong.tolist()) for right, wrong in parts] == [([1, 3], [2]), ([], [0])]


def test_positions():
    assert positions([2.0, "2", (1,)], np.array([1, 2])).tolist() == [1, -1, -1]
    assert positions([], np.array(["a"])).tolist() == []
