"""The features a model sees, under names and in units a reader knows.

Where every step in front of the model keeps features apart (scalers, imputers, selectors, a ColumnTransformer of
these), each of the model's features is one column of the data and is shown in that column's units. Where a step mixes
them (PCA), or cannot be undone, the model's own features are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from lvq.estimators.found import need_model
from lvq.plots.fitted_arrays import model_inputs
from lvq.plots.images import image_side
from lvq.plots.original_features import default_names, names_by_step, to_original_units
from lvq.robustness import Floats

APART = (OneToOneFeatureMixin, SelectorMixin, SimpleImputer, KNNImputer, OneHotEncoder, OrdinalEncoder)

ROUNDING = 1e-12  # of a feature's size: a scaler undone leaves as much for 0


class Features:
    """Names and values of a fitted model's features.

    Parameters
    ----------
    model : estimator
        A model of this library, a Pipeline that ends in one, or a RejectClassifier around either.
    names : sequence of str, optional
        Names of the columns of X, used where the model was fitted on data without names.

    Attributes
    ----------
    in_units : bool
        Whether values are in the units of the data; otherwise they are as the model sees them.
    names : list of str
        A name for each feature of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> features = Features(model, ["a", "b", "c", "d"])
    >>> features.names, bool(abs(features.values(features.inputs(X)) - X).max() < 1e-9)
    (['a', 'b', 'c', 'd'], True)
    """

    def __init__(self, model: Any, names: Sequence[str] | None = None) -> None:
        self.found = need_model(model, "the report")
        self._given = _renamed(self.found, names)
        self._kept: NDArray[np.bool_] | None = None
        self.in_units = all(_apart(step, index == 0) for index, step in enumerate(self.found.steps))
        own = names_by_step(self.found)[-1]
        try:
            back = to_original_units(self.found, self.found.model.prototypes, "the report")
        except ValueError:
            self.in_units, back = False, None
        if self.in_units and back is not None:
            self._kept = ~np.isnan(back.values[0])  # a selector leaves gaps
            self._noise = ROUNDING * np.abs(back.values[:, self._kept]).max(axis=0)
            self.in_units = int(self._kept.sum()) == self.found.model.n_features
        shown = back.names[self._kept] if self.in_units and back is not None else own
        self._columns = shown.tolist()
        self.names = self.renamed(self._columns)
        # whether X as it was given is a picture, whatever the steps between make of it
        self.side = None if back is None else image_side(self.renamed(back.names))

    def renamed(self, names: Iterable[str]) -> list[str]:
        """Names as a reader knows them: those given for the columns of X where there are such."""
        return [self._given.get(name, name) for name in names]

    def inputs(self, X: Any) -> Floats:
        """Samples as they reach the model."""
        return model_inputs(self.found, X)

    def values(self, inputs: Floats) -> Floats:
        """The model's features as a reader knows them."""
        if not self.in_units:
            return np.asarray(inputs, dtype=np.float64)
        values = to_original_units(self.found, inputs, "the report").values[:, self._kept]
        return np.where(np.abs(values) < self._noise, 0.0, values)

    def measured(self, X: Any, inputs: Floats) -> Floats:
        """Values of samples, NaN where X has none and an imputer has filled the gap."""
        values, gaps = self.values(inputs), _gaps(X)
        if not self.in_units or gaps is None:
            return values
        columns = [str(name) for name in getattr(X, "columns", names_by_step(self.found)[0])]
        for place, name in enumerate(self._columns):
            if name in columns:
                values[gaps[:, columns.index(name)], place] = np.nan
        return values

    def pixels(self, inputs: Floats) -> Floats | None:
        """Whole pictures, 0 where the model sees no pixel; None where the data are none."""
        if self.side is None:
            return None
        return np.nan_to_num(to_original_units(self.found, inputs, "the report").values)

    def as_pixels(self, per_feature: Floats) -> Floats | None:
        """Values of the model's features at their places in the picture; None where they have no place of their own."""
        if self.side is None or not self.in_units or self._kept is None:
            return None
        whole = np.zeros((len(per_feature), len(self._kept)))
        whole[:, self._kept] = per_feature
        return whole


def _gaps(X: Any) -> NDArray[np.bool_] | None:
    """Where a table or an array has no value; None where that cannot be told."""
    if hasattr(X, "isna"):
        return np.asarray(X.isna())
    try:
        return np.isnan(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return None


def _renamed(found: Any, names: Sequence[str] | None) -> dict[str, str]:
    """Given names for numbered features."""
    first = found.steps[0] if found.steps else found.estimator
    count = getattr(first, "n_features_in_", None)
    if names is None or count is None:
        return {}
    if len(names) != count:
        raise ValueError(
            f"feature_names of summarize must have a name for each of the {count} columns of X, got {len(names)}."
        )
    known = getattr(first, "feature_names_in_", default_names(count))
    return {str(old): str(new) for old, new in zip(known, names)}


def _apart(step: Any, first: bool) -> bool:
    """Whether a step keeps features apart."""
    if isinstance(step, Pipeline):
        return all(_apart(part, first and index == 0) for index, (_, part) in enumerate(step.steps))
    if isinstance(step, ColumnTransformer):
        return first and all(_apart(part, False) for _, part, _ in step.transformers_)
    return step is None or isinstance(step, (str, *APART))
