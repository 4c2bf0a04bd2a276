"""Kohonen's rules LVQ1, OLVQ1, LVQ2.1 and LVQ3, and RLVQ. They have no cost, so only the online solver."""

from typing import ClassVar

from lvq.estimators.base import BaseLVQ
from lvq.estimators.parameters import estimator, one_of
from lvq.model.costs import WindowRule, WinnerRule
from lvq.model.relevance import Hebbian, RuleWeights
from lvq.solvers.online import Online
from lvq.typing import Argument


class KohonenLVQ(BaseLVQ):
    """Base of the rules without a cost; `_rate` is the learning rate, unless the solver has one."""

    _rate: ClassVar[float] = 0.05
    _own_constraints: ClassVar[dict[str, list[object]]] = {
        "relevance": [one_of("hebbian", "fc1", "fc2"), RuleWeights, None]
    }

    def _part(self, name: str, value: Argument) -> Argument:
        if name == "solver" and value in ("auto", "online"):
            return Online(learning_rate=self._rate)
        return super()._part(name, value)


@estimator
class LVQ1(KohonenLVQ):
    """Learning vector quantization 1: the nearest prototype moves to the sample if its class is correct, else away.

    ``w += rate (x - w)`` for a correct winner, ``w -= rate (x - w)`` for a wrong one. `relevance` may be None,
    ``"hebbian"``, ``"fc1"`` or ``"fc2"``, as there is no gradient.

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

    # a larger rate or more epochs drive out the prototypes of classes that overlap: on standardised vehicle 0.60
    # correct, with 0.1 and 100 0.25
    max_iter: int = 40

    def _cost(self) -> WinnerRule:
        return WinnerRule()


@estimator
class OLVQ1(KohonenLVQ):
    """LVQ1 with a rate for each prototype, which falls with a correct win and rises with a wrong one.

    ``rate_j <- rate_j/(1 + s rate_j)`` with s = 1 for a correct, -1 for a wrong win, never above the
    `learning_rate` of the solver.

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

    _rate: ClassVar[float] = 0.1  # Kohonen's 0.3 drives prototypes out as well
    max_iter: int = 40

    def _cost(self) -> WinnerRule:
        return WinnerRule(own_rates=True)


@estimator
class LVQ21(KohonenLVQ):
    """Learning vector quantization 2.1: the two nearest prototypes move if a sample lies in the window between them.

    If just one of the two has the sample's class and ``min(d_i/d_j, d_j/d_i) > (1 - window)/(1 + window)`` on unsquared
    distances, that one moves to the sample and the other away. Intended for a few epochs after another model (give its
    prototypes as `init`): in many epochs prototypes diverge.

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

    window: float = 0.3
    _rate: ClassVar[float] = 0.01
    max_iter: int = 1  # more drives prototypes apart: on standardised wdbc 0.94, 0.90, 0.63 after 1, 5, 20 epochs

    def _cost(self) -> WindowRule:
        return WindowRule(self.window)


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

    epsilon: float = 0.2

    def _cost(self) -> WindowRule:
        return WindowRule(self.window, self.epsilon)


@estimator
class RLVQ(LVQ1):
    """Relevance LVQ: LVQ1 in a metric in which features gain weight where a correct winner is near.

    ``lambda_l -= rate |x_l - w_l|`` for a correct winner, ``+=`` for a wrong one; then clipped at 0 and divided by the
    sum. The same as ``LVQ1(relevance="hebbian")``; ``Hebbian(squared=True)`` is the rule as printed in Ridge et
    al.

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

    _own_constraints: ClassVar[dict[str, list[object]]] = {"relevance": [one_of("hebbian"), Hebbian]}

    relevance: str | Hebbian = "hebbian"
