"""The charts of the page: what stands still is a display of `lvq.plots` as SVG, what moves a Vega-Lite specification.

Colours are CSS variables of the page, so one chart serves light, dark and print. Each chart is one function. In
specifications, strings from the data are used only in data values and in domains of scales: `sort` would compile them
into an expression.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from lvq.plots import (
    CertifiedAccuracyDisplay,
    EffectDisplay,
    EvidenceDisplay,
    LambdaDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)
from lvq.plots.effects import GREY, Effects
from lvq.plots.evidence import AGAINST, FOR, with_value
from lvq.plots.style import COLOURS, class_colours, show_percent
from lvq.reports.metrics import Calibration
from lvq.reports.model import Certified, Curves, Importance
from lvq.reports.rejection import Rejection
from lvq.reports.samples import Explanation, Map, MapPrototypes
from lvq.reports.summary import Report
from lvq.typing import Argument, JSONValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

Spec = dict[str, JSONValue]
Drawing = Callable[["Axes"], object]

N_COLOURS = 11  # of classes, as CSS variables
# eight shapes and eleven colours, both used cyclically, distinguish 88 classes
SHAPES = {
    "circle": "M8 2.5a5.5 5.5 0 1 0 .01 0z",
    "square": "M3 3h10v10H3z",
    "triangle-up": "M8 2.5l6 11H2z",
    "diamond": "M8 1.5l5 6.5-5 6.5-5-6.5z",
    "cross": "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z",
    "triangle-down": "M8 13.5l6-11H2z",
    "triangle-right": "M13.5 8l-11-6v12z",
    "triangle-left": "M2.5 8l11-6v12z",
}
MAX_NUMBERED = 24  # prototypes up to which each has its number on the map
MAX_LARGE_MARKS = 800  # samples beyond which the marks are smaller
MAX_LINES = 60  # prototypes as curves
NEGATIVE, POSITIVE = "#D55E00", "#0072B2"  # colours that colour-blind readers can distinguish


def colour(code: int) -> str:
    """The colour of a class, as a CSS variable of the page."""
    return f"var(--c{code % N_COLOURS})"


def symbol(code: int) -> str:
    """The path of a class's shape in a box of 16 by 16."""
    return list(SHAPES.values())[code % len(SHAPES)]


# -- charts that stand still -------------------------------------------------------------------------------------------

WIDTH, CARD, SMALL = 4.6, 3.6, 2.8  # inches; the page scales them
TEXT, MUTED, LINE = "#16191d", "#5a636d", "#d6dce2"  # replaced by the page's variables
STYLE: Argument = {
    "svg.fonttype": "none",
    "font.size": 9.5,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor"), TEXT),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), MUTED),
    **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color"), LINE),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
}


def drawings(report: Report) -> dict[str, str]:
    """The static charts of a report as SVG, by their names."""
    relevance, curves = report.relevance, report.curves
    found: dict[str, tuple[Drawing, float]] = {}  # with the height in inches
    if relevance is not None and curves is None:
        found["relevance"] = partial(_relevance, relevance), 0.7 + 0.22 * len(relevance.features)
        if relevance.matrix is not None:
            found["matrix"] = partial(_matrix, relevance.matrix.values, relevance.matrix.features), 4.2
    if curves is not None:
        if curves.importance is not None:
            found["importance"] = partial(_importance_curve, curves), 2.4
        if curves.matrix is not None:
            found["matrix"] = partial(_matrix, curves.matrix, curves.matrix_features), 3.8
        found["prototypes"] = partial(_prototype_curves, curves, report.data.classes), 3.2
    if report.certified.unavailable is None:
        found["certified"] = partial(_certified, report.certified), 2.6
    if report.probabilities is not None:
        found["calibration"] = partial(_calibration, report.probabilities), 2.6
    colours = {code.lower(): colour(k) for k, code in enumerate(class_colours(len(report.data.classes)))}
    drawn = {name: _svg(name, draw, height, colours) for name, (draw, height) in found.items()}
    signs = {FOR.lower(): "var(--positive)", AGAINST.lower(): "var(--negative)", GREY: "var(--muted)"}
    if report.effects is not None:
        for k in range(len(report.effects.columns)):
            drawn[f"effect{k}"] = _svg(f"effect{k}", partial(_effect, report.effects, k), 1.9, signs, SMALL)
    for kind in ("wrong", "least_certain"):
        for k, one in enumerate(getattr(report.explanations, kind)):
            if one.log_odds is not None and one.image is None:
                name, height = f"{kind}{k}", 1.0 + 0.26 * len(one.features)
                drawn[name] = _svg(name, partial(_evidence, one, report), height, signs, CARD)
    return drawn


