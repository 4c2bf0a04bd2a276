"""Starting prototypes: how many for each class, and where.

Rules: prototypes are ordered class by class in the order of the classes; a sample of weight w counts exactly
as w copies of it, in k-means too (up to 5,000 samples of a class); a class with fewer distinct samples than prototypes
gets as many as it has, with a warning.
"""

import warnings
from collections.abc import Mapping

import numpy as np

from lvq.model import sparse_starts, tensor_starts
from lvq.model.arrays import as_numpy, is_tensor, like, namespace, numpy_type, rounded_centre
from lvq.model.class_sums import SETTLED, class_sums, rows_by_class
from lvq.model.directions import distinct_rows
from lvq.model.sparse_rows import column_range, filled, is_sparse
from lvq.typing import Array, Label

EXACT = 5000  # samples of a class up to which a weight is exactly a number of copies and k-means runs until it settles
LLOYD = 10  # iterations for larger classes, whose clusters only start the training
SUBSET, PER_CENTRE = 2500, 50  # of its samples, and at least for each centre, its clusters are found by so many

STARTS = ("means", "kmeans", "samples", "random")


def distribute(total: int, n_classes: int) -> np.ndarray:
    """Distribute a total number of prototypes over the classes; the first classes get the remainder.

    Examples
    --------
    >>> distribute(10, 3).tolist()
    [4, 3, 3]
    """
    if total < n_classes:
        raise ValueError(f"n_prototypes_total must be at least the number of classes ({n_classes}), got {total}.")
    counts = np.full(n_classes, total // n_classes)
    counts[: total % n_classes] += 1
    return counts


def prototypes_per_class(n_prototypes: int | Mapping[Label, int], classes: np.ndarray) -> np.ndarray:
    """Number of prototypes of each class, from one number for all or a dict class -> number.

    Examples
    --------
    >>> import numpy as np
    >>> prototypes_per_class({"a": 2, "b": 1}, np.array(["a", "b"])).tolist()
    [2, 1]
    """
    if not isinstance(n_prototypes, Mapping):
        return np.full(len(classes), n_prototypes)
    known = set(classes.tolist())
    unknown = [key for key in n_prototypes if key not in known]
    missing = [str(label) for label in classes if label not in n_prototypes]
    if unknown or missing:
        raise ValueError(
            "n_prototypes must be a dict with one entry for each class; "
            f"missing: {missing or 'none'}, not a class: {unknown or 'none'}. The classes are {classes.tolist()}."
        )
    counts = np.array([n_prototypes[label] for label in classes])
    if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1:
        raise ValueError(f"n_prototypes must give every class a whole number of at least 1, got {dict(n_prototypes)}.")
    return counts


def start_prototypes(
    X: Array,
    y: Array,
    weight: Array,
    counts: np.ndarray,
    init: str,
    random_state: np.random.RandomState,
    names: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Starting prototypes and their class indices.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples; tensors, also y and the weights, stay on their device.
    y : array of shape (n_samples,)
        Class indices, 0 .. n_classes - 1, each present.
    weight : array of shape (n_samples,)
        Positive weights.
    counts : ndarray of shape (n_classes,)
        Number of prototypes of each class.
    init : {"means", "kmeans", "samples", "random"}
        Class means with a small spread, k-means in each class, random samples of the class, or random places within the
        range of each feature.
    random_state : RandomState
        Source of randomness.
    names : ndarray of shape (n_classes,), optional
        Names of the classes, for the warning.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1])
    >>> W, labels = start_prototypes(X, y, np.ones(3), np.array([1, 1]), "means", np.random.RandomState(0))
    >>> W.ravel().tolist(), labels.tolist()
    ([1.0, 5.0], [0, 1])
    """
    if init in ("means", "kmeans") and counts.max() == 1:  # a faster way for the most frequent starts
        return class_means(X, y, weight, len(counts)), np.arange(len(counts))
    parts, short = [], []
    for label, (wanted, inside) in enumerate(zip(counts, rows_by_class(y, len(counts)))):
        samples, sample_weight = X[inside], weight[inside]
        wanted, distinct = int(wanted), np.arange(samples.shape[0])
        if samples.shape[0] <= EXACT or distinct_rows(samples, wanted) < wanted:
            order, distinct = canonical_order(samples)
            samples, sample_weight = samples[order], sample_weight[order]
        if len(distinct) < wanted:
            short.append((label, wanted, len(distinct)))
            wanted = len(distinct)
        parts.append(_start_class(samples, sample_weight, distinct, wanted, init, random_state, X))
    if short:
        _warn_short(short, names)
    labels = np.repeat(np.arange(len(counts)), [len(part) for part in parts])
    return np.concatenate(parts).astype(numpy_type(X), copy=False), labels


def class_means(X: Array, y: Array, weight: Array, n_classes: int) -> np.ndarray:
    """Weighted mean of each class."""
    if is_tensor(X):
        sums, mass = tensor_starts.label_sums(X, y, weight, n_classes)
        return _inside(as_numpy(sums / mass.to(X.dtype)[:, None]), X)
    sums, mass = class_sums(X, y, weight, n_classes)
    sums /= mass[:, None]  # in place: of many sparse features the means are larger than the samples
    return _inside(sums, X)


def canonical_order(samples: Array) -> tuple[Array, np.ndarray]:
    """An order of the rows that does not depend on the order they came in, and the places where a new row begins.

    Rows are sorted by their bytes; the order only has to be the same for the same rows.
    """
    if is_tensor(samples):
        return tensor_starts.canonical_order(samples)
    if is_sparse(samples):
        return sparse_starts.canonical_order(samples)
    rows = np.ascontiguousarray(samples) + 0.0  # the sum turns minus zero into zero
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    order = keys.argsort(kind="stable")
    keys, new = keys[order], np.ones(len(rows), dtype=bool)
    new[1:] = keys[1:] != keys[:-1]
    return order, new.nonzero()[0]


def _start_class(
    samples: Array,
    weight: Array,
    distinct: np.ndarray,
    wanted: int,
    init: str,
    random_state: np.random.RandomState,
    X: Array,
) -> np.ndarray:
    if init == "kmeans":
        return weighted_k_means(samples, weight, wanted, random_state)
    if init == "samples":
        return as_numpy(filled(samples[np.sort(random_state.choice(distinct, wanted, replace=False))]))
    if init == "random":
        low, high = _range(X)
        return random_state.uniform(low, high, (wanted, X.shape[1]))
    mean = _mean(samples, weight)
    deviation = _deviation(samples, weight, mean)
    spread = 0.1 * deviation * random_state.standard_normal((wanted, X.shape[1]))
    return mean + spread if wanted > 1 else _inside(mean[None], samples)


def _deviation(samples: Array, weight: Array, mean: np.ndarray) -> np.ndarray:
    if is_sparse(samples):
        return sparse_starts.deviation(samples, weight, mean)
    return np.sqrt(_mean((samples - like(mean, samples)) ** 2, weight))


def _mean(samples: Array, weight: Array) -> np.ndarray:
    if is_tensor(samples):
        return as_numpy(tensor_starts.weighted_mean(samples, weight))
    if is_sparse(samples):
        return sparse_starts.weighted_mean(samples, weight)
    return np.average(samples, axis=0, weights=weight)


def weighted_k_means(
    samples: Array, weight: Array, k: int, random_state: np.random.RandomState, max_iter: int = 100
) -> np.ndarray:
    """k centres by k-means++ and Lloyd's iterations, where a weight is exactly a number of copies.

    The rows must be in canonical order: k-means++ then draws the same rows from weights as from copies, which
    scikit-learn's KMeans, drawing by row number, does not. Assignments are one matrix product, new centres another.
    """
    exact = samples.shape[0] <= EXACT
    if k == 1:
        return _inside(_mean(samples, weight)[None], samples)
    if not exact:
        samples, weight = _subset(samples, weight, max(SUBSET, PER_CENTRE * k), random_state)
    if is_tensor(samples):
        centres = tensor_starts.k_means(samples, weight, k, random_state, max_iter if exact else LLOYD, exact)
        return _inside(as_numpy(centres), samples)
    if is_sparse(samples):
        return _inside(sparse_starts.k_means(samples, weight, k, random_state, max_iter if exact else LLOYD), samples)
    weight = weight.astype(np.float64, copy=False)
    low, high = _range(samples)
    middle = rounded_centre(samples.mean(axis=0), low, high)
    Z = samples - middle  # products lose no digits near the origin
    centres = _plus_plus(Z, weight, k, random_state)
    assigned, few = np.full(len(Z), -1), SETTLED * float(weight.sum())
    for _ in range(max_iter if exact else LLOYD):
        scores = Z @ (-2 * centres).T
        scores += np.einsum("ij,ij->i", centres, centres)
        nearest = scores.argmin(axis=1)
        if weight @ (nearest != assigned) <= few:
            break
        assigned = nearest
        sums, mass = class_sums(Z, assigned, weight, k)
        present = mass.nonzero()[0]
        centres[present] = sums[present] / mass[present, None]
    return np.clip(centres + middle, low, high)


def _subset(samples: Array, weight: Array, size: int, random_state: np.random.RandomState) -> tuple[Array, Array]:
    """So many of the samples, in their order, or all of them."""
    n_samples = samples.shape[0]
    if n_samples <= size:
        return samples, weight
    rows = np.sort(random_state.choice(n_samples, size, replace=False))
    return samples[rows], weight[rows]


def _inside(centres: np.ndarray, samples: Array) -> np.ndarray:
    """Means, in place, in the range of the samples; rounding may carry those of equal numbers past it."""
    return np.clip(centres, *_range(samples), out=centres)


def _range(samples: Array) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each feature."""
    if is_sparse(samples):
        return column_range(samples)
    xp = namespace(samples)
    return as_numpy(xp.amin(samples, 0)), as_numpy(xp.amax(samples, 0))


