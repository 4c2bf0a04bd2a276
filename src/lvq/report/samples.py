"""What the report shows of single samples: their place on the map, and why they got their answers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lvq.plots import plane, prototype_names, regions
from lvq.report.features import Features
from lvq.report.plain import placed, short
from lvq.report.slider import Sweep, toggles

RESOLUTION = 150  # of the regions, in each direction
COARSE, MANY = 80, 100  # the same where a sample has many features
FLAT = 1e-9  # height to width of a map that has only one direction
SCATTERED = "scattered at random"  # there is no second direction
WHY = 3  # features that a sample on the map names
MOST_EXPLAINED = 6  # samples of each kind
SHOWN_FEATURES = 6  # of an explanation


def stratified(codes: NDArray[Any], most: int) -> NDArray[np.intp]:
    """At most `most` rows, every class by its share and none without a row where that can be; the same every time.

    Examples
    --------
    >>> rows = stratified(np.repeat([0, 1], [900, 100]), 10)
    >>> len(rows), int((rows >= 900).sum())
    (10, 1)
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    rng = np.random.default_rng(0)
    # each sample's place within its class, as a share: the first of every class come first, then evenly
    place = np.empty(len(codes))
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        place[rows] = np.arange(len(rows)) / len(rows)
    return np.sort(np.argsort(place, kind="stable")[:most])


def map_part(
    model: Any, X: Any, inputs: Any, rows: Any, codes: Any, found: Sweep, features: Features
) -> dict[str, Any]:
    """Samples, prototypes and regions in the plane; `codes` are true and predicted class of every sample."""
    inner = features.found.estimator
    view = plane(model, X)
    grid = regions(model, view, RESOLUTION if inputs.shape[1] <= MANY else COARSE)
    width, height = np.ptp(np.vstack((view.points, view.prototypes)), axis=0)
    if height <= FLAT * width:
        view, grid = _spread_out(view, grid)
    spans = [float(np.ptp(grid.xx)), float(np.ptp(grid.yy))]
    explanation = inner.explain(inputs)
    true, predicted = codes
    return {
        "n_shown": len(rows),
        "exact": view.exact,
        "explained": float(min(1.0, view.explained.sum())),
        "shares": short(view.explained),
        "axes": list(view.axis_names),
        "points": {
            "index": rows.tolist(),
            "x": placed(view.points[:, 0], spans[0]),
            "y": placed(view.points[:, 1], spans[1]),
            "true": true[rows].tolist(),
            "predicted": predicted[rows].tolist(),
            "certainty": short(found.certainty[rows]),
            "winner": explanation.winner.tolist(),
            "rival": explanation.rival.tolist(),
            "toggles": toggles(found.accepted[:, rows]),
            "why": _why(explanation.contributions, features.measured(X, inputs)),
        },
        "prototypes": {
            "x": placed(view.prototypes[:, 0], spans[0]),
            "y": placed(view.prototypes[:, 1], spans[1]),
            "label": inner._labels.tolist(),
            "name": prototype_names(inner).tolist(),
        },
        "regions": _runs(grid, spans),
    }


