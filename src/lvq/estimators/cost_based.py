"""Models that minimise a cost: GLVQ and its variants, MCE and LOGM by the margin, SNPC and RSLVQ by all prototypes."""

from dataclasses import replace
from typing import ClassVar, Literal

from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from lvq.estimators.base import BaseLVQ
from lvq.estimators.inputs import by_partition, check_samples, samples_of_classes
from lvq.estimators.parameters import estimator, one_of
from lvq.estimators.predictions import like_given
from lvq.estimators.training import objective_value
from lvq.model.costs import GLVQCost, LOGMCost, MCECost, RSLVQCost, SNPCCost
from lvq.model.metrics import Mahalanobis
from lvq.model.relevance import Matrix, Relevance, Weights
from lvq.typing import Array


def _has_shared_matrix(estimator: "CostBasedLVQ") -> bool:
    """Whether the fitted model, or the one to be fitted, has one matrix for all prototypes."""
    if hasattr(estimator, "model_"):
        return isinstance(estimator.model_.metric, Mahalanobis)
    relevance = estimator._relevance()
    return isinstance(relevance, Matrix) and relevance.local is None


@estimator
class CostBasedLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseLVQ):
    """Base of the models that minimise a cost: they can learn by every solver; a shared matrix can transform."""

    metric: Literal["euclidean", "cosine"] = "euclidean"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not _has_shared_matrix(self):
            tags.transformer_tags = None
        return tags

    def objective_value(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The mean cost of samples in the fitted model, with its penalty: what the batch solvers minimise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; `class_weight` is applied as in `fit`.

        Returns
        -------
        value : float
            The objective.
        """
        classes = self._fitted("objective_value").classes
        samples = samples_of_classes(self, X, y, sample_weight, classes, self._class_weight)
        return objective_value(self._training(), samples)

    @by_partition
    def transform(self, X: ArrayLike) -> Array:
        """Map samples to the space in which the model measures: ``X @ omega_.T``; with one matrix for all prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, rank)
            Their images.
        """
        model = self._fitted("transform")
        return like_given(model.images(check_samples(self, X)), X)

    @property
    def _n_features_out(self) -> int:
        return self.omega_.shape[0]


# scikit-learn wraps `transform` when the class is made, so the condition comes after
for _name in ("transform", "fit_transform", "get_feature_names_out"):
    setattr(CostBasedLVQ, _name, available_if(_has_shared_matrix)(getattr(CostBasedLVQ, _name)))


@estimator
class RelativeLVQ(CostBasedLVQ):
    """Base of the models with GLVQ's cost."""

    slope: float | Literal["time"] | None = None
    alpha: float = 0.0

    def _cost(self) -> GLVQCost:
        return GLVQCost(self.alpha, self.slope or 0.0)


@estimator
class GLVQ(RelativeLVQ):
    """Generalized LVQ: minimises ``mu = (d+ - d-)/(d+ + d-)``.

    d+ is the smallest distance to a prototype of the sample's class, d- to any other prototype; mu is negative for a
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

    def _cost(self) -> MCECost:
        return MCECost(self.alpha, self.xi)


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

    def _cost(self) -> LOGMCost:
        return LOGMCost(self.alpha, self.xi)


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
        return SNPCCost(self.alpha, self.xi, self.decision)


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
        return RSLVQCost(self.alpha, self.xi, self.decision)
