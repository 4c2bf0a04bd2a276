"""Figures 1 and 3 of Fischer's paper, redrawn."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.averages import AveragedCurve
from experiments.datasets import make_pearl_necklace, pearl_necklace_posterior
from lvq.model.scores import relative_similarity

LINES = {
    "global": {"color": "#777777", "linestyle": "-"},
    "local greedy": {"color": "#0072B2", "linestyle": "--"},
    "local optimal": {"color": "#D55E00", "linestyle": "-"},
    "Bayes": {"color": "black", "linestyle": ":"},
}
CLASS_COLOURS = ("#0072B2", "#E69F00", "#CC79A7", "#009E73", "#56B4E9")


def certainty_maps(prototypes: np.ndarray, path: pathlib.Path) -> pathlib.Path:
    """Figure 1: level curves of RelSim with the model's prototypes, and of Bayes, over a draw of the necklace."""
    import matplotlib.pyplot as plt

    X, y = make_pearl_necklace(100, random_state=0)
    figure, axes = plt.subplots(2, 1, figsize=(9, 5.2), sharex=True, layout="constrained")
    across, up = np.meshgrid(np.linspace(-20, 175, 800), np.linspace(-45, 55, 300))
    plane = np.column_stack([across.ravel(), up.ravel()])
    maps = {"RelSim": _relsim(plane, prototypes), "Bayes": pearl_necklace_posterior(plane).max(axis=1)}
    for axis, (name, values) in zip(axes, maps.items()):
        lowest = 0.0 if name == "RelSim" else 0.2  # five classes cannot all be less likely
        shades = axis.contourf(
            across, up, values.reshape(across.shape), np.linspace(lowest, 1, 11), cmap="Greys_r", alpha=0.55
        )
        figure.colorbar(shades, ax=axis, label=name)
        axis.scatter(X[:, 0], X[:, 1], s=5, c=np.array(CLASS_COLOURS)[y], linewidths=0)
        axis.set(title=name, ylabel="y", xlim=(-20, 175), ylim=(-45, 55))
    axes[0].plot(prototypes[:, 0], prototypes[:, 1], "s", color="black", markersize=7, markeredgecolor="white")
    axes[1].set_xlabel("x")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def _relsim(plane: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
    """With one prototype per class the rival is the second nearest."""
    squared = np.square(plane[:, None, :] - prototypes[None, :, :]).sum(axis=2)
    nearest = np.sort(squared, axis=1)
    return relative_similarity(nearest[:, 0], nearest[:, 1])


def reject_curves(
    curve: Callable[[str, str, str], AveragedCurve | None], sets: dict[str, str], methods: list[str], path: pathlib.Path
) -> pathlib.Path:
    """Figure 3: averaged accuracy-reject curves, a column per data set and a row per model."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(methods), len(sets), figsize=(3.1 * len(sets) + 0.6, 2.9 * len(methods) + 0.5), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for line, method in zip(axes, methods):
        for axis, (dataset, title) in zip(line, sets.items()):
            for strategy, style in LINES.items():
                mean = curve(dataset, method, strategy)
                if mean is not None:
                    axis.plot(mean.coverage, mean.accuracy, label=strategy, **style)
            axis.set_title(f"{title}, {method}", fontsize=10)
            axis.grid(alpha=0.3)
            axis.set_xlim(0, 1.02)
    for axis in axes[-1]:
        axis.set_xlabel("coverage")
    for line in axes:
        line[0].set_ylabel("accuracy on the accepted")
    handles: dict[str, Any] = {}
    for axis in axes.ravel():
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
