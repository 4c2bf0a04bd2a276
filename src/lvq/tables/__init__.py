"""Tables on disk: CSV (also gzipped), Parquet, Arrow and Excel, read whole or in parts, and tables written.

All functions take or return pandas DataFrames and do not change them. Names are imported when they are first used;
`lvq.tables.header` needs neither pandas nor pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lvq.tables.header import TableError, is_number
    from lvq.tables.read import Table, open_table
    from lvq.tables.values import as_days, as_numbers, as_text, holds_dates, iso_date, kind_of
    from lvq.tables.write import TableWriter, check_output

_MODULES = {
    "header": ("TableError", "is_number"),
    "read": ("Table", "open_table"),
    "values": ("as_days", "as_numbers", "as_text", "holds_dates", "iso_date", "kind_of"),
    "write": ("TableWriter", "check_output"),
}

__all__ = [
    "Table",
    "TableError",
    "TableWriter",
    "as_days",
    "as_numbers",
    "as_text",
    "check_output",
    "holds_dates",
    "is_number",
    "iso_date",
    "kind_of",
    "open_table",
]


def __getattr__(name: str) -> object:
    module = next((module for module, names in _MODULES.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'lvq.tables needs {error.name}, which is not installed: pip install "lvq[cli]".', name=error.name
        ) from error
