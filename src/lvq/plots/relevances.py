"""RelevanceDisplay: importances of the features, or their weights in a model's distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import steps_without_inverse
from lvq.inspection.importance import VariableImportances, variable_importances
from lvq.inspection.steps import Floats, Names
from lvq.model.metrics import Euclidean, LocalMetric
from lvq.plots.arguments import check_kind, check_max_features, check_names, described, given_or_own, group_index
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import Values, chosen_values, group_classes, group_names, relevance_profile
from lvq.plots.relevance_bars import draw_bars, draw_line
from lvq.plots.style import after, percent, place_legend, pyplot
from lvq.typing import Argument, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D

KINDS = ("bar", "line")
AXES = {
    "importance": "Importance",
    "lambda": "Relevance (weight in the distance)",
}


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(Display):
    """Importance of each feature, or its weight in a model's distances; they sum to one.

    Create one with `from_estimator`, `from_intervals` or `from_cv_results`. All parameters are stored as attributes.

    Parameters
    ----------
    relevances : ndarray of shape (n_features,)
        Importances or weights; the mean where `each` has several.
    feature_names : sequence of str
        Names of the features.
    each : ndarray of shape (n_profiles, n_features), optional
        Weights of each local matrix, or values of each fold.
    each_names : sequence of str, optional
        Names of the local matrices, by class or prototype; None for folds.
    each_classes : sequence of int, optional
        Class index of each local matrix, for its colour.
    euclidean : bool, default=False
        Whether the metric is Euclidean, so that all weights are equal; stated in the title.
    values : {"importance", "lambda"}, default="lambda"
        Which of the two they are; stated on the axis.
    lower, upper : ndarray of shape (n_features,), optional
        Ends of an interval of each importance, drawn as whiskers.
    confidence : float, optional
        Confidence of these intervals, for the legend.
    steps : sequence of str, default=()
        Names of the steps behind which the features are, where these cannot be inverted; stated in the title.

    Attributes
    ----------
    bars_ : matplotlib BarContainer or None
        The bars, the largest first.
    lines_ : list of matplotlib Line2D
        The profile drawn as a line; markers of each local matrix or fold.
    errorbar_ : matplotlib artist or None
        The intervals, or one standard deviation over the folds to either side.
    order_ : ndarray of int
        Indices of the features that are drawn, in the order in which they are drawn.
    legend_ : matplotlib Legend or None
        The legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GRLVQ
    >>> from lvq.plots import RelevanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RelevanceDisplay.from_estimator(GRLVQ(random_state=0).fit(X, y))
    >>> display.feature_names[display.order_[0]].startswith("petal")
    True
    """

    relevances: ArrayLike
    feature_names: Sequence[str]
    each: ArrayLike | None = None
    each_names: Sequence[str] | None = None
    each_classes: Sequence[int] | None = None
    euclidean: bool = False
    values: Values = "lambda"
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    confidence: float | None = None
    steps: Sequence[str] = ()

    @described
    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "bar",
        max_features: int | None = 20,
        sort: bool = True,
        bar_kwargs: dict[str, Argument] | None = None,
        line_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Draw the relevances.

        Parameters
        ----------
        {ax}
        kind : {"bar", "line"}, default="bar"
            A bar with a name for each feature, or a line over all features in their order, as for spectra.
        max_features : int or None, default=20
            Number of bars, those with the largest values; the title states the sum of the others. None draws all.
        sort : bool, default=True
            Whether to sort the bars by relevance instead of by the order of the features.
        {bar_kwargs}
        {line_kwargs}

        Returns
        -------
        display : RelevanceDisplay
            The display, with the artists as attributes.
        """
        check_kind("RelevanceDisplay.plot", kind, KINDS)
        check_max_features("RelevanceDisplay.plot", max_features)
        relevances = np.asarray(self.relevances)
        self.order_ = np.arange(len(relevances))
        if kind == "bar":
            best = np.argsort(-relevances, kind="stable")[:max_features]
            self.order_ = best if sort else np.sort(best)
        width = 7.2 if self.each_names is None else 8.8  # inches, with space for a legend
        size = (width, float(np.clip(0.27 * len(self.order_) + 1.2, 2.4, 14)) if kind == "bar" else 4.0)
        self._set_axes(ax, size)
        self.bars_: BarContainer | None = None
        self.errorbar_: ErrorbarContainer | PolyCollection | None = None
        self.lines_: list[Line2D] = []
        if kind == "bar":
            draw_bars(self, relevances, bar_kwargs)
        else:
            draw_line(self, relevances, line_kwargs)
        from matplotlib.ticker import PercentFormatter

        weights = self.ax_.xaxis if kind == "bar" else self.ax_.yaxis
        weights.set_label_text(AXES[self.values])
        weights.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        title = [after(self.steps)] * bool(self.steps) + [self._title(relevances)]
        self.ax_.set_title("\n".join(filter(None, title)), size="small")
        # matplotlib would list lines before bars
        handles = sorted(self.ax_.get_legend_handles_labels()[0], key=lambda handle: handle.get_label() != "mean")
        self.legend_ = place_legend(self.ax_, handles) if self.each is not None or self.lower is not None else None
        return self

    def _title(self, relevances: Floats) -> str:
        if self.euclidean:
            return "Euclidean metric: all features have the same weight"
        if len(self.order_) == len(relevances):
            return ""
        rest = percent(max(0.0, float(1 - relevances[self.order_].sum())))
        what = "importance" if self.values == "importance" else "weight"
        return f"{len(self.order_)} of {len(relevances)} features; total {what} of the others: {rest}"

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        X: MatrixLike | None = None,
        values: Values | None = None,
        group: int | str | None = None,
        class_names: Sequence[str] | Names | None = None,
        feature_names: Sequence[str] | Names | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the importances of a fitted model's features, or their weights in its distances.

        The features are those that reach the model. With X, and in `from_intervals`, they are the columns of a
        pipeline's input, as in the report: a step such as `SavitzkyGolay` keeps the names of the columns, but its
        outputs are others, and the title then names the steps. Weights of local matrices are drawn as their mean over
        the prototypes, with a marker for each.

        Parameters
        ----------
        {estimator}
        X : array-like of shape (n_samples, n_features), optional
            Samples, for the importances of its columns by `lvq.variable_importances`.
        values : {"importance", "lambda"}, optional
            "importance" for `feature_importances_`, "lambda" for `relevances_` or the diagonal of Lambda divided by
            its sum, which is arbitrary for correlated features. None is "importance" where the model has it and no
            group is chosen.
        {group}
        {class_names}
        {feature_names}
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : RelevanceDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        if X is not None:
            return cls._of_columns(estimator, X, values, group, feature_names).plot(ax=ax, **plot_kwargs)
        found = need_model(estimator, cls.__name__)
        model = found.model
        shown = chosen_values(f"{cls.__name__}.from_estimator", model, values, per_matrix=group is not None)
        parameters: dict[str, Argument] = {"relevances": relevance_profile(estimator, values=shown), "values": shown}
        if group is not None:
            index = group_index(cls.__name__, estimator, group)
            parameters["relevances"] = relevance_profile(estimator, per_matrix=True)[index]
        elif isinstance(model.metric, LocalMetric) and shown == "lambda":
            classes = given_or_own(cls.__name__, "class_names", class_names, model.classes)
            parameters["each"] = relevance_profile(estimator, per_matrix=True)
            parameters["each_names"] = group_names(estimator, classes).tolist()
            parameters["each_classes"] = group_classes(model).tolist()
        names = check_names(cls.__name__, estimator, feature_names)
        euclidean = shown == "lambda" and isinstance(model.metric, Euclidean)
        display = cls(feature_names=names, euclidean=euclidean, steps=steps_without_inverse(found), **parameters)
        return display.plot(ax=ax, **plot_kwargs)

    @classmethod
    def _of_columns(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        values: Values | None,
        group: int | str | None,
        names: Sequence[str] | Names | None,
    ) -> Self:
        """Importances of the columns of X."""
        if values == "lambda" or group is not None:
            raise ValueError(
                f"X of {cls.__name__}.from_estimator is for importances of its columns; leave it out with "
                "values='lambda' or a group, which belong to the features that reach the model."
            )
        found = variable_importances(estimator, X)
        given = given_or_own(cls.__name__, "feature_names", names, found.names).tolist()
        return cls(relevances=found.importances, feature_names=given, values="importance")

    @classmethod
    @described
    def from_intervals(cls, intervals: VariableImportances, *, ax: Axes | None = None, **plot_kwargs: Argument) -> Self:
        """Plot importances with their intervals as whiskers.

        `lvq.variable_importances` gives them with `n_resamples`.

        Parameters
        ----------
        intervals : VariableImportances
            Importances of the columns of X, a categorical variable as one, with intervals.
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : RelevanceDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_intervals")
        display = cls(
            relevances=intervals.importances,
            feature_names=intervals.names.tolist(),
            values="importance",
            lower=intervals.lower,
            upper=intervals.upper,
            confidence=intervals.confidence,
        )
        return display.plot(ax=ax, **plot_kwargs)

    @classmethod
    @described
    def from_cv_results(
        cls,
        cv_results: dict[str, Argument] | Sequence[BaseEstimator],
        *,
        values: Values | None = None,
        feature_names: Sequence[str] | Names | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the mean importances over the folds of a cross-validation, with their standard deviation.

        Parameters
        ----------
        cv_results : dict or sequence of estimators
            Result of `sklearn.model_selection.cross_validate` with ``return_estimator=True``, or the fitted models
            themselves. Local matrices are averaged over the prototypes.
        values : {"importance", "lambda"}, optional
            As in `from_estimator`; None is "importance" where all models have it.
        {feature_names}
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : RelevanceDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_cv_results")
        models = cv_results.get("estimator") if isinstance(cv_results, dict) else cv_results
        if models is None or not len(models):
            raise ValueError(
                f"cv_results of {cls.__name__} must have fitted models under 'estimator'; call cross_validate with "
                "return_estimator=True."
            )
        fitted = [need_model(model, cls.__name__).model for model in models]
        choices = {chosen_values(f"{cls.__name__}.from_cv_results", model, values) for model in fitted}
        shown: Values = "importance" if choices == {"importance"} else "lambda"
        profiles = [relevance_profile(model, values=shown) for model in models]
        if len({len(profile) for profile in profiles}) > 1:
            raise ValueError(
                f"cv_results of {cls.__name__} must have models with the same number of features, got "
                f"{sorted({len(profile) for profile in profiles})}."
            )
        display = cls(
            relevances=np.mean(profiles, axis=0),
            feature_names=check_names(cls.__name__, models[0], feature_names),
            each=np.array(profiles),
            euclidean=shown == "lambda" and all(isinstance(model.metric, Euclidean) for model in fitted),
            values=shown,
            steps=steps_without_inverse(need_model(models[0], cls.__name__)),
        )
        return display.plot(ax=ax, **plot_kwargs)
