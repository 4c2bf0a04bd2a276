"""EffectDisplay: the log-odds of a class along each column of the input.

Log-odds of class a against class b are (xi/T) (d_b - d_a), with d_c the distance to the nearest prototype of class c.
Class b is the nearest other class of the median sample: the median of each number and the most frequent category.
- Where the metric is a weight for each feature, a and b have one prototype each, and no step mixes columns, the
  log-odds are a sum of functions of single columns, and these are drawn: the evidence of each column.
- Otherwise the curve shows the log-odds of the median sample with other values in one column.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, need_model
from lvq.inspection.columns import columns_of_features, input_values, is_missing, model_inputs
from lvq.inspection.explain import contributions_between
from lvq.inspection.importance import variable_importances
from lvq.inspection.mixed_rows import Layout, Mixed
from lvq.inspection.steps import positions
from lvq.model.rows import require_dense
from lvq.model.scores import class_distances
from lvq.plots.evidence import AGAINST, FOR
from lvq.plots.style import Display, name_ticks, short_name, short_names
from lvq.typing import Argument, Floats, Label, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_POINTS = 81  # of a curve
N_BINS = 20
MAX_CATEGORIES = 12
ENDS = (0.01, 0.99)  # quantiles of the samples between which a curve is drawn
CONFIDENCE = 0.9
SIDE_BY_SIDE = 3  # small plots
GREY = "#888888"
NAME_LENGTH = 16  # characters of a category
LEVEL, FEW = 28, 5  # characters up to which names are level, categories up to which they are hardly rotated


@dataclass(frozen=True)
class Effect:
    """The log-odds of a class along one column; the values of categories are their numbers, from 0."""

    name: str
    categories: list[str] | None  # the most frequent first; None for numbers
    values: list[float]
    log_odds: list[float]
    density: list[float]  # fraction of the samples in bins of equal width between the ends, or of each category
    prototypes: list[float]  # values of the class's prototypes,
    rivals: list[float]  # and of the rival class's
    error: list[float] | None = None  # half of the interval's width


@dataclass(frozen=True)
class Effects:
    """The effects of columns, the largest first, on the log-odds of a class against another."""

    label: str
    rival_label: str
    exact: bool  # whether they are functions of one column, whose sum is the log-odds
    columns: list[Effect]


def effects_of(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None = None,
    *,
    features: Sequence[str | int] | None = None,
    class_: Label | None = None,
    n_resamples: int = 0,
    refits: Sequence[BaseEstimator] = (),
) -> Effects:
    """The numbers of `EffectDisplay.from_estimator`, which describes the parameters.

    `refits` come from `variable_importances`, if it was called before.
    """
    found = need_model(estimator, "EffectDisplay")
    require_dense(X, "EffectDisplay")
    if found.model.log_odds_scale is None:
        raise ValueError(
            "EffectDisplay needs a model whose log-odds are differences of squared distances, such as LVQClassifier, "
            f"got {type(found.estimator).__name__}."
        )
    layout = Layout(found, X)
    samples = layout.split(X)
    shown = range(len(layout.names)) if features is None else positions(features, layout.names, "features").tolist()
    median = _median(samples)
    pair = _Pair(*_classes(found, layout.join(median), class_))
    if n_resamples:
        refits = variable_importances(estimator, X, y, n_resamples=n_resamples).refits
    halves = [need_model(refit, "EffectDisplay") for refit in refits]
    cells, labels, exact = input_values(found, found.model.prototypes), found.model.labels, pair.is_exact(found)
    effects = []
    for column in shown:
        grid = _grid(layout, samples, column)
        if grid is None:
            continue
        rows = _changed(layout, median, column, grid.cells)
        height = pair.log_odds(found, rows, column, exact)
        # the refits are not calibrated: they take the temperature of the model
        others = [pair.log_odds(half, rows, column, exact) / found.model.decision.temperature for half in halves]
        known = np.full(len(labels), None) if cells is None else cells[:, column]
        effects.append(
            Effect(
                name=str(layout.names[column]),
                categories=grid.categories,
                values=grid.values.tolist(),
                log_odds=height.tolist(),
                density=grid.density.tolist(),
                prototypes=grid.places(known[labels == pair.own]),
                rivals=grid.places(known[labels == pair.other]),
                error=_error(np.array(others) - height, exact).tolist() if others else None,
            )
        )
    names = found.model.classes
    ordered = sorted(effects, key=lambda effect: -np.ptp(effect.log_odds)) if features is None else effects
    return Effects(str(names[pair.own]), str(names[pair.other]), exact, ordered)


class _Pair(NamedTuple):
    """Indices of the class and of its rival."""

    own: int
    other: int

    def is_exact(self, found: FoundModel) -> bool:
        """Whether the log-odds are a sum of functions of single columns."""
        model = found.model
        single = (np.bincount(model.labels)[list(self)] == 1).all()
        return bool(single) and model.matrix_of(0).ndim == 1 and columns_of_features(found) is not None

    def log_odds(self, found: FoundModel, rows: MatrixLike, column: int, exact: bool) -> Floats:
        """Log-odds of rows, or the evidence of a column for them."""
        model, Z = found.model, model_inputs(found, rows)
        assert model.log_odds_scale is not None
        D = model.distances(Z).astype(np.float64)
        own, other = (np.where(model.labels == index, D, np.inf) for index in self)
        if not exact:
            return model.log_odds_scale * (other.min(axis=1) - own.min(axis=1))
        parts = contributions_between(found, Z, own.argmin(axis=1), other.argmin(axis=1))
        return model.log_odds_scale * parts[:, column]


class _Grid(NamedTuple):
    """Values of a column at which its effect is computed."""

    cells: np.ndarray  # as the column has them
    values: Floats
    density: Floats
    categories: list[str] | None = None

    def places(self, cells: np.ndarray) -> list[float]:
        """Values of prototypes, without values that are unknown or beyond the ends."""
        if self.categories is not None:
            return [float(self.categories.index(str(cell))) for cell in cells if str(cell) in self.categories]
        known = [float(cell) for cell in cells if isinstance(cell, float | int)]
        return [value for value in known if self.values[0] <= value <= self.values[-1]]


def _grid(layout: Layout, samples: Mixed, column: int) -> _Grid | None:
    """Numbers between the ends of a column, or its categories; None for a column that is constant."""
    if column in layout.categorical:
        counts = _frequent(samples.categories[:, layout.categorical == column].ravel())
        names, density = [str(cell) for cell in counts], np.array(list(counts.values())) / len(samples.categories)
        cells = np.array([*counts, None], dtype=object)[:-1]
        return _Grid(cells, np.arange(len(cells), dtype=np.float64), density, names) if len(cells) > 1 else None
    known = samples.numbers[:, layout.numeric == column]
    known = known[~np.isnan(known)]
    low, high = np.quantile(known, ENDS) if len(known) else (0.0, 0.0)
    if low == high and len(known):
        low, high = known.min(), known.max()
    if not low < high:
        return None
    counted, _ = np.histogram(np.clip(known, low, high), N_BINS, range=(low, high))
    values = np.linspace(low, high, N_POINTS, dtype=np.float64)
    return _Grid(values, values, counted / len(known))


def _frequent(cells: np.ndarray) -> dict[object, int]:
    """The most frequent categories, and their numbers."""
    return dict(Counter(cell for cell in cells.tolist() if not is_missing(cell)).most_common(MAX_CATEGORIES))


def _median(samples: Mixed) -> Mixed:
    """One row: the median of each number, and the most frequent category."""
    with warnings.catch_warnings():  # a column without any value
        warnings.simplefilter("ignore", RuntimeWarning)
        numbers = np.nanmedian(samples.numbers, axis=0)
    usual = samples.categories[:1].copy()
    for place, cells in enumerate(samples.categories.T):
        usual[0, place] = next(iter(_frequent(cells)), None)
    return Mixed(numbers[None], usual)


def _changed(layout: Layout, median: Mixed, column: int, cells: np.ndarray) -> MatrixLike:
    """The median sample with each value of a column."""
    rows = median.take(np.zeros(len(cells), dtype=np.intp))
    rows.numbers[:, layout.numeric == column] = cells[:, None]
    rows.categories[:, layout.categorical == column] = cells[:, None]
    return layout.join(rows)


def _classes(found: FoundModel, median: MatrixLike, class_: Label | None) -> tuple[int, int]:
    """Indices of the class and of the nearest other class of the median sample."""
    model, classes = found.model, found.model.classes.tolist()
    if class_ is not None and class_ not in classes:
        raise ValueError(f"class_ of EffectDisplay must be one of {classes[:10]}, got {class_!r}.")
    distances = class_distances(model.distances(model_inputs(found, median)), model.labels, len(classes))[0]
    usual = 1 if len(classes) == 2 else int(distances.argmin())
    own = usual if class_ is None else classes.index(class_)
    distances[own] = np.inf
    return own, int(distances.argmin())


def _error(away: Floats, exact: bool) -> Floats:
    """Half the width of the interval, from the differences of the refits, (n_resamples, n_values)."""
    if exact:  # a constant can move from column to column without changing the model
        away = away - away.mean(axis=1, keepdims=True)
    return t.ppf((1 + CONFIDENCE) / 2, max(1, len(away) - 1)) * np.sqrt((away**2).mean(axis=0))


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(Display):
    """The log-odds of a class along each column of the input, as small plots: the effect of each column.

    Create one with `from_estimator`. All parameters are stored as attributes. Triangles are the prototypes: of the
    class (upwards) and of the other class (downwards). Grey bars are the samples.

    Parameters
    ----------
    effects : Effects
        The classes and the curves; `exact` says whether the curves sum to the log-odds of each sample, or show the
        median sample.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The axes of the columns that are drawn, in their order.
    ax_, figure_ : matplotlib Axes and Figure
        Where they are drawn; `ax_` is the area of all of them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lvq import LVQClassifier
    >>> from lvq.plots import EffectDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LVQClassifier(form="additive", n_prototypes=1)
    >>> display = EffectDisplay.from_estimator(model.fit(X.iloc[:, :4], y), X.iloc[:, :4])
    >>> display.effects.exact, len(display.axes_)
    (True, 4)
    """

    effects: Effects

    def plot(self, ax: Axes | None = None, *, max_features: int | None = 12) -> Self:
        """Draw the curves; a new figure gets a title.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_features : int or None, default=12
            Number of columns, largest effects first; None draws all.

        Returns
        -------
        display : EffectDisplay
            The display, with the artists as attributes.
        """
        self._check(max_features)
        shown = self.effects.columns[:max_features]
        wide = max(1, min(SIDE_BY_SIDE, len(shown)))
        high = max(1, -(-len(shown) // wide))
        self._set_axes(ax, (3.0 * wide + 0.6, 2.1 * high + 0.8))
        self.ax_.set_axis_off()
        area = self.ax_.get_subplotspec()
        if area is None:
            raise ValueError("ax of EffectDisplay.plot must be part of a grid, such as plt.subplots makes.")
        places = area.subgridspec(high, wide)
        self.axes_: list[Axes] = []
        for place, effect in enumerate(shown):
            axes = self.figure_.add_subplot(places[divmod(place, wide)], sharey=self.axes_[0] if self.axes_ else None)
            _draw(axes, effect)
            axes.tick_params(labelleft=place % wide == 0)
            self.axes_.append(axes)
        if ax is None:
            self.figure_.suptitle(self.title, size="medium")
        return self

    @property
    def title(self) -> str:
        """What is drawn, in words."""
        label, rival = short_name(self.effects.label, 24), short_name(self.effects.rival_label, 24)
        if self.effects.exact:
            return f"Evidence of each column for {label} against {rival}"
        return f"Log-odds of {label} against {rival}, through the median sample"

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        y: ArrayLike | None = None,
        *,
        features: Sequence[str | int] | None = None,
        class_: Label | None = None,
        n_resamples: int = 0,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the effects of the columns of X.

        The other class is the nearest other one of the median sample. In a model with a weight for each feature and one
        prototype of each of the two classes, curves are the evidence of each column, as in `lvq.explain`: for every
        sample they sum to its log-odds. In other models a curve is the log-odds of the median sample with other values
        in that column.

        Parameters
        ----------
        estimator : estimator
            A fitted model whose log-odds are differences of squared distances, such as `LVQClassifier`, alone or in a
            Pipeline, a search or a `RejectClassifier`.
        X : array-like of shape (n_samples, n_columns)
            Samples, as the estimator takes them, a data frame or an array.
        y : array-like of shape (n_samples,), optional
            Their classes, for `n_resamples`.
        features : sequence of str or int, optional
            Names or indices of columns; by default all, those with the largest effects first.
        class_ : label, optional
            The class; by default the second of two, or the one that is predicted for the median sample.
        n_resamples : int, default=0
            Number of refits to random halves, for a 90 % interval of each curve. Where curves are evidence, it is for
            the shape of the curve, as a constant can move from one curve to another.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : EffectDisplay
            The display, drawn.
        """
        effects = effects_of(estimator, X, y, features=features, class_=class_, n_resamples=n_resamples)
        return cls(effects=effects).plot(**plot_kwargs)


