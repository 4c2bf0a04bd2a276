"""How flexible LVQClassifier is where its parameters leave it open: prototypes of each class, and matrices or scales.

Each of `FORMS` is fitted for a few iterations in three folds, and the log-loss of the samples left out decides. For the
form that is taken these are the fits that calibration needs anyway; the others are simpler and add half of a fit.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from lvq.estimators.calibration import (
    MIN_SAMPLES,
    N_FOLDS,
    SMALLEST_LOGARITHM,
    fold_numbers,
    left_out_logarithms,
    sampled_rows,
)
from lvq.estimators.parts import Parts
from lvq.estimators.selection import Scores, choose
from lvq.model.arrays import as_numpy
from lvq.model.samples import ArraySamples
from lvq.model.temperature import fitted_temperature

if TYPE_CHECKING:
    from lvq.estimators.classifier import LVQClassifier

Form = tuple[str, int]  # relevance, and prototypes of each class
#: The preferred form first; each is a special case of the one before it.
FORMS: tuple[Form, ...] = (("local_matrix", 2), ("local_matrix", 1), ("local_scale", 1))
MOST_SAMPLES, MOST_FEATURES = 5_000, 1_000  # up to which a choice is made


def with_form(estimator: "LVQClassifier", form: Form) -> "LVQClassifier":
    """A copy of the estimator that has this form."""
    return clone(estimator).set_params(relevance=form[0], n_prototypes=form[1])


def can_choose(n_samples: int, n_features: int) -> bool:
    """Whether a choice is made for data of this size."""
    return n_samples <= MOST_SAMPLES and n_features <= MOST_FEATURES


def chosen_form(
    estimator: "LVQClassifier", parts: Parts, samples: ArraySamples, classes: np.ndarray
) -> tuple[Form, float] | tuple[None, None]:
    """The form with the smallest log-loss on samples left out, or one before it where the difference may be chance.

    Parameters
    ----------
    estimator, parts, samples, classes
        As those of `lvq.estimators.calibration.cross_fitted_temperature`.

    Returns
    -------
    form : Form or None
        None, for the first form, with fewer than 50 or more than 5,000 samples, or more than 1,000 features.
    temperature : float or None
        Temperature of its probabilities.
    """
    if not can_choose(samples.n_samples, samples.n_features):
        return None, None
    block = sampled_rows(samples)
    y, weight = as_numpy(block.y), as_numpy(block.weight)
    fold = fold_numbers(block.X, y, np.full(len(classes), 2 * FORMS[0][1] + 2))
    used = np.flatnonzero(fold >= 0)
    if len(used) < MIN_SAMPLES or len(np.unique(y[used])) < 2:
        return None, None
    tables = list[np.ndarray]()
    for form in FORMS:
        model = with_form(estimator, form)
        own = replace(parts, relevance=model._relevance())
        tables.append(left_out_logarithms(model, own, block, fold, classes)[used])
    place, temperature = best_of(tables, y[used], weight[used], fold[used])
    return FORMS[place], temperature


def best_of(tables: Sequence[np.ndarray], y: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> tuple[int, float]:
    """Place and temperature of the best table of logarithms of probabilities, each judged at its own temperature."""
    temperatures = [fitted_temperature(table, y, weight) for table in tables]
    sharp = [log_softmax(table / t, axis=1)[np.arange(len(y)), y] for table, t in zip(tables, temperatures)]
    scores = np.maximum(np.stack(sharp), SMALLEST_LOGARITHM)
    place = choose(Scores(scores, weight, fold, 1 / (N_FOLDS - 1)))
    return place, temperatures[place]
