"""Plain formulas that the library must equal, and finite differences."""

import numpy as np

from lvq.model.local_metrics import PARAMETER_AXES, LocalDiagonal
from lvq.model.metrics import Diagonal, LocalMetric


def distances(metric, X, W, R, variances=None):
    """e'Lambda e / s of samples and prototypes, with e the observed difference; variances count where X has NaN.

    Of a metric that is not quadratic the distances are its own, sample by sample.
    """
    if type(metric) not in PARAMETER_AXES:
        return np.concatenate([metric.prepare(W, R).distances(x[None])[0] for x in X])
    known, variances = ~np.isnan(X), np.ones(W.shape[1]) if variances is None else variances
    own = R[metric.group] if isinstance(metric, LocalMetric) else R
    if R is None:
        Lambda = np.eye(W.shape[1])
    elif isinstance(metric, Diagonal | LocalDiagonal):
        Lambda = own[..., None] * np.eye(W.shape[1])
    else:
        Lambda = own.swapaxes(-1, -2) @ own
    Lambda = np.broadcast_to(Lambda, (len(W), *Lambda.shape[-2:]))
    weights, e = np.diagonal(Lambda, axis1=1, axis2=2) * variances, np.where(known[:, None], X[:, None] - W, 0)
    s = known @ weights.T / weights.sum(axis=1)
    return np.einsum("ijk,jkl,ijl->ij", e, Lambda, e) / np.where(s > 0, s, 1)


def differences(function, start, step=1e-6):
    """Central differences by every number of an array."""
    gradient = np.empty(start.shape)
    for place in np.ndindex(start.shape):
        ends = [start.copy(), start.copy()]
        ends[0][place] -= step
        ends[1][place] += step
        gradient[place] = (function(ends[1]) - function(ends[0])) / (2 * step)
    return gradient
