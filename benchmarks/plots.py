"""The figures of `docs/benchmarks.md`: SVG files that are the same for the same results."""

import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


@contextmanager
def figure(path: pathlib.Path, width: float, height: float, **grid: Any) -> Iterator[Any]:
    """Axes that are written to a file at the end: no date, fixed identifiers."""
    import matplotlib

    settings: Any = {"svg.hashsalt": "benchmarks", "svg.fonttype": "none", "font.size": 9.0, "axes.spines.top": False}
    with matplotlib.rc_context(settings | {"axes.spines.right": False}):
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(drawn)
        yield drawn.subplots(**grid)
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def ratio_points(groups: dict[str, dict[str, list[float]]], path: pathlib.Path, label: str) -> None:
    """Points of several kinds in each group, on a logarithmic axis with a line at 1."""
    names = [name for name, found in groups.items() if any(found.values())]
    with figure(path, 7.5, 3.6) as axes:
        axes.axhline(1, color="#666666", linewidth=0.8)
        kinds = list(dict.fromkeys(kind for found in groups.values() for kind in found))
        for number, kind in enumerate(kinds):
            x = [i + 0.15 * (number - (len(kinds) - 1) / 2) for i, name in enumerate(names) for _ in groups[name][kind]]
            y = [value for name in names for value in groups[name][kind]]
            axes.plot(x, y, "o", markersize=4, alpha=0.8, color=COLOURS[number], label=kind)
        axes.set_yscale("log")
        axes.set_xticks(range(len(names)), names)
        axes.set_ylabel(label)
        axes.legend(frameon=False, ncols=len(kinds) or 1, loc="upper center", bbox_to_anchor=(0.5, 1.15))


def growth(panels: dict[str, dict[str, Any]], path: pathlib.Path) -> None:
    """A panel for each series: seconds against size, both logarithmic, beside lines of the expected exponents."""
    with figure(path, 11, 6.5, nrows=2, ncols=3) as grid:
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes, (title, curves) in zip(grid.flat, panels.items()):
            for number, (model, curve) in enumerate(curves.items()):
                sizes, seconds = zip(*curve.points)
                label = f"{model}: {curve.exponents()[0]:.2f} (expected {curve.expected})"
                axes.plot(sizes, seconds, "o-", markersize=4, color=COLOURS[number], label=label)
                line = [seconds[-1] * (size / sizes[-1]) ** curve.expected for size in sizes]
                axes.plot(sizes, line, ":", linewidth=1, color=COLOURS[number])
            axes.set(xscale="log", yscale="log", xlabel=title, ylabel="CPU seconds")
            if curves:
                axes.legend(frameon=False, fontsize=8)


def bars(groups: dict[str, dict[str, float | None]], path: pathlib.Path, label: str, line: float | None = None) -> None:
    """Horizontal bars, several in each group."""
    kinds = list(dict.fromkeys(kind for found in groups.values() for kind in found))
    with figure(path, 7.5, 0.8 + 0.22 * len(groups) * max(1, len(kinds))) as axes:
        for number, kind in enumerate(kinds):
            places = [i + (number - (len(kinds) - 1) / 2) * 0.38 for i in range(len(groups))]
            values = [found.get(kind) or 0.0 for found in groups.values()]
            axes.barh(places, values, height=0.36 if len(kinds) > 1 else 0.7, color=COLOURS[number], label=kind)
        if line is not None:
            axes.axvline(line, color="#666666", linewidth=0.8, linestyle="--")
        axes.set_yticks(range(len(groups)), list(groups))
        axes.invert_yaxis()
        axes.set_xlabel(label)
        if len(kinds) > 1:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def labelled_points(points: dict[str, tuple[float, float]], path: pathlib.Path, x_label: str, y_label: str) -> None:
    """Points with their names, the horizontal axis logarithmic."""
    with figure(path, 7.5, 4.5) as axes:
        for label, (x, y) in points.items():
            ours = label.startswith("this library")
            axes.plot(x, y, "o", markersize=5, color=COLOURS[0] if ours else COLOURS[7])
            axes.annotate(label, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.set(xscale="log", xlabel=x_label, ylabel=y_label)
