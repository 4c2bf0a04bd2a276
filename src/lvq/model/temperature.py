"""A temperature: one number that makes probabilities as sharp as predictions of unseen samples are correct.

Probabilities p become p^(1/T), divided by their sum; the order of the classes is kept. T minimises the log-loss of
probabilities of samples that their models were not fitted to (Guo et al., ICML 2017).
"""

import numpy as np
from scipy.special import logsumexp

LARGEST_TEMPERATURE = 8.0  # and one over it is the smallest
PENALTY = 0.003  # of the squared logarithm of T, so that a few samples without an error do not mean certainty
SMALLEST_LOGARITHM = -1e4  # of a probability relative to the largest of its row


def tempered(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities to the power of 1/temperature, divided by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(3).tolist()
    [[0.941, 0.059]]
    """
    if temperature == 1:
        return probabilities
    raised = (probabilities / probabilities.max(axis=1, keepdims=True)) ** (1 / temperature)
    return raised / raised.sum(axis=1, keepdims=True)


def fitted_temperature(log_probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """The temperature of probabilities with the smallest log-loss, to which 0.003 log(T)^2 is added.

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
    temperature : float
        Between 1/8 and 8; below one where the probabilities were not sharp enough.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.log([[0.6, 0.4]] * 10)
    >>> round(fitted_temperature(p, np.array([0] * 9 + [1]), np.ones(10)), 2)  # nine of ten are correct, not six
    0.19
    """
    from scipy.optimize import minimize_scalar  # which predictions do not need

    behind = log_probabilities.astype(np.float64) - log_probabilities.max(axis=1, keepdims=True)
    behind = np.maximum(behind, SMALLEST_LOGARITHM)
    fraction = weight / weight.sum(dtype=np.float64)
    mean = float(fraction @ behind[np.arange(len(y)), y])

    def loss(logarithm: float) -> float:
        power = np.exp(-logarithm)
        return float(fraction @ logsumexp(power * behind, axis=1)) - power * mean + PENALTY * logarithm**2

    limit = np.log(LARGEST_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=(-limit, limit), method="bounded").x))
