"""The charts as Vega-Lite specifications: plain dictionaries, drawn by the page as SVG.

Colours are the page's own CSS variables, so that light, dark and print are one chart. Texts from the data stand only in
data values and in domains of scales: an order of names in `sort` would be compiled into an expression, with the names.
"""

from __future__ import annotations

from typing import Any

from lvq.report.map_chart import Spec, map_chart, rows_of

STEP = 21  # height of a feature's row
FONT = "system-ui, sans-serif"
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": True,
        "labelSeparation": 6,
        "labelLimit": 170,
    },
    "text": {"color": "var(--ink)"},
}


def specifications(summary: dict[str, Any]) -> dict[str, Any]:
    """All charts that this summary has something to show in, by the name of their place on the page."""
    found = {
        "map": map_chart(summary),
        "curve": curve_chart(summary["rejection"], marked=summary["model"]["rejection"] is not None),
        "relevance": relevance_chart(summary["relevance"]) if summary["relevance"] else None,
        "matrix": matrix_chart(summary["relevance"]) if summary["relevance"] else None,
        "certified": certified_chart(summary["certified"]) if "radii" in summary["certified"] else None,
        "history": history_chart(summary["history"]) if len(summary["history"]["values"]) > 1 else None,
    }
    return {name: spec | {"config": CONFIG} for name, spec in found.items() if spec is not None}


def _quantity(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


# -- curves ------------------------------------------------------------------------------------------------------------


def curve_chart(rejection: dict[str, Any], *, marked: bool) -> Spec:
    """Accuracy by coverage, the position as fitted and the present one."""
    rows = [row for row in rows_of(rejection, ("coverage", "accuracy")) if row["accuracy"] is not None]
    # up to 100 %, and from a little below the worst, so that neither a flat curve nor a steep one fills the picture
    low = min((row["accuracy"] for row in rows), default=0.0)
    span = {"domain": [max(0.0, low - 0.15 * (1 - low) - 0.005), 1.0], "nice": False}
    across = {"domain": [min([0.95, *(row["coverage"] for row in rows)]), 1.0], "reverse": True, "nice": False}
    fitted = {name: rejection[name][rejection["chosen"]] for name in ("coverage", "accuracy")}
    place = {
        "x": _quantity("coverage", "share of answers used (coverage)",
                       axis={"format": ".0%", "tickCount": 6}, scale=across),
        "y": _quantity("accuracy", "accuracy on these", axis={"format": ".1%", "tickCount": 5}, scale=span),
    }  # fmt: skip
    told = [
        {"field": "coverage", "type": "quantitative", "format": ".1%", "title": "coverage"},
        {"field": "accuracy", "type": "quantitative", "format": ".2%", "title": "accuracy"},
    ]
    line = {"type": "line", "color": "var(--accent)", "strokeWidth": 2.5}
    dot = {"type": "point", "filled": True, "size": 14, "color": "var(--accent)", "aria": False}
    diamond = {
        "type": "point",
        "shape": "diamond",
        "size": 150,
        "filled": False,
        "strokeWidth": 2,
        "color": "var(--ink)",
    }
    rule = {"type": "rule", "color": "var(--ink)", "strokeDash": [4, 3]}
    here = {"type": "point", "filled": True, "size": 130, "color": "var(--accent)", "opacity": 1}
    known = {"values": rows}
    as_fitted = {"data": {"values": [fitted]}, "mark": diamond, "encoding": place | {"tooltip": told}}
    return {
        "description": "Accuracy of the answers that are used, by the share of answers that are used.",
        "width": "container",
        "height": 190,
        "datasets": {"now": []},
        "layer": [
            {"data": known, "mark": line, "encoding": place},
            {"data": known, "mark": dot, "encoding": place | {"tooltip": told}},
            *([as_fitted] if marked and fitted["accuracy"] is not None else []),
            {"data": {"name": "now"}, "mark": rule, "encoding": {"x": place["x"]}},
            {"data": {"name": "now"}, "mark": here, "encoding": place},
        ],
    }


def certified_chart(certified: dict[str, Any]) -> Spec:
    """Share of samples that no smaller change can make wrong."""
    return {
        "description": "Share of samples answered rightly whatever change of a given size they suffer.",
        "width": "container",
        "height": 200,
        "data": {"values": rows_of(certified, ("radii", "accuracy"))},
        "mark": {"type": "area", "line": {"color": "var(--accent)"}, "color": "var(--accent)", "fillOpacity": 0.15,
                 "tooltip": True},
        "encoding": {
            "x": _quantity("radii", "size of the change", scale={"nice": False}),
            "y": _quantity("accuracy", "certified accuracy", axis={"format": ".0%"}, scale={"domain": [0, 1]}),
            "tooltip": [
                {"field": "radii", "type": "quantitative", "format": ".3g", "title": "size of the change"},
                {"field": "accuracy", "type": "quantitative", "format": ".1%", "title": "certified accuracy"},
            ],
        },
    }  # fmt: skip


def history_chart(history: dict[str, Any]) -> Spec:
    """The objective, round by round."""
    return {
        "description": "The objective after each round of training.",
        "width": "container",
        "height": 200,
        "data": {"values": rows_of(history, ("round", "values"))},
        "mark": {"type": "line", "color": "var(--accent)", "strokeWidth": 2},
        "encoding": {
            "x": _quantity("round", "round", axis={"tickMinStep": 1, "format": "d"}, scale={"nice": False}),
            "y": _quantity("values", "mean cost", scale={"zero": False}),
        },
    }


# -- relevances --------------------------------------------------------------------------------------------------------


def _ranked(names: list[str]) -> list[str]:
    """Names with their ranks, which makes equal names different."""
    return [f"{rank}. {name}" for rank, name in enumerate(names, start=1)]


def relevance_chart(relevance: dict[str, Any]) -> Spec:
    """A bar for each of the most relevant features, and a tick for every fold."""
    names = _ranked(relevance["features"])
    bars = [{"feature": name, "share": value, "rest": False} for name, value in zip(names, relevance["values"])]
    if relevance["n_rest"]:
        names = [*names, f"the other {relevance['n_rest']} together"]
        bars.append({"feature": names[-1], "share": relevance["rest"], "rest": True})
    ticks = [
        {"feature": name, "share": value, "fold": fold}
        for fold, values in enumerate(relevance["folds"], start=1)
        for name, value in zip(names, values)
        if value is not None
    ]
    place = {
        "y": {"field": "feature", "type": "nominal", "scale": {"domain": names}, "title": None},
        "x": _quantity("share", "weight in the distance", axis={"format": ".0%", "tickCount": 5}),
    }
    told = {"field": "share", "type": "quantitative", "format": ".1%", "title": "weight"}
    by_fold = {
        "data": {"values": ticks},
        "mark": {"type": "tick", "color": "var(--ink)", "thickness": 1.5, "opacity": 0.65, "aria": False},
        "encoding": {"tooltip": [{"field": "fold", "type": "quantitative"}, told]},
    }
    return {
        "description": "Weight of each feature in the distance, the most relevant first.",
        "width": "container",
        "height": STEP * len(names),
        "encoding": place,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": {"band": 0.72}},
                "encoding": {
                    "color": {"condition": {"test": "datum.rest", "value": "var(--line)"}, "value": "var(--accent)"},
                    "tooltip": [{"field": "feature", "type": "nominal"}, told],
                },
            },
            *([by_fold] if ticks else []),
        ],
    }


