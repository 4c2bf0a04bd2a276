"""Plots in scikit-learn's style: displays are created by `from_estimator` and drawn by `plot`.

Displays keep their artists as attributes. They need matplotlib, ``pip install "lvq[plot]"``, which is imported when the
first one is drawn. The functions give the numbers that displays show, and need no matplotlib.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from lvq import GMLVQ
>>> from lvq.model.relevance import Matrix
>>> from lvq.plots import ProjectionDisplay
>>> X, y = load_iris(return_X_y=True)
>>> display = ProjectionDisplay.from_estimator(GMLVQ(relevance=Matrix(rank=2), random_state=0).fit(X, y), X, y)
>>> display.ax_.get_xlabel()
'Learned axis 1 (... % of squared distances)'
"""

from lvq.plots.accuracy_reject import AccuracyRejectDisplay
from lvq.plots.certified_accuracy import CertifiedAccuracyDisplay
from lvq.plots.fitted_arrays import (
    feature_names,
    group_names,
    lambda_matrix,
    prototype_names,
    prototypes_in_units,
    relevance_profile,
)
from lvq.plots.lambda_heatmap import LambdaDisplay
from lvq.plots.loss_curve import LossCurveDisplay
from lvq.plots.planes import plane
from lvq.plots.projection import ProjectionDisplay
from lvq.plots.prototypes import PrototypeDisplay
from lvq.plots.region_predictions import regions
from lvq.plots.relevances import RelevanceDisplay

__all__ = [
    "AccuracyRejectDisplay",
    "CertifiedAccuracyDisplay",
    "LambdaDisplay",
    "LossCurveDisplay",
    "ProjectionDisplay",
    "PrototypeDisplay",
    "RelevanceDisplay",
    "feature_names",
    "group_names",
    "lambda_matrix",
    "plane",
    "prototype_names",
    "prototypes_in_units",
    "regions",
    "relevance_profile",
]
