"""Exemplars: the nearest samples by a plain search, through pipelines, with their names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, LGMLVQ, RejectClassifier, exemplars

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}
MODELS = [GLVQ(n_prototypes=2), GMLVQ(n_prototypes=3), LGMLVQ(), GLVQ(n_prototypes=2, kernel="gaussian")]


def draw(n_samples=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n_samples) % 3]
    return rng.normal(size=(n_samples, 4)) + 2 * np.eye(3, 4)[np.arange(n_samples) % 3], y


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("own", [True, False])
def test_nearest_by_a_plain_search(model, own):
    X, y = draw()
    X[4] = X[1]  # a tie: the first row comes first
    fitted = model.set_params(**QUICK).fit(X, y).model_
    expected = np.sqrt(fitted.distances(X))
    found = exemplars(model, X, k=5, y=y if own else None)
    for j, label in enumerate(fitted.classes[fitted.labels]):
        rows = [row for row in range(len(X)) if not own or y[row] == label]
        nearest = sorted(rows, key=lambda row, j=j: (expected[row, j].round(9), row))[:5]
        assert found.rows[j].tolist() == nearest
        np.testing.assert_allclose(found.distances[j], expected[nearest, j])
    assert found.labels.tolist() == fitted.classes[fitted.labels].tolist()


def test_a_pipeline_with_categories_and_names():
    X, y = draw()
    table = pd.DataFrame(X[:, :2], columns=["length", "width"], index=[f"patient {k}" for k in range(len(X))])
    table["site"] = np.where(np.arange(len(X)) % 2, "north", "south")
    steps = make_column_transformer(
        (StandardScaler(), ["length", "width"]), (OneHotEncoder(sparse_output=False), ["site"])
    )
    y = y.astype(object)
    model = make_pipeline(steps, GMLVQ(**QUICK)).fit(table, y)
    assert (y[exemplars(model, table, k=2, y=y).rows[:, 0]] == ["a", "b", "c"]).all()
    found = exemplars(model, table, k=2)
    plain = exemplars(model[-1], model[0].transform(table), k=2)
    assert np.array_equal(found.rows, plain.rows)
    assert found.names.tolist() == [[f"patient {row}" for row in rows] for rows in found.rows]
    assert plain.names.tolist() == plain.rows.tolist()
    reject = RejectClassifier(model, cv="prefit").fit(table, y)
    assert np.array_equal(exemplars(reject, table, k=2).rows, found.rows)


def test_sparse_samples():
    X, y = draw()
    X[np.abs(X) < 0.5] = 0
    model = GLVQ(**QUICK).fit(sparse.csr_array(X), y)
    assert np.array_equal(exemplars(model, sparse.csr_array(X), 3).rows, exemplars(model, X, 3).rows)


def test_refused():
    X, y = draw()
    model = GLVQ(**QUICK).fit(X, y)
    for k in (0, 1.5, True):
        with pytest.raises(ValueError, match=r"k of exemplars must be a whole number of at least 1"):
            exemplars(model, X, k)
    with pytest.raises(ValueError, match=r"k of exemplars must be at most .* got k=5 and 4 of X"):
        exemplars(model, X[:4], 5)
    with pytest.raises(ValueError, match=r"at most .* got k=2 and 1 of class 'b'"):
        exemplars(model, X[:5], 2, y=["a", "a", "b", "c", "c"])
    with pytest.raises(ValueError, match="a class for each of the 90 rows of X, got 3"):
        exemplars(model, X, 2, y=y[:3])
    with pytest.raises(ValueError, match=r"exemplars needs a model of this library, .* got LogisticRegression"):
        exemplars(LogisticRegression().fit(X, y), X, 1)
