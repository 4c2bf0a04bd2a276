"""What features weigh: RelevanceDisplay for single ones, LambdaDisplay for pairs in the distances of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import steps_without_inverse
from lvq.inspection.importance import VariableImportances
from lvq.model.metrics import Euclidean, LocalMetric
from lvq.plots import arrays, style
from lvq.plots.arrays import Values, relevance_profile
from lvq.typing import Argument, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D

MAX_NAMED = 40  # features up to which a matrix has their names
AXES = {"importance": "Importance", "lambda": "Relevance (weight in the distance)"}


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(style.Display):
    """Importance of each feature, or its weight in a model's distances; they sum to one.

    Create one with `from_estimator` or `from_importances`. All parameters are stored as attributes.

    Parameters
    ----------
    relevances : ndarray of shape (n_features,)
        Importances or weights.
    feature_names : sequence of str
        Names of the features.
    values : {"importance", "lambda"}, default="lambda"
        Which of the two these are; stated on the axis.
    intervals : ndarray of shape (2, n_features), optional
        Lower and upper ends of an interval of each importance, drawn as whiskers.
    confidence : float, optional
        Confidence of these intervals, for the legend.
    title : str, default=""
        First line of the title.

    Attributes
    ----------
    bars_ : matplotlib BarContainer or None
        The bars, the largest first.
    line_ : matplotlib Line2D or None
        The values drawn as a line.
    errorbar_ : matplotlib artist or None
        The intervals.
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
    values: Values = "lambda"
    intervals: ArrayLike | None = None
    confidence: float | None = None
    title: str = ""

    def plot(self, ax: Axes | None = None, *, kind: str = "bar", max_features: int | None = 20) -> Self:
        """Draw the relevances.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        kind : {"bar", "line"}, default="bar"
            A bar with a name for each feature, or a line over all features in their order, as for spectra.
        max_features : int or None, default=20
            Number of bars, largest values first; the title states the sum of the others. None draws all.

        Returns
        -------
        display : RelevanceDisplay
            The display, with the artists as attributes.
        """
        self._check(max_features, kind, ("bar", "line"))
        self._interval_label = "interval" if self.confidence is None else f"{100 * self.confidence:g} % interval"
        relevances = np.asarray(self.relevances)
        self.order_: NDArray[np.intp] = np.argsort(-relevances, kind="stable")[:max_features]
        self.bars_: BarContainer | None = None
        self.line_: Line2D | None = None
        self.errorbar_: ErrorbarContainer | PolyCollection | None = None
        if kind == "bar":
            self._draw_bars(ax, relevances)
        else:
            self.order_ = np.arange(len(relevances))
            self._draw_line(ax, relevances)
        self.ax_.set_title("\n".join(filter(None, [self.title, self._rest(relevances)])), size="small")
        self.legend_ = None if self.errorbar_ is None else self.ax_.legend(loc="best")
        return self

    def _rest(self, relevances: Floats) -> str:
        """What is said about the features that are not drawn."""
        if len(self.order_) == len(relevances):
            return ""
        rest = style.percent(max(0.0, float(1 - relevances[self.order_].sum())))
        what = "importance" if self.values == "importance" else "weight"
        return f"{len(self.order_)} of {len(relevances)} features; total {what} of the others: {rest}"

    def _draw_bars(self, ax: Axes | None, relevances: Floats) -> None:
        """A bar for each of the chosen features, with its interval."""
        self._set_axes(ax, (7.2, float(np.clip(0.27 * len(self.order_) + 1.2, 2.4, 14))))
        from matplotlib.ticker import MaxNLocator

        places, shown = np.arange(len(self.order_)), relevances[self.order_]
        self.bars_ = self.ax_.barh(places, shown, color=style.COLOURS[0])
        if self.intervals is not None:
            low, high = np.asarray(self.intervals)[:, self.order_]
            look: dict[str, Argument] = {"fmt": "none", "ecolor": "black", "elinewidth": 1.2, "capsize": 3}
            lengths = np.maximum([shown - low, high - shown], 0)
            self.errorbar_ = self.ax_.errorbar(shown, places, xerr=lengths, label=self._interval_label, **look)
        style.bar_axes(self.ax_, [self.feature_names[int(k)] for k in self.order_])
        self.ax_.set_xlabel(AXES[self.values])
        self.ax_.set_xlim(left=0)
        self.ax_.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        style.show_percent(self.ax_.xaxis)

    def _draw_line(self, ax: Axes | None, relevances: Floats) -> None:
        """A line over all features, with intervals."""
        self._set_axes(ax, (7.2, 4.0))
        places = np.arange(len(relevances))
        (self.line_,) = self.ax_.plot(places, relevances, color=style.COLOURS[0], lw=1.4)
        if self.intervals is not None:
            low, high = np.asarray(self.intervals)
            look: dict[str, Argument] = {"color": style.COLOURS[0], "alpha": 0.25, "lw": 0}
            self.errorbar_ = self.ax_.fill_between(places, low, high, label=self._interval_label, **look)
        style.curve_axes(self.ax_, self.feature_names)
        self.ax_.set_ylabel(AXES[self.values])
        self.ax_.set_ylim(bottom=0)
        style.show_percent(self.ax_.yaxis)

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, values: Values | None = None, **plot_kwargs: Argument) -> Self:
        """Plot the importances of a fitted model's features, or their weights in its distances.

        The features are those that reach the model; `from_importances` shows the columns of a pipeline's input, as the
        report does. A step such as `lvq.SavitzkyGolay` changes the columns but keeps their names; the title then names
        the steps.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        values : {"importance", "lambda"}, optional
            "importance" for `feature_importances_`, "lambda" for `relevances_` or the diagonal of Lambda divided by
            its sum, which is arbitrary for correlated features. None is "importance" where the model has it.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : RelevanceDisplay
            The display, drawn.
        """
        found = need_model(estimator, cls.__name__)
        relevances = relevance_profile(estimator, values=values)
        shown = values or ("lambda" if found.model.importances is None else "importance")
        title = style.after(steps_without_inverse(found))
        if shown == "lambda" and isinstance(found.model.metric, Euclidean):
            title = "Euclidean metric: all features have the same weight"
        names = arrays.feature_names(estimator).tolist()
        return cls(relevances=relevances, feature_names=names, values=shown, title=title).plot(**plot_kwargs)

    @classmethod
    def from_importances(cls, importances: VariableImportances, **plot_kwargs: Argument) -> Self:
        """Plot the importances of the columns of X, a categorical variable as one, with their intervals as whiskers.

        Parameters
        ----------
        importances : VariableImportances
            From `lvq.variable_importances`; its `n_resamples` gives intervals.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : RelevanceDisplay
            The display, drawn.
        """
        display = cls(
            relevances=importances.importances,
            feature_names=importances.names.tolist(),
            values="importance",
            intervals=[importances.lower, importances.upper] if len(importances.resampled) else None,
            confidence=importances.confidence,
        )
        return display.plot(**plot_kwargs)


