"""Groups of near prototypes: a search in groups finds what a search in all prototypes finds."""

from itertools import pairwise

import numpy as np
import pytest

from lvq.model import groups
from lvq.model.groups import GroupedPrototypes, group_prototypes


def scattered(kind, count, n, dtype, seed=0):
    """Prototypes in clusters, without clusters, or on a grid, where many distances are equal."""
    random = np.random.default_rng(seed)
    if kind == "grid":
        return random.integers(-3, 4, size=(count, n)).astype(dtype)
    centres = 20.0 * random.normal(size=(20, n)) if kind == "clusters" else np.zeros((1, n))
    return (centres[random.integers(len(centres), size=count)] + random.normal(size=(count, n))).astype(dtype)


def test_every_prototype_is_in_one_group():
    P = scattered("clusters", 1000, 4, np.float64)
    order, begins = group_prototypes(P)
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    assert begins[0] == 0
    assert begins[-1] == 1000
    assert (np.diff(begins) > 0).all()
    assert np.diff(begins).max() <= groups.LARGEST * -(-1000 // 31)
    for begin, end in pairwise(begins):
        assert (np.diff(order[begin:end]) > 0).all()


def test_equal_prototypes_are_divided():
    """k-means finds one cluster, which no group may hold as a whole."""
    begins = group_prototypes(np.ones((400, 2))).begins
    assert np.diff(begins).max() <= groups.LARGEST * 20


def exact_scores(Z, P):
    """In a longer type, which the type of the search cannot tell from the exact ones."""
    wide = P.astype(np.longdouble)
    return (wide * wide).sum(axis=1) - 2 * np.einsum("ij,kj->ik", Z.astype(np.longdouble), wide)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["clusters", "none", "grid"])
@pytest.mark.parametrize("n", [2, 40])
def test_nearest_of_a_class_and_of_all_others(kind, n, dtype, own, monkeypatch):
    monkeypatch.setattr(groups, "ROWS", 100)
    P = scattered(kind, 600, n, dtype)
    labels = np.repeat(np.arange(6), 100)
    Z = scattered(kind, 250, n, dtype, seed=1)
    y = np.arange(250) % 6
    grouped = GroupedPrototypes(P, labels, group_prototypes(P))
    lengths = (Z * Z).sum(axis=1)
    index, score = grouped.nearest_of(Z, y, lengths, own=own)
    scores = exact_scores(Z, P)
    scores[(y[:, None] == labels) != own] = np.inf
    assert ((labels[index] == y) == own).all()
    slack = grouped.slack(lengths)
    assert (np.take_along_axis(scores, index[:, None], 1)[:, 0] <= scores.min(axis=1) + slack).all()
    assert (np.abs(score - scores.min(axis=1)) <= slack).all()
    if kind == "grid":  # whole numbers, without rounding: equal scores go to the lowest index
        np.testing.assert_array_equal(index, scores.argmin(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["clusters", "none"])
def test_nearest_prototype_and_its_rival(kind, dtype, monkeypatch):
    """A rival within the reach is exact; one beyond it stays beyond."""
    monkeypatch.setattr(groups, "ROWS", 100)
    P = scattered(kind, 600, 3, dtype)
    labels = np.repeat(np.arange(6), 100)
    Z = scattered(kind, 400, 3, dtype, seed=1)
    grouped = GroupedPrototypes(P, labels, group_prototypes(P))
    lengths = (Z * Z).sum(axis=1)
    scores = exact_scores(Z, P)
    first = scores.argmin(axis=1)
    best = scores.min(axis=1)
    rival = np.where(labels[first][:, None] == labels, np.inf, scores).min(axis=1)
    reach = np.full(400, np.median(rival - best), dtype=dtype)
    found = grouped.nearest(Z, lengths, reach)
    slack = grouped.slack(lengths)
    assert (np.abs(found.score - best) <= slack).all()
    clear = rival - best > 4 * slack
    np.testing.assert_array_equal(labels[found.winner][clear], labels[first][clear])
    within = clear & (rival < best + reach - 4 * slack)
    beyond = clear & (rival > best + reach + 4 * slack)
    assert within.sum() > 20
    assert beyond.sum() > 20
    assert (np.abs(found.rival - rival) <= 2 * slack)[within].all()
    assert (found.rival > found.score + reach)[beyond].all()
    np.testing.assert_allclose(grouped.smallest(Z), np.maximum(best + lengths, 0), atol=4 * slack.max())


def test_few_groups_are_searched_where_prototypes_are_in_clusters(monkeypatch):
    """The products of 2,000 samples with 2,500 prototypes: less than a tenth of them."""
    P = scattered("clusters", 2500, 10, np.float64)
    Z = scattered("clusters", 2000, 10, np.float64, seed=0)
    grouped, computed = GroupedPrototypes(P, np.arange(2500), group_prototypes(P)), []
    visit = GroupedPrototypes._visit

    def counted(self, group, rows, *rest):
        computed.append(len(rows) * len(self.order[self.slices[group]]))
        visit(self, group, rows, *rest)

    monkeypatch.setattr(GroupedPrototypes, "_visit", counted)
    grouped.smallest(Z)
    assert sum(computed) < 0.1 * len(Z) * len(P)
