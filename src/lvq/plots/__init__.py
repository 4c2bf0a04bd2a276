"""Plots in scikit-learn's manner: displays made by `from_estimator`, drawn by `plot`, their artists kept as attributes.

They need matplotlib, ``pip install "lvq[plot]"``, which is imported by the first drawing and not before. The numbers
they show are in `lvq.plots.views`, which draws nothing.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from lvq import GMLVQ
>>> from lvq.plots import ProjectionDisplay
>>> X, y = load_iris(return_X_y=True)
>>> display = ProjectionDisplay.from_estimator(GMLVQ(rank=2, random_state=0).fit(X, y), X, y)
>>> display.ax_.get_xlabel()
'Learned axis 1 (... % of squared distances)'
"""

from lvq.plots.certified import CertifiedAccuracyDisplay
from lvq.plots.loss import LossCurveDisplay
from lvq.plots.projection import ProjectionDisplay
from lvq.plots.prototype import PrototypeDisplay
from lvq.plots.rejecting import AccuracyRejectDisplay
from lvq.plots.relations import LambdaDisplay
from lvq.plots.relevance import RelevanceDisplay

__all__ = [
    "AccuracyRejectDisplay",
    "CertifiedAccuracyDisplay",
    "LambdaDisplay",
    "LossCurveDisplay",
    "ProjectionDisplay",
    "PrototypeDisplay",
    "RelevanceDisplay",
]
