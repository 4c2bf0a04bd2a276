"""The tables of a study: files or data frames as one table, chosen columns, features and classes, and the design."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from lvq.table_headers import FIRST_ROW, check_columns, listed
from lvq.tables import TableError, as_text, holds_dates, kind_of, read_table
from lvq.tables.formats import open_table
from lvq.tables.missing_marks import marks_by_column, without_marks
from lvq.workflow.columns import MIN_CLASS_ROWS, Samples, prepare
from lvq.workflow.design import Design, make_design

TableLike: TypeAlias = "str | Path | pd.DataFrame"
Tables: TypeAlias = "TableLike | Sequence[TableLike]"


@dataclass(frozen=True)
class TableOptions:
    """What the columns of a table are, and how it is read.

    Attributes
    ----------
    features, drop : sequence of str
        Columns that are features (all by default), and columns that are not; patterns such as "lab_*" are allowed.
    categorical : sequence of str
        Columns of numbers, or of strings that look like notes, that are categories.
    dates : sequence of str
        Columns of dates that become numbers of days; other columns of dates are an error.
    missing_marks : sequence of str
        Strings and numbers that mean a missing value beside the usual ones: "n.d." in all features, "glucose=0" in one.
        The run stores them, and they hold for predictions and validations too.
    encoding : str, optional
        That of CSV files, such as "latin-1"; by default it is found from their bytes.

    Examples
    --------
    >>> TableOptions(drop=["id"]).drop
    ['id']
    """

    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    dates: Sequence[str] = ()
    missing_marks: Sequence[str] = ()
    encoding: str | None = None


@dataclass(frozen=True)
class Table:
    """One table of a study as it was read, with its name and the names of its rows."""

    frame: pd.DataFrame
    name: str
    is_file: bool
    index: Sequence[object]
    notes: tuple[str, ...] = ()

    def row(self, place: int) -> object:
        """The name of a row by its position: of a file as a spreadsheet counts, of a data frame by its index."""
        return place + FIRST_ROW if self.is_file else self.index[place]


def read(table: TableLike, codes: Iterable[str] = (), encoding: str | None = None) -> Table:
    """Read a file, once, or take a data frame as it is.

    Parameters
    ----------
    table : path or DataFrame
        A CSV (also gzipped), Parquet, Arrow or Excel file, or a data frame.
    codes : iterable of str
        Columns of codes, whose leading zeros are kept.
    encoding : str, optional
        That of a CSV file.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> read(pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])).row(1)
    'b'
    """
    if isinstance(table, pd.DataFrame):
        frame = table.set_axis([str(name) for name in table.columns], axis=1).reset_index(drop=True)
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise TableError(f"The data frame has more than one column named {twice[0]!r}; rename them.")
        if not len(frame):
            raise TableError("The data frame has no rows; give one with rows.")
        return Table(frame, "the data frame", False, table.index.tolist())
    path = Path(table)
    opened = open_table(path, encoding)[1]
    frame = read_table(path, codes=set(codes), encoding=encoding)
    unnamed = [place for place, name in enumerate(opened.names, start=1) if not name]
    notes = [*opened.notes, *(f"Left out column {place}: it has no name (a row index?)." for place in unnamed)]
    return Table(frame, path.name, True, (), tuple(notes))


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
    """

    samples: Samples
    design: Design
    name: str
    target: str
    marks: dict[str, list[str]]
    time: str | None
    dated: bool
    row_names: str


