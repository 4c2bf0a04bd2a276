"""Models in which every prototype has a membership of every sample: SNPC and RSLVQ."""

from typing import Literal

from lvq.estimators.base import CostBasedLVQ
from lvq.estimators.parameters import estimator
from lvq.model.costs import RSLVQCost, SNPCCost


@estimator
class SNPC(CostBasedLVQ):
    """Soft nearest prototype classifier: minimises ``1 - P_y``, P_y the sum over class y of ``softmax_j(-xi d_j)``.

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

    xi: float = 1.0
    alpha: float = 0.0
    decision: Literal["nearest", "posterior"] = "nearest"

    def _cost(self) -> SNPCCost:
        return SNPCCost(self.alpha, self.xi)


@estimator
class RSLVQ(CostBasedLVQ):
    """Robust soft LVQ: minimises ``-log P_y``, P_y the sum over class y of ``softmax_j(-xi d_j)``.

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

    xi: float = 1.0
    alpha: float = 0.0
    decision: Literal["nearest", "posterior"] = "nearest"

    def _cost(self) -> RSLVQCost:
        return RSLVQCost(self.alpha, self.xi)
