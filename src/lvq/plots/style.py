"""How displays look: colours and markers of classes, names that fit, and the door to matplotlib.

The eight colours are those that Okabe and Ito chose to be told apart with any kind of colour vision; from the ninth
class on they return lighter, darker and lighter still. Markers repeat after eleven classes, so that colour and shape
together name each of the first 88.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
MIXTURES = (("#000000", 0.0), ("#FFFFFF", 0.5), ("#000000", 0.4), ("#FFFFFF", 0.75))
DASHES = ("-", "--", "-.", ":")
DIVERGING = "RdBu_r"
NAME_LENGTH = 30  # letters of a name that are shown


def pyplot(caller: str) -> Any:
    """matplotlib's pyplot, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f'{caller} needs matplotlib, which is not installed. Install it with: pip install "lvq[plot]"'
        ) from None
    return plt


def axes(caller: str, ax: Any, size: tuple[float, float]) -> Any:
    """The axes to draw on: those given, or new ones in a figure of a size that fits."""
    plt = pyplot(caller)
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, plt.Axes):
        raise TypeError(f"ax of {caller} must be one matplotlib Axes, got {type(ax).__name__}.")
    return ax


def merged(defaults: dict[str, Any], given: dict[str, Any] | None, artist: Any) -> dict[str, Any]:
    """Defaults and what the user gives, who may say `c` or `color`."""
    from matplotlib.cbook import normalize_kwargs

    return normalize_kwargs(defaults, artist) | normalize_kwargs(given or {}, artist)


# -- colours and markers -----------------------------------------------------------------------------------------------


def mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another.

    Examples
    --------
    >>> mix("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    pairs = zip(*([int(code[k : k + 2], 16) for k in (1, 3, 5)] for code in (colour, other)))
    return "#" + "".join(f"{round((1 - share) * a + share * b):02X}" for a, b in pairs)


def class_colours(count: int) -> list[str]:
    """A colour for each class.

    Examples
    --------
    >>> class_colours(2)
    ['#0072B2', '#E69F00']
    >>> len(set(class_colours(30)))
    30
    """
    return [mix(COLOURS[k % 8], *MIXTURES[k // 8 % 4]) for k in range(count)]


def class_markers(count: int) -> list[str]:
    """A marker for each class, which tells classes apart without colour."""
    return [MARKERS[k % len(MARKERS)] for k in range(count)]


# -- words -------------------------------------------------------------------------------------------------------------


def shortened(name: Any, length: int = NAME_LENGTH) -> str:
    """A name that fits: what is cut out of its middle is shown by dots.

    Examples
    --------
    >>> shortened("mean radius"), shortened("a very long name of a feature", 15)
    ('mean radius', 'a very…feature')
    """
    text = " ".join(str(name).split()).replace("$", r"\$")  # a dollar would start a formula
    text = f" {text}" if text.startswith("_") else text  # legends leave out what starts with an underscore
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def fitting(names: Sequence[Any], length: int = NAME_LENGTH) -> list[str]:
    """Names that fit and still differ: where cutting out the middle would make some equal, what all share is cut first.

    Examples
    --------
    >>> fitting(["class number 1 of the classes", "class number 2 of the classes"], 12)
    ['…ber 1 of t…', '…ber 2 of t…']
    """
    texts = [" ".join(str(name).split()) for name in names]
    plain = [shortened(text, length) for text in texts]
    if len(set(plain)) == len(set(texts)):
        return plain
    before, after = _shared(texts), _shared([text[::-1] for text in texts])
    longest = max(len(text) for text in texts) - before - after
    spare = max(length - longest - 2, 0)  # letters of what they share that there is still room for
    before = max(before - spare // 2, 0) if before > 1 else 0
    after = max(after - spare + spare // 2, 0) if after > 1 else 0
    cores = [text[before : len(text) - after].strip() for text in texts]
    marked = [f"{'…' if before else ''}{core}{'…' if after else ''}" for core in cores]
    return told_apart([shortened(text, length) for text in marked], count=len(set(texts)))


def _shared(texts: Sequence[str]) -> int:
    """Letters that all texts begin with."""
    shortest = min(len(text) for text in texts)
    return next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)


def told_apart(names: Sequence[Any], count: int | None = None) -> list[str]:
    """Names with numbers where they repeat, though `count` different ones are meant (all by default).

    Examples
    --------
    >>> told_apart(["GLVQ", "GMLVQ", "GLVQ"])
    ['GLVQ 1', 'GMLVQ', 'GLVQ 2']
    """
    total, seen, result = Counter(map(str, names)), Counter[str](), []
    if len(total) == (len(names) if count is None else count):
        return [str(name) for name in names]
    for name in map(str, names):
        seen[name] += 1
        result.append(f"{name} {seen[name]}" if total[name] > 1 else name)
    return result


def percent(share: float) -> str:
    """A share in words, never rounded up to the whole or down to nothing.

    Examples
    --------
    >>> percent(0.973), percent(1.0), percent(0.9999), percent(0.00001)
    ('97 %', '100 %', 'over 99.9 %', 'under 0.1 %')
    """
    if min(abs(share), abs(1 - share)) < 1e-9 or 0.01 <= share < 0.99:
        return f"{100 * share:.0f} %"
    return "under 0.1 %" if share < 0.001 else "over 99.9 %" if share > 0.999 else f"{100 * share:.1f} %"


# -- legends and ticks -------------------------------------------------------------------------------------------------


def legend_columns(count: int) -> int:
    """Columns of a legend of so many entries that is no higher than a picture."""
    return 1 + (count - 1) // 18


def place_legend(ax: Any, handles: Any = None) -> Any:
    """A legend beside the axes where the figure makes room by itself, else where least is hidden; None if empty."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return None
    columns = legend_columns(len(handles))
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine):
        return ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), ncols=columns, borderaxespad=0)
    return ax.legend(handles=handles, loc="best", ncols=columns, fontsize="small")


def letter_size(axis: Any, count: int, most: Any) -> float:
    """Points of letters so that as many lines fit along an axis; a given axes may be a small part of a figure."""
    from matplotlib.font_manager import FontProperties

    axis.axes.apply_aspect()  # the cells of an image are squares, and leave a part of the axes empty
    box, along = axis.axes.get_window_extent(), axis.axis_name == "x"
    room = 72 * (box.width if along else box.height) / axis.axes.figure.dpi / max(count, 1)
    return float(min(FontProperties(size=most).get_size_in_points(), max(room, 3.0)))


def name_ticks(axis: Any, names: Sequence[Any], *, limit: int = 40, rotation: float = 0) -> None:
    """Names at 0, 1, 2, ... where they fit; else the numbers of a few."""
    if len(names) > limit:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
        return
    size = letter_size(axis, len(names), "small" if len(names) > 20 else "medium")
    turned = {"rotation": rotation, "ha": "right", "rotation_mode": "anchor"} if rotation else {}
    axis.set_ticks(range(len(names)), fitting(names), fontsize=size, **turned)
