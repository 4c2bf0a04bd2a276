"""LVQClassifierCV: number of prototypes, shared or local matrices, and ridge chosen by cross-validation."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from lvq.estimators.base import DOCUMENTATION, unchanged_on_error
from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.parameters import estimator
from lvq.estimators.prediction import ModelPredictions
from lvq.estimators.validation import check_training_data
from lvq.model.arrays import as_numpy
from lvq.model.prototype_model import PrototypeModel
from lvq.solvers.threads import single_threaded_products
from lvq.typing import Argument, ClassWeight, CrossValidation, Seed

# from linear decision boundaries (one prototype per class, one matrix for all) to the defaults of `LVQClassifier`
STRUCTURES: tuple[dict[str, Argument], ...] = (
    {"relevance": "matrix", "n_prototypes": 1, "kernel": None, "xi": 1.0, "alpha": 0.0},
    {"relevance": "local_matrix", "n_prototypes": 1},
    {"relevance": "local_matrix", "n_prototypes": 2},
)
RIDGES = (0.03, 0.003, 0.001)
FOLD_ITER = 30  # iterations of a fit in a fold: enough to compare, at a quarter of the time of a whole fit
MIN_PROBABILITY = 1e-6  # of a probability, so that one sample cannot outweigh all others


@estimator
class LVQClassifierCV(ModelPredictions, ClassifierMixin, BaseEstimator):
    """`LVQClassifier` with structure and ridge chosen by cross-validation.

    For each fold and structure the ridges form a path, from strong to weak: each fit starts from the one before, so a
    path costs little more than its first fit. Folds run in threads. The best mean score wins; of equal ones the first,
    which is the simpler. The winner is fitted on all samples, along its path. The default score is the mean
    log-likelihood of the true classes: on small sets it varies less than the accuracy, and the winner's accuracy is
    higher. Use ``scoring="accuracy"`` where `structures` differ in their cost, as the probabilities of different costs
    are not equally sharp.

    {parameters}

    {attributes}
    best_estimator_ : LVQClassifier
        The winner, fitted on all samples; it makes all predictions.
    best_params_ : dict
        The winner's structure and ridge.
    best_score_ : float
        Its mean score over the folds.
    cv_results_ : dict
        "params" (list of dict), "mean_test_score" and "std_test_score" (arrays).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQClassifierCV(cv=3, ridges=(0.01,), random_state=0).fit(X, y)
    >>> model.best_params_["ridge"], len(model.cv_results_["params"])
    (0.01, 3)
    """

    _doc_link_module = "lvq"
    _doc_link_template = DOCUMENTATION

    estimator: LVQClassifier | None = None
    cv: CrossValidation = 5
    scoring: str | Callable[..., float] | None = None
    structures: Sequence[dict[str, Argument]] | None = None
    ridges: Sequence[float] = RIDGES
    random_state: Seed = None
    n_jobs: int | None = None
    verbose: bool = False

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose by cross-validation, then fit on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fitting and in the folds' scores.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        self._validate_params()
        structures = STRUCTURES if self.structures is None else self.structures
        if not len(structures) or not len(self.ridges):
            raise ValueError("The 'structures' and 'ridges' of LVQClassifierCV must each hold at least one entry.")
        base = self._base()
        checked = as_numpy(X), as_numpy(y), as_numpy(sample_weight)
        data, index, weight, classes = check_training_data(self, *checked, reset=True, keep_all=True)
        labels = classes[index]
        folds = list(check_cv(self.cv, labels, classifier=True).split(data, labels))
        unweighted = bool(np.all(weight == 1))
        with single_threaded_products(), _without_convergence_warnings():  # the folds are what runs in parallel
            scores = Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=10 * bool(self.verbose))(
                delayed(self._path_scores)(base, structure, data, labels, weight, train, test, unweighted)
                for train, test in folds
                for structure in structures
            )
        candidates = [structure | {"ridge": ridge} for structure in structures for ridge in self.ridges]
        table = np.array(scores).reshape(len(folds), -1)
        mean = table.mean(axis=0)
        best = int(mean.argmax())
        structure, steps_before = divmod(best, len(self.ridges))
        path = self._path(base, structures[structure], X, labels, weight)
        with _without_convergence_warnings():
            for _ in range(steps_before):
                next(path)
        fitted = {
            "best_estimator_": next(path),
            "best_params_": candidates[best],
            "best_score_": float(mean[best]),
            "cv_results_": {"params": candidates, "mean_test_score": mean, "std_test_score": table.std(axis=0)},
        }
        self.__dict__.update(fitted)
        return self

    def _base(self) -> LVQClassifier:
        base = LVQClassifier() if self.estimator is None else clone(self.estimator)
        if not isinstance(base, LVQClassifier):
            raise ValueError(
                f"The 'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None, got {base!r}."
            )
        return base if self.random_state is None else base.set_params(random_state=self.random_state)

    def _path(
        self, base: LVQClassifier, structure: dict[str, Argument], X: ArrayLike, y: np.ndarray, weight: np.ndarray
    ) -> Iterator[LVQClassifier]:
        """Fits of one structure, ridge after ridge, each from the one before."""
        # weights include those of the classes; without a ridge Omega has unit trace, which is another model
        model = clone(base).set_params(**structure, class_weight=None)
        for before, ridge in zip((None, *self.ridges), self.ridges):
            from_start = bool(before) and not ridge
            yield model.set_params(ridge=ridge, warm_start=not from_start).fit(X, y, weight)

    def _path_scores(
        self,
        base: LVQClassifier,
        structure: dict[str, Argument],
        X: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        train: np.ndarray,
        test: np.ndarray,
        unweighted: bool,
    ) -> list[float]:
        short = clone(base).set_params(max_iter=min(base.max_iter, FOLD_ITER))
        path = self._path(short, structure, X[train], y[train], weight[train])
        if self.scoring is None:
            return [_log_likelihood(model, X[test], y[test], weight[test]) for model in path]
        # a user's scorer need not support weights where there are none
        weights = {} if unweighted else {"sample_weight": weight[test]}
        scorer = get_scorer(self.scoring)
        return [float(scorer(model, X[test], y[test], **weights)) for model in path]

    @property
    def class_weight(self) -> ClassWeight:
        """That of the estimator whose structure is chosen."""
        return getattr(self.estimator, "class_weight", None)

    @property
    def model_(self) -> PrototypeModel:  # type: ignore[override]
        """The fitted model of the winner."""
        return self._winner().model_

    @property
    def n_iter_(self) -> int:  # type: ignore[override]
        """Iterations of the winner's last fit."""
        return self._winner().n_iter_

    @property
    def objective_history_(self) -> np.ndarray:  # type: ignore[override]
        """Objective of each iteration of the winner's last fit."""
        return self._winner().objective_history_

    @property
    def _device(self) -> str | None:  # type: ignore[override]
        return self._winner()._device

    def _winner(self) -> LVQClassifier:
        if "best_estimator_" not in vars(self):
            raise AttributeError("This LVQClassifierCV is not fitted yet.")
        return self.best_estimator_


@contextmanager
def _without_convergence_warnings() -> Iterator[None]:
    """Only the winner's own fit warns of its iterations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _log_likelihood(model: LVQClassifier, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Mean logarithm of the true class's probability; a class that was not in the training fold has none."""
    correct = y[:, None] == model.classes_
    probability = np.sum(model.predict_proba(X) * correct, axis=1)
    return float(np.average(np.log(np.maximum(probability, MIN_PROBABILITY)), weights=weight))
