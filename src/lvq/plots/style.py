"""What displays share: their axes, colours of classes, short names and ticks.

The eight colours, by Okabe and Ito, can be distinguished with any kind of colour vision. From the ninth
class on they are repeated lighter, darker and lighter again. Markers repeat after eleven classes, so colour and marker
together are unique for the first 88 classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from lvq.plots.arrays import ordered_axis
from lvq.typing import Argument, Labels
from lvq.versions import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
MIXTURES = (0.0, -0.5, 0.4, -0.75, 0.6, -0.3, 0.2)  # with black, or with white where negative; one for eight classes
MISSING = "–"
NAME_LENGTH = 30  # characters of a name that are shown


class Display:
    """Base of all displays."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _set_axes(self, ax: Axes | None, size: tuple[float, float]) -> None:
        """Set `ax_` and `figure_`: the given axes, or a new figure of a size in inches."""
        name = type(self).__name__
        plt = need("matplotlib.pyplot", "plot", name)
        if ax is not None and not isinstance(ax, plt.Axes):
            raise TypeError(f"ax of {name}.plot must be one matplotlib Axes, got {type(ax).__name__}.")
        self.ax_ = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure

    def _check(self, max_features: int | None, kind: str = "", kinds: Sequence[str] = ("",)) -> None:
        name = type(self).__name__
        if kind not in kinds:
            raise ValueError(f"kind of {name}.plot must be one of {', '.join(kinds)}, got {kind!r}.")
        if max_features is not None and max_features < 1:
            raise ValueError(f"max_features of {name}.plot must be 1 or more, or None, got {max_features!r}.")


# -- colours and markers -----------------------------------------------------------------------------------------------


