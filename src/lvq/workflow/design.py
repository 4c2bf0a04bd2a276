"""The design of a study: which rows train and which test, with groups that must not be split and with time order.

Rules:
- rows of one group are all in training or all in the test, here and in every split inside the training rows;
- with time the test rows are the latest ones, and each fold is tested on rows later than those it was trained on;
- thresholds for a coverage belong to the model of all training rows: with time, their folds leave out blocks of time;
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, train_test_split

from lvq.estimators.cross_fit import group_folds
from lvq.tables.header import TableError, listed
from lvq.tables.values import as_days, as_numbers, as_text, holds_dates, kind_of
from lvq.typing import Fold
from lvq.workflow.columns import MISSING_CELL, Samples

N_BLOCKS = 20  # of groups; some of them are the test


@dataclass(frozen=True)
class Design:
    """Groups and times of rows; None for what is not given.

    Attributes
    ----------
    groups : ndarray of int or None
        Number of the group of each row.
    times : ndarray of float or None
        Time of each row; only its order counts.
    """

    groups: np.ndarray | None = None
    times: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Design:
        """The design of some rows."""
        return replace(self, **{name: None if all is None else all[rows] for name, all in vars(self).items()})

    @property
    def is_plain(self) -> bool:
        """Whether rows may be split at random."""
        return self.groups is None and self.times is None

    @property
    def blocks(self) -> np.ndarray | None:
        """What the calibration of probabilities must not split: groups, or stretches of time."""
        if self.groups is not None or self.times is None:
            return self.groups
        return _blocks(self.times, 3)


def make_design(
    table: pd.DataFrame,
    rows: np.ndarray,
    group: str | None,
    time: str | None,
    source: str,
) -> Design:
    """The design of the rows of a table; TableError where a row has no group or no time."""
    chosen = table.iloc[rows]
    groups = times = None
    if group is not None:
        names = as_text(chosen[group])
        _need_all(np.array([name is None for name in names]), group, "--group", source)
        groups = pd.factorize(names)[0]
        if len(np.unique(groups)) < 4:
            raise TableError(
                f"The column {group!r} of {source} has {len(np.unique(groups))} different values; --group needs at "
                "least 4 groups, for training, thresholds and test."
            )
    if time is not None:
        times = _times(chosen[time], source)
        _need_all(np.isnan(times), time, "--time", source)
    return Design(groups, times)


def _need_all(missing: np.ndarray, name: str, option: str, source: str) -> None:
    if missing.any():
        raise TableError(
            f"{int(missing.sum())} rows of {source} have no value of {name!r} ({MISSING_CELL}), which {option} needs; "
            "fill them in or leave these rows out."
        )


def _times(column: pd.Series, source: str) -> np.ndarray:
    if holds_dates(column):
        return as_days(column, source)
    if kind_of(column) == "number":
        return as_numbers(column, source)
    raise TableError(
        f"The column {column.name!r} of {source} must hold dates or numbers for --time, got "
        f"{column.dropna().iloc[0]!r}; write dates as 2024-12-31."
    )


def split_rows(
    samples: Samples, design: Design, test_size: float, seed: int
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Training rows and test rows, ascending, and notes.

    Without a design the test rows are drawn at random, stratified by class.

    Examples
    --------
    >>> samples = Samples(pd.DataFrame({"size": range(8)}), np.array(["a", "b"] * 4), np.arange(8))
    >>> train, test, notes = split_rows(samples, Design(times=np.arange(8.0)), 0.25, seed=0)
    >>> train.tolist(), test.tolist()
    ([0, 1, 2, 3, 4, 5], [6, 7])
    """
    everyone = np.arange(len(samples.y))
    if design.times is not None:
        test = np.flatnonzero(design.times >= _cut(design.times, test_size))
    elif design.groups is not None:
        blocks = group_folds(samples.y, design.groups, N_BLOCKS, seed)
        n_test = min(len(blocks) - 1, max(1, round(test_size * len(blocks))))
        test = np.sort(np.concatenate([rows for _, rows in blocks[:n_test]]))
    else:
        test = np.sort(train_test_split(everyone, test_size=test_size, stratify=samples.y, random_state=seed)[1])
    train, notes = np.setdiff1d(everyone, test), []
    if design.groups is not None:
        common = np.isin(design.groups[train], design.groups[test])
        if common.any():
            notes.append(
                f"Left out {int(common.sum())} training rows of groups that also have test rows: no group is split."
            )
            train = train[~common]
    return train, test, notes + _check_classes(samples.y, train, test)


