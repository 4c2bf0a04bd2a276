"""Many prototypes in groups, so that a search can leave out the groups that cannot hold the nearest one.

With c the centre of a group and r the largest distance of its prototypes from it, no prototype of the group is nearer
to a sample z than ``|z - c| - r``. A search takes the nearest group of each sample first, and then every group whose
bound is not larger than the smallest distance found so far. Rounding errors are added to the bounds, so the result is
that of a search in all prototypes. Where few groups can be left out, as with many independent features, the same
products are computed group by group. In both cases memory is bounded by `ROWS` rows of the largest group.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lvq.model.metrics import long_product, row_squares
from lvq.model.starts import weighted_k_means

ROWS = 2048  # samples that are searched at a time
SAMPLED = 16  # prototypes for each group from which the groups' centres are computed
LARGEST = 4  # size of a group, at most, as a multiple of the mean size


class Groups(NamedTuple):
    """Prototypes group by group, with ascending indices in each, and where each group begins; the end is the last."""

    order: np.ndarray
    begins: np.ndarray


def group_prototypes(P: np.ndarray) -> Groups:
    """About as many groups of near prototypes as the root of their number, by k-means of some of them.

    Examples
    --------
    >>> import numpy as np
    >>> group_prototypes(np.array([[0.0], [9.0], [1.0], [8.0]]))
    Groups(order=array([0, 2, 1, 3]), begins=array([0, 2, 4]))
    """
    count = int(np.sqrt(len(P)))
    random_state = np.random.RandomState(0)
    some = np.sort(random_state.choice(len(P), min(len(P), SAMPLED * count), replace=False))
    centres = weighted_k_means(P[some], np.ones(len(some)), count, random_state)
    folded, squares = (-2 * centres).T, row_squares(centres)
    blocks = (P[begin : begin + ROWS] for begin in range(0, len(P), ROWS))
    nearest = np.concatenate([(block @ folded + squares).argmin(axis=1) for block in blocks])
    order = nearest.argsort(kind="stable")
    most = LARGEST * -(-len(P) // count)
    pieces = [np.arange(before, before + size, most) for size, before in _runs(np.bincount(nearest))]
    return Groups(order, np.append(np.concatenate(pieces), len(P)))


def _runs(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Each size that is not 0, and the sum of those before."""
    for size, end in zip(sizes.tolist(), sizes.cumsum().tolist()):
        if size:
            yield size, end - size


class Found(NamedTuple):
    """For each sample the nearest prototype, its squared distance without |z|^2, and the rival's.

    The rival is the nearest prototype of other classes. Where its distance exceeds that of the nearest by more than the
    reach of the search, any such number stands for it.
    """

    winner: np.ndarray
    score: np.ndarray
    rival: np.ndarray


