"""PrototypeDisplay: prototypes in the units of the pipeline's input, as a table, lines or images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, need_model
from lvq.inspection.columns import steps_without_inverse
from lvq.plots import arrays, style
from lvq.plots.style import short_names
from lvq.typing import Argument, Floats, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MAX_COLUMNS_WITH_TEXT = 14  # prototypes up to which a table shows its values
MAX_ROWS_WITH_TEXT = 60
MAX_NAMED_IMAGES = 20  # with the name of the prototype; more are named by class
MANY = 60  # ordered features that are drawn as lines


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypeDisplay(style.Display):
    """Prototypes as a table of values, as lines over the features, or as images.

    Create one with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n_prototypes, n_features)
        Prototypes, in the units of X; NaN for features that the model does not use. A category has its fraction.
    feature_names : sequence of str
        Names of the features.
    prototype_names : sequence of str
        Names of the prototypes.
    prototype_classes : sequence of int
        Index of each prototype's class.
    classes : sequence
        Names of the classes.
    differences : ndarray of shape (n_prototypes, n_features), optional
        Differences from the mean prototype in the units of the model, which the colours of a table show; by default
        differences of the values, divided by their standard deviation.
    relevances : ndarray of shape (n_features,), optional
        Importance of each feature; a table that cannot show all shows the most important.
    title : str, default=""
        The title, which names the steps that cannot be inverted, if any: values are after these.

    Attributes
    ----------
    image_ : matplotlib AxesImage or None
        The colours of the table, or all images side by side.
    texts_ : list of matplotlib Text
        The values of the table, or the labels of the images.
    lines_ : list of matplotlib Line2D
        The lines.
    colorbar_ : matplotlib Colorbar or None
        The scale of the colours.
    order_ : ndarray of int
        Indices of the features that are drawn, in the order in which they are drawn.
    legend_ : matplotlib Legend
        The legend of the lines.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> from lvq.plots import PrototypeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> display = PrototypeDisplay.from_estimator(model)
    >>> display.values.shape, display.feature_names[0]
    ((3, 4), 'sepal length (cm)')
    """

    values: ArrayLike
    feature_names: Sequence[str]
    prototype_names: Sequence[str]
    prototype_classes: Sequence[int] | NDArray[np.intp]
    classes: Sequence[object] | Labels
    differences: ArrayLike | None = None
    relevances: ArrayLike | None = None
    title: str = ""

    def plot(self, ax: Axes | None = None, *, kind: str = "auto", max_features: int | None = 30) -> Self:
        """Draw the prototypes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        kind : {"auto", "table", "line", "image"}, default="auto"
            "auto" uses images if the features fill a square of 8 x 8 or more and are called pixels, are numbered by
            row and column, or have no names; lines if more than 60 features are numbered; otherwise a table.
        max_features : int or None, default=30
            Number of rows of a table, the most important features first; None shows all, in their order.

        Returns
        -------
        display : PrototypeDisplay
            The display, with the artists as attributes.
        """
        self._check(max_features, kind, ("auto", "table", "line", "image"))
        self.image_: AxesImage | None = None
        self.colorbar_: Colorbar | None = None
        self.texts_: list[Text] = []
        self.lines_: list[Line2D] = []
        values = np.asarray(self.values, dtype=np.float64)
        self.order_: NDArray[np.intp] = np.arange(values.shape[1])
        kind = self._kind() if kind == "auto" else kind
        if kind == "image":
            label = self._draw_images(ax, values)
        elif kind == "line":
            label = self._draw_lines(ax, values)
        else:
            label = self._draw_table(ax, values, max_features)
        if self.image_ is not None:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, label=label)
        self.ax_.set_title(self.title, size="small")
        return self

    def _kind(self) -> str:
        if arrays.pixel_places(self.feature_names) is not None:
            return "image"
        many = len(self.feature_names) > MANY
        return "line" if many and arrays.ordered_axis(self.feature_names) is not None else "table"

    # -- table ---------------------------------------------------------------------------------------------------------

    def _draw_table(self, ax: Axes | None, values: Floats, max_features: int | None) -> str:
        """A table of values, coloured by their differences from the mean; gives the label of the colours."""
        used = np.flatnonzero(~np.isnan(values).all(axis=0))
        unit = "standard deviations" if self.differences is None else "the units of the model"
        differences = standardised(values) if self.differences is None else np.asarray(self.differences)
        self.order_ = used
        if max_features is not None and len(used) > max_features:
            weight = np.abs(differences).max(axis=0) if self.relevances is None else np.asarray(self.relevances)
            self.order_ = used[np.argsort(-np.nan_to_num(weight[used]), kind="stable")[:max_features]]
        texts = [[style.number(float(value), 3) for value in row] for row in values[:, self.order_]]
        inches = max(0.72, 0.075 * max(len(text) for row in texts for text in row))  # of a column
        width = float(np.clip(3.4 + inches * min(len(values), MAX_COLUMNS_WITH_TEXT), 5.6, 13))
        self._set_axes(ax, (width, float(np.clip(0.27 * len(self.order_) + 1.6, 3, 16))))
        shown = differences[:, self.order_].T
        self.image_ = style.heat_map(self.ax_, shown, "auto")
        if len(values) <= MAX_COLUMNS_WITH_TEXT and len(self.order_) <= MAX_ROWS_WITH_TEXT:
            self._write(texts, np.abs(shown) > 0.65 * np.nanmax(np.abs(shown)))
        self._label_table(len(used))
        return f"Difference from the mean prototype,\nin {unit}"

    def _write(self, texts: list[list[str]], dark: NDArray[np.bool_]) -> None:
        """The values in their cells, white on dark cells."""
        size = style.font_size(self.ax_.yaxis, len(self.order_), 8)
        for (row, column), is_dark in np.ndenumerate(dark):
            look: dict[str, Argument] = {"ha": "center", "va": "center", "color": "white" if is_dark else "black"}
            self.texts_.append(self.ax_.text(column, row, texts[column][row], size=size, **look))

    def _label_table(self, n_used: int) -> None:
        style.name_ticks(self.ax_.yaxis, [self.feature_names[int(k)] for k in self.order_], limit=MAX_ROWS_WITH_TEXT)
        self.ax_.xaxis.tick_top()
        inches = self.ax_.get_window_extent().width / self.figure_.dpi / len(self.prototype_names)  # of a column
        long = max(map(len, short_names(self.prototype_names))) * 0.09 > inches
        style.name_ticks(self.ax_.xaxis, self.prototype_names, rotation=40 if long else 0, side="left")
        self.ax_.tick_params(length=0)
        if len(self.order_) < n_used:
            which = "most different" if self.relevances is None else "most important"
            self.ax_.set_xlabel(f"The {len(self.order_)} {which} of {n_used} features", size="small")

    # -- lines and images ----------------------------------------------------------------------------------------------

    def _draw_lines(self, ax: Axes | None, values: Floats) -> str:
        """A line over the features for each prototype, in the colour of its class."""
        self._set_axes(ax, (7.8, 4.6))
        colours, names = style.class_colours(len(self.classes)), short_names(self.classes, 24)
        for place, (row, index) in enumerate(zip(values, self.prototype_classes)):
            label = None if index in self.prototype_classes[:place] else names[index]
            self.lines_ += self.ax_.plot(self.order_, row, color=colours[index], linewidth=1.4, label=label)
        style.curve_axes(self.ax_, self.feature_names)
        self.ax_.set_ylabel("Value of the prototype")
        self.ax_.margins(x=0.01)
        self.legend_ = style.place_legend(self.ax_)
        return ""

    def _draw_images(self, ax: Axes | None, values: Floats) -> str:
        """An image of each prototype, class by class; gives the label of the colours."""
        places = arrays.pixel_places(self.feature_names)
        if places is None:
            raise ValueError(
                "kind='image' of PrototypeDisplay needs features that are the pixels of a square image, got "
                f"{list(self.feature_names)[:3]}; use kind='table'."
            )
        grid = image_grid(places.whole(values, np.nan), self.prototype_classes)
        tile = float(np.clip(10 / grid.columns, 0.45, 1.3))  # inches
        high, wide = grid.pixels.shape
        width = tile * grid.columns
        self._set_axes(ax, (max(width + 1.2, 3.2), max(width * high / wide + 0.5, 1.8)))
        self.image_ = self.ax_.imshow(grid.pixels, cmap="gray_r", interpolation="nearest")
        self.ax_.set_axis_off()
        by_class = [self.classes[index] for index in self.prototype_classes]
        names = self.prototype_names if len(values) <= MAX_NAMED_IMAGES else by_class
        for name, place in zip(short_names(names, max(6, int(12 * tile))), grid.labels):
            fit = max(4, min(9.0, 72 * tile / (0.62 * len(name) + 1)))  # font size at which the name fits
            self.texts_.append(self.ax_.text(*place, name, ha="center", va="center", size=fit))
        return "Value of the feature"

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, **plot_kwargs: Argument) -> Self:
        """Plot the prototypes of a fitted model in the units of the pipeline's input.

        The steps of a Pipeline are inverted, see `lvq.inspection.columns`. If one of them cannot be, such as
        `StandardNormalVariate`, prototypes are shown as the model sees them, and the title names the steps. In a
        one-hot encoding, each category is a feature, with the fraction of the samples that the prototype stands for.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : PrototypeDisplay
            The display, drawn.
        """
        found = need_model(estimator, cls.__name__)
        steps = steps_without_inverse(found)
        display = cls(
            feature_names=arrays.feature_names(estimator, original=not steps).tolist(),
            prototype_names=arrays.prototype_names(estimator).tolist(),
            prototype_classes=found.model.labels,
            classes=found.model.classes,
            title=style.after(steps),
            **_values(estimator, found, not steps),
        )
        return display.plot(**plot_kwargs)


def standardised(values: Floats) -> Floats:
    """Differences from the mean over the rows, in standard deviations."""
    differences, deviation = values - values.mean(axis=0), values.std(axis=0)
    return np.divide(differences, deviation, out=np.zeros_like(differences), where=deviation > 0)


def _values(estimator: BaseEstimator, found: FoundModel, original: bool) -> dict[str, ArrayLike]:
    """Values; with differences and relevances where each feature of the model is one of the values."""
    prototypes = found.model.prototypes.astype(np.float64)
    values = arrays.prototypes_in_units(estimator) if original else prototypes
    used = np.flatnonzero(~np.isnan(values).all(axis=0))
    own, shown = arrays.feature_names(estimator), arrays.feature_names(estimator, original=original)[used]
    if len(own) != len(shown) or not all(new.endswith(old) for new, old in zip(own, shown)):
        return {"values": values}
    differences, relevances = np.full(values.shape, np.nan), np.zeros(values.shape[1])
    differences[:, used] = prototypes - prototypes.mean(axis=0)
    relevances[used] = arrays.relevance_profile(estimator)
    return {"values": values, "differences": differences, "relevances": relevances}


class ImageGrid(NamedTuple):
    """Pixels of all images, NaN between them; the place of each label as (x, y) in pixels; images per row."""

    pixels: Floats
    labels: list[tuple[float, float]]
    columns: int


def image_grid(images: Floats, classes: Sequence[int] | NDArray[np.intp]) -> ImageGrid:
    """Square images, one a row, side by side: a column for each class where that fits, else row by row.

    Examples
    --------
    >>> grid = image_grid(np.ones((4, 64)), [0, 0, 1, 1])
    >>> grid.pixels.shape, grid.columns
    ((20, 17), 2)
    """
    count, side, n_each = len(images), isqrt(images.shape[1]), np.bincount(classes)
    n_each = n_each[n_each > 0]
    by_class = 1 < n_each[0] <= 10 and len(n_each) <= 15 and (n_each == n_each[0]).all()
    columns = len(n_each) if by_class else count if count <= 6 else int(np.ceil(np.sqrt(1.6 * count)))
    rows = -(-count // columns)
    above, beside = max(1, round(0.3 * side)), max(1, round(0.12 * side))
    pixels = np.full((rows * (side + above), columns * (side + beside) - beside), np.nan)
    labels = []
    for k, image in enumerate(images):
        row, column = (k % rows, k // rows) if by_class else divmod(k, columns)
        top, left = row * (side + above) + above, column * (side + beside)
        pixels[top : top + side, left : left + side] = image.reshape(side, side)
        labels.append((left + (side - 1) / 2, top - 0.5 - 0.5 * above))
    return ImageGrid(pixels, labels, columns)
