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
- Probabilities alone would miss a feature that only counts together with others, as in XOR; the prototypes are where
  such a feature has an effect of its own. Differences alone repeat less well from sample to sample.

With P the projection on the curves, each part is tr(Q F'PF)/tr(Q F'F) of the centred outputs F: the probabilities with
Q = I, the distances with Q the Laplacian of the graph of pairs, as sum_jk m_jk |P(F_k - F_j)|^2 = tr(L F'PF). All of it
follows from sums over the samples.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from lvq.model.arrays import as_numpy, like, namespace, numpy_type, wide
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array

DEGREE = 3  # of the curve
BLOCK = 2**20  # numbers of a block of samples
FEATURES = 2**12  # whose covariances are held at a time
MOST = 2**24  # numbers of samples in memory; of more a random part is used
SMALLEST = 1e-8  # variance of a combination of powers, relative to theirs, that counts as zero


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
    samples, n = _in_bounds(samples), samples.n_features
    curve, outputs = fitted_curve(samples), Outputs.uncalibrated(model)
    found = Moments.of(samples.reduce(_Sums(curve, outputs), _block_rows(samples)), n, outputs)
    weighting = output_weighting(found.covariance, found.pairs, len(model.classes))
    parts = [slice(begin, begin + FEATURES) for begin in range(0, n, FEATURES)]
    return np.concatenate([explained(*found.of_features(part), weighting, curve.smallest)[0] for part in parts])


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


@dataclass(frozen=True)
class Outputs:
    """What the model decides by: probabilities and distances, and the pairs of winner and rival."""

    model: PrototypeModel
    unit: float  # of the distances, whose squares could overflow

    @classmethod
    def uncalibrated(cls, model: PrototypeModel) -> Self:
        """Those of a model at temperature one: importances do not depend on how probabilities are calibrated."""
        largest = float(model.link.value(wide(model.distances(model.prototypes))).max())
        return cls(replace(model, decision=replace(model.decision, temperature=1.0)), largest or 1.0)

    def of(self, X: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs of shape (N, C + M), winners and rivals."""
        distances = as_numpy(self.model.distances(X))
        found, _ = self.model.nearest(distances)
        values = [self.model.probabilities(distances), self.model.link.value(wide(distances)) / self.unit]
        return np.concatenate(values, axis=1, dtype=np.float64), found.winner, found.rival


@dataclass(frozen=True)
class Curve:
    """Powers of t = tanh((x - mean)/deviation) of each feature; t = 0 where a feature is constant."""

    mean: np.ndarray
    deviation: np.ndarray
    smallest: float = SMALLEST

    def squashed(self, X: Array) -> Array:
        """The features t, of the values of X; of its stored values where it is sparse."""
        inverse = np.divide(1, self.deviation, out=np.zeros_like(self.mean), where=self.deviation > 0)
        if is_sparse(X):
            return np.tanh((X.data - self.mean[X.indices]) * inverse[X.indices])
        X = wide(X)
        return namespace(X).tanh((X - like(self.mean, X)) * like(inverse, X))

    @property
    def at_zero(self) -> np.ndarray:
        """The features t of a row of zeros."""
        return np.tanh(np.divide(-self.mean, self.deviation, out=np.zeros_like(self.mean), where=self.deviation > 0))


def fitted_curve(samples: ArraySamples) -> Curve:
    """Mean and deviation of each feature, by two passes over the samples."""
    rows = _block_rows(samples)
    total, *sums = samples.reduce(_weighted_sums, rows)
    mean = np.array(sums) / total
    variance = samples.reduce(_Variances(mean), rows) / total
    eps = 1e-7 if not is_sparse(samples.X) and numpy_type(wide(samples.X[:0])) == np.float32 else 1e-15
    variance[variance <= (10 * eps * mean) ** 2] = 0  # rounding
    return Curve(mean, np.sqrt(variance), max(SMALLEST, 1e4 * eps))


def _weighted_sums(block: Block) -> np.ndarray:
    """Sums of weights and of weighted samples."""
    X, weight = block.X, wide(block.weight)
    sums = as_numpy(weight @ X if is_sparse(X) else weight @ wide(X))
    return np.concatenate([[float(weight.sum())], sums])


@dataclass(frozen=True)
class _Variances:
    """Sums of weighted squared differences from the mean."""

    mean: np.ndarray

    def __call__(self, block: Block) -> np.ndarray:
        X, weight = block.X, wide(block.weight)
        if is_sparse(X):
            here = (weight @ X.power(2)) - 2 * self.mean * (weight @ X) + weight.sum() * self.mean**2
            return np.maximum(here, 0)
        X = wide(X)
        return as_numpy(weight @ namespace(X).square(X - like(self.mean, X)))


@dataclass(frozen=True)
class _Sums:
    """All sums as one vector, of which blocks and partitions are added."""

    curve: Curve
    outputs: Outputs

    def __call__(self, block: Block) -> np.ndarray:
        weight = as_numpy(wide(block.weight))
        values, winner, rival = self.outputs.of(block.X)
        weighted = values * weight[:, None]
        M = len(self.outputs.model.labels)
        pairs = np.bincount(winner * M + rival, weight, M * M)
        power, cross = (self._of_sparse if is_sparse(block.X) else self._of_dense)(block.X, weight, weighted)
        parts = [np.array([weight.sum()]), power, cross, weighted.sum(axis=0), values.T @ weighted, pairs]
        return np.concatenate([part.ravel() for part in parts])

    def _of_dense(self, X: Array, weight: np.ndarray, weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the powers of t up to twice the degree, and of their products with the outputs."""
        t = self.curve.squashed(X)
        weight, weighted = like(weight, t), like(weighted, t)
        power, sums, cross = t, [], []
        for exponent in range(1, 2 * DEGREE + 1):
            sums.append(as_numpy(weight @ power))
            if exponent <= DEGREE:
                cross.append(as_numpy(power.T @ weighted))
            power = power * t
        return np.array(sums), np.array(cross)

    def _of_sparse(self, X: Array, weight: np.ndarray, weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same: stored values by their difference from a zero, and then a zero in every place."""
        t, zero = self.curve.squashed(X), self.curve.at_zero
        sums, cross = [], []
        for exponent in range(1, 2 * DEGREE + 1):
            base = zero**exponent
            differences = X._with_data(t**exponent - base[X.indices])
            sums.append(weight @ differences + weight.sum() * base)
            if exponent <= DEGREE:
                cross.append(differences.T @ weighted + base[:, None] * weighted.sum(axis=0))
        return np.array(sums), np.array(cross)


@dataclass(frozen=True)
class Moments:
    """Means over the samples: powers of t (2 d, n), their products with the outputs (d, n, C), outputs, and pairs."""

    power: np.ndarray
    cross: np.ndarray
    output: np.ndarray
    covariance: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, sums: np.ndarray, n: int, outputs: Outputs) -> Self:
        """The parts of the vector of `_Sums`, divided by the sum of the weights."""
        M = len(outputs.model.labels)
        C = M + len(outputs.model.classes)
        sizes = [2 * DEGREE * n, DEGREE * n * C, C, C * C, M * M]
        power, cross, output, second, pairs = np.split(sums[1:] / sums[0], np.cumsum(sizes)[:-1])
        covariance = second.reshape(C, C) - np.outer(output, output)
        return cls(power.reshape(-1, n), cross.reshape(-1, n, C), output, covariance, pairs.reshape(M, M))

    def of_features(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Covariances of the powers of each of some features, (f, d, d), and those with the outputs, (f, d, C)."""
        power, exponent = self.power[:, part], np.arange(DEGREE)
        gram = power[exponent[:, None] + exponent + 1] - power[:DEGREE, None] * power[:DEGREE]
        cross = self.cross[:, part] - power[:DEGREE, :, None] * self.output
        return np.moveaxis(gram, 2, 0), np.moveaxis(cross, 1, 0)


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


def _numbers(X: Array) -> int:
    """Number of stored values."""
    return X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]


def _block_rows(samples: ArraySamples) -> int:
    """Rows of a block."""
    return max(1, BLOCK * samples.n_samples // max(1, _numbers(samples.X)))


def _in_bounds(samples: ArraySamples) -> ArraySamples:
    """The samples, missing values filled; a random part of very many in memory."""
    if not samples.in_memory:
        return samples
    samples = ArraySamples(*samples.metric_rows())
    numbers = _numbers(samples.X)
    if numbers <= MOST:
        return samples
    k = max(1000, int(MOST * (samples.n_samples / numbers)))
    return ArraySamples(*samples.sample(k, np.random.RandomState(0)))
