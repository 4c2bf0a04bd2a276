"""Read a data set from scikit-learn's package, a local folder, or the network.

Rules: each source gives the same `Content`, unchecked and unscaled; every error of a damaged file or of the network
becomes one of the two errors below, with a message about what to do; scikit-learn is imported only when a set is read.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np

from experiments.datasets.records import Dataset


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in scikit-learn's package, nor in the local folder, nor available on the network."""


class DatasetMismatchError(ValueError):
    """A file or a download is damaged, or does not contain the data set."""


class Content(NamedTuple):
    """Content of a source: samples, class names and, where the set has them, further values of each sample."""

    data: np.ndarray | list[str]
    labels: Sequence[str]
    feature_names: list[str] | None
    extras: dict[str, np.ndarray]


_FORMATS = {
    "_composition.csv.gz": "a gzipped table with the columns moisture, fat and protein",
    ".csv.gz": "a gzipped table with a header, numeric feature columns and a last column named target",
    ".npz": "NumPy arrays X_train, y_train, X_test and y_test, or X and y where there is no split",
    ".jsonl.xz": "one JSON object per line with the keys split, target, file and text, compressed by xz",
}
_READ_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    csv.Error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


def describe_format(file: str) -> str:
    """Description of the format of a file in the local folder."""
    return next(text for suffix, text in _FORMATS.items() if file.endswith(suffix))


def _number_type(record: Dataset) -> type[np.float32] | type[np.float64]:
    """The type of the features: float32 for sets stored as arrays, whose bytes it represents exactly."""
    return np.float32 if record.files[0].endswith(".npz") else np.float64


def read_sklearn(record: Dataset) -> Content:
    """Read a set from scikit-learn's package."""
    from sklearn import datasets

    bunch = getattr(datasets, str(record.sklearn_loader))()
    labels = [str(bunch.target_names[index]) for index in bunch.target]
    return Content(bunch.data, labels, [str(name) for name in bunch.feature_names], {})


def read_folder(record: Dataset, folder: Path) -> Content:
    """Read a set from its files in a local folder."""
    file = record.files[0]
    if record.name == "tecator":
        reader: Callable[[Dataset, Path], Content] = _read_tecator
    elif file.endswith(".csv.gz"):
        reader = _read_table
    else:
        reader = _read_arrays if file.endswith(".npz") else _read_texts
    try:
        return reader(record, folder)
    except _READ_ERRORS as error:
        raise DatasetMismatchError(
            f"{folder / file} cannot be read as the data set '{record.name}' ({type(error).__name__}: {error}). "
            f"It must be {describe_format(file)}; replace the file."
        ) from error


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read the header and the rows of a gzipped table."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        header, *rows = (row for row in csv.reader(stream) if row)
    return header, rows


def _read_table(record: Dataset, folder: Path) -> Content:
    """Read features, then the record's extra columns, then the target column."""
    header, rows = _read_rows(folder / record.files[0])
    if header[-1] != "target":
        raise ValueError(f"the last column must be named target, not {header[-1]!r}")
    end = len(header) - 1 - len(record.extras)
    data = np.array([row[:end] for row in rows], dtype=np.float64)
    extras = {name: np.array([row[end + offset] for row in rows]) for offset, name in enumerate(record.extras)}
    return Content(data, [row[-1] for row in rows], header[:end], extras)


def _read_tecator(record: Dataset, folder: Path) -> Content:
    """Read the spectra and divide their fat content at its median, which gives two classes of nearly equal size.

    The classes in the file of the spectra, which are divided at 20 %, confirm that both files have the same rows.
    """
    header, rows = _read_rows(folder / record.files[0])
    data = np.array([row[:-1] for row in rows], dtype=np.float64)
    names, contents = _read_rows(folder / record.files[1])
    composition = np.array(contents, dtype=np.float64)
    fat = composition[:, names.index("fat")]
    if [row[-1] == "high_fat" for row in rows] != (fat >= 20.0).tolist():
        raise ValueError("its rows and those of the composition do not match")
    labels = np.where(fat >= np.median(fat), "high_fat", "low_fat").tolist()
    return Content(data, labels, header[:-1], {"composition": composition})


def _read_arrays(record: Dataset, folder: Path) -> Content:
    """Read arrays, and concatenate the training and the test part where there are two."""
    with open(folder / record.files[0], "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        parts = [""] if record.train_counts is None else ["_train", "_test"]
        data = np.concatenate([arrays["X" + part] for part in parts]).astype(_number_type(record), copy=False)
        labels = [str(label) for part in parts for label in arrays["y" + part].tolist()]
        extras = {name: arrays[name] for name in record.extras}
    return Content(data, labels, [f"x{number}" for number in range(1, data.shape[1] + 1)], extras)


def _read_texts(record: Dataset, folder: Path) -> Content:
    """Read texts, the training part first."""
    with lzma.open(folder / record.files[0], "rt", encoding="utf-8", newline="\n") as stream:
        documents = [json.loads(line) for line in stream]
    documents.sort(key=lambda document: document["split"] != "train")
    return Content(
        [document["text"] for document in documents], [document["target"] for document in documents], None, {}
    )


def has_download(record: Dataset) -> bool:
    """Whether the set is available on the network."""
    return record.openml_id is not None or record.name == "20newsgroups"


def describe_download(record: Dataset) -> str:
    """Name of the source of the set on the network."""
    return "scikit-learn's fetch_20newsgroups" if record.openml_id is None else f"OpenML data set {record.openml_id}"


def read_download(record: Dataset) -> Content:
    """Read a set from the network, or from the cache of scikit-learn."""
    with warnings.catch_warnings():  # the error that follows is enough
        warnings.filterwarnings("ignore", message="A network error occurred|Retry downloading")
        return _read_newsgroups() if record.openml_id is None else _read_openml(record)


def _read_openml(record: Dataset) -> Content:
    """Read a set from OpenML with the class names of the record, without rows of other classes."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=record.openml_id, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5)
    feature_names = [str(name) for name in bunch.feature_names]
    data = np.array(bunch.data, dtype=_number_type(record))
    for column, name in enumerate(feature_names):
        categories = (bunch.get("categories") or {}).get(name)
        if categories is not None:  # numbers that OpenML declares as categories arrive as their positions
            data[:, column] = np.array(categories, dtype=np.float64)[data[:, column].astype(int)]
    labels = [_plain_label(label) for label in bunch.target]
    if record.openml_labels:
        kept = [index for index, label in enumerate(labels) if label in record.openml_labels]
        data, labels = data[kept], [record.openml_labels[labels[index]] for index in kept]
    return Content(data, labels, feature_names, {})


def _plain_label(label: object) -> str:
    """A class of OpenML as text: without quotes, and integers without a decimal point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label).strip("'\"")


def _read_newsgroups() -> Content:
    """Read the texts through scikit-learn, each part ordered by group and file name."""
    from sklearn.datasets import fetch_20newsgroups

    texts: list[str] = []
    labels: list[str] = []
    for subset in ("train", "test"):
        bunch = fetch_20newsgroups(subset=subset, shuffle=False, n_retries=1, delay=0.5)
        places = [PurePath(name).parts[-2:] for name in bunch.filenames]
        for index in sorted(range(len(places)), key=places.__getitem__):
            texts.append(bunch.data[index])
            labels.append(str(bunch.target_names[bunch.target[index]]))
    return Content(texts, labels, None, {})
