"""LVQClassifier: one estimator with every part as a parameter, and defaults that need no tuning."""

from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from lvq.estimators.base import BaseLVQ, unchanged_on_error
from lvq.estimators.cost_based import CostBasedLVQ
from lvq.estimators.cross_fit import Candidate, best_of, cross_fit, cross_fitted_temperature, make_folds
from lvq.estimators.parameters import at_least_one, estimator, one_of
from lvq.estimators.sample_prototypes import on_samples
from lvq.estimators.specification import Parts
from lvq.estimators.training import Training
from lvq.model.costs import Cost, CrossEntropyCost, MarginCost, MCECost
from lvq.model.links import Link
from lvq.model.relevance import RELEVANCES, Matrix, Relevance, Scale, Structured
from lvq.model.rows import is_sparse
from lvq.model.samples import ArraySamples
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online
from lvq.typing import Argument, Label


class Form(NamedTuple):
    """What `LVQClassifier` chooses: a relevance, and the prototypes of each class."""

    relevance: Argument  # a Relevance
    n_prototypes: int


#: The preferred form first; each is a special case of the one before it.
FORMS = (
    Form(Matrix(local="prototype", ridge="auto", rank="auto"), 2),
    Form(Matrix(local="prototype", ridge="auto", rank="auto"), 1),
    Form(Scale(local="prototype", ridge="auto"), 1),
)
MOST_SAMPLES, MOST_FEATURES = 5_000, 1_000  # up to which a choice is made
MAX_LOCAL = 4_000_000  # numbers in all matrices up to which each prototype has its own
COST, KERNEL = MCECost(alpha=0.03, xi=3.0), "gaussian"


class _OfStreams:
    """`partial_fit`, which is there only for matrices of unit trace, as a stream keeps it; the error tells what to set.

    `available_if` of scikit-learn does the same with a message that does not tell it.
    """

    def __get__(self, model: "LVQClassifier | None", owner: type) -> Callable[..., BaseLVQ]:
        if model is None:
            return CostBasedLVQ.partial_fit
        relevance = model._state.relevance if hasattr(model, "model_") else model._relevance()
        if getattr(relevance, "free_size", False):  # `fit` refuses what is no relevance
            raise AttributeError(
                f"{type(model).__name__} has no partial_fit with these parameters, as it learns how large its matrices "
                "are. Set solver='online' and a relevance such as 'local_diagonal', or a relevance without a ridge, "
                "before the first fit."
            )
        return MethodType(CostBasedLVQ.partial_fit, model)


