"""LVQClassifier: a probability model that can be read, with a form that is chosen on left-out samples."""

from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array

from lvq.estimators.base import BaseLVQ, unchanged_on_error
from lvq.estimators.cost_based import CostBasedLVQ
from lvq.estimators.cross_fit import Candidate, Choice, Folds, choice_rows, cross_fit, make_folds
from lvq.estimators.parameters import at_least_one, estimator, one_of
from lvq.estimators.specification import MAX_SPARSE, Parts, Solver
from lvq.model.costs import Cost, CrossEntropyCost, MarginCost
from lvq.model.relevance import FULL_RANK_FEATURES, RELEVANCES, Matrix, Relevance, Scale, Structured, Weights
from lvq.model.rows import as_numpy, is_sparse
from lvq.model.samples import ArraySamples
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online
from lvq.typing import Argument, Label


class Form(NamedTuple):
    """One of the models that `LVQClassifier` chooses from: a name, a relevance, and prototypes of each class."""

    name: str
    relevance: Argument  # a Relevance
    n_prototypes: int

    @property
    def label(self) -> str:
        """The form in words."""
        shape = "local matrix" if getattr(self.relevance, "local", None) and self.name == "matrix" else self.name
        return f"{shape}, {self.n_prototypes} prototype{'s' if self.n_prototypes > 1 else ''} a class"

    def counts(self, samples: ArraySamples, classes: np.ndarray) -> int | dict[Label, int]:
        """Prototypes of each class: at most half as many as samples."""
        if self.n_prototypes == 1 or not samples.in_memory:
            return self.n_prototypes
        sizes = np.bincount(as_numpy(samples.y), minlength=len(classes))
        counts = np.clip(sizes // 2, 1, self.n_prototypes)
        return dict(zip(classes.tolist(), counts.tolist())) if counts.min() < self.n_prototypes else self.n_prototypes

    def work(self, n_features: int, n_classes: int) -> int:
        """Multiplications for the distances of a sample."""
        n_prototypes = self.n_prototypes * n_classes
        if not isinstance(self.relevance, Matrix):
            return n_prototypes * n_features
        rank = self.relevance.n_rows(n_features)
        shared = self.relevance.local is None
        return rank * (n_features + n_prototypes) if shared else rank * n_features * n_prototypes

    def can_learn(self, n_features: int, n_classes: int, class_size: float) -> bool:
        """Whether the metric is worth a trial.

        With many features, a shared matrix has too few rows to separate many classes, and local metrics have more
        parameters than a class has samples: for 384 features and 150 classes they only take time.
        """
        if n_features <= FULL_RANK_FEATURES or self.name == "plain":
            return True
        if isinstance(self.relevance, Matrix) and self.relevance.local is None:
            return self.relevance.n_rows(n_features) >= min(n_features, n_classes - 1)
        return class_size >= n_features


RIDGE, SHRINKAGE = 0.1, 0.3  # the best mean over 29 sets
_PLAIN = Scale(local=None, ridge=0.003)
_ADDITIVE = Weights(local="prototype", ridge=RIDGE)
_SHARED = Matrix(ridge=RIDGE, rank="auto")
_MATRICES = Matrix(local="prototype", ridge=RIDGE, rank="auto", shrinkage=SHRINKAGE)
#: From readable to flexible: among forms that the scores cannot separate, the first is chosen.
FORMS = (
    Form("plain", _PLAIN, 1),
    Form("plain", _PLAIN, 8),
    Form("linear", _SHARED, 1),
    Form("additive", _ADDITIVE, 1),
    Form("additive", _ADDITIVE, 3),
    Form("matrix", _SHARED, 3),
    Form("matrix", _MATRICES, 1),
    Form("matrix", _MATRICES, 3),
)
NAMES = tuple(dict.fromkeys(form.name for form in FORMS))
FEW = 10  # samples of a class on average; with fewer a metric cannot be learned
CHOICE_WORK = 100_000_000  # most multiplications of a form for distances of the samples used for the choice,
FIT_WORK = 40_000_000_000  # and of all samples
TEXT_TOL = 3e-4  # for L-BFGS with sparse samples of many features: on 20 newsgroups half the iterations of 1e-5


class _OfStreams:
    """`partial_fit`, only for matrices of unit trace, as a stream keeps them; otherwise an error says what to set.

    `available_if` of scikit-learn has no such message.
    """

    def __get__(self, model: "LVQClassifier | None", owner: type) -> Callable[..., BaseLVQ]:
        if model is None:
            return CostBasedLVQ.partial_fit
        relevance = model._state.relevance if hasattr(model, "model_") else model._relevance()
        if getattr(relevance, "free_size", False):  # `fit` refuses what is not a relevance
            raise AttributeError(
                f"{type(model).__name__} has no partial_fit with these parameters, as it learns the size of its "
                "matrices. Before the first fit, set solver='online' and a relevance such as 'local_diagonal', or a "
                "relevance without a ridge. To add only a class, use add_class."
            )
        return MethodType(CostBasedLVQ.partial_fit, model)


@estimator
class LVQClassifier(CostBasedLVQ):
    """Prototypes as a probability model: a class is as likely as its nearest prototype is near.

    ``P(c | x) = softmax_c(-d_c)``, where d_c is the smallest squared distance of x to a prototype of class c, in a
    metric that is learned with its scale. So log-odds are differences of squared distances, and these are sums over
    features. The cost is the cross-entropy, minimised by L-BFGS.

    The metric has one of several forms, from readable to flexible: "plain" (squared differences), "linear" (a matrix
    for all and one prototype a class, which is multinomial logistic regression), "additive" (a weight of each feature
    for each prototype) and "matrix" (a matrix for all prototypes, or one for each). With one prototype a class,
    log-odds of the plain and of the additive form are a sum of functions of single features. The log-loss of samples
    left out of short fits decides: among forms that it cannot separate, the most readable is chosen. With fewer than 50
    samples, or ten a class, the form is plain with one prototype. The probabilities are calibrated.

    Sparse samples of more than 1,024 features, such as tf-idf, have one prototype a class in the plain metric.
    `partial_fit` is available with ``solver="online"`` or a relevance without a ridge.

    {parameters}

    {attributes}
    form_ : str or None
        The form that was chosen; None where the parameters fix the relevance.
    form_scores_ : dict
        Log-loss of samples left out, by form; empty where nothing was compared. Forms that are far behind after some
        folds are left out of the others.

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
    >>> model[-1].form_ in ("plain", "linear", "additive", "matrix")
    True
    """

    _own_constraints: ClassVar[dict[str, list[object]]] = {
        "n_prototypes": [at_least_one, dict, one_of("auto"), None],
        "relevance": [one_of("auto", *RELEVANCES), None, Relevance],
    }

    form: Literal["auto", "plain", "linear", "additive", "matrix"] = "auto"
    n_prototypes: int | dict[Label, int] | Literal["auto"] | None = None  # type: ignore[assignment]
    cost: str | Cost = "cross_entropy"
    relevance: str | Relevance | None = "auto"
    cost_matrix: ArrayLike | None = None
    calibration: Literal["temperature"] | None = "temperature"

    def _cost(self) -> Cost:
        cost = self._part("cost", self.cost)
        if isinstance(cost, MarginCost | CrossEntropyCost) and self.cost_matrix is not None:
            given = check_array(self.cost_matrix, dtype=np.float64, input_name="cost_matrix", estimator=self)
            return replace(cost, cost_matrix=given)
        return cost

    def _relevance(self) -> Relevance:
        return self._table()[0].relevance if self._is_open() else super()._relevance()

    def _part(self, name: str, value: Argument) -> Argument:
        """As in all estimators; a relevance named by a string has a ridge, and local ones are for each prototype."""
        if name != "relevance" or not isinstance(value, str):
            return super()._part(name, value)
        part = super()._part(name, value)
        if isinstance(part, Structured):
            part = replace(part, ridge=0.0 if self._is_online() else RIDGE)
            part = part if part.local is None else replace(part, local="prototype")  # a rule may have it fixed to None
        return replace(part, rank="auto") if isinstance(part, Matrix) else part

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor, dask array or dask data frame of shape (n_samples, n_features)
            Samples, as in the other models.
        y : array-like, torch tensor, dask array or dask series of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples. If forms are compared or probabilities calibrated, a weight of two may lead to
            another form or temperature than two copies, as folds consist of rows; everything else is the same.
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

    # -- forms ---------------------------------------------------------------------------------------------------------

    def _is_open(self) -> bool:
        """Whether the form decides on the metric."""
        return isinstance(self.relevance, str) and self.relevance == "auto"

    def _is_online(self) -> bool:
        return isinstance(self.solver, Online) or self.solver == "online"

    def _counts_are_open(self) -> bool:
        return self.n_prototypes in (None, "auto") and isinstance(self.init, str)

    def _table(self, forms: tuple[Form, ...] = FORMS) -> tuple[Form, ...]:
        """The forms that the parameters leave open; with the online solver they have no ridge."""
        forms = tuple(form for form in forms if self.form in ("auto", form.name))
        if self._is_online():
            shared = Matrix(rank="auto") if self.form in ("auto", "linear", "matrix") else Relevance()
            rule = Weights(local="prototype") if self.form == "additive" else shared
            return (Form(forms[-1].name, rule, 1 if self.form == "linear" else 3),)
        if not self._counts_are_open():
            return tuple({form.relevance: form for form in reversed(forms)}.values())[::-1]
        return forms

    def _parts(self, X: ArrayLike | None = None, device: str | None = None) -> Parts:
        if not self._is_open() and self.form != "auto":
            raise ValueError(
                f"LVQClassifier takes the form={self.form!r} or a relevance, got relevance={self.relevance!r} too. "
                "Give one of them."
            )
        return super()._parts(X, device)

    def _solver(self, cost: Cost, relevance: Relevance, X: ArrayLike | None) -> Solver:  # type: ignore[override]
        """As in all estimators, but L-BFGS ends early for the plain form of sparse rows."""
        if self.solver == "auto" and isinstance(relevance, Scale) and _is_wide(X):
            return LBFGS(tol=TEXT_TOL)
        return super()._solver(cost, relevance, X)

    def _with_form(self, relevance: Relevance, n_prototypes: int | dict[Label, int]) -> Self:
        """A copy fixed to a form; a number of prototypes from the user is kept."""
        given = n_prototypes if self._counts_are_open() else self.n_prototypes
        return clone(self).set_params(form="auto", relevance=relevance, n_prototypes=given)

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        return np.full(len(classes), 1) if self.n_prototypes is None else super()._counts(classes)

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None, warm: bool
    ) -> tuple[Self, Parts, float]:
        """A copy with the form that is best on left-out samples, its parts, and its temperature."""
        forms: tuple[Form, ...] = ()
        self.form_: str | None
        if not self._is_open():
            shapes = [super()._settled(parts, samples, classes, groups, warm)[0]]
        elif warm and self._goes_on(classes):
            forms, shapes = (Form(self.form_ or "plain", self._state.relevance, 1),), [as_chosen(self)]
        else:
            forms = self._affordable(FORMS, parts, samples, len(classes))
            shapes = [self._with_form(form.relevance, form.counts(samples, classes)) for form in forms]
        candidates = [Candidate(shape, replace(parts, relevance=shape._relevance())) for shape in shapes]
        folds = self._folds(parts, samples, classes, groups) if len(forms) > 1 or self.calibration else None
        choice = Choice(0, 1.0, np.array([])) if folds is None else cross_fit(candidates, folds)
        self.form_ = forms[choice.place].name if forms else None
        scores = choice.scores if len(forms) > 1 else ()
        self.form_scores_ = {form.label: -float(score) for form, score in zip(forms, scores)}
        return *candidates[choice.place], 1.0 if self.calibration is None else choice.temperature

    def _folds(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None
    ) -> Folds | None:
        """Folds; sparse rows keep only features that are not all 0, where these are enough for the model."""
        folds = make_folds(samples, classes, groups)
        plain = isinstance(parts.relevance, Scale) and isinstance(self.init, str)
        return folds.narrow() if folds is not None and plain and _is_wide(folds.samples.X) else folds

    def _goes_on(self, classes: np.ndarray) -> bool:
        """Whether a warm start can go on; `check_unchanged` refuses other classes, and other shapes of the metric."""
        has_size = self._state.relevance.free_size
        return np.array_equal(classes, self.model_.classes) and not (self._is_online() and has_size)

    def _affordable(
        self, forms: tuple[Form, ...], parts: Parts, samples: ArraySamples, n_classes: int
    ) -> tuple[Form, ...]:
        """The forms to compare: a plain one where samples are few, and no form that takes too long."""
        forms, n_samples = self._table(forms), samples.n_samples
        if not isinstance(parts.solver, LBFGS):
            return forms[-1:]
        if n_samples < FEW * n_classes or (samples.in_memory and _is_wide(samples.X)):
            return forms[:1]
        rows = choice_rows(n_samples, n_classes)
        most = min(CHOICE_WORK / rows * max(1, n_samples / (2 * rows)), FIT_WORK / n_samples)
        size = (samples.n_features, n_classes)
        return forms[:1] + tuple(
            form for form in forms[1:] if form.work(*size) <= most and form.can_learn(*size, n_samples / n_classes)
        )

    partial_fit = _OfStreams()


def _is_wide(X: ArrayLike | None) -> bool:
    """Whether samples are sparse with more features than a matrix can have, as with tf-idf."""
    return is_sparse(X) and X.shape[1] > MAX_SPARSE


def as_chosen(estimator: BaseLVQ) -> BaseLVQ:
    """An unfitted copy of a fitted estimator, with the form that its `fit` has chosen."""
    if not isinstance(estimator, LVQClassifier) or not estimator._is_open():
        return clone(estimator)
    model = estimator.model_
    counts = np.bincount(model.labels, minlength=len(model.classes))
    return estimator._with_form(estimator._state.relevance, dict(zip(model.classes.tolist(), counts.tolist())))
