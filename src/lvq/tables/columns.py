"""The kind of a column (numbers, texts, others), and values of one kind converted to the other.

Rules:
- leading and trailing blanks of a text are removed; an empty text and the usual marks, such as NA, are missing;
- numbers are float64 with NaN for missing ones, texts are objects with None for missing ones;
- booleans are the texts "True" and "False", however a file writes them, so that a model fitted on a CSV file reads a
  Parquet file as well.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lvq.table_headers import FIRST_ROW, TableError

Kind = Literal["number", "text", "other"]

Column: TypeAlias = pa.Array | pa.ChunkedArray

#: Texts that mean a missing value.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "<NA>", "#N/A")
#: Other spellings of booleans.
BOOLEANS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def kind_of(column: pd.Series) -> Kind:
    """The kind of a column.

    Parameters
    ----------
    column : Series
        A column of any DataFrame.

    Returns
    -------
    kind : {"number", "text", "other"}
        Booleans and categories are "text"; "other" are dates, lists and the like.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(pd.Series([1.5, None])), kind_of(pd.Series(["a", None], dtype=object))
    ('number', 'text')
    """
    kind, types = column.dtype, pd.api.types
    of_texts = (types.is_bool_dtype, types.is_object_dtype, types.is_string_dtype)
    if isinstance(kind, pd.CategoricalDtype) or any(is_kind(kind) for is_kind in of_texts):
        return "text"
    return "number" if types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind) else "other"


def cleaned(column: Column) -> Column:
    """An Arrow column of texts without leading and trailing blanks, with null for missing ones."""
    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(trimmed, value_set=pa.array(MISSING, trimmed.type))
    return pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed)


def parsed(column: Column) -> Column | None:
    """An Arrow column of texts as numbers; None where some are not."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None


#: Numbers of which some have a decimal comma; points between groups of three digits are allowed.
_COMMAS = r"^[-+]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?([eE][-+]?[0-9]+)?$"
_THOUSANDS = r"^[-+]?[0-9]{1,3}(,[0-9]{3})+$"


def with_commas(column: Column, certain: bool) -> Column | None:
    """An Arrow column of texts with decimal commas as numbers; None where it has none.

    A comma before three digits may also separate thousands. With `certain` it is a decimal comma, as in a file whose
    delimiter is a semicolon; otherwise some other value must show it.
    """
    known = pc.drop_null(column)
    if not len(known) or not pc.any(pc.match_substring(known, ",")).as_py():
        return None
    if not pc.all(pc.match_substring_regex(known, _COMMAS)).as_py():
        return None
    commas = known.filter(pc.match_substring(known, ","))
    if not certain and pc.all(pc.match_substring_regex(commas, _THOUSANDS)).as_py():
        return None
    return parsed(pc.replace_substring(pc.replace_substring(column, ".", ""), ",", "."))


def to_series(column: Column, as_number: bool = False, as_it_is: bool = False, commas: bool = False) -> pd.Series:
    """An Arrow column as a Series of float64, of texts, or of another type.

    With `as_number`, texts become numbers where all of them are. With `as_it_is`, integers and floats keep their type:
    float64 has no 9007199254740993, and writes 7 as 7.0. With `commas` a comma in a number is a decimal comma.
    """
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    kind = column.type
    if pa.types.is_boolean(kind):
        column = pc.if_else(column, "True", "False")
    elif _is_text(kind):
        column = cleaned(pc.cast(column, pa.string()))
        numbers = parsed(column) if as_number else None
        if as_number and numbers is None:
            numbers = with_commas(column, commas)
        if numbers is not None:
            return pd.Series(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    elif as_it_is and pa.types.is_integer(kind):
        signed = "Int64" if pa.types.is_signed_integer(kind) else "UInt64"
        return pd.Series(pd.array(column.to_pylist(), dtype=signed))
    elif as_it_is and pa.types.is_floating(kind):
        return column.to_pandas()
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return pd.Series(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    else:
        series = column.to_pandas()
        # lists, bytes and the like would be objects, as texts are
        return pd.Series(pd.arrays.ArrowExtensionArray(column)) if series.dtype == object else series
    values = column.to_numpy(zero_copy_only=False) if len(column) else np.empty(0, dtype=object)
    return pd.Series(values, dtype=object)


def _is_text(kind: pa.DataType) -> bool:
    views = getattr(pa.types, "is_string_view", lambda _: False)  # not in the oldest supported pyarrow
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views(kind))


def to_frame(
    batch: pa.Table | pa.RecordBatch,
    numbers: Collection[str] = (),
    exact: Collection[str] = (),
    commas: bool = False,
) -> pd.DataFrame:
    """An Arrow table or batch as a DataFrame.

    Columns of `numbers` become numbers where all their texts are; integers of `exact` ones stay integers. With `commas`
    a comma in a number is a decimal comma.
    """
    names = batch.schema.names
    series = [
        to_series(batch.column(place), name in numbers, name in exact, commas) for place, name in enumerate(names)
    ]
    return pd.DataFrame(dict(zip(names, series)), index=pd.RangeIndex(batch.num_rows))


def as_numbers(column: pd.Series, source: str = "the table", first_row: int = FIRST_ROW) -> np.ndarray:
    """The values of a column as numbers.

    Parameters
    ----------
    column : Series
        Numbers, or texts that are numbers.
    source : str
        Name of the table in an error.
    first_row : int, default=2
        The number of the column's first row in the whole table, whose first line, the names, is row 1.

    Returns
    -------
    values : ndarray of float64
        NaN for missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.Series(["1.5", None, "-2"], dtype=object))
    array([ 1.5,  nan, -2. ])
    """
    if kind_of(column) == "number":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind_of(column) == "text":
        numbers = parsed(pa.array(column.to_numpy(dtype=object), pa.string(), from_pandas=True))
        if numbers is not None:
            return numbers.to_numpy(zero_copy_only=False).astype(np.float64)
        bad = pd.to_numeric(column, errors="coerce").isna().to_numpy() & column.notna().to_numpy()
        row = int(np.argmax(bad))
        what = f"{column.iloc[row]!r} in row {first_row + row}"
    else:
        what = f"values of type {column.dtype}"
    raise TableError(
        f"The column {column.name!r} of {source} must hold numbers, as it did when the model was fitted, but holds "
        f"{what}; correct it, leave the cell empty, or name the text as missing with --missing-mark."
    )


def as_text(column: pd.Series) -> np.ndarray:
    """The values of a column as texts.

    Parameters
    ----------
    column : Series
        Texts or numbers.

    Returns
    -------
    values : ndarray of object
        None for missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> as_text(pd.Series([1.0, 2.5, None])).tolist(), as_text(pd.Series(["yes", "TRUE"], dtype=object)).tolist()
    (['1', '2.5', None], ['yes', 'True'])
    """
    codes, different = pd.factorize(column, use_na_sentinel=True)
    texts = np.array([*map(_spelled, different.tolist() if hasattr(different, "tolist") else different), None], object)
    return texts[codes]


def _spelled(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    text = str(value)
    return BOOLEANS.get(text, text)