@estimator
class LVQClassifier(CostBasedLVQ):
    """Learning vector quantization with defaults that need no tuning on standardised features.

    A few labelled prototypes; the prediction is the label of the nearest, by distances ``|Omega_j (x - w_j)|^2`` under
    a kernel. The parts are from the papers: the minimum classification error (Juang and Katagiri 1992) on a Gaussian
    kernel over learned matrices (Kaestner et al. 2012), minimised by L-BFGS. Every part can be changed by a parameter.
    On small data samples that are left out of short fits decide between two prototypes of each class with a matrix
    each, one with a matrix, and one with a plain metric of its own scale. Sparse samples of more than 1,000 features,
    such as texts, have one prototype of each class, the plain metric and no kernel, trained online.
    The probabilities are calibrated. A string for `relevance` names a part with ``ridge="auto"``.
    `partial_fit` is available with ``solver="online"`` or a relevance without a ridge.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import LVQClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0)).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    >>> len(model[-1].prototypes_) <= 2 * len(model.classes_)
    True
    """

    _own_constraints: ClassVar[dict[str, list[object]]] = {
        "n_prototypes": [at_least_one, dict, one_of("auto"), None],
        "relevance": [one_of("auto", *RELEVANCES), None, Relevance],
    }

    n_prototypes: int | dict[Label, int] | Literal["auto"] | None = None  # type: ignore[assignment]
    cost: str | Cost = "auto"
    relevance: str | Relevance | None = "auto"
    kernel: str | Link | None = KERNEL
    cost_matrix: ArrayLike | None = None
    decision: Literal["nearest", "posterior"] = "nearest"
    calibration: Literal["temperature"] | None = "temperature"
    sample_prototypes: bool = False

    def _cost(self) -> Cost:
        cost = self._part("cost", self.cost)
        if isinstance(cost, MarginCost | CrossEntropyCost) and self.cost_matrix is not None:
            return replace(cost, cost_matrix=self._cost_matrix())
        return cost

    def _part(self, name: str, value: Argument) -> Argument:
        """As in all estimators; a relevance that a string names has a ridge, and local ones are for each prototype."""
        if name == "cost" and value == "auto":
            return COST
        if name == "relevance" and value == "auto":
            return self._part(name, FORMS[0].relevance)
        part = super()._part(name, value)
        if name == "relevance" and isinstance(value, str) and isinstance(part, Structured):
            part = replace(part, ridge="auto")
            part = part if part.local is None else replace(part, local="prototype")  # a rule may have it fixed to None
            part = replace(part, rank="auto") if isinstance(part, Matrix) else part
        online = isinstance(self.solver, Online) or self.solver == "online"
        named = isinstance(value, str) or value is FORMS[0].relevance
        return replace(part, ridge=0.0) if named and online and isinstance(part, Structured) else part

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor, dask array or dask data frame of shape (n_samples, n_features)
            Samples, as in the other models.
        y : array-like, torch tensor, dask array or dask series of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        groups : array-like of shape (n_samples,), optional
            Groups, such as patients, that neither the choice of a form nor the calibration of the probabilities must
            split. For samples in memory.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight, groups)

    def _parts(self, X: ArrayLike | None = None, device: str | None = None) -> Parts:
        if self.solver == "auto" and self._is_open() and is_sparse(X) and X.shape[1] > MOST_FEATURES:
            return self._plain()._parts(X, device)
        return super()._parts(X, device)

    def _is_open(self) -> bool:
        """Whether metric and number of prototypes are left open."""
        automatic = isinstance(self.relevance, str) and self.relevance == "auto"
        return automatic and self.n_prototypes is None and isinstance(self.init, str)

    def _plain(self) -> Self:
        """A copy with one prototype of each class in the plain metric; a kernel that was not given is left out."""
        kernel = None if self.kernel == KERNEL else self.kernel
        return clone(self).set_params(relevance=None, n_prototypes=1, kernel=kernel, solver="online")

    def _with_form(self, form: Form) -> Self:
        return clone(self).set_params(relevance=form.relevance, n_prototypes=form.n_prototypes)

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        return np.full(len(classes), FORMS[0].n_prototypes) if self.n_prototypes is None else super()._counts(classes)

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None, warm: bool
    ) -> tuple[Self, Parts, float]:
        shaped, parts, _ = super()._settled(parts, samples, classes, groups, warm)
        forms = self._forms(parts, samples, len(classes)) if self._is_open() else ()
        if self._is_open() and (warm or not forms):
            shaped = as_chosen(self) if warm else self._plain()
            forms = ()
        if not forms and self.calibration is None:
            return shaped, replace(parts, relevance=shaped._relevance()) if self._is_open() else parts, 1.0
        least = 2 * int(shaped._counts(classes).max()) + 2
        folds = make_folds(samples, classes, least, groups)
        shapes = [self._with_form(form) for form in forms[: 1 if folds is None else None]] or [shaped]
        candidates = [
            Candidate(shape, replace(parts, relevance=shape._relevance()) if self._is_open() else parts)
            for shape in shapes
        ]
        if folds is None:
            return *candidates[0], 1.0
        if len(candidates) == 1:
            return *candidates[0], 1.0 if self.calibration is None else cross_fitted_temperature(candidates[0], folds)
        place, temperature = best_of(cross_fit(candidates, folds), folds)
        return *candidates[place], 1.0 if self.calibration is None else temperature

    def _forms(self, parts: Parts, samples: ArraySamples, n_classes: int) -> tuple[Form, ...]:
        """The forms to choose from; one where samples are many, and none for the plain one of many sparse features."""
        if type(parts.relevance) is Relevance:
            return ()
        first, n = FORMS[0], samples.n_features
        size = first.n_prototypes * n_classes * Matrix(rank="auto").n_rows(n) * n
        if size > MAX_LOCAL:
            first = first._replace(relevance=replace(first.relevance, local=None))
        if not isinstance(parts.solver, LBFGS) or samples.n_samples > MOST_SAMPLES or n > MOST_FEATURES:
            online = parts.is_online
            return (first._replace(relevance=replace(first.relevance, ridge=0.0)) if online else first,)
        return (first, *FORMS[1:])

    def _finished(self, parts: Parts, training: Training, samples: ArraySamples, classes: np.ndarray) -> Training:
        return on_samples(parts, training, samples, classes) if self.sample_prototypes else training

    partial_fit = _OfStreams()


def as_chosen(estimator: BaseLVQ) -> BaseLVQ:
    """A copy of a fitted estimator that is not fitted, with the form that its `fit` has chosen."""
    if not isinstance(estimator, LVQClassifier) or not estimator._is_open():
        return clone(estimator)
    rule, model = estimator._state.relevance, estimator.model_
    if type(rule) is Relevance:
        return estimator._plain()
    return estimator._with_form(Form(rule, round(len(model.labels) / len(model.classes))))
