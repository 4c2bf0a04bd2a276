"""Kernel and relevance rule as the parameters of an estimator specify them."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from lvq.model.links import KERNELS, Identity, Link
from lvq.model.relevance import (
    RELEVANCES,
    GradientRelevance,
    LocalDiagonalRelevance,
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.model.structure import UNSTRUCTURED, Structure
from lvq.typing import Argument


def make_kernel(kernel: str | Link | None) -> Link:
    """The link given by a `kernel` parameter."""
    if kernel is None:
        return Identity()
    return KERNELS[kernel]() if isinstance(kernel, str) else kernel


def make_relevance(estimator: BaseEstimator, relevance: str | Relevance | None) -> Relevance:
    """The rule given by a `relevance` parameter, with the `rank` and `local` of the estimator where it has these."""
    rule = RELEVANCES[relevance]() if isinstance(relevance, str) else relevance or Relevance()
    rank = getattr(estimator, "rank", None)
    if isinstance(rule, MatrixRelevance | LocalDiagonalRelevance) and rule.local is not None:
        rule = replace(rule, local=getattr(estimator, "local", "class")) if isinstance(relevance, str) else rule
    if isinstance(rule, MatrixRelevance):
        return rule if rank is None else replace(rule, rank=rank)
    if rank not in (None, "auto"):
        raise ValueError(
            f"rank={rank} of {type(estimator).__name__} needs relevance='matrix' or 'local_matrix', got "
            f"relevance={relevance!r}."
        )
    return rule


def structured(estimator: BaseEstimator, rule: Relevance) -> Relevance:
    """The rule with what the parameters of the estimator tell about the features."""
    groups = estimator.feature_groups
    labels = None if groups is None else [_feature_label(label) for label in groups]
    if labels is not None and all(label is None or isinstance(label, float) for label in labels):
        raise ValueError(
            f"The 'feature_groups' parameter of {type(estimator).__name__} must leave one feature or more; got None, "
            "which excludes, or a given fraction for all. Give features whose weight is learned a label."
        )
    fractions = [label for label in labels or () if isinstance(label, float)]
    if not (all(fraction >= 0 for fraction in fractions) and sum(fractions) < 1):
        raise ValueError(
            f"The 'feature_groups' parameter of {type(estimator).__name__} must have given fractions from 0 on and "
            f"with a sum below 1, as a float is the fraction of all weight that its feature has; got {fractions}. Use "
            "strings or integers as labels of groups."
        )
    structure = Structure.of_labels(labels, estimator.sparsity, estimator.smoothness)
    if structure == UNSTRUCTURED:
        return rule
    by_gradient = isinstance(rule, GradientRelevance | LocalDiagonalRelevance | MatrixRelevance)
    if by_gradient and not isinstance(rule, LocalScaleRelevance):
        changed: dict[str, Argument] = {"structure": structure}
        return replace(rule, **changed)
    raise ValueError(
        f"feature_groups, sparsity and smoothness of {type(estimator).__name__} need weights or matrices learned by "
        "gradient, relevance='gradient', 'local_diagonal', 'matrix' or 'local_matrix'; got "
        f"relevance={estimator.relevance!r}."
    )


def _feature_label(label: Hashable) -> str | float | None:
    """A label of `feature_groups`: None excludes, a float is a given fraction, all others are names of groups."""
    if label is None or isinstance(label, float | np.floating):
        return None if label is None else float(label)
    return str(label)
