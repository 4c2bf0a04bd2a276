"""Artificial data of two papers, generated as described there.

Rules: every number of a construction is a constant of this module; rows are ordered by class, so shuffle
before an unshuffled split; the same ``random_state`` gives the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

#: Centres (first axis), common second coordinate and standard deviations (both axes) of the five pearls.
PEARL_CENTRES = (2.0, 44.0, 85.0, 100.0, 136.0)
PEARL_HEIGHT = 3.0
PEARL_DEVIATIONS = (1.0, 20.0, 0.5, 7.0, 11.0)

#: The boxes of the multi-modal set, two per class: centre and full widths, each on the two axes.
MULTIMODAL_BOXES = (
    (((0.28, 0.15), (0.20, 0.200)), ((0.75, 0.60), (0.15, 0.075))),
    (((0.65, 0.075), (0.10, 0.100)), ((0.10, 0.65), (0.20, 0.150))),
    (((0.55, 0.95), (0.20, 0.150)), ((0.85, 0.65), (0.15, 0.060))),
)
#: Variances of the normal noise that makes x3 to x6 out of x1.
COPY_VARIANCES = (0.05, 0.1, 0.2, 0.5)
#: Half widths of the uniform noise x7 and x8, and variances of the normal noise x9 and x10.
NOISE_HALF_WIDTHS = (0.5, 0.2)
NOISE_VARIANCES = (0.5, 0.2)


def make_pearl_necklace(
    n_per_class: int | Sequence[int] = 100, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Generate the pearl necklace of Fischer, Hammer and Wersing: five round Gaussians on a line.

    The centres lie at (2, 3), (44, 3), (85, 3), (100, 3) and (136, 3), the standard deviations (on both axes) are
    1, 20, 0.5, 7 and 11. The spreads differ so much that no single rejection threshold suits all five classes.

    Parameters
    ----------
    n_per_class : int or sequence of five int, default=100
        Samples of each class. The paper does not print its sizes.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, ordered by class.
    y : ndarray of shape (n_samples,)
        The class of each point, 0 to 4.

    See Also
    --------
    pearl_necklace_posterior : The true class probabilities, the baseline of the best possible classifier.

    References
    ----------
    L. Fischer, B. Hammer, H. Wersing (2014). Local Rejection Strategies for Learning Vector Quantization. ICANN.

    Examples
    --------
    >>> from experiments.datasets import make_pearl_necklace
    >>> X, y = make_pearl_necklace(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 2), [0, 1, 2, 3, 4])
    """
    from sklearn.utils import check_random_state

    sizes = _sizes(n_per_class, len(PEARL_CENTRES), "n_per_class of make_pearl_necklace")
    y = np.repeat(np.arange(len(PEARL_CENTRES)), sizes)
    standard = check_random_state(random_state).standard_normal((len(y), 2))
    centres = np.column_stack([np.array(PEARL_CENTRES)[y], np.full(len(y), PEARL_HEIGHT)])
    return centres + standard * np.array(PEARL_DEVIATIONS)[y, np.newaxis], y


