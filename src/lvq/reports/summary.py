"""Everything the report shows, as data classes that the page, the console and metrics.json read alike."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import indexable
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import find_layer
from lvq.inspection.columns import row_names
from lvq.inspection.importance import VariableImportances
from lvq.rejection import RejectClassifier
from lvq.rejection.scores import Predictions, certainty_of
from lvq.reports.columns import Columns, costs_of
from lvq.reports.metrics import (
    Calibration,
    Codes,
    Costs,
    Decisions,
    Fraction,
    Metrics,
    calibration,
    classification_metrics,
    costs_of_predictions,
    fraction_of,
    other_decisions,
)
from lvq.reports.model import (
    Certified,
    Curves,
    Guarantee,
    History,
    Importance,
    ModelCard,
    Prototypes,
    certified_of,
    curves_of,
    history_of,
    importance_of,
    model_card,
    prototypes_of,
)
from lvq.reports.rejection import Rejection, operating_points, rejection_of
from lvq.reports.samples import Explanations, HeldOut, Map, explanations_of, map_of, stratified
from lvq.reports.text import label_texts, natural_key, percent, to_json
from lvq.typing import JSONValue, Labels, MatrixLike

FORMAT = 6  # raised when a key of metrics.json changes its name or meaning
MAX_POINTS = 2000  # samples on the map
MIN_CLASS_SAMPLES = 20  # held-out samples of a class below which its results are uncertain
MISSED = 0.5  # sensitivity below which a class is called missed
MAX_NAMED = 5  # classes in a sentence


@dataclass(frozen=True)
class Data:
    """Names and sizes of the data; classes are in natural order, those that the model does not know come last."""

    name: str
    target: str | None
    n_columns: int
    n_samples: int
    classes: list[str]
    class_counts: list[int]
    train_counts: list[int] | None
    variables: list[str]  # the columns that the page names
    row_names: str  # how samples are named
    n_train: int | None


@dataclass(frozen=True)
class Folds:
    """Accuracies of the folds of a cross-validation, and of logistic regression on the same folds."""

    accuracy: list[float]
    n_samples: list[int]
    logistic_regression: list[float] | None = None

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return float(np.mean(self.accuracy))

    @property
    def standard_deviation(self) -> float | None:
        """Standard deviation over the folds."""
        return float(np.std(self.accuracy, ddof=1)) if len(self.accuracy) > 1 else None


@dataclass(frozen=True)
class Earlier:
    """The test at the fit, beside which a validation on another table is shown."""

    data_name: str
    accuracy: Fraction
    coverage: float | None
    difference: tuple[float, float]  # 95 % interval of the accuracy here less that at the fit
    verdict: str | None  # of the guarantee: "kept", "broken" or "not contradicted"


@dataclass(frozen=True)
class Context:
    """What a study knows beside model and samples.

    Attributes
    ----------
    title : str
        Name of the model on the page.
    data_name, target : str
        Names of the data and of the column of classes.
    row_names : str
        How samples are named, as a sentence.
    protocol : str
        How the data were split and prepared.
    notes : sequence of str
        What was left out, and warnings.
    seed : int, optional
        Of split and model.
    dates : collection of str
        Columns of days since 1970.
    marks : dict
        Strings that mean a missing value, by column.
    groups : ndarray, optional
        Groups of the held-out samples, which are not independent inside a group.
    folds : Folds, optional
        From a cross-validation among the training samples.
    importances : VariableImportances, optional
        Importances of the columns with their intervals; computed without intervals otherwise.
    """

    title: str = "model"
    data_name: str = "data"
    target: str | None = None
    row_names: str = "Samples are named by their row in the held-out data, counted from 0."
    protocol: str | None = None
    notes: Sequence[str] = ()
    seed: int | None = None
    dates: Collection[str] = ()
    marks: dict[str, list[str]] = field(default_factory=dict)
    groups: np.ndarray | None = None
    folds: Folds | None = None
    importances: VariableImportances | None = None


@dataclass(frozen=True)
class Report:
    """A fitted model and its results on held-out samples; classes are indices into ``data.classes``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> report = Report.of(GMLVQ(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> report.metrics.accuracy.total, report.data.classes
    (75, ['0', '1', '2'])
    """

    name: str
    verdict: list[str]
    data: Data
    model: ModelCard
    metrics: Metrics
    coverage: Fraction | None  # accepted predictions; None for a model that rejects none
    accepted_accuracy: Fraction | None
    costs: Costs | None
    decisions: Decisions | None
    rejection: Rejection
    relevance: Importance | None
    curves: Curves | None
    map: Map
    prototypes: Prototypes
    probabilities: Calibration | None
    certified: Certified
    explanations: Explanations
    history: History
    folds: Folds | None
    limits: list[str]
    notes: list[str]
    protocol: str | None
    seed: int | None
    dates: list[str]
    missing_marks: dict[str, list[str]]
    versions: dict[str, str]
    earlier: Earlier | None = None
    format: int = FORMAT

    @property
    def guarantee(self) -> Guarantee | None:
        """The guaranteed bound on the error rate; None without one."""
        return None if self.model.rejection is None else self.model.rejection.guarantee

    @classmethod
    def of(
        cls,
        model: BaseEstimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        X_train: MatrixLike | None = None,
        y_train: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        reason: np.ndarray | None = None,
        context: Context = Context(),  # noqa: B008 (never changed)
    ) -> Report:
        """Evaluate a fitted model on held-out samples, each of which is predicted once.

        Parameters
        ----------
        model : estimator
            A fitted model of this library, alone or in a Pipeline, a search or a `RejectClassifier`.
        X : array-like of shape (n_samples, n_features)
            Held-out samples. Those of a table with an index are named by it, others by their row number.
        y : array-like of shape (n_samples,)
            Their classes.
        X_train, y_train : array-like, optional
            The training samples, for the importances of the columns, which are computed from X otherwise, and their
            numbers by class.
        feature_names : sequence of str, optional
            Names of the columns of X, where X has none.
        reason : ndarray of str, optional
            Reasons to reject some samples that the model does not know of; "" for others.
        context : Context, optional
            Names, notes, folds and so on.

        Returns
        -------
        report : Report
        """
        X, given = indexable(X, column_or_1d(y))
        if not len(given):
            raise ValueError("The report needs held-out samples, got none; give X and y of at least one sample.")
        columns, costs = Columns(model, X, feature_names, context.dates), costs_of(model)
        labels, order = ordered_classes(columns.model.classes, given)
        held_out, thresholds, fitted = _evaluated(model, X, given, labels, order, reason)
        by_cost, own, n_labels = costs is not None, order[columns.model.labels], len(labels)
        rows = stratified(held_out.y, MAX_POINTS)
        seen = X if X_train is None else indexable(X_train)[0]
        relevance, importances = importance_of(model, columns, seen, context.importances)
        numbers = columns.numbers(X, held_out.inputs)
        card = model_card(model, columns.found)
        accepted, correct = held_out.reason == "", held_out.predicted == held_out.y
        table, groups = held_out.probabilities, context.groups
        sorted_costs = None if costs is None else costs[np.ix_(np.argsort(order), np.argsort(order))]
        trained = None if y_train is None else column_or_1d(y_train)
        metrics = classification_metrics(held_out.y, held_out.predicted, np.arange(n_labels), table, groups)
        data = Data(
            name=context.data_name,
            target=context.target,
            n_columns=len(columns.all_names) or columns.model.n_features,
            n_samples=len(given),
            classes=label_texts(labels),
            class_counts=np.bincount(held_out.y, minlength=n_labels).tolist(),
            train_counts=None if trained is None else [int((trained == label).sum()) for label in labels],
            variables=columns.names,
            row_names=context.row_names,
            n_train=None if trained is None else len(trained),
        )
        rejects = card.rejection is not None
        coverage = fraction_of(accepted, groups=groups) if rejects else None
        accepted_accuracy = fraction_of(correct, accepted, groups) if rejects else None
        view = map_of(model, held_out, columns, rows, own, order, by_cost=by_cost)
        tempered = columns.model.decision.temperature != 1
        calibrated = None if table is None else calibration(table, held_out.y, is_calibrated=tempered)
        decided = None
        if table is not None:
            decided = other_decisions(table, held_out.y, held_out.predicted, n_labels, sorted_costs)
        paid = None if sorted_costs is None else costs_of_predictions(sorted_costs, held_out.y, held_out.predicted)
        return cls(
            name=context.title,
            verdict=verdict_of(metrics, data, accepted_accuracy, context.folds, paid),
            data=data,
            model=card,
            metrics=metrics,
            coverage=coverage,
            accepted_accuracy=accepted_accuracy,
            costs=paid,
            decisions=decided,
            rejection=rejection_of(
                held_out.accepted, thresholds, fitted, held_out.reason, held_out.y, held_out.predicted, n_labels
            ),
            relevance=relevance,
            curves=curves_of(columns, _raw(X, numbers), numbers, own, importances),
            map=view,
            prototypes=prototypes_of(columns, numbers, own, held_out.winner, importances),
            probabilities=calibrated,
            certified=certified_of(columns.found, held_out.inputs[rows], given[rows], by_cost=by_cost),
            explanations=explanations_of(held_out, columns, order, by_cost=by_cost),
            history=history_of(columns.found.estimator),
            folds=context.folds,
            limits=limits_of(metrics, data, card, view, calibrated, grouped=groups is not None),
            notes=list(context.notes),
            protocol=context.protocol,
            seed=context.seed,
            dates=list(context.dates),
            missing_marks=context.marks,
            versions=versions(),
        )

    def to_json(self) -> dict[str, JSONValue]:
        """The report in JSON types, the content of metrics.json; NaN and infinite values are None."""
        return to_json(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML page, which appears complete or not at all.

        Parameters
        ----------
        path : path-like
            The file; an existing one is replaced.
        """
        from lvq.reports.page import write_page

        write_page(self, path)


def report(
    model: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    path: str | os.PathLike[str],
    *,
    X_train: MatrixLike | None = None,
    y_train: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Report:
    """Write one HTML page that shows a fitted model and its results on held-out samples.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or in a Pipeline, a search or a `RejectClassifier`.
    X : array-like of shape (n_samples, n_features)
        Samples that the model was not fitted to.
    y : array-like of shape (n_samples,)
        Their classes.
    path : path-like
        The page; an existing file is replaced.
    X_train, y_train : array-like, optional
        The training samples, for the importances of the columns and the numbers by class.
    feature_names : sequence of str, optional
        Names of the columns of X, where X has none.
    title : str, optional
        Name of the model on the page.

    Returns
    -------
    report : Report
        The numbers on the page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import lvq
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = lvq.GMLVQ(random_state=0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "report.html")
    ...     found = lvq.report(model, X[1::2], y[1::2], page)
    ...     page.stat().st_size < 5e6
    True
    >>> found.metrics.accuracy.total
    75
    """
    kind = type(find_layer(model, BaseEstimator)).__name__ if title is None else title
    indexed = hasattr(getattr(X, "index", None), "tolist")  # of a list it is a method
    rows = "Samples are named by the index of their table." if indexed else Context.row_names
    made = Report.of(
        model, X, y, X_train=X_train, y_train=y_train, feature_names=feature_names,
        context=Context(title=kind, row_names=rows),
    )  # fmt: skip
    made.write(path)
    return made


def ordered_classes(classes: Labels, y: Labels) -> tuple[Labels, Codes]:
    """All classes in natural order, those that the model does not know last; and the place of each of the model's.

    Examples
    --------
    >>> labels, order = ordered_classes(np.array(["10", "2", "9"]), np.array(["2", "0"]))
    >>> labels.tolist(), order.tolist()
    (['2', '9', '10', '0'], [2, 0, 1])
    """
    known = sorted(range(len(classes)), key=lambda place: natural_key(str(classes[place])))
    unknown = sorted(np.setdiff1d(y, classes).tolist(), key=lambda label: natural_key(str(label)))
    labels = np.concatenate([classes[known], np.array(unknown, dtype=classes.dtype)]) if unknown else classes[known]
    return labels, np.argsort(known)


def _evaluated(
    model: BaseEstimator,
    X: MatrixLike,
    given: Labels,
    labels: Labels,
    order: Codes,
    reason: np.ndarray | None,
) -> tuple[HeldOut, list[float | None], int]:
    """The samples with their predictions; the thresholds of the operating points, and the point of the model."""
    reject = find_layer(model, RejectClassifier)
    made = Predictions(model, X) if reject is None else reject.predictions(X)
    if reject is None:
        certainty, why = np.asarray(certainty_of(made, "auto"), dtype=np.float64), np.full(len(given), "", dtype=object)
    else:
        certainty, why = reject.certainty_for(made), reject.reason_for(made).astype(object)
    if reason is not None:
        why = np.where(reason == "", why, reason)
    code = {label: index for index, label in enumerate(labels.tolist())}
    true, predicted = (np.array([code[label] for label in column.tolist()]) for column in (given, made.predicted))
    table = None
    if hasattr(model, "predict_proba"):
        table = np.asarray(model.predict_proba(X), dtype=np.float64)[:, np.argsort(order)]
    accepted, thresholds, fitted = operating_points(certainty, why)
    names = [_name(name) for name in row_names(X, len(given))]
    inputs = np.asarray(made.inputs, dtype=np.float64)
    held_out = HeldOut(X, true, predicted, table, certainty, why, made.winner, inputs, accepted, names)
    return held_out, thresholds, fitted


def _name(name: object) -> int | str:
    return int(name) if isinstance(name, int | np.integer) else str(name)


def _raw(X: MatrixLike, numbers: np.ndarray) -> np.ndarray:
    """The samples before the steps, where all are numbers."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return numbers


def versions() -> dict[str, str]:
    """Versions of the packages that computed the numbers."""
    packages = {"lvq": "lvq", "NumPy": "numpy", "SciPy": "scipy", "scikit-learn": "scikit-learn"}
    return {"Python": platform.python_version()} | {name: version(package) for name, package in packages.items()}


def listed(names: Sequence[str]) -> str:
    """The first few names of a sentence."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def verdict_of(
    metrics: Metrics, data: Data, accepted: Fraction | None, folds: Folds | None, costs: Costs | None
) -> list[str]:
    """What the numbers mean: is the model better than a constant, than logistic regression; what it misses."""
    sentences = [_against_constant(metrics) if costs is None else _against_cheapest(costs, data.classes)]
    if folds is not None and folds.logistic_regression:
        other = float(np.mean(folds.logistic_regression))
        sentences.append(
            f"On the folds the accuracy is {percent(folds.mean)}, that of logistic regression {percent(other)}."
        )
    missed = [name for name, row in zip(data.classes, metrics.by_class) if (row.sensitivity.value or 0.0) < MISSED]
    missed = [name for name in missed if data.class_counts[data.classes.index(name)]]
    if missed:
        sentences.append(f"More than half of the samples of these classes are missed: {listed(missed)}.")
    accuracy = metrics.accuracy.value or 0.0
    if accepted is None or accepted.value is None or accuracy == 1 or costs is not None:
        return sentences
    if accepted.value <= accuracy:
        return [*sentences, "Rejecting uncertain predictions does not raise the accuracy here."]
    raised = f"from {percent(accuracy)} to {percent(accepted.value)}"
    return [*sentences, f"Rejecting uncertain predictions raises the accuracy {raised}."]


def _against_constant(metrics: Metrics) -> str:
    accuracy, baseline = metrics.accuracy, metrics.majority
    found = f"{percent(accuracy.value)} of the predictions are correct"
    constant = f"always predicting the most frequent class gives {percent(baseline)}"
    if accuracy.value is not None and accuracy.value <= baseline:
        return f"The model is of no use as a classifier here: {found}, and {constant}."
    if accuracy.interval is not None and accuracy.interval[0] <= baseline:
        return f"The model is not shown to be better than a constant prediction: {found}, and {constant}."
    return f"{found}; {constant}."


def _against_cheapest(costs: Costs, classes: Sequence[str]) -> str:
    """With costs the accuracy is not what the model was asked for."""
    start = "" if costs.mean < costs.cheapest else "The model is of no use here. "
    name = classes[costs.cheapest_class]
    return f"{start}A sample costs {costs.mean:.3f} on average; always predicting {name} costs {costs.cheapest:.3f}."


def limits_of(
    metrics: Metrics, data: Data, card: ModelCard, view: Map, calibrated: Calibration | None, *, grouped: bool
) -> list[str]:
    """What the numbers do not show, as sentences."""
    interval = metrics.accuracy.interval
    shown = "" if interval is None else f" The 95 % interval of the accuracy is {percent(interval[0])} to " + (
        f"{percent(interval[1])}, for samples from the same source"
        + (", and counts whole groups." if grouped else ".")
    )  # fmt: skip
    sentences = [f"All scores were computed on {data.n_samples} held-out samples.{shown}"]
    small = [name for name, count in zip(data.classes, data.class_counts) if count < MIN_CLASS_SAMPLES]
    if small:
        sentences.append(
            f"Classes with fewer than {MIN_CLASS_SAMPLES} held-out samples: {listed(small)}. Their results are "
            "uncertain."
        )
    sentences += [_rejection_limit(card), *([] if card.rejection is None else card.rejection.notes)]
    if view.explained < 0.995:
        sentences.append(
            f"The map shows {percent(view.explained)} of the variance in the model's metric. Samples that overlap on "
            "the map may be far apart in other directions, and a sample may lie in the region of another class than "
            "the one predicted for it."
        )
    sentences.append("Explanations show how the model computed a prediction, not what causes the classes to differ.")
    if calibrated is not None:
        kind = "were calibrated by a temperature" if calibrated.is_calibrated else "are not calibrated"
        error = percent(calibrated.calibration_error)
        sentences.append(f"The model's probabilities {kind}; here they differ from the accuracy by {error} on average.")
    return sentences


def _rejection_limit(card: ModelCard) -> str:
    if card.rejection is None:
        return "The model rejects no sample. A threshold chosen on these samples has no guarantee for others."
    if card.rejection.guarantee is None:
        return "The thresholds were fitted to calibration samples; they have no guarantee for other samples."
    return guarantee_sentence(card.rejection.guarantee)


def guarantee_sentence(guarantee: Guarantee, majority: float | None = None) -> str:
    """What is guaranteed, for which samples, and whether that is worth anything.

    Examples
    --------
    >>> guarantee_sentence(Guarantee(0.05, 0.95, None, 100, 90, 1, by_group=False))[:75]
    'The error rate of accepted predictions is at most 5.0 %, with confidence 95'
    """
    whose = "a randomly chosen row of a new group" if guarantee.by_group else "samples"
    text = (
        f"The error rate of accepted predictions is at most {percent(guarantee.max_error)}, with confidence "
        f"{percent(guarantee.confidence)}, for {whose} from the same source as the calibration samples."
    )
    if guarantee.requested is not None:
        text += f" Requested was {percent(guarantee.requested)}, which could not be guaranteed."
    if majority is not None and guarantee.max_error >= 1 - majority:
        text += f" Always predicting the most frequent class has an error rate of {percent(1 - majority)}."
    return text
