"""The figures of Ridge's experiments."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from experiments import ridge
from experiments.cells import Cell

# Mean relevances printed in section 4.1; for FC1GLVQ on affordance they sum to 1.01.
PRINTED = {
    ("simulated", "FC1GLVQ"): (0.10, 0.42, 0.07, 0.06, 0.10, 0.06, 0.04, 0.03, 0.07, 0.04),
    ("simulated", "FC2GLVQ"): (0.40, 0.43, 0.06, 0.01, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0),
    ("iris", "FC1GLVQ"): (0.02, 0.02, 0.55, 0.40),
    ("iris", "FC2GLVQ"): (0.03, 0.07, 0.37, 0.53),
    ("affordance", "FC1GLVQ"): (0.04, 0.56, 0.05, 0.05, 0.03, 0.05, 0.04, 0.04, 0.01, 0.09, 0.05),
    ("affordance", "FC2GLVQ"): (0.05, 0.34, 0.07, 0.07, 0.07, 0.08, 0.01, 0.08, 0.06, 0.12, 0.06),
}
WEIGHING = ("RLVQ", "GRLVQ", "FC1LVQ1", "FC2LVQ1", "FC1GLVQ", "FC2GLVQ")
COLOURS = {"random": "#b35806", "kmeans": "#2166ac"}


def draw(found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]:
    """All figures for which something has been found."""
    makers = {"printed-relevances": _printed, "relevances": _all_relevances, "table-2": _table}
    drawn = []
    for name, make in makers.items():
        figure = make(found)
        if figure is not None:
            path = pathlib.Path(out) / f"ridge-{name}.png"
            figure.savefig(path, dpi=130, bbox_inches="tight")
            drawn.append(path)
    return drawn


def _figure(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Any, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def _printed(found: dict[Cell, dict[str, Any]]) -> Any:
    """Ours and the paper's relevances side by side: two methods, three sets."""
    datasets = ("simulated", "iris", "affordance")
    if all(ridge.relevances(found, dataset, method) is None for dataset, method in PRINTED):
        return None
    figure, axes = _figure(2, 3, (11, 5.2))
    for column, dataset in enumerate(datasets):
        for line, method in enumerate(("FC1GLVQ", "FC2GLVQ")):
            axis = axes[line, column]
            paper, ours = np.array(PRINTED[dataset, method]), ridge.relevances(found, dataset, method)
            places = np.arange(1, len(paper) + 1)
            axis.bar(places - 0.2, paper, 0.4, color="#bdbdbd", label="published")
            if ours is not None:
                axis.bar(places + 0.2, ours, 0.4, color="#2166ac", label="ours")
            axis.set_title(f"{method}, {dataset}", fontsize=10)
            axis.set_xticks(places)
            axis.set_ylim(0, 0.75)
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=9)
    for axis in axes[:, 0]:
        axis.set_ylabel("relevance")
    for axis in axes[1]:
        axis.set_xlabel("feature")
    return figure


def _all_relevances(found: dict[Cell, dict[str, Any]]) -> Any:
    """A heat map for each set: methods against features, k-means start and 300 epochs."""
    known = {
        dataset: {
            method: profile for method in WEIGHING if (profile := ridge.relevances(found, dataset, method)) is not None
        }
        for dataset in ridge.DATASETS
    }
    known = {dataset: profiles for dataset, profiles in known.items() if profiles}
    if not known:
        return None
    figure, axes = _figure(len(known), 1, (9, 1.5 * len(known)))
    for axis, (dataset, profiles) in zip(axes[:, 0], known.items()):
        values = np.array(list(profiles.values()))
        image = axis.imshow(values, aspect="auto", cmap="Blues", vmin=0, vmax=values.max(), interpolation="nearest")
        axis.set_yticks(range(len(profiles)), list(profiles), fontsize=7)
        axis.set_xticks(range(values.shape[1]), range(1, values.shape[1] + 1), fontsize=6)
        axis.set_title(dataset, fontsize=9, loc="left")
        figure.colorbar(image, ax=axis, pad=0.01).ax.tick_params(labelsize=6)
    axes[-1, 0].set_xlabel("feature", fontsize=8)
    return figure


def _table(found: dict[Cell, dict[str, Any]]) -> Any:
    """Every row of Table 2: ours against the published mean, with two standard errors."""
    rows = [row for row in ridge.rows(found) if row.table == "table-2" and row.verdict]
    if not rows:
        return None
    figure, axes = _figure(2, 4, (12, 6.2))
    for axis, method in zip(axes.flat, ridge.METHODS):
        axis.plot([25, 100], [25, 100], color="#bdbdbd", linewidth=1, zorder=0)
        for row in (row for row in rows if row.method == method):
            setting = ridge.SETTINGS[row.setting]
            axis.errorbar(
                row.paper_mean, row.mean,
                xerr=2 * (row.paper_std or 0) / row.paper_runs**0.5, yerr=2 * (row.std or 0) / row.n_runs**0.5,
                color=COLOURS[setting.init], marker="o" if setting.epochs == 1 else "s", markersize=4,
                markerfacecolor="white" if row.verdict == "short" else COLOURS[setting.init], linewidth=0.8,
            )  # fmt: skip
        axis.set_title(method, fontsize=10)
        axis.set(xlim=(25, 102), ylim=(25, 102), aspect="equal")
        axis.spines[["top", "right"]].set_visible(False)
    for init, colour in COLOURS.items():
        for marker, epochs in (("o", "1 epoch"), ("s", "300 epochs")):
            axes[0, 0].plot([], [], marker, color=colour, markersize=4, label=f"{init}, {epochs}")
    axes[0, 0].plot([], [], "o", color="#636363", markerfacecolor="white", markersize=4, label="short")
    axes[0, 0].legend(frameon=False, fontsize=7, loc="lower right")
    figure.supxlabel("published accuracy, %")
    figure.supylabel("ours, %")
    return figure
