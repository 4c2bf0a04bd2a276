"""Starts of prototypes and matrices from sparse rows, in sparse arithmetic: memory grows with the stored numbers.

The results are those of dense rows up to rounding. The covariance within the classes, features by features, is never
made: it is a product of the samples with their transpose, and only its products with vectors are needed.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from lvq.model.class_sums import SETTLED
from lvq.model.sparse_rows import row_keys, row_squares, take_rows, with_data

FILLED = 512  # features up to which all axes of a symmetric product are computed from the whole matrix
SHRINKAGE = 0.1  # of the covariance within the classes towards a multiple of the identity, as for dense rows
PRECISION, MAX_STEPS = 1e-12, 2000  # of the conjugate gradients


def canonical_order(samples: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The order of dense rows by their bytes, and the places where a new row begins."""
    keys = row_keys(samples)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    new = [place for place, row in enumerate(order) if place == 0 or keys[row] != keys[order[place - 1]]]
    return np.array(order, dtype=np.intp), np.array(new, dtype=np.intp)


def distinct_rows(X: sparse.csr_array, enough: int) -> int:
    """Number of distinct rows, counted up to `enough`."""
    seen: set[bytes] = set()
    for begin in range(0, X.shape[0], 1024):
        seen.update(row_keys(take_rows(X, slice(begin, begin + 1024))))
        if len(seen) >= enough:
            return enough
    return len(seen)


def weighted_mean(samples: sparse.csr_array, weight: np.ndarray) -> np.ndarray:
    """Weighted mean of the rows."""
    return (weight @ samples) / weight.sum()


