"""Starts from tensors, on their device: what `starts` and `directions` need and torch spells otherwise than NumPy.

Random numbers come from NumPy's random state and the order of rows is the same, so the results are those of arrays up
to rounding. Samples never leave the device, and nothing larger than a block is held besides them.
"""

from collections.abc import Iterator

import numpy as np

from lvq.model.arrays import as_numpy, first_argmin, like, namespace, numpy_type, round_centre, wide, zeros
from lvq.model.class_sums import SETTLED
from lvq.typing import Array

BLOCK = 2**24  # numbers of a block


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows whose blocks of so many columns are of bounded size."""
    size = max(1, BLOCK // max(1, columns))
    return (slice(begin, min(begin + size, rows)) for begin in range(0, rows, size))


def canonical_order(samples: Array) -> tuple[Array, np.ndarray]:
    """As `starts.canonical_order`: an order by the bytes of the rows, and the places where a new row begins."""
    torch, (count, features) = namespace(samples), samples.shape
    rows = (samples + 0.0).contiguous()  # the sum turns minus zero into zero
    if rows.device.type not in ("cpu", "cuda"):  # others cannot sort rows
        rows = rows.cpu()
    size = rows.element_size()
    swapped = rows.view(torch.uint8).reshape(count, features, size).flip(-1).contiguous()
    whole = torch.int32 if size == 4 else torch.int64
    keys = swapped.view(whole).reshape(count, features) ^ torch.iinfo(whole).min  # bytes are compared without a sign
    _, rank = torch.unique(keys, dim=0, return_inverse=True)
    ranks, order = torch.sort(rank, stable=True)
    return order.to(samples.device), np.flatnonzero(np.diff(as_numpy(ranks), prepend=-1))


def distinct_rows(X: Array, enough: int) -> int:
    """Number of distinct rows, counted up to `enough`; most often the first rows are enough."""
    torch, seen, found = namespace(X), 2 * enough, 0
    rows = X if X.device.type in ("cpu", "cuda") else X.cpu()
    while found < min(enough, X.shape[0]):
        found = torch.unique(rows[:seen], dim=0).shape[0]
        if seen >= X.shape[0]:
            break
        seen *= 8
    return min(found, enough)


def label_sums(X: Array, index: Array, weight: Array, count: int) -> tuple[Array, Array]:
    """Weighted sum of the rows with each index, (count, n_features), and the sums of their weights, by products."""
    sums, mass = zeros((count, X.shape[1]), X), wide(zeros((count,), X))
    for rows in blocks(X.shape[0], count):
        one_hot = zeros((rows.stop - rows.start, count), X)
        one_hot.scatter_(1, index[rows, None], weight[rows, None].to(X.dtype))
        sums += one_hot.T @ X[rows]
        mass += wide(one_hot.sum(0))
    return sums, mass


def weighted_mean(X: Array, weight: Array) -> Array:
    """Mean of the rows."""
    return (weight / weight.sum()) @ X


def k_means(
    samples: Array, weight: Array, k: int, random_state: np.random.RandomState, max_iter: int, until_settled: bool
) -> Array:
    """k centres by k-means++ and Lloyd's iterations; without `until_settled` nothing is read back."""
    torch, middle = namespace(samples), round_centre(samples)
    Z = samples - middle  # products lose no digits near the origin
    centres = _plus_plus(Z, wide(weight), k, random_state)
    assigned = None
    for _ in range(max_iter):
        nearest = _nearest(Z, centres)
        if until_settled and assigned is not None and weight[nearest != assigned].sum() <= SETTLED * weight.sum():
            break
        assigned = nearest
        sums, mass = label_sums(Z, assigned, weight, k)
        mass = mass.to(Z.dtype)[:, None]
        centres = torch.where(mass > 0, sums / mass, centres)
    return centres + middle


def _nearest(Z: Array, centres: Array) -> Array:
    torch, squares = namespace(Z), (centres * centres).sum(1)
    parts = [
        first_argmin(torch.addmm(squares, Z[rows], centres.T, alpha=-2))
        for rows in blocks(Z.shape[0], centres.shape[0])
    ]
    return torch.cat(parts)


def _plus_plus(Z: Array, weight: Array, k: int, random_state: np.random.RandomState) -> Array:
    """k-means++ draws; a drawn row is known to the device alone."""
    torch, last = namespace(Z), Z.shape[0] - 1
    distance, chosen = torch.ones_like(weight), list[Array]()
    for draw in random_state.uniform(size=k):
        cumulative = (weight * distance).cumsum(0)
        index = torch.searchsorted(cumulative, float(draw) * cumulative[-1:], right=True).clamp(max=last)
        row = Z.index_select(0, index)
        parts = [wide(Z[rows] - row).square().sum(1) for rows in blocks(Z.shape[0], Z.shape[1])]
        distance = torch.cat(parts) if not chosen else torch.minimum(distance, torch.cat(parts))
        chosen.append(row)
    return torch.cat(chosen)


def class_moments(X: Array, y: Array, weight: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight and mean of each class, and the covariance within the classes; arrays in float64."""
    n = X.shape[1]
    n_classes = int(y.max()) + 1
    sums, mass, within = wide(zeros((n_classes, n), X)), wide(zeros((n_classes,), X)), wide(zeros((n, n), X))
    for rows in blocks(X.shape[0], n):
        part, part_mass = label_sums(wide(X[rows]), y[rows], weight[rows], n_classes)
        sums, mass = sums + part, mass + part_mass
    means = sums / mass.clamp(min=float(np.finfo(numpy_type(mass)).tiny))[:, None]
    fraction = wide(weight) / mass.sum()
    for rows in blocks(X.shape[0], n):
        residual = (wide(X[rows]) - means[y[rows]]) * fraction[rows, None].sqrt()
        within += residual.T @ residual
    mass, means, within = (as_numpy(part).astype(np.float64) for part in (mass, means, within))
    return mass, means, within


def row_space(X: Array, weight: Array) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; none where all are equal."""
    scaled = wide(X) / max(float(abs(X).max()), float(np.finfo(numpy_type(X)).tiny))  # squares could overflow
    centred = (scaled - weighted_mean(scaled, wide(weight))) * wide(weight)[:, None].sqrt()
    _, sizes, rows = namespace(X).linalg.svd(centred, full_matrices=False)
    return as_numpy(rows[sizes > sizes[0] * max(X.shape) * float(np.finfo(numpy_type(X)).eps)]).astype(np.float64)


def images(X: Array, rows: np.ndarray) -> Array:
    """Products of samples with given rows, in float64."""
    wider = wide(X)
    return wider @ like(rows, wider).T
