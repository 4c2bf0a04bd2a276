"""The parts of the report about the model: its card, importances, prototypes and certified accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from lvq import plots
from lvq.estimators.find_model import FoundModel, find_layer, need_model
from lvq.inspection.certify import radius_of_inputs
from lvq.inspection.importance import VariableImportances, variable_importances
from lvq.inspection.steps import input_map
from lvq.model.links import Part
from lvq.model.local_metrics import LocalDiagonal
from lvq.model.prototype_model import PrototypeModel
from lvq.plots.arrays import ordered_axis
from lvq.plots.effects import Effects, effects_of
from lvq.rejection import RejectClassifier
from lvq.rejection.classifier import TARGETS
from lvq.rejection.guarantee import CertifiedPoint
from lvq.reports.held_out import Columns, HeldOut
from lvq.reports.metrics import Codes
from lvq.reports.text import label_texts
from lvq.typing import Floats, JSONValue, MatrixLike

MAX_FEATURES = 20  # in the chart of importances
MAX_VALUES = 10  # features of a prototype
MAX_EFFECTS = 8
MAX_MATRIX_FEATURES = 15  # in the heat map
MAX_PROTOTYPES = 24
OUTSIDE = 1e-6  # of the range, that counts as outside
# features with an order, as in spectra
MIN_ORDERED = 20
MIN_CORRELATION = 0.8  # median over neighbouring features
MAX_CURVE_POINTS = 400
MAX_LINES = 60  # prototypes as curves
MAX_ORDERED_FEATURES = 60  # in the heat map


@dataclass(frozen=True)
class RejectionRule:
    """The target of the thresholds."""

    target: dict[str, float]
    measure: str
    thresholds: str
    guarantee: CertifiedPoint | None
    notes: list[str]
    threshold: float  # of the certainty; infinite where it is not the same for all samples


@dataclass(frozen=True)
class ModelCard:
    """The parts of the model, and its parameters that differ from their defaults."""

    kind: str
    steps: list[str]
    parameters: dict[str, JSONValue]
    metric: str
    form: str | None  # that `LVQClassifier` has chosen
    form_scores: dict[str, float]  # log-loss of samples left out, by form
    by_posterior: bool
    n_prototypes: int
    n_features: int
    n_iter: int | None
    rejection: RejectionRule | None


def model_card(model: BaseEstimator, found: FoundModel) -> ModelCard:
    """The card of a fitted model."""
    estimator = found.estimator
    defaults = type(estimator)().get_params(deep=False)
    parameters = {name: _parameter(value) for name, value in estimator.get_params(deep=False).items()}
    reject = find_layer(model, RejectClassifier)
    return ModelCard(
        kind=type(estimator).__name__,
        steps=[type(step).__name__ for step in found.steps],
        parameters={name: value for name, value in parameters.items() if value != _parameter(defaults[name])},
        metric=_metric(found.model),
        form=getattr(estimator, "form_", None),
        form_scores=dict(getattr(estimator, "form_scores_", {})),
        by_posterior=found.model.decision.by_posterior,
        n_prototypes=len(found.model.prototypes),
        n_features=found.model.n_features,
        n_iter=getattr(estimator, "n_iter_", None),
        rejection=None if reject is None else _rule(reject),
    )


def _metric(model: PrototypeModel) -> str:
    """The kind of distance."""
    R = model.relevance
    if R is None or (R.ndim == 1 and R.min() == R.max()):
        return f"{'Euclidean' if R is None else 'squared differences'}: all features have the same weight"
    if isinstance(model.metric, LocalDiagonal):
        return f"{len(R)} sets of weights of {R.shape[1]} features"
    if R.ndim == 3:
        return f"{R.shape[0]} matrices of rank {R.shape[1]}, for {R.shape[2]} features"
    return f"one matrix of rank {R.shape[0]}, for {R.shape[1]} features" if R.ndim == 2 else f"{len(R)} weights"


def _parameter(value: object) -> JSONValue:
    """A parameter as a string or number; arrays and objects by their representation, cut to 120 characters."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Part):
        usual = type(value)().get_params()
        given = {name: own for name, own in value.get_params().items() if own != usual[name]}
        return f"{type(value).__name__}({', '.join(f'{name}={own!r}' for name, own in given.items())})"
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _rule(reject: RejectClassifier) -> RejectionRule:
    given = {name: getattr(reject, name) for name in TARGETS if getattr(reject, name) is not None}
    target = {name: float(np.min(value)) for name, value in given.items()} or {"min_coverage": 0.9}
    guarantee = reject.point_ if isinstance(reject.point_, CertifiedPoint) else None
    measure, limit = str(_parameter(reject.measure)), float(reject.point_.unseen)
    return RejectionRule(target, measure, reject.thresholds, guarantee, list(reject.notes_), limit)


