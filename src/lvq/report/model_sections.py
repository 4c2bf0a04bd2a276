"""The sections of the summary about the model: importances, prototypes, certified accuracy, training, folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.certify import certified_accuracy, certified_radius
from lvq.inspection.exemplars import exemplars
from lvq.inspection.importance import VariableImportances
from lvq.model.metrics import LocalMetric
from lvq.plots import group_names, lambda_matrix, prototype_names, relevance_profile
from lvq.plots.fitted_arrays import completed
from lvq.report.cross_validation import FoldResult, scaled_lambda
from lvq.report.features import Features, Floats, ranges
from lvq.report.formatting import rounded
from lvq.report.variables import Variables
from lvq.typing import JSONValue, Labels, MatrixLike

MAX_FEATURES = 20  # in charts and tables
MAX_MATRIX_FEATURES = 15  # in the heat map
TOP_FEATURES = 5  # the most relevant features of a fold
MAX_PROTOTYPES = 24
MAX_MATRICES = 12
N_RADII = 61
RANGE_SAMPLES = 200  # samples that determine the largest radius
MAX_HISTORY = 400  # points of the training history


def relevance_section(
    features: Features,
    folds: Sequence[FoldResult],
    variables: VariableImportances | None,
    intervals: VariableImportances | None = None,
) -> dict[str, JSONValue] | None:
    """Importances of the columns of X, the largest first, with those of each fold; None for a Euclidean metric."""
    if variables is None:
        return None
    matrix, profile, every = scaled_lambda(features.estimator), variables.importances, features.renamed(variables.names)
    # the folds may have been evaluated without the feature names given here
    folds = [_renamed(fold, features) for fold in folds if fold.relevances]
    order, own = (np.argsort(-part, kind="stable") for part in (profile, importances_of_model(features, variables)))
    top, rest = order[:MAX_FEATURES], order[MAX_FEATURES:]
    names = [every[k] for k in top]
    weights = [dict(zip(fold.features, fold.relevances)) for fold in folds]
    top_names = [sorted(of_fold, key=lambda name: -of_fold[name])[:TOP_FEATURES] for of_fold in weights]
    return {
        "n_features": len(profile),
        "features": names,
        "index": own[:MAX_FEATURES].tolist(),
        "values": profile[top].tolist(),
        "rest": float(profile[rest].sum()),
        "n_rest": len(rest),
        "intervals": None if intervals is None else _intervals(intervals, every, top),
        "folds": [[of_fold.get(name) for name in names] for of_fold in weights],
        "n_folds_in_top": [sum(name in of_fold for of_fold in top_names) for name in names] if folds else None,
        "n_model_features": features.model.n_features,
        "matrices": [] if matrix is None else _matrices(features, matrix, own[:MAX_MATRIX_FEATURES], folds),
    }


def importances_of_model(features: Features, variables: VariableImportances) -> Floats:
    """Importances of the model's own features: those of the columns where they are the same."""
    known = dict(zip(features.renamed(variables.names), variables.importances))
    if all(name in known for name in features.names):
        return np.array([known[name] for name in features.names])
    return relevance_profile(features.estimator)


def _renamed(fold: FoldResult, features: Features) -> FoldResult:
    names, inner = (tuple(features.renamed(part)) for part in (fold.features, fold.matrix_features))
    return replace(fold, features=names, matrix_features=inner)


def _intervals(intervals: VariableImportances, names: list[str], top: NDArray[np.intp]) -> dict[str, JSONValue]:
    """Intervals of the features that are shown, and the names of those that the intervals support as important."""
    return {
        "confidence": intervals.confidence,
        "n_resamples": len(intervals.resampled),
        "k": TOP_FEATURES,
        "beats_chance": intervals.beats_chance,
        "lower": intervals.lower[top].tolist(),
        "upper": intervals.upper[top].tolist(),
        "first_chance": intervals.first_chance(TOP_FEATURES)[top].tolist(),
        "n_important": int(intervals.important.sum()),
        "important": [names[k] for k in top if intervals.important[k]],
    }


