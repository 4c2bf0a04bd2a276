"""The charts as Vega-Lite specifications, which the page draws as SVG.

Colours are CSS variables of the page: one chart serves light, dark and print. Strings from the data are used only in
data values and in domains of scales: `sort` would compile them into an expression.
"""

from __future__ import annotations

from itertools import pairwise

from lvq.reports.metrics import Calibration
from lvq.reports.model import Curves, Importance, Intervals, Matrix
from lvq.reports.rejection import Rejection
from lvq.reports.samples import Map, MapPrototypes, Rectangles
from lvq.reports.summary import Report
from lvq.typing import JSONValue

Spec = dict[str, JSONValue]

COLOURS = 11
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
ROW_HEIGHT = 21  # of a feature
MAX_NUMBERED = 24  # prototypes up to which each has its number on the map
MAX_LARGE_MARKS = 800  # samples beyond which the marks are smaller
MAX_LINES = 60  # prototypes as curves
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
        "labelLimit": 170,
    },
    "text": {"color": "var(--text)"},
}


def colour(code: int) -> str:
    """The colour of a class, as a CSS variable of the page."""
    return f"var(--c{code % COLOURS})"


def symbol(code: int) -> str:
    """The path of a class's shape in a box of 16 by 16."""
    return list(SHAPES.values())[code % len(SHAPES)]


def specifications(report: Report) -> dict[str, JSONValue]:
    """All charts of a report, by the name of their element on the page."""
    certified, history, curves = report.certified, report.history, report.curves
    found: dict[str, Spec | None] = {
        "map": _map(report.map, len(report.data.classes)),
        "curve": _curve(report.rejection, marked=report.model.rejection is not None),
        "certified": None if certified.unavailable else _line(
            certified.radii, certified.accuracy, _number("x", "length of the perturbation", nice=False),
            _number("y", "certified accuracy", ".0%", domain=[0, 1]),
        ),
        "calibration": _calibration(report.probabilities) if report.probabilities else None,
        "history": _line(
            history.iteration, history.objective, _number("x", "iteration", "d", nice=False),
            _number("y", "mean cost", zero=False),
        ) if len(history.objective) > 1 else None,
    }  # fmt: skip
    found |= _feature_charts(report.relevance, curves)
    return {name: spec | {"width": "container", "config": CONFIG} for name, spec in found.items() if spec is not None}


def _feature_charts(relevance: Importance | None, curves: Curves | None) -> dict[str, Spec | None]:
    """Importances and Lambda as bars and table; along the axis of features that have an order."""
    if curves is not None:
        along = _along(curves)
        importance = None
        if curves.importance is not None:
            importance = _line(curves.positions, curves.importance, along, _number("y", "importance", ".1%"))
        edges = curves.edges or []
        names = list(pairwise(edges))
        matrix = None if curves.matrix is None else _heat_map(curves.matrix, names, names, along)
        return {"importance-curve": importance, "prototype-curves": _prototype_curves(curves), "matrix-curve": matrix}
    if relevance is None:
        return {}
    return {"relevance": _relevance(relevance), "matrix": _matrix(relevance.matrices) if relevance.matrices else None}


def _number(field: str, title: str | None = None, form: str | None = None, **scale: JSONValue) -> Spec:
    axis = {} if form is None else {"axis": {"format": form, "tickCount": 6, "tickMinStep": 1 if form == "d" else 0}}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, **axis}


def _shown(field: str, title: str, form: str = ".4~g") -> Spec:
    """A line of a tooltip."""
    return {"field": field, "type": "quantitative", "title": title, "format": form}


def _line(xs: object, ys: object, x: Spec, y: Spec) -> Spec:
    """A curve with the area under it."""
    rows = [{"x": one, "y": other} for one, other in zip(xs, ys)]  # type: ignore[call-overload]
    form = y.get("axis", {}).get("format", ".4~g")
    return {
        "description": f"{y['title']} by {x['title']}",
        "height": 200,
        "data": {"values": rows},
        "mark": {"type": "area", "line": {"color": "var(--accent)"}, "color": "var(--accent)", "fillOpacity": 0.12},
        "encoding": {"x": x, "y": y, "tooltip": [_shown("x", x["title"]), _shown("y", y["title"], form)]},
    }


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
    tooltip = [_shown("coverage", "coverage", ".1%"), _shown("accuracy", "accuracy", ".2%")]
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


