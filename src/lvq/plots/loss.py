"""LossCurveDisplay: how the cost fell in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lvq.plots.models import estimator_name
from lvq.plots.style import COLOURS, DASHES, axes, merged, pyplot, told_apart
from lvq.robustness import find_model


class LossCurveDisplay:
    """Mean cost by epoch or iteration, of one model or several.

    Make one with `from_estimator`. All parameters are stored as attributes. Costs of different kinds of models have
    different units: compare the shapes of their curves, not their heights.

    Parameters
    ----------
    histories : list of ndarray
        Mean cost of each epoch or iteration, for each model.
    names : list of str
        What the models are called in the legend.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curves.
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

    def __init__(self, *, histories: Sequence[Any], names: Sequence[str]) -> None:
        self.histories = histories
        self.names = names

    def plot(self, ax: Any = None, *, curve_kwargs: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict or list of dict, optional
            For matplotlib's `plot`, the same for all curves or one for each.

        Returns
        -------
        display : LossCurveDisplay
            With the artists as attributes.
        """
        self.ax_ = axes("LossCurveDisplay.plot", ax, (6.4, 4.8))
        self.figure_ = self.ax_.figure
        from matplotlib.lines import Line2D
        from matplotlib.ticker import MaxNLocator

        given = list(curve_kwargs) if isinstance(curve_kwargs, list | tuple) else [curve_kwargs] * len(self.histories)
        if len(given) != len(self.histories):
            raise ValueError(
                f"curve_kwargs of LossCurveDisplay.plot must be a dict, or a list of {len(self.histories)}, one for "
                f"each curve; got {len(given)}."
            )
        before = len(self.ax_.lines)
        self.lines_ = []
        for index, (history, name, keywords) in enumerate(zip(self.histories, self.names, given), start=before):
            defaults: dict[str, Any] = {
                "label": name,
                "color": COLOURS[index % len(COLOURS)],
                "linestyle": DASHES[index // len(COLOURS) % len(DASHES)],
                "marker": "o" if len(history) == 1 else None,  # a single value makes no line
            }
            steps = np.arange(1, len(history) + 1)
            self.lines_ += self.ax_.plot(steps, history, **merged(defaults, keywords, Line2D))
        self.ax_.set(xlabel="Epoch or iteration", ylabel="Mean cost of the training samples")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.grid(alpha=0.3)
        self.legend_ = self.ax_.legend(loc="best") if self.ax_.get_legend_handles_labels()[0] else None
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, curve_kwargs: Any = None
    ) -> Self:
        """The training of a fitted model, or of several.

        Parameters
        ----------
        estimator : estimator, list of estimators, or dict from name to estimator
            Models of this library, alone, in Pipelines or in `RejectClassifier`.
        name : str, optional
            For the legend, where one estimator is given; by default its class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        curve_kwargs : dict or list of dict, optional
            For matplotlib's `plot`, the same for all curves or one for each.

        Returns
        -------
        display : LossCurveDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        if isinstance(estimator, Mapping):
            names, models = [str(key) for key in estimator], list(estimator.values())
        else:
            models = list(estimator) if isinstance(estimator, list | tuple) else [estimator]
            names = told_apart([estimator_name(model) if name is None else name for model in models])
        if not models:
            raise ValueError(f"estimator of {cls.__name__}.from_estimator must hold at least one model, got none.")
        return cls(histories=[_history(model) for model in models], names=names).plot(ax=ax, curve_kwargs=curve_kwargs)


def _history(estimator: Any) -> Any:
    found = find_model(estimator)
    if found is None:
        raise ValueError(
            "LossCurveDisplay needs models of this library, Pipelines that end in one, or RejectClassifiers around "
            f"either, got {type(estimator).__name__}."
        )
    check_is_fitted(found.model)
    return found.model.objective_history_
