"""The map of a model: samples, prototypes and predicted classes on the plane of its largest distances.

Along the plane, the distances of the model are largest. Its axes are the principal axes of the samples in the model's
metric: of Omega x where the model measures |Omega (x - w)|^2. Local metrics are replaced by their mean over the
prototypes; without a learned metric the axes are the principal axes of the samples.

A point of the plane represents the sample `inverse(point)`, with all other directions at the mean of the samples.
`regions` contains the model's predictions there. If the samples differ along no more than two directions in the model's
metric (`exact`), every sample drawn at a point has the prediction of its region. Otherwise the regions are a slice
through the model, and a sample outside of that slice may have another prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators.find_model import find_layer, need_model
from lvq.inspection.columns import to_original_units
from lvq.model.metrics import LocalMetric
from lvq.model.prototype_model import PrototypeModel
from lvq.plots import style as shared
from lvq.plots.arrays import mean_lambda, model_inputs
from lvq.plots.style import Display, class_colours, class_markers, mix, percent, short_names
from lvq.rejection.classifier import Judged, RejectClassifier, judged
from lvq.rejection.scores import Predictions
from lvq.typing import Argument, Floats, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet

SMALLEST = 1e-6  # fraction of the largest weight below which a weight counts as zero
ROUNDING = 1e-9  # of explained fractions
LEGEND_LENGTH = 24  # characters of a class's name
MAX_VECTOR_SAMPLES = 5000  # more samples are drawn as pixels in vector graphics

# -- the plane ---------------------------------------------------------------------------------------------------------


class Plane(NamedTuple):
    """Samples and prototypes on two axes, and the way back from the plane; see the top of this file."""

    points: Floats  # (n_samples, 2)
    prototypes: Floats  # (n_prototypes, 2)
    explained: Floats  # (2,): fraction of the samples' squared distances from their mean, in the model's metric
    axis_names: list[str]
    inverse: Callable[[Floats], Floats]  # points of the plane (k, 2) -> features that reach the model (k, n)
    exact: bool  # whether the point of the plane alone decides the prediction


def plane(estimator: BaseEstimator, X: ArrayLike) -> Plane:
    """A plane on which a model and samples are drawn; see the top of this file.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a `RejectClassifier`.
    X : array-like of shape (n_samples, n_features)
        Samples, as the estimator takes them.

    Returns
    -------
    plane : Plane

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.model.relevance import Matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(relevance=Matrix(rank=2), random_state=0).fit(X, y)
    >>> view = plane(model, X)
    >>> view.points.shape, view.exact, view.axis_names
    ((150, 2), True, ['learned axis 1', 'learned axis 2'])
    """
    found = need_model(estimator, "plane")
    Z = model_inputs(found, X)
    mean = Z.mean(axis=0)
    down, up, explained, names = _axes(found.model, Z - mean)

    def inverse(points: Floats) -> Floats:
        return mean + np.asarray(points, dtype=np.float64) @ up.T

    points, prototypes = (Z - mean) @ down.T, (found.model.prototypes.astype(np.float64) - mean) @ down.T
    local = isinstance(found.model.metric, LocalMetric)
    exact = Z.shape[1] <= 2 or (not local and float(explained.sum()) > 1 - ROUNDING)
    return Plane(points, prototypes, explained, names, inverse, exact)


def _axes(model: PrototypeModel, Z: Floats) -> tuple[Floats, Floats, Floats, list[str]]:
    """The principal axes of centred samples in the metric of a model: maps to the plane and back, fractions, names.

    Where samples differ along fewer axes in that metric, the largest remaining variation is added, or an axis of zeros.
    """
    root = _root(model)
    if root.ndim == 1:
        used = root > SMALLEST * root.max()
        weights, inverses = np.where(used, root, 0.0), np.where(used, 1 / np.where(used, root, 1.0), 0.0)
        measured = Z * weights
        directions, explained = _components(measured, measured)
        down, up = directions * weights, (directions * inverses).T
    else:
        measured = Z @ root.T
        directions, explained = _components(measured, measured)
        down, up = directions @ root, np.linalg.pinv(root, rcond=SMALLEST) @ directions.T
    kind = "principal" if model.relevance is None else "learned"
    names = [f"{kind} axis {k + 1}" for k in range(len(down))]
    while len(down) < 2:
        rest = _components(Z - (Z @ down.T) @ up.T, Z)[0][:1]
        names.append("residual axis, not used by the model" if len(rest) else "no further axis")
        rest = rest if len(rest) else np.zeros((1, Z.shape[1]))
        down, up = np.vstack((down, rest)), np.hstack((up, rest.T))
    return down, up, np.append(explained, np.zeros(2))[:2], names


def _root(model: PrototypeModel) -> Floats:
    """Omega of a model, or of the mean of its local metrics; a vector is a diagonal matrix."""
    if not isinstance(model.metric, LocalMetric):
        return model.matrix_of(0).astype(np.float64)
    if model.relevance is not None and model.has_weights:
        return np.sqrt(model.relevance[model.group].mean(axis=0, dtype=np.float64))
    values, vectors = np.linalg.eigh(mean_lambda(model))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def _components(Z: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """At most two orthonormal rows along which centred rows vary most, and the fraction of the variance along each.

    Directions along which only rounding errors vary, compared with `whole`, are left out.
    """
    least = SMALLEST**2 * float(whole.var(axis=0).max())
    if not (Z * Z).mean() > least:
        return np.zeros((0, Z.shape[1])), np.zeros(0)
    fitted = PCA(n_components=min(2, *Z.shape), random_state=0).fit(Z)
    used = fitted.explained_variance_ > least
    return fitted.components_[used], fitted.explained_variance_ratio_[used]


# -- predictions on the plane ------------------------------------------------------------------------------------------


class Regions(NamedTuple):
    """Predictions on a grid in the plane, each of shape (resolution, resolution)."""

    xx: Floats
    yy: Floats
    classes: NDArray[np.intp]  # indices into classes_
    certainty: Floats  # by the measure of the RejectClassifier where there is one
    accepted: NDArray[np.bool_]


def regions(estimator: BaseEstimator, plane: Plane, resolution: int = 200) -> Regions:
    """The model's predictions on a grid over the plane; see `plane` for the meaning of a region.

    Parameters
    ----------
    estimator : estimator
        As in `plane`.
    plane : Plane
        Its plane.
    resolution : int, default=200
        Points of the grid in each direction.

    Returns
    -------
    regions : Regions
        Coordinates, class indices, certainties and acceptance; rows belong to yy, columns to xx.
    """
    if resolution < 2:
        raise ValueError(f"resolution of regions must be 2 or more, got {resolution!r}.")
    shown = np.vstack((plane.points, plane.prototypes))
    low, high = shown.min(axis=0), shown.max(axis=0)
    border = np.where(high > low, 0.06 * (high - low), 0.5)
    xx, yy = np.meshgrid(*(np.linspace(a, b, resolution) for a, b in zip(low - border, high + border)))
    found = judged_points(estimator, plane.inverse(np.column_stack((xx.ravel(), yy.ravel()))))
    columns = class_indices(found.predictions), found.certainty, found.accepted
    shaped: list[Argument] = [column.reshape(xx.shape) for column in columns]
    return Regions(xx, yy, *shaped)


def judged_points(estimator: BaseEstimator, Z: Floats) -> Judged:
    """Predictions for samples that are given in the features that reach the model."""
    reject, X = find_layer(estimator, RejectClassifier), None
    if reject is not None and (reject.measure_ == "radius" or callable(reject.measure_)):
        # computed from samples before the scalers; features that a selector removes may have any value
        steps = need_model(reject.estimator_, "regions")
        X = np.nan_to_num(to_original_units(steps, Z, "regions").values)
    return judged(estimator, X, need_model(estimator, "regions").model.checked(Z))


def agreement(estimator: BaseEstimator, plane: Plane, predicted: NDArray[np.intp]) -> float:
    """Fraction of the samples that fall in the region of their predicted class, given by its index."""
    on_plane = need_model(estimator, "plane").model.checked(plane.inverse(plane.points))
    return float(np.mean(class_indices(Predictions(estimator, None, on_plane)) == predicted))


def class_indices(predictions: Predictions) -> NDArray[np.intp]:
    """Index of the predicted class of each sample."""
    return np.searchsorted(predictions.model.classes, predictions.predicted)


# -- the display -------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(Display):
    """A map of a model: samples, prototypes, and the predicted class of each region.

    Create one with `from_estimator`. All parameters are stored as attributes.

    The axes are the principal axes of the samples in the model's metric; see `plane`. A region has the class that the
    model predicts for its points, with all directions that are not drawn at the mean of the samples. Where a model
    measures along no more than two directions, every sample drawn there has this prediction. Otherwise the map is a
    slice through the model, and the title states how many samples fall in the region of their predicted class.

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
    predicted_classes : ndarray of shape (n_samples,)
        Index of each sample's predicted class; errors, which differ from `sample_classes`, get a ring.
    regions : Regions
        The model's predictions on a grid; the area of rejection is hatched.
    agreement : float
        Fraction of the samples that fall in the region of their predicted class.
    sample_accepted : ndarray of shape (n_samples,), optional
        Whether each prediction is accepted; rejected samples are hollow.

    Attributes
    ----------
    samples_, rejected_samples_ : list of matplotlib PathCollection
        The accepted samples of each class, and the rejected ones.
    prototypes_ : list of matplotlib PathCollection
        The prototypes of each class.
    errors_ : matplotlib PathCollection or None
        Rings around errors.
    regions_ : matplotlib AxesImage
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
    predicted_classes: ArrayLike
    regions: Regions
    agreement: float
    sample_accepted: ArrayLike | None = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure. The legend is next to the map in a figure with constrained layout,
            otherwise inside it.

        Returns
        -------
        display : ProjectionDisplay
            The display, with the artists as attributes.
        """
        self._names = short_names(self.classes, LEGEND_LENGTH)
        beside = shared.legend_columns(len(self.classes) + 4) * (
            0.5 + 0.085 * max(12, *map(len, self._names))
        )  # inches
        self._set_axes(ax, (5.6 + beside, 5.2))
        colours = class_colours(len(self.classes))
        self._draw_regions(self.regions, colours)
        self._draw_samples(colours)
        self._draw_prototypes(colours)
        self._explain_marks()
        self._label_axes()
        if not self.plane.exact:
            title = f"{percent(self.agreement)} of the samples fall in the region of their predicted class"
            self.ax_.set_title(title, size="small")
        self.legend_ = shared.place_legend(self.ax_)
        return self

    def _label_axes(self) -> None:
        for side, axis in enumerate((self.ax_.xaxis, self.ax_.yaxis)):
            name, explained = self.plane.axis_names[side], self.plane.explained[side]
            name = name[0].upper() + name[1:]
            axis.set_label_text(f"{name} ({percent(explained)} of squared distances)" if explained > 0 else name)
            if not np.ptp(self.plane.points[:, side]) and not np.ptp(self.plane.prototypes[:, side]):
                axis.set_ticks([])  # there is no such axis

    def _draw_regions(self, grid: Regions, colours: list[str]) -> None:
        from matplotlib.colors import to_rgb

        # the intensity of a colour increases from the smallest certainty to the 95 % quantile
        low, high = grid.certainty.min(), np.quantile(grid.certainty, 0.95)
        intensity = np.clip((grid.certainty - low) / (high - low), 0, 1) if high > low else np.ones(grid.xx.shape)
        pixels = np.dstack((np.array([to_rgb(colour) for colour in colours])[grid.classes], 0.12 + 0.33 * intensity))
        extent = (*edges(grid.xx[0]), *edges(grid.yy[:, 0]))
        style: dict[str, Argument] = {"origin": "lower", "aspect": "auto", "zorder": 0, "interpolation": "nearest"}
        self.regions_ = self.ax_.imshow(pixels, extent=extent, **style)
        present = np.unique(grid.classes)
        style = {"levels": [0.5], "colors": "0.35", "linewidths": 0.8, "zorder": 1}
        self.borders_ = [
            self.ax_.contour(grid.xx, grid.yy, grid.classes == index, **style)
            for index in (present if len(present) > 1 else [])
        ]
        self.rejected_area_: QuadContourSet | None = None
        if not grid.accepted.all():
            style = {"levels": [0.5, 1.5], "colors": "none", "hatches": ["////"], "zorder": 1}
            self.rejected_area_ = area = self.ax_.contourf(grid.xx, grid.yy, 1.0 - grid.accepted, **style)
            area.set(edgecolor="0.55", linewidth=0)
        self.ax_.set(xlim=(grid.xx.min(), grid.xx.max()), ylim=(grid.yy.min(), grid.yy.max()))

    def _draw_samples(self, colours: list[str]) -> None:
        points, classes = self.plane.points, np.asarray(self.sample_classes)
        accepted = np.ones(len(points), bool) if self.sample_accepted is None else np.asarray(self.sample_accepted)
        size, rasterized = float(np.clip(6000 / max(len(points), 1), 6, 28)), len(points) > MAX_VECTOR_SAMPLES
        self.samples_: list[PathCollection] = []
        self.rejected_samples_: list[PathCollection] = []
        for index, (colour, marker) in enumerate(zip(colours, class_markers(len(colours)))):
            style: dict[str, Argument] = {"marker": marker, "edgecolors": mix(colour, "#000000", 0.35)}
            self.ax_.scatter([], [], color=colour, label=self._names[index], **style)  # for the legend
            style |= {"s": size, "linewidths": 0.6, "zorder": 2, "rasterized": rasterized}
            for artists, chosen, face in (self.samples_, accepted, colour), (self.rejected_samples_, ~accepted, "none"):
                x, y = points[(classes == index) & chosen].T
                if len(x) or chosen is accepted:
                    artists.append(self.ax_.scatter(x, y, facecolors=face, **style))
        self.errors_: PathCollection | None = None
        errors = np.asarray(self.predicted_classes) != classes
        if errors.any():
            large = size > 10
            style = {"s": 4 * size + 20 * large, "linewidths": 1.1 if large else 0.6, "zorder": 3}
            style |= {"facecolors": "none", "edgecolors": "black", "rasterized": rasterized}
            self.errors_ = self.ax_.scatter(*points[errors].T, **style)

    def _draw_prototypes(self, colours: list[str]) -> None:
        classes = np.asarray(self.prototype_classes)
        size = float(np.clip(4000 / max(len(classes), 1), 40, 130))
        self.prototypes_: list[PathCollection] = []
        for index, (colour, marker) in enumerate(zip(colours, class_markers(len(colours)))):
            x, y = self.plane.prototypes[classes == index].T
            style: dict[str, Argument] = {"s": size, "marker": marker, "facecolors": colour, "zorder": 4}
            self.ax_.scatter(x, y, edgecolors="white", linewidths=3.5, **style)  # a white outline
            self.prototypes_.append(self.ax_.scatter(x, y, edgecolors="black", linewidths=1.5, **style))

    def _explain_marks(self) -> None:
        """Entries of the legend for what all classes have."""
        for label, drawn, style in (
            ("prototype", True, {"s": 80, "facecolors": "0.8", "linewidths": 1.5}),
            ("error", self.errors_, {"s": 80, "facecolors": "none", "linewidths": 1.1}),
            ("rejected sample", self.rejected_samples_, {"facecolors": "none", "edgecolors": "0.3"}),
            ("area of rejection", self.rejected_area_, {"marker": "s", "s": 80, "hatch": "////", "edgecolors": "0.55"}),
        ):
            if drawn:
                self.ax_.scatter([], [], label=label, **{"edgecolors": "black", "facecolors": "none"} | style)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        resolution: int = 200,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the map of a fitted model with the given samples.

        The rejected samples of a `RejectClassifier` are drawn hollow, and its area of rejection is hatched.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        X : array-like of shape (n_samples, n_features)
            Samples, preferably not used in training.
        y : array-like of shape (n_samples,), optional
            True classes, which are drawn, with a ring around each error. Without them the predictions are drawn.
        resolution : int, default=200
            Points of the grid of the regions in each direction.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : ProjectionDisplay
            The display, drawn.
        """
        found = need_model(estimator, cls.__name__)
        classes = found.model.classes
        view = plane(estimator, X)
        made = judged_points(estimator, model_inputs(found, X))
        predicted = class_indices(made.predictions)
        display = cls(
            plane=view,
            classes=classes,
            sample_classes=predicted if y is None else _class_indices(X, y, classes),
            prototype_classes=found.model.labels,
            predicted_classes=predicted,
            sample_accepted=made.accepted,
            regions=regions(estimator, view, resolution),
            agreement=agreement(estimator, view, predicted),
        )
        return display.plot(**plot_kwargs)


def edges(centres: Floats) -> tuple[float, float]:
    """The outer edges of pixels of equal size, from their centres."""
    half = (centres[-1] - centres[0]) / (len(centres) - 1) / 2
    return float(centres[0] - half), float(centres[-1] + half)


def _class_indices(X: ArrayLike, y: ArrayLike, classes: Labels) -> NDArray[np.intp]:
    """Index of the class of each sample; ValueError for classes that the model does not have."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y of ProjectionDisplay contains {unknown[:5].tolist()}, not among the model's classes {classes.tolist()}."
        )
    return np.searchsorted(classes, y)
