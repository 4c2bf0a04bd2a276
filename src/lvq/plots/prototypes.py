"""PrototypeDisplay: prototypes in the units of the pipeline's input, as a table, lines or images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.found import need_model
from lvq.input_columns import Names, columns_of_features
from lvq.nearest_samples import Exemplars
from lvq.original_features import Floats
from lvq.plots.arguments import check_kind, check_max_features, check_names, described, given_or_own
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import feature_names as names_of_features
from lvq.plots.fitted_arrays import prototype_names, prototypes_in_units, relevance_profile
from lvq.plots.images import image_grid, pixel_places
from lvq.plots.style import (
    DIVERGING,
    class_colours,
    font_size,
    merge_kwargs,
    name_ticks,
    place_legend,
    pyplot,
    short_names,
    short_number,
)
from lvq.typing import Argument, Labels
from lvq.variable_values import variable_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

KINDS = ("auto", "table", "line", "image")
MAX_COLUMNS_WITH_TEXT = 14  # prototypes up to which a table has its values as text
MAX_ROWS_WITH_TEXT = 60
MAX_LABELLED_IMAGES = 100


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypeDisplay(Display):
    """Prototypes as a table of values, as lines over the features, or as images.

    Create one with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n_prototypes, n_features)
        Prototypes, in the units of X; NaN for features that the model does not use. For a category its fraction.
    feature_names : sequence of str
        Names of the features.
    prototype_names : sequence of str
        Names of the prototypes.
    prototype_classes : sequence of int
        Index of each prototype's class.
    classes : sequence
        Names of the classes.
    differences : ndarray of shape (n_prototypes, n_features), optional
        Values that the colours of a table show, around 0; by default the difference of each value from the mean over
        the prototypes, divided by the standard deviation.
    difference_name : str, optional
        Label of the colour scale.
    relevances : ndarray of shape (n_features,), optional
        Importance of each feature; a table that cannot show all shows the most important.
    exemplar_names : sequence of str, optional
        Names of the nearest samples of each prototype, which are shown beside it.
    cells : sequence of shape (n_prototypes, n_features), optional
        What a table shows in place of the values: numbers, or the names of categories with their fractions.

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
    legend_ : matplotlib Legend or None
        The legend.
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
    >>> display = PrototypeDisplay.from_estimator(model, class_names=["setosa", "versicolor", "virginica"])
    >>> display.values.shape, display.feature_names[0]
    ((3, 4), 'sepal length (cm)')
    """

    values: ArrayLike
    feature_names: Sequence[str]
    prototype_names: Sequence[str]
    prototype_classes: Sequence[int] | NDArray[np.intp]
    classes: Sequence[object] | Labels
    differences: ArrayLike | None = None
    difference_name: str = "Difference from the mean prototype,\nin standard deviations"
    relevances: ArrayLike | None = None
    exemplar_names: Sequence[str] | None = None
    cells: Sequence[Sequence[float | str]] | None = None

    @described
    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "auto",
        max_features: int | None = 30,
        image_shape: tuple[int, int] | None = None,
        colorbar: bool = True,
        image_kwargs: dict[str, Argument] | None = None,
        line_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Draw the prototypes.

        Parameters
        ----------
        {ax}
        kind : {"auto", "table", "line", "image"}, default="auto"
            "auto" uses images where the features fill a square of 8 x 8 or more and are called pixels, numbered by
            row and column, or without names; lines where more than 60 features are numbered; else a table.
        max_features : int or None, default=30
            Number of rows of a table, the most important features first; None shows all, in their order.
        image_shape : tuple of int, optional
            Height and width of an image that is not a square.
        {colorbar}
        {image_kwargs}
        {line_kwargs}

        Returns
        -------
        display : PrototypeDisplay
            The display, with the artists as attributes.
        """
        check_kind("PrototypeDisplay.plot", kind, KINDS)
        check_max_features("PrototypeDisplay.plot", max_features)
        kind = self._kind(image_shape) if kind == "auto" else kind
        self.image_: AxesImage | None = None
        self.legend_: Legend | None = None
        self.colorbar_: Colorbar | None = None
        self.texts_: list[Text] = []
        self.lines_: list[Line2D] = []
        if kind == "image":
            self._draw_images(ax, image_shape, colorbar, image_kwargs)
        elif kind == "line":
            self._draw_lines(ax, line_kwargs)
        else:
            self._draw_table(ax, max_features, colorbar, image_kwargs)
        return self

    def _kind(self, image_shape: tuple[int, int] | None) -> str:
        if image_shape is not None or pixel_places(self.feature_names) is not None:
            return "image"
        without_numbers = {"".join(sign for sign in name if not sign.isdigit()) for name in self.feature_names}
        return "line" if len(self.feature_names) > 60 and len(without_numbers) == 1 else "table"

    # -- table ---------------------------------------------------------------------------------------------------------

    def _draw_table(
        self, ax: Axes | None, max_features: int | None, colorbar: bool, given: dict[str, Argument] | None
    ) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        used = np.flatnonzero(~np.isnan(values).all(axis=0))
        differences = self._differences(values)
        self.order_ = used
        if max_features is not None and len(used) > max_features:
            weight = np.abs(differences).max(axis=0) if self.relevances is None else np.asarray(self.relevances)
            self.order_ = used[np.argsort(-np.nan_to_num(weight[used]), kind="stable")[:max_features]]
        count, rows = len(values), len(self.order_)
        texts = [cell for row in self.cells or () for cell in row if isinstance(cell, str)]
        inches = max(0.72, 0.075 * max(map(len, texts), default=0))  # of a column
        width = np.clip(3.4 + inches * min(count, MAX_COLUMNS_WITH_TEXT), 5.6, 13)
        self._set_axes(ax, (float(width), float(np.clip(0.27 * rows + 1.6, 3, 16))))

        shown = differences[:, self.order_].T
        limit = float(np.nanmax(np.abs(shown))) or 1.0
        defaults = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "aspect": "auto", "interpolation": "nearest"}
        self.image_ = self.ax_.imshow(shown, **merge_kwargs(defaults, given, "image.AxesImage"))
        if count <= MAX_COLUMNS_WITH_TEXT and rows <= MAX_ROWS_WITH_TEXT:
            size = font_size(self.ax_.yaxis, rows, 8)
            for (row, column), difference in np.ndenumerate(shown):
                text = self._text(values, column, int(self.order_[row]))
                colour = "white" if abs(difference) > 0.65 * limit else "black"
                self.texts_.append(self.ax_.text(column, row, text, ha="center", va="center", size=size, color=colour))
        self._label_table(len(used))
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, label=self.difference_name)

    def _text(self, values: Floats, prototype: int, feature: int) -> str:
        cell = values[prototype, feature] if self.cells is None else self.cells[prototype][feature]
        return cell if isinstance(cell, str) else short_number(float(cell))

    def _label_table(self, n_used: int) -> None:
        name_ticks(self.ax_.yaxis, [self.feature_names[int(k)] for k in self.order_], limit=MAX_ROWS_WITH_TEXT)
        self.ax_.xaxis.tick_top()
        name_ticks(self.ax_.xaxis, self.prototype_names)
        width = self.ax_.get_window_extent().width / self.figure_.dpi / len(self.prototype_names)  # inches of a column
        if max(map(len, short_names(self.prototype_names))) * 0.09 > width:
            self.ax_.tick_params(axis="x", labelrotation=40)
            for label in self.ax_.get_xticklabels():
                label.set(ha="left", rotation_mode="anchor")
        self.ax_.tick_params(length=0)
        if len(self.order_) < n_used:
            which = "most different" if self.relevances is None else "most important"
            self.ax_.set_xlabel(f"The {len(self.order_)} {which} of {n_used} features", size="small")
        if self.exemplar_names is not None:
            self._label_exemplars(self.exemplar_names)

    def _label_exemplars(self, names: Sequence[str]) -> None:
        """Names of the nearest samples below their columns."""
        below = self.ax_.secondary_xaxis("bottom")
        below.set_ticks(range(len(names)), short_names(names), rotation=40, ha="right", rotation_mode="anchor")
        below.tick_params(length=0)
        below.set_xlabel("\n".join(filter(None, ["Nearest samples", self.ax_.get_xlabel()])), size="small")
        self.ax_.set_xlabel("")

    def _differences(self, values: Floats) -> Floats:
        if self.differences is not None:
            return np.asarray(self.differences, dtype=np.float64)
        return _standardised(values)

    # -- lines and images ----------------------------------------------------------------------------------------------

    def _draw_lines(self, ax: Axes | None, given: dict[str, Argument] | None) -> None:
        self._set_axes(ax, (7.8, 4.6))

        values, colours = np.asarray(self.values), class_colours(len(self.classes))
        self.order_ = np.arange(values.shape[1])
        for row, index, label in zip(values, self.prototype_classes, self._line_labels()):
            style = {"color": colours[index], "linewidth": 1.4, "label": label}
            self.lines_ += self.ax_.plot(self.order_, row, **merge_kwargs(style, given, "lines.Line2D"))
        name_ticks(self.ax_.xaxis, self.feature_names, limit=15, rotation=40)
        self.ax_.set(xlabel="Feature", ylabel="Value of the prototype")
        self.ax_.margins(x=0.01)
        self.ax_.grid(alpha=0.3)
        self.legend_ = place_legend(self.ax_)

    def _line_labels(self) -> list[str | None]:
        """Each class once; or for each prototype its class with the nearest samples."""
        classes = short_names(self.classes, 24)
        labels: list[str | None] = [classes[index] for index in self.prototype_classes]
        if self.exemplar_names is not None:
            return [f"{label}: {names}" for label, names in zip(labels, short_names(self.exemplar_names, 24))]
        return [None if label in labels[:place] else label for place, label in enumerate(labels)]

    def _draw_images(
        self, ax: Axes | None, shape: tuple[int, int] | None, colorbar: bool, given: dict[str, Argument] | None
    ) -> None:
        places = pixel_places(self.feature_names) if shape is None else None
        values = np.asarray(self.values, dtype=np.float64)
        values = values if places is None else places.whole(values, np.nan)
        grid = image_grid(values, self.prototype_classes, shape)
        self.order_ = np.arange(np.shape(self.values)[1])
        tile = float(np.clip(10 / grid.columns, 0.45, 1.3))  # inches
        high, wide = grid.pixels.shape
        width = tile * grid.columns
        self._set_axes(ax, (max(width + 1.2, 3.2), max(width * high / wide + 0.5, 1.8)))

        defaults = {"cmap": "gray_r", "interpolation": "nearest"}
        self.image_ = self.ax_.imshow(grid.pixels, **merge_kwargs(defaults, given, "image.AxesImage"))
        self.ax_.set_axis_off()
        if len(grid.labels) <= MAX_LABELLED_IMAGES:
            classes = short_names(self.classes, max(6, int(12 * tile)))
            names = [classes[int(index)] for index in self.prototype_classes]
            if self.exemplar_names is not None:
                names = [f"{name}: {rows}" for name, rows in zip(names, short_names(self.exemplar_names, 24))]
            for name, place in zip(names, grid.labels):
                fit = min(9.0, 72 * tile / (0.62 * len(name) + 1))  # font size at which the name fits above its image
                self.texts_.append(self.ax_.text(*place, name, ha="center", va="center", size=max(fit, 4)))
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8, label="Value of the feature")

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        class_names: Sequence[str] | Names | None = None,
        feature_names: Sequence[str] | Names | None = None,
        exemplars: Exemplars | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the prototypes of a fitted model in the units of the pipeline's input.

        The steps of a Pipeline are inverted, see `lvq.original_features`. In a table, all columns of a one-hot encoding
        are one row: the category with the largest fraction, and the fraction where it is not the only one.

        Parameters
        ----------
        {estimator}
        {class_names}
        {feature_names}
        exemplars : Exemplars, optional
            From `lvq.exemplars`: the names of the nearest samples are shown beside each prototype. Where samples are
            patients, such a figure names them.
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : PrototypeDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        model = need_model(estimator, cls.__name__).model
        classes = given_or_own(cls.__name__, "class_names", class_names, model.classes)
        drawn = _by_variable(estimator, feature_names) if plot_kwargs.get("kind", "auto") in ("auto", "table") else None
        if drawn is None:
            values = prototypes_in_units(estimator)
            drawn = {
                "values": values,
                "feature_names": check_names(cls.__name__, estimator, feature_names, original=True),
                **_differences_and_relevances(estimator, model.prototypes.astype(np.float64), values),
            }
        display = cls(
            prototype_names=prototype_names(estimator, classes).tolist(),
            prototype_classes=model.labels,
            classes=classes,
            exemplar_names=None if exemplars is None else [", ".join(map(str, row)) for row in exemplars.names],
            **drawn,
        )
        return display.plot(ax=ax, **plot_kwargs)


