"""The searches for the nearest own and the nearest other prototype, for any order of samples and with ties."""

import numpy as np
import pytest

from lvq.model import pairs
from lvq.model.groups import group_prototypes
from lvq.model.pairs import FusedSearch, GroupedSearch, MaskedSearch, SortedSearch, search_for


def sorted_search(Z, y, P, labels):
    """By slices, as blocks that are not small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SMALL", 0)
        return SortedSearch().prepare(P, labels)(Z, y)


def small_search(Z, y, P, labels):
    """By masks, as small blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SMALL", 2**30)
        return SortedSearch().prepare(P, labels)(Z, y)


def grouped_search(Z, y, P, labels):
    """In groups, with the own prototypes of each class alone."""
    return GroupedSearch(group_prototypes(P)).prepare(P, labels)(Z, y)


def all_in_groups(Z, y, P, labels):
    """In groups, as classes with many prototypes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "FEW", 0)
        return grouped_search(Z, y, P, labels)


def masked_search(Z, y, P, labels):
    torch = pytest.importorskip("torch")
    found = MaskedSearch().prepare(torch.as_tensor(P), torch.as_tensor(labels))(torch.as_tensor(Z), torch.as_tensor(y))
    return type(found)(*(part.numpy() for part in found))


class PlainKernels:
    """What the kernel of the GPU does with what it is given, in NumPy."""

    @staticmethod
    def search(Z, P, squares, y, labels):
        D = np.maximum(squares - 2 * (Z @ P.T) + (Z * Z).sum(axis=1, keepdims=True), 0)
        mine, rows = y[:, None] == labels, np.arange(len(Z))
        own, other = np.where(mine, D, np.inf).argmin(axis=1), np.where(mine, np.inf, D).argmin(axis=1)
        return own, other, D[rows, own], D[rows, other]


def fused_search(Z, y, P, labels):
    """What surrounds the kernel of the GPU."""
    return FusedSearch(PlainKernels).prepare(P, labels)(Z, y)


SEARCHES = pytest.mark.parametrize(
    "search", [sorted_search, small_search, grouped_search, all_in_groups, masked_search, fused_search]
)


def plain(Z, y, P, labels):
    """By loops over differences."""
    rows = []
    for z, label in zip(Z, y):
        distances = [float(np.square(z - p).sum()) for p in P]
        own = min((j for j in range(len(P)) if labels[j] == label), key=lambda j: distances[j])
        other = min((j for j in range(len(P)) if labels[j] != label), key=lambda j: distances[j])
        rows.append((own, other, distances[own], distances[other]))
    return [np.array(column) for column in zip(*rows)]


@SEARCHES
@pytest.mark.parametrize("order", ["ascending", "descending", "mixed", "one class", "interrupted"])
@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 2, 2, 2], [0, 1, 1, 3]])
def test_nearest_own_and_nearest_other(search, order, labels):
    """Also with classes without samples and a class index without prototypes."""
    rng = np.random.default_rng(len(labels))
    labels = np.array(labels)
    Z, P = rng.normal(size=(80, 3)), rng.normal(size=(len(labels), 3))
    y = rng.choice(np.unique(labels), 80)
    orders = {"ascending": np.sort(y), "descending": np.sort(y)[::-1].copy(), "mixed": y, "one class": y * 0}
    orders["interrupted"] = np.repeat([0, labels[-1], 0], [30, 5, 45])  # long runs, of which two are of the same class
    y = orders[order]
    own, other, d_plus, d_minus = plain(Z, y, P, labels)
    found = search(Z, y, P, labels)
    np.testing.assert_array_equal(found.own, own)
    np.testing.assert_array_equal(found.other, other)
    np.testing.assert_allclose(found.d_plus, d_plus, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.d_minus, d_minus, rtol=1e-10, atol=1e-12)


@SEARCHES
def test_ties_go_to_the_lowest_index(search):
    """Whole numbers, so that the ties are exact; the second of each class is a copy of the first."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 4)
    P = rng.integers(-2, 3, size=(12, 2)).astype(float)
    P[[1, 5, 9]] = P[[0, 4, 8]]
    Z = rng.integers(-3, 4, size=(500, 2)).astype(float)
    y = rng.integers(0, 3, 500)
    D = np.square(Z[:, None] - P).sum(axis=2)
    ties = [(row[labels == label] == row[labels == label].min()).sum() > 1 for row, label in zip(D, y)]
    assert np.mean(ties) > 0.2
    own, other, d_plus, d_minus = plain(Z, y, P, labels)
    found = search(Z, y, P, labels)
    np.testing.assert_array_equal(found.own, own)
    np.testing.assert_array_equal(found.other, other)
    np.testing.assert_array_equal(found.d_plus, d_plus)
    np.testing.assert_array_equal(found.d_minus, d_minus)


@SEARCHES
def test_all_distances_zero(search):
    found = search(np.ones((3, 2)), np.array([1, 0, 1]), np.ones((4, 2)), np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(found.own, [2, 0, 2])
    np.testing.assert_array_equal(found.other, [0, 2, 0])
    assert not found.d_plus.any()
    assert not found.d_minus.any()


@SEARCHES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_never_negative_and_keep_their_type(search, dtype):
    """Samples on the prototypes, where |z|^2 + |p|^2 - 2 z'p rounds to either side of zero."""
    rng = np.random.default_rng(1)
    P = (100 * rng.normal(size=(10, 7))).astype(dtype)
    found = search(P, np.repeat([0, 1], 5), P, np.repeat([0, 1], 5))
    assert found.d_plus.dtype == found.d_minus.dtype == dtype
    assert found.d_plus.min() >= 0
    np.testing.assert_array_equal(found.own, np.arange(10))


def test_search_for_arrays_and_tensors():
    torch = pytest.importorskip("torch")
    assert isinstance(search_for(np.zeros((1, 1))), SortedSearch)
    assert isinstance(search_for(torch.zeros((1, 1))), MaskedSearch)
    with pytest.raises(TypeError, match="expected a NumPy array or a torch tensor, got list"):
        search_for([[0.0]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_search_on_a_gpu(dtype):
    """The fused kernels give the result of NumPy, ties included."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    rng = np.random.default_rng(0)
    for features, classes, each in ((2, 3, 4), (70, 3, 40), (33, 1, 1)):
        labels = np.repeat(np.arange(classes + 1), each)
        P = rng.integers(-2, 3, size=(len(labels), features)).astype(dtype)
        Z = rng.integers(-3, 4, size=(1000, features)).astype(dtype)
        y = rng.integers(0, classes + 1, 1000)
        expected = SortedSearch().prepare(P, labels)(Z, y)
        on = [torch.as_tensor(part, device="cuda") for part in (Z, y, P, labels)]
        found = search_for(on[0]).prepare(on[2], on[3])(on[0], on[1])
        for ours, theirs in zip(found, expected):
            np.testing.assert_array_equal(ours.cpu().numpy(), theirs)
