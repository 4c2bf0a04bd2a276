"""Importance of features: the share of the model's outputs that each feature explains alone.

The model decides by its class probabilities p_c(x), before any calibration, and near a border by the difference of two
distances, f_jk = H_k - H_j, with j the winner and k the rival. The importance of feature l is the fraction of the
variance of these functions over the training samples that a curve in x_l alone explains. It is the mean of two
fractions: for the probabilities (summed over the classes) and for the differences (averaged over the samples' pairs of
winner and rival, each as a function of all samples). The curve is a cubic polynomial of
t = tanh((x_l - mean)/deviation), fitted by least squares; tanh keeps outliers from determining it.

- Only the model's outputs count: a change of Lambda along directions in which samples do not vary changes no distance,
  so it changes no importance. The diagonal of Lambda is arbitrary there.
- Features that carry the same information have the same importance, however Lambda divides its weight among them.
- The unit of a feature does not matter.
- With more than 64 classes or prototypes, only those nearest to most samples count.
- Probabilities alone would miss a feature that only matters together with others, as in XOR; the prototypes are where
  such a feature has its own effect. Differences alone vary more from sample to sample.

With P the projection on the curves, each part is tr(Q F'PF)/tr(Q F'F) of the centred outputs F: the probabilities with
Q = I, the distances with Q the Laplacian of the graph of pairs, as sum_jk m_jk |P(F_k - F_j)|^2 = tr(L F'PF). All of it
follows from sums over the samples.
"""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Self

import numpy as np

from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy, dense, has_float64, is_sparse, is_tensor, like, namespace, wide
from lvq.model.samples import ArraySamples, FeatureMoments, filled
from lvq.typing import Array

DEGREE = 3  # of the curve
OUTPUTS = 64  # classes, and prototypes, that count
FEATURES_HELD = 2**12  # whose covariances are held at a time
MOST = 2**24  # numbers of samples in memory, or of their outputs; with more, a random part of the samples is used
FEW, FEW_SPARSE = 500, 50  # samples that are always used; sparse ones become dense
ROUNDING = 1e-14  # deviation of a feature relative to its mean, up to which it counts as constant
SMALLEST_VARIANCE = 1e-8  # variance of a combination of powers, relative to theirs, that counts as zero


