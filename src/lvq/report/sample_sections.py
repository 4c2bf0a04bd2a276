"""The sections of the summary about single samples: the map, and explanations of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from lvq.inspection.inverse import input_values
from lvq.model.contributions import Explanation
from lvq.plots import plane, prototype_names, regions
from lvq.plots.planes import Plane
from lvq.plots.region_predictions import Regions
from lvq.report.features import Features, Floats
from lvq.report.formatting import rounded, rounded_coordinates
from lvq.report.operating_points import OperatingPoints, toggles
from lvq.report.variables import Variables
from lvq.typing import JSONValue, MatrixLike

RESOLUTION = 150  # grid points of the regions, in each direction
COARSE_RESOLUTION, COARSE_FEATURES = 80, 100  # the same for samples with many features
ONE_DIMENSIONAL = 1e-9  # height to width of a map along one axis
JITTERED = "random jitter"  # name of the second axis where there is only one
MAP_FEATURES = 3  # features named for a sample on the map
MAX_EXPLAINED = 6  # samples of each kind
EXPLAINED_FEATURES = 6  # features of an explanation
TINY = 1e-300  # instead of 0 in a denominator


class HeldOut(NamedTuple):
    """Held-out samples with their true and predicted classes, as indices, and what the report knows of the model."""

    X: MatrixLike
    true: NDArray[np.intp]
    predicted: NDArray[np.intp]
    points: OperatingPoints
    features: Features
    variables: Variables | None = None  # where several features of the model belong to one column of X
    priced: bool = False  # whether prices have made the predictions

    def explained(self, rows: NDArray[np.intp], inputs: Floats) -> Explanation:
        """Explanations, in the model's features, of the predictions for some rows with the given inputs."""
        return self.features.model.explain(inputs, self.predicted[rows] if self.priced else None)


