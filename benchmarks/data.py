"""The data of the cases, as folders of arrays that every interpreter can read: X, y, X_test, y_test.

Sets come from `experiments.datasets` (scikit-learn's package, or the folder LVQ_DATA) or are drawn from a seed.
Features are standardised on the training part; pixels of MNIST are divided by 255 and those of USPS stay as they are.
"""

import csv
import gzip
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any, Self

import numpy as np

Arrays = dict[str, np.ndarray]
#: The development pool: fourteen sets of the papers, and fifteen as NAME.csv.gz in the folder LVQ_DATA.
POOL_NAMED = (
    "iris", "wine", "wdbc", "diabetes", "glass2", "heart", "ionosphere", "sonar", "vehicle", "haberman", "segment",
    "affordance", "tecator", "digits",
)  # fmt: skip
POOL_FILES = (
    "australian", "banana", "breast", "bupa", "contraceptive", "german", "hayes_roth", "led7digit", "mammographic",
    "phoneme", "ring", "spambase", "tae", "titanic", "marketing",
)  # fmt: skip
POOL_ROWS = 1200


class AbsentError(Exception):
    """A set is not on this machine."""


class Data:
    """Folders of arrays, each written once, removed at the end of the run."""

    def __init__(self) -> None:
        self.temporary = tempfile.TemporaryDirectory(prefix="benchmarks-")
        self.made: dict[str, str] = {}

    def folder(self, make: Callable[..., Arrays], *arguments: Any) -> str:
        """The folder with what `make(*arguments)` gives."""
        key = "-".join([make.__name__, *map(str, arguments)])
        if key not in self.made:
            path = pathlib.Path(self.temporary.name) / key
            arrays = make(*arguments)
            path.mkdir()
            for name, values in arrays.items():
                np.save(path / f"{name}.npy", np.ascontiguousarray(values))
            self.made[key] = str(path)
        return self.made[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.temporary.cleanup()


def load(name: str) -> Any:
    """A set by name, from this machine only."""
    from experiments.datasets import DatasetNotFoundError, load_dataset

    try:
        return load_dataset(name, download_if_missing=False)
    except DatasetNotFoundError as error:
        raise AbsentError(f"the set {name} is not on this machine; LVQ_DATA names a folder of data") from error


def real(name: str) -> Arrays:
    """A set with its own split, else with 30 % of each class for the test."""
    found = load(name)
    if "X_train" in found:
        parts = tuple(found[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    else:
        parts = stratified(found.data, found.target, 0.3)
    X, y, X_test, y_test = parts
    if name == "mnist":
        X, X_test = X / np.float32(255), X_test / np.float32(255)
    elif name != "usps":
        X, X_test = standardised(X, X_test)
    return {"X": X.astype(float), "y": y, "X_test": X_test.astype(float), "y_test": y_test}


def whole(name: str) -> Arrays:
    """A set without split and as it is; for folds."""
    found = load(name)
    return {"X": found.data.astype(float), "y": found.target}


def folds(name: str, splits: int, repeats: int) -> Arrays:
    """A set with the numbers of its stratified folds, a column for each repetition."""
    from sklearn.model_selection import StratifiedKFold

    found = whole(name)
    numbers = np.zeros((len(found["y"]), repeats), dtype=int)
    for repeat in range(repeats):
        chosen = StratifiedKFold(splits, shuffle=True, random_state=repeat).split(found["X"], found["y"])
        for number, (_, test) in enumerate(chosen):
            numbers[test, repeat] = number
    return found | {"folds": numbers}


def pool_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Samples and class indices of a set of the pool, at most 1,200 of them, without constant features."""
    X, y = read_csv(name) if name in POOL_FILES else (load(name).data, load(name).target)
    if len(X) > POOL_ROWS:
        kept = np.sort(np.random.RandomState(0).choice(len(X), POOL_ROWS, replace=False))
        X, y = X[kept], y[kept]
    varies = np.ptp(X, axis=0) > 0
    return X[:, varies].astype(np.float64), np.unique(y, return_inverse=True)[1]


def read_csv(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A file of the folder LVQ_DATA: the last column is the class, columns of text become one column for each value."""
    path = pathlib.Path(os.environ.get("LVQ_DATA", ".")) / f"{name}.csv.gz"
    if not path.exists():
        raise AbsentError(f"the set {name} is not on this machine; LVQ_DATA names a folder of data")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        table = np.array(list(csv.reader(file))[1:])
    parts = []
    for column in table[:, :-1].T:
        try:
            parts.append(column.astype(float)[:, None])
        except ValueError:
            parts.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(parts), np.unique(table[:, -1], return_inverse=True)[1]


def stratified(X: np.ndarray, y: np.ndarray, fraction: float) -> tuple[np.ndarray, ...]:
    """Training and test part, with the classes in proportion."""
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=fraction, stratify=y, random_state=0)
    return X, y, X_test, y_test


def standardised(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zero mean and unit variance on the training part."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1)
    return (X - mean) / scale, (X_test - mean) / scale


def sparse_blobs(samples: int, features: int, classes: int, stored: int) -> Arrays:
    """Sparse rows of so many stored numbers, a half of them in features of their class, as parts of a CSR array."""
    random = np.random.default_rng(0)
    y = np.arange(samples) % classes
    rows = []
    for label in y:
        own = random.choice(features // classes, stored // 2, replace=False) * classes + label
        others = np.setdiff1d(random.choice(features, min(features, 2 * stored), replace=False), own)
        rows.append(np.sort(np.concatenate((own, random.permutation(others)[: stored - len(own)]))))
    return {
        "X_data": random.uniform(0.5, 1.0, samples * stored),
        "X_indices": np.concatenate(rows).astype(np.int32),
        "X_indptr": np.arange(0, samples * stored + 1, stored, dtype=np.int32),
        "X_shape": np.array([samples, features]),
        "y": y,
    }


def blobs(samples: int, features: int, classes: int, tests: int = 0, dtype: str = "float64") -> Arrays:
    """Classes of three Gaussian clusters each, in a random order."""
    random = np.random.default_rng(0)
    centres = 0.9 * random.standard_normal((3 * classes, features)) * (16 / features) ** 0.25
    cluster = np.concatenate([np.arange(samples) % len(centres), np.arange(tests) % len(centres)])
    X = (centres[cluster] + random.standard_normal((samples + tests, features))).astype(dtype)
    y = cluster % classes
    order = random.permutation(samples)
    return {"X": X[:samples][order], "y": y[:samples][order], "X_test": X[samples:], "y_test": y[samples:]}


def wide(samples: int, features: int) -> Arrays:
    """Few samples of many correlated features, two classes: ten smooth factors, of which two differ by class."""
    random = np.random.default_rng(0)
    y = np.arange(2 * samples) % 2
    factors = random.standard_normal((2 * samples, 10))
    factors[:, :2] += 1.5 * (2 * y[:, None] - 1)
    position = np.linspace(0, 1, features)
    shapes = np.array([np.exp(-(((position - middle) / 0.05) ** 2)) for middle in random.random(10)])
    X = factors @ shapes + 0.5 * random.standard_normal((2 * samples, features))
    return {"X": X[:samples], "y": y[:samples], "X_test": X[samples:], "y_test": y[samples:]}
