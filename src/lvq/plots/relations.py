"""LambdaDisplay: which features, alone and in pairs, a model's distances are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from lvq.plots.checks import cell_index, names_for
from lvq.plots.models import cell_names, found_in, mean_matrix, relation_matrix
from lvq.plots.style import DIVERGING, axes, fitting, merged, name_ticks, pyplot, shortened


class LambdaDisplay:
    """The matrix Lambda of a model's distance (x - w)'Lambda (x - w), as a heat map.

    Make one with `from_estimator`. All parameters are stored as attributes. On the diagonal stands how much a feature
    counts by itself; a pair off it counts when both features differ, positive when they differ in the same direction.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Lambda.
    feature_names : sequence of str
        Names of the features.
    name : str, optional
        What the matrix belongs to; the title.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar or None
        Its scale.
    order_ : ndarray of int
        Indices of the features that are shown.
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

    def __init__(self, *, matrix: Any, feature_names: Sequence[str], name: str | None = None) -> None:
        self.matrix = matrix
        self.feature_names = feature_names
        self.name = name

    def plot(
        self,
        ax: Any = None,
        *,
        max_features: int | None = None,
        colorbar: bool = True,
        image_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_features : int, optional
            Draw only so many features, those with the largest diagonal, in their order; by default all. More than 40
            are numbered, not named.
        colorbar : bool, default=True
            Whether to draw the scale.
        image_kwargs : dict, optional
            For matplotlib's `imshow`.

        Returns
        -------
        display : LambdaDisplay
            With the artists as attributes.
        """
        if max_features is not None and max_features < 1:
            raise ValueError(f"max_features of LambdaDisplay.plot must be 1 or more, or None, got {max_features!r}.")
        matrix = np.asarray(self.matrix)
        best = np.argsort(-np.diag(matrix), kind="stable")[:max_features]
        self.order_ = np.sort(best)
        count = len(best)
        names = [self.feature_names[int(k)] for k in self.order_]
        side = float(np.clip(0.25 * count, 3, 8)) if count <= 40 else 5.0  # inches
        longest = max(map(len, fitting(names))) if count <= 40 else 8
        self.ax_ = axes("LambdaDisplay.plot", ax, (side + 0.08 * longest + 1.4, side + 0.06 * longest + 0.7))
        self.figure_ = self.ax_.figure
        from matplotlib.image import AxesImage

        shown = matrix[np.ix_(self.order_, self.order_)]
        reach = float(np.abs(shown).max()) or 1.0
        style = merged(
            {"cmap": DIVERGING, "vmin": -reach, "vmax": reach, "interpolation": "nearest"}, image_kwargs, AxesImage
        )
        if "norm" in style:
            del style["vmin"], style["vmax"]
        self.image_ = self.ax_.imshow(shown, **style)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85) if colorbar else None
        if self.colorbar_ is not None:
            self.colorbar_.set_label("Weight in the distances")
        name_ticks(self.ax_.yaxis, names)
        name_ticks(self.ax_.xaxis, names, rotation=50)
        if count > 40:
            whole = count == len(matrix)
            words = "Feature, by number" if whole else f"Place among the {count} features with the largest diagonal"
            self.ax_.set(xlabel=words, ylabel=words)
        self.ax_.set_title("Lambda" if not self.name else f"Lambda of {shortened(self.name, 40)}")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        cell: Any = None,
        feature_names: Any = None,
        ax: Any = None,
        **plot_kwargs: Any,
    ) -> Self:
        """The matrix of a fitted model; diagonal where it has relevances, the identity where its metric is plain.

        Parameters
        ----------
        estimator : estimator
            A model of this library, alone, at the end of a Pipeline or in a `RejectClassifier`. The features are those
            that reach the model.
        cell : int or str, optional
            Which of several local matrices: its index, or its class or prototype as `cell_names` calls it. By default
            their mean over the prototypes.
        feature_names : sequence of str, optional
            Names of the features; by default those that the model was fitted with.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **plot_kwargs : dict
            For `plot`: `max_features`, `colorbar`, `image_kwargs`.

        Returns
        -------
        display : LambdaDisplay
        """
        pyplot(f"{cls.__name__}.from_estimator")
        inner = found_in(estimator, cls.__name__).model
        names, name = cell_names(estimator), None
        matrix = relation_matrix(estimator) if cell is not None else mean_matrix(inner)
        if cell is not None:
            index = cell_index(cls.__name__, estimator, cell)
            local = "class" if len(names) == len(inner.classes_) else "prototype"
            matrix, name = matrix[index], f"{local} {names[index]}"
        elif len(names) > 1:
            name = f"{type(inner).__name__}, mean of {len(names)}"
        display = cls(matrix=matrix, feature_names=names_for(cls.__name__, estimator, feature_names), name=name)
        return display.plot(ax=ax, **plot_kwargs)