def stratified(codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most `most` rows, in proportion to the classes, each class at least once if possible; deterministic.

    Examples
    --------
    >>> rows = stratified(np.repeat([0, 1], [900, 100]), 10)
    >>> len(rows), int((rows >= 900).sum())
    (10, 1)
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    rng = np.random.default_rng(0)
    rank = np.empty(len(codes))  # random rank of each sample within its class, from 0 to 1
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        rank[rows] = np.arange(len(rows)) / len(rows)
    return np.sort(np.argsort(rank, kind="stable")[:most])


# -- map ---------------------------------------------------------------------------------------------------------------


def map_section(
    model: BaseEstimator, held_out: HeldOut, rows: NDArray[np.intp], X: MatrixLike, inputs: Floats
) -> dict[str, JSONValue]:
    """Samples, prototypes and regions in the plane; X and inputs are those of the rows."""
    features, points = held_out.features, held_out.points
    view = plane(model, X)
    grid = regions(model, view, RESOLUTION if inputs.shape[1] <= COARSE_FEATURES else COARSE_RESOLUTION)
    width, height = np.ptp(np.vstack((view.points, view.prototypes)), axis=0)
    if height <= ONE_DIMENSIONAL * width:
        view, grid = _with_jitter(view, grid)
    spans = [float(np.ptp(grid.xx)), float(np.ptp(grid.yy))]
    explanation = held_out.explained(rows, inputs)
    return {
        "n_shown": len(rows),
        "n_completed": int(np.isnan(inputs).any(axis=1).sum()),
        "exact": view.exact,
        "explained": float(min(1.0, view.explained.sum())),
        "explained_by_axis": rounded(view.explained),
        "axes": list(view.axis_names),
        "points": {
            "index": rows.tolist(),
            **_coordinates(view.points, spans),
            "true": held_out.true[rows].tolist(),
            "predicted": held_out.predicted[rows].tolist(),
            "certainty": rounded(points.certainty[rows]),
            "winner": explanation.winner.tolist(),
            "rival": explanation.rival.tolist(),
            "toggles": toggles(points.accepted[:, rows]),
            "contributions": _largest_contributions(
                *_contributions(held_out, model, X, inputs, explanation), _read_values(held_out, inputs)
            ),
        },
        "prototypes": {
            **_coordinates(view.prototypes, spans),
            "label": features.model.labels.tolist(),
            "name": prototype_names(features.estimator).tolist(),
        },
        "regions": _rectangles(grid, spans),
    }


def _coordinates(points: NDArray[np.float64], spans: list[float]) -> dict[str, list[float]]:
    return {name: rounded_coordinates(points[:, k], spans[k]) for k, name in enumerate("xy")}


def _with_jitter(view: Plane, grid: Regions) -> tuple[Plane, Regions]:
    """A map along one axis, with the samples moved at random along the other, so that they do not overlap."""
    middle, height = float(grid.yy.mean()), 0.6 * float(np.ptp(grid.xx))
    jitter = np.random.default_rng(0).uniform(-0.4, 0.4, len(view.points)) * height
    points, prototypes = view.points.copy(), view.prototypes.copy()
    points[:, 1], prototypes[:, 1] = middle + jitter, middle
    view = view._replace(points=points, prototypes=prototypes, axis_names=(view.axis_names[0], JITTERED))
    rows = np.linspace(middle - height / 2, middle + height / 2, len(grid.yy))
    classes = np.broadcast_to(grid.classes[len(rows) // 2], grid.classes.shape)
    return view, grid._replace(yy=np.broadcast_to(rows[:, None], grid.yy.shape), classes=classes)


def _contributions(
    held_out: HeldOut, model: BaseEstimator, X: MatrixLike, inputs: Floats, explanation: Explanation
) -> tuple[Floats, Sequence[Sequence[JSONValue]]]:
    """Contributions and values of the features of samples, or of the columns that they belong to."""
    features, variables = held_out.features, held_out.variables
    if variables is None:
        return explanation.contributions, rounded(features.known_values(X, inputs))
    return variables.contributions(model, X), variables.samples(X, len(inputs))


def _read_values(held_out: HeldOut, inputs: Floats) -> Sequence[Sequence[JSONValue]]:
    """Values as the model reads them, in the units of the data: also those that a step has filled."""
    features, variables = held_out.features, held_out.variables
    if variables is None:
        return rounded(features.values(inputs))
    cells = input_values(features.found, inputs)
    assert cells is not None
    return rounded(cells[:, variables.columns])


def _largest_contributions(
    contributions: Floats, values: Sequence[Sequence[JSONValue]], read: Sequence[Sequence[JSONValue]]
) -> list[list[list[JSONValue]]]:
    """For each sample its features of largest contribution: index, fraction of all contributions, value, and the one
    that a missing value was filled with."""
    total = np.maximum(np.abs(contributions).sum(axis=1), TINY)
    top = np.argsort(-np.abs(contributions), axis=1, kind="stable")[:, :MAP_FEATURES]
    return [
        [
            [int(k), round(float(row[k] / whole), 3), value[k], *([used[k]] if _is_filled(value[k], used[k]) else [])]
            for k in best
        ]
        for row, whole, value, used, best in zip(contributions, total, values, read, top)
    ]


def _is_filled(value: JSONValue, read: JSONValue) -> bool:
    return value is None and read is not None


def _rectangles(grid: Regions, spans: list[float]) -> dict[str, JSONValue]:
    """The regions as few rectangles: the runs of one class in each row of the grid, equal runs of rows joined."""
    x, y, classes = grid.xx[0], grid.yy[:, 0], grid.classes
    # edges of the grid's cells, so that neighbours have exactly the same edge
    x_edge, y_edge = (np.append(axis - (axis[1] - axis[0]) / 2, axis[-1] + (axis[1] - axis[0]) / 2) for axis in (x, y))
    rectangles: list[list[float]] = []
    above: dict[tuple[int, int, int], int] = {}
    for row in range(len(y)):
        changes = np.flatnonzero(np.diff(classes[row])) + 1
        here: dict[tuple[int, int, int], int] = {}
        for first, end in pairwise([0, *changes.tolist(), len(x)]):
            run = (first, end, int(classes[row, first]))
            if run in above:
                here[run] = above[run]
                rectangles[here[run]][3] = y_edge[row + 1]
            else:
                here[run] = len(rectangles)
                rectangles.append([x_edge[first], x_edge[end], y_edge[row], y_edge[row + 1], run[2]])
        above = here
    columns = list(zip(*rectangles))
    edges = {name: rounded_coordinates(columns[k], spans[k // 2]) for k, name in enumerate(("x", "x2", "y", "y2"))}
    return edges | {"label": list(columns[4]), "width": rounded(spans[0]), "height": rounded(spans[1])}


# -- explanations ------------------------------------------------------------------------------------------------------


def explanation_section(model: BaseEstimator, held_out: HeldOut) -> dict[str, JSONValue]:
    """The most certain of the wrong predictions, and the least certain of all others."""
    certainty = held_out.points.certainty
    wrong = np.flatnonzero(held_out.true != held_out.predicted)
    most_certain = wrong[np.argsort(-certainty[wrong], kind="stable")[:MAX_EXPLAINED]]
    least_certain = np.argsort(certainty, kind="stable")
    least_certain = least_certain[~np.isin(least_certain, most_certain)][:MAX_EXPLAINED]
    explained = list(_explanations(model, held_out, np.concatenate([most_certain, least_certain])))
    count = len(most_certain)
    any_filled = any(feature["filled"] is not None for one in explained for feature in one["features"])
    parts = {"wrong": explained[:count], "least_certain": explained[count:]}
    return {"n_wrong": len(wrong), "any_filled": any_filled, **parts}


def _explanations(model: BaseEstimator, held_out: HeldOut, chosen: NDArray[np.intp]) -> Iterator[dict[str, JSONValue]]:
    features, points, variables = held_out.features, held_out.points, held_out.variables
    X = _safe_indexing(held_out.X, chosen)
    inputs = features.inputs(X)
    explanation = held_out.explained(chosen, inputs)
    contributions, samples = _contributions(held_out, model, X, inputs, explanation)
    read = _read_values(held_out, inputs)
    if variables is None:
        feature_names, prototypes = features.names, rounded(features.values(features.model.prototypes))
    else:
        feature_names, prototypes = variables.names, rounded(variables.prototypes.cells)
    images, pixel_contributions = features.pixels(inputs), features.as_pixels(explanation.contributions)
    names = prototype_names(features.estimator).tolist()
    for k, sample in enumerate(chosen.tolist()):
        row = contributions[k]
        winner, rival = int(explanation.winner[k]), int(explanation.rival[k])
        total = max(float(np.abs(row).sum()), TINY)
        top = np.argsort(-np.abs(row), kind="stable")[:EXPLAINED_FEATURES]
        yield {
            "sample": sample,
            "true": int(held_out.true[sample]),
            "predicted": int(held_out.predicted[sample]),
            "certainty": rounded(float(points.certainty[sample])),
            "accepted": bool(points.accepted[points.fitted, sample]),
            "reason": str(points.reason[sample]),
            "winner": winner,
            "rival": rival,
            "winner_name": names[winner],
            "rival_name": names[rival],
            "features": [
                {
                    "name": feature_names[f],
                    "value": samples[k][f],
                    "filled": read[k][f] if _is_filled(samples[k][f], read[k][f]) else None,
                    "winner": prototypes[winner][f],
                    "rival": prototypes[rival][f],
                    "contribution": round(float(row[f]) / total, 4),
                }
                for f in top.tolist()
            ],
            "other_features": round(float((row.sum() - row[top].sum()) / total), 4),
            "image": None if images is None else rounded(images[k]),
            "pixel_contributions": None if pixel_contributions is None else _scaled(pixel_contributions[k]),
        }


def _scaled(values: NDArray[np.float64]) -> list[float]:
    """Values divided by the largest absolute one."""
    return rounded(values / max(float(np.abs(values).max()), TINY))
