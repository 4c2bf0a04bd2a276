"""One number that makes probabilities as sharp as predictions of unseen samples are correct.

Probabilities p become p^b, divided by their sum. The power b is one over what is called the temperature; the order of
the classes is kept. It minimises the log-loss of probabilities of samples that the model was not fitted to.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

LARGEST_POWER = 8.0  # and one over it is the smallest
# Every class is taken to be wrong with this chance, so that a few samples without an error do not mean certainty.
WRONG_LABELS = 0.005


def fitted_power(log_probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """The power of probabilities with the smallest log-loss.

    Parameters
    ----------
    log_probabilities : ndarray of shape (n_samples, n_classes)
        Logarithms of probabilities, up to a constant in each row; -inf for a class that is impossible.
    y : ndarray of shape (n_samples,)
        Class indices.
    weight : ndarray of shape (n_samples,)
        Weights of the samples; only their ratios count.

    Returns
    -------
    power : float
        Between 1/8 and 8; above one where the probabilities were not sharp enough.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.log([[0.6, 0.4]] * 10)
    >>> round(fitted_power(p, np.array([0] * 9 + [1]), np.ones(10)), 1)  # nine of ten are correct, not six
    5.3
    """
    behind = log_probabilities - log_probabilities.max(axis=1, keepdims=True)
    behind = np.maximum(behind.astype(np.float64), -1e4)  # also impossible classes
    fraction = weight / weight.sum(dtype=np.float64)
    target = np.full(behind.shape, WRONG_LABELS / behind.shape[1])
    target[np.arange(len(y)), y] += 1 - WRONG_LABELS
    mean = float(fraction @ (target * behind).sum(axis=1))

    def loss(logarithm: float) -> float:
        power = np.exp(logarithm)
        return float(fraction @ logsumexp(power * behind, axis=1)) - power * mean

    limit = np.log(LARGEST_POWER)
    return float(np.exp(minimize_scalar(loss, bounds=(-limit, limit), method="bounded").x))
