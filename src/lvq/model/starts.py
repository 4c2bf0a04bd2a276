"""Where training starts: how many prototypes for each class, and where, and the directions of a matrix Omega.

Rules: prototypes are ordered class by class in the order of the classes; a sample of weight w counts exactly
as w copies of it, in k-means too (up to 5,000 samples of a class); a class with fewer distinct samples than prototypes
gets as many as it has, with a warning. Samples stay where they are: tensors on their device, sparse rows sparse.
"""

from collections.abc import Mapping

import numpy as np
from scipy.linalg import eigh

from lvq._warnings import warn
from lvq.model import rows
from lvq.model.samples import ArraySamples, FeatureMoments, class_means, class_moments, class_sums, rows_by_class
from lvq.typing import Array, Label

EXACT = 5000  # samples of a class up to which a weight is exactly a number of copies and k-means runs until it settles
LLOYD = 10  # iterations for larger classes, whose clusters only start the training
SUBSET, PER_CENTRE = 2500, 50  # samples of a larger class used to find its clusters, and at least for each centre
#: Fraction of the weight that may still change its cluster when k-means ends. No fraction of less than 10,000 samples
#: is equal to it: rounding never decides.
SETTLED = 0.0199
CANCELLED = 1e-12  # squared length of a mean of rows of length one, below which it has no direction
SPREAD = 0.1  # of several prototypes around the mean of their class, in deviations of the features
WITHIN_SHRINKAGE = 0.1  # of the covariance within the classes towards a multiple of the identity

