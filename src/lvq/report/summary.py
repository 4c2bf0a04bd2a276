"""Everything the report says, as one plain dictionary: what `metrics.json` holds and `render` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.plots.models import prototype_names, reject_classifier
from lvq.rejection.measures import Predictions
from lvq.report import card, insides, samples
from lvq.report.features import Features
from lvq.report.folds import FoldResult
from lvq.report.plain import FORMAT, label_texts, plain
from lvq.report.slider import positions_of, sweep


def summarize(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    name: str = "model",
    data_name: str = "data",
    target_name: str | None = None,
    feature_names: Sequence[str] | None = None,
    folds: Sequence[FoldResult] | None = None,
    seed: int | None = None,
    protocol: str | None = None,
    max_points: int = 2000,
) -> dict[str, Any]:
    """What there is to say about a fitted model and samples it has not seen, in JSON's own types.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, a Pipeline that ends in one, or a `RejectClassifier` around either.
    X : array-like of shape (n_samples, n_features)
        Held-out samples, as the model takes them. Those of a table with an index are called by it, others by number.
    y : array-like of shape (n_samples,)
        Their classes.
    X_train, y_train : array-like, optional
        What the model was fitted to, to count it and to show its accuracy there.
    name, data_name, target_name : str
        What model, data and classes are called.
    feature_names : sequence of str, optional
        Names of the columns of X, where X has none itself.
    folds : sequence of FoldResult, optional
        From `cross_validate`: how much the results change with the samples.
    seed : int, optional
        The seed behind split and model, to be told.
    protocol : str, optional
        How data were split and prepared, in a sentence or two.
    max_points : int, default=2000
        Most samples on the map, drawn by class; all counts are of all samples.

    Returns
    -------
    summary : dict
        For `render`, `write` and `json.dump`; NaN and infinities are None. Its keys are told in ``docs/report.md``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.report import summarize
    >>> X, y = load_iris(return_X_y=True)
    >>> summary = summarize(GMLVQ(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2], data_name="iris")
    >>> summary["scores"]["n_samples"], summary["data"]["classes"]
    (75, ['0', '1', '2'])
    """
    X, y = indexable(X, column_or_1d(y))
    if not len(y):
        raise ValueError("summarize needs held-out samples, got none; give X and y of at least one sample.")
    if max_points < 1:
        raise ValueError(f"max_points of summarize must be 1 or more, got {max_points!r}.")
    features = Features(model, feature_names)
    inner, reject = features.found.model, reject_classifier(model)
    predicted = np.asarray(model.predict(X))
    labels = _all_labels(inner.classes_, y)
    codes = _codes(labels, y), _codes(labels, predicted)
    found = sweep(model, X)
    rows = samples.stratified(codes[0], max_points)
    X_rows = _safe_indexing(X, rows)
    inputs = features.inputs(X_rows)
    winners = Predictions(inner, features.inputs(X)).winner
    relevance = insides.relevance_part(features, folds or ())
    summary = {
        "format": FORMAT,
        "name": name,
        "data": {
            "name": data_name,
            "target": target_name,
            "n_columns": _n_columns(X),
            "n_samples": len(y),
            "indexed": _index(X) is not None,
            "features": features.names,
            "classes": label_texts(labels),
            "class_counts": np.bincount(codes[0], minlength=len(labels)),
            "n_train": None if X_train is None else len(indexable(X_train)[0]),
            "train_counts": None if y_train is None else _counts(labels, y_train),
        },
        "protocol": protocol,
        "seed": seed,
        "versions": card.versions(),
        "model": card.model_part(features.found, reject),
        "scores": {
            **card.scores(y, predicted, found.accepted[found.chosen], reject is not None),
            "train_accuracy": _train_accuracy(model, X_train, y_train),
        },
        "rejection": positions_of(found, y, predicted, labels),
        "map": samples.map_part(model, X_rows, inputs, rows, codes, found, features),
        "relevance": relevance,
        "prototypes": insides.prototype_part(features, inputs, winners, relevance),
        "explanations": samples.explanations(
            X, _safe_indexing, codes, found, features, prototype_names(inner).tolist()
        ),
        "certified": insides.certified_part(features, inputs, y[rows]),
        "history": insides.history_part(inner),
        "folds": insides.folds_part(folds or ()),
    }
    _name_samples(summary, _index(X))
    summary["limits"] = card.limits(plain(summary))
    return plain(summary)


def _all_labels(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """The model's classes, and behind them those of the samples that it has never met."""
    strange = np.setdiff1d(y, classes)
    return np.concatenate([classes, strange]) if len(strange) else classes


def _codes(labels: NDArray[Any], values: NDArray[Any]) -> NDArray[np.intp]:
    place = {label: index for index, label in enumerate(labels.tolist())}
    return np.array([place[value] for value in values.tolist()], dtype=np.intp)


def _counts(labels: NDArray[Any], y: Any) -> list[int]:
    values, counts = np.unique(column_or_1d(y), return_counts=True)
    known = dict(zip(values.tolist(), counts.tolist()))
    return [known.get(label, 0) for label in labels.tolist()]


def _n_columns(X: Any) -> int:
    return int(X.shape[1]) if hasattr(X, "shape") else len(X[0])


def _index(X: Any) -> list[Any] | None:
    """What a table calls its rows; None where it has no names for them."""
    index: Any = getattr(X, "index", None)  # of a list it is a method
    return list(index) if hasattr(index, "tolist") else None


def _name_samples(summary: dict[str, Any], index: list[Any] | None) -> None:
    """Call samples on the map and in the explanations as their table does, so that they can be found there."""

    def named(place: int) -> int | str:
        name = place if index is None else index[place]
        return name if isinstance(name, int) else str(name)

    points, explained = summary["map"]["points"], summary["explanations"]
    points["name"] = [named(place) for place in points["index"]]
    for told in (*explained["wrong"], *explained["unsure"]):
        told["name"] = named(told["sample"])


def _train_accuracy(model: Any, X_train: Any, y_train: Any) -> float | None:
    if X_train is None or y_train is None:
        return None
    return float(np.mean(np.asarray(model.predict(X_train)) == column_or_1d(y_train)))
