"""LVQClassifierCV: metric, number of prototypes and ridge chosen by cross-validation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags

from lvq.estimators.base import unchanged_on_error
from lvq.estimators.classifier import FORMS, RIDGE, Form, LVQClassifier
from lvq.estimators.cross_fit import N_FOLDS, Candidate, Folds, cross_fit, fold_numbers, fold_pairs, group_folds
from lvq.estimators.inputs import training_samples
from lvq.estimators.parameters import estimator
from lvq.estimators.predictions import ModelPredictions
from lvq.estimators.specification import check_parts
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Weights
from lvq.model.rows import as_numpy
from lvq.model.samples import ArraySamples, product_threads, single_threaded_products
from lvq.typing import Argument, ClassWeight, CrossValidation, Fold, Seed

#: In the order of preference: among candidates that the scores cannot separate, the first is chosen.
CANDIDATES = (
    *FORMS[:2],
    Form("plain", FORMS[0].relevance, 20),
    Form("additive", Weights(ridge=RIDGE), 8),
    *FORMS[2:5],
    Form("additive", Weights(local="prototype", ridge=RIDGE / 5), 1),
    Form("additive", Weights(local="prototype", ridge=RIDGE / 5), 3),
    *FORMS[5:],
)


@estimator
class LVQClassifierCV(ModelPredictions, ClassifierMixin, BaseEstimator):
    """`LVQClassifier` with structure and ridge chosen by cross-validation.

    The candidates, the forms of `LVQClassifier` and some others, are compared on all samples by short fits in folds
    (`LVQClassifier` compares its forms on a part of them). The score is the log-likelihood of the true classes, at the
    best temperature for each candidate: on small sets it varies less than the accuracy, and the winner's accuracy is
    higher. The winner is fitted on all samples and keeps its temperature. For other scores, use
    `sklearn.model_selection.GridSearchCV` with an `LVQClassifier`.

    With ``form`` only candidates of this form are compared. As in `LVQClassifier`, candidates are left out if there are
    too few samples for them or they take too long. Solvers other than L-BFGS need `candidates`, as by default they have
    only one.

    {parameters}

    {attributes}
    best_estimator_ : LVQClassifier
        The winner, fitted on all samples; it makes all predictions.
    best_params_ : dict
        The winner's entry of `candidates`.
    best_score_ : float
        Its mean score.
    cv_results_ : dict
        An entry for each candidate: "params" (list of dict) and "mean_test_score" (array). Candidates that are far
        behind after some folds are left out of the others.

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

    estimator: LVQClassifier | None = None
    candidates: Sequence[Mapping[str, Argument]] | None = None
    cv: CrossValidation = 5
    random_state: Seed = None
    n_jobs: int | None = None

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
            Groups, such as patients, that no fold splits. If `cv` is a splitter, it gets them; if it is a number, the
            folds are stratified folds of whole groups.

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
            forms = base._affordable(CANDIDATES, base._parts(), samples, len(classes))
            given = [{"relevance": form.relevance, "n_prototypes": form.counts(samples, classes)} for form in forms]
        candidates = self._specified(base, given)
        assert isinstance(rows, np.ndarray)
        groups = None if groups is None else np.asarray(groups)[rows]
        splits = self._splits(samples, classes, groups, rows)
        folds = Folds(samples, [_checked_fold(samples.y, *split) for split in splits], classes)
        with single_threaded_products(product_threads()):
            choice = cross_fit(candidates, folds, self.n_jobs)
        fitted = {
            "best_estimator_": _fit_at(choice.temperature, candidates[choice.place].estimator, X, y, sample_weight),
            "best_params_": dict(given[choice.place]),
            "best_score_": float(choice.scores[choice.place]),
            "cv_results_": {"params": [dict(candidate) for candidate in given], "mean_test_score": choice.scores},
        }
        self.__dict__.update(fitted)
        return self

    def _splits(
        self, samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None, rows: np.ndarray
    ) -> list[Fold]:
        """Pairs of rows; pairs from the user count all samples, also those of weight 0."""
        cv = N_FOLDS if self.cv is None else self.cv
        if isinstance(cv, Iterable):
            place = np.full(int(rows.max()) + 1, -1)
            place[rows] = np.arange(len(rows))
            pairs = [tuple(place[np.asarray(part)] for part in pair) for pair in cv]
            return [(train[train >= 0], test[test >= 0]) for train, test in pairs]
        try:
            if not isinstance(cv, int | np.integer):
                return list(cv.split(samples.X, classes[samples.y], groups))
            if groups is not None:
                return group_folds(samples.y, groups, int(cv))
            number = fold_numbers(samples.X, samples.y, int(cv))
            if number.max() < 1:
                raise ValueError("too few distinct samples in each class.")
            return fold_pairs(number)
        except ValueError as error:
            raise ValueError(
                f"cv={cv!r} of {type(self).__name__} cannot split these {samples.n_samples} samples: {error} Give "
                "fewer folds, more samples, or the groups that it needs to fit."
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
        if not given or not all(isinstance(candidate, Mapping) for candidate in given):
            raise ValueError(
                "The 'candidates' parameter of LVQClassifierCV must hold at least one dict of parameters of "
                f"LVQClassifier, and nothing else; got {given!r}."
            )
        seed = {} if self.random_state is None else {"random_state": self.random_state}
        specified = []
        for params in given:
            fixed = {"form": "auto"} if "relevance" in params else {}
            candidate = clone(base).set_params(**(seed | fixed | dict(params)))
            candidate._validate_params()
            if candidate._is_open():  # the folds compare candidates, not what each would choose
                form = candidate._table()[0]
                candidate = candidate._with_form(form.relevance, form.n_prototypes)
            parts = candidate._parts()
            check_parts(candidate, parts)
            specified.append(Candidate(candidate, parts))
        return specified

    @property
    def class_weight(self) -> ClassWeight:
        """The class weight of `estimator`."""
        return getattr(self.estimator, "class_weight", None)

    @property
    def missing(self) -> str:
        """How `estimator` treats missing values."""
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
    """Rows by their numbers; ValueError where all training rows have the same class."""
    train, test = np.arange(len(y))[train], np.arange(len(y))[test]
    if len(np.unique(y[train])) < 2:
        raise ValueError(
            "The 'cv' parameter of LVQClassifierCV must leave samples of at least two classes in every training fold, "
            "got one with a single class. Use fewer folds, or stratified ones."
        )
    return train, test


def _fit_at(
    temperature: float, winner: LVQClassifier, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> LVQClassifier:
    """The winner fitted on all samples, with probabilities at the temperature from its folds."""
    wanted = winner.calibration
    winner.set_params(calibration=None).fit(X, y, sample_weight).set_params(calibration=wanted)
    if wanted is not None:
        winner.model_ = replace(winner.model_, decision=replace(winner.model_.decision, temperature=temperature))
    return winner
