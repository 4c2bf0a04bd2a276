"""Models that learn from the nearest own and the nearest other prototype: GLVQ and its variants, MCE, LOGM."""

from dataclasses import replace
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from lvq.estimators.base import CostBasedLVQ
from lvq.estimators.parameters import estimator, one_of
from lvq.model.costs import GLVQCost, LOGMCost, MCECost
from lvq.model.relevance import Matrix, Relevance, Weights


@estimator
class RelativeLVQ(CostBasedLVQ):
    """Base of the models with GLVQ's cost."""

    slope: float | Literal["time"] | None = None
    alpha: float = 0.0
    cost_matrix: ArrayLike | None = None

    def _cost(self) -> GLVQCost:
        return GLVQCost(self.alpha, self.slope or 0.0, cost_matrix=self._cost_matrix())


@estimator
class GLVQ(RelativeLVQ):
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


@estimator
class GRLVQ(RelativeLVQ):
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

    _own_constraints: ClassVar[dict[str, list[object]]] = {"relevance": [one_of("gradient"), Weights]}

    relevance: str | Weights = "gradient"


@estimator
class GMLVQ(RelativeLVQ):
    """Generalized matrix LVQ: GLVQ in a learned metric ``d(x, w) = |Omega (x - w)|^2``.

    Lambda = Omega'Omega has trace one and shows which features, alone and in pairs, separate the classes. With
    ``Matrix(rank=2)``, or 3, `transform` maps the data to the plane or space in which the model measures. Below full
    rank Omega starts from discriminant directions.

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
    >>> from lvq.model.relevance import Matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(relevance=Matrix(rank=2), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.transform(X).shape
    (150, 2)
    """

    _own_constraints: ClassVar[dict[str, list[object]]] = {"relevance": [one_of("matrix"), Matrix]}

    relevance: str | Matrix = "matrix"


@estimator
class LGMLVQ(RelativeLVQ):
    """Localized GMLVQ: a matrix for each class, or each prototype with ``Matrix(local="prototype")``.

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

    _own_constraints: ClassVar[dict[str, list[object]]] = {"relevance": [one_of("local_matrix"), Matrix]}

    relevance: str | Matrix = "local_matrix"

    def _relevance(self) -> Relevance:
        rule = super()._relevance()
        return replace(rule, local="class") if isinstance(rule, Matrix) and rule.local is None else rule


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
    alpha: float = 0.0
    cost_matrix: ArrayLike | None = None

    def _cost(self) -> MCECost:
        return MCECost(self.alpha, self.xi, cost_matrix=self._cost_matrix())


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
    alpha: float = 0.0
    cost_matrix: ArrayLike | None = None

    def _cost(self) -> LOGMCost:
        return LOGMCost(self.alpha, self.xi, cost_matrix=self._cost_matrix())
