"""Models that learn from the nearest own and the nearest other prototype: GLVQ and its kin, MCE, LOGM."""

from numbers import Real
from typing import Any, Literal

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import Parts
from lvq.estimators.gradient import GradientLVQ
from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import as_numpy, same_kind
from lvq.estimators.validation import (
    at_least_one,
    check_samples,
    make_relevance,
    not_negative,
    positive,
    relevance_constraint,
    strings,
)
from lvq.model.costs import GLVQCost, LOGMCost, MCECost
from lvq.model.relevance import GradientRelevance, MatrixRelevance, Relevance


@estimator
class RelativeLVQ(GradientLVQ):
    """Base of the models with GLVQ's cost."""

    _parameter_constraints = GradientLVQ._parameter_constraints | {"slope": [positive, strings("time"), None]}

    slope: Any = None

    def _cost(self) -> GLVQCost:
        return GLVQCost(self.alpha, float(self.slope) if isinstance(self.slope, Real) else 0.0, prices=self._prices())


@estimator
class GLVQ(RelativeLVQ):
    """Generalized LVQ: makes ``mu = (d+ - d-)/(d+ + d-)`` small, sample by sample.

    d+ is the smallest distance to a prototype of the sample's class, d- that to all others; mu is negative for a right
    answer. The cost is ``f(mu)`` with f the identity or a sigmoid of a given slope.

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

    _parameter_constraints = RelativeLVQ._parameter_constraints | {"relevance": relevance_constraint}

    relevance: Any = None

    def _parts(self) -> Parts:
        return Parts(self._cost(), make_relevance(self.relevance))


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
    >>> float(GRLVQ(random_state=0).fit(X, y).relevances_[2:].sum()) > 0.5  # the petals tell
    True
    """

    def _parts(self) -> Parts:
        return Parts(self._cost(), GradientRelevance())


class SharedMatrix(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What a model with one matrix for all prototypes can do besides: map samples to its own space."""

    def transform(self, X: Any) -> Any:
        """Map samples to the space in which the model measures: ``X @ omega_.T``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, rank)
            Their images.
        """
        check_is_fitted(self)
        return same_kind(check_samples(self, as_numpy(X)) @ self.omega_.T, X)

    @property
    def _n_features_out(self) -> int:
        return self.omega_.shape[0]


@estimator
class GMLVQ(SharedMatrix, RelativeLVQ):
    """Generalized matrix LVQ: GLVQ in a learned metric ``d(x, w) = |Omega (x - w)|^2``.

    Lambda = Omega'Omega has trace one and tells which features, alone and in pairs, separate the classes. With `rank` 2
    or 3, `transform` draws the data as the model sees them. Below full rank Omega starts from discriminant directions.

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

    _parameter_constraints = RelativeLVQ._parameter_constraints | {
        "rank": [at_least_one, None],
        "log_determinant": [not_negative],
    }

    rank: int | None = None
    log_determinant: float = 0.0
    relevance_rate: float = 0.001

    def _parts(self) -> Parts:
        return Parts(self._cost(), MatrixRelevance(rank=self.rank, log_determinant=self.log_determinant))


@estimator
class LGMLVQ(RelativeLVQ):
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

    _parameter_constraints = RelativeLVQ._parameter_constraints | {
        "rank": [at_least_one, None],
        "local": [strings("class", "prototype")],
        "log_determinant": [not_negative],
    }

    rank: int | None = None
    local: Literal["class", "prototype"] = "class"
    log_determinant: float = 0.0
    relevance_rate: float = 0.001

    def _parts(self) -> Parts:
        matrices = MatrixRelevance(rank=self.rank, local=self.local, log_determinant=self.log_determinant)
        return Parts(self._cost(), matrices)


@estimator
class SteepLVQ(GradientLVQ):
    """Base of the models whose cost has a steepness xi."""

    _parameter_constraints = GradientLVQ._parameter_constraints | {
        "xi": [positive],
        "relevance": relevance_constraint,
        "rank": [at_least_one, None],
    }

    xi: float = 2.0
    relevance: Any = None
    rank: int | None = None

    def _relevance(self) -> Relevance:
        return make_relevance(self.relevance, self.rank)


@estimator
class MCE(SteepLVQ):
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

    def _parts(self) -> Parts:
        return Parts(MCECost(self.alpha, self.xi, prices=self._prices()), self._relevance())


@estimator
class LOGM(SteepLVQ):
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

    def _parts(self) -> Parts:
        return Parts(LOGMCost(self.alpha, self.xi, prices=self._prices()), self._relevance())
