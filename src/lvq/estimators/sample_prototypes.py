"""Prototypes that are training samples.

A model is first trained as ever. Each prototype is then moved to the nearest sample of its class, in the model's
metric, and the metric is trained with the prototypes in these places. From there all parameters are trained again, and
the two steps are repeated while the objective with prototypes on samples falls.
"""

from dataclasses import replace

import numpy as np

from lvq.estimators import training as steps
from lvq.estimators.specification import Parts
from lvq.estimators.training import Training
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy, canonical_order, dense
from lvq.model.samples import ArraySamples
from lvq.solvers.state import silent

MAX_ROUNDS = 10  # of moves to samples


def on_samples(parts: Parts, training: Training, samples: ArraySamples, classes: np.ndarray) -> Training:
    """The trained model with prototypes on samples and a metric that was trained with them."""
    best, lowest = training, np.inf
    for _ in range(MAX_ROUNDS):
        model = steps.fitted_model(training, parts, classes, None, None)
        rows = nearest_own_samples(model, samples)
        W = dense(samples.X[rows]).astype(training.params.prototypes.dtype, copy=False)
        W.flags.writeable = False  # no solver may use them up
        placed = replace(training, params=training.params._replace(prototypes=W))
        placed = _with_fitted_metric(parts, placed, samples)
        value = steps.objective_value(placed, samples)
        if not value < lowest:
            break
        best, lowest = placed, value
        start = steps.restarted(parts, placed, samples, placed.state.random_state)
        training, _ = steps.run(parts, start, samples, silent)
    return best


def _with_fitted_metric(parts: Parts, training: Training, samples: ArraySamples) -> Training:
    """The metric trained while the prototypes stay where they are, to the bit."""
    if training.params.relevance is None and not parts.learns_width:
        return training
    fixed = replace(parts, fixed_prototypes=True)
    start = steps.restarted(parts, training, samples, training.state.random_state)
    found, _ = steps.run(fixed, start, samples, silent)
    return replace(found, params=found.params._replace(prototypes=training.params.prototypes))


def nearest_own_samples(model: PrototypeModel, samples: ArraySamples) -> np.ndarray:
    """Row of the nearest sample of its class for each prototype; different samples where the class has enough.

    Prototypes of a class choose in their order. Only the first of a sample and its copies can be chosen.
    """
    rows, y = np.empty(len(model.labels), dtype=np.intp), as_numpy(samples.y)
    for label in np.unique(model.labels):
        own, prototypes = np.flatnonzero(y == label), np.flatnonzero(model.labels == label)
        order, distinct = canonical_order(samples.X[own])
        own = np.sort(own[order[distinct]])
        D = np.concatenate([model.distances(block)[:, prototypes] for block in model.blocks(samples.X[own])])
        used = np.zeros(len(own), dtype=int)
        for distances, prototype in zip(D.T.astype(np.float64), prototypes):
            nearest = np.lexsort((distances, used))[0]
            rows[prototype] = own[nearest]
            used[nearest] += 1
    return rows