def _svg(name: str, draw: Drawing, height: float, colours: dict[str, str], width: float = WIDTH) -> str:
    """A drawing as an SVG element whose colours are the page's."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = StringIO()
    with rc_context(STYLE | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has others
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = re.sub("<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL)
    text = re.sub('<g id="[^"]*">', "<g>", text[text.index("<svg") :])  # the same in all drawings
    known = {COLOURS[0].lower(): colour(0)} | colours
    known |= {TEXT: "var(--text)", "#000000": "var(--text)", MUTED: "var(--muted)", LINE: "var(--line)"}
    return re.sub("(?<=: )#[0-9a-f]{6}", lambda code: known.get(code[0], code[0]), text)


def signed_colours() -> Colormap:
    """Orange for negative, blue for positive values, transparent at 0."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    strength = np.sqrt(np.abs(np.linspace(-1, 1, 255)))[:, None]  # the root makes small entries visible
    hues = np.repeat([to_rgb(NEGATIVE), to_rgb(POSITIVE)], [127, 128], axis=0)
    return LinearSegmentedColormap.from_list("signed", np.hstack([hues, strength]), N=255)


def _relevance(relevance: Importance, ax: Axes) -> None:
    """A bar for each of the most important features, with its interval."""
    found = relevance.intervals
    RelevanceDisplay(
        relevances=relevance.values,
        feature_names=relevance.features,
        values="importance",
        intervals=None if found is None else [found.lower, found.upper],
        confidence=None if found is None else found.confidence,
    ).plot(ax, max_features=None)


def _effect(effects: Effects, place: int, ax: Axes) -> None:
    """One effect, on an axis of log-odds that is the same for all."""
    ends = [f(one.log_odds) for f in (min, max) for one in effects.columns]
    room = 0.25 * (max(ends) - min(ends) or 1.0)
    display = EffectDisplay(effects=replace(effects, columns=effects.columns[place : place + 1])).plot(ax)
    display.axes_[0].set_ylim(min(ends) - room, max(ends) + room)
    display.axes_[0].set_ylabel("Log-odds")


def _evidence(one: Explanation, report: Report, ax: Axes) -> None:
    """The waterfall of an explained prediction."""
    display = EvidenceDisplay(
        evidence=[line.evidence or 0.0 for line in one.features],
        feature_names=[with_value(line.name, line.value) for line in one.features],
        label=report.data.classes[one.predicted],
        rival_label=report.data.classes[one.rival_class],
        rest=one.other_evidence or 0.0,
        n_rest=report.prototypes.n_features - len(one.features),
    ).plot(ax)
    display.ax_.set(xlabel="Log-odds", title="")


def _matrix(values: list[list[float]], names: list[str], ax: Axes) -> None:
    display = LambdaDisplay(matrix=values, feature_names=names, title="").plot(ax)
    display.colorbar_.remove()
    display.image_.set_cmap(signed_colours())


def _importance_curve(curves: Curves, ax: Axes) -> None:
    assert curves.importance is not None
    RelevanceDisplay(
        relevances=curves.importance, feature_names=curves.features, values="importance"
    ).plot(ax, kind="line")  # fmt: skip


def _prototype_curves(curves: Curves, classes: list[str], ax: Axes) -> None:
    """Prototypes as lines in the colours of their classes; the samples as a band."""
    ax.fill_between(range(len(curves.low)), curves.low, curves.high, color=MUTED, alpha=0.18, lw=0)
    display = PrototypeDisplay(
        values=curves.prototypes[:MAX_LINES],
        feature_names=curves.features,
        prototype_names=curves.name[:MAX_LINES],
        prototype_classes=curves.label[:MAX_LINES],
        classes=classes,
    ).plot(ax, kind="line")
    display.legend_.remove()  # the page has its own


