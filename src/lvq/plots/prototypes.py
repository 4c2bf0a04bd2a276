"""PrototypeDisplay: prototypes in the units of the pipeline's input, as a table, lines or images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import steps_without_inverse
from lvq.inspection.exemplars import Exemplars
from lvq.inspection.steps import Names
from lvq.plots.arguments import check_kind, check_max_features, check_names, described, given_or_own
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import prototype_names, prototypes_in_units
from lvq.plots.images import pixel_places
from lvq.plots.prototype_drawing import draw_images, draw_lines, draw_table
from lvq.plots.prototype_values import differences_and_relevances, values_by_variable
from lvq.plots.style import after, pyplot
from lvq.typing import Argument, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

KINDS = ("auto", "table", "line", "image")


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypeDisplay(Display):
    """Prototypes as a table of values, as lines over the features, or as images.

    Create one with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n_prototypes, n_features)
        Prototypes, in the units of X; NaN for features that the model does not use. For a category its fraction.
    feature_names : sequence of str
        Names of the features.
    prototype_names : sequence of str
        Names of the prototypes.
    prototype_classes : sequence of int
        Index of each prototype's class.
    classes : sequence
        Names of the classes.
    differences : ndarray of shape (n_prototypes, n_features), optional
        Values that the colours of a table show, around 0; by default the difference of each value from the mean over
        the prototypes, divided by the standard deviation.
    difference_name : str, optional
        Label of the colour scale.
    relevances : ndarray of shape (n_features,), optional
        Importance of each feature; a table that cannot show all shows the most important.
    exemplar_names : sequence of str, optional
        Names of the nearest samples of each prototype, which are shown beside it.
    cells : sequence of shape (n_prototypes, n_features), optional
        What a table shows in place of the values: numbers, or the names of categories with their fractions.
    steps : sequence of str, default=()
        Names of the steps behind which the values are, where these cannot be inverted; stated in the title.

    Attributes
    ----------
    image_ : matplotlib AxesImage or None
        The colours of the table, or all images side by side.
    texts_ : list of matplotlib Text
        The values of the table, or the labels of the images.
    lines_ : list of matplotlib Line2D
        The lines.
    colorbar_ : matplotlib Colorbar or None
        The scale of the colours.
    order_ : ndarray of int
        Indices of the features that are drawn, in the order in which they are drawn.
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

    values: ArrayLike
    feature_names: Sequence[str]
    prototype_names: Sequence[str]
    prototype_classes: Sequence[int] | NDArray[np.intp]
    classes: Sequence[object] | Labels
    differences: ArrayLike | None = None
    difference_name: str = "Difference from the mean prototype,\nin standard deviations"
    relevances: ArrayLike | None = None
    exemplar_names: Sequence[str] | None = None
    cells: Sequence[Sequence[float | str]] | None = None
    steps: Sequence[str] = ()

    @described
    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "auto",
        max_features: int | None = 30,
        image_shape: tuple[int, int] | None = None,
        colorbar: bool = True,
        image_kwargs: dict[str, Argument] | None = None,
        line_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Draw the prototypes.

        Parameters
        ----------
        {ax}
        kind : {"auto", "table", "line", "image"}, default="auto"
            "auto" uses images where the features fill a square of 8 x 8 or more and are called pixels, numbered by
            row and column, or without names; lines where more than 60 features are numbered; else a table.
        max_features : int or None, default=30
            Number of rows of a table, the most important features first; None shows all, in their order.
        image_shape : tuple of int, optional
            Height and width of an image that is not a square.
        {colorbar}
        {image_kwargs}
        {line_kwargs}

        Returns
        -------
        display : PrototypeDisplay
            The display, with the artists as attributes.
        """
        check_kind("PrototypeDisplay.plot", kind, KINDS)
        check_max_features("PrototypeDisplay.plot", max_features)
        kind = self._kind(image_shape) if kind == "auto" else kind
        self.image_: AxesImage | None = None
        self.legend_: Legend | None = None
        self.colorbar_: Colorbar | None = None
        self.texts_: list[Text] = []
        self.lines_: list[Line2D] = []
        self.order_: NDArray[np.intp] = np.arange(np.shape(self.values)[1])
        if kind == "image":
            draw_images(self, ax, image_shape, colorbar, image_kwargs)
        elif kind == "line":
            draw_lines(self, ax, line_kwargs)
        else:
            draw_table(self, ax, max_features, colorbar, image_kwargs)
        if self.steps:
            self.ax_.set_title(after(self.steps), size="small")
        return self

    def _kind(self, image_shape: tuple[int, int] | None) -> str:
        if image_shape is not None or pixel_places(self.feature_names) is not None:
            return "image"
        without_numbers = {"".join(sign for sign in name if not sign.isdigit()) for name in self.feature_names}
        return "line" if len(self.feature_names) > 60 and len(without_numbers) == 1 else "table"

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        class_names: Sequence[str] | Names | None = None,
        feature_names: Sequence[str] | Names | None = None,
        exemplars: Exemplars | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot the prototypes of a fitted model in the units of the pipeline's input.

        The steps of a Pipeline are inverted, see `lvq.inspection.columns`. Where one of them cannot be, such as
        `StandardNormalVariate`, prototypes are shown as the model sees them, and the title names the steps. In a
        table, all columns of a one-hot encoding are one row: the category with the largest fraction, and the fraction
        where it is not the only one.

        Parameters
        ----------
        {estimator}
        {class_names}
        {feature_names}
        exemplars : Exemplars, optional
            From `lvq.exemplars`: the names of the nearest samples are shown beside each prototype. Where samples are
            patients, such a figure names them.
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : PrototypeDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        found = need_model(estimator, cls.__name__)
        model, steps = found.model, steps_without_inverse(found)
        classes = given_or_own(cls.__name__, "class_names", class_names, model.classes)
        is_table = plot_kwargs.get("kind", "auto") in ("auto", "table")
        drawn = values_by_variable(estimator, feature_names) if is_table and not steps else None
        if drawn is None:
            W = model.prototypes.astype(np.float64)
            values = W if steps else prototypes_in_units(estimator)
            drawn = {
                "values": values,
                "feature_names": check_names(cls.__name__, estimator, feature_names, original=not steps),
                **differences_and_relevances(estimator, W, values, original=not steps),
                "steps": steps,
            }
        display = cls(
            prototype_names=prototype_names(estimator, classes).tolist(),
            prototype_classes=model.labels,
            classes=classes,
            exemplar_names=None if exemplars is None else [", ".join(map(str, row)) for row in exemplars.names],
            **drawn,
        )
        return display.plot(ax=ax, **plot_kwargs)