def deviation(samples: sparse.csr_array, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Weighted standard deviation of each feature."""
    apart = with_data(samples, (samples.data - mean[samples.indices]) ** 2)
    stored = weighted_mean(with_data(samples, np.ones_like(samples.data)), weight)
    return np.sqrt(weighted_mean(apart, weight) + np.maximum(1 - stored, 0) * mean**2)


def k_means(
    samples: sparse.csr_array, weight: np.ndarray, k: int, random_state: np.random.RandomState, max_iter: int
) -> np.ndarray:
    """k centres by k-means++ and Lloyd's iterations; rows in canonical order."""
    weight = weight.astype(np.float64, copy=False)
    centres = _plus_plus(samples, weight, k, random_state).toarray()
    assigned = None
    for _ in range(max_iter):
        nearest = (samples @ (-2 * centres.T) + row_squares(centres)).argmin(axis=1)
        if assigned is not None and weight[nearest != assigned].sum() <= SETTLED * weight.sum():
            break
        assigned = nearest
        mass = np.bincount(assigned, weight, k)
        full = mass > 0
        centres[full] = (_members(assigned, weight, k) @ samples).toarray()[full] / mass[full, None]
    return centres


def _members(assigned: np.ndarray, weight: np.ndarray, k: int) -> sparse.csr_array:
    """Weights of the samples of each cluster, (k, n_samples)."""
    return sparse.csr_array((weight, (assigned, np.arange(len(assigned)))), shape=(k, len(assigned)))


def _plus_plus(
    Z: sparse.csr_array, weight: np.ndarray, k: int, random_state: np.random.RandomState
) -> sparse.csr_array:
    """k-means++ draws; what a product cannot tell from zero is computed from the differences of the rows."""
    squares = row_squares(Z)
    distance = np.ones(Z.shape[0])
    chosen: list[int] = []
    for draw in random_state.uniform(size=k):
        cumulative = np.cumsum(weight * distance)
        chosen.append(min(int(np.searchsorted(cumulative, draw * cumulative[-1], side="right")), Z.shape[0] - 1))
        row = Z[[chosen[-1]]].toarray()[0]
        far = (squares - 2 * (Z @ row) + squares[chosen[-1]]).astype(np.float64)
        close = np.flatnonzero(far <= 1e-6 * squares.max())
        far[close] = row_squares(Z[close] - Z[np.full(len(close), chosen[-1])])
        distance = far if len(chosen) == 1 else np.minimum(distance, far)
    return Z[chosen]


class Within(NamedTuple):
    """The shrunk covariance within the classes, as products with vectors."""

    X: sparse.csr_array
    y: np.ndarray
    weight: np.ndarray  # of sum one
    mass: np.ndarray  # of the classes, of sum one
    means: np.ndarray  # (C, n)
    spread: float  # within the classes, of a feature
    ridge: float  # of the identity

    def times(self, V: np.ndarray) -> np.ndarray:
        """Product with the columns of V: ``0.9 sum_i f_i (x_i - m_y)(x_i - m_y)'V + ridge V``."""
        images = self.X @ V - (self.means @ V)[self.y]
        images *= self.weight[:, None]
        sums = self.X.T @ images  # of deviations from the class means only their products with samples remain
        return (1 - SHRINKAGE) * sums + self.ridge * V

    def solve(self, B: np.ndarray) -> np.ndarray:
        """Columns whose products are the columns of B, by conjugate gradients for all of them at once."""
        solved, residual = np.zeros_like(B), B.copy()
        direction, size = B.copy(), (B * B).sum(axis=0)
        target = PRECISION**2 * size
        for _ in range(MAX_STEPS):
            if (size <= target).all():
                break
            product = self.times(direction)
            step = _ratio(size, (direction * product).sum(axis=0))
            solved += step * direction
            residual -= step * product
            before, size = size, (residual * residual).sum(axis=0)
            direction = residual + _ratio(size, before) * direction
        return solved


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Quotients, 0 where the divisor is."""
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)


def discriminant_directions(X: sparse.csr_array, y: np.ndarray, weight: np.ndarray, rank: int) -> np.ndarray:
    """Directions that separate the class means best, then principal axes; signs are arbitrary.

    Of B'B v = l A v, with A the shrunk covariance within the classes and B the class means around their centre, all v
    with l > 0 are A^-1 B'u with u an eigenvector of B A^-1 B', which has only as many rows as there are classes.
    """
    within, centred = _moments(X, y, weight)
    n_discriminant = min(rank, len(within.mass) - 1)
    basis = within.solve(centred.T)
    small = centred @ basis
    values, u = eigh((small + small.T) / 2)
    n_discriminant = min(n_discriminant, int((values > 1e-10 * values[-1]).sum()))  # fewer where class means coincide
    rows = (basis @ u[:, ::-1][:, :n_discriminant]).T
    lengths = np.sqrt(np.maximum((rows * within.times(rows.T).T).sum(axis=1), np.finfo(float).tiny))
    rows /= lengths[:, None]
    if rank == n_discriminant:
        return rows
    axes = _principal_axes(within, rows, rank - n_discriminant)
    return np.concatenate((rows, axes / np.sqrt(within.spread)))


def _moments(X: sparse.csr_array, y: np.ndarray, weight: np.ndarray) -> tuple[Within, np.ndarray]:
    """The covariance within the classes, and the class means around their centre times the roots of their masses."""
    X, weight = X.astype(np.float64, copy=False), weight.astype(np.float64)
    members = _members(y, weight, int(y.max()) + 1)
    mass = members @ np.ones(len(y))
    means = (members @ X).toarray() / np.maximum(mass, np.finfo(float).tiny)[:, None]
    total = mass.sum()
    mass, fraction = mass / total, weight / total
    spread = float(fraction @ row_squares(X) - mass @ row_squares(means)) / X.shape[1]
    if spread <= 1e-14 * float(fraction @ row_squares(X)) / X.shape[1]:  # nothing varies inside any class
        within = Within(X * 0.0, y, fraction, mass, means * 0.0, 1.0, 1.0)
    else:
        within = Within(X, y, fraction, mass, means, spread, SHRINKAGE * spread)
    return within, (means - mass @ means) * np.sqrt(mass)[:, None]


def _principal_axes(within: Within, rows: np.ndarray, count: int) -> np.ndarray:
    """Axes of largest spread that are orthogonal to some rows, as rows of length one."""
    basis, _ = np.linalg.qr(rows.T)
    n = rows.shape[1]

    def times(v: np.ndarray) -> np.ndarray:
        v = v.reshape(n, -1)
        v = v - basis @ (basis.T @ v)
        product = within.times(v)
        return product - basis @ (basis.T @ product)

    if n <= FILLED:
        whole = times(np.eye(n))
        _, axes = eigh((whole + whole.T) / 2, subset_by_index=(n - count, n - 1))
        return axes.T[::-1]
    start = np.random.RandomState(0).standard_normal(n)
    _, axes = eigsh(LinearOperator((n, n), matvec=times, dtype=np.float64), count, which="LA", v0=start)
    return axes.T[::-1]