@dataclass(kw_only=True, eq=False, repr=False)
class LambdaDisplay(style.Display):
    """The matrix Lambda of a model's distance (x - w)'Lambda (x - w), as a heat map.

    Create one with `from_estimator`. All parameters are stored as attributes. The diagonal has the weight of each
    single feature. An off-diagonal entry is the weight of a pair of features: positive where differences in the same
    direction increase the distance, negative where they decrease it.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Lambda.
    feature_names : sequence of str
        Names of the features.
    title : str, default="Lambda"
        The title.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar
        Its colour scale.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.plots import LambdaDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> display = LambdaDisplay.from_estimator(model)
    >>> bool((display.image_.get_array() == model.lambda_).all())
    True
    """

    matrix: ArrayLike
    feature_names: Sequence[str]
    title: str = "Lambda"

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the heat map; the names of up to 40 features are shown.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        display : LambdaDisplay
            The display, with the artists as attributes.
        """
        names, many = list(self.feature_names), len(self.feature_names) > MAX_NAMED
        side = 5.0 if many else float(np.clip(0.25 * len(names), 3, 8))
        longest = 8 if many else max(map(len, style.short_names(names)))
        self._set_axes(ax, (side + 0.08 * longest + 1.4, side + 0.06 * longest + 0.7))  # with space for the names
        self.image_ = style.heat_map(self.ax_, np.asarray(self.matrix), "equal")
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85, label="Weight in the distances")
        style.name_ticks(self.ax_.yaxis, names, limit=MAX_NAMED)
        style.name_ticks(self.ax_.xaxis, names, limit=MAX_NAMED, rotation=50)
        if many:
            label = style.feature_label(names, "Index of the feature")
            self.ax_.set(xlabel=label, ylabel=label)
        self.ax_.set_title(style.short_name(self.title, 50))
        return self

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, **plot_kwargs: Argument) -> Self:
        """Plot Lambda of a fitted model: diagonal for relevances, the identity for the Euclidean metric.

        The features are those that reach the model. Local matrices are replaced by their mean over the prototypes; to
        display a single one, use ``model.lambda_``.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : LambdaDisplay
            The display, drawn.
        """
        model = need_model(estimator, cls.__name__).model
        title = "Lambda, mean over the prototypes" if isinstance(model.metric, LocalMetric) else "Lambda"
        names = arrays.feature_names(estimator).tolist()
        return cls(matrix=arrays.mean_lambda(model), feature_names=names, title=title).plot(**plot_kwargs)