def _cut(times: np.ndarray, test_size: float) -> float:
    """The first time of the test: rows of one time are not split."""
    values, counts = np.unique(times, return_counts=True)
    if len(values) < 2:
        raise TableError("All rows have the same time, so none is later than the others; choose another --time.")
    later = np.cumsum(counts[::-1])[::-1][1:] / len(times)  # fraction of rows from each value on
    return float(values[1:][np.abs(later - test_size).argmin()])


def _check_classes(y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[str]:
    """TableError where training is not possible; notes on classes that only one part has."""
    known, counts = np.unique(y[train], return_counts=True)
    if len(known) < 2 or counts.min() < 2 or not len(test):
        rare = [str(name) for name, count in zip(known, counts) if count < 2]
        what = f"fewer than 2 training rows of {listed(rare)}" if rare else f"only {len(known)} classes"
        raise TableError(
            f"{len(train)} of {len(y)} rows are for training and {len(test)} for the test, with {what} in training; "
            "choose other groups, another time column or another test_size."
        )
    notes = []
    for these, others, where in ((y[test], y[train], "training"), (y[train], y[test], "test")):
        absent = np.setdiff1d(these, others).astype(str).tolist()
        if absent:
            notes.append(f"No {where} row has the class {listed(absent)}.")
    return notes


def inner_folds(y: np.ndarray, design: Design, n_folds: int, seed: int | np.random.RandomState) -> list[Fold]:
    """Folds of rows that respect the design: whole groups, or each fold later than those it is trained on.

    Folds with fewer than two training rows of a class are left out. Folds without a design are stratified; there are
    fewer if no class has as many rows.

    Examples
    --------
    >>> folds = inner_folds(np.array(["a", "b"] * 4), Design(times=np.arange(8.0)), 3, seed=0)
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([0, 1, 2, 3], [4, 5]), ([0, 1, 2, 3, 4, 5], [6, 7])]
    """
    if design.times is not None:
        block = _blocks(design.times, n_folds + 1)
        folds = [(np.flatnonzero(block < k), np.flatnonzero(block == k)) for k in range(1, n_folds + 1)]
    elif design.groups is not None:
        folds = group_folds(y, design.groups, n_folds, seed if isinstance(seed, int) else int(seed.randint(2**31 - 1)))
    else:
        largest = int(np.unique(y, return_counts=True)[1].max())
        splitter = StratifiedKFold(min(n_folds, largest), shuffle=True, random_state=seed)
        with warnings.catch_warnings():  # a class with fewer samples than folds is absent from some folds
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            return list(splitter.split(np.zeros((len(y), 1)), y))
    if design.groups is not None:
        folds = [(train[~np.isin(design.groups[train], design.groups[test])], test) for train, test in folds]
    return _usable(y, folds)


def threshold_folds(y: np.ndarray, design: Design, n_folds: int, seed: int) -> list[Fold]:
    """Folds in which thresholds are cross-fitted: each leaves out some whole groups, or a block of consecutive times.

    A threshold is used with the model of all training rows, so the models of the folds must be nearly as good: models
    of the past alone have few rows and are less certain about rows they do not know. Here every model has the rows
    before and after the block that is left out. So these folds do not estimate the error rate of later rows;
    `inner_folds` do.

    Examples
    --------
    >>> folds = threshold_folds(np.array(["a", "b"] * 3), Design(times=np.arange(6.0)), 3, seed=0)
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([2, 3, 4, 5], [0, 1]), ([0, 1, 4, 5], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """
    if design.times is None or design.groups is not None:
        return inner_folds(y, replace(design, times=None), n_folds, seed)
    block = _blocks(design.times, n_folds)
    return _usable(y, [(np.flatnonzero(block != k), np.flatnonzero(block == k)) for k in range(n_folds)])


def _usable(y: np.ndarray, folds: list[Fold]) -> list[Fold]:
    """The folds with test rows and at least two training rows of each class; TableError where there are none."""
    classes, codes = np.unique(y, return_inverse=True)
    usable = [
        (train, test)
        for train, test in folds
        if len(test) and np.bincount(codes[train], minlength=len(classes)).min() >= 2
    ]
    if not usable:
        raise TableError(
            "No split within the training rows leaves two rows or more of each class to train on; give more groups, or "
            "a time column in which the classes alternate."
        )
    return usable


def _blocks(times: np.ndarray, n_blocks: int) -> np.ndarray:
    """Number of the block of consecutive times that each row is in; rows of one time are in one block."""
    ranks = pd.Series(times).rank(method="min").to_numpy() - 1
    return (ranks * n_blocks // len(ranks)).astype(int)


def latest_rows(design: Design, fraction: float) -> Fold:
    """Training rows, and the latest ones, which are held out for thresholds, with all rows of their groups."""
    assert design.times is not None
    held_out = design.times >= _cut(design.times, fraction)
    if design.groups is not None:
        held_out |= np.isin(design.groups, design.groups[held_out])
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
