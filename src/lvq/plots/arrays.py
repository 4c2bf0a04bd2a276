"""What a fitted model has learned, as arrays: relevances, matrices, prototypes, and their names.

Every function takes a model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
`RejectClassifier`. The last part decides by names whether features are the pixels of an image, or have an order, like
wavelengths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import ceil, isqrt, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, find_layer, last_step, need_model
from lvq.inspection.columns import names_of_features, to_original_units
from lvq.inspection.steps import Names, default_names
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy, require_dense
from lvq.rejection.classifier import RejectClassifier
from lvq.typing import Floats

Values = Literal["importance", "lambda"]
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
SMALLEST_SIDE = 8  # of an image


def estimator_name(estimator: BaseEstimator) -> str:
    """Name of an estimator in a legend: `RejectClassifier` where there is one, else the class that predicts."""
    return type(find_layer(estimator, RejectClassifier) or last_step(estimator)).__name__


def model_inputs(found: FoundModel, X: ArrayLike) -> Floats:
    """Samples as they reach the model, in float64, each missing value replaced by that of their nearest prototype.

    That is how the distances of a model with ``missing="ignore"`` count it: as no difference.
    """
    Z, model = as_numpy(found.inputs(as_numpy(X))), found.model
    require_dense(Z, "A plot of samples")
    inputs = model.checked(Z).astype(np.float64, copy=False)
    missing = np.isnan(inputs)
    if not missing.any():
        return inputs
    winner = model.over_blocks(lambda D: model.nearest(D)[0].winner, inputs)
    return np.where(missing, model.prototypes[winner], inputs)


# -- relevances and matrices -------------------------------------------------------------------------------------------


def relevance_profile(estimator: BaseEstimator, *, values: Values | None = None) -> Floats:
    """Importance of each feature, or its weight in the model's distances; of sum one.

    The features are those that reach the model, see `feature_names`; `lvq.variable_importances` has the columns of a
    pipeline's input, with a categorical variable as one.

    Parameters
    ----------
    estimator : estimator
        Fitted model.
    values : {"importance", "lambda"}, optional
        "importance" for `feature_importances_`, the share of the model's outputs that the feature explains alone.
        "lambda" for the relevances, or the diagonal of Lambda divided by its sum; equal weights for the Euclidean
        metric. With correlated features this diagonal is arbitrary. None is "importance" where the model has it, and
        "lambda" for the Euclidean metric and after `partial_fit`.

    Returns
    -------
    relevances : ndarray of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LGMLVQ(random_state=0).fit(X, y)
    >>> relevance_profile(model).shape
    (4,)
    """
    model = need_model(estimator, "relevance_profile").model
    if values not in (None, "importance", "lambda"):
        raise ValueError(f"values must be 'importance' or 'lambda', got {values!r}.")
    if values == "importance" and model.importances is None:
        raise ValueError(
            "values must be 'lambda' for this model, which has no relevances, or was changed without all samples; use "
            "variable_importances for importances."
        )
    if values != "lambda" and model.importances is not None:
        return np.array(model.importances)
    return _mean(model, lambda omega: (np.atleast_2d(omega) ** 2).sum(axis=0) / (omega**2).sum())


def lambda_matrix(estimator: BaseEstimator) -> Floats:
    """Lambda, with (x - w)'Lambda (x - w) the model's squared distance; for local metrics the mean over prototypes.

    Diagonal for relevances, the identity for the Euclidean metric. `lambda_` of a model has each local matrix.

    Parameters
    ----------
    estimator : estimator
        Fitted model.

    Returns
    -------
    matrix : ndarray of shape (n_features, n_features)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LGMLVQ(random_state=0).fit(X, y)
    >>> lambda_matrix(model).shape, model.lambda_.shape
    ((4, 4), (3, 4, 4))
    """
    return mean_lambda(need_model(estimator, "lambda_matrix").model)


def mean_lambda(model: PrototypeModel) -> Floats:
    """Lambda of a model; the mean over the prototypes where they have local matrices."""
    return _mean(model, lambda omega: np.diag(omega**2) if omega.ndim == 1 else omega.T @ omega)


def _mean(model: PrototypeModel, of: Callable[[np.ndarray], np.ndarray]) -> Floats:
    """Mean over the prototypes of a function of their Omega; a vector is a diagonal matrix."""
    each = [of(model.matrix_of(int(first))) for first in np.flatnonzero(np.diff(model.group, prepend=-1))]
    return each[0] if len(each) == 1 else np.average(each, axis=0, weights=np.bincount(model.group))


# -- names -------------------------------------------------------------------------------------------------------------


def prototype_names(estimator: BaseEstimator) -> Names:
    """Name of each prototype: its class, with a number where the class has several prototypes.

    Parameters
    ----------
    estimator : estimator
        Fitted model.

    Returns
    -------
    names : ndarray of shape (n_prototypes,)

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(n_prototypes={"a": 2, "b": 1}).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> prototype_names(model).tolist()
    ['a, 1 of 2', 'a, 2 of 2', 'b']
    """
    model = need_model(estimator, "prototype_names").model
    counts = np.bincount(model.labels)[model.labels]
    number = np.arange(len(model.labels)) - np.searchsorted(model.labels, model.labels) + 1
    ends = [f", {k} of {count}" if count > 1 else "" for k, count in zip(number, counts)]
    return np.array([f"{model.classes[label]}{end}" for label, end in zip(model.labels, ends)])


def prototypes_in_units(estimator: BaseEstimator) -> Floats:
    """Prototypes in the units of the pipeline's input; see `lvq.inspection.columns` for the steps it can invert.

    Parameters
    ----------
    estimator : estimator
        Fitted model.

    Returns
    -------
    prototypes : ndarray of shape (n_prototypes, n_original_features)
        NaN for features that a selector has removed. `feature_names` with ``original=True`` names the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(init="means", max_iter=1, solver="online", random_state=0))
    >>> prototypes_in_units(model.fit(X, y))[:, 0].round()  # sepal length in cm
    array([5., 6., 7.])
    """
    found = need_model(estimator, "prototypes_in_units")
    return to_original_units(found, found.model.prototypes, "prototypes_in_units").values


def feature_names(estimator: BaseEstimator, *, original: bool = False) -> Names:
    """Names of the features.

    Parameters
    ----------
    estimator : estimator
        Fitted model.
    original : bool, default=False
        Whether to name the columns of `prototypes_in_units` instead of the features that reach the model.

    Returns
    -------
    names : ndarray of shape (n_features,)

    Examples
    --------
    >>> from lvq import GLVQ
    >>> feature_names(GLVQ().fit([[0.0, 1.0], [5.0, 2.0]], ["a", "b"])).tolist()
    ['feature 0', 'feature 1']
    """
    found = need_model(estimator, "feature_names")
    if original:
        return to_original_units(found, found.model.prototypes[:1], "feature_names").names
    return names_of_features(found)


# -- pixels and features with an order ---------------------------------------------------------------------------------


class PixelPlaces(NamedTuple):
    """Side of a square image, and the place of each feature in it, counted row by row."""

    side: int
    places: NDArray[np.intp]

    def whole(self, values: Floats, missing: float = 0.0) -> Floats:
        """Whole images of the features, with a given value for pixels that are not features."""
        images = np.full((len(values), self.side**2), missing)
        images[:, self.places] = values
        return images


def pixel_places(names: Iterable[str]) -> PixelPlaces | None:
    """Where the features are in a square image; None for features that are not the pixels of one.

    Pixels are features without names, features with "pixel" in their names, or features numbered by row and column.
    Other numbered features, such as the bands of a spectrum, are not. Up to half of the pixels may be missing from
    numbered features, for example because they are constant.

    Examples
    --------
    >>> pixel_places([f"pixel_{k // 8}_{k % 8}" for k in range(1, 64)]).places[:3].tolist()
    [1, 2, 3]
    >>> pixel_places([f"feature {k}" for k in range(64)]).side, pixel_places([f"band_{k}" for k in range(64)])
    (8, None)
    """
    names = list(names)
    forms = {re.sub(r"\d+", "#", name.lower()) for name in names}
    form = forms.pop() if len(forms) == 1 else ""
    if form in ("#", default_names(1)[0].replace("0", "#")):
        side, places = isqrt(len(names)), np.arange(len(names))
        return PixelPlaces(side, places) if side >= SMALLEST_SIDE and side**2 == len(names) else None
    pairs = form.count("#") == 2
    if not pairs and not (form.count("#") == 1 and ("pix" in form or "px" in form)):
        return None
    numbers = np.array([[int(number) for number in re.findall(r"\d+", name)] for name in names])
    if pairs:
        numbers -= 0 if (numbers == 0).any() else 1  # rows and columns are counted from 0 or from 1
        rows, columns = numbers.max(axis=0).tolist()
        side = max(rows, columns) + 1 if abs(rows - columns) <= 2 else 0
        places = numbers @ [side, 1]
    else:
        side = ceil(sqrt(numbers.max()))
        places = numbers[:, 0] - (1 if numbers.max() == side**2 else 0)  # counted from 1 where the last one shows it
    if side < SMALLEST_SIDE or 2 * len(names) < side**2 or len(np.unique(places)) < len(names):
        return None
    return PixelPlaces(side, places)


class OrderedAxis(NamedTuple):
    """The unit or prefix of features with an order, and the number of each."""

    title: str
    positions: list[float]


def ordered_axis(names: Sequence[str]) -> OrderedAxis | None:
    """The axis of features whose names are increasing or decreasing numbers; None for other names.

    Examples
    --------
    >>> tuple(ordered_axis(["850 nm", "852 nm", "854.5 nm"])), ordered_axis(["width", "height"])
    (('nm', [850.0, 852.0, 854.5]), None)
    """
    numbers = [NUMBER.findall(name) for name in names]
    forms = {NUMBER.sub("#", name) for name in names}
    if len(forms) != 1 or any(len(found) != 1 for found in numbers):
        return None
    positions = [float(found[0].replace(",", ".")) for found in numbers]
    steps = np.diff(positions)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None
    return OrderedAxis(forms.pop().replace("#", " ").strip(" _-.:") or "feature", positions)