class GroupedPrototypes:
    """Images of prototypes, group by group, and a ball that encloses each group.

    Parameters
    ----------
    P : ndarray of shape (n_prototypes, m)
        Images.
    labels : ndarray of shape (n_prototypes,)
        Class indices.
    groups : Groups
        Which prototypes are near to each other.
    """

    def __init__(self, P: np.ndarray, labels: np.ndarray, groups: Groups) -> None:
        self.order, (begins, ends) = groups.order, (groups.begins[:-1], groups.begins[1:])
        ordered, sizes = P[groups.order], ends - begins
        self.slices = [slice(begin, end) for begin, end in zip(begins.tolist(), ends.tolist())]
        self.labels, self.squares = labels[groups.order], row_squares(ordered)
        self.centres = np.add.reduceat(ordered, begins) / sizes[:, None].astype(P.dtype)
        away = ordered - np.repeat(self.centres, sizes, axis=0)
        rounding = float(np.finfo(P.dtype).eps) * (P.shape[1] + 8)
        self.radii = np.sqrt(np.maximum.reduceat(row_squares(away), begins)) * (1 + rounding)
        self.centre_squares, self.folded = row_squares(self.centres), np.multiply(ordered, -2, out=ordered)
        self.rounding, self.longest = 4 * rounding, float(np.sqrt(self.squares.max()))

    def slack(self, lengths: np.ndarray) -> np.ndarray:
        """Bound of the rounding errors of squared distances, from the samples' squared lengths."""
        return (self.rounding * (np.sqrt(lengths) + self.longest) ** 2).astype(lengths.dtype)

    def nearest_of(
        self, Z: np.ndarray, y: np.ndarray, lengths: np.ndarray, *, own: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nearest prototype of each sample's class or of all other classes; its squared distance without |z|^2."""
        index, score = np.zeros(len(Z), dtype=np.intp), np.full(len(Z), np.inf, dtype=Z.dtype)
        for begin in range(0, len(Z), ROWS):
            part = slice(begin, begin + ROWS)
            found = _Nearest(index[part], score[part], y[part], own)
            self._search(Z[part], lengths[part], self.slack(lengths[part]), found)
        return index, score

    def smallest(self, Z: np.ndarray) -> np.ndarray:
        """Squared distance of each sample to the nearest prototype."""
        lengths, score = row_squares(Z), np.full(len(Z), np.inf, dtype=Z.dtype)
        index = np.zeros(len(Z), dtype=np.intp)
        for begin in range(0, len(Z), ROWS):
            part = slice(begin, begin + ROWS)
            self._search(Z[part], lengths[part], self.slack(lengths[part]), _Nearest(index[part], score[part]))
        return np.maximum(score + lengths, 0)

    def nearest(self, Z: np.ndarray, lengths: np.ndarray, reach: np.ndarray) -> Found:
        """The nearest prototype of each sample, and its rival where that is not further by more than `reach`."""
        found = Found(np.zeros(len(Z), dtype=np.intp), *np.full((2, len(Z)), np.inf, dtype=Z.dtype))
        slack = reach + self.slack(lengths)
        for begin in range(0, len(Z), ROWS):
            part = slice(begin, begin + ROWS)
            here = _WithRival(found.winner[part], found.score[part], found.rival[part], reach[part])
            self._search(Z[part], lengths[part], slack[part], here)
        return found

    def _search(self, Z: np.ndarray, lengths: np.ndarray, slack: np.ndarray, found: "_Nearest") -> None:
        """Search all groups that can hold the nearest prototype of some row."""
        bounds = self.centres @ (-2 * Z.T)  # a row for each group
        bounds += self.centre_squares[:, None]
        bounds += lengths - slack
        first = bounds.argmin(axis=0)
        np.sqrt(np.maximum(bounds, 0, out=bounds), out=bounds)
        bounds -= self.radii[:, None].astype(Z.dtype)
        np.square(np.maximum(bounds, 0, out=bounds), out=bounds)
        bounds -= lengths + slack  # comparable with scores
        bounds[first, np.arange(len(Z))] = np.inf
        by_group = first.argsort(kind="stable")
        ends = np.bincount(first, minlength=len(self.slices)).cumsum().tolist()
        for group, (begin, end) in enumerate(zip([0, *ends], ends)):
            if begin < end:
                self._visit(group, by_group[begin:end], Z, found)
        for group in range(len(self.slices)):
            rows = (bounds[group] <= found.score).nonzero()[0]
            if len(rows):
                self._visit(group, rows, Z, found)

    def _visit(self, group: int, rows: np.ndarray, Z: np.ndarray, found: "_Nearest") -> None:
        inside = self.slices[group]
        scores = long_product(Z[rows], self.folded[inside].T)
        scores += self.squares[inside]
        found.update(rows, scores, self.labels[inside], self.order[inside])


class _Nearest:
    """The nearest prototype so far of each row, of its class `y` or of all others; ties go to the lowest index."""

    def __init__(self, index: np.ndarray, score: np.ndarray, y: np.ndarray | None = None, own: bool = False) -> None:
        self.index, self.score, self.y, self.own = index, score, y, own

    def update(self, rows: np.ndarray, scores: np.ndarray, labels: np.ndarray, indices: np.ndarray) -> None:
        """Compare with the scores of a group for some rows."""
        if self.y is not None:
            self._leave_out(scores, self.y[rows], labels)
        place = scores.argmin(axis=1)
        score, index = scores[np.arange(len(rows)), place], indices[place]
        before = self.score[rows]
        better = (score < before) | ((score == before) & (index < self.index[rows]))
        self.score[rows[better]], self.index[rows[better]] = score[better], index[better]

    def _leave_out(self, scores: np.ndarray, y: np.ndarray, labels: np.ndarray) -> None:
        """Make the scores of prototypes that are not sought infinite."""
        if self.own:
            scores[y[:, None] != labels] = np.inf
            return
        inside = np.flatnonzero(np.searchsorted(labels, y) < np.searchsorted(labels, y, side="right"))
        if len(inside):  # most rows have no prototype of their class in most groups
            some = scores[inside]
            some[y[inside, None] == labels] = np.inf
            scores[inside] = some


class _WithRival(_Nearest):
    """The nearest prototype of all, and the score of its rival where that may be within the reach."""

    def __init__(self, index: np.ndarray, score: np.ndarray, rival: np.ndarray, reach: np.ndarray) -> None:
        super().__init__(index, score)
        self.rival, self.reach, self.label = rival, reach, np.full(len(index), -1)

    def update(self, rows: np.ndarray, scores: np.ndarray, labels: np.ndarray, indices: np.ndarray) -> None:
        """Compare with the scores of a group for some rows."""
        place, every = scores.argmin(axis=1), np.arange(len(rows))
        score, label, before, label_before = scores[every, place], labels[place], self.score[rows], self.label[rows]
        super().update(rows, scores, labels, indices)
        scores[every, place] = np.inf
        close = (scores.min(axis=1) <= self.score[rows] + self.reach[rows]).nonzero()[0]
        rival = np.full_like(score, np.inf)
        if len(close):
            others = scores[close]
            others[label[close, None] == labels] = np.inf
            rival[close] = others.min(axis=1)
        better = self.score[rows] < before
        self.label[rows] = np.where(better, label, label_before)
        of_before = np.where(better, before, np.minimum(self.rival[rows], score))
        self.rival[rows] = np.where(label == label_before, np.minimum(self.rival[rows], rival), of_before)
        self.rival[rows] = np.minimum(self.rival[rows], np.where(better, rival, np.inf))
