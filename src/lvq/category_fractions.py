"""Fractions of categories and of missing values that rows of the model's features have, such as prototypes.

A prototype has a number for each column of a one-hot encoding. The fraction of a category is its number, at least 0,
divided by the sum over the categories: for a mean of samples that is the fraction of the samples with this category.
The number of an indicator of missing values, between 0 and 1, is the fraction of missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from lvq.estimators.found import FoundModel
from lvq.input_columns import Indices, blocks, outputs_per_column, sources
from lvq.input_values import back
from lvq.linear_maps import Floats

RARE = "other"  # the common column of infrequent categories


class CategoryFractions(NamedTuple):
    """The categories of a column of the input, and their fractions in each row."""

    categories: tuple[str, ...]
    fractions: Floats  # (n_rows, n_categories)


class Fractions(NamedTuple):
    """Fractions by the index of the column of the input."""

    categories: dict[int, CategoryFractions]
    missing: dict[int, Floats]


def category_fractions(found: FoundModel, rows: NDArray[np.floating]) -> Fractions:
    """Fractions of the categories of one-hot encoded columns, and of missing values, in rows of the model's features.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from lvq import GLVQ
    >>> from lvq.estimators.found import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> found = category_fractions(need_model(model, ""), np.array([[0.75, 0.25, -0.1]])).categories[0]
    >>> found.categories, found.fractions.tolist()
    (('a', 'b', 'c'), [[0.75, 0.25, 0.0]])
    """
    values, result = np.asarray(rows, dtype=np.float64), Fractions({}, {})
    for steps, columns, behind in _parts(found, values):
        place = columns
        for index, step in enumerate(steps):
            source = sources(step)
            if source is None:
                break
            codes = back(steps[index + 1 :], behind)
            if isinstance(step, OneHotEncoder) and codes is not None:
                _add_categories(result, step, place, codes.astype(np.float64))
            elif getattr(step, "indicator_", None) is not None and codes is not None:
                flagged = len(step.indicator_.features_)
                for column, part in zip(place[source[-flagged:]], codes.astype(np.float64)[:, -flagged:].T):
                    result.missing[int(column)] = np.clip(part, 0.0, 1.0)
            place = place[source]
    return result


def _parts(found: FoundModel, values: Floats) -> Iterator[tuple[Sequence[BaseEstimator], Indices, Floats]]:
    """Steps, the columns of the input that they take, and the rows behind them."""
    if not found.steps or not isinstance(found.steps[0], ColumnTransformer):
        if found.steps and hasattr(found.steps[0], "n_features_in_"):
            yield found.steps, np.arange(found.steps[0].n_features_in_), values
        return
    behind = back(found.steps[1:], values)
    if behind is None:
        return
    for block in blocks(found.steps[0]):
        yield block.steps, block.columns, behind[:, block.output].astype(np.float64)


def _add_categories(result: Fractions, encoder: OneHotEncoder, columns: Indices, codes: Floats) -> None:
    ends = np.cumsum(np.broadcast_to(outputs_per_column(encoder), encoder.n_features_in_))
    for index, (column, end) in enumerate(zip(columns.tolist(), ends.tolist())):
        names, dropped = _names(encoder, index)
        part = codes[:, end - len(names) : end]
        if dropped is not None:
            part, names = np.column_stack((part, 1 - part.sum(axis=1))), [*names, dropped]
        part = np.maximum(part, 0.0)
        total = part.sum(axis=1, keepdims=True)
        fractions = np.divide(part, total, out=np.zeros_like(part), where=total > 0)
        result.categories[column] = CategoryFractions(tuple(names), fractions)


def _names(encoder: OneHotEncoder, index: int) -> tuple[list[str], str | None]:
    """Categories of a column in the order of its codes, and the dropped one."""
    every = [str(name) for name in encoder.categories_[index].tolist()]
    rare, drop = getattr(encoder, "infrequent_categories_", None), encoder.drop_idx_
    infrequent = set() if rare is None or rare[index] is None else {str(name) for name in rare[index].tolist()}
    names = [name for name in every if name not in infrequent] + ([RARE] if infrequent else [])
    if drop is None or drop[index] is None:
        return names, None
    dropped = RARE if every[drop[index]] in infrequent else every[drop[index]]
    return [name for name in names if name != dropped], dropped