def matrix_chart(relevance: dict[str, Any]) -> Spec | None:
    """Lambda as a heat map: blue for positive, orange for negative entries, the deeper the larger."""
    matrices = relevance["matrices"]
    if not matrices:
        return None
    names = _ranked(matrices[0]["features"])
    ranks = [str(rank) for rank in range(1, len(names) + 1)]
    place = {
        "y": {"field": "row", "type": "nominal", "scale": {"domain": names}, "title": None},
        "x": {
            "field": "column",
            "type": "nominal",
            "scale": {"domain": ranks},
            "title": None,
            "axis": {"labelAngle": 0},
        },
    }
    cells = [_cells(matrix, names, ranks) for matrix in matrices]
    return {
        "description": "Lambda: how pairs of features count together in the distances.",
        "width": "container",
        "height": STEP * len(names),
        "datasets": {"cells": cells[0]},
        "usermeta": {"cells": cells},
        "data": {"name": "cells"},
        "encoding": place,
        "layer": [
            {
                "mark": {"type": "rect", "aria": False, "stroke": "var(--line)", "strokeWidth": 0.5},
                "encoding": {
                    "color": {"condition": {"test": "datum.value < 0", "value": "var(--against)"},
                              "value": "var(--for)"},
                    "fillOpacity": _quantity("strength", scale={"domain": [0, 1], "range": [0, 1]}, legend=None),
                    "tooltip": [
                        {"field": "row", "type": "nominal", "title": "feature"},
                        {"field": "other", "type": "nominal", "title": "with"},
                        {"field": "value", "type": "quantitative", "format": ".2%", "title": "share of the trace"},
                        {"field": "told", "type": "nominal", "title": "same sign in the folds"},
                    ],
                },
            },
            {
                "transform": [{"filter": "datum.agreement < 1"}],
                "mark": {"type": "point", "filled": True, "size": 14, "color": "var(--ink)", "aria": False},
            },
        ],
    }  # fmt: skip


def _cells(matrix: dict[str, Any], names: list[str], ranks: list[str]) -> list[dict[str, Any]]:
    largest = max(abs(value) for row in matrix["values"] for value in row) or 1.0
    agreement = matrix["agreement"]
    return [
        {
            "row": name,
            "column": ranks[k],
            "other": names[k],
            "value": value,
            "strength": round((abs(value) / largest) ** 0.5, 3),  # roots, so that small entries show
            "agreement": 1.0 if agreement is None else agreement[row][k],
            "told": "not known" if agreement is None else f"{agreement[row][k]:.0%}",
        }
        for row, (name, values) in enumerate(zip(names, matrix["values"]))
        for k, value in enumerate(values)
    ]
