"""EvidenceDisplay: why a sample got its class, from even odds to the prediction, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from lvq.inspection.columns import input_cells
from lvq.inspection.explain import InputExplanation, factor_text, odds_text
from lvq.plots.style import COLOURS, Display, bar_axes, number, short_name
from lvq.typing import Argument, JSONValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

FOR, AGAINST = COLOURS[0], COLOURS[5]


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceDisplay(Display):
    """The evidence of each column for a prediction, as a waterfall from even odds to the odds of the prediction.

    Create one with `from_explanation`. All parameters are stored as attributes.

    Parameters
    ----------
    evidence : ndarray of shape (n_columns,)
        Log-odds of each column for the predicted class against the rival's.
    feature_names : sequence of str
        Names of the columns, preferably with their values.
    label, rival_label : str
        The predicted class and the rival's class.
    rest : float, default=0.0
        Total evidence of `n_rest` further columns.
    n_rest : int, default=0
        Number of these columns.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars: the largest evidence first, all other columns together last.
    order_ : ndarray of int
        Indices of the columns that have a bar, in their order.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lvq
    >>> from lvq.plots import EvidenceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = lvq.LVQClassifier(random_state=0).fit(X, y)
    >>> display = EvidenceDisplay.from_explanation(lvq.explain(model, X[:1]))
    >>> len(display.bars_), display.label
    (4, '0')
    """

    evidence: ArrayLike
    feature_names: Sequence[str]
    label: str
    rival_label: str
    rest: float = 0.0
    n_rest: int = 0

    def plot(self, ax: Axes | None = None, *, max_features: int | None = 10) -> Self:
        """Draw the waterfall.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_features : int or None, default=10
            Number of columns with a bar, largest evidence first; the others share a bar. None draws all.

        Returns
        -------
        display : EvidenceDisplay
            The display, with the artists as attributes.
        """
        self._check(max_features)
        evidence = np.asarray(self.evidence, dtype=np.float64)
        self.order_ = np.argsort(-np.abs(evidence), kind="stable")[:max_features]
        steps, names = evidence[self.order_], [self.feature_names[int(k)] for k in self.order_]
        total = float(evidence.sum()) + self.rest
        left = len(evidence) - len(steps) + self.n_rest
        if left:
            steps = np.append(steps, total - steps.sum())
            names.append(f"{left} other column{'s' if left > 1 else ''}")
        self._set_axes(ax, (7.2, float(np.clip(0.3 * len(steps) + 1.4, 2.4, 14))))
        self._draw(steps)
        bar_axes(self.ax_, names)
        label, rival = short_name(self.label, 24), short_name(self.rival_label, 24)
        self.ax_.set_title(f"{label} against {rival}: odds {odds_text(total)}", size="medium")
        self.ax_.set_xlabel("Log-odds, from even odds (0) to the prediction")
        return self

    def _draw(self, steps: np.ndarray) -> None:
        """A bar for each step, which begins where the last one ended, with its factor of the odds."""
        ends = np.cumsum(steps)
        places, starts = np.arange(len(steps)), ends - steps
        colours = [FOR if step >= 0 else AGAINST for step in steps]
        self.bars_: BarContainer = self.ax_.barh(places, steps, left=starts, color=colours)
        low, high = min(0.0, ends.min()), max(0.0, ends.max())
        room = 0.22 * (high - low or 1.0)  # for the factors
        for place, (step, start, end) in enumerate(zip(steps.tolist(), starts.tolist(), ends.tolist())):
            self.ax_.text(max(start, end) + 0.03 * room, place, f" {factor_text(step)}", va="center", size="small")
            self.ax_.plot([end, end], [place, min(place + 1, places[-1]) + 0.4], color="#888888", lw=0.8)
        self.ax_.axvline(0, color="#888888", lw=0.8, ls="--")
        self.ax_.set_xlim(low - 0.15 * room, high + room)

    @classmethod
    def from_explanation(cls, explanation: InputExplanation, row: int = 0, **plot_kwargs: Argument) -> Self:
        """Plot the evidence of one explained sample.

        Parameters
        ----------
        explanation : InputExplanation
            From `lvq.explain`, for a model with evidence, such as `LVQClassifier`.
        row : int, default=0
            Number of the sample in the explanation.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : EvidenceDisplay
            The display, drawn.
        """
        if explanation.evidence is None:
            raise ValueError(
                f"{cls.__name__} needs a model whose log-odds are a sum over features, such as LVQClassifier; this "
                "explanation has contributions only, see its table()."
            )
        pairs = zip(explanation.feature_names.tolist(), input_cells(explanation.inputs, row))
        display = cls(
            evidence=explanation.evidence[row],
            feature_names=[with_value(name, value) for name, value in pairs],
            label=str(explanation.label[row]),
            rival_label=str(explanation.rival_label[row]),
        )
        return display.plot(**plot_kwargs)


def with_value(name: str, value: JSONValue) -> str:
    """A name and a value, as a tick of the waterfall.

    Examples
    --------
    >>> with_value("age", 63.0), with_value("sex", "male"), with_value("pressure", None)
    ('age = 63', 'sex = male', 'pressure missing')
    """
    if value is None:
        return f"{short_name(name, 20)} missing"
    text = number(value, 3) if isinstance(value, float) else short_name(value, 12)
    return f"{short_name(name, 26 - len(text))} = {text}"
