"""AccuracyRejectDisplay: what accuracy remains on the samples that still get an answer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.plots.answered import curve_on
from lvq.plots.models import estimator_name
from lvq.plots.style import COLOURS, axes, merged, percent, pyplot
from lvq.rejection.curves import accuracy_reject_curve, area_under_curve, average_curves
from lvq.robustness import Floats


class AccuracyRejectDisplay:
    """Accuracy on the answered samples by the share that is answered.

    Make one with `from_estimator`, `from_predictions` or `from_cv_results`. All parameters are stored as attributes.

    Parameters
    ----------
    coverage : ndarray of shape (n_points,)
        Share of the samples that get an answer; falls.
    accuracy : ndarray of shape (n_points,)
        Share of these answers that are right.
    standard_deviation : ndarray of shape (n_points,), optional
        Of the accuracy over several runs; drawn as a band.
    area : float, optional
        Mean accuracy over all coverages, for the legend.
    point : tuple of float, optional
        Coverage and accuracy of the operating point in use.
    name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib artist or None
        One standard deviation to either side.
    point_ : matplotlib Line2D or None
        The operating point.
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

    def __init__(
        self,
        *,
        coverage: Any,
        accuracy: Any,
        standard_deviation: Any = None,
        area: float | None = None,
        point: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.coverage = coverage
        self.accuracy = accuracy
        self.standard_deviation = standard_deviation
        self.area = area
        self.point = point
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
        display : AccuracyRejectDisplay
            With the artists as attributes.
        """
        self.ax_ = axes("AccuracyRejectDisplay.plot", ax, (6.4, 4.8))
        self.figure_ = self.ax_.figure
        from matplotlib.lines import Line2D
        from matplotlib.ticker import PercentFormatter

        curves = sum(len(line.get_xdata()) > 1 for line in self.ax_.lines)  # the points in use do not count
        colour = COLOURS[curves % len(COLOURS)]
        defaults = {"label": self._label(self.name if name is None else name), "color": colour}
        keywords = merged(defaults, curve_kwargs, Line2D)
        (self.line_,) = self.ax_.plot(self.coverage, self.accuracy, **keywords)
        self.band_, self.point_ = None, None
        if self.standard_deviation is not None:
            low = np.asarray(self.accuracy) - self.standard_deviation
            high = np.minimum(np.asarray(self.accuracy) + self.standard_deviation, 1)
            self.band_ = self.ax_.fill_between(self.coverage, low, high, color=self.line_.get_color(), alpha=0.2, lw=0)
        if self.point is not None:
            words = f"in use: {percent(self.point[0])} answered, {percent(self.point[1])} of these right"
            style = {"marker": "o", "markersize": 9, "markeredgecolor": "black", "linestyle": "none"}
            (self.point_,) = self.ax_.plot(*self.point, color=self.line_.get_color(), label=words, **style)
        self.ax_.set(
            xlabel="Coverage (share of the samples that are answered)",
            ylabel="Accuracy on the answered samples",
            xlim=(-0.01, 1.01),
        )
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self.ax_.grid(alpha=0.3)
        self.legend_ = self.ax_.legend(loc="best") if self.ax_.get_legend_handles_labels()[0] else None
        return self

    def _label(self, name: str | None) -> str | None:
        area = None if self.area is None else f"area {self.area:.4f}"
        return name if area is None else area if name is None else f"{name} ({area})"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        measure: Any = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """The curve of a fitted classifier on samples of known class.

        Parameters
        ----------
        estimator : classifier
            A `RejectClassifier` is drawn with its own thresholds and the point it stands on; a model of this library, a
            Pipeline, or any scikit-learn classifier with one threshold that rises through all certainties.
        X : array-like of shape (n_samples, n_features)
            Samples, best such as were not used in fitting.
        y : array-like of shape (n_samples,)
            Their classes.
        measure : str or callable, optional
            How sure an answer is, see `lvq.rejection.certainty`; by default a `RejectClassifier`'s own, else "auto".
        name : str, optional
            For the legend; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict, optional
            For matplotlib's `plot`.

        Returns
        -------
        display : AccuracyRejectDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        curve, point = curve_on(estimator, X, y, measure)
        name = estimator_name(estimator) if name is None else name
        display = cls(
            coverage=curve.coverage, accuracy=curve.accuracy, area=area_under_curve(curve), point=point, name=name
        )
        return display.plot(ax=ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        certainty: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """The curve from answers and how sure they were.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted classes.
        certainty : array-like of shape (n_samples,)
            Higher is surer.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict, optional
            For matplotlib's `plot`.

        Returns
        -------
        display : AccuracyRejectDisplay
        """
        pyplot(f"{cls.__name__}.from_predictions")
        check_consistent_length(y_true, y_pred, certainty)
        curve = accuracy_reject_curve(certainty, column_or_1d(y_true) == column_or_1d(y_pred))
        display = cls(coverage=curve.coverage, accuracy=curve.accuracy, area=area_under_curve(curve), name=name)
        return display.plot(ax=ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        measure: Any = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """The mean curve over the folds of a cross-validation, each on its own test samples, and its spread.

        Parameters
        ----------
        cv_results : dict
            What `sklearn.model_selection.cross_validate` gives with ``return_estimator=True, return_indices=True``.
        X : array-like of shape (n_samples, n_features)
            The samples that were given to it.
        y : array-like of shape (n_samples,)
            Their classes.
        measure, name, ax, curve_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : AccuracyRejectDisplay
            Averaged where at least four in five folds have a value.
        """
        pyplot(f"{cls.__name__}.from_cv_results")
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                "cv_results must hold 'estimator' and 'indices', got "
                f"{sorted(cv_results)}; call cross_validate with return_estimator=True and return_indices=True."
            )
        y = column_or_1d(y)
        curves = [
            curve_on(estimator, _safe_indexing(X, test), y[test], measure).curve
            for estimator, test in zip(cv_results["estimator"], cv_results["indices"]["test"])
        ]
        mean = average_curves(curves)
        area: Floats = np.array([area_under_curve(curve) for curve in curves])
        display = cls(
            coverage=mean.coverage,
            accuracy=mean.accuracy,
            standard_deviation=mean.standard_deviation,
            area=float(area.mean()),
            name=f"mean of {len(curves)} folds" if name is None else name,
        )
        return display.plot(ax=ax, curve_kwargs=curve_kwargs)
