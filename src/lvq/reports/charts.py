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

from lvq.plots import (
    CertifiedAccuracyDisplay,
    EffectDisplay,
    EvidenceDisplay,
    LambdaDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)
from lvq.plots.effects import GREY, Effects
from lvq.plots.evidence import AGAINST, FOR, with_value
from lvq.plots.style import COLOURS, MARKERS, class_colours, percent, show_percent
from lvq.reports.metrics import ClassCurves, Probabilities
from lvq.reports.model import Certified, Curves, Importance
from lvq.reports.rejection import Rejection
from lvq.reports.samples import Explanation, Map
from lvq.reports.summary import Report
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

Drawing = Callable[["Axes"], object]

MAX_NUMBERED = 24  # prototypes up to which each has its number on the map
MAX_LINES = 60  # prototypes as curves
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
    relevance, curves, classes = report.relevance, report.curves, report.data.classes
    found: dict[str, tuple[Drawing, float, float]] = {  # with height and width in inches
        "map": (partial(_map, report.map), 3.9, WIDTH),
        "curve": (partial(_curve, report.rejection, marked=report.coverage is not None), 2.2, WIDTH),
    }
    if relevance is not None and curves is None:
        found["relevance"] = partial(_relevance, relevance), 0.7 + 0.19 * len(relevance.features), WIDTH
    if curves is not None:
        found["prototypes"] = partial(_prototype_curves, curves, classes), 3.0, WIDTH
        if curves.importance is not None:
            found["relevance"] = partial(_importance_curve, curves), 3.0, WIDTH
    matrix = curves.matrix if curves is not None else relevance.matrix if relevance is not None else None
    if matrix is not None:
        found["matrix"] = partial(_matrix, matrix.values, matrix.features), 4.2, WIDTH
    if report.effects is not None:
        for k in range(len(report.effects.columns)):
            found[f"effect{k}"] = partial(_effect, report.effects, k), 1.9, SMALL
    for kind in ("wrong", "typical"):
        for k, one in enumerate(getattr(report.explanations, kind)):
            if one.log_odds is not None and one.image is None:
                found[f"{kind}{k}"] = partial(_evidence, one, report), 1.0 + 0.24 * len(one.features), CARD
    if report.probabilities is not None:
        found["calibration"] = partial(_calibration, report.probabilities), 2.6, CARD
        if report.probabilities.curves:
            found["roc"] = partial(_roc, report.probabilities.curves, classes), 2.6, CARD
            found["precision"] = partial(_precision, report.probabilities.curves, classes), 2.6, CARD
    if report.certified.unavailable is None:
        found["certified"] = partial(_certified, report.certified), 2.4, WIDTH
    return {name: _svg(name, *parts) for name, parts in found.items()}


def _svg(name: str, draw: Drawing, height: float, width: float) -> str:
    """A drawing as an SVG element; matplotlib's own ids are left out, as they are the same in all drawings."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = StringIO()
    with rc_context(STYLE | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has others
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = re.sub("<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL)
    text = re.sub('<g id="(?!sample|prototype|point|error)[^"]*">', "<g>", text[text.index("<svg") :])
    known = THEME if name in ("map", "prototypes", "roc", "precision") else THEME | SIGNS  # others have class colours
    return re.sub("(?<=: )#[0-9a-f]{6}", lambda code: known.get(code[0], code[0]), text)


def symbol(code: int) -> str:
    """The path of a class's mark in a box of 16 by 16."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.transforms import Affine2D

    mark = MarkerStyle(MARKERS[code % len(MARKERS)])
    box = mark.get_transform() + Affine2D().scale(12, -12).translate(8, 8)
    (outline,) = mark.get_path().transformed(box).to_polygons()
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in outline) + "z"


