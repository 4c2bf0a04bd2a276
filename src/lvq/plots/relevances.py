"""RelevanceDisplay: importances of the features, or their weights in a model's distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.found import need_model
from lvq.input_columns import Names
from lvq.model.metrics import Euclidean, LocalMetric
from lvq.original_features import Floats
from lvq.plots.arguments import check_kind, check_max_features, check_names, described, given_or_own, group_index
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import Values, chosen_values, group_classes, group_names, relevance_profile
from lvq.plots.style import (
    COLOURS,
    DASHES,
    class_colours,
    class_markers,
    merge_kwargs,
    name_ticks,
    percent,
    place_legend,
    pyplot,
    short_names,
)
from lvq.resampled_importances import RelevanceIntervals
from lvq.typing import Argument

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
MAX_NAMED = 20  # local matrices up to which the legend names each


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
            self._draw_bars(relevances, bar_kwargs)
        else:
            self._draw_line(relevances, line_kwargs)
        from matplotlib.ticker import PercentFormatter

        weights = self.ax_.xaxis if kind == "bar" else self.ax_.yaxis
        weights.set_label_text(AXES[self.values])
        weights.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self.ax_.set_title(self._title(relevances), size="small")
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

    def _intervals(self) -> tuple[Floats, str] | None:
        """Lengths of the whiskers to either side, (2, n_features), and their label."""
        if self.lower is None or self.upper is None:
            return None
        relevances = np.asarray(self.relevances)
        label = "interval" if self.confidence is None else f"{100 * self.confidence:g} % interval"
        lengths = np.array([relevances - np.asarray(self.lower), np.asarray(self.upper) - relevances])
        return np.maximum(lengths, 0), label

    def _draw_bars(self, relevances: Floats, given: dict[str, Argument] | None) -> None:
        from matplotlib.ticker import MaxNLocator

        places = np.arange(len(self.order_))
        mean = {"label": "mean"} if self.each is not None else {}
        style = merge_kwargs({"color": COLOURS[0], "alpha": 0.75 if mean else 1.0, **mean}, given, "patches.Rectangle")
        self.bars_ = self.ax_.barh(places, relevances[self.order_], **style)
        whiskers: dict[str, Argument] = {"fmt": "none", "ecolor": "black", "elinewidth": 1.2, "capsize": 3}
        intervals = self._intervals()
        if intervals is not None:
            whiskers |= {"xerr": intervals[0][:, self.order_], "label": intervals[1]}
            self.errorbar_ = self.ax_.errorbar(relevances[self.order_], places, **whiskers)
        if self.each is not None:
            each = np.asarray(self.each)[:, self.order_]
            if self.each_names is None:
                style = whiskers | {"xerr": each.std(axis=0), "label": "standard deviation"}
                self.errorbar_ = self.ax_.errorbar(relevances[self.order_], places, **style)
            self._draw_markers(each, places)
        name_ticks(self.ax_.yaxis, [self.feature_names[int(k)] for k in self.order_], limit=60)
        self.ax_.set_ylim(len(places) - 0.5, -0.5)
        self.ax_.set_xlim(left=0)
        self.ax_.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        self.ax_.grid(axis="x", alpha=0.3)
        self.ax_.set_axisbelow(True)

    def _draw_line(self, relevances: Floats, given: dict[str, Argument] | None) -> None:

        places = np.arange(len(relevances))
        mean = {"label": "mean"} if self.each is not None else {}
        intervals = self._intervals()
        if intervals is not None:
            low, high = relevances - intervals[0][0], relevances + intervals[0][1]
            style: dict[str, Argument] = {"color": COLOURS[0], "alpha": 0.25, "lw": 0, "label": intervals[1]}
            self.errorbar_ = self.ax_.fill_between(places, low, high, **style)
        if self.each is not None and self.each_names is None:
            spread = np.asarray(self.each).std(axis=0)
            style = {"color": COLOURS[0], "alpha": 0.25, "lw": 0, "label": "standard deviation"}
            low, high = np.maximum(relevances - spread, 0), relevances + spread
            self.errorbar_ = self.ax_.fill_between(places, low, high, **style)
        elif self.each is not None:
            classes = self._class_of_each()
            colours = class_colours(max(classes) + 1)
            dashes = [DASHES[classes[:k].count(index) % 4] for k, index in enumerate(classes)]
            for row, name, index, dash in zip(np.asarray(self.each), self._labels(), classes, dashes):
                self.lines_ += self.ax_.plot(places, row, color=colours[index], ls=dash, lw=0.9, label=name)
        style = {"color": "black" if self.each_names else COLOURS[0], "lw": 1.4, **mean}
        self.lines_ += self.ax_.plot(places, relevances, **merge_kwargs(style, given, "lines.Line2D"))
        name_ticks(self.ax_.xaxis, self.feature_names, limit=15, rotation=40)
        self.ax_.set_ylim(bottom=0)
        self.ax_.set_xlabel("Feature")
        self.ax_.grid(alpha=0.3)

    def _class_of_each(self) -> list[int]:
        return [] if self.each_classes is None else list(self.each_classes)

    def _labels(self) -> list[str | None]:
        """Labels of the local matrices for the legend; one label for all where there are many."""
        names = self.each_names or ()
        unnamed = ["each local matrix", *[None] * (len(names) - 1)]
        return unnamed if len(names) > MAX_NAMED else [*short_names(names, 24)]

    def _draw_markers(self, each: Floats, places: NDArray[np.intp]) -> None:
        """Markers of each fold, or of each local matrix in the colour of its class."""
        if self.each_names is None:
            for number, row in enumerate(each):
                style: dict[str, Argument] = {"marker": "o", "ms": 3.5, "mfc": "white", "mec": "black", "mew": 0.6}
                label = "each fold" if number == 0 else None
                self.lines_ += self.ax_.plot(row, places, ls="none", label=label, **style)
            return
        classes, markers = self._class_of_each(), class_markers(len(each))
        colours = class_colours(max(classes) + 1)
        for row, name, index, marker in zip(each, self._labels(), classes, markers):
            style = {"marker": marker, "ms": 5, "color": colours[index], "mec": "black", "mew": 0.5, "ls": "none"}
            self.lines_ += self.ax_.plot(row, places, label=name, **style)

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        values: Values | None = None,
        group: int | str | None = None,
        class_names: Sequence[str] | Names | None = None,
        feature_names: Sequence[str] | Names | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the importances of a fitted model's features, or their weights in its distances.

        The features are those that reach the model; `from_intervals` has the columns of a pipeline's input. Weights of
        local matrices are drawn as their mean over the prototypes, with a marker for each.

        Parameters
        ----------
        {estimator}
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
        model = need_model(estimator, cls.__name__).model
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
        display = cls(feature_names=names, euclidean=euclidean, **parameters)
        return display.plot(ax=ax, **plot_kwargs)

    @classmethod
    @described
    def from_intervals(cls, intervals: RelevanceIntervals, *, ax: Axes | None = None, **plot_kwargs: Argument) -> Self:
        """Plot importances with their intervals as whiskers, as `lvq.relevance_intervals` gives them.

        Parameters
        ----------
        intervals : RelevanceIntervals
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
        )
        return display.plot(ax=ax, **plot_kwargs)
