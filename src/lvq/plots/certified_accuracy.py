"""CertifiedAccuracyDisplay: accuracy that holds for every change of the samples up to a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.inspection.certify import certified_radius
from lvq.plots.arguments import described
from lvq.plots.display import CurveDisplay
from lvq.plots.fitted_arrays import estimator_name
from lvq.plots.style import pyplot
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NORM_NAMES = {1.0: "sum of the features' changes", 2.0: "Euclidean length", np.inf: "largest change of a feature"}


@dataclass(kw_only=True, eq=False, repr=False)
class CertifiedAccuracyDisplay(CurveDisplay):
    """Certified accuracy: fraction of samples that are predicted correctly under every smaller change.

    Create one with `from_estimator` or `from_predictions`. All parameters are stored as attributes.

    Parameters
    ----------
    radii : ndarray of shape (n_points,)
        Sizes of change, in the units of X, ascending from 0: every size at which the curve falls.
    accuracy : ndarray of shape (n_points,)
        Certified accuracy at these sizes; the plain accuracy at 0.
    norm : {1, 2, inf}, default=2
        Norm in which the size of a change is measured.
    name : str, optional
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve, a falling step function.
    legend_ : matplotlib Legend or None
        The legend.
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

    ABSCISSA = "radii"
    # the accuracy at a radius holds for all smaller ones down to the previous radius
    LINE_STYLE: ClassVar[dict[str, Argument]] = {"drawstyle": "steps-pre"}

    radii: ArrayLike
    accuracy: ArrayLike
    norm: float = 2
    name: str | None = None

    def _complete(self) -> None:
        xlabel = f"Size of the change ({NORM_NAMES[float(self.norm)]}, in the units of X)"
        self.ax_.set(xlabel=xlabel, ylabel="Certified accuracy", ylim=(-0.02, 1.02))
        self.ax_.set_xlim(left=0)

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        *,
        norm: float = 2,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Plot the certified accuracy of a fitted model on labelled samples.

        Parameters
        ----------
        estimator : estimator
            A fitted model that `lvq.certified_radius` supports: a model of this library, alone or in a Pipeline of
            scalers or a `RejectClassifier`. Rejection is ignored.
        {X}
        {y}
        {norm}
        {name}
        {ax}
        {curve_kwargs}

        Returns
        -------
        display : CertifiedAccuracyDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        radius = certified_radius(estimator, X, norm)
        name = estimator_name(estimator) if name is None else name
        return cls.from_predictions(
            y, estimator.predict(X), radius, norm=norm, name=name, ax=ax, curve_kwargs=curve_kwargs
        )

    @classmethod
    @described
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        radius: ArrayLike,
        *,
        norm: float = 2,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Plot the certified accuracy of predictions with known certified radii.

        Parameters
        ----------
        {y_true}
        {y_pred}
        radius : array-like of shape (n_samples,)
            Certified radius of each sample: no smaller change of the sample changes its prediction.
        {norm}
        name : str, optional
            Name in the legend.
        {ax}
        {curve_kwargs}

        Returns
        -------
        display : CertifiedAccuracyDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        check_consistent_length(y_true, y_pred, radius)
        if norm not in NORM_NAMES:
            raise ValueError(f"norm of {cls.__name__} must be 1, 2 or inf, got {norm!r}.")
        sizes = np.asarray(radius, dtype=np.float64)
        if not np.all(sizes >= 0):
            raise ValueError(f"radius of {cls.__name__} must be 0 or more for every sample.")
        correct = np.sort(sizes[column_or_1d(y_true) == column_or_1d(y_pred)])
        steps = np.unique(np.append(0.0, correct[np.isfinite(correct)]))
        steps = np.append(steps, np.nextafter(steps[-1], np.inf))  # beyond the largest finite radius
        accuracy = (len(correct) - np.searchsorted(correct, steps, side="left")) / len(sizes)
        return cls(radii=steps, accuracy=accuracy, norm=norm, name=name).plot(ax=ax, curve_kwargs=curve_kwargs)
