"""Models in which every prototype has a share of every sample: SNPC and RSLVQ."""

from typing import Any

import numpy as np

from lvq.estimators.base import Parts
from lvq.estimators.margin import SteepLVQ
from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import as_numpy, same_kind
from lvq.estimators.validation import strings
from lvq.model.certainty import Nearest
from lvq.model.costs import RSLVQCost, SNPCCost
from lvq.model.scores import posterior


@estimator
class SoftLVQ(SteepLVQ):
    """Base of the soft models: they have a posterior, and may answer by it."""

    _parameter_constraints = SteepLVQ._parameter_constraints | {"decision": [strings("nearest", "posterior")]}

    xi: float = 1.0
    decision: str = "nearest"

    def predict(self, X: Any) -> np.ndarray:
        """The class of the nearest prototype, or with ``decision="posterior"`` that of the largest posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        if not self._by_posterior():
            return super().predict(X)
        answers = self._posterior(X).argmax(axis=1)
        return same_kind(self.classes_[answers], X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; those of the rule that `decision` names.

        With "posterior" the model's own: the sum over a class's prototypes of softmax(-xi H). With "nearest" the
        softmax over the classes of -xi times their smallest H, so that the largest is that of the answer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return same_kind(self._posterior(X), X) if self._by_posterior() else super().predict_proba(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """With "posterior" the log posterior (two classes: the log odds), else as for the margin models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The largest is that of the predicted class; with two classes one column, positive for ``classes_[1]``.
        """
        if not self._by_posterior():
            return super().decision_function(X)
        shares = self._posterior(X)
        log = np.log(np.maximum(shares, np.finfo(shares.dtype).tiny))
        return same_kind(log[:, 1] - log[:, 0] if len(self.classes_) == 2 else log, X)

    def _by_posterior(self) -> bool:
        return self.decision == "posterior"

    def _answer(self, distances: np.ndarray) -> tuple[Nearest, np.ndarray]:
        """With "posterior" the nearest prototype of the likeliest class, and how far its probability leads."""
        if not self._by_posterior():
            return super()._answer(distances)
        shares = self._posterior_of(distances)
        own = self._labels == shares.argmax(axis=1)[:, None]
        winner = np.where(own, distances, np.inf).argmin(axis=1)
        rival = np.where(own, np.inf, distances).argmin(axis=1)
        second, first = np.partition(shares, -2, axis=1)[:, -2:].T
        near, far = (np.take_along_axis(distances, index[:, None], axis=1)[:, 0] for index in (winner, rival))
        return Nearest(winner, rival, near, far), (first - second) / (first + second)

    def _posterior(self, X: Any) -> np.ndarray:
        return self._posterior_of(as_numpy(self._distances(X)))

    def _posterior_of(self, distances: np.ndarray) -> np.ndarray:
        xi = self._xi()
        assert xi is not None
        return posterior(self._link, distances, self._labels, len(self.classes_), xi).astype(distances.dtype)


@estimator
class SNPC(SoftLVQ):
    """Soft nearest prototype classifier: makes ``1 - P_y`` small, P_y the sum over class y of ``softmax_j(-xi d_j)``.

    {parameters}

    {attributes}

    References
    ----------
    S. Seo, K. Obermayer, Soft learning vector quantization, Neural Computation 15, 2003. With the regulariser: X. Jin,
    C.-L. Liu, X. Hou, Prototype learning with margin-based conditional log-likelihood loss, ICPR 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import SNPC
    >>> X, y = load_iris(return_X_y=True)
    >>> SNPC(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    def _parts(self) -> Parts:
        return Parts(SNPCCost(self.alpha, self.xi), self._relevance())


@estimator
class RSLVQ(SoftLVQ):
    """Robust soft LVQ: makes ``-log P_y`` small, P_y the sum over class y of ``softmax_j(-xi d_j)``.

    {parameters}

    {attributes}

    References
    ----------
    S. Seo, K. Obermayer, Soft learning vector quantization, Neural Computation 15, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import RSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RSLVQ(n_prototypes=2, decision="posterior", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def _parts(self) -> Parts:
        return Parts(RSLVQCost(self.alpha, self.xi), self._relevance())