def _certified(certified: Certified, ax: Axes) -> None:
    CertifiedAccuracyDisplay(radii=certified.radii, accuracy=certified.accuracy).plot(ax)
    ax.set_xlabel("Length of the change")


def _calibration(found: Calibration, ax: Axes) -> None:
    """Accuracy by the probability of the most probable class; calibrated predictions lie on the diagonal."""
    low = max(0.0, min([*found.probability, *found.accuracy]) - 0.05)
    ax.plot([low, 1], [low, 1], color=MUTED, ls="--", lw=1)
    size = 140 * np.sqrt(np.array(found.n_samples) / max(found.n_samples))
    ax.scatter(found.probability, found.accuracy, size, color=COLOURS[0], alpha=0.8, lw=0)
    ax.set(xlabel="Probability of the most probable class", ylabel="Fraction that is correct")
    show_percent(ax.xaxis)
    show_percent(ax.yaxis)
    ax.grid(alpha=0.3)


# -- charts that move --------------------------------------------------------------------------------------------------

WRONG = "datum.true !== datum.predicted"
CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--text)",
        **dict.fromkeys(("gridColor", "domainColor", "tickColor"), "var(--line)"),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": True,
        "labelSeparation": 6,
    },
    "text": {"color": "var(--text)"},
}


def specifications(report: Report) -> dict[str, JSONValue]:
    """The charts that sliders and tooltips change, by the names of their elements on the page."""
    found = {
        "map": _map(report.map, len(report.data.classes)),
        "curve": _curve(report.rejection, marked=report.model.rejection is not None),
    }
    return {name: spec | {"width": "container", "config": CONFIG} for name, spec in found.items()}


def _number(field: str, title: str, form: str, **scale: JSONValue) -> Spec:
    axis = {"format": form, "tickCount": 6}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _curve(rejection: Rejection, *, marked: bool) -> Spec:
    """Accuracy by coverage, with the operating point as fitted and the selected one."""
    pairs = list(zip(rejection.coverage, rejection.accuracy))
    rows = [{"coverage": coverage, "accuracy": accuracy} for coverage, accuracy in pairs if accuracy is not None]
    low = min((row["accuracy"] for row in rows), default=0.0)
    least = min([0.95, *(row["coverage"] for row in rows)])
    x = _number("coverage", "coverage", ".0%", domain=[least, 1.0], reverse=True, nice=False)
    y = _number(
        "accuracy", "accuracy of accepted", ".1%", domain=[max(0.0, low - 0.15 * (1 - low) - 0.005), 1.0], nice=False
    )
    own = [{"coverage": one, "accuracy": other} for one, other in pairs[rejection.fitted : rejection.fitted + 1]]
    tooltip = [
        {"field": name, "type": "quantitative", "format": form}
        for name, form in (("coverage", ".1%"), ("accuracy", ".2%"))
    ]
    line = {"type": "line", "color": "var(--accent)", "strokeWidth": 2.5}
    dot = {"type": "point", "filled": True, "size": 14, "color": "var(--accent)", "aria": False}
    diamond = dot | {"shape": "diamond", "filled": False, "size": 150, "strokeWidth": 2, "color": "var(--text)"}
    rule = {"type": "rule", "color": "var(--text)", "strokeDash": [4, 3]}
    curve, selected, position = {"values": rows}, {"name": "selected"}, {"x": x, "y": y}
    fitted = {"data": {"values": own}, "mark": diamond, "encoding": position | {"tooltip": tooltip}}
    return {
        "description": "Accuracy of the accepted predictions by coverage.",
        "height": 190,
        "datasets": {"selected": []},
        "layer": [
            {"data": curve, "mark": line, "encoding": position},
            {"data": curve, "mark": dot, "encoding": position | {"tooltip": tooltip}},
            *([fitted] if marked and own[0]["accuracy"] is not None else []),
            {"data": selected, "mark": rule, "encoding": {"x": x}},
            {"data": selected, "mark": dot | {"size": 130, "opacity": 1}, "encoding": position},
        ],
    }


