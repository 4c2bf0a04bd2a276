"""Metric learning rules: the parameters of the metric, their start, and how they are learned.

`None` in an estimator means the plain metric. A rule has a `metric` (its shape), `smooth` (whether its step is a
gradient, so that a batch solver can use it), and its own parameters. Relevances lambda are non-negative and sum to one;
every Omega has unit Frobenius norm, unless a rule learns their size. Saved models name the rules by this package.
"""

from lvq.model.relevance.local_weights import LocalDiagonalRelevance, LocalScaleRelevance
from lvq.model.relevance.matrices import LocalMatrixRelevance, MatrixRelevance
from lvq.model.relevance.rule import Relevance
from lvq.model.relevance.vectors import (
    Fisher,
    FisherNeighbours,
    FisherPrototypes,
    GradientRelevance,
    Hebbian,
    VectorRelevance,
)

__all__ = [
    "RELEVANCES",
    "Fisher",
    "FisherNeighbours",
    "FisherPrototypes",
    "GradientRelevance",
    "Hebbian",
    "LocalDiagonalRelevance",
    "LocalMatrixRelevance",
    "LocalScaleRelevance",
    "MatrixRelevance",
    "Relevance",
    "VectorRelevance",
]

RELEVANCES: dict[str, type[Relevance]] = {
    "gradient": GradientRelevance,
    "matrix": MatrixRelevance,
    "local_matrix": LocalMatrixRelevance,
    "local_diagonal": LocalDiagonalRelevance,
    "local_scale": LocalScaleRelevance,
    "hebbian": Hebbian,
    "fc1": FisherPrototypes,
    "fc2": FisherNeighbours,
}
