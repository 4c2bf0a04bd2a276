"""The fitted model inside an estimator, and what it has learned, as arrays: relevances, matrices, prototypes, names.

Every function takes a model of this library, a Pipeline that ends in one, a search over one, or a `RejectClassifier`
around any of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ
from lvq.estimators.tensors import as_numpy
from lvq.estimators.validation import check_samples
from lvq.model.metrics import Diagonal, Euclidean, LocalMatrix, Matrix
from lvq.plots.units import Names, back_in_units, names_along, numbered
from lvq.rejection.classifier import RejectClassifier
from lvq.robustness import Floats, Found, find_model


def estimator_name(estimator: Any) -> str:
    """What to call an estimator in a legend: its class, or that of the last step of a Pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return type(estimator).__name__


def found_in(estimator: Any, purpose: str = "a view") -> Found:
    """The fitted model and the steps in front of it, or a sentence that says what is missing."""
    found = find_model(estimator)
    if found is None:
        raise ValueError(
            f"{purpose} needs a model of this library, a Pipeline that ends in one, or a RejectClassifier around "
            f"either, got {type(estimator).__name__}."
        )
    check_is_fitted(found.model)
    if not isinstance(found.model._metric, Euclidean | Diagonal | Matrix | LocalMatrix):
        raise ValueError(f"{purpose} does not know the metric {found.model._metric!r}; use one of lvq.model.metrics.")
    return found


def parts(model: Any) -> tuple[Any, BaseLVQ]:
    """What samples pass through, as one transformer (None where there is nothing), and the model they reach.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> transformer, inner = parts(make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y))
    >>> type(transformer).__name__, type(inner).__name__
    ('Pipeline', 'GLVQ')
    """
    found = found_in(model)
    return (make_pipeline(*found.steps) if found.steps else None), found.model


def reject_classifier(estimator: Any) -> RejectClassifier | None:
    """The RejectClassifier that decides which answers are used, if one does."""
    while not isinstance(estimator, RejectClassifier):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return None
    return estimator


def model_inputs(found: Found, X: Any) -> Floats:
    """Samples as they reach the model."""
    inputs = found.inputs(as_numpy(X))
    return check_samples(found.model, as_numpy(inputs)).astype(np.float64, copy=False)


def relevance_profile(model: Any) -> Floats:
    """How much each of the model's own features counts in its distances; sums to one.

    The relevances, or the diagonal of Lambda; all alike for a plain metric; for local matrices one row for each, in the
    order of `cell_names`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GRLVQ(random_state=0).fit(X, y)
    >>> bool(abs(relevance_profile(model) - model.relevances_).max() < 1e-6)
    True
    """
    inner = found_in(model, "relevance_profile").model
    R = inner._params.relevance
    if isinstance(inner._metric, Euclidean) or R is None:
        return np.full(inner.n_features_in_, 1 / inner.n_features_in_)
    R = R.astype(np.float64)
    profile = R if R.ndim == 1 else (R * R).sum(axis=-2)
    return profile / profile.sum(axis=-1, keepdims=True)


def relation_matrix(model: Any) -> Floats:
    """Lambda, with (x - w)'Lambda (x - w) the model's distance; one for each cell where the matrices are local.

    Diagonal for relevances, the identity for a plain metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> relation_matrix(LGMLVQ(random_state=0).fit(X, y)).shape
    (3, 4, 4)
    """
    inner = found_in(model, "relation_matrix").model
    R = inner._params.relevance
    if isinstance(inner._metric, Euclidean) or R is None:
        return np.eye(inner.n_features_in_)
    R = R.astype(np.float64)
    return np.diag(R) if R.ndim == 1 else np.swapaxes(R, -1, -2) @ R


def mean_matrix(model: BaseLVQ) -> Floats:
    """Lambda, or the mean over the prototypes where they have matrices of their own."""
    matrices = relation_matrix(model)
    if matrices.ndim == 2:
        return matrices
    return np.average(matrices, axis=0, weights=np.diff(model._metric.groups))