STARTS = ("means", "kmeans", "samples", "random")


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
    samples: ArraySamples,
    counts: np.ndarray,
    init: str,
    random_state: np.random.RandomState,
    names: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Starting prototypes and their class indices.

    Parameters
    ----------
    samples : ArraySamples
        Samples; classes without samples get no prototypes.
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
    >>> samples = ArraySamples(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]), np.ones(3))
    >>> W, labels = start_prototypes(samples, np.array([1, 1]), "means", np.random.RandomState(0))
    >>> W.ravel().tolist(), labels.tolist()
    ([1.0, 5.0], [0, 1])
    """
    if init in ("means", "kmeans") and counts.max() == 1:  # a faster way for the most frequent starts
        mass, means = class_means(samples)
        present = np.flatnonzero(mass > 0)
        means = (means if len(present) == len(mass) else means[present]).astype(samples.dtype, copy=False)
        return _inside(means, samples.X) if samples.in_memory else means, present
    every = samples.sample(None, random_state)
    parts, labels, short = [], [], []
    for label, own in enumerate(rows_by_class(every.y, len(counts))):
        if not len(own):
            continue
        found, got = _start_class(every.take(own), int(counts[label]), init, random_state, every.X)
        if got < counts[label]:
            short.append((label, int(counts[label]), got))
        parts.append(found)
        labels += [label] * len(found)
    if short:
        _warn_short(short, names)
    return np.concatenate(parts).astype(samples.dtype, copy=False), np.array(labels)


def _start_class(
    own: ArraySamples, wanted: int, init: str, random_state: np.random.RandomState, every: Array
) -> tuple[np.ndarray, int]:
    """The prototypes of one class, and how many there are."""
    distinct = np.arange(own.n_samples)
    if own.n_samples <= EXACT or rows.distinct_rows(own.X, wanted) < wanted:
        order, distinct = rows.canonical_order(own.X)
        own = own.take(order)
    wanted = min(wanted, len(distinct))
    if init == "kmeans":
        return k_means(own, wanted, random_state), wanted
    if init == "samples":
        return rows.as_numpy(rows.dense(own.X[np.sort(random_state.choice(distinct, wanted, replace=False))])), wanted
    if init == "random":
        return random_state.uniform(*rows.column_range(every), (wanted, own.n_features)), wanted
    moments = FeatureMoments.of(own)
    spread = SPREAD * np.sqrt(moments.variances()) * random_state.standard_normal((wanted, own.n_features))
    return (moments.mean + spread if wanted > 1 else _inside(moments.mean[None], own.X)), wanted


def k_means(samples: ArraySamples, k: int, random_state: np.random.RandomState, max_iter: int = 100) -> np.ndarray:
    """k centres by k-means++ and Lloyd's iterations, where a weight is exactly a number of copies.

    The rows must be in canonical order: k-means++ then draws the same rows from weights as from copies, which
    scikit-learn's KMeans, drawing by row number, does not. Assignments are one matrix product, new centres another.
    """
    if k == 1:
        return _inside(FeatureMoments.of(samples).mean[None], samples.X)
    if samples.n_samples > EXACT:
        samples, max_iter = samples.sample(max(SUBSET, PER_CENTRE * k), random_state), LLOYD
    X, weight = samples.X, samples.weight
    xp, middle = rows.namespace(X), None if rows.is_sparse(X) else rows.round_centre(X)
    Z = X if middle is None else X - middle  # products lose no digits near the origin
    centres = rows.dense(Z[_plus_plus(Z, rows.as_numpy(rows.wide(weight)), k, random_state)])
    assigned, few = None, SETTLED * float(weight.sum())
    for _ in range(max_iter):
        nearest = _nearest(Z, centres)
        if assigned is not None and float(weight[nearest != assigned].sum()) <= few:
            break
        assigned = nearest
        sums, mass = class_sums(Z, assigned, weight, k)
        mass = mass[:, None]
        centres = xp.where(mass > 0, sums / xp.where(mass > 0, mass, xp.ones_like(mass)), centres)
    return _inside(rows.as_numpy(centres if middle is None else centres + middle), X)


def _nearest(Z: Array, centres: Array) -> Array:
    folded, squares, length = -2 * centres.T, rows.row_squares(centres), rows.block_rows(Z, centres.shape[0])
    parts = [rows.first_argmin(Z[begin : begin + length] @ folded + squares) for begin in range(0, Z.shape[0], length)]
    return rows.namespace(Z).concatenate(parts)


def _plus_plus(Z: Array, weight: np.ndarray, k: int, random_state: np.random.RandomState) -> list[int]:
    """k-means++ draws; distances by products, exactly zero between a drawn row and its copies."""
    squares = rows.as_numpy(rows.wide(rows.row_squares(Z)))
    unclear = 1e-6 * squares.max()  # products this close to zero are computed again as sums of squares
    distance, chosen = np.ones(len(squares)), list[int]()
    for draw in random_state.uniform(size=k):
        cumulative = (weight * distance).cumsum()
        chosen.append(min(int(cumulative.searchsorted(draw * cumulative[-1], side="right")), len(squares) - 1))
        row = rows.dense(Z[chosen[-1:]])[0]
        far = squares + squares[chosen[-1]] - 2 * rows.as_numpy(rows.wide(Z @ row))
        close = np.flatnonzero(far <= unclear)
        far[close] = np.square(rows.as_numpy(rows.wide(rows.dense(Z[close]) - row))).sum(axis=1)
        distance = far if len(chosen) == 1 else np.minimum(distance, far)
    return chosen


def _inside(centres: np.ndarray, X: Array) -> np.ndarray:
    """Means in the range of the samples; rounding may carry means of equal numbers past it."""
    if rows.is_tensor(X) and X.shape[0] > EXACT:
        return centres
    return np.clip(centres, *rows.column_range(X), out=centres)


def on_sphere(W: np.ndarray, labels: np.ndarray, samples: ArraySamples) -> np.ndarray:
    """Prototypes of length one: their directions, and a sample where the samples of a class cancel each other."""
    for place in np.flatnonzero(rows.row_squares(W) < CANCELLED):
        first = rows_by_class(samples.y, int(labels[-1]) + 1)[labels[place]][:1]
        W[place] = rows.as_numpy(rows.dense(samples.X[first]))[0]
    return rows.unit_rows(W)


def _warn_short(short: list[tuple[int, int, int]], names: np.ndarray | None) -> None:
    label, wanted, got = short[0]
    warn(
        f"Fewer prototypes than requested: class {label if names is None else names[label]!s} has {got} distinct "
        f"samples for {wanted} prototypes. Each class gets at most as many as it has distinct samples. Lower "
        "n_prototypes, or give a dict class -> number, to silence this."
    )


# -- directions of a matrix -------------------------------------------------------------------------------------------


def span(samples: ArraySamples) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; the identity, unless samples are fewer than features.

    Distances between samples are the same in these as in all features; 60 samples of 5,000 features need only 59 rows.
    Only distinct samples count, so a weight of two is the same as two copies.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(5, 100))
    >>> axes = span(ArraySamples(X, np.zeros(5, dtype=int), np.ones(5)))
    >>> axes.shape, np.allclose(np.linalg.norm((X[0] - X[1]) @ axes.T), np.linalg.norm(X[0] - X[1]))
    ((4, 100), True)
    """
    n = samples.n_features
    block = samples.sample(min(samples.n_samples, 2 * n) if not samples.in_memory else None, np.random.RandomState(0))
    if rows.distinct_rows(block.X, n) >= n:
        return np.eye(n)
    X, weight = rows.as_numpy(rows.dense(block.X)), rows.as_numpy(block.weight)
    largest, eps = max(float(np.abs(X).max()), np.finfo(float).tiny), float(np.finfo(X.dtype).eps)
    X = X.astype(np.float64, copy=False) / largest  # squares could overflow
    centred = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    seen = sizes > sizes[0] * max(X.shape) * eps
    return axes[seen] if seen.any() else np.eye(n)


