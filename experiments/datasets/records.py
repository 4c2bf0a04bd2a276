"""The records of all data sets: size, classes, source and citation, read from ``records.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True)
class Dataset:
    """The record of a data set, as listed in `DATASETS`.

    Parameters
    ----------
    name : str
        The name that `load_dataset` accepts.
    title : str
        Short description.
    class_counts : mapping of str to int
        Samples of each class; the order of the names is the order of the integer labels.
    source, licence, citation : str
        Source, licence and citation.
    n_features : int or None
        Number of features; None for texts.
    mean_magnitude : float or None
        Mean absolute value of all features, which detects other scalings and damaged copies; None for texts.
    files : tuple of str
        Files of the set in a local folder; empty where scikit-learn's package has it.
    sklearn_loader : str or None
        The function of `sklearn.datasets` that loads the set from its package.
    openml_id : int or None
        Number of the same set on OpenML, where there is one.
    openml_labels : mapping of str to str
        Class names on OpenML and the names here, where they differ; rows of other classes are left out.
    train_counts : mapping of str to int or None
        Samples of each class in the training part of the set's own split: its first rows. None without such a split.
    extras : tuple of str
        Names of values of each sample that are not features.
    papers : tuple of str
        The papers that used it: "fischer", "jin", "kaestner", "ridge".

    Examples
    --------
    >>> from experiments.datasets import DATASETS
    >>> DATASETS["vehicle"].n_samples, DATASETS["vehicle"].n_features, DATASETS["vehicle"].papers
    (846, 18, ('jin',))
    """

    name: str
    title: str
    class_counts: Mapping[str, int]
    source: str
    licence: str
    citation: str
    n_features: int | None = None
    mean_magnitude: float | None = None
    files: tuple[str, ...] = ()
    sklearn_loader: str | None = None
    openml_id: int | None = None
    openml_labels: Mapping[str, str] = field(default_factory=dict)
    train_counts: Mapping[str, int] | None = None
    extras: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """Number of samples, of both parts where the set has its own split."""
        return sum(self.class_counts.values())

    @property
    def n_train(self) -> int | None:
        """Number of samples in the training part of the set's own split; None without such a split."""
        return None if self.train_counts is None else sum(self.train_counts.values())


def _read_records() -> dict[str, Dataset]:
    records = tomllib.loads(files(__package__).joinpath("records.toml").read_text(encoding="utf-8"))
    lists = ("files", "extras", "papers")
    return {
        name: Dataset(name, **(values | {key: tuple(values[key]) for key in lists if key in values}))
        for name, values in records.items()
    }


#: All data sets by name.
DATASETS: Mapping[str, Dataset] = MappingProxyType(_read_records())

#: Names in papers and other libraries, and the names here.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "pima": "diabetes",
        "heart_statlog": "heart",
        "breast_cancer": "wdbc",
        "20ng": "20newsgroups",
        "20_newsgroups": "20newsgroups",
        "segmentation": "segment",
        "image_segmentation": "segment",
        "coil": "coil20",
    }
)
