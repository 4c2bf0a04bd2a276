"""How flexible LVQClassifier is where its parameters leave it open: two prototypes of each class or one, matrices or not.

Each of `FORMS` is fitted for a few iterations in three folds, and the log-loss of the samples left out decides. For the
form that is taken these are the fits that calibration needs anyway; the others are simpler and add half of a fit.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from lvq.estimators.calibration import MIN_SAMPLES, N_FOLDS, fold_numbers, left_out_logarithms, sampled_rows
from lvq.estimators.selection import Scores, choose
from lvq.estimators.training import Parts
from lvq.model.arrays import as_numpy
from lvq.model.samples import ArraySamples, Block
from lvq.model.temperature import fitted_temperature

if TYPE_CHECKING:
    from lvq.estimators.classifier import LVQClassifier

MOST_SAMPLES, MOST_FEATURES = 5_000, 1_000  # up to which a choice is made
#: Relevance and prototypes of each class, the preferred one first: each is a special case of the one before it.
FORMS: tuple[tuple[str, int], ...] = (("local_matrix", 2), ("local_matrix", 1), ("local_scale", 1))
SMALLEST_LOGARITHM = np.log(1e-6)  # of a probability, so that one sample cannot outweigh all others


class Choice(NamedTuple):
    """The estimator with its metric and number of prototypes, its parts, and the temperature of its probabilities."""

    estimator: "LVQClassifier"
    parts: Parts
    temperature: float


def chosen_form(estimator: "LVQClassifier", parts: Parts, samples: ArraySamples, classes: np.ndarray) -> Choice | None:
    """The form with the smallest log-loss on samples left out, or one before it where the difference may be chance.

    Parameters
    ----------
    estimator : LVQClassifier
        The estimator; it is not changed.
    parts : Parts
        Its parts.
    samples : ArraySamples
        Training samples.
    classes : ndarray of shape (n_classes,)
        Their classes.

    Returns
    -------
    choice : Choice or None
        None, for the first form, with fewer than 50 or more than 5,000 samples, or more than 1,000 features.
    """
    if samples.n_samples > MOST_SAMPLES or samples.n_features > MOST_FEATURES:
        return None
    block = sampled_rows(samples)
    y = as_numpy(block.y)
    fold = fold_numbers(block.X, y, np.full(len(classes), 2 * FORMS[0][1] + 2))
    if (fold >= 0).sum() < MIN_SAMPLES or len(np.unique(y[fold >= 0])) < 2:
        return None
    choices, scores = compared(estimator, parts, block, fold, classes)
    return choices[choose(scores)]


def compared(
    estimator: "LVQClassifier", parts: Parts, block: Block, fold: np.ndarray, classes: np.ndarray
) -> tuple[list[Choice], Scores]:
    """All forms, and the log-likelihoods of the samples left out, each at its own temperature."""
    used = np.flatnonzero(fold >= 0)
    y, weight = as_numpy(block.y)[used], as_numpy(block.weight)[used]
    choices, scores = list[Choice](), list[np.ndarray]()
    for relevance, count in FORMS:
        model = clone(estimator).set_params(relevance=relevance, n_prototypes=count)
        own = replace(parts, relevance=model._relevance())
        table = left_out_logarithms(model, own, block, fold, classes)[used]
        temperature = fitted_temperature(table, y, weight)
        logarithms = log_softmax(table / temperature, axis=1)[np.arange(len(y)), y]
        choices.append(Choice(model, own, temperature))
        scores.append(np.maximum(logarithms, SMALLEST_LOGARITHM))
    return choices, Scores(np.stack(scores), weight, fold[used], 1 / (N_FOLDS - 1))
