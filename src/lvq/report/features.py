"""The features of a model, with names and in units that a reader knows.

Where every step before the model keeps features separate (scalers, imputers, selectors, a ColumnTransformer of these),
each feature of the model is one column of the data and is shown in that column's units. Where a step combines them
(PCA), or cannot be inverted, the model's own features are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import columns_of_features, names_by_step
from lvq.inspection.inverse import OriginalValues, to_original_units
from lvq.inspection.steps import default_names
from lvq.model.arrays import as_numpy
from lvq.plots.images import pixel_places

ROUNDING = 1e-12  # of a feature's size: an inverted scaler leaves as much instead of 0

Floats = NDArray[np.float64]


class Features:
    """Names and values of a fitted model's features.

    Parameters
    ----------
    estimator : estimator
        A model of this library, alone or in a Pipeline, a search or a RejectClassifier.
    names : sequence of str, optional
        Names of the columns of X, used where the model was fitted to data without names.

    Attributes
    ----------
    estimator, steps : estimator, tuple of transformers
        The fitted estimator of this library, and the steps before it.
    model : PrototypeModel
        Its fitted model.
    in_units : bool
        Whether values are in the units of the data; otherwise they are those of the model's input.
    names : list of str
        A name for each feature of the model.
    side : int or None
        Side of the square image whose pixels are the columns of X; None for other data.

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

    def __init__(self, estimator: BaseEstimator, names: Sequence[str] | None = None) -> None:
        self.found = need_model(estimator, "the report")
        self.estimator, self.steps = self.found
        self.model = self.estimator.model_
        self._given = _given_names(self.steps[0] if self.steps else self.estimator, names)
        self._selected: NDArray[np.bool_] | None = None
        self.in_units = columns_of_features(self.found) is not None
        try:
            original = self._original(self.model.prototypes)
        except ValueError:
            self.in_units, original = False, None
        if self.in_units and original is not None:
            self._selected = ~np.isnan(original.values[0])  # NaN for features that a selector has removed
            self._noise = ROUNDING * np.abs(original.values[:, self._selected]).max(axis=0)
            self.in_units = int(self._selected.sum()) == self.model.n_features
        shown = original.names[self._selected] if self.in_units and original else names_by_step(self.found)[-1]
        self._columns = shown.tolist()
        self.names = self.renamed(self._columns)
        # whether X itself is an image, before any step
        self._places = None if original is None else pixel_places(self.renamed(original.names))
        self.side = None if self._places is None else self._places.side

    def _original(self, inputs: ArrayLike) -> OriginalValues:
        return to_original_units(self.found, inputs, "the report")

    def renamed(self, names: Iterable[str]) -> list[str]:
        """Feature names with the names given for the columns of X, where there are such."""
        return [self._given.get(name, name) for name in names]

    def inputs(self, X: ArrayLike) -> Floats:
        """Samples as they reach the model."""
        return self.model.checked(as_numpy(self.found.inputs(as_numpy(X)))).astype(np.float64, copy=False)

    def values(self, inputs: Floats) -> Floats:
        """The model's features, in the units of the data where possible."""
        if not self.in_units:
            return np.asarray(inputs, dtype=np.float64)
        values = self._original(inputs).values[:, self._selected]
        return np.where(np.abs(values) < self._noise, 0.0, values)

    def known_values(self, X: ArrayLike, inputs: Floats) -> Floats:
        """Values of samples; NaN where X has a missing value, also one that an imputer has replaced."""
        values, missing = self.values(inputs), _missing(X)
        if not self.in_units or missing is None:
            return values
        columns = [str(name) for name in getattr(X, "columns", names_by_step(self.found)[0])]
        for position, name in enumerate(self._columns):
            if name in columns:
                values[missing[:, columns.index(name)], position] = np.nan
        return values

    def pixels(self, inputs: Floats) -> Floats | None:
        """Whole images, 0 for pixels that the model does not use; None where X is not an image."""
        return None if self._places is None else self._places.whole(np.nan_to_num(self._original(inputs).values))

    def as_pixels(self, per_feature: Floats) -> Floats | None:
        """Values of the model's features at their pixels; None where the features are not pixels."""
        if self._places is None or not self.in_units or self._selected is None:
            return None
        columns = np.zeros((len(per_feature), len(self._selected)))
        columns[:, self._selected] = per_feature
        return self._places.whole(columns)


def ranges(values: Floats) -> tuple[Floats, Floats]:
    """1st and 99th percentile of the known values of each column; NaN for a column without any.

    Examples
    --------
    >>> [end.tolist() for end in ranges(np.array([[1.0, np.nan], [1.0, np.nan]]))]
    [[1.0, nan], [1.0, nan]]
    """
    ends = np.full((2, values.shape[1]), np.nan)
    known = ~np.isnan(values).all(axis=0)
    if known.any():
        ends[:, known] = np.nanquantile(values[:, known], [0.01, 0.99], axis=0)
    return ends[0], ends[1]


def _missing(X: ArrayLike) -> NDArray[np.bool_] | None:
    """Where a table or an array has no value; None where that is unknown."""
    if hasattr(X, "isna"):
        return np.asarray(X.isna())
    try:
        return np.isnan(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return None


def _given_names(first: BaseEstimator, names: Sequence[str] | None) -> dict[str, str]:
    """The names given for the columns of X, by the names that the first step knows."""
    count = getattr(first, "n_features_in_", None)
    if names is None or count is None:
        return {}
    if len(names) != count:
        raise ValueError(
            f"feature_names must have a name for each of the {count} columns of X, got {len(names)}; give as many "
            "names as columns."
        )
    known = getattr(first, "feature_names_in_", default_names(count))
    return {str(old): str(new) for old, new in zip(known, names)}
