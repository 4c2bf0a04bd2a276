"""Tables on disk: CSV (also gzipped), Parquet, Arrow, ARFF and Excel, read whole or in parts, and tables written.

All functions take or return pandas DataFrames and do not change them.
"""

try:
    import pandas as _pandas
    import pyarrow as _pyarrow
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        f'lvq.tables needs {_error.name}, which is not installed: pip install "lvq[cli]".', name=_error.name
    ) from _error

from lvq.table_headers import TableError, is_number
from lvq.tables.columns import as_numbers, as_text, kind_of
from lvq.tables.dates import as_days, holds_dates, iso_date
from lvq.tables.reading import column_names, read_parts, read_table, reading_notes
from lvq.tables.writing import TableWriter, check_output

__all__ = [
    "TableError",
    "TableWriter",
    "as_days",
    "as_numbers",
    "as_text",
    "check_output",
    "column_names",
    "holds_dates",
    "is_number",
    "iso_date",
    "kind_of",
    "read_parts",
    "read_table",
    "reading_notes",
]
del _pandas, _pyarrow
