"""The tables of a study: files or data frames as one table, chosen columns, features and classes, and the design."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from lvq.tables import Table, TableError, as_text, holds_dates, kind_of, open_table
from lvq.tables.header import check_columns, listed
from lvq.tables.values import Marks, marks_by_column, without_marks
from lvq.typing import Label
from lvq.workflow.columns import MIN_CLASS_ROWS, Samples, prepare
from lvq.workflow.design import Design, make_design

TableLike: TypeAlias = "str | Path | pd.DataFrame"
Tables: TypeAlias = "TableLike | Sequence[TableLike]"
FRAME = "the data frame"  # its name in messages


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


class FrameTable:
    """A data frame, read as a `lvq.tables.Table` is; its rows are named by its index.

    Examples
    --------
    >>> FrameTable(pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])).row_number(1)
    'b'
    """

    path, notes = Path(FRAME), ()

    def __init__(self, given: pd.DataFrame) -> None:
        self.given = given.set_axis([str(name) for name in given.columns], axis=1).reset_index(drop=True)
        self.names, self.index = self.given.columns.tolist(), given.index.tolist()
        twice = self.given.columns[self.given.columns.duplicated()]
        if len(twice):
            raise TableError(f"The data frame has more than one column named {twice[0]!r}; rename them.")
        if not len(given):
            raise TableError("The data frame has no rows; give one with rows.")

    def frame(self, codes: Collection[str] = (), marks: Marks | None = None) -> pd.DataFrame:
        """All rows, without the marked values."""
        frame = self.given.copy()
        without_marks(frame, marks or {}, codes=codes)
        return frame

    def parts(
        self, columns: Sequence[str], numbers: Collection[str], exact: Collection[str], marks: Marks
    ) -> Iterator[pd.DataFrame]:
        """All rows of some columns, in one part."""
        yield self.frame({*exact, *(name for name in columns if name not in numbers)}, marks)[list(columns)]

    def row_number(self, position: int) -> Label:
        """The name of a row."""
        return self.index[position]


def opened(table: TableLike, encoding: str | None = None) -> Table | FrameTable:
    """A table whose rows are read when they are asked for: a data frame, or a file, which is opened once."""
    return FrameTable(table) if isinstance(table, pd.DataFrame) else open_table(table, encoding)


def named_columns(table: Table | FrameTable) -> tuple[list[str], list[str]]:
    """The names of the columns, and notes on the file and on columns without a name, which are not read."""
    notes = [
        f"Left out column {place}: it has no name (a row index?)."
        for place, name in enumerate(table.names, start=1)
        if not name
    ]
    return [name for name in table.names if name], [*table.notes, *notes]


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
    parts = [opened(each, options.encoding) for each in [*given, *([] if test is None else [test])]]
    source = ", ".join(str(part.path) for part in parts[: len(given)])
    names = named_columns(parts[0])[0]
    check_columns(names, [name for name in (target, group, time, *options.categorical, *options.dates) if name], source)
    kept = chosen_columns(names, options.features, options.drop, (target, group, time), source)
    check_same_columns(parts)
    marks = marks_by_column(options.missing_marks, [name for name in kept if name != target], source)
    codes = {target, *options.categorical} | ({group} if group else set())
    frames = [part.frame(codes, marks) for part in parts]
    whole, rows = joined(frames), _row_names(parts, [len(frame) for frame in frames])
    samples = prepare(
        whole[kept], target, categorical=[name for name in options.categorical if name in kept],
        dates=[name for name in options.dates if name in kept], source=source, min_class_rows=min_class_rows,
        groups=None if group is None else whole[group], row_name=lambda place: f"row {rows[place]}",
    )  # fmt: skip
    places = samples.X.index.to_numpy()
    tested = None if test is None else np.arange(len(whole)) >= len(whole) - len(frames[-1])
    design = make_design(whole, places, group, time, tested, source)
    notes = (*(note for part in parts for note in named_columns(part)[1]), *samples.notes)
    samples = replace(samples, X=samples.X.set_axis([rows[place] for place in places], axis=0), notes=notes)
    return Study(
        samples, design, _name(parts, test is not None), target, marks, time,
        dated=time is not None and holds_dates(whole[time]), row_names=_row_sentence(parts),
    )  # fmt: skip


def _row_names(parts: Sequence[Table | FrameTable], sizes: Sequence[int]) -> list[Label]:
    """Names of all rows; those of several tables begin with the table's name."""
    several = len(parts) > 1
    return [
        f"{part.path.name}:{part.row_number(place)}" if several else part.row_number(place)
        for part, size in zip(parts, sizes)
        for place in range(size)
    ]


def _row_sentence(parts: Sequence[Table | FrameTable]) -> str:
    if isinstance(parts[0], FrameTable):
        return "Samples are named by the index of their table."
    which = "file and row" if len(parts) > 1 else "their row in the file"
    return f"Samples are named by {which}, where the header is row 1."


def _name(parts: Sequence[Table | FrameTable], tested: bool) -> str:
    names = [part.path.name for part in parts]
    own = names[: len(names) - tested]
    name = own[0] if len(own) == 1 else f"{len(own)} tables ({', '.join(own)})"
    return f"{name}, tested on {names[-1]}" if tested else name


def check_same_columns(parts: Sequence[Table | FrameTable]) -> None:
    """Raise a TableError that names what a table lacks, compared with the first; the order may differ."""
    first = named_columns(parts[0])[0]
    for part in parts[1:]:
        names = named_columns(part)[0]
        lacking = [name for name in first if name not in names]
        extra = [name for name in names if name not in first]
        if lacking or extra:
            what = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"also has {listed(extra)}"] * bool(extra)
            raise TableError(
                f"{part.path.name} {' and '.join(what)}, compared with {parts[0].path.name}; tables of one study need "
                "the same columns."
            )


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