@dataclass(frozen=True)
class Outputs:
    """Outputs of a model: probabilities of classes, distances to prototypes, and pairs of winner and rival."""

    model: PrototypeModel
    unit: float  # of the distances, whose squares could overflow
    classes: np.ndarray
    prototypes: np.ndarray

    @classmethod
    def uncalibrated(cls, model: PrototypeModel) -> Self:
        """Outputs of a model at temperature one: importances do not depend on how probabilities are calibrated."""
        largest = float(model.link.value(wide(model.distances(model.prototypes[:OUTPUTS]))).max())
        every = np.arange(len(model.classes)), np.arange(len(model.labels))
        return cls(replace(model, decision=replace(model.decision, temperature=1.0)), largest or 1.0, *every)

    def most_frequent(self, samples: ArraySamples, rows: int) -> Self:
        """If there are many classes or prototypes, only those that are nearest to most samples."""
        if max(len(self.classes), len(self.prototypes)) <= OUTPUTS:
            return self
        wins = samples.reduce(self._wins, rows)
        by_class = np.bincount(self.model.labels, wins, len(self.classes))
        return replace(self, classes=_largest(by_class), prototypes=_largest(wins))

    def _wins(self, block: ArraySamples) -> np.ndarray:
        found, _ = self.model.nearest(as_numpy(self.model.distances(block.X)))
        return np.bincount(found.winner, as_numpy(block.weight), len(self.prototypes))

    def of(self, X: Array) -> tuple[np.ndarray, np.ndarray]:
        """Outputs of shape (N, C + M), and the places of winner and rival among the M, (N, 2); -1 for others."""
        distances = as_numpy(self.model.distances(X))
        found, _ = self.model.nearest(distances)
        probabilities = self.model.probabilities(distances)[:, self.classes]
        values = [probabilities, self.model.link.value(wide(distances[:, self.prototypes])) / self.unit]
        place = np.full(len(self.model.labels), -1)
        place[self.prototypes] = np.arange(len(self.prototypes))
        return np.concatenate(values, axis=1, dtype=np.float64), place[np.stack([found.winner, found.rival], axis=1)]

    def pair_weights(self, pair: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Sum of the weights of the samples with each winner and rival, (M, M)."""
        M, known = len(self.prototypes), (pair >= 0).all(axis=1)
        return np.bincount(pair[known] @ [M, 1], weight[known], M * M).reshape(M, M)


def _largest(values: np.ndarray) -> np.ndarray:
    """Places of the largest values, in their order."""
    return np.sort(np.argsort(-values, kind="stable")[:OUTPUTS])


@dataclass(frozen=True)
class Curve:
    """Powers of t = tanh((x - mean)/deviation) of each feature; t = 0 where a feature is constant."""

    mean: np.ndarray
    deviation: np.ndarray

    def squashed(self, X: Array) -> Array:
        """The features t of the values of X."""
        inverse = np.divide(1, self.deviation, out=np.zeros_like(self.mean), where=self.deviation > 0)
        X = wide(X)
        return namespace(X).tanh((X - like(self.mean, X)) * like(inverse, X))

    def of_features(self, part: slice) -> "Curve":
        """The curves of some features."""
        return replace(self, mean=self.mean[part], deviation=self.deviation[part])


def fitted_curve(samples: ArraySamples, rows: int) -> Curve:
    """Mean and deviation of each feature."""
    moments = samples.reduce(FeatureMoments.of, rows)
    mean, variance = moments.mean, moments.variances()
    variance[variance <= (ROUNDING * mean) ** 2] = 0
    return Curve(mean, np.sqrt(variance))


@dataclass(frozen=True)
class Moments:
    """Weighted sums over samples of powers of t, of the outputs, and of their products; and the weights of pairs."""

    mass: float
    power: np.ndarray  # (2 d, n)
    cross: np.ndarray  # (d, n, C), products of powers and outputs
    output: np.ndarray  # (C,)
    product: np.ndarray  # (C, C), products of outputs
    pairs: np.ndarray  # (M, M), weight of the samples with each winner and rival

    def __add__(self, other: Self) -> Self:
        return replace(
            self, **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        )

    def of_outputs(self) -> np.ndarray:
        """Covariances of the outputs, (C, C)."""
        return self.product / self.mass - np.outer(self.output, self.output) / self.mass**2

    def of_features(self) -> tuple[np.ndarray, np.ndarray]:
        """Covariances of the powers of each feature, (n, d, d), and of powers and outputs, (n, d, C)."""
        power, exponent = self.power / self.mass, np.arange(DEGREE)
        gram = power[exponent[:, None] + exponent + 1] - power[:DEGREE, None] * power[:DEGREE]
        cross = self.cross / self.mass - power[:DEGREE, :, None] * (self.output / self.mass)
        return np.moveaxis(gram, 2, 0), np.moveaxis(cross, 1, 0)


def _moments(curve: Curve, outputs: Outputs, features: slice, block: ArraySamples) -> Moments:
    """The moments of some features over a block of samples; the curve is for these features."""
    weight = as_numpy(wide(block.weight))
    values, pair = outputs.of(block.X)
    weighted = values * weight[:, None]
    powers = feature_powers(curve, block.X[:, features], weight, weighted)
    pairs = outputs.pair_weights(pair, weight)
    return Moments(float(weight.sum()), *powers, weighted.sum(axis=0), values.T @ weighted, pairs)


def feature_powers(curve: Curve, X: Array, weight: np.ndarray, weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the powers of t up to twice the degree, and of their products with the outputs."""
    t = curve.squashed(X)
    weight, weighted = like(weight, t), like(weighted, t)
    power, sums, cross = t, [], []
    for exponent in range(1, 2 * DEGREE + 1):
        sums.append(as_numpy(weight @ power))
        if exponent <= DEGREE:
            cross.append(as_numpy(power.T @ weighted))
        power = power * t
    return np.array(sums), np.array(cross)


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
    """Fraction of the variance of the model's outputs that each feature explains alone, (n_features,)."""
    samples = _in_bounds(samples, model)
    rows = samples.block_rows(len(model.labels) + len(model.classes))
    curve, outputs = fitted_curve(samples, rows), Outputs.uncalibrated(model).most_frequent(samples, rows)
    fractions = []
    for begin in range(0, samples.n_features, FEATURES_HELD):
        part = slice(begin, begin + FEATURES_HELD)
        found = samples.reduce(partial(_moments, curve.of_features(part), outputs, part), rows)
        weighting = output_weighting(found.of_outputs(), found.pairs, len(outputs.classes))
        fractions.append(explained(*found.of_features(), weighting)[0])
    return np.concatenate(fractions)


def explained(gram: np.ndarray, cross: np.ndarray, weighting: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tr(Q c'G^-1 c) for each of several covariances G (..., d, d) and covariances with the outputs c (..., d, C).

    Directions without variance are left out; the second result is the number of those that remain.
    """
    scale = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 0))
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    sizes, axes = np.linalg.eigh(gram * inverse[..., :, None] * inverse[..., None, :])
    kept = sizes > SMALLEST_VARIANCE
    along = np.swapaxes(axes, -1, -2) @ (cross * inverse[..., None])
    squares = ((along @ weighting) * along).sum(axis=-1)
    return np.where(kept, squares / np.where(kept, sizes, 1), 0).sum(axis=-1), kept.sum(axis=-1)


def output_weighting(covariance: np.ndarray, pairs: np.ndarray, n_classes: int) -> np.ndarray:
    """Q: both parts divided by their variances, so tr(Q covariance) is one."""
    graph = pairs + pairs.T
    parts = np.eye(n_classes), np.diag(graph.sum(axis=1)) - graph
    ends, weighting = (slice(0, n_classes), slice(n_classes, None)), np.zeros_like(covariance)
    variances = [float((part * covariance[end, end]).sum()) for part, end in zip(parts, ends)]
    present = [variance > np.finfo(float).tiny for variance in variances]
    for part, end, variance, is_present in zip(parts, ends, variances, present):
        if is_present:
            weighting[end, end] = part / (variance * sum(present))
    return weighting


def _in_bounds(samples: ArraySamples, model: PrototypeModel) -> ArraySamples:
    """The samples, with missing values filled and sparse rows dense; a random part if there are very many in memory."""
    if not samples.in_memory:
        return samples
    least = FEW_SPARSE if is_sparse(samples.X) else FEW
    most = max(least, MOST // max(samples.n_features, len(model.labels) + len(model.classes)))
    some = filled(samples.sample(most, np.random.RandomState(0)))
    X = dense(some.X)
    return some._replace(X=X if not is_tensor(X) or has_float64(X.device) else as_numpy(X))
