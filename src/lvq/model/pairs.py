"""The nearest own and the nearest other prototype of each sample, without building the matrix of distances.

A search is prepared once for the prototypes' images and then called for each chunk of samples. Of |z - p|^2 only
|p|^2 - 2 z'p differs between prototypes; it is computed by one matrix product. Ties go to the lowest index.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from lvq.model.arrays import first_argmin, fused_kernels, namespace, take_columns
from lvq.model.groups import GroupedPrototypes, Groups
from lvq.model.sparse_rows import row_squares
from lvq.typing import Array

SMALL = 2**13  # scores up to which masks are faster than slices
FEW = 512  # prototypes of a class up to which all of them are searched, besides groups
OWN_NUMBERS = 2**18  # scores, or numbers of own prototypes, that are held at a time
LONG = 4  # samples of the same class one after another, on average, from which products by class are faster


class NearestPair(NamedTuple):
    """The nearest prototype of the true class and the nearest of all others, for each sample."""

    own: Array
    other: Array
    d_plus: Array
    d_minus: Array


class Search(Protocol):
    """Interface of a search for pairs; `columns` is how many rows of length M it holds at a time for each sample."""

    columns: int

    def prepare(self, P: Array, labels: Array) -> Callable[[Array, Array], NearestPair]:
        """A function from images (N, m) and class indices (N,) to their pairs."""


def search_for(X: Array, groups: Groups | None = None) -> Search:
    """The search for arrays of this kind, in groups of prototypes where there are any."""
    if namespace(X) is np:
        return SortedSearch() if groups is None else GroupedSearch(groups)
    kernels = fused_kernels(X)
    return MaskedSearch() if kernels is None else FusedSearch(kernels)


class SortedSearch:
    """NumPy: samples that are ordered by class are searched class by class, in slices; other orders work too."""

    columns = 2  # the products, and a copy of the part whose smallest is sought

    def prepare(self, P: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray, np.ndarray], NearestPair]:
        """A function from images and class indices to pairs."""
        squares = np.einsum("ij,ij->i", P, P)
        folded = np.ascontiguousarray((-2 * P).T)

        def search(Z: np.ndarray, y: np.ndarray) -> NearestPair:
            scores = Z @ folded
            scores += squares
            own, d_plus = (_own_by_mask if scores.size <= SMALL else _own_by_run)(scores, y, labels)
            other = scores.argmin(axis=1)
            d_minus = take_columns(scores, other)
            lengths = row_squares(Z)
            return NearestPair(own, other, np.maximum(d_plus + lengths, 0), np.maximum(d_minus + lengths, 0))

        return search


class GroupedSearch:
    """NumPy, many prototypes: the nearest other one in groups, the nearest own one too where a class has many."""

    columns = 0

    def __init__(self, groups: Groups) -> None:
        self.groups = groups

    def prepare(self, P: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray, np.ndarray], NearestPair]:
        """A function from images and class indices to pairs."""
        grouped = GroupedPrototypes(P, labels, self.groups)
        squares = row_squares(P)
        begins = np.searchsorted(labels, np.arange(int(labels.max()) + 2))
        in_groups = int(np.diff(begins).max()) > FEW

        def search(Z: np.ndarray, y: np.ndarray) -> NearestPair:
            lengths = row_squares(Z)
            if in_groups:
                own, d_plus = grouped.nearest_of(Z, y, lengths, own=True)
            else:
                own, d_plus = _own_alone(Z, y, P, squares, begins)
            other, d_minus = grouped.nearest_of(Z, y, lengths, own=False)
            return NearestPair(own, other, np.maximum(d_plus + lengths, 0), np.maximum(d_minus + lengths, 0))

        return search


def _own_alone(
    Z: np.ndarray, y: np.ndarray, P: np.ndarray, squares: np.ndarray, begins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest own prototype and its score, from products with own prototypes alone."""
    own, d_plus = np.empty(len(y), dtype=np.intp), np.empty(len(y), dtype=Z.dtype)
    runs = [0, *(np.flatnonzero(y[1:] != y[:-1]) + 1).tolist(), len(y)]
    if len(y) < LONG * len(runs):
        sizes = np.diff(begins)
        most = int(sizes.max())
        rows = max(1, OWN_NUMBERS // (most * Z.shape[1]))
        for part in _parts(0, len(y), rows):
            # where a class has fewer prototypes, copies of its last one are compared as well
            places = begins[y[part], None] + np.minimum(np.arange(most), sizes[y[part], None] - 1)
            scores = squares[places] - 2 * np.einsum("ij,ikj->ik", Z[part], P[places])
            own[part], d_plus[part] = _smallest(scores, places)
        return own, d_plus
    for begin, end in pairwise(runs):
        low, high = begins[y[begin] : y[begin] + 2].tolist()
        folded = -2 * P[low:high].T
        for part in _parts(begin, end, max(1, OWN_NUMBERS // (high - low))):
            scores = Z[part] @ folded
            scores += squares[low:high]
            nearest = scores.argmin(axis=1)
            own[part], d_plus[part] = nearest + low, take_columns(scores, nearest)
    return own, d_plus


def _parts(begin: int, end: int, rows: int) -> Iterator[slice]:
    """Rows from begin to end, some at a time."""
    return (slice(first, min(end, first + rows)) for first in range(begin, end, rows))


def _smallest(scores: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place and value of the smallest score of each row."""
    nearest = scores.argmin(axis=1)
    return take_columns(places, nearest), take_columns(scores, nearest)


# Both give the nearest own prototype and its score, and make the scores of all own prototypes infinite.


def _own_by_mask(scores: np.ndarray, y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mine = y[:, None] == labels
    own = np.where(mine, scores, np.inf).argmin(axis=1)
    d_plus = take_columns(scores, own)
    np.putmask(scores, mine, np.inf)
    return own, d_plus


def _own_by_run(scores: np.ndarray, y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own, d_plus = np.empty(len(y), dtype=np.intp), np.empty(len(y), dtype=scores.dtype)
    for begin, end in pairwise([0, *(np.flatnonzero(y[1:] != y[:-1]) + 1).tolist(), len(y)]):
        low, high = np.searchsorted(labels, (y[begin], y[begin] + 1))
        mine = scores[begin:end, low:high]
        nearest = mine.argmin(axis=1)
        own[begin:end] = nearest + low
        d_plus[begin:end] = take_columns(mine, nearest)
        mine[...] = np.inf
    return own, d_plus


class MaskedSearch:
    """torch: by masks."""

    columns = 4

    def prepare(self, P: Array, labels: Array) -> Callable[[Array, Array], NearestPair]:
        """A function from images and class indices to pairs."""
        xp = namespace(P)
        squares = (P * P).sum(1)

        def search(Z: Array, y: Array) -> NearestPair:
            scores = xp.addmm(squares, Z, P.T, alpha=-2)
            mine = y[:, None] == labels[None, :]
            own = first_argmin(scores.masked_fill(~mine, float("inf")))
            d_plus = take_columns(scores, own)
            other = first_argmin(scores.masked_fill_(mine, float("inf")))
            d_minus = take_columns(scores, other)
            lengths = (Z * Z).sum(1)
            return NearestPair(own, other, (d_plus + lengths).clamp_(min=0), (d_minus + lengths).clamp_(min=0))

        return search


class FusedSearch:
    """torch on a GPU: by a kernel that never writes the products."""

    columns = 0

    def __init__(self, kernels: ModuleType) -> None:
        self.kernels = kernels

    def prepare(self, P: Array, labels: Array) -> Callable[[Array, Array], NearestPair]:
        """A function from images and class indices to pairs."""
        squares = (P * P).sum(1)
        return lambda Z, y: NearestPair(*self.kernels.search(Z, P, squares, y, labels))
