"""The parts of the report about single samples: the map, and explanations of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.utils import _safe_indexing

from lvq.plots import plane, prototype_names, regions
from lvq.plots.projection import Regions, edges
from lvq.reports.columns import Explained
from lvq.reports.held_out import HeldOut
from lvq.reports.metrics import Codes, Floats
from lvq.reports.rejection import OperatingPoints, toggles
from lvq.reports.text import rounded, rounded_coordinates
from lvq.typing import JSONValue, MatrixLike

RESOLUTION = 100  # grid points of the regions, in each direction
MAP_FEATURES = 3  # features named for a sample on the map
MAX_EXPLAINED = 6  # samples of each kind
EXPLAINED_FEATURES = 6  # features of an explanation
TINY = 1e-300  # instead of 0 in a denominator

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
    ends: list[list[float]]  # of the map, along each axis
    regions: list[dict[str, float]]  # rectangles of one class: x, x2, y, y2 and label


def map_of(held_out: HeldOut, rows: Codes, points: OperatingPoints) -> Map:
    """The map of some rows."""
    X, inputs = _safe_indexing(held_out.X, rows), held_out.inputs[rows]
    view = plane(held_out.model, X)
    grid = regions(held_out.model, view, RESOLUTION)
    spans = [float(np.ptp(grid.xx)), float(np.ptp(grid.yy))]
    explained = held_out.explained(X, rows)
    return Map(
        n_shown=len(rows),
        n_completed=int(np.isnan(inputs).any(axis=1).sum()),
        exact=view.exact,
        explained=float(min(1.0, view.explained.sum())),
        explained_by_axis=rounded(view.explained),
        axes=list(view.axis_names),
        points=Points(
            name=[held_out.names[row] for row in rows],
            x=rounded_coordinates(view.points[:, 0], spans[0]),
            y=rounded_coordinates(view.points[:, 1], spans[1]),
            true=held_out.y[rows].tolist(),
            predicted=held_out.predicted[rows].tolist(),
            certainty=rounded(held_out.certainty[rows]),
            winner=explained.winner.tolist(),
            rival=explained.rival.tolist(),
            toggles=toggles(points.accepted[:, rows]),
            contributions=_largest_contributions(held_out, explained, X, inputs),
        ),
        prototypes=MapPrototypes(
            x=rounded_coordinates(view.prototypes[:, 0], spans[0]),
            y=rounded_coordinates(view.prototypes[:, 1], spans[1]),
            label=held_out.prototype_labels.tolist(),
            name=prototype_names(held_out.columns.found.estimator).tolist(),
        ),
        ends=[rounded_coordinates(edges(axis), span) for axis, span in zip((grid.xx[0], grid.yy[:, 0]), spans)],
        regions=_rectangles(grid, held_out.order, spans),
    )


def _largest_contributions(
    held_out: HeldOut, explained: Explained, X: MatrixLike, inputs: Floats
) -> list[list[list[JSONValue]]]:
    """For each sample its columns of largest contribution."""
    size = np.abs(explained.contributions)
    total, top = np.maximum(size.sum(axis=1), TINY), np.argsort(-size, axis=1, kind="stable")[:, :MAP_FEATURES]
    values = held_out.columns.samples(X, inputs)
    filled = held_out.columns.filled(values, inputs)
    return [
        [[int(k), round(float(row[k] / whole), 3), value[k], *([] if fill[k] is None else [fill[k]])] for k in best]
        for row, whole, value, fill, best in zip(explained.contributions, total, values, filled, top)
    ]


def _rectangles(grid: Regions, order: Codes, spans: list[float]) -> list[dict[str, float]]:
    """The runs of one class in each row of the grid, between edges of cells, which neighbours share."""
    x, y = (
        rounded_coordinates(np.linspace(*edges(axis), len(axis) + 1), span)
        for axis, span in zip((grid.xx[0], grid.yy[:, 0]), spans)
    )
    return [
        {"x": x[first], "x2": x[end], "y": y[row], "y2": y[row + 1], "label": int(line[first])}
        for row, line in enumerate(order[grid.classes])
        for first, end in pairwise([0, *(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)])
    ]


# -- explanations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureLine:
    """A column in an explanation: values of sample, winner and rival, its fraction of all contributions, and evidence.

    The evidence are the log-odds of the column for the predicted class; None for models without.
    """

    name: str
    value: JSONValue
    filled: JSONValue
    winner: JSONValue
    rival: JSONValue
    contribution: float
    evidence: float | None


@dataclass(frozen=True)
class Explanation:
    """Why a sample got its class; the evidence of all features sums to the log-odds against the rival's class."""

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
    rival_class: int
    log_odds: float | None
    features: list[FeatureLine]
    other_features: float
    other_evidence: float | None
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


def explanations_of(held_out: HeldOut) -> Explanations:
    """Explanations of wrong and of uncertain predictions."""
    by_certainty = np.argsort(held_out.certainty, kind="stable")
    wrong = by_certainty[~held_out.correct[by_certainty]]
    most_certain = wrong[np.argsort(-held_out.certainty[wrong], kind="stable")[:MAX_EXPLAINED]]
    least_certain = by_certainty[~np.isin(by_certainty, most_certain)][:MAX_EXPLAINED]
    explained = _explained(held_out, np.concatenate([most_certain, least_certain]))
    return Explanations(len(wrong), explained[: len(most_certain)], explained[len(most_certain) :])


def _explained(held_out: HeldOut, rows: Codes) -> list[Explanation]:
    columns, X, inputs = held_out.columns, _safe_indexing(held_out.X, rows), held_out.inputs[rows]
    found, samples = held_out.explained(X, rows), columns.samples(X, inputs)
    filled, names = columns.filled(samples, inputs), prototype_names(columns.found.estimator).tolist()
    scale = columns.model.log_odds_scale
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
                None if scale is None else scale * float(parts[f]),
            )
            for f in top
        ]  # fmt: skip
        result.append(
            Explanation(
                name=held_out.names[row],
                true=int(held_out.y[row]),
                predicted=int(held_out.predicted[row]),
                certainty=rounded(float(held_out.certainty[row])),
                accepted=bool(held_out.accepted[row]),
                reason=str(held_out.reason[row]),
                winner=winner,
                rival=rival,
                winner_name=names[winner],
                rival_name=names[rival],
                rival_class=int(held_out.prototype_labels[rival]),
                log_odds=None if scale is None else scale * float(parts.sum()),
                features=lines,
                other_features=round(float((parts.sum() - parts[top].sum()) / total), 4),
                other_evidence=None if scale is None else scale * float(parts.sum() - parts[top].sum()),
                image=None if images is None else rounded(images[1][k]),
                pixel_contributions=None if pixels is None else rounded(pixels[1][k] / _largest(pixels[1][k])),
            )
        )
    return result


def _largest(values: Floats) -> float:
    return max(float(np.abs(values).max()), TINY)
