"""LVQClassifierCV: number of prototypes, metric, cost and ridge chosen by cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from joblib import Parallel
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import Tags

from lvq.estimators.atomic import unchanged_on_error
from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.grouped_calibration import group_folds
from lvq.estimators.halving import successive_halving
from lvq.estimators.parameters import estimator, one_of
from lvq.estimators.part_checks import check_parts
from lvq.estimators.prediction import ModelPredictions
from lvq.estimators.selection import choose
from lvq.estimators.short_fits import make_fold
from lvq.estimators.specification import DOCUMENTATION
from lvq.estimators.tensors import require_torch
from lvq.estimators.validation import check_training_data
from lvq.model.arrays import as_numpy
from lvq.model.prototype_model import PrototypeModel
from lvq.model.sparse_rows import take_rows
from lvq.model.starts import canonical_order
from lvq.typing import Argument, ClassWeight, CrossValidation, Fold, Seed

LOGM: dict[str, Argument] = {"cost": "logm", "xi": 2.0}
MCE: dict[str, Argument] = {"cost": "mce", "xi": 2.0}

# What is compared, in the order of preference: of candidates that the scores cannot tell apart the first is taken.
# The first are the best on the mean of many sets, each other one is the best on some: `experiments/results/pool.md`.
CANDIDATES: tuple[dict[str, Argument], ...] = (
    LOGM | {"relevance": "local_matrix", "n_prototypes": 2, "ridge": "auto"},
    LOGM | {"relevance": "local_matrix", "n_prototypes": 2, "ridge": 0.03},
    LOGM | {"relevance": "local_matrix", "n_prototypes": 1, "ridge": "auto"},
    MCE | {"relevance": "local_matrix", "n_prototypes": 1, "ridge": 0.003},
    LOGM | {"relevance": "local_diagonal", "n_prototypes": 4, "ridge": 0.0003},
    MCE | {"relevance": "local_diagonal", "n_prototypes": 10, "ridge": 0.001},
    LOGM | {"relevance": "local_scale", "n_prototypes": 2, "ridge": 0.001},
    LOGM | {"xi": 1.0, "alpha": 0.0, "relevance": "matrix", "n_prototypes": 1, "kernel": None, "ridge": 0.03},
)


def default_candidates(base: LVQClassifier) -> list[dict[str, Argument]]:
    """Those of `CANDIDATES` that an estimator can be, without their cost where it has one that is not the default.

    Parameters
    ----------
    base : LVQClassifier
        The estimator whose structure is chosen.

    Returns
    -------
    candidates : list of dict
        Parameters to set, in the order of preference.

    Examples
    --------
    >>> len(default_candidates(LVQClassifier())), len(default_candidates(LVQClassifier(rank=2)))
    (8, 5)
    """
    chosen, plain = list[dict[str, Argument]](), LVQClassifier()
    own = not (isinstance(base.cost, str) and (base.cost, base.xi) == (plain.cost, plain.xi))
    for candidate in CANDIDATES:
        kept = {name: value for name, value in candidate.items() if not (own and name in ("cost", "xi"))}
        rank_fits = base.rank in (None, "auto") or kept["relevance"] in ("matrix", "local_matrix")
        learned = base.solver != "online" or kept["relevance"] != "local_scale"  # online there is no scale
        if kept not in chosen and rank_fits and learned:
            chosen.append(kept)
    return chosen


@estimator
class LVQClassifierCV(ModelPredictions, ClassifierMixin, BaseEstimator):
    """`LVQClassifier` with structure and ridge chosen by cross-validation.

    Successive halving: short fits of all candidates in some of the folds, then longer ones of the best third in more
    folds, until three or more are compared by fits of 30 iterations in all folds. Fits are continued from round to
    round. Differences of scores on the same samples have a standard error; the first candidate wins that is behind the
    best one by at most a quarter of it. The winner is fitted on all samples. The default score is the log-likelihood
    of the true classes, each candidate's at the temperature that its probabilities need: on small sets it varies less
    than the accuracy, and the winner's accuracy is higher. The winner keeps its temperature.

    Of the default candidates those with more than two prototypes, and more than a quarter of the distinct samples of
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
        An entry for each candidate, of the last round it took part in: "params" (list of dict), and as arrays
        "mean_test_score", over the validation samples or, with a `scoring`, over the folds, "std_test_score" over the
        folds, "n_iter", the iterations of its fits, and "n_folds". Only scores of the same round can be compared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import LVQClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = [{"n_prototypes": 1}, {"n_prototypes": 2}]
    >>> model = LVQClassifierCV(candidates=candidates, cv=3, random_state=0).fit(X, y)
    >>> model.best_params_ in candidates, model.cv_results_["n_iter"].tolist()
    (True, [30, 30])
    """

    _doc_link_module = "lvq"
    _doc_link_template = DOCUMENTATION
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
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
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
        given = default_candidates(base) if self.candidates is None else self.candidates
        candidates = self._specified(base, given)
        checked = as_numpy(X), as_numpy(y), as_numpy(sample_weight)
        data, index, weight, classes = check_training_data(self, *checked, reset=True, keep_all=True)
        if self.candidates is None:
            most = max(2, _fewest_distinct(data, index) // 4)
            kept = [place for place, candidate in enumerate(given) if candidate["n_prototypes"] <= most]
            given, candidates = [given[place] for place in kept], [candidates[place] for place in kept]
        labels = classes[index]
        folds = [make_fold(data, labels, weight, train, test) for train, test in self._splits(data, labels, groups)]
        scorer = None if self.scoring is None else get_scorer(self.scoring)
        with Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=10 * bool(self.verbose)) as parallel:
            outcome = successive_halving(candidates, folds, scorer, parallel)
        place = choose(outcome.scores)
        best, temperature = outcome.finalists[place], outcome.temperatures[place]
        fitted = {
            "best_estimator_": _fit_at(temperature, candidates[best], X, y, sample_weight),
            "best_params_": dict(given[best]),
            "best_score_": float(outcome.table["mean_test_score"][best]),
            "cv_results_": {"params": [dict(candidate) for candidate in given]} | outcome.table,
        }
        self.__dict__.update(fitted)
        return self

    def _splits(self, X: np.ndarray, y: np.ndarray, groups: ArrayLike | None) -> list[Fold]:
        if groups is not None and isinstance(self.cv, int):
            return group_folds(y, groups, self.cv)
        try:
            return list(check_cv(self.cv, y, classifier=True).split(X, y, groups))
        except ValueError as error:
            raise ValueError(
                f"cv={self.cv!r} of {type(self).__name__} cannot split these {len(y)} samples: {error} Give fewer "
                "folds, more samples, or the groups that it needs to fit."
            ) from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = getattr(self.estimator, "device", None) is None and self.missing == "raise"
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    def _base(self) -> LVQClassifier:
        base = LVQClassifier() if self.estimator is None else self.estimator
        if not isinstance(base, LVQClassifier):
            raise ValueError(
                f"The 'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None, got {base!r}."
            )
        return base

    def _specified(self, base: LVQClassifier, given: Sequence[Mapping[str, Argument]]) -> list[LVQClassifier]:
        """The candidates as estimators, their parameters checked."""
        if not len(given):
            raise ValueError("The 'candidates' parameter of LVQClassifierCV must hold at least one dict, got none.")
        for candidate in given:
            if not isinstance(candidate, Mapping):
                raise ValueError(
                    "The 'candidates' parameter of LVQClassifierCV must hold dicts of parameters of LVQClassifier, got "
                    f"{candidate!r}."
                )
        seed = {} if self.random_state is None else {"random_state": self.random_state}
        candidates = [clone(base).set_params(**(seed | dict(candidate))) for candidate in given]
        for candidate in candidates:
            if candidate.relevance == "auto":
                candidate.set_params(relevance="local_matrix")  # the folds compare candidates, not choices
            candidate._validate_params()
            if candidate.device is not None:
                require_torch(candidate.device)
            check_parts(candidate, candidate._parts(candidate.device))
        return candidates

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

    @property
    def _device(self) -> str | None:  # type: ignore[override]
        return self._winner()._device

    def _winner(self) -> LVQClassifier:
        if "best_estimator_" not in vars(self):
            raise AttributeError("This LVQClassifierCV is not fitted yet.")
        return self.best_estimator_


def _fewest_distinct(X: np.ndarray, y: np.ndarray) -> int:
    """Number of distinct samples of the class that has fewest."""
    return min(len(canonical_order(take_rows(X, np.flatnonzero(y == label)))[1]) for label in np.unique(y))


def _fit_at(
    temperature: float, winner: LVQClassifier, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> LVQClassifier:
    """The winner fitted on all samples, its probabilities at the temperature that its folds have given."""
    wanted = winner.calibration
    winner.set_params(calibration=None).fit(X, y, sample_weight).set_params(calibration=wanted)
    winner.model_ = replace(winner.model_, decision=replace(winner.model_.decision, temperature=temperature))
    return winner
