"""CertifiedAccuracyDisplay: accuracy that stands whatever small change the samples suffer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.plots.models import estimator_name
from lvq.plots.style import COLOURS, axes, merged, pyplot
from lvq.robustness import certified_radius

LENGTHS = {1.0: "sum of the features' changes", 2.0: "Euclidean length", np.inf: "largest change of a feature"}


class CertifiedAccuracyDisplay:
    """Share of samples answered rightly whatever change smaller than a radius they suffer.

    Make one with `from_estimator` or `from_predictions`. All parameters are stored as attributes.

    Parameters
    ----------
    radii : ndarray of shape (n_points,)
        Sizes of change, in the units of X, rising from 0: every size at which the curve falls.
    accuracy : ndarray of shape (n_points,)
        Certified accuracy at these; at 0 stands the plain accuracy.
    norm : {1, 2, inf}, default=2
        How changes are measured.
    name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve, a falling staircase.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> from lvq.plots import CertifiedAccuracyDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> display = CertifiedAccuracyDisplay.from_estimator(model, X, y)
    >>> float(display.accuracy[0]) == model.score(X, y)
    True
    """

    def __init__(self, *, radii: Any, accuracy: Any, norm: float = 2, name: str | None = None) -> None:
        self.radii = radii
        self.accuracy = accuracy
        self.norm = norm
        self.name = name

    def plot(self, ax: Any = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure. Several curves go on the same axes one after the other.
        name : str, optional
            For the legend; by default that of the display.
        curve_kwargs : dict, optional
            For matplotlib's `plot`.

        Returns
        -------
        display : CertifiedAccuracyDisplay
            With the artists as attributes.
        """
        self.ax_ = axes("CertifiedAccuracyDisplay.plot", ax, (6.4, 4.8))
        self.figure_ = self.ax_.figure
        from matplotlib.lines import Line2D
        from matplotlib.ticker import PercentFormatter

        defaults = {
            "label": self.name if name is None else name,
            "color": COLOURS[len(self.ax_.lines) % len(COLOURS)],
            "drawstyle": "steps-pre",  # the accuracy at a radius holds for all smaller ones down to the one before
        }
        (self.line_,) = self.ax_.plot(self.radii, self.accuracy, **merged(defaults, curve_kwargs, Line2D))
        self.ax_.set(
            xlabel=f"Size of the change ({LENGTHS[float(self.norm)]}, in the units of X)",
            ylabel="Share answered rightly whatever the change",
            ylim=(-0.02, 1.02),
        )
        self.ax_.set_xlim(left=0)
        self.ax_.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self.ax_.grid(alpha=0.3)
        self.legend_ = self.ax_.legend(loc="best") if self.ax_.get_legend_handles_labels()[0] else None
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        norm: float = 2,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """The curve of a fitted model on samples of known class.

        Parameters
        ----------
        estimator : estimator
            As `lvq.certified_radius` takes it: a model of this library, in a Pipeline of scalers or a
            `RejectClassifier`. Whether an answer would be rejected is not looked at.
        X : array-like of shape (n_samples, n_features)
            Samples, best such as were not used in fitting.
        y : array-like of shape (n_samples,)
            Their classes.
        norm : {1, 2, inf}, default=2
            How changes are measured.
        name : str, optional
            For the legend; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict, optional
            For matplotlib's `plot`.

        Returns
        -------
        display : CertifiedAccuracyDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        radius = certified_radius(estimator, X, norm)
        name = estimator_name(estimator) if name is None else name
        return cls.from_predictions(
            y, estimator.predict(X), radius, norm=norm, name=name, ax=ax, curve_kwargs=curve_kwargs
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        radius: ArrayLike,
        *,
        norm: float = 2,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """The curve from answers and how far each is from changing.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted classes.
        radius : array-like of shape (n_samples,)
            No smaller change of the sample changes its answer.
        norm : {1, 2, inf}, default=2
            How changes are measured; for the words beside the axis.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict, optional
            For matplotlib's `plot`.

        Returns
        -------
        display : CertifiedAccuracyDisplay
        """
        pyplot(f"{cls.__name__}.from_predictions")
        check_consistent_length(y_true, y_pred, radius)
        if norm not in LENGTHS:
            raise ValueError(f"norm of {cls.__name__} must be 1, 2 or inf, got {norm!r}.")
        sizes = np.asarray(radius, dtype=np.float64)
        if not np.all(sizes >= 0):
            raise ValueError(f"radius of {cls.__name__} must be 0 or more for every sample.")
        reach = np.sort(sizes[column_or_1d(y_true) == column_or_1d(y_pred)])
        steps = np.unique(np.append(0.0, reach[np.isfinite(reach)]))
        accuracy = (len(reach) - np.searchsorted(reach, steps, side="left")) / len(sizes)
        after = np.count_nonzero(np.isinf(reach)) / len(sizes)  # beyond the largest radius
        radii, accuracy = np.append(steps, np.nextafter(steps[-1], np.inf)), np.append(accuracy, after)
        return cls(radii=radii, accuracy=accuracy, norm=norm, name=name).plot(ax=ax, curve_kwargs=curve_kwargs)
