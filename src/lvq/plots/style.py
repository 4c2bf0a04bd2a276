"""Appearance of displays: colours and markers of classes, short names, legends and ticks; the import of matplotlib.

The eight colours are those of Okabe and Ito, which can be distinguished with any kind of colour vision. From the ninth
class on they are repeated lighter, darker and lighter again. Markers repeat after eleven classes, so that colour and
marker together are unique for the first 88 classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING

from lvq.typing import Argument, Labels

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.legend import Legend

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
MIXTURES = (
    ("#000000", 0.0),
    ("#FFFFFF", 0.5),
    ("#000000", 0.4),
    ("#FFFFFF", 0.75),
    ("#000000", 0.6),
    ("#FFFFFF", 0.3),
    ("#000000", 0.2),
)
DASHES = ("-", "--", "-.", ":")
DIVERGING = "RdBu_r"
NAME_LENGTH = 30  # characters of a name that are shown


def pyplot(caller: str) -> ModuleType:
    """matplotlib's pyplot; an ImportError with the install command where it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f'{caller} needs matplotlib, which is not installed. Install it with: pip install "lvq[plot]"'
        ) from None
    return plt


def merge_kwargs(defaults: dict[str, Argument], given: dict[str, Argument] | None, artist: str) -> dict[str, Argument]:
    """Defaults, replaced by keyword arguments of the user, with aliases such as `c` for `color` resolved.

    `artist` is the class that takes them, by its name in matplotlib, such as "lines.Line2D".
    """
    from matplotlib.cbook import normalize_kwargs

    kind = resolve_name(f"matplotlib.{artist}")
    return normalize_kwargs(defaults, kind) | normalize_kwargs(given or {}, kind)


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
    return [mix(COLOURS[k % 8], *MIXTURES[k // 8 % len(MIXTURES)]) for k in range(count)]


def class_markers(count: int) -> list[str]:
    """A marker for each class, which distinguishes classes without colour."""
    return [MARKERS[k % len(MARKERS)] for k in range(count)]


# -- texts -------------------------------------------------------------------------------------------------------------


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
    """Names of limited length that still differ: where shortening makes some equal, their common parts are cut first.

    Examples
    --------
    >>> short_names(["class number 1 of the classes", "class number 2 of the classes"], 12)
    ['…ber 1 of t…', '…ber 2 of t…']
    """
    texts = [" ".join(str(name).split()) for name in names]
    plain = [short_name(text, length) for text in texts]
    if len(set(plain)) == len(set(texts)):
        return plain
    before, after = _common_prefix(texts), _common_prefix([text[::-1] for text in texts])
    longest = max(len(text) for text in texts) - before - after
    spare = max(length - longest - 2, 0)  # characters of the common parts that still fit
    before = max(before - spare // 2, 0) if before > 1 else 0
    after = max(after - spare + spare // 2, 0) if after > 1 else 0
    cores = [text[before : len(text) - after].strip() for text in texts]
    marked = [f"{'…' if before else ''}{core}{'…' if after else ''}" for core in cores]
    return make_unique([short_name(text, length) for text in marked], count=len(set(texts)))


def _common_prefix(texts: Sequence[str]) -> int:
    """Number of characters that all texts begin with."""
    shortest = min(len(text) for text in texts)
    return next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)


def make_unique(names: Sequence[object], count: int | None = None) -> list[str]:
    """Names with numbers where they repeat, unless there are `count` different ones (by default all).

    Examples
    --------
    >>> make_unique(["GLVQ", "GMLVQ", "GLVQ"])
    ['GLVQ 1', 'GMLVQ', 'GLVQ 2']
    """
    total, seen, result = Counter(map(str, names)), Counter[str](), []
    if len(total) == (len(names) if count is None else count):
        return [str(name) for name in names]
    for name in map(str, names):
        seen[name] += 1
        result.append(f"{name} {seen[name]}" if total[name] > 1 else name)
    return result


def after(steps: Sequence[str]) -> str:
    """A title that tells behind which steps of a pipeline features are.

    Examples
    --------
    >>> after(["StandardNormalVariate", "StandardScaler"])
    'After StandardNormalVariate, StandardScaler'
    """
    return f"After {', '.join(steps)}"


def percent(fraction: float) -> str:
    """A fraction as text, never rounded up to 100 % or down to 0 %.

    Examples
    --------
    >>> percent(0.973), percent(1.0), percent(0.9999), percent(0.00001)
    ('97 %', '100 %', 'over 99.9 %', 'under 0.1 %')
    """
    if min(abs(fraction), abs(1 - fraction)) < 1e-9 or 0.01 <= fraction < 0.99:
        return f"{100 * fraction:.0f} %"
    return "under 0.1 %" if fraction < 0.001 else "over 99.9 %" if fraction > 0.999 else f"{100 * fraction:.1f} %"


def short_number(value: float) -> str:
    """A number with few digits.

    Examples
    --------
    >>> short_number(1234.5), short_number(17.99), short_number(0.00123), short_number(float("nan"))
    ('1234', '18', '0.00123', '')
    """
    if isnan(value):
        return ""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


# -- legends and ticks -------------------------------------------------------------------------------------------------


def legend_columns(count: int) -> int:
    """Columns of a legend of so many entries, so that it is no higher than the axes."""
    return 1 + (count - 1) // 18


def curve_legend(ax: Axes) -> Legend | None:
    """Grid and legend of axes with curves; None where no curve has a label."""
    ax.grid(alpha=0.3)
    return ax.legend(loc="best") if ax.get_legend_handles_labels()[0] else None


def place_legend(ax: Axes, handles: Sequence[Artist] | None = None) -> Legend | None:
    """A legend beside the axes in a figure with constrained layout, else inside of the axes; None if empty."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return None
    columns = legend_columns(len(handles))
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine):
        return ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), ncols=columns, borderaxespad=0)
    return ax.legend(handles=handles, loc="best", ncols=columns, fontsize="small")


def font_size(axis: XAxis | YAxis, count: int, largest: float | str) -> float:
    """Font size in points, so that as many lines of text fit along an axis."""
    from matplotlib.font_manager import FontProperties

    axis.axes.apply_aspect()  # the cells of an image are squares and leave a part of the axes empty
    box, along = axis.axes.get_window_extent(), axis.axis_name == "x"
    height = 72 * (box.width if along else box.height) / axis.axes.figure.dpi / max(count, 1)
    return float(min(FontProperties(size=largest).get_size_in_points(), max(height, 3.0)))


def name_ticks(axis: XAxis | YAxis, names: Sequence[object], *, limit: int = 40, rotation: float = 0) -> None:
    """Names as ticks at 0, 1, 2, ... where there are at most `limit`; else a few numbers."""
    if len(names) > limit:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
        return
    size = font_size(axis, len(names), "small" if len(names) > 20 else "medium")
    rotated: dict[str, Argument] = {"rotation": rotation, "ha": "right", "rotation_mode": "anchor"} if rotation else {}
    axis.set_ticks(range(len(names)), short_names(names), fontsize=size, **rotated)
