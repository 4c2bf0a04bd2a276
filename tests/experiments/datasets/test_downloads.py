"""Loading from the network, with scikit-learn's fetchers replaced: what is requested, mapped, checked and refused."""

from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from experiments.datasets import DATASETS, DatasetNotFoundError, load_dataset


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Start each test without a folder."""
    monkeypatch.delenv("LVQ_DATA", raising=False)


@pytest.fixture
def openml(monkeypatch):
    """Replace OpenML by one response, and record the requests."""

    def respond_with(data, target, feature_names=None, categories=None):
        requests = []

        def fetch_openml(**arguments):
            requests.append(arguments)
            names = feature_names or [f"f{number}" for number in range(data.shape[1])]
            return Bunch(data=data, target=np.array(target, dtype=object), feature_names=names, categories=categories)

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
        return requests

    return respond_with


def constant(name, rows=None):
    """Give features of one value that have the shape and the magnitude of a set."""
    record = DATASETS[name]
    return np.full((rows or record.n_samples, record.n_features), record.mean_magnitude)


def labels_in_order(*parts):
    """Give labels out of mappings of label to count, one part after the other."""
    return [label for part in parts for label, count in part.items() for _ in range(count)]


def test_openml_is_requested_by_number_and_without_pandas(openml):
    requests = openml(constant("vehicle"), labels_in_order({"van": 199, "bus": 218, "opel": 212, "saab": 217}))
    bunch = load_dataset("vehicle")
    (arguments,) = requests
    assert (arguments["data_id"], arguments["as_frame"], arguments["parser"]) == (54, False, "liac-arff")
    assert bunch.data.shape == (846, 18)
    assert bunch.target_names[bunch.target[[0, 199, -1]]].tolist() == ["van", "bus", "saab"]


def test_openml_rows_in_another_order_lose_the_split_with_a_warning(openml):
    openml(constant("letter"), labels_in_order(DATASETS["letter"].class_counts))
    with pytest.warns(UserWarning, match=r"first 16000 rows of OpenML data set 6 .*put letter\.csv\.gz into") as caught:
        bunch = load_dataset("letter")
    assert caught[0].filename == __file__
    assert bunch.data.shape == (20000, 16)
    assert "X_train" not in bunch


def raise_error(error):
    """Give a function that raises an error whatever the request."""

    def fetch(**_):
        raise error

    return fetch


@pytest.mark.parametrize("error", [URLError("no route"), TimeoutError("too long"), ConnectionResetError("cut")])
def test_network_error_names_the_file_to_provide(monkeypatch, error):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", raise_error(error))
    with pytest.raises(
        DatasetNotFoundError, match=r"OpenML data set 40 cannot be reached .*Put sonar\.csv\.gz .*LVQ_DATA"
    ):
        load_dataset("sonar")
