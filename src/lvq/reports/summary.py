"""Everything the report shows, as data classes that the page, the console and metrics.json read alike."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from html import escape

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import indexable
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import need_model
from lvq.inspection.importance import VariableImportances, variable_importances
from lvq.model.rows import require_dense
from lvq.plots import LambdaDisplay
from lvq.plots.effects import Effects
from lvq.rejection.guarantee import CertifiedPoint
from lvq.reports import metrics as scores
from lvq.reports import model as parts
from lvq.reports.data import Context, Data, data_of
from lvq.reports.folds import cross_validated
from lvq.reports.held_out import Columns, HeldOut, stratified
from lvq.reports.metrics import Costs, Fraction, Metrics, Probabilities
from lvq.reports.rejection import Rejection, operating_points, rejection_of
from lvq.reports.samples import Explanation, Explanations, Map, explanations_of, map_of
from lvq.reports.text import to_json
from lvq.reports.verdict import Answer, verdict_of
from lvq.typing import Argument, JSONValue, Labels, MatrixLike
from lvq.versions import versions

FORMAT = 11  # raised when a key of metrics.json changes its name or meaning
PACKAGES = ("python", "lvq", "numpy", "scipy", "scikit-learn")  # that computed the numbers
MAX_POINTS = 2000  # samples on the map
N_RESAMPLES = 20  # refits for the intervals of importances
MAX_INTERVAL_ROWS = 5000  # training samples up to which they are computed


@dataclass(frozen=True)
class Earlier:
    """The original test, with which a validation on another table is compared."""

    data_name: str
    accuracy: Fraction
    difference: tuple[float, float]  # 95 % interval of the accuracy here minus the original one
    verdict: str | None  # of the guarantee: "kept", "broken" or "not contradicted"


@dataclass(frozen=True, repr=False)
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

    context: Context
    data: Data
    model: parts.ModelCard
    metrics: Metrics
    coverage: Fraction | None  # accepted predictions; None for a model that rejects none
    accepted_accuracy: Fraction | None
    costs: Costs | None
    rejection: Rejection
    relevance: VariableImportances | None
    effects: Effects | None
    matrix: LambdaDisplay | None
    curves: parts.Curves | None
    map: Map
    prototypes: parts.Prototypes
    probabilities: Probabilities | None
    certified: list[tuple[float, float]] | str  # length of a change and accuracy, or why there is none
    explanations: Explanations
    versions: dict[str, str]
    earlier: Earlier | None = None
    format: int = FORMAT

    @property
    def guarantee(self) -> CertifiedPoint | None:
        """The guaranteed bound on the error rate; None without one."""
        return None if self.model.rejection is None else self.model.rejection.guarantee

    def rival_class(self, one: Explanation) -> str:
        """The class of the prototype against which a prediction is explained."""
        return self.data.classes[self.prototypes.label[one.rival]]

    @property
    def verdict(self) -> list[Answer]:
        """Sentences that say whether the model is useful."""
        return verdict_of(self)

    def __repr__(self) -> str:
        return f"{self.context.title} on {self.context.data_name}. {self.verdict[0]}"

    def _repr_html_(self) -> str:
        return f"<ul>{''.join(f'<li>{escape(answer.text)}</li>' for answer in self.verdict)}</ul>"

    @classmethod
    def of(
        cls,
        model: BaseEstimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        X_train: MatrixLike | None = None,
        y_train: ArrayLike | None = None,
        reason: np.ndarray | None = None,
        context: Context = Context(),  # noqa: B008 (never changed)
    ) -> Report:
        """Evaluate a fitted model on held-out samples, each of which is predicted once.

        Parameters
        ----------
        model : estimator
            A fitted model of this library, alone or in a Pipeline, a search or a `RejectClassifier`.
        X : array-like of shape (n_samples, n_features)
            Held-out samples. They are named by the index of a table, otherwise by row number.
        y : array-like of shape (n_samples,)
            Their classes.
        X_train, y_train : array-like, optional
            The training samples, for the importances of the columns, which are computed from X otherwise, and their
            numbers by class.
        reason : ndarray of str, optional
            Additional reasons to reject samples, which the model does not know; "" for the others.
        context : Context, optional
            Names, notes, folds and so on.

        Returns
        -------
        report : Report
        """
        X, given = indexable(X, column_or_1d(y))
        if not len(given):
            raise ValueError("The report needs held-out samples, got none; give X and y of at least one sample.")
        columns = Columns(model, context.dates)
        held_out = HeldOut.of(model, columns, X, given, reason)
        importances = parts.importances_of(
            held_out, X if X_train is None else indexable(X_train)[0], context.importances
        )
        card, curves = parts.model_card(model, columns.found), parts.curves_of(held_out, importances)
        y, predicted, accepted, costs = held_out.y, held_out.predicted, held_out.accepted, held_out.costs
        groups = None if context.groups is None else np.unique(context.groups, return_inverse=True)[1]
        rejects, tempered = card.rejection is not None, columns.model.decision.temperature != 1
        rows, table = stratified(y, MAX_POINTS), held_out.probabilities
        points = operating_points(held_out.certainty, held_out.reason)
        if card.rejection is not None and np.isfinite(card.rejection.threshold):
            points[1][points[2]] = card.rejection.threshold  # instead of the least certainty above it
        return cls(
            context=replace(
                context, title=context.title or card.kind, row_names=context.row_names or held_out.row_names
            ),
            data=data_of(held_out, importances, X_train, y_train),
            model=card,
            relevance=importances,
            effects=None if curves else parts.effects_on_page(held_out, importances),
            matrix=parts.matrix_of(columns, ordered=curves is not None),
            curves=curves,
            prototypes=parts.prototypes_of(held_out, importances),
            certified=parts.certified_of(held_out, rows),
            rejection=rejection_of(held_out, points),
            map=map_of(held_out, rows, points),
            explanations=explanations_of(held_out),
            versions={name: found for name, found in versions().items() if name in PACKAGES},
            metrics=scores.metrics_of(y, predicted, accepted, len(held_out.labels), table, groups),
            coverage=scores.fraction_of(accepted, groups=groups) if rejects else None,
            accepted_accuracy=scores.fraction_of(held_out.correct, accepted, groups) if rejects else None,
            costs=None if costs is None else scores.costs_of_predictions(costs, y, predicted),
            probabilities=None if table is None else scores.probabilities_of(table, y, is_calibrated=tempered),
        )

    def to_json(self) -> dict[str, JSONValue]:
        """The report in JSON types, the content of metrics.json; NaN and infinite values are None."""
        return to_json(self) | {"verdict": [answer._asdict() for answer in self.verdict]}

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
    **context: Argument,
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
        The training samples. They make the page complete, as `lvq fit` writes it: the model and logistic regression
        are refitted in five folds, and the model to 20 random halves for intervals of the importances. ``folds=None``
        and ``importances=None`` leave that out.
    **context : dict
        What else the page shows: the attributes of `lvq.reports.Context`, such as title, data_name, target, protocol,
        notes, groups, folds and importances with intervals.

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
    ...     found = lvq.report(model, X[1::2], y[1::2], page, data_name="irises", seed=0)
    ...     page.stat().st_size < 5e6
    True
    >>> found.metrics.accuracy.total
    75
    """
    require_dense(need_model(model, "the report").inputs(X), "The report")  # before the folds, which take long
    if X_train is not None and y_train is not None and context.get("groups") is None:
        known = column_or_1d(y_train)
        if "folds" not in context:
            context["folds"] = cross_validated(model, X_train, known)
        if "importances" not in context:
            context["importances"] = importances_with_intervals(model, X_train, known)
    made = Report.of(model, X, y, X_train=X_train, y_train=y_train, context=Context(**context))
    made.write(path)
    return made


def importances_with_intervals(
    model: BaseEstimator, X: MatrixLike, y: Labels, groups: np.ndarray | None = None, seed: int = 0
) -> VariableImportances | None:
    """Importances with intervals; None for a Euclidean metric, and for many rows."""
    if need_model(model, "the report").model.relevance is None or len(y) > MAX_INTERVAL_ROWS:
        return None
    return variable_importances(model, X, y, n_resamples=N_RESAMPLES, sample_groups=groups, random_state=seed)