def cell_names(model: Any, class_names: Any = None) -> Names:
    """What each local matrix belongs to: a class, or a prototype with its class; one empty name for a shared metric.

    `class_names` may stand in for the classes, in their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> cell_names(LGMLVQ(random_state=0).fit(X, y)).tolist()
    ['0', '1', '2']
    """
    inner = found_in(model, "cell_names").model
    if not isinstance(inner._metric, LocalMatrix):
        return np.array([""])
    labels = cell_classes(inner)
    if len(set(labels.tolist())) == len(labels):
        return np.array([str((inner.classes_ if class_names is None else class_names)[label]) for label in labels])
    return prototype_names(inner, class_names)


def cell_classes(model: Any) -> NDArray[np.intp]:
    """Class index of each local matrix."""
    inner = found_in(model, "cell_classes").model
    return inner._labels[list(inner._metric.groups[:-1])]


def prototype_names(model: Any, class_names: Any = None) -> Names:
    """Each prototype's class, or the name given for it, with its number where the class has several.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(n_prototypes={"a": 2, "b": 1}).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> prototype_names(model).tolist()
    ['a, 1 of 2', 'a, 2 of 2', 'b']
    """
    inner = found_in(model, "prototype_names").model
    names = []
    for index, label in enumerate(inner._labels):
        same = np.flatnonzero(inner._labels == label)
        which = "" if len(same) == 1 else f", {index - same[0] + 1} of {len(same)}"
        names.append(f"{(inner.classes_ if class_names is None else class_names)[label]}{which}")
    return np.array(names)


def prototypes_in_units(model: Any) -> Floats:
    """Prototypes in the units of the pipeline's input, (n_prototypes, n_original); see `units.py` for what is undone.

    NaN for features that a selector has left out. The columns are called `feature_names(model, original=True)`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(init="means", max_iter=1, solver="online", random_state=0))
    >>> prototypes_in_units(model.fit(X, y))[:, 0].round()  # sepals, in cm
    array([5., 6., 7.])
    """
    found = found_in(model, "prototypes_in_units")
    return back_in_units(found, found.model._params.prototypes, "prototypes_in_units").values


def feature_names(model: Any, *, original: bool = False) -> Names:
    """Names of the model's own features; with `original` those of the columns of `prototypes_in_units`.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> feature_names(GLVQ().fit([[0.0, 1.0], [5.0, 2.0]], ["a", "b"])).tolist()
    ['feature 0', 'feature 1']
    """
    found = found_in(model, "feature_names")
    if original:
        return back_in_units(found, found.model._params.prototypes[:1], "feature_names").names
    return names_along(found)[-1]


def square_side(n_features: int) -> int | None:
    """The side of the square whose pixels the features may be; None where they are too few or make no square.

    Fewer than 64 features are measurements more often than pictures.

    Examples
    --------
    >>> square_side(784), square_side(64), square_side(36), square_side(30)
    (28, 8, None, None)
    """
    side = int(np.sqrt(n_features) + 0.5)
    return side if side >= 8 and side * side == n_features else None


def image_side(names: Iterable[str]) -> int | None:
    """`square_side`, but None where the names tell that the features are something else than pixels.

    Pixels are features without names, called pixels, or numbered by row and column. Other numbered features, such as
    the bands of a spectrum, make no picture however many they are.

    Examples
    --------
    >>> image_side([f"pixel_{k}" for k in range(64)]), image_side([f"band_{k}" for k in range(64)])
    (8, None)
    """
    names = list(names)
    bare = {re.sub(r"\d+", "#", name.lower()) for name in names}
    if len(bare) != 1:
        return None
    (form,) = bare
    unnamed = form in ("#", numbered(1)[0].replace("0", "#"))
    return square_side(len(names)) if unnamed or "pix" in form or "px" in form or form.count("#") == 2 else None
