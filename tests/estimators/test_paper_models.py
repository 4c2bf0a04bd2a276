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


def test_full_rank_names_mean_the_plain_ones():
    for name in ("GMLVQ", "DK-GMLVQ"):
        assert MODELS[f"{name} m=n"].make().get_params() == MODELS[name].make().get_params()
