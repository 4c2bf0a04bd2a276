"""The tables of a study: several files as one table, chosen columns, features and classes, and the design."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pandas as pd

from lvq.tables import Table, TableError, as_text, holds_dates, kind_of, open_table
from lvq.tables.header import FIRST_ROW, check_columns, listed
from lvq.tables.values import marks_by_column
from lvq.workflow.design import Design, make_design
from lvq.workflow.preparation import MIN_CLASS_ROWS, Samples, prepare

Paths = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Study:
    """Samples and design of one or more tables.

    Attributes
    ----------
    samples : Samples
        Features, classes and notes.
    design : Design
        Groups, times and test rows.
    name : str
        Names of the tables.
    marks : dict from str to list of str
        The texts and numbers that the user named as missing, by column.
    dated : bool
        Whether the times of the design are dates.
    """

    samples: Samples
    design: Design
    name: str
    marks: dict[str, list[str]] = field(default_factory=dict)
    dated: bool = False


def read_study(
    tables: Paths,
    target: str,
    *,
    group: str | None = None,
    time: str | None = None,
    test: str | Path | None = None,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    missing_marks: Sequence[str] = (),
    encoding: str | None = None,
    min_class_rows: int = MIN_CLASS_ROWS,
) -> Study:
    """Read tables with the same columns as one, and a test table where it is given.

    Parameters are those of `lvq.workflow.fit_table`.
    """
    paths = [Path(path) for path in ([tables] if isinstance(tables, str | Path) else tables)]
    if not paths:
        raise TableError("At least one table is needed, got none.")
    source, codes = ", ".join(map(str, paths)), {target, *categorical} | ({group} if group else set())
    paths += [] if test is None else [Path(test)]
    opened = [open_table(path, encoding) for path in paths]
    names = opened[0].names
    check_columns(names, [name for name in (target, group, time) if name], source)
    kept = chosen_columns([name for name in names if name], features, drop, (target, group, time), source)
    marks = marks_by_column(missing_marks, [name for name in kept if name != target], source)
    parts = [table.frame(codes, marks) for table in opened]
    whole, sizes = joined(parts, paths), [len(part) for part in parts]
    check_columns(whole.columns, [*categorical, *dates], source)
    samples = prepare(
        whole[kept], target, categorical=[name for name in categorical if name in kept],
        dates=[name for name in dates if name in kept], source=source,
        min_class_rows=min_class_rows, groups=None if group is None else whole[group],
        row_name=lambda place: row_name(place, opened, sizes),
    )  # fmt: skip
    rows = samples.X.index.to_numpy()
    tested = None if test is None else np.arange(len(whole)) >= len(whole) - sizes[-1]
    design = make_design(whole, rows, group, time, tested, source)
    unnamed = [place for place, name in enumerate(names, start=1) if not name]
    notes = [note for table in opened for note in table.notes]
    notes += [f"Left out column {place}: it has no name (a row index?)." for place in unnamed]
    samples = replace(samples, X=named_rows(samples.X, opened, sizes), notes=(*notes, *samples.notes))
    n_tables = len(paths) - (test is not None)
    name = (
        paths[0].name if n_tables == 1 else f"{n_tables} tables ({', '.join(path.name for path in paths[:n_tables])})"
    )
    name = name if test is None else f"{name}, tested on {Path(test).name}"
    return Study(samples, design, name, marks, dated=time is not None and holds_dates(whole[time]))


def row_name(place: int, tables: Sequence[Table], sizes: Sequence[int]) -> str:
    """The name in messages of a row of the joined table, by its position from 0."""
    starts = np.cumsum([0, *sizes[:-1]])
    which = int(np.searchsorted(starts, place, side="right")) - 1
    where = "" if len(tables) == 1 else f" of {tables[which].path.name}"
    return f"row {tables[which].row_number(int(place - starts[which]))}{where}"


def named_rows(X: pd.DataFrame, tables: Sequence[Table], sizes: Sequence[int]) -> pd.DataFrame:
    """Rows under the names of table and row, counted as a spreadsheet does; those of one table as numbers from 0."""
    starts = np.cumsum([0, *sizes[:-1]])
    which = np.searchsorted(starts, X.index.to_numpy(), side="right") - 1
    numbers = [tables[k].row_number(int(row - starts[k])) for k, row in zip(which, X.index)]
    if len(tables) == 1:
        return X.set_axis([number - FIRST_ROW for number in numbers], axis=0)
    return X.set_axis([f"{tables[k].path.name}:{number}" for k, number in zip(which, numbers)], axis=0)


def joined(parts: Sequence[pd.DataFrame], paths: Sequence[Path]) -> pd.DataFrame:
    """Tables with the same columns as one; TableError names what one lacks. The order of the columns may differ.

    Examples
    --------
    >>> one, two = pd.DataFrame({"a": [1.0], "b": ["x"]}), pd.DataFrame({"b": ["y"], "a": [2.0]})
    >>> joined([one, two], [Path("one.csv"), Path("two.csv")])["a"].tolist()
    [1.0, 2.0]
    """
    first = parts[0]
    for part, path in zip(parts[1:], paths[1:]):
        lacking = [str(name) for name in first.columns if name not in part.columns]
        extra = [str(name) for name in part.columns if name not in first.columns]
        if lacking or extra:
            what = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"also has {listed(extra)}"] * bool(extra)
            raise TableError(
                f"{path} {' and '.join(what)}, compared with {paths[0]}; tables of one study need the same columns."
            )
    if len(parts) == 1:
        return first
    columns = {}
    for name in first.columns:
        pieces = [part[name] for part in parts]
        if len({kind_of(piece) for piece in pieces}) > 1:  # numbers in one table, texts in another
            pieces = [pd.Series(as_text(piece), dtype=object) for piece in pieces]
        columns[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(columns)


def chosen_columns(
    names: Sequence[str],
    features: Sequence[str],
    drop: Sequence[str],
    special: Iterable[str | None],
    source: str,
) -> list[str]:
    """The target, and the columns that may be features: chosen, not dropped, and neither group nor time.

    Names may be patterns such as ``lab_*``. `special` are the names of target, group and time.

    Examples
    --------
    >>> chosen_columns(["id", "lab_a", "lab_b", "y"], ["lab_*"], ["*_b"], ("y", None, None), "t.csv")
    ['lab_a', 'y']
    """
    target, group, time = special
    dropped = set(matching(names, drop, "--drop", source))
    if target in dropped:
        raise TableError(f"The column {target!r} is the target and cannot be left out.")
    wanted = set(matching(names, features, "--features", source)) if features else set(names)
    if features and group in wanted:
        raise TableError(f"The column {group!r} is the group and cannot be a feature; leave it out of --features.")
    others = dropped | {name for name in (group, time) if name}
    return [name for name in names if name == target or (name in wanted and name not in others)]


def matching(names: Sequence[str], patterns: Sequence[str], option: str, source: str) -> list[str]:
    """Names that one of the patterns matches; TableError for a pattern without any."""
    plain = [pattern for pattern in patterns if not set(pattern) & set("*?[")]
    check_columns(names, plain, source)
    found = set(plain)
    for pattern in patterns:
        here = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not here:
            raise TableError(f"No column of {source} matches {pattern!r} ({option}); its columns are {listed(names)}.")
        found.update(here)
    return [name for name in names if name in found]