def _by_variable(estimator: BaseEstimator, names: Sequence[str] | Names | None) -> dict[str, Argument] | None:
    """Values, texts, differences and relevances by column of X, where several features belong to one column."""
    found = need_model(estimator, "PrototypeDisplay")
    table = variable_table(found, found.model.prototypes)
    if table is None or not table.parts.categories:
        return None
    shown = np.empty(np.shape(table.values))
    differences = np.empty(np.shape(table.values))
    for k, column in enumerate(table.columns.tolist()):
        if column in table.parts.categories:
            fractions = table.parts.categories[column].fractions
            own = fractions.argmax(axis=1)[:, None]
            shown[:, k] = np.take_along_axis(fractions, own, 1)[:, 0]
            differences[:, k] = np.take_along_axis(_standardised(fractions), own, 1)[:, 0]
        else:
            cells = [row[k] for row in table.values]
            codes = np.unique(cells, return_inverse=True)[1] if isinstance(cells[0], str) else cells
            shown[:, k] = codes
            differences[:, k] = _standardised(shown[:, [k]])[:, 0]
    given = given_or_own("PrototypeDisplay", "feature_names", names, table.names)
    result: dict[str, Argument] = {"values": shown, "cells": table.cells, "differences": differences}
    owner = columns_of_features(found.steps, found.steps[0].n_features_in_)
    if owner is not None:
        weight = np.bincount(owner, relevance_profile(estimator), minlength=found.steps[0].n_features_in_)
        result["relevances"] = weight[table.columns]
    name = "Difference from the mean prototype,\nin standard deviations (of categories: of the fraction)"
    return result | {"feature_names": list(given), "difference_name": name}


def _standardised(values: Floats) -> Floats:
    differences, deviation = values - values.mean(axis=0), values.std(axis=0)
    return np.divide(differences, deviation, out=np.zeros_like(differences), where=deviation > 0)


def _differences_and_relevances(estimator: BaseEstimator, prototypes: Floats, values: Floats) -> dict[str, Argument]:
    """Differences in the units of the model, and relevances, where each feature of the model is one of X."""
    used = np.flatnonzero(~np.isnan(values).all(axis=0))
    own, original = names_of_features(estimator), names_of_features(estimator, original=True)[used]
    if len(own) != len(original) or not all(new.endswith(old) for new, old in zip(own, original)):
        return {}
    differences, relevances = np.full(values.shape, np.nan), np.zeros(values.shape[1])
    differences[:, used] = prototypes - prototypes.mean(axis=0)
    relevances[used] = relevance_profile(estimator)
    name = "Difference from the mean prototype,\nin the units of the model"
    return {"differences": differences, "difference_name": name, "relevances": relevances}
