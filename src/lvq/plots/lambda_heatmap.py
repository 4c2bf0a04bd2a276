"""LambdaDisplay: the matrix Lambda of a model's distances as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.steps import Names
from lvq.plots.arguments import check_max_features, check_names, described, group_index
from lvq.plots.display import Display
from lvq.plots.fitted_arrays import group_names, lambda_matrix
from lvq.plots.style import DIVERGING, merge_kwargs, name_ticks, pyplot, short_name, short_names
from lvq.typing import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NAMED = 40  # features up to which the axes have names


@dataclass(kw_only=True, eq=False, repr=False)
class LambdaDisplay(Display):
    """The matrix Lambda of a model's distance (x - w)'Lambda (x - w), as a heat map.

    Create one with `from_estimator`. All parameters are stored as attributes. The diagonal has the weight of each
    feature by itself. An entry beside the diagonal is the weight of a pair of features: positive where differences in
    the same direction increase the distance, negative where they decrease it.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Lambda.
    feature_names : sequence of str
        Names of the features.
    name : str, optional
        Class or prototype of the matrix, for the title.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar or None
        Its colour scale.
    order_ : ndarray of int
        Indices of the features that are drawn.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.plots import LambdaDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> display = LambdaDisplay.from_estimator(model)
    >>> bool((display.image_.get_array() == model.lambda_).all())
    True
    """

    matrix: ArrayLike
    feature_names: Sequence[str]
    name: str | None = None

    @described
    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_features: int | None = None,
        colorbar: bool = True,
        image_kwargs: dict[str, Argument] | None = None,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        {ax}
        max_features : int, optional
            Number of features to draw, those with the largest diagonal entries, in their order; by default all.
            More than 40 are numbered, not named.
        {colorbar}
        {image_kwargs}

        Returns
        -------
        display : LambdaDisplay
            The display, with the artists as attributes.
        """
        check_max_features("LambdaDisplay.plot", max_features)
        matrix = np.asarray(self.matrix)
        self.order_ = np.sort(np.argsort(-np.diag(matrix), kind="stable")[:max_features])
        count = len(self.order_)
        names = [self.feature_names[int(k)] for k in self.order_]
        side = float(np.clip(0.25 * count, 3, 8)) if count <= MAX_NAMED else 5.0  # inches
        longest = max(map(len, short_names(names))) if count <= MAX_NAMED else 8
        self._set_axes(ax, (side + 0.08 * longest + 1.4, side + 0.06 * longest + 0.7))
        shown = matrix[np.ix_(self.order_, self.order_)]
        limit = float(np.abs(shown).max()) or 1.0
        defaults = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "interpolation": "nearest"}
        style = merge_kwargs(defaults, image_kwargs, "image.AxesImage")
        if "norm" in style:
            del style["vmin"], style["vmax"]
        self.image_ = self.ax_.imshow(shown, **style)
        label = "Weight in the distances"
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85, label=label) if colorbar else None
        name_ticks(self.ax_.yaxis, names, limit=MAX_NAMED)
        name_ticks(self.ax_.xaxis, names, limit=MAX_NAMED, rotation=50)
        if count > MAX_NAMED:
            label = "Index of the feature" if count == len(matrix) else f"The {count} features with the largest weights"
            self.ax_.set(xlabel=label, ylabel=label)
        self.ax_.set_title("Lambda" if not self.name else f"Lambda of {short_name(self.name, 40)}")
        return self

    @classmethod
    @described
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        group: int | str | None = None,
        feature_names: Sequence[str] | Names | None = None,
        ax: Axes | None = None,
        **plot_kwargs: Argument,
    ) -> Self:
        """Plot Lambda of a fitted model: diagonal for relevances, the identity for the Euclidean metric.

        The features are those that reach the model.

        Parameters
        ----------
        {estimator}
        {group}
        {feature_names}
        {ax}
        {plot_kwargs}

        Returns
        -------
        display : LambdaDisplay
            The display, drawn.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        found = need_model(estimator, cls.__name__)
        names = group_names(estimator)
        if group is None:
            matrix = lambda_matrix(estimator)
            name = f"{type(found.estimator).__name__}, mean of {len(names)}" if len(names) > 1 else None
        else:
            index = group_index(cls.__name__, estimator, group)
            matrix = lambda_matrix(estimator, per_matrix=True)[index]
            name = f"{'class' if len(names) == len(found.model.classes) else 'prototype'} {names[index]}"
        display = cls(matrix=matrix, feature_names=check_names(cls.__name__, estimator, feature_names), name=name)
        return display.plot(ax=ax, **plot_kwargs)
