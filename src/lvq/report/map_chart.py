"""The map as a Vega-Lite specification: regions, samples, prototypes and a ring around the selected sample."""

from __future__ import annotations

from lvq.report.label_places import PLACES, label_places
from lvq.typing import JSONValue

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
MAX_NUMBERED = 24  # prototypes up to which each has its number on the map
MAP_WIDTH = 480  # pixels of a map on a usual screen, in each direction
MAX_LARGE_MARKS = 800  # samples beyond which the marks are smaller
KEY = {"field": "key", "type": "nominal"}  # of the tooltip of a sample or prototype
WRONG = "datum.true !== datum.predicted"
Spec = dict[str, JSONValue]


def colour(code: int) -> str:
    """The colour of a class, as a CSS variable of the page."""
    return f"var(--c{code % COLOURS})"


def shape(code: int) -> str:
    """The shape of a class."""
    return list(SHAPES)[code % len(SHAPES)]


def symbol(code: int) -> str:
    """The path of a class's shape in a box of 16 by 16."""
    return SHAPES[shape(code)]


def rows_of(table: dict[str, JSONValue], names: tuple[str, ...]) -> list[dict[str, JSONValue]]:
    """Rows of a table that is stored by columns.

    Examples
    --------
    >>> rows_of({"x": [1, 2], "y": [3, 4], "z": 5}, ("x", "y"))
    [{'x': 1, 'y': 3}, {'x': 2, 'y': 4}]
    """
    return [dict(zip(names, row)) for row in zip(*(table[name] for name in names))]


def map_chart(summary: dict[str, JSONValue]) -> Spec:
    """The whole map; the page sets the data `points` and `selected`."""
    view, codes = summary["map"], list(range(len(summary["data"]["classes"])))
    position = {name: _axis(view, axis) for axis, name in enumerate(("x", "y"))}
    colours = {"domain": codes, "range": [colour(code) for code in codes]}
    shapes = {"domain": codes, "range": [shape(code) for code in codes]}
    ring = {"type": "point", "size": 420, "strokeWidth": 3, "stroke": "var(--text)", "filled": False, "fill": None}
    return {
        "description": "Map of the held-out samples, the prototypes and the regions of the classes.",
        "height": "container",
        "autosize": {"type": "fit", "contains": "padding"},
        "datasets": {"points": [], "selected": []},
        "layer": [
            _regions(view["regions"], position, colours),
            _samples(48 if view["n_shown"] <= MAX_LARGE_MARKS else 24, position, colours, shapes),
            _prototypes(view["prototypes"], position, colours, shapes),
            {"data": {"name": "selected"}, "mark": ring | {"aria": False, "tooltip": None}, "encoding": position},
        ],
    }


def _axis(view: Spec, axis: int) -> Spec:
    """One axis of the plane, as wide as the grid of regions, without numbers."""
    name, fraction = ("x", "y")[axis], view["explained_by_axis"][axis]
    ends = [min(view["regions"][name]), max(view["regions"][f"{name}2"])]
    return {
        "field": name,
        "type": "quantitative",
        "title": f"{view['axes'][axis]} ({'below 1 %' if fraction < 0.01 else f'{fraction:.0%}'})",
        "scale": {"domain": ends, "nice": False, "zero": False},
        "axis": {"labels": False, "ticks": False, "grid": False},
    }


def _by_class(field: str, scale: Spec) -> Spec:
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


def _regions(regions: Spec, position: Spec, colours: Spec) -> Spec:
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {
        "data": {"values": rows_of(regions, ("x", "x2", "y", "y2", "label"))},
        "mark": {"type": "rect", "aria": False, "opacity": 0.17, "strokeWidth": 0, "tooltip": None},
        "encoding": position | ends | {"color": _by_class("label", colours)},
    }


def _samples(size: int, position: Spec, colours: Spec, shapes: Spec) -> Spec:
    """Colour and shape by true class; hollow if rejected, thick outline if wrong, faint if its class is not chosen."""
    return {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "size": size, "aria": False},
        "encoding": position
        | {
            "shape": _by_class("true", shapes),
            "fill": {"condition": {"test": "datum.accepted", **_by_class("true", colours)}, "value": "transparent"},
            "stroke": {"condition": {"test": WRONG, "value": "var(--text)"}, **_by_class("true", colours)},
            "strokeWidth": {"condition": {"test": WRONG, "value": 2.2}, "value": 1.2},
            "opacity": {
                "condition": [{"test": "datum.faded", "value": 0.06}, {"test": "datum.accepted", "value": 0.85}],
                "value": 0.55,
            },
            "tooltip": KEY,
        },
    }


def _prototypes(table: Spec, position: Spec, colours: Spec, shapes: Spec) -> Spec:
    rows = rows_of(table, ("x", "y", "label"))
    numbered = len(rows) <= MAX_NUMBERED
    places = label_places(_pixels(rows, position)) if numbered else [None] * len(rows)
    values = [
        row | {"key": f"p{k}", "number": f"P{k + 1}", "place": place}
        for k, (row, place) in enumerate(zip(rows, places))
    ]
    size = {"size": 300, "strokeWidth": 2.5} if numbered else {"size": 110, "strokeWidth": 1.5}
    mark = {"type": "point", "filled": True, "stroke": "var(--text)", "opacity": 1, "aria": False, **size}
    number = {"type": "text", "fontWeight": "bold", "fontSize": 13, "aria": False}
    encoding = {"shape": _by_class("label", shapes), "fill": _by_class("label", colours), "tooltip": KEY}
    return {
        "data": {"values": values},
        "encoding": position,
        "layer": [
            {"mark": mark, "encoding": encoding},
            *(
                {
                    "transform": [{"filter": f"datum.place === {place}"}],
                    "mark": number | {"dx": dx, "dy": dy},
                    "encoding": {"text": {"field": "number", "type": "nominal"}},
                }
                for place, (dx, dy) in enumerate(PLACES)
            ),
        ],
    }


def _pixels(rows: list[dict[str, JSONValue]], position: Spec) -> list[tuple[float, float]]:
    """Places on a map of usual size; the y axis points up."""

    def place(row: dict[str, JSONValue], name: str) -> float:
        low, high = position[name]["scale"]["domain"]
        return MAP_WIDTH * float(row[name] - low) / ((high - low) or 1.0)

    return [(place(row, "x"), -place(row, "y")) for row in rows]
