"""Loading from a folder: what is accepted, what is refused, and with which errors."""

import gzip

import numpy as np
import pytest

from experiments.datasets import DatasetMismatchError, DatasetNotFoundError, load_dataset

HABERMAN_LABELS = ["survived_5y"] * 225 + ["died_within_5y"] * 81


@pytest.fixture(autouse=True)
def no_folder_and_no_network(monkeypatch):
    """Start each test without a folder, and fail where the network would be used."""
    monkeypatch.delenv("LVQ_DATA", raising=False)
    for name in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(f"sklearn.datasets.{name}", lambda **_: pytest.fail("the network was used"))


def haberman_rows(value="39.7789"):
    """Rows of a made-up set that has the shape, the counts and the magnitude of haberman."""
    return [[value, value, value, label] for label in HABERMAN_LABELS]


def write_table(path, rows, header=("age", "year", "nodes", "target")):
    """Write a gzipped table."""
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(",".join(row) + "\n" for row in [header, *rows])


def write_coffee(folder, y_train, y_test):
    """Write made-up spectra with the magnitude of the coffee set."""
    X = np.full((28, 286), 0.855373, dtype=np.float32)
    np.savez(folder / "coffee.npz", X_train=X, y_train=np.array(y_train), X_test=X, y_test=np.array(y_test))


def test_a_valid_table_loads(tmp_path):
    rows = haberman_rows()
    rows[0][0] = "40.7789"
    write_table(tmp_path / "haberman.csv.gz", rows)
    bunch = load_dataset("haberman", data_home=tmp_path)
    assert bunch.data.shape == (306, 3)
    np.testing.assert_allclose(bunch.data[0], [40.7789, 39.7789, 39.7789])
    assert bunch.feature_names == ["age", "year", "nodes"]
    assert bunch.target_names[bunch.target].tolist() == HABERMAN_LABELS
    assert bunch.target.dtype == np.int64
    assert "X_train" not in bunch


def test_array_file_loads_with_its_split(tmp_path):
    write_coffee(tmp_path, [0] * 14 + [1] * 14, [1] * 13 + [0] * 15)
    bunch = load_dataset("coffee", data_home=tmp_path)
    assert bunch.data.shape == (56, 286)
    assert bunch.y_train.tolist() == [0] * 14 + [1] * 14
    assert bunch.y_test.tolist() == [1] * 13 + [0] * 15
    assert bunch.X_test.base is bunch.data, "parts share the memory of the whole"


def with_cell(row, column, value):
    rows = haberman_rows()
    rows[row][column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (haberman_rows()[1:], r"expected the shape \(306, 3\), found \(305, 3\)"),
        (with_cell(0, -1, "died_within_5y"), r"found \{'survived_5y': 224, 'died_within_5y': 82\}"),
        (with_cell(5, 1, "nan"), "it holds missing or infinite values"),
        (with_cell(5, 1, "?"), "cannot be read as the data set 'haberman' .*could not convert string to float"),
        (haberman_rows("397.789"), "mean magnitude of its values must be 39.7789, but is 397.789"),
    ],
    ids=["row missing", "label changed", "value missing", "no number", "other scale"],
)
def test_wrong_table_is_refused(tmp_path, rows, message):
    write_table(tmp_path / "haberman.csv.gz", rows)
    with pytest.raises(DatasetMismatchError, match=rf"haberman\.csv\.gz .*{message}"):
        load_dataset("haberman", data_home=tmp_path)


def test_missing_set_names_the_file_to_provide():
    with pytest.raises(DatasetNotFoundError, match="no local folder is set") as caught:
        load_dataset("vehicle", download_if_missing=False)
    for text in ("Put vehicle.csv.gz (a gzipped table", "LVQ_DATA", "data_home", "UCI", "OpenML data set 54 is not"):
        assert text in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("name", "advice"), [("vehicel", "Did you mean 'vehicle'"), ("simulated", r"call .*make_multimodal\(\)")]
)
def test_unknown_names(name, advice):
    with pytest.raises(ValueError, match=advice):
        load_dataset(name)
