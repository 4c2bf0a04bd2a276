"""Marks of missing values that a user names: texts such as "n.d.", and codes such as -1 or 9999."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from lvq.table_headers import TableError, is_number
from lvq.tables.columns import kind_of, to_series

#: The marks of each column.
Marks = Mapping[str, Sequence[str]]


def marks_by_column(given: Sequence[str], columns: Sequence[str], source: str) -> dict[str, list[str]]:
    """The marks of each column, from marks of all columns and of single ones.

    Parameters
    ----------
    given : sequence of str
        "n.d." is a mark of all columns, "glucose=0" one of the column of that name.
    columns : sequence of str
        Columns in which values may be missing.
    source : str
        Name of the table in an error.

    Returns
    -------
    marks : dict from str to list of str
        Without columns that have none.

    Examples
    --------
    >>> marks_by_column(["n.d.", "glucose=0"], ["glucose", "weight"], "the table")
    {'glucose': ['n.d.', '0'], 'weight': ['n.d.']}
    """
    marks: dict[str, list[str]] = {name: [] for name in columns}
    for text in given:
        named = [name for name in columns if text.startswith(f"{name}=")]
        if "=" in text and not named:
            raise TableError(
                f"The mark {text!r} (--missing-mark) names no feature of {source}; write COLUMN=VALUE with the name of "
                "a feature, or a value without an equals sign for all features."
            )
        where = [max(named, key=len)] if named else list(columns)
        mark = text[len(where[0]) + 1 :] if named else text
        if not mark.strip():
            raise TableError(f"The mark {text!r} (--missing-mark) is empty; empty cells are missing in any case.")
        for name in where:
            marks[name].append(mark.strip())
    return {name: texts for name, texts in marks.items() if texts}


def without_marks(table: pd.DataFrame, marks: Marks, *, codes: Collection[str] = (), commas: bool = False) -> None:
    """Make marked values of a table missing, in place.

    Parameters
    ----------
    table : DataFrame
        Numbers as float64, texts as objects.
    marks : mapping from str to sequence of str
        The marks of each column; columns that the table does not have are left out.
    codes : collection of str, default=()
        Columns whose texts stay texts; others become numbers where all other texts are.
    commas : bool, default=False
        Whether a comma in a number is a decimal comma.

    Examples
    --------
    >>> table = pd.DataFrame({"size": ["1.5", "n.d.", "9999"]}, dtype=object)
    >>> without_marks(table, {"size": ["n.d.", "9999"]})
    >>> table["size"].tolist()
    [1.5, nan, nan]
    """
    for name, texts in marks.items():
        if name not in table:
            continue
        column = table[name]
        if kind_of(column) == "text":
            kept = column.astype(object).where(column.notna() & ~column.astype(str).isin(list(texts)), None)
            column = kept if name in codes else to_series(pa.array(kept, pa.string()), True, commas=commas)
        if kind_of(column) == "number":
            column = column.mask(column.isin([float(text) for text in texts if is_number(text)]))
        table[name] = column
