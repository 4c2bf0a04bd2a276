"""Short fits in the folds of a search: begun once, continued from round to round, and scored.

They do what `fit` does with checked samples, without its checks and warnings, and without the steps of Adam between the
runs of lbfgs, which would take most of their time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from lvq.estimators import training as steps
from lvq.estimators.calibration import log_probabilities
from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.part_checks import check_cost_matrix_classes
from lvq.estimators.parts import Parts
from lvq.estimators.training import Training
from lvq.model.incomplete_samples import samples_of
from lvq.model.samples import ArraySamples
from lvq.solvers.progress import silent
from lvq.typing import Argument, Labels

Scorer = Callable[..., float]


@dataclass(frozen=True)
class Fold:
    """Rows of a fold: those to train on, and those on which its models are scored. All folds hold the same samples.

    Parameters
    ----------
    X, labels, weight : ndarray
        All samples, their classes and their weights.
    train, test : ndarray of int
        Rows to train on and to validate on.
    classes : ndarray of shape (n_classes,)
        Classes of the rows to train on.
    """

    X: np.ndarray
    labels: Labels
    weight: np.ndarray
    train: np.ndarray
    test: np.ndarray
    classes: Labels

    def samples(self) -> ArraySamples:
        """The samples to train on, with class indices."""
        weight = self.weight[self.train]
        y = np.searchsorted(self.classes, self.labels[self.train])
        return samples_of(self.X[self.train], y, weight / weight.mean())


def make_fold(X: np.ndarray, labels: Labels, weight: np.ndarray, train: np.ndarray, test: np.ndarray) -> Fold:
    """A fold of checked samples; those of weight 0 are not trained on."""
    train, test = np.arange(len(labels))[train], np.arange(len(labels))[test]
    train = train[weight[train] > 0]
    classes = np.unique(labels[train])
    if len(classes) < 2:
        raise ValueError(
            "The 'cv' parameter of LVQClassifierCV must leave samples of at least two classes in every training fold, "
            f"got one with the classes {classes.tolist()}. Use fewer folds, or stratified ones."
        )
    return Fold(X, labels, weight, train, test, classes)


@dataclass
class ShortFit:
    """A candidate in a fold.

    Parameters
    ----------
    model : LVQClassifier
        Fitted so far.
    fold : Fold
        The fold.
    iterations : int
        Iterations that it may have had; fewer where it has converged.
    converged : bool
        Whether the solver has stopped by itself.
    """

    model: LVQClassifier
    fold: Fold
    iterations: int = 0
    converged: bool = False

    def advance(self, iterations: int) -> None:
        """Continue to so many iterations in all, or to the candidate's own limit."""
        model, before = self.model, self.iterations
        self.iterations = max(before, min(iterations, model.max_iter))
        if self.iterations == before or self.converged:
            return
        parts = _parts(model, self.iterations - before)
        samples, n_classes, random_state = self.fold.samples(), len(self.fold.classes), model._state.random_state
        training = steps.restarted(parts, model._training(), samples.n_samples, n_classes, random_state)
        training, result = steps.run(parts, training, samples, silent)
        _set_fitted(model, parts, training, self.fold, model.n_iter_ + result.n_iter)
        self.converged = result.converged

    def score(self, scorer: Scorer) -> float:
        """The score of the fold; a scorer of the user need not support weights where all are one."""
        fold = self.fold
        weights = {} if np.all(fold.weight == 1) else {"sample_weight": fold.weight[fold.test]}
        return float(scorer(self.model, fold.X[fold.test], fold.labels[fold.test], **weights))

    def log_probabilities(self, classes: Labels) -> np.ndarray:
        """Logarithms of the probabilities of these classes for the validation samples, before any calibration.

        A class without samples in the training fold has no probability there.
        """
        fold = self.fold
        table = np.full((len(fold.test), len(classes)), -np.inf)
        if len(fold.test):
            columns = np.searchsorted(classes, fold.classes)
            table[:, columns] = log_probabilities(self.model.model_, fold.X[fold.test])
        return table


def begin(candidates: Sequence[LVQClassifier], fold: Fold) -> list[ShortFit]:
    """Fits of candidates at their start in a fold; those that differ in their ridge alone share it."""
    fits, samples = list[ShortFit](), fold.samples()
    for candidate in candidates:
        model = clone(candidate)
        check_cost_matrix_classes(model, len(fold.classes))
        parts = _parts(model, 0)
        same = next((fit.model._training() for fit in fits if share_start(fit.model, model)), None)
        if same is None:
            training = model._begin(parts, samples, fold.classes, check_random_state(model.random_state))
        else:
            training = steps.restarted(parts, same, samples.n_samples, len(fold.classes), same.state.random_state)
        model.n_features_in_ = samples.n_features
        _set_fitted(model, parts, training, fold, 0)
        fits.append(ShortFit(model, fold))
    return fits


def share_start(one: LVQClassifier, other: LVQClassifier) -> bool:
    """Whether two candidates differ at most in the size of their ridge; without one the start is another."""
    ours, theirs = one.get_params(deep=False), other.get_params(deep=False)
    ours["ridge"], theirs["ridge"] = one.ridge != 0, other.ridge != 0
    return all(_same(value, theirs[name]) for name, value in ours.items())


def _same(one: Argument, other: Argument) -> bool:
    """Whether two values of a parameter are the same object, or equal numbers or strings."""
    return one is other or (isinstance(one, int | float | str) and type(one) is type(other) and one == other)


def _parts(model: LVQClassifier, iterations: int) -> Parts:
    parts = model._parts(model.device)
    online, batch = replace(parts.online, max_iter=iterations), replace(parts.batch, max_iter=iterations)
    return replace(parts, online=online, batch=batch, max_runs=1)


def _set_fitted(model: LVQClassifier, parts: Parts, training: Training, fold: Fold, n_iter: int) -> None:
    model._set_fitted(training, parts, fold.classes, None, n_iter, np.array([]))
