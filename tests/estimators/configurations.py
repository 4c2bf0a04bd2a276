"""Configurations of the estimators: every estimator, and every part at least once.

The papers train sample by sample, and so do most tests here; `EVERY` has configurations of the batch solvers too.
Configurations whose branches all occur in others are in `MORE`, and run with ``-m "slow or not slow"``.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC, LVQClassifier
from lvq.estimators.registry import MODELS
from lvq.model.links import Gaussian
from lvq.model.relevance import Hebbian, Matrix, Scale, Weights
from lvq.solvers.online import Online

# the models of the papers; LVQClassifier and LVQClassifierCV have tests of their own
ESTIMATORS = sorted({entry.estimator for entry in MODELS.values()}, key=lambda part: part.__name__)
# every compiled loop, cost, step and schedule
VARIANTS = [
    OLVQ1(relevance="fc2", n_prototypes=2),
    LVQ3(n_prototypes=2, kernel="gaussian"),
    RLVQ(relevance=Hebbian(squared=True), n_prototypes=2),
    GLVQ(kernel=Gaussian(width="learned")),
    GLVQ(slope="time", solver=Online(step="gradient", schedule="constant")),
    GMLVQ(kernel="gaussian", n_prototypes=2, init="means"),
    LGMLVQ(relevance=Matrix(local="prototype"), n_prototypes=2),
    MCE(kernel="rational_quadratic", solver=Online(schedule="constant")),
    LOGM(relevance=Weights(local="prototype"), n_prototypes=2),
    RSLVQ(decision="posterior", n_prototypes=3),
    LVQClassifier(cost="cross_entropy", relevance="gradient", kernel=None, n_prototypes=2),
]
# every link, relevance rule, start and decision
MORE_VARIANTS = [
    LVQ1(relevance="hebbian", kernel="cauchy"),
    GLVQ(relevance="fc2", init="samples"),
    GLVQ(slope=5.0, solver=Online(step="relative"), n_prototypes=2),
    GRLVQ(kernel="inverse_multiquadric", n_prototypes=2),
    LOGM(relevance=Matrix(rank=2), alpha=0.01),
    LOGM(relevance="fc1", init="random"),
    SNPC(relevance="local_matrix", n_prototypes=2),
    LGMLVQ(relevance=Matrix(rank=1, local="class")),
    SNPC(decision="posterior", n_prototypes=2, kernel="gaussian"),
    RSLVQ(relevance="gradient", kernel="cauchy", n_prototypes=2),
]
BATCH = [
    GLVQ(solver="adam", kernel="gaussian"),
    GMLVQ(solver="lbfgs", relevance=Matrix(rank=2)),
    LOGM(solver="lbfgs", kernel=Gaussian(width="learned")),
    LVQClassifier(cost="cross_entropy", relevance=Matrix(rank=2), kernel=None, n_prototypes=2, solver="lbfgs"),
]
MORE_BATCH = [
    RSLVQ(solver="lbfgs", decision="posterior", n_prototypes=2),
    GLVQ(solver="lbfgs", relevance="local_diagonal", n_prototypes=2),
    GRLVQ(solver="lbfgs", kernel="cauchy"),
    LGMLVQ(solver="adam", relevance=Matrix(local="prototype"), n_prototypes=2),
    LOGM(solver="adam", relevance=Scale(local="prototype")),
]


def online(model: BaseEstimator) -> BaseEstimator:
    """The model trained sample by sample."""
    return model if isinstance(model.solver, Online) else model.set_params(solver="online")


def short_repr(model: BaseEstimator) -> str:
    """The estimator's name and its parameters other than the defaults."""
    default = online(type(model)()).get_params(deep=False)
    given = {key: value for key, value in model.get_params(deep=False).items() if value != default[key]}
    for key in ("random_state", "max_iter"):
        given.pop(key, None)
    return f"{type(model).__name__}({', '.join(f'{key}={value}' for key, value in given.items())})"


def short_online(models: list[BaseEstimator]) -> list[BaseEstimator]:
    """The models trained sample by sample for few epochs."""
    return [online(clone(model)).set_params(random_state=0, max_iter=10) for model in models]


def short_batch(models: list[BaseEstimator]) -> list[BaseEstimator]:
    """The models with enough iterations for L-BFGS to converge."""
    return [model.set_params(random_state=0, max_iter=20 if model.solver == "adam" else 500) for model in models]


LEARNED = ("prototypes_", "relevances_", "omega_", "lambda_", "kernel_width_", "objective_history_")


def learned(model: BaseEstimator) -> dict[str, object]:
    """Everything that a fit has learned, by name."""
    return {name: getattr(model, name) for name in LEARNED if hasattr(model, name)}


def assert_same(one: BaseEstimator, other: BaseEstimator, tolerance: float = 0.0) -> None:
    """Two models have learned the same, bit by bit unless there is a tolerance."""
    ours, theirs = learned(one), learned(other)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=tolerance, atol=tolerance, err_msg=name)


def ignoring(model: BaseEstimator) -> BaseEstimator:
    """A copy that ignores missing values."""
    return clone(model).set_params(missing="ignore", random_state=0)


def slow(models: list[BaseEstimator]) -> list[object]:
    """The models as slow parameters."""
    return [pytest.param(model, marks=pytest.mark.slow) for model in models]


DEFAULTS = [online(part(random_state=0)) for part in ESTIMATORS]
FEW = [model for model in DEFAULTS if type(model) in (LVQ1, LVQ21, GLVQ, GMLVQ, RSLVQ)]
MORE = [model for model in DEFAULTS if model not in FEW]
ONLINE = short_online(VARIANTS)
MORE_ONLINE = short_online(MORE_VARIANTS + DEFAULTS)
BATCH_MODELS, MORE_BATCH_MODELS = short_batch(BATCH), short_batch(MORE_BATCH)
STREAMED_BATCH_MODELS = [model for model in MORE_BATCH_MODELS if not model._relevance().free_size]
