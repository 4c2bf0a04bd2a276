"""A fitted estimator with other prototypes: model and training state are replaced together."""

from dataclasses import replace

import numpy as np

from lvq.estimators.base import BaseLVQ
from lvq.model.importance import feature_importances
from lvq.model.metrics import LocalMetric
from lvq.model.samples import ArraySamples
from lvq.solvers.state import new_statistics


def replace_prototypes(estimator: BaseLVQ, prototypes: np.ndarray, kept: np.ndarray, X: np.ndarray) -> None:
    """Set other prototypes in place of those that are kept, and leave out the others.

    Parameters
    ----------
    estimator : BaseLVQ
        Fitted; it is changed.
    prototypes : ndarray of shape (n_kept, n_features)
        The new prototypes.
    kept : ndarray of int
        Indices of the prototypes that they replace, ascending; every class keeps one.
    X : ndarray of shape (n_samples, n_features)
        Samples, from which the importances of the features are computed again.
    """
    model, state = estimator.model_, estimator._state
    labels, relevance = model.labels[kept], model.relevance
    metric = state.relevance.metric(labels)
    if isinstance(metric, LocalMetric):
        relevance = relevance[np.unique(model.group[kept])]
    new = replace(model, prototypes=prototypes.astype(model.dtype), labels=labels, metric=metric, relevance=relevance)
    if model.importances is not None:
        samples = ArraySamples(X, np.zeros(len(X), dtype=np.intp), np.ones(len(X)))
        new = replace(new, importances=feature_importances(new, samples))
    shape, n_classes = prototypes.shape, len(model.classes)
    statistics = new_statistics(state.relevance, state.cost, shape, n_classes, estimator.learning_rate)
    estimator.__dict__.update(model_=new, _state=replace(state, statistics=statistics))
