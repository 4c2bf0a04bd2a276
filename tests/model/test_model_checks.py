"""Arrays and parts that form a model, and those that do not."""

import numpy as np
import pytest

from lvq.model.local_metrics import LocalDiagonal
from lvq.model.metrics import Diagonal, Euclidean
from lvq.model.prototype_model import PrototypeModel

W, LABELS, CLASSES = np.arange(6.0).reshape(3, 2), np.array([0, 0, 1]), np.array(["a", "b"])


def model(metric=None, relevance=None, **rest):
    return PrototypeModel(W, LABELS, CLASSES, metric or Euclidean(), relevance, **rest)


def test_groups_of_prototypes_with_weights_of_their_own():
    whole = model(LocalDiagonal((0, 2, 3)), np.full((2, 2), 0.5))
    assert whole.metric.groups == (0, 2, 3)


@pytest.mark.parametrize("groups", [(0, 2), (1, 2, 3), (0, 2, 2, 3), (0, 2.0, 3), (0, True, 3), [0, 2, 3], (3,)])
def test_groups_that_are_not_those_of_the_prototypes(groups):
    with pytest.raises(ValueError, match="has metrics for other groups of prototypes"):
        model(LocalDiagonal(groups), np.full((2, 2), 0.5))


@pytest.mark.parametrize("count", [1, 3])
def test_as_many_metrics_as_groups(count):
    with pytest.raises(ValueError, match="has another number of metrics than groups"):
        model(LocalDiagonal((0, 2, 3)), np.full((count, 2), 0.5))


def test_variances_are_not_negative_and_may_be_small():
    assert model(variances=np.array([0.0, 0.25])).variances.tolist() == [0.0, 0.25]
    with pytest.raises(ValueError, match="has variances that are negative"):
        model(variances=np.array([0.5, -0.25]))


def test_relevances_are_not_negative_and_fit_the_features():
    assert model(Diagonal(), np.array([0.0, 1.0])).relevance.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="has negative relevances"):
        model(Diagonal(), np.array([-0.5, 1.5]))
    with pytest.raises(ValueError, match="has relevances that do not fit its 2 features"):
        model(Diagonal(), np.ones(3) / 3)
    with pytest.raises(ValueError, match="has relevances that its metric does not use"):
        model(relevance=np.ones(2))
