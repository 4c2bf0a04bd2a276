"""The charts as Vega-Lite specifications, which the page draws as SVG.

Colours are CSS variables of the page, so that one chart serves light, dark and print. Text from the data is used only
in data values and in domains of scales: `sort` would compile it into an expression.
"""

from __future__ import annotations

from lvq.report.map_chart import Spec, map_chart, rows_of
from lvq.report.ordered_features import importance_curve, matrix_along_axis, prototype_curves
from lvq.report.probabilities import calibration_chart
from lvq.typing import JSONValue

ROW_HEIGHT = 21  # of a feature
CONFIG: dict[str, JSONValue] = {
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


def specifications(summary: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """All charts of this summary, by the name of their element on the page."""
    found = {
        "map": map_chart(summary),
        "curve": curve_chart(summary["rejection"], marked=summary["model"]["rejection"] is not None),
        **_feature_charts(summary["relevance"], summary.get("curves")),
        "certified": certified_chart(summary["certified"]) if "radii" in summary["certified"] else None,
        "calibration": calibration_chart(summary["probabilities"]) if summary.get("probabilities") else None,
        "history": history_chart(summary["history"]) if len(summary["history"]["objective"]) > 1 else None,
    }
    return {name: spec | {"width": "container", "config": CONFIG} for name, spec in found.items() if spec is not None}


def _feature_charts(
    relevance: dict[str, JSONValue] | None, curves: dict[str, JSONValue] | None
) -> dict[str, Spec | None]:
    """Importances and Lambda as bars and table; along the axis of features that have an order."""
    if curves is not None:
        return {
            "importance-curve": importance_curve(curves),
            "prototype-curves": prototype_curves(curves),
            "matrix-curve": matrix_along_axis(curves),
        }
    return {} if not relevance else {"relevance": relevance_chart(relevance), "matrix": matrix_chart(relevance)}


def _quantity(field: str, title: str | None = None, **options: JSONValue) -> dict[str, JSONValue]:
    return {"field": field, "type": "quantitative", "title": title, **options}


# -- curves ------------------------------------------------------------------------------------------------------------


def curve_chart(rejection: dict[str, JSONValue], *, marked: bool) -> Spec:
    """Accuracy by coverage, with the operating point as fitted and the selected one."""
    rows = [row for row in rows_of(rejection, ("coverage", "accuracy")) if row["accuracy"] is not None]
    # from a little below the lowest accuracy up to 100 %
    low = min((row["accuracy"] for row in rows), default=0.0)
    y_scale = {"domain": [max(0.0, low - 0.15 * (1 - low) - 0.005), 1.0], "nice": False}
    x_scale = {"domain": [min([0.95, *(row["coverage"] for row in rows)]), 1.0], "reverse": True, "nice": False}
    fitted = {name: rejection[name][rejection["fitted"]] for name in ("coverage", "accuracy")}
    position = {
        "x": _quantity("coverage", "coverage", axis={"format": ".0%", "tickCount": 6}, scale=x_scale),
        "y": _quantity("accuracy", "accuracy of accepted", axis={"format": ".1%", "tickCount": 5}, scale=y_scale),
    }
    tooltip = [_quantity(name, name, format=form) for name, form in (("coverage", ".1%"), ("accuracy", ".2%"))]
    line = {"type": "line", "color": "var(--accent)", "strokeWidth": 2.5}
    dot = {"type": "point", "filled": True, "size": 14, "color": "var(--accent)", "aria": False}
    diamond = dot | {"shape": "diamond", "filled": False, "size": 150, "strokeWidth": 2, "color": "var(--text)"}
    rule = {"type": "rule", "color": "var(--text)", "strokeDash": [4, 3]}
    curve, selected = {"values": rows}, {"name": "selected"}
    as_fitted = {"data": {"values": [fitted]}, "mark": diamond, "encoding": position | {"tooltip": tooltip}}
    return {
        "description": "Accuracy of the accepted predictions by coverage.",
        "height": 190,
        "datasets": {"selected": []},
        "layer": [
            {"data": curve, "mark": line, "encoding": position},
            {"data": curve, "mark": dot, "encoding": position | {"tooltip": tooltip}},
            *([as_fitted] if marked and fitted["accuracy"] is not None else []),
            {"data": selected, "mark": rule, "encoding": {"x": position["x"]}},
            {"data": selected, "mark": dot | {"size": 130, "opacity": 1}, "encoding": position},
        ],
    }


def certified_chart(certified: dict[str, JSONValue]) -> Spec:
    """Certified accuracy by the length of the perturbation."""
    return {
        "description": "Fraction of samples predicted correctly under every perturbation of a given length.",
        "height": 200,
        "data": {"values": rows_of(certified, ("radii", "accuracy"))},
        "mark": {"type": "area", "line": {"color": "var(--accent)"}, "color": "var(--accent)", "fillOpacity": 0.15,
                 "tooltip": True},
        "encoding": {
            "x": _quantity("radii", "length of the perturbation", scale={"nice": False}),
            "y": _quantity("accuracy", "certified accuracy", axis={"format": ".0%"}, scale={"domain": [0, 1]}),
            "tooltip": [
                _quantity("radii", "length of the perturbation", format=".3g"),
                _quantity("accuracy", "certified accuracy", format=".1%"),
            ],
        },
    }  # fmt: skip


def history_chart(history: dict[str, JSONValue]) -> Spec:
    """The objective after each iteration."""
    return {
        "description": "The objective after each iteration of the training.",
        "height": 200,
        "data": {"values": rows_of(history, ("iteration", "objective"))},
        "mark": {"type": "line", "color": "var(--accent)", "strokeWidth": 2},
        "encoding": {
            "x": _quantity("iteration", "iteration", axis={"tickMinStep": 1, "format": "d"}, scale={"nice": False}),
            "y": _quantity("objective", "mean cost", scale={"zero": False}),
        },
    }


# -- relevances --------------------------------------------------------------------------------------------------------


def _ranked(names: list[str]) -> list[str]:
    """Names with their ranks, so that all are different."""
    return [f"{rank}. {name}" for rank, name in enumerate(names, start=1)]


def relevance_chart(relevance: dict[str, JSONValue]) -> Spec:
    """A bar for each of the most important features, with a whisker for its interval, or a tick for each fold."""
    names = _ranked(relevance["features"])
    bars = [{"feature": name, "weight": value, "rest": False} for name, value in zip(names, relevance["values"])]
    if relevance["n_rest"]:
        names = [*names, f"sum of the other {relevance['n_rest']}"]
        bars.append({"feature": names[-1], "weight": relevance["rest"], "rest": True})
    ticks = [
        {"feature": name, "weight": value, "fold": fold}
        for fold, values in enumerate(relevance["folds"], start=1)
        for name, value in zip(names, values)
        if value is not None
    ]
    position = {
        "y": {"field": "feature", "type": "nominal", "scale": {"domain": names}, "title": None},
        "x": _quantity("weight", "importance", axis={"format": ".0%", "tickCount": 5}),
    }
    tooltip = _quantity("weight", "importance", format=".1%")
    by_fold = {
        "data": {"values": ticks},
        "mark": {"type": "tick", "color": "var(--text)", "thickness": 1.5, "opacity": 0.65, "aria": False},
        "encoding": {"tooltip": [{"field": "fold", "type": "quantitative"}, tooltip]},
    }
    return {
        "description": "Importance of each feature, the most important first.",
        "height": ROW_HEIGHT * len(names),
        "encoding": position,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": {"band": 0.72}},
                "encoding": {
                    "color": {"condition": {"test": "datum.rest", "value": "var(--line)"}, "value": "var(--accent)"},
                    "tooltip": [{"field": "feature", "type": "nominal"}, tooltip],
                },
            },
            *([by_fold] if ticks and relevance["intervals"] is None else []),
            *_whiskers(relevance["intervals"], names),
        ],
    }


