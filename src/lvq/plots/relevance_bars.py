"""Bars, lines and markers of a RelevanceDisplay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lvq.inspection.steps import Floats
from lvq.plots.style import (
    COLOURS,
    DASHES,
    class_colours,
    class_markers,
    merge_kwargs,
    name_ticks,
    short_names,
)
from lvq.typing import Argument

if TYPE_CHECKING:
    from lvq.plots.relevances import RelevanceDisplay

MAX_NAMED = 20  # local matrices up to which the legend names each


def _intervals(display: RelevanceDisplay) -> tuple[Floats, str] | None:
    """Lengths of the whiskers to either side, (2, n_features), and their label."""
    if display.lower is None or display.upper is None:
        return None
    relevances = np.asarray(display.relevances)
    label = "interval" if display.confidence is None else f"{100 * display.confidence:g} % interval"
    lengths = np.array([relevances - np.asarray(display.lower), np.asarray(display.upper) - relevances])
    return np.maximum(lengths, 0), label


def draw_bars(display: RelevanceDisplay, relevances: Floats, given: dict[str, Argument] | None) -> None:
    """A bar for each of the chosen features, with intervals and markers."""
    from matplotlib.ticker import MaxNLocator

    places = np.arange(len(display.order_))
    mean = {"label": "mean"} if display.each is not None else {}
    style = merge_kwargs({"color": COLOURS[0], "alpha": 0.75 if mean else 1.0, **mean}, given, "patches.Rectangle")
    display.bars_ = display.ax_.barh(places, relevances[display.order_], **style)
    whiskers: dict[str, Argument] = {"fmt": "none", "ecolor": "black", "elinewidth": 1.2, "capsize": 3}
    intervals = _intervals(display)
    if intervals is not None:
        whiskers |= {"xerr": intervals[0][:, display.order_], "label": intervals[1]}
        display.errorbar_ = display.ax_.errorbar(relevances[display.order_], places, **whiskers)
    if display.each is not None:
        each = np.asarray(display.each)[:, display.order_]
        if display.each_names is None:
            style = whiskers | {"xerr": each.std(axis=0), "label": "standard deviation"}
            display.errorbar_ = display.ax_.errorbar(relevances[display.order_], places, **style)
        _draw_markers(display, each, places)
    name_ticks(display.ax_.yaxis, [display.feature_names[int(k)] for k in display.order_], limit=60)
    display.ax_.set_ylim(len(places) - 0.5, -0.5)
    display.ax_.set_xlim(left=0)
    display.ax_.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    display.ax_.grid(axis="x", alpha=0.3)
    display.ax_.set_axisbelow(True)


def draw_line(display: RelevanceDisplay, relevances: Floats, given: dict[str, Argument] | None) -> None:
    """A line over all features, with intervals, and lines of each local matrix."""
    places = np.arange(len(relevances))
    mean = {"label": "mean"} if display.each is not None else {}
    intervals = _intervals(display)
    if intervals is not None:
        low, high = relevances - intervals[0][0], relevances + intervals[0][1]
        style: dict[str, Argument] = {"color": COLOURS[0], "alpha": 0.25, "lw": 0, "label": intervals[1]}
        display.errorbar_ = display.ax_.fill_between(places, low, high, **style)
    if display.each is not None and display.each_names is None:
        spread = np.asarray(display.each).std(axis=0)
        style = {"color": COLOURS[0], "alpha": 0.25, "lw": 0, "label": "standard deviation"}
        low, high = np.maximum(relevances - spread, 0), relevances + spread
        display.errorbar_ = display.ax_.fill_between(places, low, high, **style)
    elif display.each is not None:
        classes = _class_of_each(display)
        colours = class_colours(max(classes) + 1)
        dashes = [DASHES[classes[:k].count(index) % 4] for k, index in enumerate(classes)]
        for row, name, index, dash in zip(np.asarray(display.each), _labels(display), classes, dashes):
            display.lines_ += display.ax_.plot(places, row, color=colours[index], ls=dash, lw=0.9, label=name)
    style = {"color": "black" if display.each_names else COLOURS[0], "lw": 1.4, **mean}
    display.lines_ += display.ax_.plot(places, relevances, **merge_kwargs(style, given, "lines.Line2D"))
    name_ticks(display.ax_.xaxis, display.feature_names, limit=15, rotation=40)
    display.ax_.set_ylim(bottom=0)
    display.ax_.set_xlabel("Feature")
    display.ax_.grid(alpha=0.3)


def _class_of_each(display: RelevanceDisplay) -> list[int]:
    return [] if display.each_classes is None else list(display.each_classes)


def _labels(display: RelevanceDisplay) -> list[str | None]:
    """Labels of the local matrices for the legend; one label for all where there are many."""
    names = display.each_names or ()
    unnamed = ["each local matrix", *[None] * (len(names) - 1)]
    return unnamed if len(names) > MAX_NAMED else [*short_names(names, 24)]


def _draw_markers(display: RelevanceDisplay, each: Floats, places: NDArray[np.intp]) -> None:
    """Markers of each fold, or of each local matrix in the colour of its class."""
    if display.each_names is None:
        for number, row in enumerate(each):
            style: dict[str, Argument] = {"marker": "o", "ms": 3.5, "mfc": "white", "mec": "black", "mew": 0.6}
            label = "each fold" if number == 0 else None
            display.lines_ += display.ax_.plot(row, places, ls="none", label=label, **style)
        return
    classes, markers = _class_of_each(display), class_markers(len(each))
    colours = class_colours(max(classes) + 1)
    for row, name, index, marker in zip(each, _labels(display), classes, markers):
        style = {"marker": marker, "ms": 5, "color": colours[index], "mec": "black", "mew": 0.5, "ls": "none"}
        display.lines_ += display.ax_.plot(row, places, label=name, **style)
