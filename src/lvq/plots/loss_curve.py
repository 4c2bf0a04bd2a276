"""LossCurveDisplay: training cost by epoch or iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.plots.arguments import described
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import estimator_name
from lvq.plots.style import COLOURS, DASHES, curve_legend, make_unique, merge_kwargs, pyplot
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CurveKeywords = dict[str, Argument] | list[dict[str, Argument]] | None


@dataclass(kw_only=True, eq=False, repr=False)
class LossCurveDisplay(Display):
    """Mean training cost by epoch or iteration, of one model or several.

    Create one with `from_estimator`. All parameters are stored as attributes. Costs of different kinds of models have
    different units: compare the shapes of their curves, not their heights.

    Parameters
    ----------
    histories : list of ndarray
        Mean cost of each epoch or iteration, for each model.
    names : list of str
        Names of the models in the legend.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curves.
    legend_ : matplotlib Legend or None
        The legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where they are drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ, GMLVQ
    >>> from lvq.plots import LossCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [GLVQ(random_state=0).fit(X, y), GMLVQ(random_state=0).fit(X, y)]
    >>> LossCurveDisplay.from_estimator(models).names
    ['GLVQ', 'GMLVQ']
    """

    histories: Sequence[np.ndarray]
    names: Sequence[str]

    @described
    def plot(self, ax: Axes | None = None, *, curve_kwargs: CurveKeywords = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        {ax}
        curve_kwargs : dict or list of dict, optional
            Keyword arguments for matplotlib's `plot`, for all curves or one dict for each.

        Returns
        -------
        display : LossCurveDisplay
            The display, with the artists as attributes.
        """
        self._set_axes(ax, (6.4, 4.8))
        from matplotlib.ticker import MaxNLocator

        given = list(curve_kwargs) if isinstance(curve_kwargs, list | tuple) else [curve_kwargs] * len(self.histories)
        if len(given) != len(self.histories):
            raise ValueError(
                f"curve_kwargs of LossCurveDisplay.plot must be a dict, or a list of {len(self.histories)}, one for "
                f"each curve; got {len(given)}."
            )
        self.lines_ = []
        curves = zip(self.histories, self.names, given)
        for index, (history, name, keywords) in enumerate(curves, start=len(self.ax_.lines)):
            colour, dash = COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]
            marker = "o" if len(history) == 1 else None  # one value alone would be invisible
            defaults = {"label": name, "color": colour, "linestyle": dash, "marker": marker}
            style = merge_kwargs(defaults, keywords, "lines.Line2D")
            self.lines_ += self.ax_.plot(np.arange(1, len(history) + 1), history, **style)
        self.ax_.set(xlabel="Epoch or iteration", ylabel="Mean cost of the training samples")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.legend_ = curve_legend(self.ax_)
        return self

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator | Sequence[BaseEstimator] | Mapping[str, BaseEstimator],
        *,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: CurveKeywords = None,
    ) -> Self:
        """Plot the training cost of a fitted model, or of several.

        Parameters
        ----------
        estimator : estimator, list of estimators, or dict from name to estimator
            Fitted models of this library, alone or in Pipelines, searches or a `RejectClassifier`.
        name : str, optional
            Name in the legend, where one estimator is given; by default its class.
        {ax}
        curve_kwargs : dict or list of dict, optional
            Keyword arguments for matplotlib's `plot`, for all curves or one dict for each.

        Returns
        -------
        display : LossCurveDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        if isinstance(estimator, Mapping):
            names, models = [str(key) for key in estimator], list(estimator.values())
        else:
            models = list(estimator) if isinstance(estimator, list | tuple) else [estimator]
            names = make_unique([estimator_name(model) if name is None else name for model in models])
        if not models:
            raise ValueError(f"estimator of {cls.__name__}.from_estimator must have at least one model, got none.")
        histories = [need_model(model, cls.__name__).estimator.objective_history_ for model in models]
        return cls(histories=histories, names=names).plot(ax=ax, curve_kwargs=curve_kwargs)
