"""A small, fast search over the axes that matter: how many prototypes, who has a matrix, how strong the ridge."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv

from lvq.estimators.base import Parts
from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import as_numpy
from lvq.estimators.validation import check_training_data, strings, whole_number
from lvq.model.relevance import Relevance
from lvq.solvers.threads import single_threaded_products

# from borders that are planes (one prototype per class, one matrix for all) to the defaults of `LVQClassifier`
STRUCTURES: tuple[dict[str, Any], ...] = (
    {"relevance": "matrix", "n_prototypes": 1, "kernel": None, "xi": 1.0, "alpha": 0.0},
    {"relevance": "local_matrix", "n_prototypes": 1},
    {"relevance": "local_matrix", "n_prototypes": 2},
)
RIDGES = (0.03, 0.003, 0.001)
FLOOR = 1e-6  # of a probability, so that one sample cannot outweigh all others


@estimator
class LVQClassifierCV(LVQClassifier):
    """`LVQClassifier` with structure and ridge chosen by cross-validation.

    For each fold and structure the ridges form a path, from strong to weak: each fit starts from the one before, so a
    path costs little more than its first fit. Folds run in threads. The best mean score wins; of equal ones the first,
    which is the simpler. The winner is fitted on all samples, along its path. Unless `scoring` says otherwise the score
    is the mean log-likelihood of the true classes: on small sets it depends less on luck than the number of right
    answers does, and the winner has more of these. Take ``scoring="accuracy"`` where `structures` differ in their cost,
    as the costs' probabilities are not equally sharp.

    {parameters}

    {attributes}
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

    _parameter_constraints = LVQClassifier._parameter_constraints | {
        "cv": ["cv_object"],
        "scoring": [strings(*get_scorer_names()), callable, None],
        "structures": [tuple, list, None],
        "ridges": [tuple, list],
        "n_jobs": [whole_number, None],
    }

    cv: Any = 5
    scoring: Any = None
    structures: Any = None
    ridges: Any = RIDGES
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        self._validate_params()
        if not len(self._structures()) or not len(self.ridges):
            raise ValueError("The 'structures' and 'ridges' of LVQClassifierCV must each hold at least one entry.")
        self.__dict__.pop("_model", None)
        X, y, sample_weight = as_numpy(X), as_numpy(y), as_numpy(sample_weight)
        X, index, weight, classes = check_training_data(self, X, y, sample_weight, reset=True, keep_all=True)
        labels = classes[index]
        folds = list(check_cv(self.cv, labels, classifier=True).split(X, labels))
        with single_threaded_products(), _no_word_of_convergence():  # the folds are what runs side by side
            scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._path_scores)(structure, X, labels, weight, train, test)
                for train, test in folds
                for structure in self._structures()
            )
        best = self._record(np.array(scores).reshape(len(folds), -1))
        structure, steps_before = divmod(best, len(self.ridges))
        path = self._path(self._structures()[structure], X, labels, weight)
        with _no_word_of_convergence():
            for _ in range(steps_before):
                next(path)
        self._adopt(next(path))
        return self

    def _structures(self) -> Any:
        return STRUCTURES if self.structures is None else self.structures

    def _path(self, structure: dict[str, Any], X: Any, y: Any, weight: Any) -> Iterator[LVQClassifier]:
        """Fits of one structure, ridge after ridge, each from the one before."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name in _CLASSIFIER}
        model = LVQClassifier(**(own | structure | {"warm_start": True, "class_weight": None}))  # weights have it
        for ridge in self.ridges:
            yield model.set_params(ridge=ridge).fit(X, y, weight)

    def _path_scores(
        self, structure: dict[str, Any], X: Any, y: Any, weight: Any, train: Any, test: Any
    ) -> list[float]:
        path = self._path(structure, X[train], y[train], weight[train])
        if self.scoring is None:
            return [_log_likelihood(model, X[test], y[test], weight[test]) for model in path]
        # a scorer of the user's own need not know of weights where there are none
        weights = {} if np.all(weight == 1) else {"sample_weight": weight[test]}
        scorer = get_scorer(self.scoring)
        return [float(scorer(model, X[test], y[test], **weights)) for model in path]

    def _record(self, table: np.ndarray) -> int:
        """Fill in what the search found; the index of the best candidate."""
        mean = table.mean(axis=0)
        best = int(mean.argmax())
        candidates = [structure | {"ridge": ridge} for structure in self._structures() for ridge in self.ridges]
        self.cv_results_ = {"params": candidates, "mean_test_score": mean, "std_test_score": table.std(axis=0)}
        self.best_params_, self.best_score_ = candidates[best], float(mean[best])
        return best

    def _adopt(self, model: LVQClassifier) -> None:
        """Take over everything a fitted model has learned."""
        for name in ("relevances_", "omega_", "kernel_width_"):
            self.__dict__.pop(name, None)
        self._model = model
        for name, value in vars(model).items():
            learned = name.endswith("_") or name.startswith("_")
            if learned and name not in ("n_features_in_", "feature_names_in_"):
                setattr(self, name, value)

    # Once a winner is known, answers are the winner's: its parts, its decision, its own slope.

    def _winner(self) -> LVQClassifier | None:
        return getattr(self, "_model", None)

    def _parts(self) -> Parts:
        model = self._winner()
        return super()._parts() if model is None else model._parts()

    def _relevance(self) -> Relevance:
        model = self._winner()
        return super()._relevance() if model is None else model._relevance()

    def _by_posterior(self) -> bool:
        model = self._winner()
        return super()._by_posterior() if model is None else model._by_posterior()

    def _sharpness(self) -> float:
        model = self._winner()
        return super()._sharpness() if model is None else model._sharpness()

    def _streams(self) -> bool:
        return False  # a stream cannot be cross-validated


@contextmanager
def _no_word_of_convergence() -> Iterator[None]:
    """Only the winner's own fit has something to say of its iterations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _log_likelihood(model: LVQClassifier, X: Any, y: Any, weight: Any) -> float:
    """Mean logarithm of the true class's probability; a class that was not in the training fold has none."""
    right = y[:, None] == model.classes_
    probability = np.sum(model.predict_proba(X) * right, axis=1)
    return float(np.average(np.log(np.maximum(probability, FLOOR)), weights=weight))


_CLASSIFIER = frozenset(LVQClassifier().get_params())
