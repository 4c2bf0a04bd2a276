"""Importance of features: how much of what the model decides by can be explained by each feature alone.

The model decides by its class probabilities p_c(x), before any calibration, and near a border by the difference of two
distances, f_jk = H_k - H_j, with j the winner and k the rival. The importance of feature l is the fraction of the
variance of these functions over the training samples that a curve in x_l alone explains: the mean of that of the
probabilities (the sum over the classes) and that of the differences (the mean over the samples' pairs of winner and
rival, each as a function of all samples). The curve is a cubic polynomial of t = tanh((x_l - mean)/deviation), fitted
by least squares; tanh keeps outliers from determining it.

- Only the model's outputs count: a change of Lambda on directions in which samples do not vary changes no distance, so
  it changes no importance. The diagonal of Lambda is arbitrary there.
- Features that carry the same information have the same importance, however Lambda divides its weight among them.
- The unit of a feature does not count.
- Of more than 64 classes or prototypes only those that most samples are nearest to count.
- Probabilities alone would miss a feature that only counts together with others, as in XOR; the prototypes are where
  such a feature has an effect of its own. Differences alone repeat less well from sample to sample.

With P the projection on the curves, each part is tr(Q F'PF)/tr(Q F'F) of the centred outputs F: the probabilities with
Q = I, the distances with Q the Laplacian of the graph of pairs, as sum_jk m_jk |P(F_k - F_j)|^2 = tr(L F'PF). All of it
follows from sums over the samples.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import sparse

from lvq.model.arrays import wide
from lvq.model.output_moments import (
    OUTPUTS,
    SMALLEST,
    Curve,
    Moments,
    Outputs,
    OutputSums,
    SampleSums,
    as_vector,
    fitted_curve,
    sparse_powers,
)
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import column_counts, is_sparse

BLOCK, SPARSE_BLOCK = 2**20, 2**16  # numbers of a block of samples; stored ones of sparse samples
FEATURES, SPARSE_FEATURES = 2**12, 2**9  # whose covariances are held at a time
# Numbers of samples in memory, and of their outputs; of more a random part of the samples is used
MOST, MOST_OUTPUTS = 2**24, 2**22


def feature_importances(model: PrototypeModel, samples: ArraySamples) -> np.ndarray:
    """Importances of sum one; equal ones where no feature explains anything.

    Parameters
    ----------
    model : PrototypeModel
        The fitted model.
    samples : ArraySamples
        Training samples; tensors stay on their device, partitions where they are.

    Returns
    -------
    importances : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]), np.array([0, 1, 1])
    >>> model = PrototypeModel(np.array([[0.0, 1.0], [1.5, 1.0]]), np.array([0, 1]), np.array([0, 1]))
    >>> feature_importances(model, ArraySamples(X, y, np.ones(3))).tolist()
    [1.0, 0.0]
    """
    return of_sum_one(explained_fractions(model, samples))


def of_sum_one(fractions: np.ndarray) -> np.ndarray:
    """Nonnegative numbers divided by their sum; equal ones where it is zero."""
    total = float(fractions.sum())
    return fractions / total if total > 0 else np.full(len(fractions), 1 / len(fractions))


def explained_fractions(model: PrototypeModel, samples: ArraySamples) -> np.ndarray:
    """Fraction of the variance of the model's outputs that each feature alone explains, (n_features,)."""
    samples = _in_bounds(samples, model)
    rows, few = _block_rows(samples, model), samples.X[:OUTPUTS] if is_sparse(samples.X) else None
    curve, outputs = fitted_curve(samples, rows), Outputs.uncalibrated(model, few).most_frequent(samples, rows)
    fractions = []
    for found in (_moments if few is None else _sparse_moments)(samples, curve, outputs, rows):
        weighting = output_weighting(found.covariance, found.pairs, len(outputs.classes))
        fractions.append(explained(*found.of_features(), weighting, curve.smallest)[0])
    return np.concatenate(fractions)


def _moments(samples: ArraySamples, curve: Curve, outputs: Outputs, rows: int) -> Iterator[Moments]:
    """Moments of some features after another, each by a pass over the samples."""
    for begin in range(0, samples.n_features, FEATURES):
        part = slice(begin, min(begin + FEATURES, samples.n_features))
        yield Moments.of(samples.reduce(SampleSums(curve, outputs, part), rows), part.stop - begin, outputs)


