"""The records of the data sets are complete, consistent and cannot be changed."""

import pytest

from experiments.datasets import ALIASES, DATASETS


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


@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [
        ("usps", 7291, 2007),
        ("mnist", 60000, 10000),
        ("coffee", 28, 28),
        ("20newsgroups", 11314, 7532),
        ("letter", 16000, 4000),
        ("satimage", 4435, 2000),
    ],
)
def test_split_sizes(name, n_train, n_test):
    record = DATASETS[name]
    assert (record.n_train, record.n_samples - record.n_train) == (n_train, n_test)
    assert list(record.train_counts) == list(record.class_counts)
    assert all(0 < record.train_counts[label] < record.class_counts[label] for label in record.class_counts)


@pytest.mark.parametrize(
    ("paper", "names"),
    [
        ("jin", "diabetes glass2 heart iris ionosphere pima sonar vehicle wdbc wine usps 20ng"),
        ("ridge", "iris ionosphere wine soybean_small wdbc affordance"),
        ("fischer", "segment tecator haberman coil20"),
        ("kaestner", "pima wdbc"),
    ],
)
def test_every_set_of_a_paper_has_a_record(paper, names):
    expected = {ALIASES.get(name, name) for name in names.split()}
    assert {name for name, record in DATASETS.items() if paper in record.papers} == expected
