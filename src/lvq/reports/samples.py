"""The parts of the report about single samples: the map, and explanations of predictions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import _safe_indexing

from lvq.plots import ProjectionDisplay, plane, prototype_names, regions
from lvq.reports.columns import Explained
from lvq.reports.held_out import HeldOut
from lvq.reports.metrics import Codes, Floats
from lvq.reports.rejection import OperatingPoints, toggles
from lvq.reports.text import label_texts, rounded
from lvq.typing import JSONValue

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
    """Samples and prototypes in a plane."""

    n_shown: int
    n_completed: int  # samples with missing values
    exact: bool
    agreement: float  # fraction of the samples in the region of their predicted class
    explained: float
    points: Points
    prototypes: MapPrototypes
    display: ProjectionDisplay = field(repr=False)


def map_of(held_out: HeldOut, rows: Codes, points: OperatingPoints) -> Map:
    """The map of some rows."""
    X, inputs = _safe_indexing(held_out.X, rows), held_out.inputs[rows]
    view, predicted = plane(held_out.model, X), held_out.predicted[rows]
    grid = regions(held_out.model, view, RESOLUTION)
    grid = grid._replace(classes=held_out.order[grid.classes])
    row, column = (_nearest(axis, view.points[:, k]) for k, axis in ((1, grid.yy[:, 0]), (0, grid.xx[0])))
    agreement = float(np.mean(grid.classes[row, column] == predicted))
    explained = held_out.explained(X, rows)
    display = ProjectionDisplay(
        plane=view, classes=label_texts(held_out.labels), sample_classes=held_out.y[rows],
        prototype_classes=held_out.prototype_labels, predicted_classes=predicted,
        regions=grid, agreement=agreement,
    )  # fmt: skip
    return Map(
        n_shown=len(rows),
        n_completed=int(np.isnan(inputs).any(axis=1).sum()),
        exact=view.exact,
        agreement=agreement,
        explained=float(min(1.0, view.explained.sum())),
        points=Points(
            name=[held_out.names[row] for row in rows],
            x=rounded(view.points[:, 0]),
            y=rounded(view.points[:, 1]),
            true=held_out.y[rows].tolist(),
            predicted=predicted.tolist(),
            certainty=rounded(held_out.certainty[rows]),
            winner=explained.winner.tolist(),
            rival=explained.rival.tolist(),
            toggles=toggles(points.accepted[:, rows]),
            contributions=_largest_contributions(held_out, explained, rows),
        ),
        prototypes=MapPrototypes(
            x=rounded(view.prototypes[:, 0]),
            y=rounded(view.prototypes[:, 1]),
            label=held_out.prototype_labels.tolist(),
            name=prototype_names(held_out.columns.found.estimator).tolist(),
        ),
        display=display,
    )


def _nearest(axis: Floats, values: Floats) -> Codes:
    """The places of values on an axis of equal steps."""
    return np.rint((values - axis[0]) / (axis[1] - axis[0])).astype(np.intp)


def _largest_contributions(held_out: HeldOut, explained: Explained, rows: Codes) -> list[list[list[JSONValue]]]:
    """For each sample its columns of largest contribution."""
    size = np.abs(explained.contributions)
    total, top = np.maximum(size.sum(axis=1), TINY), np.argsort(-size, axis=1, kind="stable")[:, :MAP_FEATURES]
    values, filled = held_out.shown(rows)
    return [
        [[int(k), round(float(row[k] / whole), 3), value[k], *([] if fill[k] is None else [fill[k]])] for k in best]
        for row, whole, value, fill, best in zip(explained.contributions, total, values, filled, top)
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
    """The most certain of the wrong predictions, and correct ones of middling certainty from each class."""

    n_wrong: int
    wrong: list[Explanation]
    typical: list[Explanation]

    @property
    def any_filled(self) -> bool:
        """Whether a missing value was filled."""
        return any(line.filled is not None for one in (*self.wrong, *self.typical) for line in one.features)


def explanations_of(held_out: HeldOut) -> Explanations:
    """Explanations of wrong and of typical predictions."""
    wrong = np.flatnonzero(~held_out.correct)
    most_certain = wrong[np.argsort(-held_out.certainty[wrong], kind="stable")[:MAX_EXPLAINED]]
    explained = _explained(held_out, np.concatenate([most_certain, _typical(held_out)]).astype(np.intp))
    return Explanations(len(wrong), explained[: len(most_certain)], explained[len(most_certain) :])


def _typical(held_out: HeldOut) -> list[int]:
    """Correct predictions of each class in turn, those of median certainty first."""
    by_class = []
    for label in range(len(held_out.labels)):
        rows = np.flatnonzero(held_out.correct & (held_out.y == label))
        certainty = held_out.certainty[rows]
        far = np.abs(certainty - np.median(certainty)) if len(rows) else certainty
        by_class.append(rows[np.argsort(far, kind="stable")].tolist())
    return [rows[turn] for turn in range(MAX_EXPLAINED) for rows in by_class if turn < len(rows)][:MAX_EXPLAINED]


def _explained(held_out: HeldOut, rows: Codes) -> list[Explanation]:
    columns, found = held_out.columns, held_out.explained(_safe_indexing(held_out.X, rows), rows)
    (samples, filled), names = held_out.shown(rows), prototype_names(columns.found.estimator).tolist()
    scale = columns.model.log_odds_scale
    images, pixels = columns.images(held_out.numbers[rows]), columns.images(found.contributions)
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