def _calibration(found: Calibration) -> Spec:
    """Accuracy by the probability of the most probable class; calibrated predictions lie on the diagonal."""
    domain = [max(0.0, min([*found.probability, *found.accuracy]) - 0.05), 1.0]
    position = {
        "x": _number("x", "probability of the most probable class", ".0%", domain=domain, nice=False),
        "y": _number("y", "fraction that is correct", ".0%", domain=domain, nice=False),
    }
    rows = [{"x": one, "y": other, "n": n} for one, other, n in zip(found.probability, found.accuracy, found.n_samples)]
    tooltip = [_shown("x", "probability", ".1%"), _shown("y", "correct", ".1%"), _shown("n", "samples", "d")]
    size = {"field": "n", "type": "quantitative", "legend": None}
    return {
        "description": "How often the most probable class is the true one, by its probability.",
        "height": 200,
        "layer": [
            {
                "data": {"values": [{"x": end, "y": end} for end in domain]},
                "mark": {"type": "line", "color": "var(--muted)", "strokeDash": [4, 3]},
                "encoding": position,
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "color": "var(--accent)"},
                "encoding": position | {"size": size, "tooltip": tooltip},
            },
        ],
    }


# -- features ----------------------------------------------------------------------------------------------------------


def _ranked(names: list[str]) -> list[str]:
    """Names with their ranks, which makes all of them different."""
    return [f"{rank}. {name}" for rank, name in enumerate(names, start=1)]


def _relevance(relevance: Importance) -> Spec:
    """A bar for each of the most important features, with a line for its interval."""
    names = _ranked(relevance.features)
    bars = [{"feature": name, "weight": value, "rest": False} for name, value in zip(names, relevance.values)]
    if relevance.n_rest:
        names = [*names, f"sum of the other {relevance.n_rest}"]
        bars.append({"feature": names[-1], "weight": relevance.rest, "rest": True})
    tooltip = [{"field": "feature", "type": "nominal"}, _shown("weight", "importance", ".1%")]
    bar = {
        "data": {"values": bars},
        "mark": {"type": "bar", "height": {"band": 0.72}},
        "encoding": {
            "color": {"condition": {"test": "datum.rest", "value": "var(--line)"}, "value": "var(--accent)"},
            "tooltip": tooltip,
        },
    }
    return {
        "description": "Importance of each feature, the most important first.",
        "height": ROW_HEIGHT * len(names),
        "encoding": {
            "y": {"field": "feature", "type": "nominal", "scale": {"domain": names}, "title": None},
            "x": _number("weight", "importance", ".0%"),
        },
        "layer": [bar, *([] if relevance.intervals is None else [_whiskers(relevance.intervals, names)])],
    }


def _whiskers(intervals: Intervals, names: list[str]) -> Spec:
    rows = [
        {"feature": name, "weight": low, "upper": high}
        for name, low, high in zip(names, intervals.lower, intervals.upper)
    ]
    tooltip = [
        {"field": "feature", "type": "nominal"},
        _shown("weight", "lower end", ".1%"),
        _shown("upper", "upper end", ".1%"),
    ]
    return {
        "data": {"values": rows},
        "mark": {"type": "rule", "color": "var(--text)", "strokeWidth": 2},
        "encoding": {"x2": {"field": "upper"}, "tooltip": tooltip},
    }


def _matrix(matrices: list[Matrix]) -> Spec:
    """Lambda as a heat map; the page selects one of several matrices."""
    names = _ranked(matrices[0].features)
    ranks = [str(rank) for rank in range(1, len(names) + 1)]
    by_name: Spec = {"type": "nominal", "title": None}
    spec = _heat_map(matrices[0].values, names, ranks, None)
    spec["encoding"] |= {
        "y": by_name | {"field": "row", "scale": {"domain": names}},
        "x": by_name | {"field": "column", "scale": {"domain": ranks}, "axis": {"labelAngle": 0}},
    }
    cells = [_cells(matrix.values, names, ranks) for matrix in matrices]
    return spec | {"height": ROW_HEIGHT * len(names), "datasets": {"cells": cells[0]}, "usermeta": {"cells": cells}}


