"""Features with an order, as those of spectra and time series: relevance, prototypes and Lambda along their axis."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lvq.plots import prototype_names
from lvq.report.cross_validation import scaled_lambda
from lvq.report.features import Features, Floats, ranges
from lvq.report.formatting import rounded
from lvq.report.map_chart import Spec, colour, rows_of
from lvq.typing import JSONValue, MatrixLike

MIN_FEATURES = 20
MIN_CORRELATION = 0.8  # median over neighbouring features
MAX_POINTS = 400  # of a curve
MAX_CELLS = 60  # of Lambda, in each direction
MAX_LINES = 60  # prototypes
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def axis_of(names: Sequence[str]) -> tuple[str, list[float]] | None:
    """Title and positions of features whose names are increasing or decreasing numbers; None for other names.

    Examples
    --------
    >>> axis_of(["850 nm", "852 nm", "854.5 nm"]), axis_of(["width", "height"])
    (('nm', [850.0, 852.0, 854.5]), None)
    """
    found = [NUMBER.findall(name) for name in names]
    forms = {NUMBER.sub("#", name) for name in names}
    if len(forms) != 1 or any(len(numbers) != 1 for numbers in found):
        return None
    positions = [float(numbers[0].replace(",", ".")) for numbers in found]
    steps = np.diff(positions)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None
    return forms.pop().replace("#", " ").strip(" _-.:") or "feature", positions


def ordered(names: Sequence[str], values: Floats) -> tuple[str, list[float]] | None:
    """The axis of features that are numbered, and of which neighbours are alike in the samples; else None."""
    if len(names) < MIN_FEATURES or len(values) < 3:
        return None
    axis, values = axis_of(names), values[:, ~np.isnan(values).all(axis=0)]
    if axis is None or values.shape[1] < MIN_FEATURES:
        return None
    spread = np.nanstd(values, axis=0)
    standard = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0)
    neighbours = np.nanmean(standard[:, 1:] * standard[:, :-1], axis=0)
    return axis if np.median(neighbours) >= MIN_CORRELATION else None


def curve_section(
    features: Features, X: MatrixLike, inputs: Floats, importances: Floats | None
) -> dict[str, JSONValue] | None:
    """Importances, prototypes and Lambda along the axis; None where the features have no order, or are pixels."""
    values = features.known_values(X, inputs)
    axis = None if features.side is not None else ordered(features.names, _before_steps(X, values))
    if axis is None:
        return None
    title, positions = axis
    kept = np.unique(np.linspace(0, len(positions) - 1, min(MAX_POINTS, len(positions))).astype(np.intp))
    low, high = ranges(values[:, kept])
    W, matrix = features.values(features.model.prototypes), scaled_lambda(features.estimator)
    shown = np.arange(len(W))[:MAX_LINES]
    return {
        "title": title,
        "positions": rounded(np.array(positions)[kept]),
        "n_features": len(positions),
        "importance": None if importances is None else rounded(importances[kept]),
        "low": rounded(low),
        "high": rounded(high),
        "prototypes": rounded(W[np.ix_(shown, kept)]),
        "label": features.model.labels[shown].tolist(),
        "name": prototype_names(features.estimator)[shown].tolist(),
        "matrix": None if matrix is None else _cells(matrix, np.array(positions)),
    }


def _before_steps(X: MatrixLike, values: Floats) -> Floats:
    """The samples before the steps, whose neighbours are more alike than after a derivative, where columns stay."""
    try:
        raw = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return values
    return raw if raw.shape == values.shape else values


def _cells(matrix: Floats, positions: Floats) -> dict[str, JSONValue]:
    """Lambda in cells of neighbouring features: their mean entries, and the ends of the cells on the axis."""
    parts = np.array_split(np.arange(len(positions)), min(MAX_CELLS, len(positions)))
    means = np.array([[matrix[np.ix_(rows, columns)].mean() for columns in parts] for rows in parts])
    middle = (positions[1:] + positions[:-1]) / 2
    edges = np.concatenate((positions[:1], middle[[part[-1] for part in parts[:-1]]], positions[-1:]))
    return {"edges": rounded(edges), "values": rounded(means)}


# -- charts ------------------------------------------------------------------------------------------------------------


def importance_curve(section: dict[str, JSONValue]) -> Spec | None:
    """The importance of each feature along the axis."""
    if section["importance"] is None:
        return None
    return {
        "description": "Importance of the features along their axis.",
        "height": 220,
        "data": {"values": rows_of(section, ("positions", "importance"))},
        "mark": {"type": "area", "line": {"color": "var(--accent)"}, "color": "var(--accent)", "fillOpacity": 0.15},
        "encoding": {
            "x": _along(section),
            "y": {"field": "importance", "type": "quantitative", "title": "importance", "axis": {"format": ".1%"}},
            "tooltip": [_number("positions", section["title"]), _number("importance", "importance", ".2%")],
        },
    }


def prototype_curves(section: dict[str, JSONValue]) -> Spec:
    """Prototypes as lines in the colours of their classes; the samples as a band."""
    rows = [
        {"position": position, "value": value, "prototype": f"P{j + 1} ({section['name'][j]})", "label": label}
        for j, (line, label) in enumerate(zip(section["prototypes"], section["label"]))
        for position, value in zip(section["positions"], line)
    ]
    codes = sorted(set(section["label"]))
    scale = {"domain": codes, "range": [colour(code) for code in codes]}
    x = _along(section)
    return {
        "description": "Prototypes along the axis of the features, and the range of the samples.",
        "height": 280,
        "layer": [
            {
                "data": {"values": rows_of(section, ("positions", "low", "high"))},
                "mark": {"type": "area", "color": "var(--muted)", "opacity": 0.18, "aria": False},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": "value", "scale": {"zero": False}},
                    "y2": {"field": "high"},
                },
            },
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
                "encoding": {
                    "x": x | {"field": "position"},
                    "y": {"field": "value", "type": "quantitative"},
                    "color": {"field": "label", "type": "nominal", "scale": scale, "legend": None},
                    "detail": {"field": "prototype", "type": "nominal"},
                    "tooltip": [
                        {"field": "prototype", "type": "nominal"},
                        _number("position", section["title"]),
                        _number("value", "value"),
                    ],
                },
            },
        ],
    }


def matrix_along_axis(section: dict[str, JSONValue]) -> Spec | None:
    """Lambda as a heat map along the axis: blue positive, orange negative."""
    matrix = section["matrix"]
    if matrix is None:
        return None
    edges, largest = matrix["edges"], max(abs(value) for row in matrix["values"] for value in row) or 1.0
    cells = [
        {"x": edges[k], "x2": edges[k + 1], "y": edges[j], "y2": edges[j + 1], "value": value,
         "strength": abs(value) / largest}
        for j, row in enumerate(matrix["values"]) for k, value in enumerate(row)
    ]  # fmt: skip
    x = _along(section)
    return {
        "description": "Lambda: weights of pairs of features in the distance, along their axis.",
        "height": 320,
        "data": {"values": cells},
        "mark": {"type": "rect", "aria": False, "strokeWidth": 0},
        "encoding": {
            "x": x | {"field": "x"},
            "x2": {"field": "x2"},
            "y": x | {"field": "y"},
            "y2": {"field": "y2"},
            "color": {"condition": {"test": "datum.value < 0", "value": "var(--negative)"}, "value": "var(--positive)"},
            "fillOpacity": {"field": "strength", "type": "quantitative", "legend": None,
                            "scale": {"domain": [0, 1], "range": [0, 1]}},
            "tooltip": [_number("x", "from"), _number("y", "with"), _number("value", "mean entry", ".3g")],
        },
    }  # fmt: skip


def _along(section: dict[str, JSONValue]) -> Spec:
    return {"field": "positions", "type": "quantitative", "title": section["title"],
            "scale": {"nice": False, "zero": False}, "axis": {"tickCount": 8, "format": ".6~g"}}  # fmt: skip


def _number(field: str, title: str, form: str = ".4g") -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "format": form}