def _map(view: Map, n_classes: int) -> Spec:
    """Regions, samples, prototypes and a ring around the selected sample; the page sets `points` and `selected`."""
    position = {name: _map_axis(view, axis) for axis, name in enumerate(("x", "y"))}
    codes = list(range(n_classes))
    colours = {"domain": codes, "range": [colour(code) for code in codes]}
    shapes = {"domain": codes, "range": [list(SHAPES)[code % len(SHAPES)] for code in codes]}
    ring = {"type": "point", "size": 420, "strokeWidth": 3, "stroke": "var(--text)", "filled": False, "fill": None}
    return {
        "description": "Map of the held-out samples, the prototypes and the regions of the classes.",
        "height": "container",
        "autosize": {"type": "fit", "contains": "padding"},
        "datasets": {"points": [], "selected": []},
        "layer": [
            _regions(view.regions, position, colours),
            _samples(48 if view.n_shown <= MAX_LARGE_MARKS else 24, position, colours, shapes),
            _prototypes(view.prototypes, position, colours, shapes),
            {"data": {"name": "selected"}, "mark": ring | {"aria": False, "tooltip": None}, "encoding": position},
        ],
    }


def _map_axis(view: Map, axis: int) -> Spec:
    """One axis of the plane, as wide as the grid of regions, without numbers."""
    fraction = view.explained_by_axis[axis]
    return {
        "field": ("x", "y")[axis],
        "type": "quantitative",
        "title": f"{view.axes[axis]} ({'below 1 %' if fraction < 0.01 else f'{fraction:.0%}'})",
        "scale": {"domain": view.ends[axis], "nice": False, "zero": False},
        "axis": {"labels": False, "ticks": False, "grid": False},
    }


def _by_class(field: str, scale: Spec) -> Spec:
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


def _regions(regions: list[dict[str, float]], position: Spec, colours: Spec) -> Spec:
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {
        "data": {"values": regions},
        "mark": {"type": "rect", "aria": False, "opacity": 0.17, "strokeWidth": 0, "tooltip": None},
        "encoding": position | ends | {"color": _by_class("label", colours)},
    }


def _samples(size: int, position: Spec, colours: Spec, shapes: Spec) -> Spec:
    """Colour and shape by true class; hollow if rejected, thick outline if wrong, faint if its class is not chosen."""
    faint = [{"test": "datum.faded", "value": 0.06}, {"test": "datum.accepted", "value": 0.85}]
    return {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "size": size, "aria": False},
        "encoding": position
        | {
            "shape": _by_class("true", shapes),
            "fill": {"condition": {"test": "datum.accepted", **_by_class("true", colours)}, "value": "transparent"},
            "stroke": {"condition": {"test": WRONG, "value": "var(--text)"}, **_by_class("true", colours)},
            "strokeWidth": {"condition": {"test": WRONG, "value": 2.2}, "value": 1.2},
            "opacity": {"condition": faint, "value": 0.55},
            "tooltip": {"field": "key", "type": "nominal"},
        },
    }


def _prototypes(table: MapPrototypes, position: Spec, colours: Spec, shapes: Spec) -> Spec:
    """Large marks; up to 24 of them with their numbers above."""
    numbered = len(table.x) <= MAX_NUMBERED
    values = [
        {"x": x, "y": y, "label": label, "key": f"p{k}", "number": f"P{k + 1}"}
        for k, (x, y, label) in enumerate(zip(table.x, table.y, table.label))
    ]
    size = {"size": 300, "strokeWidth": 2.5} if numbered else {"size": 110, "strokeWidth": 1.5}
    mark = {"type": "point", "filled": True, "stroke": "var(--text)", "opacity": 1, "aria": False, **size}
    number = {
        "mark": {"type": "text", "fontWeight": "bold", "fontSize": 13, "aria": False, "dx": 0, "dy": -17},
        "encoding": {"text": {"field": "number", "type": "nominal"}},
    }
    encoding = {
        "shape": _by_class("label", shapes),
        "fill": _by_class("label", colours),
        "tooltip": {"field": "key", "type": "nominal"},
    }
    return {
        "data": {"values": values},
        "encoding": position,
        "layer": [{"mark": mark, "encoding": encoding}, *([number] if numbered else [])],
    }