def _matrices(
    features: Features, mean: np.ndarray, shown: NDArray[np.intp], folds: Sequence[FoldResult]
) -> list[dict[str, JSONValue]]:
    """Lambda divided by its trace for the most relevant features: the shared or mean one, then the local ones."""
    names, block = [features.names[k] for k in shown], np.ix_(shown, shown)
    local = lambda_matrix(features.estimator, per_matrix=True)
    is_local = isinstance(features.model.metric, LocalMetric)
    label = "mean over the prototypes" if is_local else "all prototypes"
    labelled = [(label, mean, _sign_agreement(names, mean[block], folds))]
    if is_local:
        labelled += [(name, one / np.trace(one), None) for name, one in zip(group_names(features.estimator), local)]
    return [
        {"label": str(name), "features": names, "values": rounded(matrix[block]), "sign_agreement": agreement}
        for name, matrix, agreement in labelled[: MAX_MATRICES + 1]
    ]


def _sign_agreement(names: list[str], values: np.ndarray, folds: Sequence[FoldResult]) -> list[list[float]] | None:
    """Fraction of the folds in which an entry has the same sign as here."""
    same = []
    for fold in folds:
        if fold.matrix is not None and set(names) <= set(fold.matrix_features):
            rows = [fold.matrix_features.index(name) for name in names]
            same.append(np.sign(fold.matrix[np.ix_(rows, rows)]) == np.sign(values))
    return np.mean(same, axis=0).round(3).tolist() if same else None


def prototype_section(
    features: Features,
    X: MatrixLike,
    inputs: Floats,
    winners: np.ndarray,
    relevance: dict[str, JSONValue] | None,
    variables: Variables | None = None,
) -> dict[str, JSONValue]:
    """Prototypes in the units of the data; of many those that win most samples. Inputs are the samples X."""
    W = features.model.prototypes
    n_won = np.bincount(winners, minlength=len(W))
    shown = np.sort(np.argsort(-n_won, kind="stable")[:MAX_PROTOTYPES])
    images, pixels = features.pixels(W[shown]), features.pixels(completed(features.model, inputs))
    return {
        "n_prototypes": len(W),
        "in_units": features.in_units,
        "index": shown.tolist(),
        "label": features.model.labels[shown].tolist(),
        "name": prototype_names(features.estimator)[shown].tolist(),
        "n_won": n_won[shown].tolist(),
        **(
            _feature_rows(features, X, inputs, shown, relevance)
            if variables is None
            else _variable_rows(variables, X, len(inputs), shown, relevance)
        ),
        "image_side": features.side,
        "images": None if images is None else rounded(images),
        "pixel_range": None if pixels is None else rounded([float(pixels.min()), float(pixels.max())]),
    }


def _feature_rows(
    features: Features, X: MatrixLike, inputs: Floats, shown: NDArray[np.intp], relevance: dict[str, JSONValue] | None
) -> dict[str, JSONValue]:
    """A row of the table for each feature of the model."""
    W = features.model.prototypes
    # without relevances the features in which the prototypes differ most
    index = np.array(relevance["index"]) if relevance else np.argsort(-np.var(W, axis=0), kind="stable")[:MAX_FEATURES]
    low, high = ranges(features.known_values(X, inputs)[:, index])
    return {
        "features": [features.names[k] for k in index],
        "n_features": len(features.names),
        "values": rounded(features.values(W[shown])[:, index]),
        "low": rounded(low),
        "high": rounded(high),
        "n_categories": None,
        "fractions": None,
        "notes": None,
        "details": None,
    }


