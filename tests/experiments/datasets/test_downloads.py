"""Loading from the network, with scikit-learn's fetchers replaced: what is requested, mapped, checked and refused."""

from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from experiments.datasets import DATASETS, DatasetMismatchError, DatasetNotFoundError, load_dataset


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


def test_openml_class_names_are_replaced(openml):
    openml(constant("diabetes"), labels_in_order({"tested_positive": 268, "tested_negative": 500}))
    bunch = load_dataset("pima")
    assert bunch.target_names.tolist() == ["negative", "positive"]
    assert bunch.target[[0, -1]].tolist() == [1, 0]


def test_openml_numbers_declared_as_categories_are_decoded(openml):
    years = [str(year) for year in range(58, 70)]
    data = np.full((306, 3), (3 * 39.7789 - 64.0) / 2)
    data[:, 1] = 6.0
    openml(data, ["1"] * 225 + ["2"] * 81, ["age", "year", "nodes"], {"year": years})
    bunch = load_dataset("haberman")
    assert set(bunch.data[:, 1]) == {64.0}
    assert bunch.target_names[bunch.target[0]] == "survived_5y"


def test_glass2_is_taken_out_of_glass(openml):
    kinds = {"build wind float": 70, "containers": 13, "build wind non-float": 76, "vehic wind float": 17}
    kinds |= {"tableware": 9, "headlamps": 29}
    data = constant("glass2", 214)
    data[70:83] = 1000.0
    openml(data, labels_in_order(kinds))
    bunch = load_dataset("glass2")
    assert bunch.data.shape == (163, 9)
    assert bunch.data.max() < 1000.0
    assert bunch.target.tolist() == [0] * 70 + [1] * 76 + [0] * 17


def test_usps_digits_count_from_one_on_openml(openml):
    record = DATASETS["usps"]
    test_counts = {name: record.class_counts[name] - record.train_counts[name] for name in record.class_counts}
    openml(constant("usps"), [float(label) + 1 for label in labels_in_order(record.train_counts, test_counts)])
    bunch = load_dataset("usps")
    assert bunch.data.dtype == np.float32
    assert len(bunch.X_train) == 7291
    assert bunch.target_names[bunch.y_train[[0, -1]]].tolist() == ["0", "9"]


def test_openml_rows_in_another_order_lose_the_split_with_a_warning(openml):
    openml(constant("letter"), labels_in_order(DATASETS["letter"].class_counts))
    with pytest.warns(UserWarning, match=r"first 16000 rows of OpenML data set 6 .*put letter\.csv\.gz into") as caught:
        bunch = load_dataset("letter")
    assert caught[0].filename == __file__
    assert bunch.data.shape == (20000, 16)
    assert "X_train" not in bunch


def test_openml_set_of_another_kind_is_refused(openml):
    openml(constant("sonar", 207), ["Mine"] * 110 + ["Rock"] * 97)
    with pytest.raises(
        DatasetMismatchError, match=r"OpenML data set 40 is not .*'sonar': expected the shape \(208, 60\)"
    ):
        load_dataset("sonar")
    openml(constant("sonar"), ["Mine"] * 112 + ["Rock"] * 96)
    with pytest.raises(DatasetMismatchError, match="expected the class counts"):
        load_dataset("sonar")
    openml(constant("sonar") * 10, ["Mine"] * 111 + ["Rock"] * 97)
    with pytest.raises(DatasetMismatchError, match="mean magnitude"):
        load_dataset("sonar")


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


def test_unknown_number_on_openml_is_an_error(monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", raise_error(ValueError("Dataset with data_id 40 not found.")))
    with pytest.raises(DatasetMismatchError, match=r"OpenML data set 40 has no readable data set 'sonar': .*Put sonar"):
        load_dataset("sonar")


def test_sets_without_a_number_are_not_requested(monkeypatch):
    for name in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(f"sklearn.datasets.{name}", lambda **_: pytest.fail("the network was used"))
    for name in ("soybean_small", "satimage", "affordance", "coil20", "coffee", "tecator"):
        with pytest.raises(DatasetNotFoundError, match="OpenML does not have it"):
            load_dataset(name)


def test_newsgroups_come_from_scikit_learn_in_order_of_group_and_file(monkeypatch):
    record = DATASETS["20newsgroups"]
    names = list(record.class_counts)

    def fetch_20newsgroups(*, subset, **_):
        counts = record.train_counts
        if subset == "test":
            counts = {name: record.class_counts[name] - record.train_counts[name] for name in names}
        places = [(position, number) for position, name in enumerate(names) for number in range(counts[name])][::-1]
        return Bunch(
            data=[f"{subset} {names[position]} {number:04d}" for position, number in places],
            filenames=[f"/cache/{subset}/{names[position]}/{number:04d}" for position, number in places],
            target=np.array([position for position, _ in places]),
            target_names=names,
        )

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch_20newsgroups)
    bunch = load_dataset("20newsgroups")
    assert bunch.X_train[:2] == ["train alt.atheism 0000", "train alt.atheism 0001"]
    assert bunch.X_test[-1] == "test talk.religion.misc 0250"
    assert bunch.y_train[[0, -1]].tolist() == [0, 19]
