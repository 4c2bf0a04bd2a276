"""Labels beside points do not overlap."""

import numpy as np
import pytest

from lvq.report.label_places import PLACES, SIZE, label_places


@pytest.mark.parametrize("seed", range(10))
def test_labels_do_not_overlap(seed):
    points = [tuple(point) for point in np.random.default_rng(seed).uniform(0, 200, size=(24, 2)).tolist()]
    found = label_places(points)
    labels = [(x + PLACES[place][0], y + PLACES[place][1]) for (x, y), place in zip(points, found) if place is not None]
    assert len(labels) >= 8
    for k, (x, y) in enumerate(labels):
        for a, b in labels[:k]:
            assert abs(x - a) >= SIZE[0] or abs(y - b) >= SIZE[1]


def test_a_label_is_left_out_where_there_is_no_place():
    assert label_places([(0, 0)] * 6).count(None) == 2
    assert label_places([(0, 0), (0, -17)])[0] == 1  # not on the other point
