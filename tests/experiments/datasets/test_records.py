"""The records of the data sets are complete, consistent and cannot be changed."""

import pytest

from experiments.datasets import DATASETS


@pytest.mark.parametrize("name", DATASETS)
def test_record_is_consistent(name):
    record = DATASETS[name]
    assert record.name == name
    assert all((record.title, record.source, record.licence, record.citation))
    assert bool(record.sklearn_loader) != bool(record.files), "one place on this machine"
    assert set(record.papers) <= {"fischer", "jin", "kaestner", "ridge"}
    assert (record.n_features is None) == (record.mean_magnitude is None)
    if record.openml_labels:
        assert record.openml_id is not None
        assert set(record.openml_labels.values()) == set(record.class_counts)
