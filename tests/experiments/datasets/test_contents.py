"""The real data sets, where they are on this machine: shapes, classes and published facts."""

import os

import numpy as np
import pytest

from experiments.datasets import DATASETS, available, load_dataset


def load_or_skip(name):
    """Load a set, or skip with the reason that it is not here."""
    if name not in available():
        folder = os.environ.get("LVQ_DATA") or "not set"
        pytest.skip(f"{' or '.join(DATASETS[name].files)} is not in the folder of LVQ_DATA ({folder})")
    return load_dataset(name, download_if_missing=False)


def check_split(bunch, end):
    """The parts of the split are the rows in order."""
    assert (len(bunch.X_train), len(bunch.y_train)) == (end, end)
    assert len(bunch.X_test) == len(bunch.y_test) == len(bunch.data) - end
    assert np.array_equal(bunch.X_train[0], bunch.data[0])
    assert np.array_equal(bunch.X_test[-1], bunch.data[-1])
    assert np.array_equal(np.concatenate([bunch.y_train, bunch.y_test]), bunch.target)


@pytest.mark.parametrize("name", DATASETS)
def test_set_loads_as_its_record_says(name):
    record = DATASETS[name]
    assert bool(record.sklearn_loader) != bool(record.files), "one place on this machine"
    assert set(record.openml_labels.values()) in (set(), set(record.class_counts))
    bunch = load_or_skip(name)
    assert len(bunch.data) == len(bunch.target) == record.n_samples
    assert np.bincount(bunch.target).tolist() == list(record.class_counts.values())
    if record.n_features is None:
        assert bunch.feature_names is None
        assert all(isinstance(text, str) for text in bunch.data)
    else:
        assert bunch.data.shape == (record.n_samples, record.n_features)
        assert bunch.data.dtype == (np.float32 if record.files[:1] == (f"{name}.npz",) else np.float64)
        assert len(set(bunch.feature_names)) == record.n_features
    for text in (bunch.source, bunch.licence, bunch.citation):
        assert text in bunch.DESCR
    if record.n_train is not None:
        check_split(bunch, record.n_train)


def test_tecator_is_divided_at_the_median_or_at_twenty_percent():
    median, twenty = load_or_skip("tecator"), load_or_skip("tecator_20")
    np.testing.assert_array_equal(median.data, twenty.data)
    fat = median.composition[:, 1]
    np.testing.assert_array_equal(median.target == 1, fat >= np.median(fat))
    np.testing.assert_array_equal(twenty.target == 1, fat >= 20)
    assert median.target_names.tolist() == twenty.target_names.tolist() == ["low_fat", "high_fat"]
