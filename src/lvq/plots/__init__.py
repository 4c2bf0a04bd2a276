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

from lvq.plots.arrays import feature_names, lambda_matrix, prototype_names, prototypes_in_units, relevance_profile
from lvq.plots.curves import AccuracyRejectDisplay
from lvq.plots.effects import EffectDisplay
from lvq.plots.evidence import EvidenceDisplay
from lvq.plots.projection import ProjectionDisplay, plane, regions
from lvq.plots.prototypes import PrototypeDisplay
from lvq.plots.relevance import LambdaDisplay, RelevanceDisplay

__all__ = [
    "AccuracyRejectDisplay",
    "EffectDisplay",
    "EvidenceDisplay",
    "LambdaDisplay",
    "ProjectionDisplay",
    "PrototypeDisplay",
    "RelevanceDisplay",
    "feature_names",
    "lambda_matrix",
    "plane",
    "prototype_names",
    "prototypes_in_units",
    "regions",
    "relevance_profile",
]
