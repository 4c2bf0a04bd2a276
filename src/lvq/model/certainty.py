"""Winner and rival of a sample, and the certainty of its prediction, from distances. Higher is more certain."""

from typing import NamedTuple

from lvq.model.arrays import first_argmin, namespace, take_columns, zeros
from lvq.typing import Array


class Nearest(NamedTuple):
    """The winner of each sample and the nearest prototype of another class than the winner's, with their distances."""

    winner: Array
    rival: Array
    winner_distance: Array
    rival_distance: Array


def nearest(distances: Array, labels: Array, predicted: Array | None = None) -> Nearest:
    """Winner and rival of each row of distances.

    The winner is the nearest prototype, or with `predicted` the nearest of that class; the rival is the nearest of all
    other classes.

    Examples
    --------
    >>> import numpy as np
    >>> found = nearest(np.array([[3.0, 1.0, 2.0]]), np.array([0, 1, 1]))
    >>> int(found.winner[0]), int(found.rival[0])
    (1, 0)
    """
    xp = namespace(distances)
    infinite = zeros((1,), distances) + float("inf")
    if predicted is None:
        winner = first_argmin(distances)
        same = labels[winner][:, None] == labels[None, :]
    else:
        same = predicted[:, None] == labels[None, :]
        winner = first_argmin(xp.where(same, distances, infinite))
    rival = first_argmin(xp.where(same, infinite, distances))
    return Nearest(winner, rival, take_columns(distances, winner), take_columns(distances, rival))


def relative_similarity(winner_distance: Array, rival_distance: Array) -> Array:
    """RelSim (d- - d+)/(d- + d+) in [0, 1] (Fischer et al. 2015); 0 where both are 0."""
    xp = namespace(winner_distance)
    total = winner_distance + rival_distance
    return (rival_distance - winner_distance) / xp.where(total > 0, total, xp.ones_like(total))
