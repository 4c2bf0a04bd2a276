"""Load a data set by name: local sources first, every source checked against the record of the set.

Rules: the data have the shape, the class counts and the magnitude of their record, or an error names the difference; a
set that is not found raises an error that names the file to provide.
"""

from __future__ import annotations

import difflib
import os
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from experiments.datasets import sources
from experiments.datasets.records import ALIASES, DATASETS, Dataset
from experiments.datasets.sources import Content, DatasetMismatchError, DatasetNotFoundError
from lvq.typing import MatrixLike

if TYPE_CHECKING:
    from sklearn.utils import Bunch

#: Environment variable that names the local folder.
FOLDER_VARIABLE = "LVQ_DATA"
#: Generated sets, by the names in the papers.
GENERATED = {
    "simulated": "make_multimodal",
    "multimodal": "make_multimodal",
    "pearl_necklace": "make_pearl_necklace",
    "necklace": "make_pearl_necklace",
}


@overload
def load_dataset(
    name: str,
    *,
    return_X_y: Literal[False] = False,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Bunch: ...


@overload
def load_dataset(
    name: str,
    *,
    return_X_y: Literal[True],
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> tuple[MatrixLike, np.ndarray]: ...


def load_dataset(
    name: str,
    *,
    return_X_y: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Bunch | tuple[MatrixLike, np.ndarray]:
    """Load a data set by name, as a Bunch like those of scikit-learn.

    A set is read from scikit-learn's package, else from a local folder, else from the network (OpenML, cached by
    scikit-learn). Its shape, its class counts and the mean magnitude of its values are checked, for every source.
    Nothing is scaled, imputed or reordered.

    Parameters
    ----------
    name : str
        A name of `DATASETS` or `ALIASES`; case, spaces and hyphens do not matter.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    data_home : path or None, default=None
        The local folder; by default that of the environment variable LVQ_DATA. It has the files named in the
        records: ``NAME.csv.gz`` (a header, numeric feature columns, a last column ``target``), ``NAME.npz`` (arrays
        ``X_train, y_train, X_test, y_test``, or ``X, y``) and, for texts, ``NAME.jsonl.xz``.
    download_if_missing : bool, default=True
        Whether to download a set that is not on this machine.

    Returns
    -------
    data : Bunch, or tuple (data, target) if ``return_X_y``
        With the attributes

        data : ndarray of shape (n_samples, n_features), or list of str
            The samples: float64, but float32 for sets stored as arrays (images, coffee); texts for 20newsgroups.
        target : ndarray of shape (n_samples,)
            The classes as integers, positions in ``target_names``.
        target_names, feature_names : ndarray of str, list of str
            Names of classes and features; ``feature_names`` is None for texts.
        X_train, y_train, X_test, y_test
            The training and test part, where the set has a split of its own: its first and its other rows.
        name, DESCR, source, licence, citation, papers
            Description, source, licence, citation, and the papers that used the set.
        pose, object, composition
            Values of each sample that are not features: ``pose`` for coil20 (in steps of five degrees),
            ``object`` for affordance_full, ``composition`` (moisture, fat, protein in %) for tecator.

    Raises
    ------
    ValueError
        If the name is unknown.
    DatasetNotFoundError
        If the set is not available; the message names the file to provide.
    DatasetMismatchError
        If a file or a download does not contain the set.

    Notes
    -----
    "tecator" divides the fat content at its median, which gives classes of equal size as in Fischer et al. (107 and
    108); "tecator_20" divides it at 20 %. "coffee" is a public substitute for spectra that are not public.

    Examples
    --------
    >>> from experiments.datasets import load_dataset
    >>> iris = load_dataset("iris")
    >>> iris.data.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    >>> X, y = load_dataset("wine", return_X_y=True)
    >>> X.shape, y.shape
    ((178, 13), (178,))
    """
    record = _find_record(name)
    bunch = _read_bunch(record, _folder(data_home), download_if_missing)
    return (bunch.data, bunch.target) if return_X_y else bunch


def available(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """List the data sets that can be loaded without a network.

    Parameters
    ----------
    data_home : path or None, default=None
        The local folder; by default that of the environment variable LVQ_DATA.

    Returns
    -------
    names : list of str
        Sets of scikit-learn's package and sets whose files are in the folder. The files are not opened; the cache of
        scikit-learn is not searched.

    Examples
    --------
    >>> from experiments.datasets import available
    >>> [name for name in available() if name in ("iris", "wine", "wdbc", "digits")]
    ['iris', 'wine', 'wdbc', 'digits']
    """
    folder = _folder(data_home)
    return [name for name, record in DATASETS.items() if record.sklearn_loader or not _missing_files(record, folder)]


def _find_record(name: str) -> Dataset:
    """The record of a name; an error suggests similar names."""
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    plain = ALIASES.get(plain, plain)
    if plain in DATASETS:
        return DATASETS[plain]
    if plain in GENERATED:
        raise ValueError(
            f"The data set {name!r} is generated, not loaded: call experiments.datasets.{GENERATED[plain]}()."
        )
    close = difflib.get_close_matches(plain, [*DATASETS, *ALIASES], n=3, cutoff=0.5)
    advice = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"Available: {', '.join(DATASETS)}."
    raise ValueError(f"Unknown data set {name!r}. {advice}")


def _folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """The local folder, from the argument or the environment; None without either."""
    place = data_home if data_home is not None else os.environ.get(FOLDER_VARIABLE)
    return Path(place).expanduser() if place else None


def _missing_files(record: Dataset, folder: Path | None) -> list[str]:
    """The files of a set that the folder does not have."""
    return [file for file in record.files if folder is None or not (folder / file).is_file()]


def _read_bunch(record: Dataset, folder: Path | None, download: bool) -> Bunch:
    """Read a set from the first source that has it, and check it."""
    if record.sklearn_loader:
        return _bunch(record, sources.read_sklearn(record), f"sklearn.datasets.{record.sklearn_loader}")
    if folder is not None and not _missing_files(record, folder):
        return _bunch(record, sources.read_folder(record, folder), str(folder / record.files[0]))
    if not sources.has_download(record):
        raise DatasetNotFoundError(_not_found(record, folder, "and OpenML does not have it"))
    place = sources.describe_download(record)
    if not download:
        raise DatasetNotFoundError(
            _not_found(record, folder, f"and {place} is not downloaded (download_if_missing=False)")
        )
    try:
        content = sources.read_download(record)
    except (OSError, HTTPException) as error:
        reason = f"and {place} cannot be reached ({type(error).__name__}: {error})"
        raise DatasetNotFoundError(_not_found(record, folder, reason)) from error
    except (ValueError, KeyError, IndexError) as error:
        advice = f"Put {record.files[0]} into the folder of {FOLDER_VARIABLE} instead."
        raise DatasetMismatchError(f"{place} has no readable data set '{record.name}': {error} {advice}") from error
    return _bunch(record, content, place, ordered=False)


def _not_found(record: Dataset, folder: Path | None, reason: str) -> str:
    """Text of the error for a set that is not available."""
    files = _missing_files(record, folder)
    where = f"the folder {folder} has no {' and no '.join(files)}" if folder else "no local folder is set"
    wanted = " and ".join(f"{file} ({sources.describe_format(file)})" for file in files)
    return (
        f"The data set '{record.name}' is not on this machine: {where}, {reason}. Put {wanted} into a folder, and name "
        f"that folder in the environment variable {FOLDER_VARIABLE} or in data_home. Source: {record.source}."
    )


def _bunch(record: Dataset, content: Content, place: str, ordered: bool = True) -> Bunch:
    """Check the content and make a Bunch; ``ordered`` if the rows must be in the order of the set's own split."""
    from sklearn.utils import Bunch

    target = _check(record, content, place)
    names = np.array(list(record.class_counts))
    bunch = Bunch(data=content.data, target=target, target_names=names, feature_names=content.feature_names)
    bunch.update(name=record.name, DESCR=_describe(record), source=record.source, licence=record.licence)
    bunch.update(citation=record.citation, papers=record.papers, **content.extras)
    if _has_split(record, target, place, ordered):
        end = record.n_train
        bunch.update(X_train=content.data[:end], y_train=target[:end], X_test=content.data[end:], y_test=target[end:])
    return bunch


def _check(record: Dataset, content: Content, place: str) -> np.ndarray:
    """Compare the content with the record, and return the classes as integers."""
    problem = _shape_problem(record, content)
    found = dict.fromkeys(record.class_counts, 0)
    for label in content.labels:
        found[label] = found.get(label, 0) + 1
    if not problem and found != dict(record.class_counts):
        problem = f"expected the class counts {dict(record.class_counts)}, found {found}"
    if not problem and record.mean_magnitude is not None:
        magnitude = float(np.abs(content.data).mean(dtype=np.float64))
        if not np.isclose(magnitude, record.mean_magnitude, rtol=1e-3, atol=0.0):
            problem = f"the mean magnitude of its values must be {record.mean_magnitude:g}, but is {magnitude:g}"
    if problem:
        raise DatasetMismatchError(f"{place} is not the data set '{record.name}': {problem}.")
    positions = {label: index for index, label in enumerate(record.class_counts)}
    return np.array([positions[label] for label in content.labels], dtype=np.int64)


def _shape_problem(record: Dataset, content: Content) -> str:
    """A problem of the shape or of missing values; empty if there is none."""
    expected: tuple[int | None, ...] = (record.n_samples,)
    shape: tuple[int, ...] = (len(content.data),)
    if record.n_features is not None:
        expected, shape = (record.n_samples, record.n_features), np.shape(content.data)
    if shape != expected or len(content.labels) != record.n_samples:
        return f"expected the shape {expected}, found {shape} and {len(content.labels)} labels"
    unequal = [name for name, values in content.extras.items() if len(values) != record.n_samples]
    if unequal:
        return f"{unequal[0]} must have {record.n_samples} rows, but has {len(content.extras[unequal[0]])}"
    if record.n_features is not None and not np.all(np.isfinite(content.data)):
        return "it holds missing or infinite values"
    return ""


def _has_split(record: Dataset, target: np.ndarray, place: str, ordered: bool) -> bool:
    """Whether the first rows are the training part; those of a file must be, those of a download need not be."""
    if record.train_counts is None:
        return False
    found = np.bincount(target[: record.n_train], minlength=len(record.class_counts))
    if found.tolist() == [record.train_counts[name] for name in record.class_counts]:
        return True
    problem = f"the first {record.n_train} rows of {place} are not the training part of '{record.name}'"
    if ordered:
        raise DatasetMismatchError(f"{problem}: expected the class counts {dict(record.train_counts)}.")
    advice = f"for its own split put {record.files[0]} into the folder of {FOLDER_VARIABLE}"
    warnings.warn(f"{problem}, so X_train and X_test are left out; {advice}.", UserWarning, stacklevel=5)
    return False


def _describe(record: Dataset) -> str:
    """The record as text."""
    counts = ", ".join(f"{name} {count}" for name, count in record.class_counts.items())
    features = "texts" if record.n_features is None else f"{record.n_features} features"
    return (
        f"{record.title}\n\n{record.n_samples} samples, {features}, {len(record.class_counts)} classes: {counts}.\n"
        f"Source: {record.source}.\nLicence: {record.licence}.\nCitation: {record.citation}\n"
    )
