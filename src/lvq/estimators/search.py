"""LVQClassifierCV: number of prototypes, metric, cost and ridge chosen by cross-validation."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import Tags

from lvq.estimators.base import unchanged_on_error
from lvq.estimators.classifier import FORMS, LVQClassifier
from lvq.estimators.cross_fit import Candidate, Folds, Scores, choose, cross_fit, group_folds, log_likelihoods
from lvq.estimators.inputs import training_samples
from lvq.estimators.parameters import estimator, one_of
from lvq.estimators.predictions import ModelPredictions
from lvq.estimators.specification import check_parts
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Matrix, Scale, Structured
from lvq.model.rows import as_numpy, canonical_order
from lvq.model.samples import product_threads, single_threaded_products
from lvq.typing import Argument, Array, ClassWeight, CrossValidation, Fold, Seed

_PLAIN, _, _, _ADDITIVE, _, _SHARED, _MATRICES, _ = (form.relevance for form in FORMS)
# What is compared, in the order of preference: of candidates that the scores cannot tell apart the first is taken.
CANDIDATES: tuple[dict[str, Argument], ...] = (
    *({"relevance": form.relevance, "n_prototypes": form.n_prototypes} for form in FORMS),
    {"relevance": _PLAIN, "n_prototypes": 20},
    {"relevance": _SHARED, "n_prototypes": 12},
    {"relevance": replace(_MATRICES, ridge=0.03), "n_prototypes": 1},
    {"relevance": _MATRICES, "n_prototypes": 2},
)


def default_candidates(base: LVQClassifier) -> list[dict[str, Argument]]:
    """What is compared where the user gives nothing: of the form of the estimator, and what its solver can learn."""
    given = list(CANDIDATES)
    if base.form != "auto":
        given = [{"relevance": form.relevance, "n_prototypes": form.n_prototypes} for form in base._table()]
    if base._is_online():
        given = [candidate | {"relevance": _without_size(candidate["relevance"])} for candidate in given]
    return list({str(candidate): candidate for candidate in given}.values())


def _without_size(relevance: Structured) -> Structured | None:
    """The relevance without what only batch solvers can learn."""
    if isinstance(relevance, Scale):
        return None
    unit = replace(relevance, ridge=0.0)
    return replace(unit, shrinkage=0.0) if isinstance(unit, Matrix) else unit


@estimator
class LVQClassifierCV(ModelPredictions, ClassifierMixin, BaseEstimator):
    """`LVQClassifier` with structure and ridge chosen by cross-validation.

    All candidates, the forms of `LVQClassifier` and some others, are compared by short fits in all folds.
    Differences of scores on the same samples have a standard error; the first candidate wins that is behind the
    best one by at most a quarter of it. The winner is fitted on all samples. The default score is the log-likelihood
    of the true classes, each candidate's at the temperature that its probabilities need: on small sets it varies less
    than the accuracy, and the winner's accuracy is higher. The winner keeps its temperature.

    Those default candidates with more than two prototypes, and more than half of the distinct samples of
    the smallest class, are left out.

    {parameters}

    {attributes}
    best_estimator_ : LVQClassifier
        The winner, fitted on all samples; it makes all predictions.
    best_params_ : dict
        The winner's entry of `candidates`.
    best_score_ : float
        Its mean score.
    cv_results_ : dict
        An entry for each candidate: "params" (list of dict), and as arrays "mean_test_score", over the validation
        samples or, with a `scoring`, over the folds, and "std_test_score" over the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = [{"n_prototypes": 1}, {"n_prototypes": 2}]
    >>> model = LVQClassifierCV(candidates=candidates, cv=3, random_state=0).fit(X, y)
    >>> model.best_params_ in candidates, len(model.cv_results_["mean_test_score"])
    (True, 2)
    """

    # here and not in the table: the names are in sklearn.metrics, which no other estimator needs to load
    _own_constraints: ClassVar[dict[str, list[object]]] = {"scoring": [one_of(*get_scorer_names()), callable, None]}

    estimator: LVQClassifier | None = None
    candidates: Sequence[Mapping[str, Argument]] | None = None
    cv: CrossValidation = 5
    scoring: str | Callable[..., float] | None = None
    random_state: Seed = None
    n_jobs: int | None = None
    verbose: bool = False

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose by cross-validation, then fit on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fitting and in the folds' scores.
        groups : array-like of shape (n_samples,), optional
            Groups, such as patients, that no fold splits. For `cv` they are the groups of a splitter; a number of
            folds is then one of stratified folds of whole groups.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Self:
        self._validate_params()
        base = self._base()
        checked = as_numpy(X), as_numpy(y), as_numpy(sample_weight)
        samples, classes, rows = training_samples(self, *checked, reset=True)
        given = self.candidates
        if given is None:
            most = max(2, min(len(canonical_order(samples.X[samples.y == k])[1]) for k in range(len(classes))) // 2)
            given = [candidate for candidate in default_candidates(base) if candidate["n_prototypes"] <= most]
        candidates = self._specified(base, given)
        assert isinstance(rows, np.ndarray)
        groups = None if groups is None else np.asarray(groups)[rows]
        splits = self._splits(samples.X, classes[samples.y], groups, rows)
        folds = Folds(samples, [_checked_fold(samples.y, *split) for split in splits], classes)
        with single_threaded_products(product_threads()):
            scores, temperatures = self._scores(candidates, folds)
        best = choose(scores)
        means = scores.means()
        fitted = {
            "best_estimator_": _fit_at(temperatures[best], candidates[best].estimator, X, y, sample_weight),
            "best_params_": dict(given[best]),
            "best_score_": float(means[best]),
            "cv_results_": {
                "params": [dict(candidate) for candidate in given],
                "mean_test_score": means,
                "std_test_score": scores.deviations(),
            },
        }
        self.__dict__.update(fitted)
        return self

    def _scores(self, candidates: Sequence[Candidate], folds: Folds) -> tuple[Scores, list[float]]:
        """Scores of the candidates, and the temperatures of their probabilities."""
        y, weight, number = folds.known
        tables = cross_fit(candidates, folds, self.n_jobs)
        given = [1.0 if candidate.estimator.calibration is None else None for candidate in candidates]
        judged = [log_likelihoods(table, y, weight, temperature) for table, temperature in zip(tables, given)]
        temperatures = [temperature for _, temperature in judged]
        if self.scoring is None:
            return Scores(np.stack([judge[0] for judge in judged]), weight, number, folds.test_ratio), temperatures
        scorer, n_folds = get_scorer(self.scoring), len(folds.pairs)
        table = np.array([[_fold_score(scorer, each, folds, k) for k in range(n_folds)] for each in candidates])
        return Scores(table, np.ones(n_folds), np.arange(n_folds), folds.test_ratio), temperatures

    def _splits(self, X: Array, y: np.ndarray, groups: np.ndarray | None, rows: np.ndarray) -> list[Fold]:
        """Pairs of rows; those that a user gives are of all samples, also of those of weight 0."""
        if groups is not None and isinstance(self.cv, int):
            return group_folds(y, groups, self.cv)
        if isinstance(self.cv, Iterable):
            place = np.full(int(rows.max()) + 1, -1)
            place[rows] = np.arange(len(rows))
            pairs = [tuple(place[np.asarray(part)] for part in pair) for pair in self.cv]
            return [(train[train >= 0], test[test >= 0]) for train, test in pairs]
        try:
            whole = isinstance(self.cv, int)  # rows of a table often come in an order
            splitter = StratifiedKFold(self.cv, shuffle=True, random_state=0) if whole else check_cv(self.cv, y)
            return list(splitter.split(X, y, groups))
        except ValueError as error:
            raise ValueError(
                f"cv={self.cv!r} of {type(self).__name__} cannot split these {len(y)} samples: {error} Give fewer "
                "folds, more samples, or the groups that it needs to fit."
            ) from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.missing == "raise"
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    def _base(self) -> LVQClassifier:
        base = LVQClassifier() if self.estimator is None else self.estimator
        if not isinstance(base, LVQClassifier):
            raise ValueError(
                f"The 'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None, got {base!r}."
            )
        return base

    def _specified(self, base: LVQClassifier, given: Sequence[Mapping[str, Argument]]) -> list[Candidate]:
        """The candidates as estimators with their parts, their parameters checked."""
        if not len(given):
            raise ValueError("The 'candidates' parameter of LVQClassifierCV must hold at least one dict, got none.")
        for candidate in given:
            if not isinstance(candidate, Mapping):
                raise ValueError(
                    "The 'candidates' parameter of LVQClassifierCV must hold dicts of parameters of LVQClassifier, got "
                    f"{candidate!r}."
                )
        seed = {} if self.random_state is None else {"random_state": self.random_state}
        specified = []
        for params in given:
            fixed = {"form": "auto"} if "relevance" in params else {}
            candidate = clone(base).set_params(**(seed | fixed | dict(params)))
            candidate._validate_params()
            if candidate._is_open():  # the folds compare candidates, not what each of them would choose
                candidate = candidate._with_form(candidate._table()[0])
            parts = candidate._parts()
            check_parts(candidate, parts)
            specified.append(Candidate(candidate, parts))
        return specified

    @property
    def class_weight(self) -> ClassWeight:
        """That of the estimator whose structure is chosen."""
        return getattr(self.estimator, "class_weight", None)

    @property
    def missing(self) -> str:
        """That of the estimator whose structure is chosen."""
        return getattr(self.estimator, "missing", "raise")

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

    def _winner(self) -> LVQClassifier:
        if "best_estimator_" not in vars(self):
            raise AttributeError("This LVQClassifierCV is not fitted yet.")
        return self.best_estimator_


def _checked_fold(y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Fold:
    """Rows by their numbers; ValueError where those to train on are of one class."""
    train, test = np.arange(len(y))[train], np.arange(len(y))[test]
    if len(np.unique(y[train])) < 2:
        raise ValueError(
            "The 'cv' parameter of LVQClassifierCV must leave samples of at least two classes in every training fold, "
            "got one with a single class. Use fewer folds, or stratified ones."
        )
    return train, test


def _fold_score(scorer: Callable[..., float], candidate: Candidate, folds: Folds, number: int) -> float:
    """The score of a candidate in a fold; a scorer of the user need not support weights where all are one."""
    (train, test), (X, y, weight) = folds.pairs[number], folds.samples.take(slice(None))
    labels = folds.classes[y]
    short = clone(candidate.estimator).set_params(calibration=None, max_iter=candidate.iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = short.fit(X[train], labels[train], weight[train])
    weights = {} if np.all(weight == 1) else {"sample_weight": weight[test]}
    return float(scorer(model, X[test], labels[test], **weights))


def _fit_at(
    temperature: float, winner: LVQClassifier, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> LVQClassifier:
    """The winner fitted on all samples, its probabilities at the temperature that its folds have given."""
    wanted = winner.calibration
    winner.set_params(calibration=None).fit(X, y, sample_weight).set_params(calibration=wanted)
    winner.model_ = replace(winner.model_, decision=replace(winner.model_.decision, temperature=temperature))
    return winner
