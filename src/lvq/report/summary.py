"""Everything the report shows as one dictionary: the content of `metrics.json` and the input of `render`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.estimators.found import find_layer
from lvq.importances import variable_importances
from lvq.rejection import RejectClassifier
from lvq.rejection.costs import CostClassifier
from lvq.report import model_card, model_sections
from lvq.report.class_order import in_natural_order
from lvq.report.cross_validation import FoldResult
from lvq.report.decisions import metrics_section
from lvq.report.features import Features, Floats
from lvq.report.formatting import SUMMARY_FORMAT, label_texts, to_json
from lvq.report.model_sections import importances_of_model
from lvq.report.operating_points import operating_points, rejection_section
from lvq.report.ordered_features import curve_section
from lvq.report.probabilities import probability_section
from lvq.report.prototype_ranges import outside_section
from lvq.report.sample_sections import HeldOut, explanation_section, map_section, stratified
from lvq.report.variables import variables_of
from lvq.resampled_importances import RelevanceIntervals
from lvq.typing import JSONValue, Labels, MatrixLike


def summarize(
    model: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    *,
    X_train: MatrixLike | None = None,
    y_train: ArrayLike | None = None,
    name: str = "model",
    data_name: str = "data",
    target_name: str | None = None,
    feature_names: Sequence[str] | None = None,
    folds: Sequence[FoldResult] | None = None,
    intervals: RelevanceIntervals | None = None,
    seed: int | None = None,
    protocol: str | None = None,
    max_points: int = 2000,
    exemplars: int = 0,
    first_row: int = 0,
) -> dict[str, JSONValue]:
    """A fitted model and its results on held-out samples, in JSON types.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or in a Pipeline, a search or a `RejectClassifier`.
    X : array-like of shape (n_samples, n_features)
        Held-out samples. Samples of a table with an index are named by it, others by their row number.
    y : array-like of shape (n_samples,)
        Their classes.
    X_train, y_train : array-like, optional
        The training samples, for their number, the training accuracy and the importances of the columns, which are
        computed from X otherwise.
    name, data_name, target_name : str
        Names of model, data and target.
    feature_names : sequence of str, optional
        Names of the columns of X, where X has none.
    folds : sequence of FoldResult, optional
        From `evaluate_folds`: how much the results depend on the training samples.
    intervals : RelevanceIntervals, optional
        From `lvq.relevance_intervals`: which features are named as important.
    seed : int, optional
        The seed of split and model, shown in the model card.
    protocol : str, optional
        A description of how the data were split and prepared.
    max_points : int, default=2000
        Maximal number of samples on the map, a stratified selection; all counts are of all samples.
    exemplars : int, default=0
        Number of real samples, of the training samples where these are given, that are named beside each prototype as
        the nearest of its class. None by default: where samples are patients, the page would name those that are
        typical of a diagnosis, and pages are passed on more easily than data.
    first_row : int, default=0
        Number of the first row, which is added to row numbers: with 2 they are those of a spreadsheet whose header is
        row 1. Other names of an index stay.

    Returns
    -------
    summary : dict
        For `render`, `write` and `json.dump`; NaN and infinite values are None. ``docs/report.md`` lists its keys.

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
    X, given = indexable(X, column_or_1d(y))
    if not len(given):
        raise ValueError("summarize needs held-out samples, got none; give X and y of at least one sample.")
    if max_points < 1:
        raise ValueError(f"max_points of summarize must be 1 or more, got {max_points!r}.")
    if not isinstance(exemplars, int) or exemplars < 0:
        raise ValueError(f"exemplars of summarize must be a whole number of at least 0, got {exemplars!r}.")
    features, points = Features(model, feature_names), operating_points(model, X)
    labels, codes, predicted = _codes(features.model.classes, given, np.asarray(model.predict(X)))
    named = variables_of(features, model, _safe_indexing(X, [0]))
    priced = find_layer(model, CostClassifier) is not None
    held_out = HeldOut(X, codes, predicted, points, features, named, priced)
    reject = find_layer(model, RejectClassifier)
    variables = None
    if features.model.relevance is not None:
        variables = variable_importances(model, X if X_train is None else X_train)
    relevance = model_sections.relevance_section(features, folds or (), variables, intervals)
    trained = Counter([] if y_train is None else column_or_1d(y_train).tolist())
    rows = stratified(codes, max_points)  # on the map, and for what is computed on a selection
    X_rows = _safe_indexing(X, rows)
    inputs = features.inputs(X_rows)
    winners = _winners(features, features.inputs(X), predicted if priced else None)
    prototypes = model_sections.prototype_section(features, X_rows, inputs, winners, relevance, named)
    seen = features.inputs(X if X_train is None else X_train)
    prototypes["outside"] = outside_section(features, seen, named)
    summary = {
        "format": SUMMARY_FORMAT,
        "name": name,
        "data": {
            "name": data_name,
            "target": target_name,
            "features": features.names,
            "variables": features.names if named is None else named.names,
            "n_columns": int(X.shape[1]) if hasattr(X, "shape") else len(X[0]),
            "n_samples": len(codes),
            "has_index": _index(X) is not None,
            "first_row": first_row,
            "classes": label_texts(labels),
            "class_counts": np.bincount(codes, minlength=len(labels)),
            "n_train": None if X_train is None else len(indexable(X_train)[0]),
            "train_counts": None if y_train is None else [trained[label] for label in labels.tolist()],
        },
        "protocol": protocol,
        "seed": seed,
        "versions": model_card.versions(),
        "model": model_card.model_section(features, reject),
        "scores": {
            **model_card.score_section(codes, predicted, points.accepted[points.fitted], reject is not None),
            "train_accuracy": _train_accuracy(model, X_train, y_train),
        },
        "metrics": metrics_section(model, X, codes, predicted, len(labels)),
        "rejection": rejection_section(points, codes, predicted, len(labels)),
        "relevance": relevance,
        "curves": curve_section(
            features, X_rows, inputs, None if variables is None else importances_of_model(features, variables)
        ),
        "map": map_section(model, held_out, rows, X_rows, inputs),
        "prototypes": prototypes,
        "probabilities": probability_section(model, X, codes),
        "certified": model_sections.certified_section(features, inputs, given[rows], priced),
        "explanations": explanation_section(model, held_out),
        "history": model_sections.history_section(features.estimator),
        "folds": model_sections.fold_section(folds or ()),
    }
    cases = (X, given) if X_train is None or y_train is None else (X_train, column_or_1d(y_train))
    names = model_sections.exemplar_names(model, *cases, exemplars, prototypes["index"], first_row)
    prototypes["exemplars"] = names
    _name_samples(summary, _index(X), first_row)
    summary = in_natural_order(to_json(summary), len(features.model.classes))
    model_card.add_weak_guarantee(summary)
    return summary | {"limits": model_card.limits(summary)}


