"""The columns that a model needs, and whether a table has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq.estimators.find_model import find_model
from lvq.table_headers import listed
from lvq.tables import TableError, is_number
from lvq.workflow.preparation import MISSING_TEXT

#: Columns of the predictions.
COLUMNS = ("label", "certainty", "accepted", "reason", "winner", "certified_radius")


class ModelColumns(NamedTuple):
    """Columns of a model in order, the known categories of some, and those in which values may be missing.

    `missing_rates` are the fractions of missing values of the latter in training. A model that ignores missing values
    takes them in every column of numbers.
    """

    names: list[str]
    categories: dict[str, set[str]]
    gaps: set[str]
    missing_rates: dict[str, float]


def expected_columns(model: BaseEstimator) -> ModelColumns:
    """The columns of a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted to a DataFrame.

    Returns
    -------
    columns : ModelColumns

    Examples
    --------
    >>> import pandas as pd
    >>> from lvq import GLVQ
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]})
    >>> expected_columns(GLVQ().fit(table, ["a", "b", "a", "b"]))
    ModelColumns(names=['size'], categories={}, gaps=set(), missing_rates={})
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "The model was fitted to an array without column names, so the columns of a table cannot be matched; fit "
            "it to a DataFrame, or with `lvq fit`."
        )
    columns = ModelColumns([str(name) for name in names], {}, set(), {})
    found = find_model(model)
    if found is not None and found.steps and isinstance(found.steps[0], ColumnTransformer):
        for _, part, chosen in found.steps[0].transformers_:
            inner = part.steps[0][1] if isinstance(part, Pipeline) else part
            if isinstance(inner, OneHotEncoder):
                known = [set(map(str, categories)) for categories in inner.categories_]
                columns.categories.update(zip(map(str, chosen), known))
            elif isinstance(inner, SimpleImputer):
                columns.gaps.update(map(str, chosen))
                columns.missing_rates.update(_missing_rates(part, list(map(str, chosen))))
    if found is not None and getattr(found.estimator, "missing", "raise") == "ignore":
        columns.gaps.update(name for name in columns.names if name not in columns.categories)
    return columns


def _missing_rates(part: BaseEstimator, names: list[str]) -> dict[str, float]:
    """Fraction of missing values in training: the mean of an imputer's indicators, which the scaler after it holds."""
    if not isinstance(part, Pipeline) or not isinstance(part.steps[-1][1], StandardScaler):
        return {}
    imputer, scaler = part.steps[0][1], part.steps[-1][1]
    if not imputer.add_indicator or imputer.indicator_ is None:
        return {}
    indicated = [names[place] for place in imputer.indicator_.features_]
    return dict(zip(indicated, map(float, scaler.mean_[len(names) :])))


def categories_by_number(categories: set[str]) -> dict[float, str]:
    """The categories of a column by their numbers, where all are numbers; a number with two names is left out.

    Files write a number in several ways: 7 in one is 7.0 in another, and 007 loses its zeros in a spreadsheet.

    Examples
    --------
    >>> categories_by_number({"007", "8", "(missing)"}) == {7.0: "007", 8.0: "8"}
    True
    >>> categories_by_number({"1", "1.0"}), categories_by_number({"1", "one"})
    ({}, {})
    """
    names = sorted(categories - {MISSING_TEXT})
    if not all(map(is_number, names)):
        return {}
    numbers = list(map(float, names))
    return {number: name for number, name in zip(numbers, names) if numbers.count(number) == 1}


def match_columns(present: Sequence[str], columns: ModelColumns, keep: Sequence[str], table: Path) -> list[str]:
    """Check the columns of a table; one error names all that are missing.

    Parameters
    ----------
    present : sequence of str
        Columns of the table.
    columns : ModelColumns
        Columns of the model.
    keep : sequence of str
        Columns to copy into the predictions.
    table : Path
        The table, for messages.

    Returns
    -------
    notes : list of str
    """
    existing, needed = set(present), set(columns.names)
    missing = [name for name in columns.names if name not in existing]
    absent = [name for name in keep if name not in existing]
    taken = [name for name in keep if name in COLUMNS]
    problems = []
    if missing:
        unknown = [name for name in present if name and name not in needed]
        found = f" It has {listed(unknown)}, which the model does not use." if unknown else ""
        word = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        problems.append(f"{table} lacks {word} that the model needs: {listed(missing)}.{found}")
    if absent:
        problems.append(f"{table} has no column {listed(absent)} to keep; its columns are {listed(list(present))}.")
    if taken:
        problems.append(f"The column {listed(taken)} cannot be kept: the predictions have a column of that name.")
    if problems:
        raise TableError(" ".join(problems))
    extra = [name for name in present if name and name not in needed and name not in keep]
    return [f"Columns that the model does not use: {listed(extra)}."] if extra else []
