"""Arguments that several displays take: their descriptions, each written once, and their checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators.parameters import entry
from lvq.inspection.steps import Names
from lvq.plots.fitted_arrays import feature_names, group_names
from lvq.typing import Labels

Function = TypeVar("Function", bound=Callable[..., object])

PARAMETERS: dict[str, tuple[str, str]] = {
    "estimator": (
        "estimator",
        "A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a `RejectClassifier`.",
    ),
    "X": ("array-like of shape (n_samples, n_features)", "Samples, preferably not used in training."),
    "y": ("array-like of shape (n_samples,)", "True classes of the samples."),
    "y_true": ("array-like of shape (n_samples,)", "True classes."),
    "y_pred": ("array-like of shape (n_samples,)", "Predicted classes."),
    "cv_results": (
        "dict",
        "Result of `sklearn.model_selection.cross_validate` with ``return_estimator=True, return_indices=True``.",
    ),
    "group": (
        "int or str, optional",
        "Index or name of one local matrix, see `lvq.plots.group_names`; by default the mean over the prototypes.",
    ),
    "measure": (
        "str or callable, optional",
        "Measure of certainty, see `lvq.rejection.certainty`; by default that of the `RejectClassifier`, or 'auto' for "
        "other classifiers.",
    ),
    "norm": ("{1, 2, inf}", "Norm in which the size of a change is measured."),
    "class_names": (
        "sequence of str, optional",
        "Names of the classes, in the order of ``classes_``; by default the classes themselves.",
    ),
    "feature_names": (
        "sequence of str, optional",
        "Names of the features; by default those that the estimator was fitted with.",
    ),
    "name": ("str, optional", "Name in the legend; by default the class of the estimator."),
    "ax": ("matplotlib Axes, optional", "Axes to draw on; by default those of a new figure."),
    "colorbar": ("bool", "Whether to draw the colour scale."),
    "bar_kwargs": ("dict, optional", "Keyword arguments for matplotlib's `barh`."),
    "curve_kwargs": ("dict, optional", "Keyword arguments for matplotlib's `plot`."),
    "image_kwargs": ("dict, optional", "Keyword arguments for matplotlib's `imshow`."),
    "line_kwargs": ("dict, optional", "Keyword arguments for matplotlib's `plot`."),
    "scatter_kwargs": ("dict, optional", "Keyword arguments for matplotlib's `scatter` of the samples."),
    "plot_kwargs": ("dict", "Keyword arguments for `plot`."),
}


def described(method: Function) -> Function:
    """Replace each ``{name}`` in the docstring of a method by the entry of that parameter in `PARAMETERS`."""
    text = inspect.cleandoc(method.__doc__ or "")
    for name, parameter in inspect.signature(method).parameters.items():
        if f"{{{name}}}" in text:
            stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
            full = entry(f"{stars}{name}", *PARAMETERS[name], parameter.default)
            text = text.replace(f"{{{name}}}", full)
    method.__doc__ = text
    return method


def class_indices(caller: str, X: ArrayLike, y: ArrayLike, classes: Labels) -> NDArray[np.intp]:
    """Index of the class of each sample; ValueError for classes that the model does not have."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y of {caller} contains {unknown[:5].tolist()}, not among the model's classes {classes.tolist()}."
        )
    return np.searchsorted(classes, y)


def given_or_own(caller: str, parameter: str, given: Sequence[object] | Labels | None, own: Labels) -> Labels:
    """The names given for classes or features, if there is one for each, else the model's own."""
    if given is not None and len(given) != len(own):
        raise ValueError(
            f"{parameter} of {caller} must have one name for each of the {len(own)} "
            f"{'classes' if parameter == 'class_names' else 'features'}, got {len(given)}."
        )
    return own if given is None else np.asarray(given, dtype=np.str_)


def check_names(
    caller: str, estimator: BaseEstimator, given: Sequence[str] | Names | None, *, original: bool = False
) -> list[str]:
    """Names of the features: those given, or those of the model."""
    return given_or_own(caller, "feature_names", given, feature_names(estimator, original=original)).tolist()


def check_max_features(caller: str, max_features: int | None) -> None:
    """ValueError unless there is at least one feature to draw."""
    if max_features is not None and max_features < 1:
        raise ValueError(f"max_features of {caller} must be 1 or more, or None, got {max_features!r}.")


def check_kind(caller: str, kind: str, kinds: Sequence[str]) -> None:
    """ValueError unless `kind` is one of the kinds that a display can draw."""
    if kind not in kinds:
        raise ValueError(f"kind of {caller} must be one of {', '.join(kinds)}, got {kind!r}.")


def group_index(caller: str, estimator: BaseEstimator, group: int | str) -> int:
    """Index of a local matrix, from its index or its name."""
    names = group_names(estimator).tolist()
    if names == [""]:
        raise ValueError(
            f"group of {caller} selects one of several local matrices, but {type(estimator).__name__} has one metric "
            "for all prototypes; leave it None."
        )
    if isinstance(group, str) and group in names:
        return names.index(group)
    if isinstance(group, int | np.integer) and -len(names) <= group < len(names):
        return int(group) % len(names)
    raise ValueError(
        f"group of {caller} must be an index from 0 to {len(names) - 1} or one of {names[:10]}"
        f"{', ...' if len(names) > 10 else ''}, got {group!r}."
    )