def _codes(classes: Labels, y: Labels, predicted: Labels) -> tuple[Labels, NDArray[np.intp], NDArray[np.intp]]:
    """All labels, the model's classes and then those it was not fitted to; y and predicted as indices into them."""
    unknown = np.setdiff1d(y, classes)
    labels = np.concatenate([classes, unknown]) if len(unknown) else classes
    code = {label: index for index, label in enumerate(labels.tolist())}
    true, other = (np.array([code[value] for value in column.tolist()], dtype=np.intp) for column in (y, predicted))
    return labels, true, other


def _winners(features: Features, inputs: Floats, predicted: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """The nearest prototype of the predicted class of each sample; by default of the class that the model predicts."""
    model = features.model
    if predicted is None:
        return model.over_blocks(lambda d: model.nearest(d)[0].winner, inputs)
    return model.nearest(model.over_blocks(lambda d: d, inputs), predicted)[0].winner


def _index(X: MatrixLike) -> list[object] | None:
    """The index of a table; None where there is none."""
    index = getattr(X, "index", None)  # of a list it is a method
    return list(index) if index is not None and hasattr(index, "tolist") else None


def _name_samples(summary: dict[str, JSONValue], index: list[object] | None, first_row: int) -> None:
    """Name samples on the map and in the explanations by the index of their table."""

    def named(row: int) -> int | str:
        name = row if index is None else index[row]
        return name + first_row if isinstance(name, int) else str(name)

    points, explained = summary["map"]["points"], summary["explanations"]
    points["name"] = [named(row) for row in points["index"]]
    for explanation in (*explained["wrong"], *explained["least_certain"]):
        explanation["name"] = named(explanation["sample"])


def _train_accuracy(model: BaseEstimator, X_train: MatrixLike | None, y_train: ArrayLike | None) -> float | None:
    if X_train is None or y_train is None:
        return None
    return float(np.mean(np.asarray(model.predict(X_train)) == column_or_1d(y_train)))