def _draw(ax: Axes, effect: Effect) -> None:
    """The curve of numbers, or bars of categories; prototypes and samples."""
    from matplotlib.ticker import MaxNLocator

    places, height, width = np.array(effect.values), np.array(effect.log_odds), 0.7
    samples = places
    if effect.categories is not None:
        ax.bar(places, height, width, color=FOR, yerr=effect.error, capsize=3)
        _name_categories(ax, short_names(effect.categories, NAME_LENGTH))
    else:
        ax.plot(places, height, color=FOR, lw=1.6)
        if effect.error is not None:
            ax.fill_between(places, height - effect.error, height + effect.error, color=FOR, alpha=0.25, lw=0)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        ax.set_xlim(places[0], places[-1])
        width = (places[-1] - places[0]) / len(effect.density)
        samples = places[0] + width * (np.arange(len(effect.density)) + 0.5)
    tall = 0.18 * np.array(effect.density) / max(effect.density)
    ax.bar(samples, tall, width, color=GREY, alpha=0.35, transform=ax.get_xaxis_transform(), zorder=0)
    for at, marker, colour in ((effect.prototypes, "^", FOR), (effect.rivals, "v", AGAINST)):
        ax.plot(at, np.interp(at, places, height), marker, color=colour, mec="white", ms=7, ls="none")
    ax.axhline(0, color=GREY, lw=0.8, ls="--")
    ax.set_title(short_name(effect.name), size="small")
    ax.grid(axis="y", alpha=0.3)
    ax.margins(y=0.12)


def _name_categories(ax: Axes, names: Sequence[str]) -> None:
    """Level names if they fit next to each other; otherwise steeper names, the more there are."""
    length = sum(map(len, names)) + 2 * len(names)
    name_ticks(ax.xaxis, names, rotation=0 if length <= LEVEL else 30 if len(names) <= FEW else 60)
