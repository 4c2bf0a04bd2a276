"""Steps for spectra: standard normal variate, and the filters of Savitzky and Golay."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from lvq.inspection.steps import ADAPTERS, Adapter

Samples = NDArray[np.floating]


class StandardNormalVariate(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """SNV: subtract from each sample its own mean and divide by its own standard deviation.

    It removes differences in the offset and the scale of whole spectra, such as scattered light causes (Barnes et al.
    1989). Nothing is learned. A sample without variation becomes 0.

    Examples
    --------
    >>> import numpy as np
    >>> from lvq.preprocessing import StandardNormalVariate
    >>> StandardNormalVariate().fit_transform(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])).round(3)
    array([[-1.225,  0.   ,  1.225],
           [-1.225,  0.   ,  1.225]])
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Check the samples; nothing is learned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The transformer.
        """
        validate_data(self, X, dtype=[np.float64, np.float32])
        return self

    def transform(self, X: ArrayLike) -> Samples:
        """Samples of mean 0 and standard deviation 1 each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            Transformed samples.
        """
        check_is_fitted(self, "n_features_in_")
        samples: Samples = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        centred = samples - samples.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
        return centred / np.where(spread > 0, spread, 1)


class SavitzkyGolay(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Smoothing, or a derivative, by polynomials in a window that moves along the features (Savitzky and Golay 1964).

    Every feature becomes the value, or the derivative, of the polynomial that fits the window around it best; at the
    ends, the last whole window is used. A first derivative removes an offset of the spectrum, a second one also a
    slope.

    Parameters
    ----------
    window : int, default=11
        Number of features in a window; odd.
    degree : int, default=2
        Degree of the polynomial, less than `window`.
    derivative : int, default=0
        Order of the derivative, at most `degree`; 0 smooths only.
    spacing : float, default=1.0
        Distance of neighbouring features on their axis, the unit of derivatives.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)
        The filter: ``transform(X)`` is ``X @ matrix_``.

    Examples
    --------
    >>> import numpy as np
    >>> from lvq.preprocessing import SavitzkyGolay
    >>> X = np.array([[0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0]])
    >>> SavitzkyGolay(window=5, derivative=1).fit_transform(X).round(6) + 0.0
    array([[ 0.,  2.,  4.,  6.,  8., 10., 12.]])
    """

    def __init__(self, window: int = 11, degree: int = 2, derivative: int = 0, spacing: float = 1.0) -> None:
        self.window = window
        self.degree = degree
        self.derivative = derivative
        self.spacing = spacing

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Compute the filter for the number of features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The transformer.
        """
        from scipy.signal import savgol_filter

        self._validate_params()
        validate_data(self, X, dtype=[np.float64, np.float32])
        n_features = self.n_features_in_
        if self.window % 2 == 0 or not self.degree < self.window <= n_features:
            raise ValueError(
                f"window of SavitzkyGolay must be odd, above degree={self.degree} and at most the number of features, "
                f"{n_features}, got {self.window}."
            )
        if self.derivative > self.degree:
            raise ValueError(
                f"derivative of SavitzkyGolay must be at most degree={self.degree}, got {self.derivative}; give a "
                "larger degree."
            )
        settings = (self.window, self.degree, self.derivative, self.spacing)
        self.matrix_ = savgol_filter(np.eye(n_features), *settings, axis=1, mode="interp")
        return self

    def transform(self, X: ArrayLike) -> Samples:
        """Filtered samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            Smoothed samples, or their derivatives.
        """
        check_is_fitted(self)
        samples: Samples = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return samples @ self.matrix_.astype(samples.dtype, copy=False)


SavitzkyGolay._parameter_constraints = {
    "window": [Interval(Integral, 1, None, closed="left")],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "derivative": [Interval(Integral, 0, None, closed="left")],
    "spacing": [Interval(Real, 0, None, closed="neither")],
}
ADAPTERS[SavitzkyGolay] = Adapter(linear=lambda step: step.matrix_.T, in_place=True)