def _variable_rows(
    variables: Variables, X: MatrixLike, n_samples: int, shown: NDArray[np.intp], relevance: dict[str, JSONValue] | None
) -> dict[str, JSONValue]:
    """A row of the table for each column of the data: a number, or a category with its fraction."""
    (low, high, counts), table = variables.ranges(X, n_samples), variables.prototypes
    if relevance:
        index = [variables.names.index(name) for name in relevance["features"] if name in variables.names]
    else:
        index = np.argsort(-variables.spread(low, high), kind="stable")[:MAX_FEATURES].tolist()
    parts = ("values", "fractions", "notes", "details")
    rows = {name: [[getattr(table, name)[row][k] for k in index] for row in shown] for name in parts}
    return {
        "features": [variables.names[k] for k in index],
        "n_features": len(variables.names),
        **{name: rounded(part) for name, part in rows.items()},
        "low": [low[k] for k in index],
        "high": [high[k] for k in index],
        "n_categories": [counts[k] for k in index],
    }


def exemplar_names(
    model: BaseEstimator, X: MatrixLike, y: Labels, k: int, shown: list[int], first_row: int
) -> list[list[str]] | None:
    """Names of the nearest samples of the prototypes that are shown, of their class where all classes have samples."""
    if k == 0:
        return None
    labels = np.asarray(need_model(model, "the report").model.classes)
    counts = [int(np.count_nonzero(np.asarray(y) == label)) for label in labels]
    found = exemplars(model, X, min(k, *counts), y) if min(counts) else exemplars(model, X, min(k, len(y)))
    return [
        [str(name + first_row if isinstance(name, int) else name) for name in found.names[prototype]]
        for prototype in shown
    ]


def certified_section(features: Features, inputs: Floats, y: np.ndarray, priced: bool = False) -> dict[str, JSONValue]:
    """Certified accuracy by radius, or why it is not available. Lengths are those of the model's input."""
    if priced:
        return {
            "unavailable": "a certificate is about the class of the nearest prototype, and with prices the class with "
            "the least expected price is predicted."
        }
    with warnings.catch_warnings():  # the inputs are arrays, also of a model that was fitted to a table
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return _certified(features, inputs, y)


def _certified(features: Features, inputs: Floats, y: np.ndarray) -> dict[str, JSONValue]:
    known = ~np.isnan(inputs).any(axis=1)  # a radius is a change of all values
    if not known.any():
        return {"unavailable": "a certificate needs a sample without missing values, and each of these has some."}
    inputs, y = inputs[known], y[known]
    try:
        found = certified_radius(features.estimator, inputs[:RANGE_SAMPLES])
    except ValueError as error:
        return {"unavailable": str(error)}
    largest = float(found[np.isfinite(found)].max(initial=0.0))
    radii = rounded(np.linspace(0, 1.05 * largest if largest > 0 else 1.0, N_RADII))
    return {
        "norm": 2,
        "steps": [type(step).__name__ for step in features.steps],
        "n_samples": len(y),
        "radii": radii,
        "accuracy": certified_accuracy(features.estimator, inputs, y, radii).tolist(),
    }


def history_section(estimator: BaseEstimator) -> dict[str, JSONValue]:
    """The objective after each iteration of the training."""
    values = np.asarray(getattr(estimator, "objective_history_", ()), dtype=np.float64)
    kept = np.unique(np.linspace(0, len(values) - 1, min(MAX_HISTORY, len(values))).astype(np.intp))
    return {
        "n_iter": int(getattr(estimator, "n_iter_", 0)),
        "iteration": (kept + 1).tolist(),
        "objective": rounded(values[kept]),
    }


def fold_section(folds: Sequence[FoldResult]) -> dict[str, JSONValue] | None:
    """Accuracies of all folds, with mean and standard deviation."""
    if not folds:
        return None
    names = ("accuracy", "n_samples", "coverage", "accepted_accuracy")
    columns = {name: [getattr(fold, name) for fold in folds] for name in names}
    deviation = float(np.std(columns["accuracy"], ddof=1)) if len(folds) > 1 else None
    return columns | {"mean": float(np.mean(columns["accuracy"])), "standard_deviation": deviation}
