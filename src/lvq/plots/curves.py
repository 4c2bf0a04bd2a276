"""The display of accuracy by coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lvq.estimators.find_model import find_layer
from lvq.plots.arrays import estimator_name
from lvq.plots.style import COLOURS, Display, percent, show_percent
from lvq.rejection.classifier import RejectClassifier, judged
from lvq.rejection.curves import accuracy_reject_curve, area_under_curve, path_curve
from lvq.rejection.scores import cells_of
from lvq.typing import Argument, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class AccuracyRejectDisplay(Display):
    """Accuracy on the accepted samples as a function of coverage, the fraction of accepted samples.

    Create one with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    coverage : ndarray of shape (n_points,)
        Fraction of the samples that are accepted, descending.
    accuracy : ndarray of shape (n_points,)
        Accuracy on the accepted samples.
    area : float, optional
        Mean accuracy over all coverages, for the legend.
    point : tuple of float, optional
        Coverage and accuracy at the operating point of a `RejectClassifier`.
    name : str, optional
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    point_ : matplotlib Line2D or None
        The operating point.
    legend_ : matplotlib Legend or None
        The legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> from lvq.plots import AccuracyRejectDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = AccuracyRejectDisplay.from_estimator(GLVQ(random_state=0).fit(X, y), X, y)
    >>> float(display.coverage[0])
    1.0
    """

    coverage: ArrayLike
    accuracy: ArrayLike
    area: float | None = None
    point: tuple[float, float] | None = None
    name: str | None = None

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the curve. Several curves can be drawn on the same axes, one after another.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name in the legend; by default the name of the display.

        Returns
        -------
        display : object
            The display, with the artists as attributes.
        """
        self._set_axes(ax, (6.4, 4.8))
        curves = sum(np.size(line.get_xdata()) > 1 for line in self.ax_.lines)  # single points are not curves
        self._draw(self.name if name is None else name, COLOURS[curves % len(COLOURS)])
        self.ax_.grid(alpha=0.3)
        show_percent(self.ax_.yaxis)
        self.legend_ = self.ax_.legend(loc="best") if self.ax_.get_legend_handles_labels()[0] else None
        return self

    def _draw(self, name: str | None, colour: str) -> None:
        area = None if self.area is None else f"area {self.area:.4f}"
        label = f"{name} ({area})" if name and area else name or area
        (self.line_,) = self.ax_.plot(self.coverage, self.accuracy, color=colour, label=label)
        self.point_ = None
        if self.point is not None:
            label = f"operating point: coverage {percent(self.point[0])}, accuracy {percent(self.point[1])}"
            style: dict[str, Argument] = {"marker": "o", "ms": 9, "mec": "black", "ls": "none"}
            (self.point_,) = self.ax_.plot(*self.point, label=label, color=colour, **style)
        self.ax_.set(xlabel="Coverage (fraction of accepted samples)", xlim=(-0.01, 1.01))
        self.ax_.set_ylabel("Accuracy on the accepted samples")
        show_percent(self.ax_.xaxis)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        y: ArrayLike,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the accuracy-reject curve of a fitted classifier on labelled samples.

        Parameters
        ----------
        estimator : classifier
            A fitted `RejectClassifier`, drawn with its own thresholds and its operating point; or a model of this
            library, a Pipeline, or any scikit-learn classifier, drawn with one threshold for all samples, by the
            certainty "auto".
        X : array-like of shape (n_samples, n_features)
            Samples, preferably not used in training.
        y : array-like of shape (n_samples,)
            True classes of the samples.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : AccuracyRejectDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        labels, reject = column_or_1d(y), find_layer(estimator, RejectClassifier)
        check_consistent_length(X, labels)
        found, point = judged(estimator, X), None
        correct, accepted = found.predictions.predicted == labels, found.accepted
        if reject is None:
            curve = accuracy_reject_curve(found.certainty, correct)
        else:
            curve = path_curve(reject.path_.evaluate(found.certainty, correct, cells_of(found.predictions)))
        if reject is not None and accepted.any():
            point = float(accepted.mean()), float(correct[accepted].mean())
        display = cls(
            coverage=curve.coverage,
            accuracy=curve.accuracy,
            area=area_under_curve(curve),
            point=point,
            name=estimator_name(estimator),
        )
        return display.plot(**plot_kwargs)
