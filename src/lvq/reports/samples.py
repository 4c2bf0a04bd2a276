"""The parts of the report about single samples: the map, and explanations of predictions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import _safe_indexing

from lvq.plots import ProjectionDisplay, plane, regions
from lvq.plots.projection import agreement
from lvq.reports.held_out import HeldOut
from lvq.reports.metrics import Codes
from lvq.reports.rejection import OperatingPoints, toggles
from lvq.reports.text import label_texts
from lvq.typing import Floats, JSONValue

RESOLUTION = 200  # grid points of the regions, in each direction
MAX_EXPLAINED = 6  # samples of each kind
EXPLAINED_FEATURES = 6  # features of an explanation: bars,
LISTED_FEATURES = 40  # and numbers, where they are evidence
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


@dataclass(frozen=True)
class Map:
    """Samples and prototypes in a plane."""

    n_completed: int  # samples with missing values
    points: Points
    display: ProjectionDisplay = field(repr=False)


def map_of(held_out: HeldOut, rows: Codes, points: OperatingPoints) -> Map:
    """The map of some rows."""
    model, predicted, near = held_out.columns.estimator, held_out.predicted[rows], held_out.made.nearest
    view = plane(model, _safe_indexing(held_out.X, rows))
    grid = regions(model, view, RESOLUTION)
    grid = grid._replace(classes=held_out.order[grid.classes])
    display = ProjectionDisplay(
        plane=view, classes=label_texts(held_out.labels), sample_classes=held_out.y[rows],
        prototype_classes=held_out.prototype_labels, predicted_classes=predicted,
        regions=grid, agreement=agreement(model, view, np.argsort(held_out.order)[predicted]),
    )  # fmt: skip
    return Map(
        n_completed=int(np.isnan(held_out.inputs[rows]).any(axis=1).sum()),
        points=Points(
            name=[held_out.names[row] for row in rows],
            x=view.points[:, 0].tolist(),
            y=view.points[:, 1].tolist(),
            true=held_out.y[rows].tolist(),
            predicted=predicted.tolist(),
            certainty=held_out.certainty[rows].tolist(),
            winner=near.winner[rows].tolist(),
            rival=near.rival[rows].tolist(),
            toggles=toggles(points[0][:, rows]),
        ),
        display=display,
    )


# -- explanations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureLine:
    """A column in an explanation: values of sample, winner and rival, and evidence for the predicted class.

    The evidence of a number is ((value - rival) / rival_reach)^2 - ((value - winner) / winner_reach)^2.
    """

    name: str
    value: JSONValue
    winner: JSONValue
    rival: JSONValue
    evidence: float
    winner_reach: float | None = None
    rival_reach: float | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a sample got its class; the evidence of all features sums to the log-odds against the rival's class.

    For models without log-odds, evidence is the fraction of all absolute contributions.
    """

    name: int | str
    true: int
    predicted: int
    certainty: float
    probability: float | None  # of the predicted class
    reason: str  # for rejection; "" where the prediction is accepted
    winner: int
    rival: int
    log_odds: float | None
    features: list[FeatureLine]
    other_evidence: float
    image: list[float] | None
    pixel_contributions: list[float] | None


@dataclass(frozen=True)
class Explanations:
    """The most certain wrong predictions, and correct ones of medium certainty from each class."""

    wrong: list[Explanation]
    typical: list[Explanation]


def explanations_of(held_out: HeldOut) -> Explanations:
    """Explanations of wrong and of typical predictions."""
    wrong = np.flatnonzero(~held_out.correct)
    most_certain = wrong[np.argsort(-held_out.certainty[wrong], kind="stable")[:MAX_EXPLAINED]]
    explained = _explained(held_out, np.concatenate([most_certain, _typical(held_out)]).astype(np.intp))
    return Explanations(explained[: len(most_certain)], explained[len(most_certain) :])


def _typical(held_out: HeldOut) -> list[int]:
    """Correct predictions of each class in turn, starting with median certainty."""
    by_class = []
    for label in range(len(held_out.labels)):
        rows = np.flatnonzero(held_out.correct & (held_out.y == label))
        certainty = held_out.certainty[rows]
        far = np.abs(certainty - np.median(certainty)) if len(rows) else certainty
        by_class.append(rows[np.argsort(far, kind="stable")].tolist())
    return [rows[turn] for turn in range(MAX_EXPLAINED) for rows in by_class if turn < len(rows)][:MAX_EXPLAINED]


def _explained(held_out: HeldOut, rows: Codes) -> list[Explanation]:
    columns, contributions, near = held_out.columns, held_out.contributions(rows), held_out.made.nearest
    samples, scale = held_out.shown(rows), columns.model.log_odds_scale
    images, pixels = columns.images(held_out.numbers[rows]), columns.images(contributions)
    result, table, reaches = [], held_out.probabilities, columns.reaches()
    for k, row in enumerate(rows.tolist()):
        parts, winner, rival = contributions[k], int(near.winner[row]), int(near.rival[row])
        evidence = parts / max(float(np.abs(parts).sum()), TINY) if scale is None else scale * parts
        listed = EXPLAINED_FEATURES if scale is None else LISTED_FEATURES
        top = np.argsort(-np.abs(parts), kind="stable")[:listed].tolist()
        both = winner, rival
        values = [(samples[k][f], *(columns.prototype(j, f) for j in both), float(evidence[f])) for f in top]
        beyond = [() if reaches is None else reaches[both, f].tolist() for f in top]
        result.append(
            Explanation(
                name=held_out.names[row],
                true=int(held_out.y[row]),
                predicted=int(held_out.predicted[row]),
                certainty=float(held_out.certainty[row]),
                probability=None if table is None else float(table[row, held_out.predicted[row]]),
                reason=str(held_out.reason[row]),
                winner=winner,
                rival=rival,
                log_odds=None if scale is None else float(evidence.sum()),
                features=[FeatureLine(columns.names[f], *own, *far) for f, own, far in zip(top, values, beyond)],
                other_evidence=float(evidence.sum() - evidence[top].sum()),
                image=None if images is None else images[1][k].tolist(),
                pixel_contributions=None if pixels is None else (pixels[1][k] / _largest(pixels[1][k])).tolist(),
            )
        )
    return result


def _largest(values: Floats) -> float:
    return max(float(np.abs(values).max()), TINY)