def mix(colour: str, other: str, fraction: float) -> str:
    """A colour mixed with a fraction of another.

    Examples
    --------
    >>> mix("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    pairs = zip(*([int(code[k : k + 2], 16) for k in (1, 3, 5)] for code in (colour, other)))
    return "#" + "".join(f"{round((1 - fraction) * a + fraction * b):02X}" for a, b in pairs)


def class_colours(count: int) -> list[str]:
    """A colour for each class.

    Examples
    --------
    >>> class_colours(2)
    ['#0072B2', '#E69F00']
    >>> len(set(class_colours(50)))
    50
    """
    fractions = [MIXTURES[k // 8 % len(MIXTURES)] for k in range(count)]
    return [mix(COLOURS[k % 8], "#FFFFFF" if f < 0 else "#000000", abs(f)) for k, f in enumerate(fractions)]


def class_markers(count: int) -> list[str]:
    """A marker for each class, which distinguishes classes without colour."""
    return [MARKERS[k % len(MARKERS)] for k in range(count)]


# -- names and numbers -------------------------------------------------------------------------------------------------


def short_name(name: object, length: int = NAME_LENGTH) -> str:
    """A name of limited length, shortened in the middle.

    Examples
    --------
    >>> short_name("mean radius"), short_name("a very long name of a feature", 15)
    ('mean radius', 'a very…feature')
    """
    text = " ".join(str(name).split()).replace("$", r"\$")  # matplotlib would read a formula
    text = f" {text}" if text.startswith("_") else text  # legends omit labels that start with an underscore
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def short_names(names: Sequence[object] | Labels, length: int = NAME_LENGTH) -> list[str]:
    """Names of limited length that still differ: where shortening makes some equal, each gets its number.

    Examples
    --------
    >>> short_names(["class number 1 of the classes", "class number 2 of the classes"], 12)
    ['clas…sses 1', 'clas…sses 2']
    """
    full = [" ".join(str(name).split()) for name in names]
    plain = [short_name(name, length) for name in full]
    if len(set(plain)) == len(set(full)):
        return plain
    room = length - len(f" {len(full)}")
    return [f"{short_name(name, room)} {number}" for number, name in enumerate(full, start=1)]


def after(steps: Sequence[str]) -> str:
    """A title that says after which steps of a pipeline features are; empty without steps."""
    return f"After {', '.join(steps)}" if steps else ""


def percent(fraction: float | None) -> str:
    """A fraction in percent with one decimal, or two where one would round to 100 %.

    Examples
    --------
    >>> percent(0.9731), percent(0.9996), percent(None)
    ('97.3 %', '99.96 %', '–')
    """
    return MISSING if fraction is None else f"{100 * fraction:.{2 if 0.9995 <= fraction < 1 else 1}f} %"


def number(value: float | None, digits: int = 4) -> str:
    """Four significant digits, without exponents for the usual sizes.

    Examples
    --------
    >>> number(1234.5678), number(0.012345), number(3.0), number(2.5e-7), number(None)
    ('1235', '0.01235', '3', '2.5e-07', '–')
    """
    if value is None or isnan(value):
        return MISSING
    if value and (abs(value) >= 1e7 or abs(value) < 1e-4):
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


# -- axes, legends and ticks -------------------------------------------------------------------------------------------


def bar_axes(ax: Axes, names: Sequence[str]) -> None:
    """Axes of horizontal bars with names, the first on top."""
    name_ticks(ax.yaxis, names, limit=60)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)


def curve_axes(ax: Axes, names: Sequence[str]) -> None:
    """Axes of curves over features."""
    name_ticks(ax.xaxis, names, limit=15, rotation=40)
    ax.set_xlabel(feature_label(names, "Feature"))
    ax.grid(alpha=0.3)


def feature_label(names: Sequence[str], otherwise: str) -> str:
    """What the numbers of ordered features are, such as "nm"."""
    ordered = ordered_axis(names)
    return otherwise if ordered is None else short_name(ordered.title, 50)


def heat_map(ax: Axes, values: np.ndarray, aspect: str) -> AxesImage:
    """Values in colours, white at 0."""
    limit = float(np.nanmax(np.abs(values))) or 1.0
    style: dict[str, Argument] = {"cmap": "RdBu_r", "interpolation": "nearest", "aspect": aspect}
    return ax.imshow(values, vmin=-limit, vmax=limit, **style)


def show_percent(axis: XAxis | YAxis) -> None:
    """Numbers of an axis as percentages."""
    axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g} %")


def legend_columns(count: int) -> int:
    """Number of columns with which a legend of this many entries is no higher than the axes."""
    return 1 + (count - 1) // 18


def place_legend(ax: Axes) -> Legend:
    """A legend next to the axes in a figure with constrained layout, otherwise inside the axes."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = legend_columns(len(ax.get_legend_handles_labels()[0]))
    if isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine):
        return ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), ncols=columns, borderaxespad=0)
    return ax.legend(loc="best", ncols=columns, fontsize="small")


def font_size(axis: XAxis | YAxis, count: int, largest: float | str) -> float:
    """Font size in points with which as many lines of text fit along an axis."""
    from matplotlib.font_manager import FontProperties

    axis.axes.apply_aspect()  # the cells of an image are squares and leave a part of the axes empty
    box = axis.axes.get_window_extent()
    height = 72 * (box.width if axis.axis_name == "x" else box.height) / axis.axes.figure.dpi / max(count, 1)
    return float(min(FontProperties(size=largest).get_size_in_points(), max(height, 3.0)))


def name_ticks(
    axis: XAxis | YAxis, names: Sequence[str], *, limit: int = 40, rotation: float = 0, side: str = "right"
) -> None:
    """Names as ticks at 0, 1, 2, ... where there are at most `limit`; else a few numbers.

    These are the numbers in the names where they have an order, as wavelengths have, or else the indices.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if len(names) > limit:
        axis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
        ordered = ordered_axis(names)
        if ordered is not None:
            shown = {place: f"{position:.6g}" for place, position in enumerate(ordered.positions)}
            axis.set_major_formatter(FuncFormatter(lambda place, _: shown.get(round(place), "")))
        return
    size = font_size(axis, len(names), "small" if len(names) > 20 else "medium")
    rotated: dict[str, Argument] = {"rotation": rotation, "ha": side, "rotation_mode": "anchor"} if rotation else {}
    axis.set_ticks(range(len(names)), short_names(names), fontsize=size, **rotated)
