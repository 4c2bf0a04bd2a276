"""LambdaDisplay: the matrix Lambda of a model's distances as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.model.metrics import LocalMetric
from lvq.plots.arrays import feature_names, mean_lambda
from lvq.plots.style import Display, feature_label, heat_map, name_ticks, short_name, short_names
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
        The title.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar
        Its colour scale.
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

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the heat map; the names of up to 40 features are shown.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        display : LambdaDisplay
            The display, with the artists as attributes.
        """
        names, many = list(self.feature_names), len(self.feature_names) > MAX_NAMED
        side = 5.0 if many else float(np.clip(0.25 * len(names), 3, 8))
        longest = 8 if many else max(map(len, short_names(names)))
        self._set_axes(ax, (side + 0.08 * longest + 1.4, side + 0.06 * longest + 0.7))  # with space for the names
        self.image_ = heat_map(self.ax_, np.asarray(self.matrix), "equal")
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.85, label="Weight in the distances")
        name_ticks(self.ax_.yaxis, names, limit=MAX_NAMED)
        name_ticks(self.ax_.xaxis, names, limit=MAX_NAMED, rotation=50)
        if many:
            label = feature_label(names, "Index of the feature")
            self.ax_.set(xlabel=label, ylabel=label)
        self.ax_.set_title(short_name(self.title, 50))
        return self

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, **plot_kwargs: Argument) -> Self:
        """Plot Lambda of a fitted model: diagonal for relevances, the identity for the Euclidean metric.

        The features are those that reach the model. Local matrices are replaced by their mean over the prototypes; the
        display of a single one is made from ``model.lambda_``.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a
            `RejectClassifier`.
        **plot_kwargs : dict
            Arguments of `plot`, such as `ax`.

        Returns
        -------
        display : LambdaDisplay
            The display, drawn.
        """
        model = need_model(estimator, cls.__name__).model
        title = "Lambda, mean over the prototypes" if isinstance(model.metric, LocalMetric) else "Lambda"
        names = feature_names(estimator).tolist()
        return cls(matrix=mean_lambda(model), feature_names=names, title=title).plot(**plot_kwargs)
