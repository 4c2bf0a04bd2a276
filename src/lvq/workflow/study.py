"""The tables of a study: files or data frames as one table, chosen columns, features and classes, and the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from lvq.tables.header import TableError, check_columns, listed
from lvq.tables.read import Table, open_table
from lvq.tables.values import Meaning, as_text, holds_dates, kind_of, marks_by_column
from lvq.typing import Label
from lvq.workflow.columns import MIN_CLASS_ROWS, Samples, TableOptions, prepare
from lvq.workflow.design import Design, make_design

TableLike: TypeAlias = "str | Path | pd.DataFrame"
Tables: TypeAlias = "TableLike | Sequence[TableLike]"


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
    target : str
        The column of classes.
    marks : dict from str to list of str
        The strings and numbers that the user named as missing, by column.
    time : str or None
        The column of times.
    dated : bool
        Whether the times of the design are dates.
    row_names : str
        How rows are named, as a sentence.
    options : TableOptions
        What the columns are.
    """

    samples: Samples
    design: Design
    name: str
    target: str
    marks: dict[str, list[str]]
    time: str | None
    dated: bool
    row_names: str
    options: TableOptions


def make_study(
    tables: Tables,
    target: str,
    options: TableOptions | None,
    *,
    group: str | None = None,
    time: str | None = None,
    test: TableLike | None = None,
    min_class_rows: int = MIN_CLASS_ROWS,
) -> Study:
    """Read tables with the same columns as one, and a test table where it is given; see `lvq.workflow.fit`."""
    options = options or TableOptions()
    given = [tables] if isinstance(tables, str | Path | pd.DataFrame) else list(tables)
    if not given:
        raise TableError("At least one table is needed, got none.")
    parts = [open_table(each, options.reading) for each in [*given, *([] if test is None else [test])]]
    source = ", ".join(str(part.path) for part in parts[: len(given)])
    names = parts[0].names
    named = (target, group, time, *options.categorical, *options.dates, *options.detection_limits)
    check_columns(names, [name for name in named if name], source, parts[0].notes)
    kept = chosen_columns(names, options, (target, group, time), source)
    for part in parts[1:]:
        check_columns(part.names, names, str(part.path))
    marks = marks_by_column(options.missing_marks, [name for name in kept if name != target], source)
    codes = {target, *options.categorical} | ({group} if group else set())
    frames = [part.frame(Meaning(codes, options.detection_limits, marks)) for part in parts]
    whole, rows = joined(frames), _row_names(parts, [len(frame) for frame in frames])
    named_rows = whole[kept].set_axis(rows, axis=0)
    samples = prepare(named_rows, target, options, source=source, min_class_rows=min_class_rows)
    tested = None if test is None else np.arange(len(whole)) >= len(whole) - len(frames[-1])
    design = make_design(whole, samples.places, group, time, tested, source)
    notes = [note for part in parts for note in part.notes]
    for part in parts[1:]:
        further = [name for name in part.names if name not in names]
        if further:
            notes.append(
                f"Left out columns of {part.path.name} that {parts[0].path.name} does not have: {listed(further)}."
            )
    samples = replace(samples, notes=(*notes, *samples.notes))
    several = "file and row" if len(parts) > 1 else "their row in the file"
    row_names = f"Samples are named by {several}, where the header is row 1."
    if isinstance(given[0], pd.DataFrame):
        row_names = "Samples are named by the index of their table."
    dated = time is not None and holds_dates(whole[time])
    return Study(samples, design, _name(parts, test is not None), target, marks, time, dated, row_names, options)


def _row_names(parts: Sequence[Table], sizes: Sequence[int]) -> list[Label]:
    """Names of all rows; those of several tables begin with the table's name."""
    several = len(parts) > 1
    return [
        f"{part.path.name}:{part.row_number(place)}" if several else part.row_number(place)
        for part, size in zip(parts, sizes)
        for place in range(size)
    ]


def _name(parts: Sequence[Table], tested: bool) -> str:
    names = [part.path.name for part in parts]
    own = names[: len(names) - tested]
    name = own[0] if len(own) == 1 else f"{len(own)} tables ({', '.join(own)})"
    return f"{name}, tested on {names[-1]}" if tested else name


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables with the same columns, in any order, as one.

    Examples
    --------
    >>> one, two = pd.DataFrame({"a": [1.0], "b": ["x"]}), pd.DataFrame({"b": ["y"], "a": [2.0]})
    >>> joined([one, two])["a"].tolist()
    [1.0, 2.0]
    """
    if len(frames) == 1:
        return frames[0]
    columns = {}
    for name in frames[0].columns:
        pieces = [frame[name] for frame in frames]
        if len({kind_of(piece) for piece in pieces}) > 1:  # numbers in one table, strings in another
            pieces = [pd.Series(as_text(piece), dtype=object) for piece in pieces]
        columns[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(columns)


def chosen_columns(
    names: Sequence[str], options: TableOptions, special: tuple[str, str | None, str | None], source: str
) -> list[str]:
    """The target, and the columns that may be features: chosen, not dropped, and neither group nor time.

    Names may be patterns such as ``lab_*``. `special` are the names of target, group and time.

    Examples
    --------
    >>> options = TableOptions(features=["lab_*"], drop=["*_b"])
    >>> chosen_columns(["id", "lab_a", "lab_b", "y"], options, ("y", None, None), "t.csv")
    ['lab_a', 'y']
    """
    target, group, time = special
    dropped = _matching(names, options.drop, "--drop", source)
    if target in dropped:
        raise TableError(f"The column {target!r} is the target and cannot be left out.")
    wanted = _matching(names, options.features, "--features", source) if options.features else set(names)
    if options.features and group in wanted:
        raise TableError(f"The column {group!r} is the group and cannot be a feature; leave it out of --features.")
    return [name for name in names if name == target or (name in wanted and name not in {*dropped, group, time})]


def _matching(names: Sequence[str], patterns: Sequence[str], option: str, source: str) -> set[str]:
    """Names that one of the patterns matches; TableError for a pattern without any."""
    check_columns(names, [pattern for pattern in patterns if not set(pattern) & set("*?[")], source)
    found = set[str]()
    for pattern in patterns:
        here = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not here:
            raise TableError(f"No column of {source} matches {pattern!r} ({option}); its columns are {listed(names)}.")
        found |= here
    return found
