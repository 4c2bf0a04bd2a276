"""PrototypeDisplay: what a model's prototypes look like, in the units in which the features were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from lvq.plots.checks import named_classes, names_for
from lvq.plots.models import (
    feature_names,
    found_in,
    image_side,
    prototype_names,
    prototypes_in_units,
    relevance_profile,
)
from lvq.plots.sheets import contact_sheet
from lvq.plots.style import (
    DIVERGING,
    axes,
    class_colours,
    fitting,
    letter_size,
    merged,
    name_ticks,
    place_legend,
    pyplot,
)
from lvq.robustness import Floats

KINDS = ("auto", "table", "line", "image")
WRITTEN = 14  # prototypes beside each other whose values can still be read
LABELLED = 100  # images that get a label


class PrototypeDisplay:
    """Prototypes as a table of values, as lines over the features, or as images.

    Make one with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n_prototypes, n_features)
        Prototypes, in the units of X; NaN for features that the model does not use.
    feature_names : sequence of str
        Names of the features.
    prototype_names : sequence of str
        Names of the prototypes.
    prototype_classes : sequence of int
        Index of each prototype's class.
    classes : sequence
        Names of the classes.
    shades : ndarray of shape (n_prototypes, n_features), optional
        What the colours of a table show, around 0; by default the values less their mean over the prototypes, divided
        by their standard deviation.
    shade_name : str, optional
        What the shades are, for their scale.
    relevances : ndarray of shape (n_features,), optional
        Which features to show first.

    Attributes
    ----------
    image_ : matplotlib AxesImage or None
        The colours of the table, or all images side by side.
    texts_ : list of matplotlib Text
        The values in the table, or the labels of the images.
    lines_ : list of matplotlib Line2D
        The lines.
    colorbar_ : matplotlib Colorbar or None
        The scale of the colours.
    order_ : ndarray of int
        Indices of the features that are shown, as they are shown.
    legend_ : matplotlib Legend or None
        The legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> from lvq.plots import PrototypeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> display = PrototypeDisplay.from_estimator(model, class_names=["setosa", "versicolor", "virginica"])
    >>> display.values.shape, display.feature_names[0]
    ((3, 4), 'sepal length (cm)')
    """

    def __init__(
        self,
        *,
        values: Any,
        feature_names: Sequence[str],
        prototype_names: Sequence[str],
        prototype_classes: Any,
        classes: Any,
        shades: Any = None,
        shade_name: str = "difference from the prototypes' mean,\nin standard deviations",
        relevances: Any = None,
    ) -> None:
        self.values = values
        self.feature_names = feature_names
        self.prototype_names = prototype_names
        self.prototype_classes = prototype_classes
        self.classes = classes
        self.shades = shades
        self.shade_name = shade_name
        self.relevances = relevances

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        max_features: int | None = 30,
        image_shape: tuple[int, int] | None = None,
        colorbar: bool = True,
        image_kwargs: dict[str, Any] | None = None,
        line_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the prototypes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        kind : {"auto", "table", "line", "image"}, default="auto"
            "auto" takes images where the features make a square of 8 x 8 or more and are called pixels, numbered by
            row and column, or without names; lines where more than 60 features are numbered; else a table.
        max_features : int, optional, default=30
            Rows of a table, the most relevant first; None shows all, in their order.
        image_shape : tuple of int, optional
            Height and width of an image, where it is no square.
        colorbar : bool, default=True
            Whether to draw the scale of the colours.
        image_kwargs, line_kwargs : dict, optional
            For matplotlib's `imshow` and `plot`.

        Returns
        -------
        display : PrototypeDisplay
            With the artists as attributes.
        """
        if kind not in KINDS:
            raise ValueError(f"kind of PrototypeDisplay.plot must be one of {', '.join(KINDS)}, got {kind!r}.")
        if max_features is not None and max_features < 1:
            raise ValueError(f"max_features of PrototypeDisplay.plot must be 1 or more, or None, got {max_features!r}.")
        kind = self._kind(image_shape) if kind == "auto" else kind
        self.image_, self.legend_ = None, None
        self.colorbar_: Any = None
        self.texts_: list[Any] = []
        self.lines_: list[Any] = []
        if kind == "image":
            self._draw_images(ax, image_shape, colorbar, image_kwargs)
        elif kind == "line":
            self._draw_lines(ax, line_kwargs)
        else:
            self._draw_table(ax, max_features, colorbar, image_kwargs)
        return self

    def _kind(self, image_shape: tuple[int, int] | None) -> str:
        if image_shape is not None or image_side(self.feature_names) is not None:
            return "image"
        bare = {"".join(letter for letter in name if not letter.isdigit()) for name in self.feature_names}
        return "line" if len(self.feature_names) > 60 and len(bare) == 1 else "table"

    # -- table ---------------------------------------------------------------------------------------------------------

    def _draw_table(self, ax: Any, limit: int | None, colorbar: bool, given: dict[str, Any] | None) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        used = np.flatnonzero(~np.isnan(values).all(axis=0))
        shades = self._shades(values)
        if limit is None or len(used) <= limit:
            self.order_ = used
        else:
            weight = np.abs(shades).max(axis=0) if self.relevances is None else np.asarray(self.relevances)
            self.order_ = used[np.argsort(-np.nan_to_num(weight[used]), kind="stable")[:limit]]
        count, rows = len(values), len(self.order_)
        width, height = np.clip(3.4 + 0.72 * min(count, WRITTEN), 5.6, 13), np.clip(0.27 * rows + 1.6, 3, 16)
        self.ax_ = axes("PrototypeDisplay.plot", ax, (float(width), float(height)))
        self.figure_ = self.ax_.figure
        from matplotlib.image import AxesImage

        shown = shades[:, self.order_].T
        reach = float(np.nanmax(np.abs(shown))) or 1.0
        defaults = {"cmap": DIVERGING, "vmin": -reach, "vmax": reach, "aspect": "auto", "interpolation": "nearest"}
        self.image_ = self.ax_.imshow(shown, **merged(defaults, given, AxesImage))
        if count <= WRITTEN and rows <= 60:
            size = letter_size(self.ax_.yaxis, rows, 8)
            for (row, column), shade in np.ndenumerate(shown):
                text = written(float(values[column, self.order_[row]]))
                colour = "white" if abs(shade) > 0.65 * reach else "black"
                self.texts_.append(self.ax_.text(column, row, text, ha="center", va="center", size=size, color=colour))
        name_ticks(self.ax_.yaxis, [self.feature_names[int(k)] for k in self.order_], limit=60)
        self.ax_.xaxis.tick_top()
        name_ticks(self.ax_.xaxis, self.prototype_names)
        room = self.ax_.get_window_extent().width / self.figure_.dpi / count  # inches
        if max(map(len, fitting(self.prototype_names))) * 0.09 > room:
            self.ax_.tick_params(axis="x", labelrotation=40)
            for label in self.ax_.get_xticklabels():
                label.set(ha="left", rotation_mode="anchor")
        self.ax_.tick_params(length=0)
        if rows < len(used):
            which = "most different" if self.relevances is None else "most relevant"
            self.ax_.set_xlabel(f"The {rows} {which} of {len(used)} features", size="small")
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_)
            self.colorbar_.set_label(self.shade_name[0].upper() + self.shade_name[1:])

    def _shades(self, values: Floats) -> Floats:
        if self.shades is not None:
            return np.asarray(self.shades, dtype=np.float64)
        apart = values - values.mean(axis=0)
        spread = values.std(axis=0)
        return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)

    # -- lines and images ----------------------------------------------------------------------------------------------

    def _draw_lines(self, ax: Any, given: dict[str, Any] | None) -> None:
        self.ax_ = axes("PrototypeDisplay.plot", ax, (7.8, 4.6))
        self.figure_ = self.ax_.figure
        from matplotlib.lines import Line2D

        values, colours = np.asarray(self.values), class_colours(len(self.classes))
        self.order_ = np.arange(values.shape[1])
        named: set[int] = set()
        labels = fitting(self.classes, 24)
        for row, index in zip(values, self.prototype_classes):
            label = None if int(index) in named else labels[int(index)]
            style = merged({"color": colours[index], "linewidth": 1.4, "label": label}, given, Line2D)
            self.lines_ += self.ax_.plot(self.order_, row, **style)
            named.add(int(index))
        name_ticks(self.ax_.xaxis, self.feature_names, limit=15, rotation=40)
        self.ax_.set(xlabel="Feature", ylabel="Value of the prototype")
        self.ax_.margins(x=0.01)
        self.ax_.grid(alpha=0.3)
        self.legend_ = place_legend(self.ax_)

    def _draw_images(
        self, ax: Any, shape: tuple[int, int] | None, colorbar: bool, given: dict[str, Any] | None
    ) -> None:
        page = contact_sheet(self.values, self.prototype_classes, shape)
        self.order_ = np.arange(np.shape(self.values)[1])
        tile = float(np.clip(10 / page.columns, 0.45, 1.3))  # inches
        high, wide = page.pixels.shape
        width = tile * page.columns
        self.ax_ = axes("PrototypeDisplay.plot", ax, (max(width + 1.2, 3.2), max(width * high / wide + 0.5, 1.8)))
        self.figure_ = self.ax_.figure
        from matplotlib.image import AxesImage

        defaults = {"cmap": "gray_r", "interpolation": "nearest"}
        self.image_ = self.ax_.imshow(page.pixels, **merged(defaults, given, AxesImage))
        self.ax_.set_axis_off()
        if len(page.labels) <= LABELLED:
            names = fitting(self.classes, max(6, int(12 * tile)))
            for name, place in zip([names[int(index)] for index in self.prototype_classes], page.labels):
                fit = min(9.0, 72 * tile / (0.62 * len(name) + 1))  # points that keep a name within its image
                self.texts_.append(self.ax_.text(*place, name, ha="center", va="center", size=max(fit, 4)))
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8)
            self.colorbar_.set_label("Value of the feature")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        class_names: Any = None,
        feature_names: Any = None,
        ax: Any = None,
        **plot_kwargs: Any,
    ) -> Self:
        """The prototypes of a fitted model, back through the scalers in front of it.

        Parameters
        ----------
        estimator : estimator
            A model of this library, alone, at the end of a Pipeline or in a `RejectClassifier`. What the steps of a
            Pipeline did is undone; see `lvq.plots.units`.
        class_names : sequence of str, optional
            Names for the classes, in the order of ``classes_``; by default the classes themselves.
        feature_names : sequence of str, optional
            Names of the features; by default those that the estimator was fitted with.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **plot_kwargs : dict
            For `plot`: `kind`, `max_features`, `image_shape` and so on.

        Returns
        -------
        display : PrototypeDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        inner = found_in(estimator, cls.__name__).model
        classes = named_classes(cls.__name__, inner.classes_, class_names)
        display = cls(
            values=prototypes_in_units(estimator),
            feature_names=names_for(cls.__name__, estimator, feature_names, original=True).tolist(),
            prototype_names=prototype_names(estimator, classes).tolist(),
            prototype_classes=inner._labels,
            classes=classes,
            **_colours_of(estimator),
        )
        return display.plot(ax=ax, **plot_kwargs)


def _colours_of(estimator: Any) -> dict[str, Any]:
    """Shades in the model's own units, and relevances, where each feature of the model is one of X."""
    inner, values = found_in(estimator).model, prototypes_in_units(estimator)
    used = np.flatnonzero(~np.isnan(values).all(axis=0))
    own, before = feature_names(estimator), feature_names(estimator, original=True)[used]
    if len(own) != len(before) or not all(new.endswith(old) for new, old in zip(own, before)):
        return {}
    shades, relevances = np.full(values.shape, np.nan), np.zeros(values.shape[1])
    W = inner._params.prototypes.astype(np.float64)
    shades[:, used] = W - W.mean(axis=0)
    relevances[used] = np.atleast_2d(relevance_profile(inner)).mean(axis=0)
    return {
        "shades": shades,
        "shade_name": "difference from the prototypes' mean,\nas the model sees it",
        "relevances": relevances,
    }


def written(value: float) -> str:
    """A number in few letters.

    Examples
    --------
    >>> written(1234.5), written(17.99), written(0.00123), written(float("nan"))
    ('1234', '18', '0.00123', '')
    """
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
