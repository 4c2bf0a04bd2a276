"""The record of a data set: its size, classes, source and citation.

Rules: a record is frozen and holds facts only; it reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dataset:
    """The record of a data set, as listed in `DATASETS`.

    Parameters
    ----------
    name : str
        The name that `load_dataset` accepts.
    title : str
        Short description.
    n_features : int or None
        Number of features; None for texts.
    class_counts : mapping of str to int
        Samples of each class; the order of the names is the order of the integer labels.
    mean_magnitude : float or None
        Mean absolute value of all features, which detects other scalings and damaged copies; None for texts.
    source, licence, citation : str
        Source, licence and citation.
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
    >>> from lvq.datasets import DATASETS
    >>> DATASETS["vehicle"].n_samples, DATASETS["vehicle"].n_features, DATASETS["vehicle"].papers
    (846, 18, ('jin',))
    """

    name: str
    title: str
    n_features: int | None
    class_counts: Mapping[str, int]
    mean_magnitude: float | None
    source: str
    licence: str
    citation: str
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


def counts_of(names: str, numbers: str) -> dict[str, int]:
    """Class names and their counts, each given as one text."""
    return dict(zip(names.split(), map(int, numbers.split()), strict=True))