def _plus_plus(Z: np.ndarray, weight: np.ndarray, k: int, random_state: np.random.RandomState) -> np.ndarray:
    """k-means++ draws; distances by products, those of a drawn row to its copies exactly zero."""
    squares = np.einsum("ij,ij->i", Z, Z)
    unclear = 1e-6 * squares.max()  # what a product cannot tell from zero is computed as a sum of squares
    distance = np.ones(len(Z))
    chosen: list[int] = []
    for draw in random_state.uniform(size=k):
        cumulative = (weight * distance).cumsum()
        chosen.append(min(int(cumulative.searchsorted(draw * cumulative[-1], side="right")), len(Z) - 1))
        if len(chosen) == k:
            break
        row = Z[chosen[-1]]
        far = (Z @ row).astype(np.float64, copy=False)
        far *= -2
        far += squares
        far += squares[chosen[-1]]
        close = (far <= unclear).nonzero()[0]
        far[close] = np.square(Z[close] - row).sum(axis=1, dtype=np.float64) if len(close) > 1 else 0.0
        distance = far if len(chosen) == 1 else np.minimum(distance, far, out=distance)
    return Z[chosen].copy()


def _warn_short(short: list[tuple[int, int, int]], names: np.ndarray | None) -> None:
    shown = "; ".join(
        f"class {names[label] if names is not None else label!s} has {got} distinct samples for {wanted} prototypes"
        for label, wanted, got in short[:5]
    )
    more = f"; and {len(short) - 5} more" if len(short) > 5 else ""
    warnings.warn(
        f"Fewer prototypes than requested: {shown}{more}. Each gets as many as it has distinct samples. "
        "Lower n_prototypes, or give a dict class -> number, to silence this.",
        UserWarning,
        stacklevel=2,
    )
