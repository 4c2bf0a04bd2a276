"""Means over samples of powers of the features and their products with the outputs of a model, for `importance.py`."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from lvq.model.arrays import as_numpy, like, namespace, numpy_type, wide
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import is_sparse, with_data
from lvq.typing import Array

DEGREE = 3  # of the curve
OUTPUTS = 64  # classes, and prototypes, that count
SMALLEST = 1e-8  # variance of a combination of powers, relative to theirs, that counts as zero


@dataclass(frozen=True)
class Outputs:
    """What the model decides by: probabilities of classes, distances to prototypes, and pairs of winner and rival."""

    model: PrototypeModel
    unit: float  # of the distances, whose squares could overflow
    classes: np.ndarray
    prototypes: np.ndarray

    @classmethod
    def uncalibrated(cls, model: PrototypeModel, few: Array | None = None) -> Self:
        """Those of a model at temperature one: importances do not depend on how probabilities are calibrated.

        The unit comes from a few samples, or from the prototypes.
        """
        few = model.prototypes[:OUTPUTS] if few is None else few
        largest = float(model.link.value(wide(model.distances(few))).max())
        every = np.arange(len(model.classes)), np.arange(len(model.labels))
        return cls(replace(model, decision=replace(model.decision, temperature=1.0)), largest or 1.0, *every)

    def most_frequent(self, samples: ArraySamples, rows: int) -> Self:
        """Of many classes or prototypes only those that most samples are nearest to."""
        if max(len(self.classes), len(self.prototypes)) <= OUTPUTS:
            return self
        wins = samples.reduce(self._wins, rows)
        by_class = np.bincount(self.model.labels, wins, len(self.classes))
        return replace(self, classes=_largest(by_class), prototypes=_largest(wins))

    def _wins(self, block: Block) -> np.ndarray:
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
    smallest: float = SMALLEST

    def squashed(self, X: Array) -> Array:
        """The features t, of the values of X; of its stored values where it is sparse."""
        inverse = np.divide(1, self.deviation, out=np.zeros_like(self.mean), where=self.deviation > 0)
        if is_sparse(X):
            return np.tanh((X.data - self.mean[X.indices]) * inverse[X.indices])
        X = wide(X)
        return namespace(X).tanh((X - like(self.mean, X)) * like(inverse, X))

    def of_features(self, part: slice) -> "Curve":
        """Those of some features."""
        return replace(self, mean=self.mean[part], deviation=self.deviation[part])

    @property
    def at_zero(self) -> np.ndarray:
        """The features t of a row of zeros."""
        return np.tanh(np.divide(-self.mean, self.deviation, out=np.zeros_like(self.mean), where=self.deviation > 0))


def fitted_curve(samples: ArraySamples, rows: int) -> Curve:
    """Mean and deviation of each feature, by two passes over blocks of the samples."""
    sums = samples.reduce(_weighted_sums, rows)
    total, mean = sums[0], sums[1:] / sums[0]
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
class OutputSums:
    """Weighted outputs of some samples, and their sums."""

    weighted: np.ndarray  # (N, C)
    sums: tuple[np.ndarray, ...]  # outputs, products of two of them, and pairs of winner and rival

    @classmethod
    def of(cls, outputs: Outputs, X: Array, weight: np.ndarray) -> Self:
        """Those of samples."""
        values, pair = outputs.of(X)
        weighted = values * weight[:, None]
        return cls(weighted, (weighted.sum(axis=0), values.T @ weighted, outputs.pair_weights(pair, weight)))


@dataclass(frozen=True)
class SampleSums:
    """All sums as one vector, of which blocks and partitions are added."""

    curve: Curve
    outputs: Outputs
    features: slice

    def __call__(self, block: Block) -> np.ndarray:
        weight = as_numpy(wide(block.weight))
        found = OutputSums.of(self.outputs, block.X, weight)
        powers = dense_powers(self.curve.of_features(self.features), block.X[:, self.features], weight, found.weighted)
        return as_vector(weight.sum(), *powers, *found.sums)


def as_vector(*parts: np.ndarray) -> np.ndarray:
    """All numbers one after another."""
    return np.concatenate([np.ravel(part) for part in parts])


def dense_powers(curve: Curve, X: Array, weight: np.ndarray, weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def sparse_powers(curve: Curve, X: Array, weight: np.ndarray, weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of a CSR array: stored values by their difference from a zero, and then a zero in every place."""
    t, zero, sums, cross = curve.squashed(X), curve.at_zero, [], []
    power, base = t, zero
    for exponent in range(1, 2 * DEGREE + 1):
        differences = with_data(X, power - base[X.indices])
        sums.append(weight @ differences + weight.sum() * base)
        if exponent <= DEGREE:
            cross.append(differences.T @ weighted + base[:, None] * weighted.sum(axis=0))
        power, base = power * t, base * zero
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
        """The parts of the vector of `SampleSums`, divided by the sum of the weights."""
        M = len(outputs.prototypes)
        C = M + len(outputs.classes)
        sizes = [2 * DEGREE * n, DEGREE * n * C, C, C * C, M * M]
        power, cross, output, second, pairs = np.split(sums[1:] / sums[0], np.cumsum(sizes)[:-1])
        covariance = second.reshape(C, C) - np.outer(output, output)
        return cls(power.reshape(-1, n), cross.reshape(-1, n, C), output, covariance, pairs.reshape(M, M))

    def of_features(self) -> tuple[np.ndarray, np.ndarray]:
        """Covariances of the powers of each feature, (n, d, d), and those with the outputs, (n, d, C)."""
        power, exponent = self.power, np.arange(DEGREE)
        gram = power[exponent[:, None] + exponent + 1] - power[:DEGREE, None] * power[:DEGREE]
        cross = self.cross - power[:DEGREE, :, None] * self.output
        return np.moveaxis(gram, 2, 0), np.moveaxis(cross, 1, 0)
