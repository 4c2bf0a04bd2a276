"""Prototypes as the last layer of a network: `PrototypeHead`, a module of torch.

It computes the same as ``LVQClassifier(form="plain")``: the logit of a class is minus its smallest squared distance
times a learned scale, so `torch.nn.CrossEntropyLoss` trains it together with an encoder. Needs torch, which
``pip install "lvq[gpu]"`` installs; nothing else in the library imports this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from torch import nn

from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.find_model import need_model
from lvq.model.links import Identity
from lvq.model.prototype_model import PrototypeModel
from lvq.typing import Label

__all__ = ["PrototypeHead"]


class PrototypeHead(nn.Module):
    """The last layer of a network: prototypes of the classes, and a learned scale.

    ``logit_c(z) = -s min_j |z - w_j|^2`` over the prototypes w_j of class c. Like the outputs of a linear layer, these
    are logarithms of probabilities up to a constant per row.

    Parameters
    ----------
    n_features : int
        Features of the encoder.
    classes : sequence
        The classes, or ``range(n_classes)``. The loss takes their places in this sequence, in ascending order.
    n_prototypes : int or dict, default=1
        Prototypes of each class, or a number for each class.
    scale : float, default=1.0
        Starting value of s, which stays positive.
    unit_length : bool, default=False
        Compare directions: features and prototypes are divided by their length, as with ``metric="cosine"``.

    Attributes
    ----------
    prototypes : Parameter of shape (n_prototypes, n_features)
        Prototypes, class by class; drawn at random with a length of about one.
    labels : Tensor of shape (n_prototypes,)
        Index of each prototype's class.
    log_scale : Parameter
        Logarithm of s.
    classes : ndarray of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> import torch
    >>> from lvq.torch import PrototypeHead
    >>> head = PrototypeHead(8, classes=["bird", "cat", "dog"])
    >>> network = torch.nn.Sequential(torch.nn.Linear(20, 8), torch.nn.ReLU(), head)
    >>> network(torch.zeros(5, 20)).shape
    torch.Size([5, 3])
    """

    labels: torch.Tensor
    prototypes: nn.Parameter
    log_scale: nn.Parameter

    def __init__(
        self,
        n_features: int,
        classes: Sequence[Label] | ArrayLike,
        n_prototypes: int | Mapping[Label, int] = 1,
        *,
        scale: float = 1.0,
        unit_length: bool = False,
    ) -> None:
        super().__init__()
        self.classes, self.unit_length = np.unique(np.asarray(classes)), unit_length
        if len(self.classes) != len(np.asarray(classes)):
            raise ValueError(f"classes of PrototypeHead must be distinct, got {list(np.asarray(classes))!r}.")
        if not scale > 0:
            raise ValueError(f"scale of PrototypeHead must be positive, got {scale!r}.")
        names = self.classes.tolist()
        counts = [n_prototypes[name] if isinstance(n_prototypes, Mapping) else n_prototypes for name in names]
        if min(counts) < 1:
            raise ValueError(f"n_prototypes of PrototypeHead must be at least 1 for every class, got {n_prototypes!r}.")
        labels = torch.arange(len(names)).repeat_interleave(torch.tensor(counts))
        self.register_buffer("labels", labels)
        self.prototypes = nn.Parameter(torch.randn(len(labels), n_features) / n_features**0.5)
        self.log_scale = nn.Parameter(torch.tensor(float(scale)).log())

    def forward(self, Z: torch.Tensor) -> torch.Tensor:
        """Logits of the classes.

        Parameters
        ----------
        Z : Tensor of shape (n_samples, n_features)
            Features of the encoder.

        Returns
        -------
        logits : Tensor of shape (n_samples, n_classes)
        """
        W: torch.Tensor = self.prototypes
        if self.unit_length:
            Z, W = nn.functional.normalize(Z), nn.functional.normalize(W)
        D = (Z * Z).sum(1, keepdim=True) - 2 * Z @ W.T + (W * W).sum(1)
        nearest = torch.full((len(Z), len(self.classes)), torch.inf, dtype=D.dtype, device=D.device)
        nearest = nearest.scatter_reduce(1, self.labels.expand(len(Z), -1), D, "amin")
        return -self.log_scale.exp() * nearest

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator | PrototypeModel) -> Self:
        """The layer with the prototypes, the scale and the probabilities of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator or PrototypeModel
            ``LVQClassifier(form="plain")``, with or without ``metric="cosine"``, alone or at the end of a Pipeline,
            whose other steps must be applied before the layer.

        Returns
        -------
        head : PrototypeHead
        """
        plain = isinstance(estimator, PrototypeModel)
        model = estimator if plain else need_model(estimator, "PrototypeHead.from_estimator").model
        scale = _scale_of(model)
        counts = np.bincount(model.labels, minlength=len(model.classes)).tolist()
        head = cls(
            model.n_features,
            model.classes,
            dict(zip(model.classes.tolist(), counts)),
            scale=scale,
            unit_length=model.unit_length,
        )
        head.prototypes = nn.Parameter(torch.tensor(model.prototypes))
        head.log_scale = nn.Parameter(torch.tensor(np.log(scale), dtype=head.prototypes.dtype))
        return head

    def to_estimator(self) -> LVQClassifier:
        """A fitted estimator with the same predictions, to be explained, saved, calibrated and put behind the encoder.

        Returns
        -------
        estimator : LVQClassifier
            Its `fit` would start from these prototypes. Its `add_class` needs old samples, as the means of the classes
            are not known. Prototypes in half precision become single precision.
        """
        positions = self.prototypes.detach().cpu()
        positions = positions.float() if positions.element_size() < 4 else positions
        W = (nn.functional.normalize(positions) if self.unit_length else positions).numpy()
        y = self.classes[self.labels.cpu().numpy()]
        counts = dict(zip(*(each.tolist() for each in np.unique(y, return_counts=True))))
        estimator = LVQClassifier(
            relevance=None,
            n_prototypes=counts,
            init=W,
            metric="cosine" if self.unit_length else "euclidean",
            calibration=None,
        )
        usual = estimator.max_iter
        estimator.set_params(max_iter=0).fit(W, y).set_params(max_iter=usual)
        rule = replace(estimator.model_.decision, xi=float(self.log_scale.detach().exp()), temperature=1.0)
        estimator.model_ = replace(estimator.model_, prototypes=W, decision=rule)
        return estimator


def _scale_of(model: PrototypeModel) -> float:
    """The factor s of a plain model; ValueError for others."""
    R, rule = model.relevance, model.decision
    is_plain = R is None or (R.ndim == 1 and len(R) == model.n_features and bool(np.ptp(R) == 0))
    if not is_plain or rule.xi is None or rule.soft or not isinstance(model.link, Identity):
        raise ValueError(
            "PrototypeHead.from_estimator needs probabilities softmax(-xi d) in the plain metric, as from "
            f"LVQClassifier(form='plain'), got {model!r}."
        )
    return rule.xi / rule.temperature * (1.0 if R is None else float(R[0]))
