"""Winner, rival and RelSim against loops."""

import numpy as np
import pytest

from lvq.model.certainty import nearest, relative_similarity

LABELS = np.array([0, 0, 1, 2, 2])


@pytest.mark.parametrize("seed", range(4))
def test_winner_and_rival_equal_loops_and_ties_go_to_the_lowest_index(seed):
    """Distances are few whole numbers, so most rows have ties, and some have zeros."""
    D = np.random.default_rng(seed).integers(0, 4, (80, 5)).astype(float)
    found = nearest(D, LABELS)
    for i, row in enumerate(D):
        winner = next(j for j in range(5) if row[j] == row.min())
        others = [j for j in range(5) if LABELS[j] != LABELS[winner]]
        rival = next(j for j in others if row[j] == row[others].min())
        assert (found.winner[i], found.rival[i]) == (winner, rival)
        assert (found.winner_distance[i], found.rival_distance[i]) == (row[winner], row[rival])


@pytest.mark.parametrize("seed", range(4))
def test_relative_similarity(seed):
    D = np.random.default_rng(seed).integers(0, 4, (80, 5)).astype(float)
    found = nearest(D, LABELS)
    certainty = relative_similarity(found.winner_distance, found.rival_distance)
    assert ((certainty >= 0) & (certainty <= 1)).all()
    for value, near, far in zip(certainty, found.winner_distance, found.rival_distance):
        assert value == (0 if near == far == 0 else (far - near) / (far + near))


def test_zero_over_zero_is_no_certainty_and_a_hit_is_all_of_it():
    assert relative_similarity(np.array([0.0, 0.0]), np.array([0.0, 2.0])).tolist() == [0.0, 1.0]


def test_single_precision_stays_single():
    found = nearest(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]], dtype=np.float32), LABELS)
    assert (
        found.winner_distance.dtype
        == found.rival_distance.dtype
        == relative_similarity(found.winner_distance, found.rival_distance).dtype
        == np.float32
    )
