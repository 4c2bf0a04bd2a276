"""Which columns a model needs, and whether a table has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from lvq.robustness import find_model
from lvq.tables import TableError, is_number
from lvq.workflow.preparation import MISSING_TEXT, listed

#: Columns of the answers.
COLUMNS = ("label", "certainty", "accepted", "reason", "winner", "certified_radius")


class Columns(NamedTuple):
    """What a model expects: its columns in order, the known categories of some, and those that may be missing."""

    names: list[str]
    categories: dict[str, set[str]]
    gaps: set[str]


def expected_columns(model: Any) -> Columns:
    """The columns of a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted to a DataFrame.

    Returns
    -------
    columns : Columns

    Examples
    --------
    >>> import pandas as pd
    >>> from lvq import GLVQ
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]})
    >>> expected_columns(GLVQ().fit(table, ["a", "b", "a", "b"]))
    Columns(names=['size'], categories={}, gaps=set())
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "This model was fitted to an array without column names, so it is not known which column of a table is "
            "which; fit it to a DataFrame, or with `lvq fit`."
        )
    columns = Columns([str(name) for name in names], {}, set())
    found = find_model(model)
    if found is not None and found.steps and isinstance(found.steps[0], ColumnTransformer):
        for _, part, chosen in found.steps[0].transformers_:
            inner = part.steps[0][1] if isinstance(part, Pipeline) else part
            if isinstance(inner, OneHotEncoder):
                known = [set(map(str, categories)) for categories in inner.categories_]
                columns.categories.update(zip(map(str, chosen), known))
            elif isinstance(inner, SimpleImputer):
                columns.gaps.update(map(str, chosen))
    return columns


def numbered(categories: set[str]) -> dict[float, str]:
    """The categories of a column by their numbers, where all are numbers; one number of two names is left out.

    Files spell a number in several ways: 7 in one is 7.0 in another, and 007 loses its zeros in a spreadsheet.

    Examples
    --------
    >>> numbered({"007", "8", "(missing)"}) == {7.0: "007", 8.0: "8"}
    True
    >>> numbered({"1", "1.0"}), numbered({"1", "one"})
    ({}, {})
    """
    names = sorted(categories - {MISSING_TEXT})
    if not all(map(is_number, names)):
        return {}
    numbers = list(map(float, names))
    return {number: name for number, name in zip(numbers, names) if numbers.count(number) == 1}


def matched(present: Sequence[str], columns: Columns, keep: Sequence[str], table: Path) -> list[str]:
    """Notes about the columns of a table; an error where one is missing.

    Parameters
    ----------
    present : sequence of str
        The table's columns.
    columns : Columns
        Those of the model.
    keep : sequence of str
        Those to copy into the answers.
    table : Path
        What to call the table.

    Returns
    -------
    notes : list of str
    """
    there, needed = set(present), set(columns.names)
    missing = [name for name in columns.names if name not in there]
    if missing:
        strange = [name for name in present if name and name not in needed]
        have = f" It has {listed(strange)}, which the model does not know." if strange else ""
        word = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        raise TableError(f"{table} lacks {word} that the model needs: {listed(missing)}.{have}")
    absent = [name for name in keep if name not in there]
    if absent:
        raise TableError(f"{table} has no column {listed(absent)} to keep; its columns are {listed(list(present))}.")
    taken = [name for name in keep if name in COLUMNS]
    if taken:
        raise TableError(f"The column {listed(taken)} cannot be kept: the answers have a column of that name.")
    extra = [name for name in present if name and name not in needed and name not in keep]
    return [f"Columns that the model does not use: {listed(extra)}."] if extra else []
