"""AccuracyRejectDisplay: accuracy on the accepted samples as a function of coverage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lvq.estimators.find_model import rejecting_layer
from lvq.plots.arguments import described
from lvq.plots.display import CurveDisplay
from lvq.plots.fitted_arrays import estimator_name
from lvq.plots.style import percent, pyplot
from lvq.rejection.curves import (
    AccuracyRejectCurve,
    accuracy_reject_curve,
    area_under_curve,
    average_curves,
    path_curve,
)
from lvq.rejection.path import ThresholdPath
from lvq.rejection.scores import SampleFunction
from lvq.rejection.scores import certainty as certainty_of
from lvq.typing import Argument, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class AccuracyRejectDisplay(CurveDisplay):
    """Accuracy on the accepted samples as a function of coverage, the fraction of accepted samples.

    Create one with `from_estimator`, `from_predictions` or `from_cv_results`. All parameters are stored as attributes.

    Parameters
    ----------
    coverage : ndarray of shape (n_points,)
        Fraction of the samples that are accepted, descending.
    accuracy : ndarray of shape (n_points,)
        Accuracy on the accepted samples.
    standard_deviation : ndarray of shape (n_points,), optional
        Standard deviation of the accuracy over several runs; drawn as a band.
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
    band_ : matplotlib artist or None
        One standard deviation to either side.
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

    ABSCISSA = "coverage"

    coverage: ArrayLike
    accuracy: ArrayLike
    standard_deviation: ArrayLike | None = None
    area: float | None = None
    point: tuple[float, float] | None = None
    name: str | None = None

    def _label(self, name: str | None) -> str | None:
        area = None if self.area is None else f"area {self.area:.4f}"
        return name if area is None else area if name is None else f"{name} ({area})"

    def _complete(self) -> None:
        from matplotlib.ticker import PercentFormatter

        colour = self.line_.get_color()
        self.band_, self.point_ = None, None
        if self.standard_deviation is not None:
            low = np.asarray(self.accuracy) - self.standard_deviation
            high = np.minimum(np.asarray(self.accuracy) + self.standard_deviation, 1)
            self.band_ = self.ax_.fill_between(self.coverage, low, high, color=colour, alpha=0.2, lw=0)
        if self.point is not None:
            label = f"operating point: coverage {percent(self.point[0])}, accuracy {percent(self.point[1])}"
            style: dict[str, Argument] = {"marker": "o", "ms": 9, "mec": "black", "ls": "none", "color": colour}
            (self.point_,) = self.ax_.plot(*self.point, label=label, **style)
        self.ax_.set(xlabel="Coverage (fraction of accepted samples)", xlim=(-0.01, 1.01))
        self.ax_.set_ylabel("Accuracy on the accepted samples")
        self.ax_.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        measure: str | SampleFunction | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Plot the accuracy-reject curve of a fitted classifier on labelled samples.

        Parameters
        ----------
        estimator : classifier
            A fitted `RejectClassifier`, drawn with its own thresholds and its operating point; or a model of this
            library, a Pipeline, or any scikit-learn classifier, drawn with one threshold for all samples.
        {X}
        {y}
        {measure}
        {name}
        {ax}
        {curve_kwargs}

        Returns
        -------
        display : AccuracyRejectDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        curve, point = _curve_and_point(estimator, X, y, measure)
        name = estimator_name(estimator) if name is None else name
        return cls._of_curve(curve, point=point, name=name).plot(ax=ax, curve_kwargs=curve_kwargs)

    @classmethod
    @described
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        certainty: ArrayLike,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Plot the accuracy-reject curve of predictions with known certainties.

        Parameters
        ----------
        {y_true}
        {y_pred}
        certainty : array-like of shape (n_samples,)
            Certainty of each prediction; larger values are more certain.
        name : str, optional
            Name in the legend.
        {ax}
        {curve_kwargs}

        Returns
        -------
        display : AccuracyRejectDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        check_consistent_length(y_true, y_pred, certainty)
        curve = accuracy_reject_curve(certainty, column_or_1d(y_true) == column_or_1d(y_pred))
        return cls._of_curve(curve, name=name).plot(ax=ax, curve_kwargs=curve_kwargs)

    @classmethod
    def _of_curve(cls, curve: AccuracyRejectCurve, **parameters: Argument) -> Self:
        return cls(coverage=curve.coverage, accuracy=curve.accuracy, area=area_under_curve(curve), **parameters)

    @classmethod
    @described
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Argument],
        X: MatrixLike,
        y: ArrayLike,
        *,
        measure: str | SampleFunction | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Plot the mean curve over the folds of a cross-validation, each on its own test samples.

        The mean is taken at coverages for which at least 80 % of the folds have a value.

        Parameters
        ----------
        {cv_results}
        X : array-like of shape (n_samples, n_features)
            The samples given to `cross_validate`.
        {y}
        {measure}
        name : str, optional
            Name in the legend; by default the number of folds.
        {ax}
        {curve_kwargs}

        Returns
        -------
        display : AccuracyRejectDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_cv_results")
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                f"cv_results of {cls.__name__} must have 'estimator' and 'indices', got {sorted(cv_results)}; call "
                "cross_validate with return_estimator=True and return_indices=True."
            )
        labels = column_or_1d(y)
        curves = [
            _curve_and_point(estimator, _safe_indexing(X, test), labels[test], measure)[0]
            for estimator, test in zip(cv_results["estimator"], cv_results["indices"]["test"])
        ]
        coverage, accuracy, deviation, _ = average_curves(curves)
        area = float(np.mean([area_under_curve(curve) for curve in curves]))
        name = f"mean of {len(curves)} folds" if name is None else name
        display = cls(coverage=coverage, accuracy=accuracy, standard_deviation=deviation, area=area, name=name)
        return display.plot(ax=ax, curve_kwargs=curve_kwargs)


def _curve_and_point(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, measure: str | SampleFunction | None
) -> tuple[AccuracyRejectCurve, tuple[float, float] | None]:
    """The accuracy-reject curve of a fitted classifier, and coverage and accuracy of a RejectClassifier.

    The curve of a RejectClassifier follows its own thresholds along their path. Where it has a path for each class, or
    another measure is given, and for other classifiers, one threshold increases through all certainties.
    """
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    reject, inputs = rejecting_layer(estimator, X)
    if reject is None:
        check_is_fitted(estimator)
        correct = np.asarray(estimator.predict(X)) == labels
        return accuracy_reject_curve(certainty_of(estimator, X, measure or "auto"), correct), None
    check_is_fitted(reject)
    correct, reasons = reject.predict(inputs) == labels, reject.reason(inputs)
    accepted = reasons == ""
    point = (float(accepted.mean()), float(correct[accepted].mean())) if accepted.any() else None
    typical = reasons != "outlier" if reject.outlier_limits_ is not None else np.ones(len(labels), dtype=np.bool_)
    if not typical.any():
        raise ValueError("AccuracyRejectDisplay needs samples that are not outliers, got only outliers in X.")
    values = reject.certainty(inputs) if measure is None else certainty_of(reject.estimator_, inputs, measure)
    if isinstance(reject.path_, ThresholdPath) and measure is None:
        cell = reject.cell(inputs)
        curve = path_curve(reject.path_.evaluate(values[typical], correct[typical], cell[typical]))
    else:
        curve = accuracy_reject_curve(values[typical], correct[typical])
    return AccuracyRejectCurve(curve.coverage * typical.mean(), curve.accuracy), point
