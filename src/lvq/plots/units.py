"""Back through the steps of a pipeline: the names of features, and values in the units in which they were measured.

Prototypes live behind the scalers. Every step that can be undone is, from the last to the first:
- a step with `inverse_transform` by that;
- a feature selector by putting its features back in their places, and NaN where the model has never seen a feature;
- an imputer by nothing, as prototypes miss nothing; its indicators of missing values stay, behind the features;
- a ColumnTransformer block by block, where it is the first step: what can be undone goes back to its own columns,
  what cannot, such as a one-hot encoding, stays as the model sees it, under the names the encoder gives.
Anything else is refused by a sentence.
"""

from __future__ import annotations

from collections import UserList
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, TargetEncoder

from lvq.robustness import Floats, Found

Names = NDArray[np.str_]


class InUnits(NamedTuple):
    """Rows in the units of the pipeline's input, and what their columns are called."""

    values: Floats
    names: Names


def numbered(count: int) -> Names:
    """Names for features that have none; the number is the column's index.

    Examples
    --------
    >>> numbered(2).tolist()
    ['feature 0', 'feature 1']
    """
    return np.array([f"feature {column}" for column in range(count)], dtype=np.str_)


def names_along(found: Found) -> list[Names]:
    """Names of the features in front of every step, and last those of the model's own."""
    wide = [getattr(part, "n_features_in_", None) for part in (*found.steps, found.model)]
    first = found.steps[0] if found.steps else found.model
    count = wide[0] if wide[0] is not None else int(found.model.n_features_in_)
    names = [np.asarray(getattr(first, "feature_names_in_", numbered(count)), dtype=np.str_)]
    for step, following in zip(found.steps, wide[1:]):
        names.append(names_after(step, names[-1], following))
    own = getattr(found.model, "feature_names_in_", None)  # a pipeline whose steps hand on tables
    return [*names[:-1], names[-1] if own is None else np.asarray(own, dtype=np.str_)]


def names_after(step: Any, names: Names, count: int | None) -> Names:
    """What a step calls its features; numbers where it has no names for them."""
    try:
        given = np.asarray(step.get_feature_names_out(names), dtype=np.str_)
    except (AttributeError, ValueError):
        given = names
    return given if count is None or len(given) == count else numbered(count)


def back_in_units(found: Found, rows: Any, purpose: str) -> InUnits:
    """Rows of the model's own features in the units of the pipeline's input."""
    values, names = np.asarray(rows, dtype=np.float64), names_along(found)
    for index in range(len(found.steps) - 1, -1, -1):
        step = found.steps[index]
        if isinstance(step, ColumnTransformer) and index == 0:
            return _undo_blocks(step, values, names[0])
        undone = undo(step, values, first=index == 0)
        if undone is None:
            raise ValueError(
                f"{purpose} cannot undo {type(step).__name__}, step {index} of the pipeline, to show prototypes in the "
                "units of X; give the end of the pipeline after that step, and X as it comes out of it."
            )
        values = undone
    return InUnits(values, _with_indicators(names[0], names[min(1, len(found.steps))], values.shape[1]))


def _with_indicators(before: Names, after: Names, width: int) -> Names:
    """Names in front of a step, then those of the indicators of missing values that an imputer puts behind them."""
    return before if len(before) >= width else np.append(before, after[len(before) - width :])


def undo(step: Any, values: Floats, *, first: bool = False) -> Floats | None:
    """What a step would have turned into these values; None where that cannot be said.

    Indicators of missing values stay where they are, behind the features, if the step is the first.
    """
    if isinstance(step, Pipeline):
        return _undo_all([part for _, part in step.steps], values, first)
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return values
    if isinstance(step, SimpleImputer | KNNImputer):
        empty = not step.keep_empty_features and bool(np.isnan(np.asarray(_statistics(step), dtype=np.float64)).any())
        if empty or values.shape[1] < step.n_features_in_:  # columns without any value were left out
            return None
        return values if first else values[:, : step.n_features_in_]
    if isinstance(step, SelectorMixin):
        whole = np.full((len(values), step.n_features_in_), np.nan)
        whole[:, step.get_support()] = values
        return whole
    if isinstance(step, FunctionTransformer) and step.inverse_func is None:
        return values if step.func is None else None
    if isinstance(step, OneHotEncoder | OrdinalEncoder | TargetEncoder) or not hasattr(step, "inverse_transform"):
        return None
    return np.asarray(step.inverse_transform(values.copy()), dtype=np.float64)


def _statistics(step: Any) -> Any:
    """What an imputer fills in; NaN for a column that was empty."""
    filled = getattr(step, "statistics_", np.zeros(0))
    return filled if np.asarray(filled).dtype.kind in "fiu" else np.zeros(0)


def _undo_all(steps: Sequence[Any], values: Floats, first: bool) -> Floats | None:
    for index in range(len(steps) - 1, -1, -1):
        undone = undo(steps[index], values, first=first and index == 0)
        if undone is None:
            return None
        values = undone
    return values


def _undo_blocks(table: ColumnTransformer, values: Floats, names: Names) -> InUnits:
    """Each block of a ColumnTransformer on its own, in the order of its output."""
    blocks, titles = [], []
    for title, step, columns in table.transformers_:
        place = table.output_indices_.get(title, slice(0, 0))
        if place.stop == place.start:
            continue
        before = names[_positions(columns, names)]
        after = names_after(step, before, place.stop - place.start)
        undone = undo(step, values[:, place], first=True)
        blocks.append(values[:, place] if undone is None else undone)
        titles.append(after if undone is None else _with_indicators(before, after, undone.shape[1]))
    return InUnits(np.hstack(blocks), np.concatenate(titles))


def _positions(columns: Any, names: Names) -> NDArray[np.intp]:
    """Indices of the columns of a block, which may be given by name, index, slice or mask."""
    columns = columns.data if isinstance(columns, UserList) else columns  # scikit-learn 1.6 warns of its remainder's
    asked = columns if isinstance(columns, slice) else np.atleast_1d(np.asarray(columns))
    if isinstance(asked, slice) and isinstance(asked.start or asked.stop, str):
        order = names.tolist()
        low = order.index(asked.start) if asked.start is not None else 0
        high = order.index(asked.stop) + 1 if asked.stop is not None else len(order)
        return np.arange(low, high)
    if not isinstance(asked, slice) and asked.dtype.kind in "UOT":
        order = names.tolist()
        return np.array([order.index(str(name)) for name in asked], dtype=np.intp)
    return np.arange(len(names))[asked]
