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
from lvq.plots import arrays
from lvq.plots.arrays import lambda_matrix
from lvq.plots.style import DIVERGING, Display, name_ticks, short_name, short_names
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
    title : str, default="Lambda"
        Title, which names a local matrix.

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
    title: str = "Lambda"

    def plot(self, ax: Axes | None = None, *, max_features: int | None = None, colorbar: bool = True) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        max_features : int, optional
            Number of features to draw, those with the largest diagonal entries, in their order; by default all.
            More than 40 are numbered, not named.
        colorbar : bool, default=True
            Whether to draw the colour scale.

        Returns
        -------
        display : LambdaDisplay
            The display, with the artists as attributes.
        """
        self._check_max_features(max_features)
        matrix = np.asarray(self.matrix)
        self.order_ = np.sort(np.argsort(-np.diag(matrix), kind="stable")[:max_features])
        names = [self.feature_names[int(k)] for k in self.order_]
        self._set_axes(ax, _size(names))
        shown = matrix[np.ix_(self.order_, self.order_)]
        limit = float(np.abs(shown).max()) or 1.0
        self.image_ = self.ax_.imshow(shown, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
        label = "Weight in the distances"
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85, label=label) if colorbar else None
        name_ticks(self.ax_.yaxis, names, limit=MAX_NAMED)
        name_ticks(self.ax_.xaxis, names, limit=MAX_NAMED, rotation=50)
        if len(names) > MAX_NAMED:
            label = f"The {len(names)} features with the largest weights"
            if len(names) == len(matrix):
                axis = arrays.ordered_axis(names)
                label = "Index of the feature" if axis is None else axis.title
            self.ax_.set(xlabel=label, ylabel=label)
        self.ax_.set_title(short_name(self.title, 50))
        return self

    @classmethod
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
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        group : int or str, optional
            Index or name of one local matrix, see `lvq.plots.group_names`; by default the mean over the prototypes.
        feature_names : sequence of str, optional
            Names of the features; by default those that the estimator was fitted with.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_kwargs : dict
            Keyword arguments for `plot`.

        Returns
        -------
        display : LambdaDisplay
            The display, drawn.
        """
        found, groups = need_model(estimator, cls.__name__), arrays.group_names(estimator)
        names = arrays.given_or_own(
            cls.__name__, "feature_names", feature_names, arrays.feature_names(estimator)
        ).tolist()
        if group is None:
            title = f"Lambda, mean of {len(groups)}" if len(groups) > 1 else "Lambda"
            return cls(matrix=lambda_matrix(estimator), feature_names=names, title=title).plot(ax=ax, **plot_kwargs)
        index = arrays.group_index(cls.__name__, estimator, group)
        kind = "class" if len(groups) == len(found.model.classes) else "prototype"
        matrix = lambda_matrix(estimator, per_matrix=True)[index]
        title = f"Lambda of {kind} {groups[index]}"
        return cls(matrix=matrix, feature_names=names, title=title).plot(ax=ax, **plot_kwargs)


def _size(names: Sequence[str]) -> tuple[float, float]:
    """Size of a figure in inches, with space for the names."""
    named = len(names) <= MAX_NAMED
    side = float(np.clip(0.25 * len(names), 3, 8)) if named else 5.0
    longest = max(map(len, short_names(names))) if named else 8
    return side + 0.08 * longest + 1.4, side + 0.06 * longest + 0.7
