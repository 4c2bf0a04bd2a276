"""The figures of Kaestner's experiments, on the sets of spectra that replace the paper's coffee."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from experiments import kaestner
from experiments.cells import Cell

COLOURS = ("#2166ac", "#b2182b", "#1b7837", "#762a83", "#e08214")
SHORT = {"coffee (UCR, stand-in)": "coffee", "Tecator (stand-in)": "tecator"}


def draw(found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]:
    """All figures for which something has been found."""
    drawn = []
    for dataset, short in SHORT.items():
        makers = {
            "spectra": _spectra,  # the paper's Fig. 1
            "matrices": _matrices,  # Fig. 2 and 3
            "projections": _projections,  # Fig. 4, 5 and 6
            "confusions": _confusions,  # Table III
        }
        for name, make in makers.items():
            drawn += _saved(make(found, dataset), pathlib.Path(out) / f"kaestner-{short}-{name}.png")
    for dataset in kaestner.UCI:
        drawn += _saved(_confusions(found, dataset), pathlib.Path(out) / f"kaestner-{dataset}-confusions.png")
    return drawn


def _saved(figure: Any, path: pathlib.Path) -> list[pathlib.Path]:
    if figure is None:
        return []
    figure.savefig(path, dpi=130, bbox_inches="tight")
    return [path]


def _figure(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Any, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def _pictures(found: dict[Cell, dict[str, Any]], dataset: str) -> dict[str, dict[str, Any]]:
    """What was stored of the fits to a whole set, by method."""
    stored = {method: kaestner.results_of(found, "figures", dataset, method) for method in kaestner.MATRICES}
    return {method: results[0] for method, results in stored.items() if results}


def _spectra(found: dict[Cell, dict[str, Any]], dataset: str) -> Any:
    """Mean spectrum of each class."""
    if not _pictures(found, dataset):
        return None
    X, y, names = kaestner.samples(dataset)
    figure, axes = _figure(1, 1, (6.5, 3.2))
    for label, name in enumerate(names):
        axes[0, 0].plot(X[y == label].mean(axis=0), color=COLOURS[label], label=f"class {name}")
    axes[0, 0].set(xlabel="band", ylabel="absorbance, unit length", title=f"Mean spectra, {dataset}")
    axes[0, 0].legend(frameon=False)
    axes[0, 0].spines[["top", "right"]].set_visible(False)
    return figure


def _matrices(found: dict[Cell, dict[str, Any]], dataset: str) -> Any:
    """Lambda of the four matrix models as heat maps, each over its largest magnitude."""
    known = _pictures(found, dataset)
    if not known:
        return None
    n_bands = kaestner.samples(dataset)[0].shape[1]
    figure, axes = _figure(2, 2, (8.4, 7.6))
    for axis, method in zip(axes.flat, kaestner.MATRICES):
        if method not in known:
            axis.set_axis_off()
            continue
        image = axis.imshow(
            np.array(known[method]["lambda"]), cmap="RdBu_r", vmin=-1, vmax=1, extent=(0.5, n_bands + 0.5) * 2,
            origin="lower", interpolation="nearest",
        )  # fmt: skip
        axis.set_title(method)
    figure.colorbar(image, ax=axes, shrink=0.8, label="Λ over its largest magnitude")
    figure.supxlabel("band")
    figure.supylabel("band")
    figure.suptitle(dataset)
    return figure


def _projections(found: dict[Cell, dict[str, Any]], dataset: str) -> Any:
    """The samples as the models see them, and by principal components."""
    known = _pictures(found, dataset)
    if not known:
        return None
    X, y, names = kaestner.samples(dataset)
    figure, axes = _figure(2, 3, (11.5, 7))
    places = dict(zip(kaestner.MATRICES, (axes[0, 0], axes[1, 0], axes[0, 1], axes[1, 1])))
    for method, stored in known.items():
        how = "by Ω" if method.endswith("=2") else f"by Λ's eigenvectors ({100 * stored['share']:.0f} % of its trace)"
        axis = places[method]
        _scatter(axis, np.array(stored["samples"]), y, names)
        prototypes = np.array(stored["prototypes"])
        for label, place in enumerate(prototypes):
            axis.plot(*place, marker="*", markersize=15, color=COLOURS[label], markeredgecolor="black")
        axis.set_title(f"{method}, {how}", fontsize=10)
    _scatter(axes[0, 2], _principal(X), y, names)
    axes[0, 2].set_title("principal components", fontsize=10)
    axes[0, 2].legend(frameon=False, fontsize=9)
    axes[1, 2].set_axis_off()
    figure.suptitle(f"{dataset}: all samples; stars are prototypes")
    return figure


def _scatter(axis: Any, plane: np.ndarray, y: np.ndarray, names: tuple[str, ...]) -> None:
    for label, name in enumerate(names):
        inside = y == label
        axis.scatter(*plane[inside].T, s=14, alpha=0.6, color=COLOURS[label], linewidths=0, label=f"class {name}")
    axis.set_xticks([])
    axis.set_yticks([])


def _principal(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    return PCA(2, svd_solver="full").fit_transform(StandardScaler().fit_transform(X))


def _confusions(found: dict[Cell, dict[str, Any]], dataset: str) -> Any:
    """Percent of each class that is predicted as each class, over all test folds."""
    table = "table-1" if dataset in kaestner.UCI else "table-2"
    totals = {
        method: np.sum([result["confusion"] for result in results], axis=0)
        for method in kaestner.METHODS
        if (results := kaestner.results_of(found, table, dataset, method))
    }
    if not totals:
        return None
    names = kaestner.samples(dataset)[2]
    figure, axes = _figure(2, 3, (9, 6.2))
    for axis in axes.flat[len(totals) :]:
        axis.set_axis_off()
    for axis, (method, total) in zip(axes.flat, totals.items()):
        percent = 100 * total / total.sum(axis=1, keepdims=True)
        axis.imshow(percent, cmap="Blues", vmin=0, vmax=100)
        for (true, predicted), value in np.ndenumerate(percent):
            axis.text(
                predicted, true, f"{value:.1f}", ha="center", va="center", color="white" if value > 60 else "black"
            )
        axis.set_title(method, fontsize=10)
        axis.set_xticks(range(len(names)), names, fontsize=9)
        axis.set_yticks(range(len(names)), names, fontsize=9, rotation=90, va="center")
    figure.supxlabel("predicted class")
    figure.supylabel("class")
    figure.suptitle(f"{dataset}: percent of each class, all test folds")
    return figure