# -- importances -------------------------------------------------------------------------------------------------------


def importances_of(held_out: HeldOut, X: MatrixLike, known: VariableImportances | None) -> VariableImportances | None:
    """Importances of the columns of X; None for a Euclidean metric, in which all features have the same weight."""
    if held_out.columns.model.relevance is None:
        return None
    return variable_importances(held_out.columns.estimator, X) if known is None else known


def matrix_of(columns: Columns, *, ordered: bool) -> plots.LambdaDisplay | None:
    """Lambda divided by its trace, for the most relevant features, or for ordered features at regular intervals."""
    if columns.model.relevance is None or columns.model.has_weights:
        return None
    estimator, every = columns.found.estimator, plots.feature_names(columns.estimator).tolist()
    shown = np.argsort(-plots.relevance_profile(estimator), kind="stable")[:MAX_MATRIX_FEATURES]
    if ordered:
        shown = spread(len(every), MAX_ORDERED_FEATURES)
    names = columns.all_names if len(columns.all_names) == len(every) else every
    matrix = plots.lambda_matrix(estimator)
    weights = matrix[np.ix_(shown, shown)] / np.trace(matrix)
    return plots.LambdaDisplay(matrix=weights, feature_names=[names[k] for k in shown], title="")


def spread(count: int, most: int) -> Codes:
    """At most so many places of all, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.intp))


def effects_on_page(held_out: HeldOut, importances: VariableImportances | None) -> Effects | None:
    """Effects of the most relevant columns; None where log-odds are no differences of distances, and for pixels."""
    columns = held_out.columns
    if columns.model.log_odds_scale is None or not columns.in_units or columns.images() is not None:
        return None
    top = [k for k in _most_relevant(held_out, importances) if k not in columns.dates]
    try:
        shown, refits = columns.places[top[:MAX_EFFECTS]].tolist(), () if importances is None else importances.refits
        return effects_of(columns.estimator, held_out.X, features=shown, refits=refits)
    except ValueError:  # X is not a table whose values can be replaced
        return None


# -- prototypes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prototypes:
    """The prototypes; values are given for the shown ones, a list for each with an entry per column."""

    label: list[int]
    name: list[str]
    in_units: bool
    shown: list[int]  # those that win most samples, class by class
    n_won: list[int]
    exemplar: list[int | str]  # name of the nearest sample
    exemplar_values: list[list[JSONValue]]
    features: list[str]
    values: list[list[JSONValue]]
    low: list[JSONValue]  # of the range of the samples; None for categories
    high: list[JSONValue]
    image_side: int | None
    images: list[list[float]] | None
    pixel_range: tuple[float, float] | None
    outside: list[str]  # columns in which a prototype is outside the range of the samples, the farthest first
    n_outside: int


def prototypes_of(held_out: HeldOut, importances: VariableImportances | None) -> Prototypes:
    """Prototypes as the page shows them."""
    columns, labels = held_out.columns, held_out.prototype_labels
    n_won = np.bincount(held_out.made.winner, minlength=len(labels))
    shown = np.sort(np.argsort(-n_won, kind="stable")[:MAX_PROTOTYPES])
    shown = shown[np.argsort(labels[shown], kind="stable")]
    top, images, far = _most_relevant(held_out, importances)[:MAX_VALUES], columns.images(), _beyond(held_out)
    similar = held_out.made.distances.argmin(axis=0)[shown]
    low, high = (
        [None if np.isnan(held_out.numbers[:, k]).all() else columns.shown(k, float(ends[k])) for k in top]
        for ends in held_out.typical_range
    )
    order = [k for k in np.argsort(-far.max(axis=0), kind="stable") if far[:, k].max() > OUTSIDE]
    return Prototypes(
        label=labels.tolist(),
        name=plots.prototype_names(columns.found.estimator).tolist(),
        in_units=columns.in_units,
        shown=shown.tolist(),
        n_won=n_won[shown].tolist(),
        exemplar=[held_out.names[row] for row in similar],
        exemplar_values=[[row[k] for k in top] for row in held_out.shown(similar)],
        features=[columns.names[k] for k in top],
        values=[[columns.prototype(j, k) for k in top] for j in shown],
        low=low,
        high=high,
        image_side=None if images is None else images[0],
        images=None if images is None else images[1][shown].tolist(),
        pixel_range=None if images is None else (np.nanmin(held_out.numbers), np.nanmax(held_out.numbers)),
        outside=[columns.names[k] for k in order],
        n_outside=int((far > OUTSIDE).any(axis=1).sum()),
    )


def _most_relevant(held_out: HeldOut, importances: VariableImportances | None) -> list[int]:
    """The most important columns; without importances those in which the prototypes differ most."""
    columns, (low, high) = held_out.columns, held_out.typical_range
    if importances is not None and columns.in_units:
        size = importances.importances[columns.places]
    else:
        size = np.ptp(np.nan_to_num(columns.prototype_numbers()), axis=0) / np.where(high > low, high - low, 1.0)
    return np.argsort(-size, kind="stable")[:MAX_FEATURES].tolist()


def _beyond(held_out: HeldOut) -> Floats:
    """How far prototypes are outside the range of the samples, as a fraction of it; 0 for categories."""
    values, numbers = held_out.columns.prototype_numbers(), held_out.known_numbers
    low, high = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
    beyond = np.maximum(np.maximum(low - values, values - high), 0.0) / np.where(high > low, high - low, np.inf)
    return np.nan_to_num(beyond) * held_out.columns.in_units


# -- features with an order --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curves:
    """Importances and prototypes along the axis of features that have an order, as in spectra."""

    importance: plots.RelevanceDisplay | None
    prototypes: plots.PrototypeDisplay
    low: list[float]  # of the range of the samples
    high: list[float]


def _neighbours_alike(values: Floats) -> bool:
    known = values[:, ~np.isnan(values).all(axis=0)]
    spread = np.nanstd(known, axis=0)
    standard = (known - np.nanmean(known, axis=0)) / np.where(spread > 0, spread, 1.0)
    return bool(np.median(np.nanmean(standard[:, 1:] * standard[:, :-1], axis=0)) >= MIN_CORRELATION)


def curves_of(held_out: HeldOut, importances: VariableImportances | None) -> Curves | None:
    """Curves along the axis; None where features have no order, or are pixels."""
    columns, names, numbers = held_out.columns, held_out.columns.names, held_out.numbers
    if columns.in_units is False and len(columns.all_names) == len(names):
        names = columns.all_names  # a step such as SNV keeps the order of the columns
    if len(names) < MIN_ORDERED or len(numbers) < 3 or columns.images() is not None:
        return None
    if ordered_axis(names) is None or not _neighbours_alike(numbers):
        return None
    kept, (low, high) = spread(len(names), MAX_CURVE_POINTS), held_out.typical_range
    shown, labels = [names[k] for k in kept], held_out.prototype_labels[:MAX_LINES]
    prototypes = plots.PrototypeDisplay(
        values=columns.prototype_numbers()[:MAX_LINES, kept], feature_names=shown, prototype_names=[],
        prototype_classes=labels, classes=label_texts(held_out.labels),
    )  # fmt: skip
    importance = None
    if importances is not None and len(importances.names) >= len(names):
        along = importances.importances[-len(names) :][kept]
        importance = plots.RelevanceDisplay(relevances=along, feature_names=shown, values="importance")
    return Curves(importance, prototypes, low[kept].tolist(), high[kept].tolist())


# -- robustness --------------------------------------------------------------------------------------------------------


def certified_of(held_out: HeldOut, rows: Codes) -> list[tuple[float, float]] | str:
    """Lengths of a change of the model's input, and the certified accuracy of samples there; or why there is none."""
    if held_out.costs is not None:
        return (
            "a certificate is about the class of the nearest prototype, but the class with the least expected cost is "
            "predicted."
        )
    rows = rows[~np.isnan(held_out.inputs[rows]).any(axis=1)]  # a radius is a change of all values
    if not len(rows):
        return "a certificate needs a sample without missing values, and each of these has some."
    try:
        found = need_model(held_out.columns.found.estimator, "certified_radius", nearest=True)
        units = input_map(found, "certified_radius")
    except ValueError as error:
        return str(error)
    radius = radius_of_inputs(found.model, held_out.inputs[rows], held_out.made.distances[rows], units)
    held = radius[held_out.correct[rows]]
    lengths = [0.0, *(np.quantile(held, (0.25, 0.5, 0.75), method="lower") if len(held) else [])]
    return [(float(length), float((held >= length).sum() / len(radius))) for length in lengths]