def _whiskers(intervals: dict[str, JSONValue] | None, names: list[str]) -> list[Spec]:
    """The interval of each feature as a line."""
    if intervals is None:
        return []
    rows = [
        {"feature": name, "weight": low, "upper": high, "chance": chance}
        for name, low, high, chance in zip(names, *(intervals[key] for key in ("lower", "upper", "first_chance")))
    ]
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rule", "color": "var(--text)", "strokeWidth": 2},
            "encoding": {
                "x2": {"field": "upper"},
                "tooltip": [
                    {"field": "feature", "type": "nominal"},
                    _quantity("weight", "lower end", format=".1%"),
                    _quantity("upper", "upper end", format=".1%"),
                    _quantity("chance", f"among the first {intervals['k']} in refits", format=".0%"),
                ],
            },
        }
    ]


def matrix_chart(relevance: dict[str, JSONValue]) -> Spec | None:
    """Lambda as a heat map: blue for positive, orange for negative entries, darker for larger ones."""
    matrices = relevance["matrices"]
    if not matrices:
        return None
    names = _ranked(matrices[0]["features"])
    ranks = [str(rank) for rank in range(1, len(names) + 1)]
    by_name: Spec = {"type": "nominal", "title": None}
    position = {
        "y": by_name | {"field": "row", "scale": {"domain": names}},
        "x": by_name | {"field": "column", "scale": {"domain": ranks}, "axis": {"labelAngle": 0}},
    }
    cells = [_cells(matrix, names, ranks) for matrix in matrices]
    return {
        "description": "Lambda: weights of pairs of features in the distance.",
        "height": ROW_HEIGHT * len(names),
        "datasets": {"cells": cells[0]},
        "usermeta": {"cells": cells},
        "data": {"name": "cells"},
        "encoding": position,
        "layer": [
            {
                "mark": {"type": "rect", "aria": False, "stroke": "var(--line)", "strokeWidth": 0.5},
                "encoding": {
                    "color": {"condition": {"test": "datum.value < 0", "value": "var(--negative)"},
                              "value": "var(--positive)"},
                    "fillOpacity": _quantity("strength", scale={"domain": [0, 1], "range": [0, 1]}, legend=None),
                    "tooltip": [
                        {"field": "row", "type": "nominal", "title": "feature"},
                        {"field": "other", "type": "nominal", "title": "with"},
                        _quantity("value", "fraction of the trace", format=".2%"),
                        {"field": "folds", "type": "nominal", "title": "folds with the same sign"},
                    ],
                },
            },
            {
                "transform": [{"filter": "datum.agreement < 1"}],
                "mark": {"type": "point", "filled": True, "size": 14, "color": "var(--text)", "aria": False},
            },
        ],
    }  # fmt: skip


def _cells(matrix: dict[str, JSONValue], names: list[str], ranks: list[str]) -> list[dict[str, JSONValue]]:
    largest = max(abs(value) for row in matrix["values"] for value in row) or 1.0
    agreement = matrix["sign_agreement"]
    return [
        {
            "row": name,
            "column": ranks[k],
            "other": names[k],
            "value": value,
            "strength": round((abs(value) / largest) ** 0.5, 3),  # root, so that small entries are visible
            "agreement": 1.0 if agreement is None else agreement[row][k],
            "folds": "unknown" if agreement is None else f"{agreement[row][k]:.0%}",
        }
        for row, (name, values) in enumerate(zip(names, matrix["values"]))
        for k, value in enumerate(values)
    ]
