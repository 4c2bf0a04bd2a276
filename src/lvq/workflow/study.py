"""The table of a study: its chosen columns, features and classes, and the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from lvq.reports import Context
from lvq.tables.header import TableError, check_columns, listed
from lvq.tables.read import open_table
from lvq.tables.values import Meaning, holds_dates, marks_by_column
from lvq.workflow.columns import MIN_CLASS_ROWS, Samples, TableOptions, prepare
from lvq.workflow.design import Design, make_design

TableLike: TypeAlias = "str | Path | pd.DataFrame"


@dataclass(frozen=True)
class Study:
    """Samples and design of a table.

    Attributes
    ----------
    samples : Samples
        Features, classes and notes.
    design : Design
        Groups, times and test rows.
    context : Context
        What the report says about the table.
    time : str or None
        The column of times.
    dated : bool
        Whether the times of the design are dates.
    options : TableOptions
        What the columns are.
    """

    samples: Samples
    design: Design
    context: Context
    time: str | None
    dated: bool
    options: TableOptions


def make_study(
    table: TableLike,
    target: str,
    options: TableOptions | None,
    *,
    group: str | None = None,
    time: str | None = None,
    min_class_rows: int = MIN_CLASS_ROWS,
) -> Study:
    """Read a table; see `lvq.workflow.fit`."""
    options = options or TableOptions()
    given = open_table(table, options.reading)
    names, source = given.names, str(given.path)
    named = (target, group, time, *options.categorical, *options.dates, *options.detection_limits)
    check_columns(names, [name for name in named if name], source, given.notes)
    kept = chosen_columns(names, options, (target, group, time), source)
    marks = marks_by_column(options.missing_marks, [name for name in kept if name != target], source)
    codes = {target, *options.categorical} | ({group} if group else set())
    whole = given.frame(Meaning(codes, options.detection_limits, marks))
    named_rows = whole[kept].set_axis([given.row_number(place) for place in range(len(whole))], axis=0)
    samples = prepare(named_rows, target, options, source=source, min_class_rows=min_class_rows)
    design = make_design(whole, samples.places, group, time, source)
    samples = replace(samples, notes=(*given.notes, *samples.notes))
    row_names = "Samples are named by their row in the file, where the header is row 1."
    if isinstance(table, pd.DataFrame):
        row_names = "Samples are named by the index of their table."
    context = Context(
        data_name=given.path.name, target=target, row_names=row_names, dates=samples.preprocessor.dates,
        marks={name: found for name, found in marks.items() if name in list(samples.X)},
    )  # fmt: skip
    return Study(samples, design, context, time, time is not None and holds_dates(whole[time]), options)


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
    check_columns(names, [pattern for pattern in patterns if not set(str(pattern)) & set("*?[")], source)
    found = set[str]()
    for pattern in patterns:
        here = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not here:
            raise TableError(f"No column of {source} matches {pattern!r} ({option}); its columns are {listed(names)}.")
        found |= here
    return found
