"""What displays have in common: their axes, and for the displays of one accuracy curve its line and legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from lvq.plots.arguments import described
from lvq.plots.style import COLOURS, curve_legend, merge_kwargs, pyplot
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """Base of all displays."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _set_axes(self, ax: Axes | None, size: tuple[float, float]) -> None:
        """Set `ax_` and `figure_`: the axes given, or those of a new figure of a size in inches."""
        caller = f"{type(self).__name__}.plot"
        plt = pyplot(caller)
        if ax is not None and not isinstance(ax, plt.Axes):
            raise TypeError(f"ax of {caller} must be one matplotlib Axes, got {type(ax).__name__}.")
        self.ax_ = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure


class CurveDisplay(Display):
    """Base of the displays of one accuracy curve.

    A subclass names the attribute of the horizontal coordinates in `ABSCISSA`, and labels the axes and adds other
    artists in `_complete`.
    """

    ABSCISSA: ClassVar[str]
    LINE_STYLE: ClassVar[dict[str, Argument]] = {}
    accuracy: ArrayLike
    name: str | None

    @described
    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Argument] | None = None
    ) -> Self:
        """Draw the curve. Several curves can be drawn on the same axes one after the other.

        Parameters
        ----------
        {ax}
        name : str, optional
            Name in the legend; by default that of the display.
        {curve_kwargs}

        Returns
        -------
        display : object
            The display, with the artists as attributes.
        """
        self._set_axes(ax, (6.4, 4.8))
        from matplotlib.ticker import PercentFormatter

        curves = sum(np.size(line.get_xdata()) > 1 for line in self.ax_.lines)  # single points are not curves
        label = self._label(self.name if name is None else name)
        defaults = {"label": label, "color": COLOURS[curves % len(COLOURS)], **self.LINE_STYLE}
        style = merge_kwargs(defaults, curve_kwargs, "lines.Line2D")
        (self.line_,) = self.ax_.plot(getattr(self, self.ABSCISSA), self.accuracy, **style)
        self.ax_.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        self._complete()
        self.legend_ = curve_legend(self.ax_)
        return self

    def _complete(self) -> None:
        raise NotImplementedError

    def _label(self, name: str | None) -> str | None:
        return name