def pearl_necklace_log_density(X: np.ndarray) -> np.ndarray:
    """Logarithm of the density of each class of the pearl necklace, log p(x | y).

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Points of the plane.

    Returns
    -------
    log_density : ndarray of shape (n_samples, 5)
        One column per class, in the order of `make_pearl_necklace`.

    Examples
    --------
    >>> from experiments.datasets import pearl_necklace_log_density
    >>> pearl_necklace_log_density([[2.0, 3.0]]).round(2)[0, :2]
    array([ -1.84, -10.03])
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must have shape (n_samples, 2), the plane of the pearl necklace; got {points.shape}.")
    variances = np.square(PEARL_DEVIATIONS)
    squared = np.square(points[:, :1] - np.array(PEARL_CENTRES)) + np.square(points[:, 1:] - PEARL_HEIGHT)
    return -0.5 * squared / variances - np.log(2.0 * np.pi * variances)


def pearl_necklace_posterior(X: np.ndarray, priors: Sequence[float] | None = None) -> np.ndarray:
    """Compute the true class probabilities p(y | x) of the pearl necklace, the baseline of Bayes.

    The largest entry of a row belongs to the class that the optimal classifier predicts, and is the certainty of the
    optimal reject option (Chow's).

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Points of the plane.
    priors : sequence of five float or None, default=None
        Weights of the classes, for instance their sizes; None means equal weights.

    Returns
    -------
    posterior : ndarray of shape (n_samples, 5)
        Class probabilities; each row sums to 1.

    Examples
    --------
    >>> from experiments.datasets import make_pearl_necklace, pearl_necklace_posterior
    >>> X, y = make_pearl_necklace(1000, random_state=0)
    >>> bayes = pearl_necklace_posterior(X)
    >>> round(float((bayes.argmax(axis=1) == y).mean()), 2)
    0.99
    """
    log_density = pearl_necklace_log_density(X)
    weights = np.ones(len(PEARL_CENTRES)) if priors is None else np.asarray(priors, dtype=np.float64)
    if weights.shape != (len(PEARL_CENTRES),) or not np.all(weights >= 0.0) or not 0.0 < weights.sum() < np.inf:
        raise ValueError(f"priors must be five weights >= 0, not all zero; got {priors!r}.")
    with np.errstate(divide="ignore"):
        joint = log_density + np.log(weights)
    joint -= joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint)
    return posterior / posterior.sum(axis=1, keepdims=True)


def make_multimodal(
    n_per_cluster: int = 15,
    *,
    variant: Literal["toolbox", "print"] = "toolbox",
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Generate the simulated set of Ridge, Leonardis and Skocaj: three classes of two clusters, eight noise features.

    x1 and x2 are uniform in six boxes, two per class, clipped to [0, 1]. x3 to x6 are x1 plus normal noise of
    variance 0.05, 0.1, 0.2 and 0.5. x7 and x8 are uniform in [-0.5, 0.5] and [-0.2, 0.2]. Only x1 and x2 are needed
    to separate the classes.

    Parameters
    ----------
    n_per_cluster : int, default=15
        Samples of each of the six clusters; 15 gives the 90 samples of the paper.
    variant : {"toolbox", "print"}, default="toolbox"
        What x9 and x10 are. "toolbox": normal noise of variance 0.5 and 0.2, as in the first author's published
        toolbox. "print": uniform in [-0.5, 0.5] and [-0.2, 0.2], as the text of the paper has it for x7 to x10.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers. All but x9 and x10 are the same for both variants.

    Returns
    -------
    X : ndarray of shape (6 * n_per_cluster, 10)
        The samples, ordered by class.
    y : ndarray of shape (6 * n_per_cluster,)
        The class of each sample, 0 to 2.

    References
    ----------
    B. Ridge, A. Leonardis, D. Skocaj (2012). Relevance Determination for Learning Vector Quantization using the
    Fisher Criterion Score. Computer Vision Winter Workshop. The construction goes back to T. Bojer, B. Hammer,
    D. Schunk, K. Tluk von Toschanowitz (2001). Relevance determination in learning vector quantization. ESANN.

    Examples
    --------
    >>> from experiments.datasets import make_multimodal
    >>> X, y = make_multimodal(random_state=0)
    >>> X.shape, [int((y == label).sum()) for label in range(3)]
    ((90, 10), [30, 30, 30])
    """
    from sklearn.utils import check_random_state

    if variant not in ("toolbox", "print"):
        raise ValueError(f'variant of make_multimodal must be "toolbox" or "print"; got {variant!r}.')
    size = int(_sizes(n_per_cluster, 1, "n_per_cluster of make_multimodal")[0])
    generator = check_random_state(random_state)
    boxes = [box for pair in MULTIMODAL_BOXES for box in pair]
    plane = np.concatenate([_uniform_box(generator, size, centre, widths) for centre, widths in boxes])
    copies = plane[:, :1] + generator.standard_normal((len(plane), 4)) * np.sqrt(COPY_VARIANCES)
    uniform = generator.uniform(-1.0, 1.0, (len(plane), 2)) * NOISE_HALF_WIDTHS
    if variant == "toolbox":
        last = generator.standard_normal((len(plane), 2)) * np.sqrt(NOISE_VARIANCES)
    else:
        last = generator.uniform(-1.0, 1.0, (len(plane), 2)) * NOISE_HALF_WIDTHS
    return np.hstack([plane, copies, uniform, last]), np.repeat(np.arange(len(MULTIMODAL_BOXES)), 2 * size)


def _uniform_box(
    generator: np.random.RandomState, size: int, centre: tuple[float, float], widths: tuple[float, float]
) -> np.ndarray:
    """Draw ``size`` points uniformly from a box of the plane, clipped to the unit square."""
    return np.clip(np.array(centre) + (generator.uniform(size=(size, 2)) - 0.5) * widths, 0.0, 1.0)


def _sizes(value: int | Sequence[int], length: int, parameter: str) -> np.ndarray:
    """``length`` positive sizes from one number or a sequence of them."""
    sizes = np.asarray(value)
    expected = "a positive integer" if length == 1 else f"a positive integer or {length} of them"
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), (length,)) or np.any(sizes < 1):
        raise ValueError(f"{parameter} must be {expected}; got {value!r}.")
    return np.broadcast_to(sizes, (length,))
