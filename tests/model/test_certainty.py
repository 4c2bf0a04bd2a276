"""Winner, rival and RelSim against loops."""

import numpy as np

from lvq.model.certainty import nearest, relative_similarity

LABELS = np.array([0, 0, 1, 2, 2])


def test_winner_and_rival_equal_loops_and_ties_go_to_the_lowest_index():
    """Distances are few whole numbers, so most rows have ties, and some have zeros."""
    D = np.random.default_rng(0).integers(0, 4, (80, 5)).astype(float)
    found = nearest(D, LABELS)
    for i, row in enumerate(D):
        winner = next(j for j in range(5) if row[j] == row.min())
        others = [j for j in range(5) if LABELS[j] != LABELS[winner]]
        rival = next(j for j in others if row[j] == row[others].min())
        assert (found.winner[i], found.rival[i]) == (winner, rival)
        assert (found.winner_distance[i], found.rival_distance[i]) == (row[winner], row[rival])


def test_relative_similarity():
    D = np.random.default_rng(0).integers(0, 4, (80, 5)).astype(float)
    found = nearest(D, LABELS)
    certainty = relative_similarity(found.winner_distance, found.rival_distance)
    assert ((certainty >= 0) & (certainty <= 1)).all()
    for value, winner, rival in zip(certainty, found.winner_distance, found.rival_distance):
        assert value == (0 if winner == rival == 0 else (rival - winner) / (rival + winner))


def test_both_distances_zero_is_certainty_zero_and_the_winner_at_zero_is_one():
    assert relative_similarity(np.array([0.0, 0.0]), np.array([0.0, 2.0])).tolist() == [0.0, 1.0]


def test_relative_similarity_does_not_depend_on_the_unit():
    for unit in (2.0**-40, 0.125, 2.0**40):
        assert relative_similarity(np.array([1.0 * unit]), np.array([3.0 * unit])).tolist() == [0.5]


def test_float32_stays_float32():
    found = nearest(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]], dtype=np.float32), LABELS)
    assert (
        found.winner_distance.dtype
        == found.rival_distance.dtype
        == relative_similarity(found.winner_distance, found.rival_distance).dtype
        == np.float32
    )


def test_the_winner_of_a_predicted_class_is_its_nearest_prototype():
    """The rival is the nearest of all other classes, which may be nearer than the winner."""
    D = np.array([[3.0, 4.0, 1.0, 2.0, 0.5], [1.0, 2.0, 9.0, 3.0, 4.0]])
    found = nearest(D, LABELS, predicted=np.array([0, 2]))
    assert found.winner.tolist() == [0, 3]
    assert found.rival.tolist() == [4, 0]
    assert found.winner_distance.tolist() == [3.0, 3.0]
    assert found.rival_distance.tolist() == [0.5, 1.0]
