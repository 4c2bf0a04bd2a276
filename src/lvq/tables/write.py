"""Writing a table part by part; the file appears under its name when it is complete."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import pandas as pd

from lvq._files import check_output, naming_a_full_disk, temporary_beside
from lvq.tables.header import TableError, is_number
from lvq.tables.values import kind_of

Value = TypeVar("Value")
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".xlsx")
_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)  # what a spreadsheet may take for a formula


def check_table_output(path: str | Path, *, force: bool = False) -> Path:
    """Check that a table can be written to a file, before anything is computed.

    Examples
    --------
    >>> check_table_output("predictions.doc")
    Traceback (most recent call last):
    lvq.tables.header.TableError: The name predictions.doc must end in .csv, .csv.gz, .parquet or .xlsx.
    """
    if not str(path).lower().endswith(SUFFIXES):
        raise TableError(f"The name {path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    return check_output(path, force=force)


def escape_formula(text: Value) -> Value | str:
    """A string that a spreadsheet does not run as a formula: with an apostrophe before it where it might.

    Examples
    --------
    >>> [escape_formula(text) for text in ("=1+1", "-1.5", "+", "a=b")]
    ["'=1+1", '-1.5', '+', 'a=b']
    """
    return f"'{text}" if isinstance(text, str) and _FORMULA.match(text) and not is_number(text) else text


def write_table(path: Path, parts: Iterable[pd.DataFrame]) -> None:
    """Write parts of a table with the same columns; CSV part by part, other formats at once.

    In CSV and Excel files, strings that a spreadsheet would run as a formula get an apostrophe before them: strings
    that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and are not numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     write_table(path, [pd.DataFrame({"label": ["a"], "certainty": [0.5]})])
    ...     path.read_text().splitlines()
    ['label,certainty', 'a,0.5']
    """
    with naming_a_full_disk(path), temporary_beside(path) as temporary:
        if path.name.lower().endswith(".parquet"):
            pd.concat(parts).to_parquet(temporary, index=False)
            return
        if path.name.lower().endswith(".xlsx"):
            pd.concat(map(_escaped, parts)).to_excel(temporary, index=False, engine="openpyxl")
            return
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with opener(temporary, "wt", encoding="utf-8", newline="") as stream:
            for number, part in enumerate(parts):
                _escaped(part).to_csv(stream, index=False, header=number == 0, lineterminator="\n")


def _escaped(part: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in part if kind_of(part[name]) == "text"]
    return part.assign(**part[texts].map(escape_formula)).rename(columns=escape_formula)