def signed_colours() -> Colormap:
    """Orange for negative, blue for positive values, transparent at 0."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    strength = np.sqrt(np.abs(np.linspace(-1, 1, 255)))[:, None]  # the root makes small entries visible
    hues = np.repeat([to_rgb(AGAINST), to_rgb(FOR)], [127, 128], axis=0)
    return LinearSegmentedColormap.from_list("signed", np.hstack([hues, strength]), N=255)


# -- rejection ---------------------------------------------------------------------------------------------------------


def _map(view: Map, ax: Axes) -> None:
    """Samples and prototypes over the predicted classes, the area of rejection hatched."""
    display = view.display.plot(ax)
    if display.legend_ is not None:  # the page has its own
        display.legend_.remove()
    for code, (samples, prototypes) in enumerate(zip(display.samples_, display.prototypes_)):
        samples.set_gid(f"samples{code}")
        prototypes.set_gid(f"prototypes{code}")
    if display.errors_ is not None:
        display.errors_.set_gid("errors")
    places = zip(view.prototypes.x, view.prototypes.y) if len(view.prototypes.x) <= MAX_NUMBERED else ()
    for number, place in enumerate(places, start=1):
        ax.annotate(f"P{number}", place, (0, 7), textcoords="offset points", ha="center", weight="bold", zorder=5)
    first, second = (f"Axis {k} ({percent(explained)})" for k, explained in enumerate(view.display.plane.explained, 1))
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


def _relevance(relevance: Importance, ax: Axes) -> None:
    """A bar for each of the most important features, with its interval."""
    found = relevance.intervals
    RelevanceDisplay(
        relevances=relevance.values,
        feature_names=relevance.features,
        values="importance",
        intervals=None if found is None else [found.lower, found.upper],
        confidence=None if found is None else found.confidence,
    ).plot(ax, max_features=None)


def _effect(effects: Effects, place: int, ax: Axes) -> None:
    """One effect, on an axis of log-odds that is the same for all."""
    ends = [f(one.log_odds) for f in (min, max) for one in effects.columns]
    room = 0.25 * (max(ends) - min(ends) or 1.0)
    display = EffectDisplay(effects=replace(effects, columns=effects.columns[place : place + 1])).plot(ax)
    display.axes_[0].set_ylim(min(ends) - room, max(ends) + room)
    display.axes_[0].set_ylabel("Log-odds")


def _evidence(one: Explanation, report: Report, ax: Axes) -> None:
    """The waterfall of an explained prediction."""
    display = EvidenceDisplay(
        evidence=[line.evidence or 0.0 for line in one.features],
        feature_names=[with_value(line.name, line.value) for line in one.features],
        label=report.data.classes[one.predicted],
        rival_label=report.data.classes[one.rival_class],
        rest=one.other_evidence or 0.0,
        n_rest=report.prototypes.n_features - len(one.features),
    ).plot(ax)
    display.ax_.set(xlabel="Log-odds", title="")


def _matrix(values: list[list[float]], names: list[str], ax: Axes) -> None:
    display = LambdaDisplay(matrix=values, feature_names=names, title="").plot(ax)
    display.colorbar_.remove()
    display.image_.set_cmap(signed_colours())


def _importance_curve(curves: Curves, ax: Axes) -> None:
    assert curves.importance is not None
    RelevanceDisplay(
        relevances=curves.importance, feature_names=curves.features, values="importance"
    ).plot(ax, kind="line")  # fmt: skip


def _prototype_curves(curves: Curves, classes: list[str], ax: Axes) -> None:
    """Prototypes as lines in the colours of their classes; the samples as a band."""
    ax.fill_between(range(len(curves.low)), curves.low, curves.high, color=MUTED, alpha=0.18, lw=0)
    display = PrototypeDisplay(
        values=curves.prototypes[:MAX_LINES],
        feature_names=curves.features,
        prototype_names=curves.name[:MAX_LINES],
        prototype_classes=curves.label[:MAX_LINES],
        classes=classes,
    ).plot(ax, kind="line")
    display.legend_.remove()  # the page has its own


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


def _roc(found: list[ClassCurves], classes: list[str], ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color=MUTED, ls="--", lw=1)
    for one, colour in zip(found, _colours(found, classes)):
        ax.plot(one.false_alarms, one.sensitivity, color=colour, lw=1.5)
    ax.set(xlabel="1 − specificity", ylabel="Sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    _percentages(ax)


def _precision(found: list[ClassCurves], classes: list[str], ax: Axes) -> None:
    for one, colour in zip(found, _colours(found, classes)):
        ax.plot(one.recall, one.precision, color=colour, lw=1.5)
    ax.set(xlabel="Recall (sensitivity)", ylabel="Precision (PPV)", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    _percentages(ax)


def _colours(found: list[ClassCurves], classes: list[str]) -> list[str]:
    colours = class_colours(len(classes))
    return [colours[one.label] for one in found]


def _certified(certified: Certified, ax: Axes) -> None:
    CertifiedAccuracyDisplay(radii=certified.radii, accuracy=certified.accuracy).plot(ax)
    ax.set_xlabel("Length of the change")
