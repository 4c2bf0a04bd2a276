"""The nearest own and the nearest other prototype from scores, for any order of samples and with ties."""

import numpy as np
import pytest

from lvq.model import pairs
from lvq.model.metrics import Euclidean
from lvq.model.pairs import nearest_pair


def by_slices(scores, y, labels):
    """As blocks that are not small, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SMALL", 0)
        return nearest_pair(scores, y, labels)


def by_masks(scores, y, labels):
    """As small blocks, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SMALL", 2**30)
        return nearest_pair(scores, y, labels)


def of_tensors(scores, y, labels):
    torch = pytest.importorskip("torch")
    found = nearest_pair(*(torch.as_tensor(part) for part in (scores, y, labels)))
    return type(found)(*(part.numpy() for part in found))


searches = pytest.mark.parametrize("search", [by_slices, by_masks, of_tensors])


def assert_by_loops(search, D, y, labels):
    found = search(D.copy(), y, labels)
    for i, (row, label) in enumerate(zip(D, y)):
        own = min((j for j in range(len(labels)) if labels[j] == label), key=lambda j: row[j])
        other = min((j for j in range(len(labels)) if labels[j] != label), key=lambda j: row[j])
        assert (found.own[i], found.other[i]) == (own, other)
        assert (found.d_plus[i], found.d_minus[i]) == (row[own], row[other])
    assert found.d_plus.dtype == found.d_minus.dtype == D.dtype


@searches
@pytest.mark.parametrize("order", ["ascending", "descending", "mixed", "one class", "interrupted"])
@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 2, 2, 2], [0, 1, 1, 3]])
@pytest.mark.parametrize("ties", [False, True])
def test_nearest_own_and_nearest_other(search, order, labels, ties):
    """Also with classes without samples and a class index without prototypes; of equal ones the first."""
    rng, labels = np.random.default_rng(len(labels)), np.array(labels)
    D = rng.integers(0, 3, (80, len(labels))).astype(float) if ties else rng.normal(size=(80, len(labels)))
    y = rng.choice(np.unique(labels), 80)
    orders = {"ascending": np.sort(y), "descending": np.sort(y)[::-1].copy(), "mixed": y, "one class": y * 0}
    orders["interrupted"] = np.repeat([0, labels[-1], 0], [30, 5, 45])  # long runs, of which two are of the same class
    assert_by_loops(search, D.astype(np.float32 if order == "mixed" else np.float64), orders[order], labels)


@searches
def test_all_scores_zero(search):
    assert_by_loops(search, np.zeros((3, 4)), np.array([1, 0, 1]), np.array([0, 0, 1, 1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_pairs_are_never_negative(dtype):
    """Samples on the prototypes, where |z|^2 + |p|^2 - 2 z'p rounds to either side of zero."""
    P, labels = (100 * np.random.default_rng(1).normal(size=(10, 7))).astype(dtype), np.repeat([0, 1], 5)
    found, _ = Euclidean().prepare(P).nearest_pair(P, labels, labels)
    assert found.d_plus.dtype == dtype
    assert found.d_plus.min() >= 0
    np.testing.assert_array_equal(found.own, np.arange(10))


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
        Z, y = rng.integers(-3, 4, size=(1000, features)).astype(dtype), rng.integers(0, classes + 1, 1000)
        expected, _ = Euclidean().prepare(P).nearest_pair(Z, y, labels)
        Z, y, P, labels = (torch.as_tensor(part, device="cuda") for part in (Z, y, P, labels))
        for ours, theirs in zip(Euclidean().prepare(P).nearest_pair(Z, y, labels)[0], expected):
            np.testing.assert_array_equal(ours.cpu().numpy(), theirs)