def _heat_map(values: list[list[float]], rows: list[JSONValue], columns: list[JSONValue], along: Spec | None) -> Spec:
    """Blue for positive, orange for negative entries, darker for larger ones; along an axis, or by name."""
    strength = {
        "field": "strength",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": [0, 1]},
    }
    encoding: Spec = {
        "color": {"condition": {"test": "datum.value < 0", "value": "var(--negative)"}, "value": "var(--positive)"},
        "fillOpacity": strength,
        "tooltip": [
            {"field": "row", "type": "nominal", "title": "feature"},
            {"field": "other", "type": "nominal", "title": "with"},
            _shown("value", "fraction of the trace", ".2%"),
        ],
    }
    if along is not None:
        ends = {name: along | {"field": name} for name in ("x", "y")}
        encoding |= ends | {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {
        "description": "Lambda: weights of pairs of features in the distance.",
        "height": 320,
        "datasets": {"cells": _cells(values, rows, columns)},
        "data": {"name": "cells"},
        "mark": {"type": "rect", "aria": False, "stroke": "var(--line)", "strokeWidth": 0.5 if along is None else 0},
        "encoding": encoding,
    }


def _cells(values: list[list[float]], rows: list[JSONValue], columns: list[JSONValue]) -> list[Spec]:
    """Cells by the names of their features, or by the ends of features on an axis."""
    largest = max(abs(value) for row in values for value in row) or 1.0
    cells = []
    for row, entries in zip(rows, values):
        for k, value in enumerate(entries):
            strength = round((abs(value) / largest) ** 0.5, 3)  # the root makes small entries visible
            cell: Spec = {"value": value, "strength": strength}
            if isinstance(row, tuple):
                ends = {"y": row[0], "y2": row[1], "x": columns[k][0], "x2": columns[k][1]}
                cells.append(cell | ends | {"row": f"{row[0]:.6g}", "other": f"{columns[k][0]:.6g}"})
            else:
                cells.append(cell | {"row": row, "column": columns[k], "other": rows[k]})
    return cells


def _along(curves: Curves) -> Spec:
    return _number("x", curves.title, ".6~g", nice=False, zero=False)


def _prototype_curves(curves: Curves) -> Spec:
    """Prototypes as lines in the colours of their classes; the samples as a band."""
    rows = [
        {"x": position, "y": value, "prototype": f"P{j + 1} ({curves.name[j]})", "label": curves.label[j]}
        for j, line in enumerate(curves.prototypes[:MAX_LINES])
        for position, value in zip(curves.positions, line)
    ]
    band = [{"x": x, "low": low, "high": high} for x, low, high in zip(curves.positions, curves.low, curves.high)]
    codes = sorted(set(curves.label))
    scale = {"domain": codes, "range": [colour(code) for code in codes]}
    tooltip = [{"field": "prototype", "type": "nominal"}, _shown("x", curves.title), _shown("y", "value")]
    return {
        "description": "Prototypes along the axis of the features, and the range of the samples.",
        "height": 280,
        "layer": [
            {
                "data": {"values": band},
                "mark": {"type": "area", "color": "var(--muted)", "opacity": 0.18, "aria": False},
                "encoding": {"x": _along(curves), "y": _number("low", "value", zero=False), "y2": {"field": "high"}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
                "encoding": {
                    "x": _along(curves),
                    "y": {"field": "y", "type": "quantitative"},
                    "color": {"field": "label", "type": "nominal", "scale": scale, "legend": None},
                    "detail": {"field": "prototype", "type": "nominal"},
                    "tooltip": tooltip,
                },
            },
        ],
    }


# -- map ---------------------------------------------------------------------------------------------------------------


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
    name, fraction = ("x", "y")[axis], view.explained_by_axis[axis]
    ends = [min(getattr(view.regions, name)), max(getattr(view.regions, f"{name}2"))]
    return {
        "field": name,
        "type": "quantitative",
        "title": f"{view.axes[axis]} ({'below 1 %' if fraction < 0.01 else f'{fraction:.0%}'})",
        "scale": {"domain": ends, "nice": False, "zero": False},
        "axis": {"labels": False, "ticks": False, "grid": False},
    }


def _by_class(field: str, scale: Spec) -> Spec:
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


def _regions(regions: Rectangles, position: Spec, colours: Spec) -> Spec:
    names = ("x", "x2", "y", "y2", "label")
    rows = [dict(zip(names, row)) for row in zip(*(getattr(regions, name) for name in names))]
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {
        "data": {"values": rows},
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
