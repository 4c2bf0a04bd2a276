"""Kohonen's rules LVQ1, OLVQ1, LVQ2.1 and LVQ3, and RLVQ. They have no cost, so only the online solver."""

from typing import Any

from lvq.estimators.base import BaseLVQ, Parts
from lvq.estimators.parameters import estimator
from lvq.estimators.validation import make_relevance, relevance_constraint, strings, unit_interval
from lvq.model.costs import WindowRule, WinnerRule
from lvq.model.relevance import Hebbian


@estimator
class LVQ1(BaseLVQ):
    """Learning vector quantization 1: the nearest prototype moves to the sample if its class is right, else away.

    ``w += rate (x - w)`` for a right winner, ``w -= rate (x - w)`` for a wrong one. `relevance` may be None,
    ``"hebbian"``, ``"fc1"`` or ``"fc2"``: there is no gradient to learn it by.

    {parameters}

    {attributes}

    References
    ----------
    T. Kohonen, Self-Organizing Maps, Springer, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> LVQ1(n_prototypes=3, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints = BaseLVQ._parameter_constraints | {
        "relevance": relevance_constraint,
        "solver": [strings("auto", "online", "lbfgs", "adam")],  # the last two are refused by a sentence of their own
    }

    relevance: Any = None
    # more drives out the prototypes of classes that overlap: on standardised vehicle 0.60 right, with 0.1 and 100 0.25
    learning_rate: float = 0.05
    max_iter: int = 40
    relevance_rate: float = 1e-4
    solver: str = "auto"

    def _parts(self) -> Parts:
        return Parts(WinnerRule(), make_relevance(self.relevance))


@estimator
class OLVQ1(LVQ1):
    """LVQ1 with a rate for each prototype, which falls when it wins rightly and rises when it wins wrongly.

    ``rate_j <- rate_j/(1 + s rate_j)`` with s = 1 for a right, -1 for a wrong win, never above `learning_rate`;
    `schedule` has no effect.

    {parameters}

    {attributes}

    References
    ----------
    T. Kohonen, Self-Organizing Maps, Springer, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import OLVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> OLVQ1(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints = LVQ1._parameter_constraints | {"learning_rate": [unit_interval]}

    learning_rate: float = 0.1  # Kohonen's 0.3 drives prototypes out as well

    def _parts(self) -> Parts:
        return Parts(WinnerRule(own_rates=True), make_relevance(self.relevance))


@estimator
class LVQ21(LVQ1):
    """Learning vector quantization 2.1: the two nearest prototypes part around a sample in the window between them.

    If just one of the two has the sample's class and ``min(d_i/d_j, d_j/d_i) > (1 - window)/(1 + window)`` on unsquared
    distances, that one moves to the sample and the other away. Meant for a few epochs after another model (hand its
    prototypes over as `init`): run long, it drives prototypes apart.

    {parameters}

    {attributes}

    References
    ----------
    T. Kohonen, Self-Organizing Maps, Springer, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQ21
    >>> X, y = load_iris(return_X_y=True)
    >>> LVQ21(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _parameter_constraints = LVQ1._parameter_constraints | {"window": [unit_interval]}

    window: float = 0.3
    learning_rate: float = 0.01
    max_iter: int = 1  # longer it drives prototypes apart: on standardised wdbc 0.94, 0.90, 0.63 after 1, 5, 20 epochs

    def _parts(self) -> Parts:
        return Parts(WindowRule(self.window), make_relevance(self.relevance))


@estimator
class LVQ3(LVQ21):
    """Learning vector quantization 3: LVQ2.1 that also keeps prototypes among the samples of their class.

    As `LVQ21`; and if both nearest prototypes have the sample's class, both move to it at `epsilon` times the rate.

    {parameters}

    {attributes}

    References
    ----------
    T. Kohonen, Self-Organizing Maps, Springer, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQ3
    >>> X, y = load_iris(return_X_y=True)
    >>> LVQ3(n_prototypes=2, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _parameter_constraints = LVQ21._parameter_constraints | {"epsilon": [unit_interval]}

    epsilon: float = 0.2

    def _parts(self) -> Parts:
        return Parts(WindowRule(self.window, self.epsilon), make_relevance(self.relevance))


@estimator
class RLVQ(BaseLVQ):
    """Relevance LVQ: LVQ1 in a metric whose features gain weight when they keep a right winner near.

    ``lambda_l -= rate |x_l - w_l|`` for a right winner, ``+=`` for a wrong one; then clipped at 0 and divided by the
    sum. The same as ``LVQ1(relevance="hebbian")``; with ``squared=True`` the rule as Ridge et al. print it.

    {parameters}

    {attributes}

    References
    ----------
    T. Bojer, B. Hammer, D. Schunk, K. Tluk von Toschanowitz, Relevance determination in learning vector quantization,
    ESANN 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import RLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RLVQ(random_state=0).fit(X, y)
    >>> float(model.relevances_.sum().round(6))
    1.0
    """

    _parameter_constraints = BaseLVQ._parameter_constraints | {
        "squared": ["boolean"],
        "solver": LVQ1._parameter_constraints["solver"],
    }

    squared: bool = False
    learning_rate: float = 0.05  # as in LVQ1
    max_iter: int = 40
    relevance_rate: float = 1e-4
    solver: str = "auto"

    def _parts(self) -> Parts:
        return Parts(WinnerRule(), Hebbian(squared=self.squared))