def _sparse_moments(samples: ArraySamples, curve: Curve, outputs: Outputs, rows: int) -> Iterator[Moments]:
    """The same; outputs are computed once, and columns taken out of many rows at a time."""
    weight = wide(samples.weight)
    weighted, sums = _joined(samples.reduce(lambda block: [OutputSums.of(outputs, block.X, wide(block.weight))], rows))
    for part, X, columns in _columns(samples.X):
        inside = ArraySamples(X, np.arange(X.shape[0]), weight)
        powers = partial(_powers, curve.of_features(part), weighted, columns)
        total = inside.reduce(powers, max(1, SPARSE_BLOCK * X.shape[0] // max(1, X.nnz)))
        yield Moments.of(as_vector(weight.sum(), total, *sums), part.stop - part.start, outputs)


def _joined(blocks: list[OutputSums]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weighted outputs of all blocks, and their sums."""
    sums = [np.sum(parts, axis=0) for parts in zip(*(block.sums for block in blocks))]
    return np.concatenate([block.weighted for block in blocks]), sums


def _powers(curve: Curve, weighted: np.ndarray, columns: slice, block: Block) -> np.ndarray:
    """Sums of a block whose y are the numbers of its rows."""
    return as_vector(*sparse_powers(curve, block.X[:, columns], block.weight, weighted[block.y]))


def _columns(X: sparse.csr_array) -> Iterator[tuple[slice, sparse.csr_array, slice]]:
    """Some columns after another, an array that holds them, and their place in it.

    Columns that hold few numbers are taken out of all rows, many at a time; others stay where they are.
    """
    n = X.shape[1]
    parts = [slice(begin, min(begin + SPARSE_FEATURES, n)) for begin in range(0, n, SPARSE_FEATURES)]
    stored = np.add.reduceat(column_counts(X), range(0, n, SPARSE_FEATURES)).cumsum()
    first = 0
    while first < len(parts):
        most = SPARSE_BLOCK + (stored[first - 1] if first else 0)
        end = int(np.searchsorted(stored, most, side="right"))
        if end <= first + 1:
            yield parts[first], X, parts[first]
            first += 1
            continue
        start = parts[first].start
        found = X[:, start : parts[end - 1].stop].tocsc()
        for part in parts[first:end]:
            yield part, found[:, part.start - start : part.stop - start].tocsr(), slice(None)
        first = end


def explained(
    gram: np.ndarray, cross: np.ndarray, weighting: np.ndarray, smallest: float = SMALLEST
) -> tuple[np.ndarray, np.ndarray]:
    """tr(Q c'G^-1 c) for each of several covariances G (..., d, d) and covariances with the outputs c (..., d, C).

    Directions without variance are left out; the second result is the number of those that remain.
    """
    scale = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 0))
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    sizes, axes = np.linalg.eigh(gram * inverse[..., :, None] * inverse[..., None, :])
    kept = sizes > smallest
    along = np.swapaxes(axes, -1, -2) @ (cross * inverse[..., None])
    squares = ((along @ weighting) * along).sum(axis=-1)
    return np.where(kept, squares / np.where(kept, sizes, 1), 0).sum(axis=-1), kept.sum(axis=-1)


def output_weighting(covariance: np.ndarray, pairs: np.ndarray, n_classes: int) -> np.ndarray:
    """Q: both parts divided by their variances, so that tr(Q covariance) is one."""
    graph = pairs + pairs.T
    parts = np.eye(n_classes), np.diag(graph.sum(axis=1)) - graph
    ends, weighting = (slice(0, n_classes), slice(n_classes, None)), np.zeros_like(covariance)
    variances = [float((part * covariance[end, end]).sum()) for part, end in zip(parts, ends)]
    present = [variance > np.finfo(float).tiny for variance in variances]
    for part, end, variance, is_present in zip(parts, ends, variances, present):
        if is_present:
            weighting[end, end] = part / (variance * sum(present))
    return weighting


def _numbers(samples: ArraySamples, model: PrototypeModel) -> tuple[float, int]:
    """Stored values of a sample, and its distances and probabilities."""
    stored = samples.X.nnz / samples.n_samples if is_sparse(samples.X) else samples.n_features
    return max(1.0, stored), len(model.labels) + len(model.classes)


def _block_rows(samples: ArraySamples, model: PrototypeModel) -> int:
    """Rows of a block."""
    return max(1, int((SPARSE_BLOCK if is_sparse(samples.X) else BLOCK) / max(_numbers(samples, model))))


def _in_bounds(samples: ArraySamples, model: PrototypeModel) -> ArraySamples:
    """The samples, missing values filled; a random part of very many in memory."""
    samples = samples.filled()
    if not samples.in_memory:
        return samples
    stored, outputs = _numbers(samples, model)
    most = max(500, min(int(MOST / stored), MOST_OUTPUTS // outputs))
    return samples if samples.n_samples <= most else ArraySamples(*samples.sample(most, np.random.RandomState(0)))