def discriminant_directions(samples: ArraySamples, rank: int) -> np.ndarray:
    """Directions that separate the class means best against the spread within the classes, then principal axes.

    A truncated identity would use only the first features. The covariance within the classes is shrunk towards a
    multiple of the identity, so constant features and fewer samples than features cause no error.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 9.0], [0.1, -9.0], [1.0, 9.0], [1.1, -9.0]])
    >>> samples = ArraySamples(X, np.array([0, 0, 1, 1]), np.ones(4))
    >>> int(abs(discriminant_directions(samples, 1)).argmax())
    0
    """
    n = samples.n_features
    few = samples.n_samples < 2 * n
    if few and not samples.in_memory:
        samples = samples.sample(samples.n_samples, np.random.RandomState(0))
    axes = span(samples) if few else np.eye(n)
    if len(axes) == n:
        return _directions(samples, rank, n)
    X = rows.wide(rows.dense(samples.X))
    images = ArraySamples(X @ rows.like(axes.T, X), samples.y, samples.weight)
    inside = _directions(images, min(rank, len(axes)), n) @ axes
    if rank <= len(axes):  # all of them lie where samples differ
        return inside
    # then rows of the identity, less their parts along the others
    further = np.linalg.qr(np.concatenate((axes, np.eye(rank - len(axes), n))).T)[0].T[len(axes) :]
    return np.concatenate((inside, np.linalg.norm(inside, axis=1).min() * further))


def _directions(samples: ArraySamples, rank: int, n_features: int) -> np.ndarray:
    mass, means, within = class_moments(samples)
    overall, n = mass @ means / mass.sum(), len(within)
    spread = np.trace(within) / n_features
    if spread == 0:  # nothing varies inside any class
        spread, within = 1.0, np.eye(n)
    within = (1 - WITHIN_SHRINKAGE) * within + WITHIN_SHRINKAGE * spread * np.eye(n)
    centred = (means - overall) * np.sqrt(mass / mass.sum())[:, None]
    n_discriminant, found = min(rank, len(mass) - 1), np.empty((0, n))
    if n_discriminant > 0:
        _, directions = eigh(centred.T @ centred, within, subset_by_index=(n - n_discriminant, n - 1))
        found = directions.T[::-1]
    if rank == n_discriminant:
        return found
    # orthogonal to the discriminant ones, the axes of largest spread, on the scale of a typical spread within
    basis, _ = np.linalg.qr(found.T)
    rest = np.eye(n) - basis @ basis.T
    _, axes = eigh(rest @ within @ rest, subset_by_index=(n - rank + n_discriminant, n - 1))
    return np.concatenate((found, axes.T[::-1] / np.sqrt(spread)))
