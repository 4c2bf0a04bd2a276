"""Models that learn from the nearest own and the nearest other prototype: GLVQ and its variants, MCE, LOGM."""

from numbers import Real
from typing import Literal

from numpy.typing import ArrayLike

from lvq.estimators.cost_based import CostBasedLVQ
from lvq.estimators.parameters import estimator
from lvq.estimators.specified_parts import structured
from lvq.model.costs import GLVQCost, LOGMCost, MCECost
from lvq.model.relevance import GradientRelevance, MatrixRelevance, Relevance


def glvq_cost(estimator: "GLVQ | GRLVQ | GMLVQ | LGMLVQ") -> GLVQCost:
    """GLVQ's cost with the parameters of an estimator."""
    slope = float(estimator.slope) if isinstance(estimator.slope, Real) else 0.0
    return GLVQCost(estimator.alpha, slope, prices=estimator._prices())


@estimator
class GLVQ(CostBasedLVQ):
    """Generalized LVQ: minimises ``mu = (d+ - d-)/(d+ + d-)``.

    d+ is the smallest distance to a prototype of the sample's class, d- that to all others; mu is negative for a
    correct prediction. The cost is ``f(mu)`` with f the identity or a sigmoid of a given slope.

    {parameters}

    {attributes}

    References
    ----------
    A. Sato, K. Yamada, Generalized learning vector quantization, NIPS 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(n_prototypes=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.explain(X[:1]).contributions.shape
    (1, 4)
    """

    slope: float | Literal["time"] | None = None
    cost_matrix: ArrayLike | None = None
    relevance: str | Relevance | None = None
    rank: int | None = None
    local: Literal["class", "prototype", "auto"] = "class"

    def _cost(self) -> GLVQCost:
        return glvq_cost(self)


@estimator
class GRLVQ(CostBasedLVQ):
    """Generalized relevance LVQ: GLVQ in a metric with a learned weight for each feature.

    ``d(x, w) = sum_l lambda_l (x_l - w_l)^2`` with lambda non-negative and of sum one, learned by gradient. The same as
    ``GLVQ(relevance="gradient")``.

    {parameters}

    {attributes}

    References
    ----------
    B. Hammer, T. Villmann, Generalized relevance learning vector quantization, Neural Networks 15, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> float(GRLVQ(random_state=0).fit(X, y).relevances_[2:].sum()) > 0.5  # the petals are relevant
    True
    """

    slope: float | Literal["time"] | None = None
    cost_matrix: ArrayLike | None = None
    feature_groups: ArrayLike | None = None
    sparsity: float = 0.0
    smoothness: float = 0.0

    def _cost(self) -> GLVQCost:
        return glvq_cost(self)

    def _relevance(self) -> Relevance:
        return structured(self, GradientRelevance())


@estimator
class GMLVQ(CostBasedLVQ):
    """Generalized matrix LVQ: GLVQ in a learned metric ``d(x, w) = |Omega (x - w)|^2``.

    Lambda = Omega'Omega has trace one and shows which features, alone and in pairs, separate the classes. With `rank` 2
    or 3, `transform` maps the data to the plane or space in which the model measures. Below full rank Omega starts from
    discriminant directions.

    {parameters}

    {attributes}

    References
    ----------
    P. Schneider, M. Biehl, B. Hammer, Adaptive relevance matrices in learning vector quantization, Neural Computation
    21, 2009. K. Bunte et al., Limited rank matrix learning, Neural Networks 26, 2012. With a kernel: M. Kaestner et
    al., Differentiable kernels in generalized matrix learning vector quantization, ICMLA 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(rank=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.transform(X).shape
    (150, 2)
    """

    slope: float | Literal["time"] | None = None
    cost_matrix: ArrayLike | None = None
    rank: int | None = None
    log_determinant: float = 0.0
    feature_groups: ArrayLike | None = None
    sparsity: float = 0.0
    smoothness: float = 0.0
    relevance_rate: float = 0.001

    def _cost(self) -> GLVQCost:
        return glvq_cost(self)

    def _relevance(self) -> Relevance:
        return structured(self, MatrixRelevance(rank=self.rank, log_determinant=self.log_determinant))


@estimator
class LGMLVQ(CostBasedLVQ):
    """Localized GMLVQ: a matrix for each class or each prototype.

    {parameters}

    {attributes}

    References
    ----------
    P. Schneider, M. Biehl, B. Hammer, Adaptive relevance matrices in learning vector quantization, Neural Computation
    21, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> LGMLVQ(random_state=0).fit(X, y).omega_.shape
    (3, 4, 4)
    """

    slope: float | Literal["time"] | None = None
    cost_matrix: ArrayLike | None = None
    rank: int | None = None
    local: Literal["class", "prototype", "auto"] = "class"
    log_determinant: float = 0.0
    relevance_rate: float = 0.001

    def _cost(self) -> GLVQCost:
        return glvq_cost(self)

    def _relevance(self) -> MatrixRelevance:
        return MatrixRelevance(rank=self.rank, local=self.local, log_determinant=self.log_determinant)


@estimator
class MCE(CostBasedLVQ):
    """Minimum classification error: a smooth count of the errors, ``sigmoid(xi (d+ - d-))``.

    {parameters}

    {attributes}

    References
    ----------
    B.-H. Juang, S. Katagiri, Discriminative learning for minimum error classification, IEEE Trans. Signal Processing
    40, 1992. With the regulariser: X. Jin, C.-L. Liu, X. Hou, Prototype learning with margin-based conditional
    log-likelihood loss, ICPR 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import MCE
    >>> X, y = load_iris(return_X_y=True)
    >>> MCE(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    xi: float = 2.0
    cost_matrix: ArrayLike | None = None
    relevance: str | Relevance | None = None
    rank: int | None = None
    local: Literal["class", "prototype", "auto"] = "class"

    def _cost(self) -> MCECost:
        return MCECost(self.alpha, self.xi, prices=self._prices())


@estimator
class LOGM(CostBasedLVQ):
    """Log-likelihood of the margin: ``log(1 + exp(xi (d+ - d-)))``, convex in the margin.

    {parameters}

    {attributes}

    References
    ----------
    X. Jin, C.-L. Liu, X. Hou, Prototype learning with margin-based conditional log-likelihood loss, ICPR 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LOGM
    >>> X, y = load_iris(return_X_y=True)
    >>> LOGM(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    xi: float = 2.0
    cost_matrix: ArrayLike | None = None
    relevance: str | Relevance | None = None
    rank: int | None = None
    local: Literal["class", "prototype", "auto"] = "class"

    def _cost(self) -> LOGMCost:
        return LOGMCost(self.alpha, self.xi, prices=self._prices())
