"""Drawing of prototypes: a table of values, lines over the features, or images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lvq.inspection.steps import Floats
from lvq.plots.images import image_grid, pixel_places
from lvq.plots.prototype_values import standardised
from lvq.plots.style import (
    DIVERGING,
    class_colours,
    font_size,
    merge_kwargs,
    name_ticks,
    place_legend,
    short_names,
    short_number,
)
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lvq.plots.prototypes import PrototypeDisplay

MAX_COLUMNS_WITH_TEXT = 14  # prototypes up to which a table has its values as text
MAX_ROWS_WITH_TEXT = 60
MAX_LABELLED_IMAGES = 100


def draw_table(
    display: PrototypeDisplay,
    ax: Axes | None,
    max_features: int | None,
    colorbar: bool,
    given: dict[str, Argument] | None,
) -> None:
    """A table of values, coloured by their differences from the mean."""
    values = np.asarray(display.values, dtype=np.float64)
    used = np.flatnonzero(~np.isnan(values).all(axis=0))
    differences = _differences(display, values)
    display.order_ = used
    if max_features is not None and len(used) > max_features:
        weight = np.abs(differences).max(axis=0) if display.relevances is None else np.asarray(display.relevances)
        display.order_ = used[np.argsort(-np.nan_to_num(weight[used]), kind="stable")[:max_features]]
    count, rows = len(values), len(display.order_)
    texts = [cell for row in display.cells or () for cell in row if isinstance(cell, str)]
    inches = max(0.72, 0.075 * max(map(len, texts), default=0))  # of a column
    width = np.clip(3.4 + inches * min(count, MAX_COLUMNS_WITH_TEXT), 5.6, 13)
    display._set_axes(ax, (float(width), float(np.clip(0.27 * rows + 1.6, 3, 16))))

    shown = differences[:, display.order_].T
    limit = float(np.nanmax(np.abs(shown))) or 1.0
    defaults = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "aspect": "auto", "interpolation": "nearest"}
    display.image_ = display.ax_.imshow(shown, **merge_kwargs(defaults, given, "image.AxesImage"))
    if count <= MAX_COLUMNS_WITH_TEXT and rows <= MAX_ROWS_WITH_TEXT:
        size = font_size(display.ax_.yaxis, rows, 8)
        for (row, column), difference in np.ndenumerate(shown):
            text = _text(display, values, column, int(display.order_[row]))
            colour = "white" if abs(difference) > 0.65 * limit else "black"
            display.texts_.append(
                display.ax_.text(column, row, text, ha="center", va="center", size=size, color=colour)
            )
    _label_table(display, len(used))
    if colorbar:
        display.colorbar_ = display.figure_.colorbar(display.image_, ax=display.ax_, label=display.difference_name)


def _text(display: PrototypeDisplay, values: Floats, prototype: int, feature: int) -> str:
    cell = values[prototype, feature] if display.cells is None else display.cells[prototype][feature]
    return cell if isinstance(cell, str) else short_number(float(cell))


def _label_table(display: PrototypeDisplay, n_used: int) -> None:
    name_ticks(display.ax_.yaxis, [display.feature_names[int(k)] for k in display.order_], limit=MAX_ROWS_WITH_TEXT)
    display.ax_.xaxis.tick_top()
    name_ticks(display.ax_.xaxis, display.prototype_names)
    inches = display.ax_.get_window_extent().width / display.figure_.dpi / len(display.prototype_names)  # of a column
    if max(map(len, short_names(display.prototype_names))) * 0.09 > inches:
        display.ax_.tick_params(axis="x", labelrotation=40)
        for label in display.ax_.get_xticklabels():
            label.set(ha="left", rotation_mode="anchor")
    display.ax_.tick_params(length=0)
    if len(display.order_) < n_used:
        which = "most different" if display.relevances is None else "most important"
        display.ax_.set_xlabel(f"The {len(display.order_)} {which} of {n_used} features", size="small")
    if display.exemplar_names is not None:
        _label_exemplars(display, display.exemplar_names)


def _label_exemplars(display: PrototypeDisplay, names: Sequence[str]) -> None:
    """Names of the nearest samples below their columns."""
    below = display.ax_.secondary_xaxis("bottom")
    below.set_ticks(range(len(names)), short_names(names), rotation=40, ha="right", rotation_mode="anchor")
    below.tick_params(length=0)
    below.set_xlabel("\n".join(filter(None, ["Nearest samples", display.ax_.get_xlabel()])), size="small")
    display.ax_.set_xlabel("")


def _differences(display: PrototypeDisplay, values: Floats) -> Floats:
    if display.differences is not None:
        return np.asarray(display.differences, dtype=np.float64)
    return standardised(values)


def draw_lines(display: PrototypeDisplay, ax: Axes | None, given: dict[str, Argument] | None) -> None:
    """A line over the features for each prototype, in the colour of its class."""
    display._set_axes(ax, (7.8, 4.6))

    values, colours = np.asarray(display.values), class_colours(len(display.classes))
    for row, index, label in zip(values, display.prototype_classes, _line_labels(display)):
        style = {"color": colours[index], "linewidth": 1.4, "label": label}
        display.lines_ += display.ax_.plot(display.order_, row, **merge_kwargs(style, given, "lines.Line2D"))
    name_ticks(display.ax_.xaxis, display.feature_names, limit=15, rotation=40)
    display.ax_.set(xlabel="Feature", ylabel="Value of the prototype")
    display.ax_.margins(x=0.01)
    display.ax_.grid(alpha=0.3)
    display.legend_ = place_legend(display.ax_)


def _line_labels(display: PrototypeDisplay) -> list[str | None]:
    """Each class once; or for each prototype its class with the nearest samples."""
    classes = short_names(display.classes, 24)
    labels: list[str | None] = [classes[index] for index in display.prototype_classes]
    if display.exemplar_names is not None:
        return [f"{label}: {names}" for label, names in zip(labels, short_names(display.exemplar_names, 24))]
    return [None if label in labels[:place] else label for place, label in enumerate(labels)]


def draw_images(
    display: PrototypeDisplay,
    ax: Axes | None,
    shape: tuple[int, int] | None,
    colorbar: bool,
    given: dict[str, Argument] | None,
) -> None:
    """An image of each prototype, class by class."""
    places = pixel_places(display.feature_names) if shape is None else None
    values = np.asarray(display.values, dtype=np.float64)
    values = values if places is None else places.whole(values, np.nan)
    grid = image_grid(values, display.prototype_classes, shape)
    tile = float(np.clip(10 / grid.columns, 0.45, 1.3))  # inches
    high, wide = grid.pixels.shape
    width = tile * grid.columns
    display._set_axes(ax, (max(width + 1.2, 3.2), max(width * high / wide + 0.5, 1.8)))

    defaults = {"cmap": "gray_r", "interpolation": "nearest"}
    display.image_ = display.ax_.imshow(grid.pixels, **merge_kwargs(defaults, given, "image.AxesImage"))
    display.ax_.set_axis_off()
    if len(grid.labels) <= MAX_LABELLED_IMAGES:
        classes = short_names(display.classes, max(6, int(12 * tile)))
        names = [classes[int(index)] for index in display.prototype_classes]
        if display.exemplar_names is not None:
            names = [f"{name}: {rows}" for name, rows in zip(names, short_names(display.exemplar_names, 24))]
        for name, place in zip(names, grid.labels):
            fit = min(9.0, 72 * tile / (0.62 * len(name) + 1))  # font size at which the name fits above its image
            display.texts_.append(display.ax_.text(*place, name, ha="center", va="center", size=max(fit, 4)))
    if colorbar:
        display.colorbar_ = display.figure_.colorbar(
            display.image_, ax=display.ax_, shrink=0.8, label="Value of the feature"
        )
