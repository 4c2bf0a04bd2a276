"""ProjectionDisplay: samples, prototypes and predicted classes on the plane of a model's largest distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.steps import Floats, Names
from lvq.plots.arguments import class_indices, described, given_or_own
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import model_inputs
from lvq.plots.planes import Plane, plane
from lvq.plots.region_predictions import Regions, predict_points, regions
from lvq.plots.style import (
    class_colours,
    class_markers,
    legend_columns,
    merge_kwargs,
    mix,
    percent,
    place_legend,
    pyplot,
    short_names,
)
from lvq.typing import Argument, Labels

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.image import AxesImage

LEGEND_LENGTH = 24  # characters of a class's name
MAX_VECTOR_SAMPLES = 5000  # more samples are drawn as pixels in vector graphics


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(Display):
    """A map of a model: samples, prototypes, and the predicted class of each region.

    Create one with `from_estimator`. All parameters are stored as attributes.

    The axes are the model's own coordinates for a matrix of rank 2, else the leading eigenvectors of Lambda (of the
    mean of local matrices), or the principal axes of the samples, weighted by the metric; see `lvq.plots.planes`. A
    region has the class that the model predicts for the point of the plane through the mean of the samples, with all
    directions that are not drawn at the mean. Where a model measures along no more than two directions, every sample
    drawn there has this prediction. Otherwise the map is a slice through the model, and the title states how many
    samples lie in the region of their predicted class.

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
        Index of each sample's predicted class; errors, which differ from `sample_classes`, get a ring.
    sample_accepted : ndarray of shape (n_samples,), optional
        Whether each prediction is accepted; rejected samples are hollow.
    regions : Regions, optional
        The model's predictions on a grid; the area of rejection is hatched.
    agreement : float, optional
        Fraction of the samples that lie in the region of their predicted class.

    Attributes
    ----------
    samples_, rejected_samples_ : list of matplotlib PathCollection
        The accepted samples of each class, and the rejected ones.
    prototypes_ : list of matplotlib PathCollection
        The prototypes of each class.
    errors_ : matplotlib PathCollection or None
        Rings around errors.
    regions_ : matplotlib AxesImage or None
        The predictions: the colour shows the class, its intensity the certainty.
    borders_ : list of matplotlib QuadContourSet
        The borders between the classes.
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
    >>> from lvq.model.relevance import Matrix
    >>> from lvq.plots import ProjectionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(relevance=Matrix(rank=2), random_state=0).fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(model, X, y, resolution=50)
    >>> display.plane.points.shape, display.agreement
    ((150, 2), 1.0)
    """

    plane: Plane
    classes: Sequence[object] | Labels
    sample_classes: ArrayLike
    prototype_classes: ArrayLike
    predicted_classes: ArrayLike | None = None
    sample_accepted: ArrayLike | None = None
    regions: Regions | None = None
    agreement: float | None = None

    @described
    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_regions: bool = True,
        plot_samples: bool = True,
        legend: bool = True,
        scatter_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        {ax}
        plot_regions : bool, default=True
            Whether to draw the regions, where the display has them.
        plot_samples : bool, default=True
            Whether to draw the samples.
        legend : bool, default=True
            Whether to draw a legend: beside the map in a figure with constrained layout, else inside.
        {scatter_kwargs}

        Returns
        -------
        display : ProjectionDisplay
            The display, with the artists as attributes.
        """
        longest = max(12, *map(len, short_names(self.classes, LEGEND_LENGTH)))
        beside = legend_columns(len(self.classes) + 4) * (0.5 + 0.085 * longest) if legend else 0.0  # inches
        self._set_axes(ax, (5.6 + beside, 5.2))
        self._colours, self._markers = class_colours(len(self.classes)), class_markers(len(self.classes))
        self.regions_: AxesImage | None = None
        self.errors_: PathCollection | None = None
        self.rejected_area_: QuadContourSet | None = None
        self.borders_: list[QuadContourSet] = []
        self.samples_: list[PathCollection] = []
        self.rejected_samples_: list[PathCollection] = []
        self.prototypes_: list[PathCollection] = []
        if plot_regions and self.regions is not None:
            self._draw_regions(self.regions)
        if plot_samples:
            self._draw_samples(scatter_kwargs)
        self._draw_prototypes()
        self._label_axes()
        if self.regions_ is not None and self.agreement is not None and not self.plane.exact:
            title = f"{percent(self.agreement)} of the samples lie in the region of their predicted class"
            self.ax_.set_title(title, size="small")
        self.legend_ = place_legend(self.ax_, self._handles()) if legend else None
        return self

    def _label_axes(self) -> None:
        for side, axis in enumerate((self.ax_.xaxis, self.ax_.yaxis)):
            name, explained = self.plane.axis_names[side], self.plane.explained[side]
            name = name[0].upper() + name[1:]
            axis.set_label_text(f"{name} ({percent(explained)} of squared distances)" if explained > 0 else name)
            if not np.ptp(self.plane.points[:, side]) and not np.ptp(self.plane.prototypes[:, side]):
                axis.set_ticks([])  # there is no such axis

    def _draw_regions(self, grid: Regions) -> None:
        from matplotlib.colors import to_rgb

        # the intensity of a colour increases from the smallest certainty to the 95 % quantile
        low, high = grid.certainty.min(), np.quantile(grid.certainty, 0.95)
        intensity = np.clip((grid.certainty - low) / (high - low), 0, 1) if high > low else np.ones(grid.xx.shape)
        colours = np.array([to_rgb(colour) for colour in self._colours])[grid.classes]
        pixels = np.dstack((colours, 0.12 + 0.33 * intensity))
        extent = (*_edges(grid.xx[0]), *_edges(grid.yy[:, 0]))
        style: dict[str, Argument] = {"origin": "lower", "aspect": "auto", "zorder": 0, "interpolation": "nearest"}
        self.regions_ = self.ax_.imshow(pixels, extent=extent, **style)
        if len(np.unique(grid.classes)) > 1:
            margin = np.ones(grid.xx.shape) if grid.margin is None else np.maximum(grid.margin, 1e-12)
            for index in np.unique(grid.classes):  # the margin of a class over all others changes its sign
                signed = np.where(grid.classes == index, margin, -margin)
                style = {"levels": [0], "colors": "0.35", "linewidths": 0.8, "zorder": 1}
                self.borders_.append(self.ax_.contour(grid.xx, grid.yy, signed, **style))
        if grid.accepted is not None and not grid.accepted.all():
            style = {"levels": [0.5, 1.5], "colors": "none", "hatches": ["////"], "zorder": 1}
            self.rejected_area_ = area = self.ax_.contourf(grid.xx, grid.yy, 1.0 - grid.accepted, **style)
            area.set(edgecolor="0.55", linewidth=0)
        self.ax_.set(xlim=(grid.xx.min(), grid.xx.max()), ylim=(grid.yy.min(), grid.yy.max()))

    def _draw_samples(self, given: dict[str, Argument] | None) -> None:
        points, classes = self.plane.points, np.asarray(self.sample_classes)
        accepted = np.ones(len(points), bool) if self.sample_accepted is None else np.asarray(self.sample_accepted)
        size, rasterized = float(np.clip(6000 / max(len(points), 1), 6, 28)), len(points) > MAX_VECTOR_SAMPLES
        for index, (colour, marker) in enumerate(zip(self._colours, self._markers)):
            style: dict[str, Argument] = {"s": size, "marker": marker, "edgecolors": mix(colour, "#000000", 0.35)}
            style |= {"linewidths": 0.6, "zorder": 2, "rasterized": rasterized}
            for artists, chosen, face in (self.samples_, accepted, colour), (self.rejected_samples_, ~accepted, "none"):
                x, y = points[(classes == index) & chosen].T
                if len(x) or chosen is accepted:
                    keywords = merge_kwargs({**style, "facecolors": face}, given, "collections.PathCollection")
                    artists.append(self.ax_.scatter(x, y, **keywords))
        if self.predicted_classes is not None and (errors := np.asarray(self.predicted_classes) != classes).any():
            large = size > 10
            style = {"s": 4 * size + 20 * large, "linewidths": 1.1 if large else 0.6, "zorder": 3}
            style |= {"facecolors": "none", "edgecolors": "black", "rasterized": rasterized}
            self.errors_ = self.ax_.scatter(*points[errors].T, **style)

    def _draw_prototypes(self) -> None:
        classes = np.asarray(self.prototype_classes)
        size = float(np.clip(4000 / max(len(classes), 1), 40, 130))
        for index, (colour, marker) in enumerate(zip(self._colours, self._markers)):
            x, y = self.plane.prototypes[classes == index].T
            style: dict[str, Argument] = {"s": size, "marker": marker, "facecolors": colour, "zorder": 4}
            self.ax_.scatter(x, y, edgecolors="white", linewidths=3.5, **style)  # a white outline
            self.prototypes_.append(self.ax_.scatter(x, y, edgecolors="black", linewidths=1.5, **style))

    def _handles(self) -> list[Artist]:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        def dot(label: str, **style: Argument) -> Artist:
            return Line2D([], [], linestyle="none", label=label, **style)

        handles = [
            dot(name, marker=marker, color=colour, markeredgecolor=mix(colour, "#000000", 0.35))
            for name, colour, marker in zip(short_names(self.classes, LEGEND_LENGTH), self._colours, self._markers)
        ]
        handles.append(dot("prototype", marker="o", markersize=9, color="0.8", mec="black", mew=1.5))
        if self.errors_ is not None:
            handles.append(dot("error", marker="o", markersize=9, color="none", mec="black", mew=1.1))
        if self.rejected_samples_:
            handles.append(dot("rejected sample", marker="o", color="none", mec="0.3"))
        if self.rejected_area_ is not None:
            handles.append(Patch(facecolor="none", edgecolor="0.55", hatch="////", label="area of rejection"))
        return handles

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        resolution: int = 200,
        class_names: Sequence[str] | Names | None = None,
        ax: Axes | None = None,
        plot_regions: bool = True,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the map of a fitted model with the given samples.

        The rejected samples of a `RejectClassifier` are drawn hollow, and its area of rejection is hatched.

        Parameters
        ----------
        {estimator}
        {X}
        y : array-like of shape (n_samples,), optional
            True classes, which are drawn, with a ring around each error. Without them the predictions are drawn.
        resolution : int, default=200
            Points of the grid of the regions in each direction.
        {class_names}
        {ax}
        plot_regions : bool, default=True
            Whether to compute and draw the regions.
        {plot_kwargs}

        Returns
        -------
        display : ProjectionDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        found = need_model(estimator, cls.__name__)
        classes = found.model.classes
        names = given_or_own(cls.__name__, "class_names", class_names, classes)
        view = plane(estimator, X)
        predictions = predict_points(estimator, model_inputs(found, X))
        on_plane = predict_points(estimator, view.inverse(view.points))
        display = cls(
            plane=view,
            classes=names,
            sample_classes=predictions.classes if y is None else class_indices(cls.__name__, X, y, classes),
            prototype_classes=found.model.labels,
            predicted_classes=predictions.classes,
            sample_accepted=predictions.accepted,
            regions=regions(estimator, view, resolution) if plot_regions else None,
            agreement=float(np.mean(on_plane.classes == predictions.classes)),
        )
        return display.plot(ax=ax, plot_regions=plot_regions, **plot_kwargs)


def _edges(centres: Floats) -> tuple[float, float]:
    """The outer edges of pixels of equal size, from their centres."""
    half = (centres[-1] - centres[0]) / (len(centres) - 1) / 2
    return float(centres[0] - half), float(centres[-1] + half)
