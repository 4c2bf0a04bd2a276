"""Fitted estimators with given prototypes and metric."""

import copy

import numpy as np

from lvq import GLVQ
from lvq.model.links import Identity
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis
from lvq.model.prototype_model import PrototypeModel

FITTED = GLVQ(solver="online", max_iter=1, random_state=0).fit([[0.0], [1.0]], [0, 1])


def placed(prototypes, labels, relevance=None, link=None, weights=False):
    """An estimator whose `model_` has these prototypes, class by class, in the metric of these relevances.

    With `weights` the relevances are a row of weights of the features for each prototype, not one matrix.
    """
    prototypes = np.asarray(prototypes)
    classes, codes = np.unique(labels, return_inverse=True)
    groups = tuple(range(len(prototypes) + 1))
    metric = [Euclidean(), Diagonal(), Mahalanobis(), LocalMahalanobis(groups)][
        0 if relevance is None else relevance.ndim
    ]
    metric = LocalDiagonal(groups) if weights else metric
    model = PrototypeModel(prototypes, codes, classes, metric, relevance, link or Identity())

    class Placed(GLVQ):
        model_ = property(lambda self: model)
        n_features_in_ = property(lambda self: model.n_features)

        def predict(self, X):
            return model.predict(X)

    estimator = copy.copy(FITTED)
    estimator.__class__ = Placed
    return estimator