def make_study(
    tables: Tables,
    target: str,
    options: TableOptions,
    *,
    group: str | None = None,
    time: str | None = None,
    test: TableLike | None = None,
    min_class_rows: int = MIN_CLASS_ROWS,
) -> Study:
    """Read tables with the same columns as one, and a test table where it is given; see `lvq.workflow.fit`."""
    given = [tables] if isinstance(tables, str | Path | pd.DataFrame) else list(tables)
    if not given:
        raise TableError("At least one table is needed, got none.")
    codes = {target, *options.categorical} | ({group} if group else set())
    parts = [read(each, codes, options.encoding) for each in [*given, *([] if test is None else [test])]]
    source = ", ".join(str(each) if part.is_file else part.name for each, part in zip(given, parts))
    names = list(parts[0].frame.columns)
    check_columns(names, [name for name in (target, group, time) if name], source)
    kept = chosen_columns(names, options.features, options.drop, (target, group, time), source)
    marks = marks_by_column(options.missing_marks, [name for name in kept if name != target], source)
    whole, sizes = joined(parts), [len(part.frame) for part in parts]
    without_marks(whole, marks, codes=codes)
    check_columns(whole.columns, [*options.categorical, *options.dates], source)
    rows = _row_names(parts)
    samples = prepare(
        whole[kept], target, categorical=[name for name in options.categorical if name in kept],
        dates=[name for name in options.dates if name in kept], source=source, min_class_rows=min_class_rows,
        groups=None if group is None else whole[group], row_name=lambda place: f"row {rows[place]}",
    )  # fmt: skip
    places = samples.X.index.to_numpy()
    tested = None if test is None else np.arange(len(whole)) >= len(whole) - sizes[-1]
    design = make_design(whole, places, group, time, tested, source)
    notes = (*(note for part in parts for note in part.notes), *samples.notes)
    samples = replace(samples, X=samples.X.set_axis([rows[place] for place in places], axis=0), notes=notes)
    return Study(
        samples, design, _name(parts, test is not None), target, marks, time,
        dated=time is not None and holds_dates(whole[time]), row_names=_row_sentence(parts),
    )  # fmt: skip


def _row_names(parts: Sequence[Table]) -> list[object]:
    """Names of all rows; those of several tables begin with the table's name."""
    several = len(parts) > 1
    return [
        f"{part.name}:{part.row(place)}" if several else part.row(place)
        for part in parts
        for place in range(len(part.frame))
    ]


def _row_sentence(parts: Sequence[Table]) -> str:
    if not parts[0].is_file:
        return "Samples are named by the index of their table."
    which = "file and row" if len(parts) > 1 else "their row in the file"
    return f"Samples are named by {which}, where the header is row 1."


def _name(parts: Sequence[Table], tested: bool) -> str:
    own = parts[: len(parts) - tested]
    name = own[0].name if len(own) == 1 else f"{len(own)} tables ({', '.join(part.name for part in own)})"
    return f"{name}, tested on {parts[-1].name}" if tested else name


def joined(parts: Sequence[Table]) -> pd.DataFrame:
    """Tables with the same columns as one; TableError names what one lacks. The order of the columns may differ.

    Examples
    --------
    >>> one, two = pd.DataFrame({"a": [1.0], "b": ["x"]}), pd.DataFrame({"b": ["y"], "a": [2.0]})
    >>> joined([read(one), read(two)])["a"].tolist()
    [1.0, 2.0]
    """
    first = parts[0].frame
    for part in parts[1:]:
        lacking = [str(name) for name in first.columns if name not in part.frame.columns]
        extra = [str(name) for name in part.frame.columns if name not in first.columns]
        if lacking or extra:
            what = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"also has {listed(extra)}"] * bool(extra)
            raise TableError(
                f"{part.name} {' and '.join(what)}, compared with {parts[0].name}; tables of one study need the same "
                "columns."
            )
    if len(parts) == 1:
        return first.copy()
    columns = {}
    for name in first.columns:
        pieces = [part.frame[name] for part in parts]
        if len({kind_of(piece) for piece in pieces}) > 1:  # numbers in one table, strings in another
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
    dropped = set(_matching(names, drop, "--drop", source))
    if target in dropped:
        raise TableError(f"The column {target!r} is the target and cannot be left out.")
    wanted = set(_matching(names, features, "--features", source)) if features else set(names)
    if features and group in wanted:
        raise TableError(f"The column {group!r} is the group and cannot be a feature; leave it out of --features.")
    others = dropped | {name for name in (group, time) if name}
    return [name for name in names if name == target or (name in wanted and name not in others)]


def _matching(names: Sequence[str], patterns: Sequence[str], option: str, source: str) -> list[str]:
    """Names that one of the patterns matches; TableError for a pattern without any."""
    check_columns(names, [pattern for pattern in patterns if not set(pattern) & set("*?[")], source)
    found = set[str]()
    for pattern in patterns:
        here = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not here:
            raise TableError(f"No column of {source} matches {pattern!r} ({option}); its columns are {listed(names)}.")
        found.update(here)
    return [name for name in names if name in found]
