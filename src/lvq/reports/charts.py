"""The charts of the page: displays of `lvq.plots` as SVG, whose text has the colours of the page's theme.

Each chart is one function. The page's script finds samples, prototypes and operating points by the names of their
groups, which matplotlib writes as ids.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from lvq.inspection.importance import VariableImportances
from lvq.plots import EffectDisplay, EvidenceDisplay, LambdaDisplay, RelevanceDisplay
from lvq.plots.effects import GREY, Effects
from lvq.plots.evidence import AGAINST, FOR, with_value
from lvq.plots.style import COLOURS, MARKERS, class_colours, mix, percent, short_names, show_percent
from lvq.reports.metrics import Probabilities
from lvq.reports.model import Curves, spread
from lvq.reports.rejection import Rejection
from lvq.reports.samples import EXPLAINED_FEATURES, Explanation, Map
from lvq.reports.summary import Report
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawing = Callable[..., object]  # of ax

MAX_NUMBERED = 24  # prototypes up to which each has its number on the map
MAX_BARS = 12  # importances
DARK = 75  # brightness of a colour, of 255, below which it is hardly seen on a dark page
MAX_CURVE_POINTS = 200  # of ROC and precision-recall curves
WIDTH, CARD, SMALL = 4.6, 3.6, 2.8  # inches; the page scales them
TEXT, MUTED, LINE = "#16191d", "#5a636d", "#d6dce2"
THEME = {  # colours that are replaced by the page's variables
    TEXT: "var(--text)", "#000000": "var(--text)", MUTED: "var(--muted)", GREY: "var(--muted)", LINE: "var(--line)",
}  # fmt: skip
SIGNS = {FOR.lower(): "var(--positive)", AGAINST.lower(): "var(--negative)"}
STYLE: Argument = {
    "svg.fonttype": "none",
    "font.size": 9.5,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor"), TEXT),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), MUTED),
    **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color"), LINE),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
}


def drawings(report: Report) -> dict[str, str]:
    """The charts of a report as SVG, by their names."""
    relevance, curves, effects, found = report.relevance, report.curves, report.effects, report.probabilities
    charts: dict[str, tuple[Drawing, float, float]] = {  # with height and width in inches
        "map": (partial(_map, report.map), 3.9, WIDTH),
        "curve": (partial(_curve, report.rejection, marked=report.coverage is not None), 2.2, WIDTH),
    }
    if curves is not None:
        charts["prototypes"] = partial(_prototype_curves, curves), 3.0, WIDTH
    if curves is not None and curves.importance is not None:
        charts["relevance"] = partial(curves.importance.plot, kind="line"), 3.0, WIDTH
    if relevance is not None and curves is None:
        charts["relevance"] = partial(_importance, relevance), 0.8 + 0.2 * min(MAX_BARS, len(relevance.names)), WIDTH
    if report.matrix is not None:
        charts["matrix"] = partial(_matrix, report.matrix), 4.2, WIDTH
    if effects is not None:
        charts |= {f"effect{k}": (partial(_effect, effects, k), 1.9, SMALL) for k in range(len(effects.columns))}
    for kind in ("wrong", "typical"):
        for k, one in enumerate(getattr(report.explanations, kind)):
            if one.log_odds is not None and one.image is None:
                bars = min(EXPLAINED_FEATURES, len(one.features))
                charts[f"{kind}{k}"] = partial(_evidence, one, report), 0.8 + 0.21 * bars, CARD
    if found is not None:
        charts["calibration"] = partial(_calibration, found), 2.6, CARD
    if found is not None and found.drawn:
        charts["roc"] = partial(_by_threshold, found, recall=False), 2.6, CARD
        charts["precision"] = partial(_by_threshold, found, recall=True), 2.6, CARD
    return {name: _svg(name, *chart) for name, chart in charts.items()}


def _svg(name: str, draw: Drawing, height: float, width: float) -> str:
    """A drawing as an SVG element; matplotlib's own ids are left out, as they are the same in all drawings."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = StringIO()
    with rc_context(STYLE | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has others
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(ax=figure.subplots())
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = re.sub("<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL)
    text = re.sub('<g id="(?!sample|prototype|point|error)[^"]*">', "<g>", text[text.index("<svg") :])
    known = THEME if name in ("map", "prototypes", "roc", "precision") else THEME | SIGNS  # others have class colours
    return re.sub("(?<=: )#[0-9a-f]{6}", lambda code: known.get(code[0], on_any_background(code[0])), text)


def on_any_background(colour: str) -> str:
    """A colour of classes, lighter on a dark page where it would hardly be seen.

    Examples
    --------
    >>> on_any_background("#e69f00"), on_any_background("#202020")
    ('#e69f00', 'light-dark(#202020, #848484)')
    """
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    is_dark = 0.3 * red + 0.59 * green + 0.11 * blue < DARK
    return f"light-dark({colour}, {mix(colour, '#FFFFFF', 0.45).lower()})" if is_dark else colour


def symbol(code: int) -> str:
    """The path of a class's mark in a box of 16 by 16."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.transforms import Affine2D

    mark = MarkerStyle(MARKERS[code % len(MARKERS)])
    box = mark.get_transform() + Affine2D().scale(12, -12).translate(8, 8)
    (outline,) = mark.get_path().transformed(box).to_polygons()
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in np.asarray(outline)) + "z"


# -- rejection ---------------------------------------------------------------------------------------------------------


def _map(view: Map, ax: Axes) -> None:
    """Samples and prototypes over the predicted classes, the area of rejection hatched."""
    display = view.display.plot(ax)
    if display.legend_ is not None:
        display.legend_.remove()  # the page has its own
    for code, (samples, prototypes) in enumerate(zip(display.samples_, display.prototypes_)):
        samples.set_gid(f"samples{code}")
        prototypes.set_gid(f"prototypes{code}")
    if display.errors_ is not None:
        display.errors_.set_gid("errors")
    places = display.plane.prototypes
    for number, place in enumerate(places if len(places) <= MAX_NUMBERED else (), start=1):
        ax.annotate(f"P{number}", place, (0, 7), textcoords="offset points", ha="center", weight="bold", zorder=5)
    first, second = (f"Axis {k} ({percent(explained)})" for k, explained in enumerate(display.plane.explained, 1))
    ax.set(title="", xticks=[], yticks=[], xlabel=first, ylabel=second)


def _curve(rejection: Rejection, ax: Axes, *, marked: bool) -> None:
    """Accuracy by coverage; each operating point is a mark that the page shows when the slider is there."""
    ax.plot(rejection.coverage, [np.nan if one is None else one for one in rejection.accuracy], color=FOR, lw=2)
    for k, (coverage, accuracy) in enumerate(zip(rejection.coverage, rejection.accuracy)):
        if accuracy is not None:
            ax.plot(coverage, accuracy, "o", color=FOR, ms=8, gid=f"point{k}")
            if marked and k == rejection.fitted:
                ax.plot(coverage, accuracy, "D", ms=10, mfc="none", mec=TEXT)
    ax.set(xlabel="Fraction of the samples that is accepted", ylabel="Correct among accepted")
    ax.invert_xaxis()
    _percentages(ax)


# -- how it decides ----------------------------------------------------------------------------------------------------


def _importance(found: VariableImportances, ax: Axes) -> None:
    display = RelevanceDisplay.from_importances(found, ax=ax, max_features=MAX_BARS)
    display.ax_.set_title("")  # the page describes bars and lines
    if display.legend_ is not None:
        display.legend_.remove()


def _effect(effects: Effects, place: int, ax: Axes) -> None:
    """One effect, on an axis of log-odds that is the same for all."""
    curves = [np.array(one.log_odds) + np.outer([-1, 1], one.error or [0.0]) for one in effects.columns]
    low, high = min(curve.min() for curve in curves), max(curve.max() for curve in curves)
    room = 0.25 * (high - low or 1.0)
    display = EffectDisplay(effects=replace(effects, columns=effects.columns[place : place + 1])).plot(ax)
    display.axes_[0].set_ylim(low - room, high + room)
    display.axes_[0].set_ylabel("Log-odds")


def _evidence(one: Explanation, report: Report, ax: Axes) -> None:
    """The waterfall of an explained prediction."""
    display = EvidenceDisplay(
        evidence=[line.evidence for line in one.features],
        feature_names=[with_value(line.name, line.value) for line in one.features],
        label=report.data.classes[one.predicted],
        rival_label=report.rival_class(one),
        rest=one.other_evidence,
        n_rest=len(report.data.variables) - len(one.features),
    ).plot(ax, max_features=EXPLAINED_FEATURES)
    display.ax_.set(xlabel="Log-odds", title="")


def _matrix(matrix: LambdaDisplay, ax: Axes) -> None:
    replace(matrix, feature_names=short_names(matrix.feature_names, 16)).plot(ax).colorbar_.remove()


def _prototype_curves(curves: Curves, ax: Axes) -> None:
    """Prototypes as lines in the colours of their classes; the samples as a band."""
    ax.fill_between(range(len(curves.low)), curves.low, curves.high, color=MUTED, alpha=0.18, lw=0)
    curves.prototypes.plot(ax, kind="line").legend_.remove()  # the page has its own


# -- how sure it is ----------------------------------------------------------------------------------------------------


def _percentages(ax: Axes) -> None:
    show_percent(ax.xaxis)
    show_percent(ax.yaxis)
    ax.grid(alpha=0.3)


def _calibration(found: Probabilities, ax: Axes) -> None:
    """Accuracy by the probability of the most probable class; calibrated predictions lie on the diagonal."""
    low = max(0.0, min([*found.probability, *found.accuracy]) - 0.05)
    ax.plot([low, 1], [low, 1], color=MUTED, ls="--", lw=1)
    size = 140 * np.sqrt(np.array(found.n_samples) / max(found.n_samples))
    ax.scatter(found.probability, found.accuracy, size, color=COLOURS[0], alpha=0.8, lw=0)
    ax.set(xlabel="Probability of the predicted class", ylabel="Correct")
    _percentages(ax)


def _by_threshold(found: Probabilities, ax: Axes, *, recall: bool) -> None:
    """The ROC curve of each class in its colour, or the one of precision and recall."""
    colours = class_colours(found.table.shape[1])
    for label in found.drawn:
        true, score = found.true[:, label], found.table[:, label]
        x, y, _ = roc_curve(true, score)
        if recall:
            y, x, _ = precision_recall_curve(true, score, drop_intermediate=True)
        shown = spread(len(x), MAX_CURVE_POINTS)
        ax.plot(x[shown], y[shown], color=colours[label], lw=1.5)
    ax.set(xlim=(-0.02, 1.02), xlabel="Recall (sensitivity)" if recall else "1 − specificity")
    ax.set(ylim=(-0.02, 1.02), ylabel="Precision (PPV)" if recall else "Sensitivity")
    _percentages(ax)
