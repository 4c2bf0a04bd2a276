"""What the report shows of the model itself: relevances, matrices, prototypes, certified accuracy, training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lvq.plots import group_names, lambda_matrix, prototype_names
from lvq.report.features import Features
from lvq.report.folds import FoldResult, relevances_of
from lvq.report.plain import short
from lvq.robustness import certified_accuracy, certified_radius

TOP = 20  # features in profiles and tables
HEAT = 15  # features in the heat map
TOP_OF_FOLD = 5  # what counts as being among the most relevant of a fold
MOST_PROTOTYPES = 24
MOST_MATRICES = 12
RADII = 61
PROBE = 200  # samples that tell how far the radii should go
LONGEST = 400  # points of the training history


def relevance_part(features: Features, folds: Sequence[FoldResult]) -> dict[str, Any] | None:
    """Weights of the features, the most relevant first, with what every fold says; None for a plain metric."""
    # folds may have been made without the names given here
    folds = [replace(fold, features=tuple(features.renamed(fold.features))) for fold in folds]
    profile, _ = relevances_of(features.found.estimator)
    if profile is None:
        return None
    order = np.argsort(-profile, kind="stable")
    top, rest = order[:TOP], order[TOP:]
    by_fold = _by_fold([features.names[k] for k in top], folds)
    return {
        "n_features": len(profile),
        "features": [features.names[k] for k in top],
        "index": top.tolist(),
        "values": profile[top].tolist(),
        "rest": float(profile[rest].sum()),
        "n_rest": len(rest),
        "folds": by_fold,
        "in_top": [sum(bool(top_of) and name in top_of for top_of in _tops(folds)) for name in
                   (features.names[k] for k in top)] if by_fold else None,
        "matrices": _matrices(features, order[:HEAT], folds),
    }  # fmt: skip


def _by_fold(names: list[str], folds: Sequence[FoldResult]) -> list[list[float | None]]:
    """One list a fold: the weight of each named feature there; None where the fold knows no such feature."""
    known = [dict(zip(fold.features, fold.relevances)) for fold in folds if len(fold.relevances)]
    return [[weights.get(name) for name in names] for weights in known]


def _tops(folds: Sequence[FoldResult]) -> list[set[str]]:
    """The most relevant features of each fold."""
    return [
        {fold.features[k] for k in np.argsort(-np.asarray(fold.relevances), kind="stable")[:TOP_OF_FOLD]}
        for fold in folds
        if len(fold.relevances)
    ]


def _matrices(features: Features, shown: Any, folds: Sequence[FoldResult]) -> list[dict[str, Any]]:
    """Lambda over its trace for the most relevant features: the common or mean one, then the local ones."""
    model = features.found.estimator
    R = model._params.relevance
    if R is None or R.ndim == 1:
        return []
    whole = lambda_matrix(model)
    names = [features.names[k] for k in shown]
    local = lambda_matrix(model, per_matrix=True)
    first = {
        "label": "mean over the prototypes" if R.ndim == 3 else "all prototypes",
        "features": names,
        "values": short(_of_trace(whole, shown)),
        "agreement": _agreement(names, _of_trace(whole, shown), folds),
    }
    others = zip(group_names(model).tolist(), local) if R.ndim == 3 else ()
    return [first, *({"label": name, "features": names, "values": short(_of_trace(one, shown)), "agreement": None}
                     for name, one in list(others)[:MOST_MATRICES])]  # fmt: skip


def _of_trace(matrix: Any, shown: Any) -> Any:
    return matrix[np.ix_(shown, shown)] / np.trace(matrix)


def _agreement(names: list[str], values: Any, folds: Sequence[FoldResult]) -> list[list[float]] | None:
    """Share of the folds in which an entry has the sign it has here."""
    agreeing = []
    for fold in folds:
        if fold.relations is not None and set(names) <= set(fold.features):
            rows = [fold.features.index(name) for name in names]
            agreeing.append(np.sign(fold.relations[np.ix_(rows, rows)]) == np.sign(values))
    return np.mean(agreeing, axis=0).round(3).tolist() if agreeing else None


def prototype_part(features: Features, inputs: Any, winners: Any, relevance: dict[str, Any] | None) -> dict[str, Any]:
    """Prototypes in the units of the data, those that win most samples first among each class's."""
    model = features.found.estimator
    W = model._params.prototypes
    won = np.bincount(winners, minlength=len(W))
    shown = np.sort(np.argsort(-won, kind="stable")[:MOST_PROTOTYPES])
    index = np.array(relevance["index"]) if relevance else _telling(W)
    values, samples = features.values(W[shown])[:, index], features.values(inputs)[:, index]
    pictures = features.pixels(W[shown])
    low, high = np.quantile(samples, [0.01, 0.99], axis=0)
    return {
        "n_prototypes": len(W),
        "in_units": features.in_units,
        "index": shown.tolist(),
        "label": model._labels[shown].tolist(),
        "name": prototype_names(model)[shown].tolist(),
        "won": won[shown].tolist(),
        "features": [features.names[k] for k in index],
        "n_features": len(features.names),
        "values": short(values),
        "low": short(low),
        "high": short(high),
        "side": features.side,
        "pictures": None if pictures is None else short(pictures),
        "pixel_range": None if pictures is None else _span(features.pixels(inputs)),
    }


def _span(pixels: Any) -> list[float]:
    """The darkest and the brightest pixel of all samples, so that all pictures have one scale."""
    return short([float(pixels.min()), float(pixels.max())])


def _telling(W: Any) -> Any:
    """Without relevances the features in which the prototypes differ most, as the model sees them."""
    return np.argsort(-np.var(W, axis=0), kind="stable")[:TOP]


def certified_part(features: Features, inputs: Any, y: Any) -> dict[str, Any]:
    """Share of samples that stay right whatever change smaller than a radius they suffer, or why that is unknown.

    Changes are measured where the model measures, behind the scalers: a step of 1 is one standard deviation there.
    """
    model, steps = features.found
    try:
        reach = certified_radius(model, inputs[:PROBE])
    except ValueError as error:
        return {"absent": str(error)}
    finite = reach[np.isfinite(reach)]
    farthest = 1.05 * float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    radii = short(np.linspace(0, farthest, RADII))
    return {
        "norm": 2,
        "scaled_by": [type(step).__name__ for step in steps],
        "n_samples": len(y),
        "radii": radii,
        "accuracy": certified_accuracy(model, inputs, y, radii).tolist(),
    }


def history_part(model: Any) -> dict[str, Any]:
    """The mean cost after every round of training."""
    values = np.asarray(getattr(model, "objective_history_", ()), dtype=np.float64)
    kept = np.unique(np.linspace(0, len(values) - 1, min(LONGEST, len(values))).astype(np.intp))
    return {
        "n_iter": int(getattr(model, "n_iter_", 0)),
        "round": (kept + 1).tolist(),
        "values": short(values[kept]),
    }


def folds_part(folds: Sequence[FoldResult]) -> dict[str, Any] | None:
    """Accuracies of all folds, with mean and standard deviation."""
    if not folds:
        return None
    accuracy = np.array([fold.accuracy for fold in folds])
    return {
        "accuracy": accuracy.tolist(),
        "n_samples": [fold.n_samples for fold in folds],
        "coverage": [fold.coverage for fold in folds],
        "accepted_accuracy": [fold.accepted_accuracy for fold in folds],
        "mean": float(accuracy.mean()),
        "standard_deviation": float(accuracy.std(ddof=1)) if len(accuracy) > 1 else None,
    }
