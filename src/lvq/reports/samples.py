"""The parts of the report about single samples: the map, and explanations of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from lvq.plots import plane, prototype_names, regions
from lvq.plots.planes import Plane
from lvq.plots.region_predictions import Regions
from lvq.reports.columns import Columns, Explained
from lvq.reports.metrics import Codes, Floats
from lvq.reports.rejection import toggles
from lvq.reports.text import rounded, rounded_coordinates
from lvq.typing import JSONValue, MatrixLike

RESOLUTION = 150  # grid points of the regions, in each direction
COARSE_RESOLUTION, COARSE_FEATURES = 80, 100  # the same for samples with many features
ONE_DIMENSIONAL = 1e-9  # height to width of a map along one axis
JITTERED = "random jitter"  # name of the second axis where there is only one
MAP_FEATURES = 3  # features named for a sample on the map
MAX_EXPLAINED = 6  # samples of each kind
EXPLAINED_FEATURES = 6  # features of an explanation
TINY = 1e-300  # instead of 0 in a denominator


@dataclass(frozen=True)
class HeldOut:
    """Held-out samples, and everything that was computed for them, once; classes are indices."""

    X: MatrixLike
    y: Codes
    predicted: Codes
    probabilities: Floats | None
    certainty: Floats
    reason: np.ndarray  # why the model rejects a sample; "" for accepted ones
    winner: Codes
    inputs: Floats  # samples as they reach the model
    accepted: np.ndarray  # (n_points, n_samples), at each operating point
    names: list[int | str]


def stratified(codes: Codes, most: int) -> Codes:
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


@dataclass(frozen=True)
class Points:
    """Samples on the map."""

    name: list[int | str]
    x: list[float]
    y: list[float]
    true: list[int]
    predicted: list[int]
    certainty: list[float]
    winner: list[int]
    rival: list[int]
    toggles: list[list[int]]  # operating points at which a sample becomes rejected or accepted again
    contributions: list[list[list[JSONValue]]]  # column, fraction of all contributions, value, filled value


@dataclass(frozen=True)
class MapPrototypes:
    """Prototypes on the map."""

    x: list[float]
    y: list[float]
    label: list[int]
    name: list[str]


@dataclass(frozen=True)
class Rectangles:
    """The regions of the classes as few rectangles, and the size of the map."""

    x: list[float]
    x2: list[float]
    y: list[float]
    y2: list[float]
    label: list[int]
    width: float
    height: float


@dataclass(frozen=True)
class Map:
    """Samples, prototypes and regions in a plane."""

    n_shown: int
    n_completed: int  # samples with missing values
    exact: bool
    explained: float
    explained_by_axis: list[float]
    axes: list[str]
    points: Points
    prototypes: MapPrototypes
    regions: Rectangles


def map_of(
    model: BaseEstimator,
    held_out: HeldOut,
    columns: Columns,
    rows: Codes,
    labels: Codes,
    order: Codes,
    *,
    by_cost: bool,
) -> Map:
    """The map of some rows; `labels` are the classes of prototypes, `order` the index of each class of the model."""
    X, inputs = _safe_indexing(held_out.X, rows), held_out.inputs[rows]
    view = plane(model, X)
    grid = regions(model, view, RESOLUTION if inputs.shape[1] <= COARSE_FEATURES else COARSE_RESOLUTION)
    width, height = np.ptp(np.vstack((view.points, view.prototypes)), axis=0)
    if height <= ONE_DIMENSIONAL * width:
        view, grid = _with_jitter(view, grid)
    spans = [float(np.ptp(grid.xx)), float(np.ptp(grid.yy))]
    explained = columns.explained(X, inputs, _model_codes(held_out, rows, order, by_cost))
    return Map(
        n_shown=len(rows),
        n_completed=int(np.isnan(inputs).any(axis=1).sum()),
        exact=view.exact,
        explained=float(min(1.0, view.explained.sum())),
        explained_by_axis=rounded(view.explained),
        axes=list(view.axis_names),
        points=Points(
            [held_out.names[row] for row in rows], *_coordinates(view.points, spans), held_out.y[rows].tolist(),
            held_out.predicted[rows].tolist(), rounded(held_out.certainty[rows]), explained.winner.tolist(),
            explained.rival.tolist(), toggles(held_out.accepted[:, rows]),
            _largest_contributions(explained, X, inputs, columns),
        ),
        prototypes=MapPrototypes(
            *_coordinates(view.prototypes, spans), labels.tolist(), prototype_names(columns.found.estimator).tolist()
        ),
        regions=_rectangles(grid, order, spans),
    )  # fmt: skip


def _model_codes(held_out: HeldOut, rows: Codes, order: Codes, by_cost: bool) -> Codes | None:
    """Predicted classes as the model counts them, where costs have chosen them."""
    return np.argsort(order)[held_out.predicted[rows]] if by_cost else None


def _coordinates(points: Floats, spans: list[float]) -> tuple[list[float], list[float]]:
    return rounded_coordinates(points[:, 0], spans[0]), rounded_coordinates(points[:, 1], spans[1])


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


def _largest_contributions(
    explained: Explained, X: MatrixLike, inputs: Floats, columns: Columns
) -> list[list[list[JSONValue]]]:
    """For each sample its columns of largest contribution."""
    size = np.abs(explained.contributions)
    total, top = np.maximum(size.sum(axis=1), TINY), np.argsort(-size, axis=1, kind="stable")[:, :MAP_FEATURES]
    values = columns.samples(X, inputs)
    filled = columns.filled(values, inputs)
    return [
        [[int(k), round(float(row[k] / whole), 3), value[k], *([] if fill[k] is None else [fill[k]])] for k in best]
        for row, whole, value, fill, best in zip(explained.contributions, total, values, filled, top)
    ]


def _rectangles(grid: Regions, order: Codes, spans: list[float]) -> Rectangles:
    """The runs of one class in each row of the grid; equal runs of neighbouring rows are joined."""
    x, y, classes = grid.xx[0], grid.yy[:, 0], order[grid.classes]
    # edges of the grid's cells, which neighbours share
    x_edge, y_edge = (np.append(axis - (axis[1] - axis[0]) / 2, axis[-1] + (axis[1] - axis[0]) / 2) for axis in (x, y))
    found: list[list[float]] = []
    above: dict[tuple[int, int, int], int] = {}
    for row in range(len(y)):
        changes = np.flatnonzero(np.diff(classes[row])) + 1
        here: dict[tuple[int, int, int], int] = {}
        for first, end in pairwise([0, *changes.tolist(), len(x)]):
            run = (first, end, int(classes[row, first]))
            here[run] = above.get(run, len(found))
            if run in above:
                found[here[run]][3] = y_edge[row + 1]
            else:
                found.append([x_edge[first], x_edge[end], y_edge[row], y_edge[row + 1], run[2]])
        above = here
    *edges, label = zip(*found)
    left, right, low, high = (rounded_coordinates(edge, spans[k // 2]) for k, edge in enumerate(edges))
    return Rectangles(left, right, low, high, [int(code) for code in label], rounded(spans[0]), rounded(spans[1]))


# -- explanations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureLine:
    """A column in an explanation: values of sample, winner and rival, and its fraction of all contributions."""

    name: str
    value: JSONValue
    filled: JSONValue
    winner: JSONValue
    rival: JSONValue
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """Why a sample got its class."""

    name: int | str
    true: int
    predicted: int
    certainty: float
    accepted: bool
    reason: str
    winner: int
    rival: int
    winner_name: str
    rival_name: str
    features: list[FeatureLine]
    other_features: float
    image: list[float] | None
    pixel_contributions: list[float] | None


@dataclass(frozen=True)
class Explanations:
    """The most certain of the wrong predictions, and the least certain of all others."""

    n_wrong: int
    wrong: list[Explanation]
    least_certain: list[Explanation]

    @property
    def any_filled(self) -> bool:
        """Whether a missing value was filled."""
        return any(line.filled is not None for one in (*self.wrong, *self.least_certain) for line in one.features)


def explanations_of(held_out: HeldOut, columns: Columns, order: Codes, *, by_cost: bool) -> Explanations:
    """Explanations of wrong and of uncertain predictions."""
    wrong = np.flatnonzero(held_out.y != held_out.predicted)
    most_certain = wrong[np.argsort(-held_out.certainty[wrong], kind="stable")[:MAX_EXPLAINED]]
    least_certain = np.argsort(held_out.certainty, kind="stable")
    least_certain = least_certain[~np.isin(least_certain, most_certain)][:MAX_EXPLAINED]
    rows = np.concatenate([most_certain, least_certain])
    explained = _explained(held_out, columns, rows, _model_codes(held_out, rows, order, by_cost))
    return Explanations(len(wrong), explained[: len(most_certain)], explained[len(most_certain) :])


def _explained(held_out: HeldOut, columns: Columns, rows: Codes, codes: Codes | None) -> list[Explanation]:
    X, inputs = _safe_indexing(held_out.X, rows), held_out.inputs[rows]
    found, samples = columns.explained(X, inputs, codes), columns.samples(X, inputs)
    filled, names = columns.filled(samples, inputs), prototype_names(columns.found.estimator).tolist()
    images, pixels = columns.images(columns.numbers(X, inputs)), columns.images(found.contributions)
    result = []
    for k, row in enumerate(rows.tolist()):
        parts, winner, rival = found.contributions[k], int(found.winner[k]), int(found.rival[k])
        total = max(float(np.abs(parts).sum()), TINY)
        top = np.argsort(-np.abs(parts), kind="stable")[:EXPLAINED_FEATURES].tolist()
        lines = [
            FeatureLine(
                columns.names[f], samples[k][f], filled[k][f], columns.prototype_text(winner, f),
                columns.prototype_text(rival, f), round(float(parts[f]) / total, 4),
            )
            for f in top
        ]  # fmt: skip
        result.append(
            Explanation(
                held_out.names[row], int(held_out.y[row]), int(held_out.predicted[row]),
                rounded(float(held_out.certainty[row])), bool(held_out.reason[row] == ""), str(held_out.reason[row]),
                winner, rival, names[winner], names[rival], lines,
                round(float((parts.sum() - parts[top].sum()) / total), 4),
                None if images is None else rounded(images[1][k]),
                None if pixels is None else rounded(pixels[1][k] / max(float(np.abs(pixels[1][k]).max()), TINY)),
            )
        )  # fmt: skip
    return result
