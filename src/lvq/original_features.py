"""The features of a pipeline's input: their names, and values of the model in their units.

Prototypes have the features that reach the model, after the scalers. The steps are inverted from the last to the first:
- a step with `inverse_transform` by that method;
- a feature selector by putting its features back in their columns, with NaN in those it has removed;
- an imputer needs no inversion; its indicators of missing values stay, after the features;
- a ColumnTransformer as first step block by block: blocks that can be inverted return to their own columns, others
  keep the values that the model sees;
- of an encoder of categories, alone or in a block, the steps after it: codes such as 0 and 1, not standardised ones,
  under the names of the encoder.
Any other step raises a ValueError.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, TargetEncoder

from lvq.estimators.found import FoundModel
from lvq.input_columns import Names, default_names, positions

Floats = NDArray[np.float64]
ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


class OriginalValues(NamedTuple):
    """Rows in the units of the pipeline's input, and the names of their columns."""

    values: Floats
    names: Names


def names_by_step(found: FoundModel) -> list[Names]:
    """Names of the features before each step, and last those that reach the model."""
    counts = [getattr(part, "n_features_in_", None) for part in (*found.steps, found.estimator)]
    first = found.steps[0] if found.steps else found.estimator
    count = counts[0] if counts[0] is not None else found.model.n_features
    names = [np.asarray(getattr(first, "feature_names_in_", default_names(count)), dtype=np.str_)]
    for step, following in zip(found.steps, counts[1:]):
        names.append(_names_after(step, names[-1], following))
    own = getattr(found.estimator, "feature_names_in_", None)  # set where the steps return tables
    return [*names[:-1], names[-1] if own is None else np.asarray(own, dtype=np.str_)]


def _names_after(step: BaseEstimator, names: Names, count: int | None) -> Names:
    """Names of the features after a step; default names where the step does not name its features."""
    try:
        given = np.asarray(step.get_feature_names_out(names), dtype=np.str_)
    except (AttributeError, ValueError):
        given = names
    return given if count is None or len(given) == count else default_names(count)


def to_original_units(found: FoundModel, rows: ArrayLike, purpose: str) -> OriginalValues:
    """Rows of the features that reach the model, in the units of the pipeline's input."""
    values, names = np.asarray(rows, dtype=np.float64), names_by_step(found)
    for index, step in reversed(list(enumerate(found.steps))):
        if isinstance(step, ColumnTransformer) and index == 0:
            return _invert_blocks(step, values, names[0])
        inverted = invert(step, values, first=index == 0)
        if inverted is None and index == 0 and isinstance(step, ENCODERS):
            return OriginalValues(values, names[1])
        if inverted is None:
            raise ValueError(
                f"{purpose} cannot invert {type(step).__name__}, step {index} of the pipeline, to give prototypes in "
                "the units of X; pass the part of the pipeline after that step, and X as it comes out of it."
            )
        values = inverted
    return OriginalValues(values, _with_indicators(names[0], names[min(1, len(found.steps))], values.shape[1]))


def steps_without_inverse(found: FoundModel) -> list[str]:
    """Names of the steps before a model, where they cannot be inverted: its features are then not columns of X.

    A step such as `lvq.StandardNormalVariate` keeps the names of the columns, though each of its outputs depends on all
    of them, so that a plot must tell.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ, StandardNormalVariate
    >>> from lvq.estimators.found import need_model
    >>> X, y = [[1.0, 2.0, 5.0], [2.0, 5.0, 1.0]], [0, 1]
    >>> model = make_pipeline(StandardNormalVariate(), StandardScaler(), GLVQ()).fit(X, y)
    >>> steps_without_inverse(need_model(model, "")), steps_without_inverse(need_model(model[1:], ""))
    (['StandardNormalVariate', 'StandardScaler'], [])
    """
    try:
        to_original_units(found, found.model.prototypes[:1], "")
    except ValueError:
        return [type(step).__name__ for step in found.steps]
    return []


def _with_indicators(before: Names, after: Names, width: int) -> Names:
    """Names before a step, then those of the indicators of missing values that an imputer appends."""
    return before if len(before) >= width else np.append(before, after[len(before) - width :])


def invert(step: BaseEstimator | str | None, values: Floats, *, first: bool = False) -> Floats | None:
    """Values that a step transforms into the given ones; None where the step cannot be inverted.

    Indicators of missing values stay after the features if the step is the first, else they are dropped.
    """
    if isinstance(step, Pipeline):
        inverted: Floats | None = values
        for index, (_, part) in reversed(list(enumerate(step.steps))):
            inverted = None if inverted is None else invert(part, inverted, first=first and index == 0)
        return inverted
    if step is None or isinstance(step, str):
        return values if step in (None, "passthrough") else None
    if isinstance(step, SimpleImputer | KNNImputer):
        filled = np.asarray(getattr(step, "statistics_", ()))  # NaN for a column without any value, which is removed
        empty = not step.keep_empty_features and filled.dtype.kind in "fiu" and bool(np.isnan(filled).any())
        if empty or values.shape[1] < step.n_features_in_:
            return None
        return values if first else values[:, : step.n_features_in_]
    if isinstance(step, SelectorMixin):
        whole = np.full((len(values), step.n_features_in_), np.nan)
        whole[:, step.get_support()] = values
        return whole
    if isinstance(step, FunctionTransformer) and step.inverse_func is None:
        return values if step.func is None else None
    if isinstance(step, ENCODERS) or not hasattr(step, "inverse_transform"):
        return None
    return np.asarray(step.inverse_transform(values.copy()), dtype=np.float64)


def _invert_blocks(table: ColumnTransformer, values: Floats, names: Names) -> OriginalValues:
    """Each block of a ColumnTransformer by itself, in the order of its output."""
    blocks, titles = [], []
    for title, step, columns in table.transformers_:
        place = table.output_indices_.get(title, slice(0, 0))
        if place.stop == place.start:
            continue
        before = names[positions(columns, names)]
        inverted = invert(step, values[:, place], first=True)
        if inverted is None:
            step, kept = _behind_encoder(step, values[:, place])
            blocks.append(kept)
            titles.append(_names_after(step, before, kept.shape[1]))
            continue
        after = _names_after(step, before, place.stop - place.start)
        blocks.append(inverted)
        titles.append(_with_indicators(before, after, inverted.shape[1]))
    return OriginalValues(np.hstack(blocks), np.concatenate(titles))


def _behind_encoder(step: BaseEstimator, values: Floats) -> tuple[BaseEstimator, Floats]:
    """The steps of a block up to its encoder, and the values behind it; step and values where that is not possible."""
    before: Floats | None = values
    for index, (_, part) in reversed(list(enumerate(step.steps if isinstance(step, Pipeline) else ()))):
        if isinstance(part, ENCODERS) and before is not None:
            return step[: index + 1], before
        before = None if before is None else invert(part, before)
    return step, values
