"""Certainties of a fold's model on the scale of the predicting model, by ranks.

In cross-fitting the certainty of a sample comes from a model that was not trained on it, but the threshold is used with
another model, whose certainties have another scale; in data with few distinct rows each model has other values. So
ranks are carried over: a sample that is more certain than 30 % of the training samples of its fold's model becomes the
value that is higher than 30 % of the certainties that the predicting model has for its own training samples. Samples
left out of training are less certain than training samples; their ranks show that, and keep it. A model that fits its
training samples closely is certain of all of them, and many other samples are below: for these ranks tell nothing.
"""

from __future__ import annotations

import numpy as np

from lvq.rejection.validation import FloatArray

LOW = 0.02  # fraction of the training samples below which ranks are not used


def transferred(values: FloatArray, training: FloatArray, final: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Pairs of certainty and second certainty on the scale of the predicting model.

    Parameters
    ----------
    values : array of shape (n, 2)
        Of samples by the model of a fold, which was not trained on them: certainty, and second certainty for ties.
    training : array of shape (n_training, 2)
        Of the fold's training samples by the same model.
    final : array of shape (n_final, 2)
        Of the predicting model's training samples by that model.
    rng : RandomState
        Draws the ranks of samples that are equal to training samples.

    Returns
    -------
    array of shape (n, 2)
        Below the lowest 2 % of the training samples there is no rank to go by. There certainties between 0 and 1,
        such as probabilities, keep their value, others their ratio (or distance) to them.

    Examples
    --------
    >>> pairs = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]])
    >>> transferred(np.array([[0.05, 0.0], [9.0, 0.0]]), pairs, 10 * pairs, np.random.RandomState(0))
    array([[0.5, 0. ],
           [3. , 0. ]])
    """
    ordered = final[np.lexsort((final[:, 1], final[:, 0]))]
    everyone = np.concatenate((training, values))
    code = np.unique(everyone, axis=0, return_inverse=True)[1].ravel()  # rows in lexicographic order
    known = np.sort(code[: len(training)])
    below, up_to = (np.searchsorted(known, code[len(training) :], side=side) for side in ("left", "right"))
    rank = (below + rng.random_sample(len(values)) * (up_to - below + 1)) / (len(training) + 1)
    place = np.clip(rank * len(ordered) - 0.5, 0, len(ordered) - 1)
    certainty = np.interp(place, np.arange(len(ordered)), ordered[:, 0])
    second = ordered[np.rint(place).astype(np.intp), 1]
    lowest, target = (np.quantile(part[:, 0], LOW, method="lower") for part in (training, final))
    less = values[:, 0] < lowest
    certainty[less] = _below(values[less, 0], lowest, target, bounded=_is_bounded(everyone, final))
    return np.column_stack((certainty, second))


def _below(values: FloatArray, lowest: float, target: float, *, bounded: bool) -> FloatArray:
    """Certainties that few training samples are below, on the scale of the predicting model."""
    if bounded:
        return np.minimum(values, target)
    return target * (values / lowest) if lowest * target > 0 else target + (values - lowest)


def _is_bounded(*pairs: FloatArray) -> bool:
    """Whether all certainties are between 0 and 1."""
    return all(0 <= part[:, 0].min(initial=0) and part[:, 0].max(initial=1) <= 1 for part in pairs)
