"""How sure a nearest-prototype answer is, from a row of distances. Higher is surer, whatever the measure."""

from typing import NamedTuple

from lvq.model.arrays import Array, first_argmin, namespace, take_columns, zeros


class Answer(NamedTuple):
    """The winner of each sample and the nearest prototype of another class than the winner's, with their distances."""

    winner: Array
    rival: Array
    near: Array
    far: Array


def answer(distances: Array, labels: Array) -> Answer:
    """Winner and rival of each row of distances.

    Examples
    --------
    >>> import numpy as np
    >>> found = answer(np.array([[3.0, 1.0, 2.0]]), np.array([0, 1, 1]))
    >>> int(found.winner[0]), int(found.rival[0])
    (1, 0)
    """
    xp = namespace(distances)
    winner = first_argmin(distances)
    same = labels[winner][:, None] == labels[None, :]
    rival = first_argmin(xp.where(same, zeros((1,), distances) + float("inf"), distances))
    return Answer(winner, rival, take_columns(distances, winner), take_columns(distances, rival))


def relative_similarity(near: Array, far: Array) -> Array:
    """RelSim (d- - d+)/(d- + d+) in [0, 1] (Fischer et al. 2015); 0 where both are 0."""
    xp = namespace(near)
    total = near + far
    return (far - near) / xp.where(total > 0, total, xp.ones_like(total))
