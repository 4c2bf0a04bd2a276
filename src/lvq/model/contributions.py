"""Contributions of features to distances and to predictions."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lvq.model.metrics import LocalMetric
from lvq.model.observed import Observed, has_missing
from lvq.model.rows import dense

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel


class Explanation(NamedTuple):
    """Why each sample got its label; all arrays have one row per sample."""

    label: np.ndarray
    winner: np.ndarray  # index of the nearest prototype of the label
    rival: np.ndarray  # index of the nearest prototype of another class
    certainty: np.ndarray  # (d- - d+)/(d- + d+), in [0, 1]
    # (n_samples, n_features): contribution of each feature to D- - D+; positive: for the label
    contributions: np.ndarray


def differences(model: "PrototypeModel", X: np.ndarray, prototypes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Difference u of each sample to its prototype, 0 where a value is missing, and the factor 1/s of u'Lambda u.

    The squared distance is u'Lambda u divided by the observed fraction s of the metric, 1 where nothing is missing.
    """
    u = X - model.prototypes[prototypes]
    if model.variances is None or not has_missing(X):
        return u, np.ones((len(X), 1), dtype=u.dtype)
    mask = ~np.isnan(u)
    prepared = Observed(model.metric, model.variances).prepare(model.prototypes, model.relevance)
    fraction = prepared.fractions(mask.astype(u.dtype))
    return np.where(mask, u, 0), 1 / np.take_along_axis(fraction, model.group[prototypes][:, None], 1)


def contributions(model: "PrototypeModel", X: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
    """Contribution u_l (Lambda u)_l of each feature to the squared distance of each sample to its prototype.

    Where values are missing it is divided by s, see `lvq.model.observed`; a missing value contributes 0.
    """
    (u, factor), R = differences(model, dense(X), prototypes), model.relevance
    if R is None:
        return u * u * factor
    group, local = model.group[prototypes], isinstance(model.metric, LocalMetric)
    if model.has_weights:
        return (R[group] if local else R) * u * u * factor
    result = np.empty_like(u)
    for g in np.unique(group):
        rows, omega = group == g, R[g] if local else R
        result[rows] = u[rows] * ((u[rows] @ omega.T) @ omega)
    return result * factor


def explain(model: "PrototypeModel", X: np.ndarray, predicted: np.ndarray | None = None) -> Explanation:
    """Winner, rival, certainty and contributions of samples that are held at a time; see `PrototypeModel.explain`."""
    found, certainty = model.nearest(model.distances(X), predicted)
    by_feature = contributions(model, X, found.rival) - contributions(model, X, found.winner)
    return Explanation(model.classes[model.labels[found.winner]], found.winner, found.rival, certainty, by_feature)
