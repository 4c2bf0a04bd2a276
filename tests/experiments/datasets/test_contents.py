"""The real data sets, where they are on this machine: shapes, classes and published facts."""

import os

import numpy as np
import pytest

from experiments.datasets import DATASETS, available, load_dataset

EXPECTED = {
    "iris": (150, 4, [50, 50, 50]),
    "wine": (178, 13, [59, 71, 48]),
    "wdbc": (569, 30, [212, 357]),
    "digits": (1797, 64, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
    "diabetes": (768, 8, [500, 268]),
    "glass": (214, 9, [70, 76, 17, 13, 9, 29]),
    "glass2": (163, 9, [87, 76]),
    "heart": (270, 13, [150, 120]),
    "ionosphere": (351, 34, [225, 126]),
    "sonar": (208, 60, [111, 97]),
    "vehicle": (846, 18, [218, 212, 217, 199]),
    "segment": (2310, 19, [330] * 7),
    "haberman": (306, 3, [225, 81]),
    "soybean_small": (47, 35, [10, 10, 10, 17]),
    "tecator": (215, 100, [107, 108]),
    "tecator_20": (215, 100, [138, 77]),
    "affordance": (160, 11, [80, 80]),
    "affordance_full": (280, 24, [140, 140]),
    "letter": (20000, 16, None),
    "satimage": (6435, 36, [1533, 703, 1358, 626, 707, 1508]),
    "usps": (9298, 256, [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]),
    "20newsgroups": (18846, None, None),
    "coil20": (1440, 16384, [72] * 20),
    "coil20_32x32": (1440, 1024, [72] * 20),
    "coffee": (56, 286, [29, 27]),
    "mnist": (70000, 784, [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]),
}


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


@pytest.mark.parametrize("name", EXPECTED)
def test_set_loads_with_its_shape_and_classes(name):
    n_samples, n_features, counts = EXPECTED[name]
    bunch = load_or_skip(name)
    assert len(bunch.data) == len(bunch.target) == n_samples
    found = np.bincount(bunch.target)
    assert len(found) == len(bunch.target_names)
    if counts is not None:
        assert found.tolist() == counts
    if n_features is None:
        assert bunch.feature_names is None
        assert all(isinstance(text, str) for text in bunch.data)
    else:
        assert bunch.data.shape == (n_samples, n_features)
        assert bunch.data.dtype == (np.float32 if DATASETS[name].files[:1] == (f"{name}.npz",) else np.float64)
        assert len(set(bunch.feature_names)) == n_features
    for text in (bunch.source, bunch.licence, bunch.citation):
        assert text in bunch.DESCR
    if DATASETS[name].n_train is not None:
        check_split(bunch, DATASETS[name].n_train)


@pytest.mark.parametrize(
    ("name", "first_row", "label"),
    [
        ("diabetes", [6, 148, 72, 35, 0, 33.6, 0.627, 50], "positive"),
        ("heart", [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3], "present"),
        ("haberman", [30, 64, 1], "survived_5y"),
        ("letter", [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8], "T"),
        ("wdbc", [17.99, 10.38, 122.8], "malignant"),
    ],
)
def test_first_row_is_the_one_of_the_source(name, first_row, label):
    bunch = load_or_skip(name)
    np.testing.assert_allclose(bunch.data[0, : len(first_row)], first_row)
    assert bunch.target_names[bunch.target[0]] == label


def test_tecator_is_divided_at_the_median_or_at_twenty_percent():
    median, twenty = load_or_skip("tecator"), load_or_skip("tecator_20")
    np.testing.assert_array_equal(median.data, twenty.data)
    fat = median.composition[:, 1]
    np.testing.assert_array_equal(median.target == 1, fat >= np.median(fat))
    np.testing.assert_array_equal(twenty.target == 1, fat >= 20)
    assert median.target_names.tolist() == twenty.target_names.tolist() == ["low_fat", "high_fat"]
