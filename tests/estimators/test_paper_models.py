"""The table of the papers' names: every name exists, can be made, and learns."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from lvq.estimators.registry import MODELS


@pytest.fixture(scope="module", params=[load_iris, load_breast_cancer], ids=["iris", "wdbc"])
def standardised(request):
    X, y = request.param(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.thin(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_learns(name, standardised):
    """Two prototypes per class, nothing tuned: far above the majority (0.33, 0.63)."""
    X, y = standardised
    model = MODELS[name].make(n_prototypes=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert len(model.prototypes_) == 2 * len(np.unique(y))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if not MODELS[name].make()._parts().is_online])
def test_learns_online(name, standardised):
    """As the papers train: sample by sample, here for few epochs."""
    X, y = standardised
    model = MODELS[name].make(n_prototypes=2, random_state=0, solver="online", max_iter=20).fit(X, y)
    assert model.score(X, y) > 0.85


def test_full_rank_names_mean_the_plain_ones():
    for name in ("GMLVQ", "DK-GMLVQ"):
        assert MODELS[f"{name} m=n"].make().get_params() == MODELS[name].make().get_params()


def test_making_does_not_change_the_table():
    before = dict(MODELS["FC2GLVQ"].parameters)
    made = MODELS["FC2GLVQ"].make(relevance="fc1")
    assert made.relevance == "fc1"
    assert MODELS["FC2GLVQ"].parameters == before
