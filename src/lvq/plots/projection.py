"""ProjectionDisplay: samples, prototypes and the model's answers on the plane in which it sees them best."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from lvq.plots.checks import class_indices, named_classes
from lvq.plots.models import found_in, model_inputs
from lvq.plots.planes import Plane, plane
from lvq.plots.style import (
    axes,
    class_colours,
    class_markers,
    fitting,
    legend_columns,
    merged,
    mix,
    percent,
    place_legend,
    pyplot,
)
from lvq.plots.verdicts import Regions, regions, verdicts

LEGEND_LENGTH = 24  # letters of a class's name
MANY = 5000  # samples that are drawn as pixels where the rest of a picture is lines


class ProjectionDisplay:
    """A map of a model: samples, prototypes, and which class it answers where.

    Make one with `from_estimator`. All parameters are stored as attributes.

    The axes are the model's own coordinates for a matrix of rank 2, else the leading eigenvectors of Lambda (of the
    mean of local matrices), or the principal axes of the samples, as the metric weighs them; see `lvq.plots.planes`. A
    region has the answer that the model gives to the point of the plane through the samples' mean, all directions that
    are not drawn left at the mean. Where a model measures along no more than two directions, that is the answer of any
    sample drawn there. Otherwise it is a slice: the title tells how many samples lie in the region of their answer.

    Parameters
    ----------
    plane : Plane
        Coordinates of samples and prototypes, with the names of the axes.
    classes : ndarray of shape (n_classes,)
        Names of the classes.
    sample_classes : ndarray of shape (n_samples,)
        Index of each sample's class, true or predicted.
    prototype_classes : ndarray of shape (n_prototypes,)
        Index of each prototype's class.
    predicted_classes : ndarray of shape (n_samples,), optional
        Index of each sample's answer; those that differ from `sample_classes` are ringed.
    sample_accepted : ndarray of shape (n_samples,), optional
        Whether each answer is used; samples whose answer is not are hollow.
    regions : Regions, optional
        The model's answers on a grid; where they are not used, the area is hatched.
    agreement : float, optional
        Share of the samples that lie in the region of their answer.

    Attributes
    ----------
    samples_, rejected_samples_ : list of matplotlib PathCollection
        The samples of each class, and those among them whose answers are not used.
    prototypes_ : list of matplotlib PathCollection
        The prototypes of each class.
    errors_ : matplotlib PathCollection or None
        Rings around wrong answers.
    regions_ : matplotlib AxesImage or None
        The answers: the colour is the class's, its strength the certainty.
    borders_ : list of matplotlib QuadContourSet
        The lines around the classes.
    rejected_area_ : matplotlib QuadContourSet or None
        The hatched area.
    legend_ : matplotlib Legend or None
        The legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.plots import ProjectionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(rank=2, random_state=0).fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(model, X, y, resolution=50)
    >>> display.plane.points.shape, display.agreement
    ((150, 2), 1.0)
    """

    def __init__(
        self,
        *,
        plane: Plane,
        classes: Any,
        sample_classes: Any,
        prototype_classes: Any,
        predicted_classes: Any = None,
        sample_accepted: Any = None,
        regions: Regions | None = None,
        agreement: float | None = None,
    ) -> None:
        self.plane = plane
        self.classes = classes
        self.sample_classes = sample_classes
        self.prototype_classes = prototype_classes
        self.predicted_classes = predicted_classes
        self.sample_accepted = sample_accepted
        self.regions = regions
        self.agreement = agreement

    def plot(
        self,
        ax: Any = None,
        *,
        plot_regions: bool = True,
        plot_samples: bool = True,
        legend: bool = True,
        scatter_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        plot_regions : bool, default=True
            Whether to draw the regions, where the display has them.
        plot_samples : bool, default=True
            Whether to draw the samples.
        legend : bool, default=True
            Whether to draw a legend: beside the map in a figure of its own, or one with constrained layout.
        scatter_kwargs : dict, optional
            For matplotlib's `scatter` of the samples.

        Returns
        -------
        display : ProjectionDisplay
            With the artists as attributes.
        """
        longest = max(12, *map(len, fitting(self.classes, LEGEND_LENGTH)))
        beside = legend_columns(len(self.classes) + 4) * (0.5 + 0.085 * longest) if legend else 0.0  # inches
        self.ax_ = axes("ProjectionDisplay.plot", ax, (5.6 + beside, 5.2))
        self.figure_ = self.ax_.figure
        self._colours, self._markers = class_colours(len(self.classes)), class_markers(len(self.classes))
        self.regions_, self.errors_ = None, None
        self.borders_: list[Any] = []
        self.rejected_area_: Any = None
        self.samples_: list[Any] = []
        self.rejected_samples_: list[Any] = []
        self.prototypes_: list[Any] = []
        if plot_regions and self.regions is not None:
            self._draw_regions(self.regions)
        if plot_samples:
            self._draw_samples(scatter_kwargs)
        self._draw_prototypes()
        for side, axis in zip(range(2), (self.ax_.xaxis, self.ax_.yaxis)):
            share = self.plane.explained[side]
            name = self.plane.axis_names[side]
            name = name[0].upper() + name[1:]
            axis.set_label_text(f"{name} ({percent(share)} of squared distances)" if share > 0 else name)
            if not np.ptp(self.plane.points[:, side]) and not np.ptp(self.plane.prototypes[:, side]):
                axis.set_ticks([])  # there is no such axis
        if self.regions_ is not None and self.agreement is not None and not self.plane.exact:
            self.ax_.set_title(
                f"{percent(self.agreement)} of the samples lie in the region of their answer", size="small"
            )
        self.legend_ = place_legend(self.ax_, self._handles()) if legend else None
        return self

    def _draw_regions(self, grid: Regions) -> None:
        from matplotlib.colors import to_rgb

        # the strength of a colour goes from the least certain point to what only one in twenty exceeds
        low, high = grid.certainty.min(), np.quantile(grid.certainty, 0.95)
        strength = np.clip((grid.certainty - low) / (high - low), 0, 1) if high > low else np.ones(grid.xx.shape)
        colours = np.array([to_rgb(colour) for colour in self._colours])[grid.classes]
        alpha = 0.12 + 0.33 * strength
        (left, right), (bottom, top) = _edges(grid.xx[0]), _edges(grid.yy[:, 0])
        self.regions_ = self.ax_.imshow(
            np.dstack((colours, alpha)), extent=(left, right, bottom, top), origin="lower", aspect="auto", zorder=0,
            interpolation="nearest",
        )  # fmt: skip
        if len(np.unique(grid.classes)) > 1:
            lead = np.ones(grid.xx.shape) if grid.lead is None else np.maximum(grid.lead, 1e-12)
            for index in np.unique(grid.classes):  # where a class's lead over all others changes its sign
                ahead = np.where(grid.classes == index, lead, -lead)
                self.borders_.append(
                    self.ax_.contour(grid.xx, grid.yy, ahead, levels=[0], colors="0.35", linewidths=0.8, zorder=1)
                )
        if grid.accepted is not None and not grid.accepted.all():
            refused = 1.0 - grid.accepted
            self.rejected_area_ = self.ax_.contourf(
                grid.xx, grid.yy, refused, levels=[0.5, 1.5], colors="none", hatches=["////"], zorder=1
            )
            self.rejected_area_.set_edgecolor("0.55")
            self.rejected_area_.set_linewidth(0)
        self.ax_.set(xlim=(grid.xx.min(), grid.xx.max()), ylim=(grid.yy.min(), grid.yy.max()))

    def _draw_samples(self, given: dict[str, Any] | None) -> None:
        from matplotlib.collections import PathCollection

        points, classes = self.plane.points, np.asarray(self.sample_classes)
        used = (
            np.ones(len(points), dtype=np.bool_) if self.sample_accepted is None else np.asarray(self.sample_accepted)
        )
        size = float(np.clip(6000 / max(len(points), 1), 6, 28))
        shared: dict[str, Any] = {"s": size, "linewidths": 0.6, "zorder": 2, "rasterized": len(points) > MANY}
        for index, (colour, marker) in enumerate(zip(self._colours, self._markers)):
            dark = mix(colour, "#000000", 0.35)
            for chosen, face, artists in ((used, colour, self.samples_), (~used, "none", self.rejected_samples_)):
                here = points[(classes == index) & chosen]
                if len(here) or artists is self.samples_:
                    style = merged(
                        {**shared, "marker": marker, "facecolors": face, "edgecolors": dark}, given, PathCollection
                    )
                    artists.append(self.ax_.scatter(here[:, 0], here[:, 1], **style))
        if self.predicted_classes is not None:
            wrong = points[np.asarray(self.predicted_classes) != classes]
            if len(wrong):
                few = size > 10
                style = {"s": 4 * size + 20 * few, "linewidths": 1.1 if few else 0.6, "zorder": 3}
                style |= {"facecolors": "none", "edgecolors": "black", "rasterized": len(points) > MANY}
                self.errors_ = self.ax_.scatter(wrong[:, 0], wrong[:, 1], **style)

    def _draw_prototypes(self) -> None:
        classes = np.asarray(self.prototype_classes)
        size = float(np.clip(4000 / max(len(classes), 1), 40, 130))
        for index, (colour, marker) in enumerate(zip(self._colours, self._markers)):
            here = self.plane.prototypes[classes == index]
            for edge, width, artists in (("white", 3.5, None), ("black", 1.5, self.prototypes_)):  # a light rim outside
                artist = self.ax_.scatter(
                    here[:, 0], here[:, 1], s=size, marker=marker, facecolors=colour, edgecolors=edge, linewidths=width,
                    zorder=4,
                )  # fmt: skip
                if artists is not None:
                    artists.append(artist)

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        def dot(label: str, **style: Any) -> Any:
            return Line2D([], [], linestyle="none", label=label, **style)

        handles = [
            dot(name, marker=marker, color=colour, markeredgecolor=mix(colour, "#000000", 0.35))
            for name, colour, marker in zip(fitting(self.classes, LEGEND_LENGTH), self._colours, self._markers)
        ]
        handles.append(dot("prototype", marker="o", markersize=9, color="0.8", mec="black", mew=1.5))
        if self.errors_ is not None:
            handles.append(dot("wrong answer", marker="o", markersize=9, color="none", mec="black", mew=1.1))
        if self.rejected_samples_:
            handles.append(dot("answer not used", marker="o", color="none", mec="0.3"))
        if self.rejected_area_ is not None:
            handles.append(Patch(facecolor="none", edgecolor="0.55", hatch="////", label="area of such answers"))
        return handles

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        resolution: int = 200,
        class_names: Any = None,
        ax: Any = None,
        plot_regions: bool = True,
        **plot_kwargs: Any,
    ) -> Self:
        """The map of a fitted model with the given samples on it.

        Parameters
        ----------
        estimator : estimator
            A model of this library, alone, at the end of a Pipeline or in a `RejectClassifier`, whose rejected samples
            are drawn hollow and whose rejected areas are hatched.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Their classes: these are drawn, and wrong answers are ringed. Without them the answers are drawn.
        resolution : int, default=200
            Points of the regions' grid in each direction.
        class_names : sequence of str, optional
            Names for the legend, in the order of ``classes_``; by default the classes themselves.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        plot_regions : bool, default=True
            Whether to compute and draw the regions.
        **plot_kwargs : dict
            For `plot`: `plot_samples`, `legend`, `scatter_kwargs`.

        Returns
        -------
        display : ProjectionDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        found = found_in(estimator, cls.__name__)
        classes = found.model.classes_
        names = named_classes(cls.__name__, classes, class_names)
        view = plane(estimator, X)
        judged = verdicts(estimator, model_inputs(found, X))
        grid = regions(estimator, view, resolution) if plot_regions else None
        display = cls(
            plane=view,
            classes=names,
            sample_classes=judged.classes if y is None else class_indices(cls.__name__, X, y, classes),
            prototype_classes=found.model._labels,
            predicted_classes=judged.classes,
            sample_accepted=judged.accepted,
            regions=grid,
            agreement=float(np.mean(verdicts(estimator, view.back(view.points)).classes == judged.classes)),
        )
        return display.plot(ax=ax, plot_regions=plot_regions, **plot_kwargs)


def _edges(centres: Any) -> tuple[float, float]:
    """The outer edges of cells of equal size, from their centres."""
    half = (centres[-1] - centres[0]) / (len(centres) - 1) / 2
    return float(centres[0] - half), float(centres[-1] + half)
