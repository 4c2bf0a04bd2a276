"""RelevanceDisplay: how much each feature counts in a model's distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from lvq.model.metrics import Euclidean
from lvq.plots.checks import cell_index, named_classes, names_for
from lvq.plots.models import cell_classes, cell_names, found_in, relevance_profile
from lvq.plots.style import (
    COLOURS,
    DASHES,
    axes,
    class_colours,
    class_markers,
    fitting,
    merged,
    name_ticks,
    percent,
    place_legend,
    pyplot,
)

KINDS = ("bar", "line")
NAMED = 20  # local matrices that are named in a legend


class RelevanceDisplay:
    """The weight of each feature in a model's distances; all sum to one.

    Make one with `from_estimator` or `from_cv_results`. All parameters are stored as attributes.

    Parameters
    ----------
    relevances : ndarray of shape (n_features,)
        Relevances; the mean where there are several.
    feature_names : sequence of str
        Names of the features.
    each : ndarray of shape (n_several, n_features), optional
        The relevances that `relevances` is the mean of.
    each_names : sequence of str, optional
        What they belong to: the local matrices of a model, by class or prototype. Without names they are folds.
    each_classes : sequence of int, optional
        Class index of each local matrix, for its colour.
    plain : bool, default=False
        Whether the metric weighs all features alike, which is then said.

    Attributes
    ----------
    bars_ : matplotlib BarContainer or None
        The bars, the most relevant first.
    lines_ : list of matplotlib Line2D
        The profile, where it is drawn as a line; marks of each local matrix or fold.
    errorbar_ : matplotlib artist or None
        One standard deviation over the folds to either side.
    order_ : ndarray of int
        Indices of the features that are shown, as they are shown.
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

    def __init__(
        self,
        *,
        relevances: Any,
        feature_names: Sequence[str],
        each: Any = None,
        each_names: Sequence[str] | None = None,
        each_classes: Any = None,
        plain: bool = False,
    ) -> None:
        self.relevances = relevances
        self.feature_names = feature_names
        self.each = each
        self.each_names = each_names
        self.each_classes = each_classes
        self.plain = plain

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bar",
        max_features: int | None = 20,
        sort: bool = True,
        bar_kwargs: dict[str, Any] | None = None,
        line_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the relevances.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        kind : {"bar", "line"}, default="bar"
            A bar with a name for each feature, or a line over all features in their order, as for spectra and signals.
        max_features : int, optional, default=20
            Bars to draw: the most relevant; the title tells what is left out. None draws all.
        sort : bool, default=True
            Whether bars go by relevance, else by the features' order.
        bar_kwargs, line_kwargs : dict, optional
            For matplotlib's `barh` and `plot`.

        Returns
        -------
        display : RelevanceDisplay
            With the artists as attributes.
        """
        if kind not in KINDS:
            raise ValueError(f"kind of RelevanceDisplay.plot must be 'bar' or 'line', got {kind!r}.")
        if max_features is not None and max_features < 1:
            raise ValueError(f"max_features of RelevanceDisplay.plot must be 1 or more, or None, got {max_features!r}.")
        relevances = np.asarray(self.relevances)
        shown = np.arange(len(relevances))
        if kind == "bar":
            best = np.argsort(-relevances, kind="stable")[:max_features]
            shown = best if sort else np.sort(best)
        self.order_ = shown
        width = 7.2 if self.each_names is None else 8.8  # inches, with room for a legend
        size = (width, float(np.clip(0.27 * len(shown) + 1.2, 2.4, 14)) if kind == "bar" else 4.0)
        self.ax_ = axes("RelevanceDisplay.plot", ax, size)
        self.figure_ = self.ax_.figure
        self.bars_, self.errorbar_ = None, None
        self.lines_: list[Any] = []
        if kind == "bar":
            self._draw_bars(relevances, bar_kwargs)
        else:
            self._draw_line(relevances, line_kwargs)
        self.ax_.set_title(self._title(relevances), size="small")
        # matplotlib would put lines before bars
        handles = sorted(self.ax_.get_legend_handles_labels()[0], key=lambda handle: handle.get_label() != "mean")
        self.legend_ = place_legend(self.ax_, handles) if self.each is not None else None
        return self

    def _title(self, relevances: Any) -> str:
        if self.plain:
            return "This model's metric is plain: all features count alike"
        if len(self.order_) == len(relevances):
            return ""
        rest = percent(float(1 - relevances[self.order_].sum()))
        return f"{len(self.order_)} of {len(relevances)} features; the others together have {rest}"

    def _draw_bars(self, relevances: Any, given: dict[str, Any] | None) -> None:
        from matplotlib.patches import Rectangle
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        places = np.arange(len(self.order_))
        mean = {"label": "mean"} if self.each is not None else {}
        style = merged({"color": COLOURS[0], "alpha": 0.75 if mean else 1.0, **mean}, given, Rectangle)
        self.bars_ = self.ax_.barh(places, relevances[self.order_], **style)
        if self.each is not None:
            each = np.asarray(self.each)[:, self.order_]
            if self.each_names is None:
                spread = {"fmt": "none", "ecolor": "black", "elinewidth": 1.2, "capsize": 3}
                self.errorbar_ = self.ax_.errorbar(
                    relevances[self.order_], places, xerr=each.std(axis=0), label="standard deviation", **spread
                )
            self._mark_each(each, lambda row: (row, places))
        name_ticks(self.ax_.yaxis, [self.feature_names[int(k)] for k in self.order_], limit=60)
        self.ax_.set_ylim(len(places) - 0.5, -0.5)
        self.ax_.set_xlim(left=0)
        self.ax_.set_xlabel("Relevance (weight in the distance)")
        self.ax_.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        self.ax_.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self.ax_.grid(axis="x", alpha=0.3)
        self.ax_.set_axisbelow(True)

    def _draw_line(self, relevances: Any, given: dict[str, Any] | None) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.ticker import PercentFormatter

        places = np.arange(len(relevances))
        mean = {"label": "mean"} if self.each is not None else {}
        if self.each is not None and self.each_names is None:
            spread = np.asarray(self.each).std(axis=0)
            self.errorbar_ = self.ax_.fill_between(
                places, np.maximum(relevances - spread, 0), relevances + spread, color=COLOURS[0], alpha=0.25, lw=0,
                label="standard deviation",
            )  # fmt: skip
        elif self.each is not None:
            colours = class_colours(max(self.each_classes) + 1)
            dashes = [DASHES[list(self.each_classes[:k]).count(index) % 4] for k, index in enumerate(self.each_classes)]
            for row, name, index, dash in zip(self.each, self._labels(), self.each_classes, dashes):
                self.lines_ += self.ax_.plot(places, row, color=colours[index], ls=dash, lw=0.9, label=name)
        style = {"color": "black" if self.each_names else COLOURS[0], "lw": 1.4, **mean}
        self.lines_ += self.ax_.plot(places, relevances, **merged(style, given, Line2D))
        name_ticks(self.ax_.xaxis, self.feature_names, limit=15, rotation=40)
        self.ax_.set_ylim(bottom=0)
        self.ax_.set(xlabel="Feature", ylabel="Relevance (weight in the distance)")
        self.ax_.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self.ax_.grid(alpha=0.3)

    def _labels(self) -> list[str | None]:
        """For the legend: the local matrices by name; if they are many, all as one."""
        names = self.each_names or ()
        return [*fitting(names, 24)] if len(names) <= NAMED else ["each local matrix", *[None] * (len(names) - 1)]

    def _mark_each(self, each: Any, at: Any) -> None:
        """A mark for each fold, all alike, or for each local matrix, in the colour and shape of its class."""
        if self.each_names is None:
            for number, row in enumerate(each):
                style = {"marker": "o", "ms": 3.5, "mfc": "white", "mec": "black", "mew": 0.6, "ls": "none"}
                self.lines_ += self.ax_.plot(*at(row), label="each fold" if number == 0 else None, **style)
            return
        colours, markers = class_colours(max(self.each_classes) + 1), class_markers(len(each))
        for row, name, index, marker in zip(each, self._labels(), self.each_classes, markers):
            style = {
                "marker": marker,
                "ms": 5,
                "color": colours[index],
                "mec": "black",
                "mew": 0.5,
                "ls": "none",
            }
            self.lines_ += self.ax_.plot(*at(row), label=name, **style)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        cell: Any = None,
        class_names: Any = None,
        feature_names: Any = None,
        ax: Any = None,
        **plot_kwargs: Any,
    ) -> Self:
        """The relevances of a fitted model: `relevances_`, or the diagonal of Lambda divided by its sum.

        Parameters
        ----------
        estimator : estimator
            A model of this library, alone, at the end of a Pipeline or in a `RejectClassifier`. The features are those
            that reach the model.
        cell : int or str, optional
            Which of several local matrices: its index, or its class or prototype as `cell_names` calls it. By default
            their mean, with a mark for each.
        class_names : sequence of str, optional
            Names for the classes of the local matrices, in the order of ``classes_``.
        feature_names : sequence of str, optional
            Names of the features; by default those that the model was fitted with.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **plot_kwargs : dict
            For `plot`: `kind`, `max_features`, `sort` and so on.

        Returns
        -------
        display : RelevanceDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        inner = found_in(estimator, cls.__name__).model
        profile = relevance_profile(estimator)
        several: dict[str, Any] = {}
        if profile.ndim == 2 and cell is None:
            names = named_classes(cls.__name__, inner.classes_, class_names)
            cells = {"each_names": cell_names(inner, names).tolist(), "each_classes": cell_classes(inner).tolist()}
            several = {"each": profile, **cells}
        elif cell is not None:
            profile = profile[cell_index(cls.__name__, estimator, cell)]
        display = cls(
            relevances=profile.mean(axis=0) if several else profile,
            feature_names=names_for(cls.__name__, estimator, feature_names),
            plain=isinstance(inner._metric, Euclidean),
            **several,
        )
        return display.plot(ax=ax, **plot_kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        *,
        feature_names: Any = None,
        ax: Any = None,
        **plot_kwargs: Any,
    ) -> Self:
        """The mean relevances over the folds of a cross-validation, and their spread.

        Parameters
        ----------
        cv_results : dict or sequence of estimators
            What `sklearn.model_selection.cross_validate` gives with ``return_estimator=True``, or the fitted models
            themselves. Of local matrices the mean is taken.
        feature_names, ax, **plot_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : RelevanceDisplay
        """
        pyplot(f"{cls.__name__}.from_cv_results")
        models = cv_results.get("estimator") if isinstance(cv_results, dict) else cv_results
        if models is None or not len(models):
            raise ValueError(
                f"cv_results of {cls.__name__} must hold fitted models under 'estimator'; call cross_validate with "
                "return_estimator=True."
            )
        profiles = [np.atleast_2d(relevance_profile(model)).mean(axis=0) for model in models]
        if len({len(profile) for profile in profiles}) > 1:
            raise ValueError(
                f"cv_results of {cls.__name__} must hold models of the same features, got "
                f"{sorted({len(profile) for profile in profiles})} of them."
            )
        display = cls(
            relevances=np.mean(profiles, axis=0),
            feature_names=names_for(cls.__name__, models[0], feature_names),
            each=np.array(profiles),
            plain=all(isinstance(found_in(model).model._metric, Euclidean) for model in models),
        )
        return display.plot(ax=ax, **plot_kwargs)