def _spread_out(view: Any, grid: Any) -> tuple[Any, Any]:
    """A map of one direction only, with the samples scattered across it, so that they can be seen and pointed at."""
    middle, height = float(grid.yy.mean()), 0.6 * float(np.ptp(grid.xx))
    scatter = np.random.default_rng(0).uniform(-0.4, 0.4, len(view.points)) * height
    points, prototypes = view.points.copy(), view.prototypes.copy()
    points[:, 1], prototypes[:, 1] = middle + scatter, middle
    view = view._replace(points=points, prototypes=prototypes, axis_names=(view.axis_names[0], SCATTERED))
    rows = np.linspace(middle - height / 2, middle + height / 2, len(grid.yy))
    classes = np.broadcast_to(grid.classes[len(rows) // 2], grid.classes.shape)
    return view, grid._replace(yy=np.broadcast_to(rows[:, None], grid.yy.shape), classes=classes)


def _why(contributions: Any, values: Any) -> list[list[list[Any]]]:
    """For each sample its loudest features: index, contribution as a share of all, value."""
    total = np.maximum(np.abs(contributions).sum(axis=1), 1e-300)
    top = np.argsort(-np.abs(contributions), axis=1, kind="stable")[:, :WHY]
    return [
        [[int(k), round(float(row[k] / whole), 3), short(float(value[k]))] for k in best]
        for row, whole, value, best in zip(contributions, total, values, top)
    ]


def _runs(grid: Any, spans: list[float]) -> dict[str, Any]:
    """The regions as few rectangles: in each row of the grid the runs of one class, equal runs of rows joined."""
    x, y, classes = grid.xx[0], grid.yy[:, 0], grid.classes
    # the edges of the grid's cells, so that neighbours share theirs to the last digit
    x_edge, y_edge = (np.append(axis - (axis[1] - axis[0]) / 2, axis[-1] + (axis[1] - axis[0]) / 2) for axis in (x, y))
    done: list[list[Any]] = []
    open_runs: dict[tuple[int, int, int], int] = {}
    for row in range(len(y)):
        turns = np.flatnonzero(np.diff(classes[row])) + 1
        here: dict[tuple[int, int, int], int] = {}
        for first, end in pairwise([0, *turns.tolist(), len(x)]):
            run = (first, end, int(classes[row, first]))
            if run in open_runs:
                here[run] = open_runs[run]
                done[here[run]][3] = y_edge[row + 1]
            else:
                here[run] = len(done)
                done.append([x_edge[first], x_edge[end], y_edge[row], y_edge[row + 1], run[2]])
        open_runs = here
    columns = list(zip(*done))
    sides = {name: placed(columns[k], spans[k // 2]) for k, name in enumerate(("x", "x2", "y", "y2"))}
    return sides | {"label": list(columns[4]), "width": short(spans[0]), "height": short(spans[1])}


def explanations(
    X: Any, rows_of: Any, codes: Any, found: Sweep, features: Features, names: list[str]
) -> dict[str, Any]:
    """The surest of the wrong answers, and the least certain of all others."""
    true, predicted = codes
    wrong = np.flatnonzero(true != predicted)
    surest = wrong[np.argsort(-found.certainty[wrong], kind="stable")[:MOST_EXPLAINED]]
    unsure = np.argsort(found.certainty, kind="stable")
    unsure = unsure[~np.isin(unsure, surest)][:MOST_EXPLAINED]
    chosen = np.concatenate([surest, unsure])
    X = rows_of(X, chosen)
    cards = _cards(X, features.inputs(X), chosen, codes, found, features, names)
    return {"n_wrong": len(wrong), "wrong": cards[: len(surest)], "unsure": cards[len(surest) :]}


def _cards(
    X: Any, inputs: Any, chosen: Any, codes: Any, found: Sweep, features: Features, names: list[str]
) -> list[dict[str, Any]]:
    inner = features.found.estimator
    explanation = inner.explain(inputs)
    samples, prototypes = features.measured(X, inputs), features.values(inner._params.prototypes)
    pictures, shares = features.pixels(inputs), features.as_pixels(explanation.contributions)
    cards = []
    for k, sample in enumerate(chosen.tolist()):
        row = explanation.contributions[k]
        winner, rival = int(explanation.winner[k]), int(explanation.rival[k])
        total = max(float(np.abs(row).sum()), 1e-300)
        top = np.argsort(-np.abs(row), kind="stable")[:SHOWN_FEATURES]
        cards.append(
            {
                "sample": sample,
                "true": int(codes[0][sample]),
                "predicted": int(codes[1][sample]),
                "certainty": short(float(found.certainty[sample])),
                "accepted": bool(found.accepted[found.chosen, sample]),
                "reason": str(found.reason[sample]),
                "winner": winner,
                "rival": rival,
                "winner_name": names[winner],
                "rival_name": names[rival],
                "features": [
                    {
                        "name": features.names[f],
                        "value": short(float(samples[k, f])),
                        "winner": short(float(prototypes[winner, f])),
                        "rival": short(float(prototypes[rival, f])),
                        "share": round(float(row[f]) / total, 4),
                    }
                    for f in top.tolist()
                ],
                "others": round(float((row.sum() - row[top].sum()) / total), 4),
                "picture": None if pictures is None else short(pictures[k]),
                "shares": None if shares is None else short(shares[k] / max(float(np.abs(shares[k]).max()), 1e-300)),
            }
        )
    return cards
