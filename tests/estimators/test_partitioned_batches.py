"""dask collections with solver="adam": batches are the rows of those of arrays, each in its partition."""

import numpy as np
import pytest
from sklearn.base import clone

import lvq

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

QUICK = {"solver": "adam", "max_iter": 4, "random_state": 0}
MODELS = [
    lvq.GLVQ(n_prototypes=2, batch_size=50, **QUICK),
    lvq.GMLVQ(rank=2, validation_fraction=0.2, tol=1e-3, **QUICK),
    lvq.LOGM(kernel="gaussian", kernel_width="learned", class_weight="balanced", batch_size=7, **QUICK),
    lvq.LVQClassifier(batch_size=60, **QUICK),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_model_is_that_of_arrays(model, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 5)) + 1.5 * np.eye(3, 5)[y]
    weight = rng.uniform(0.5, 2, size=150)
    expected = clone(model).fit(X, y, sample_weight=weight)
    found = clone(model).fit(da.from_array(X, chunks=(40, 5)), y, sample_weight=weight)
    np.testing.assert_allclose(found.objective_history_, expected.objective_history_, rtol=1e-10)
    np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=1e-10, atol=1e-10)
    if expected.model_.relevance is not None:
        np.testing.assert_allclose(found.model_.relevance, expected.model_.relevance, rtol=1e-10, atol=1e-10)
