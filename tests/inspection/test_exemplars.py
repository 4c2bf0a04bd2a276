"""Exemplars: the nearest samples by a plain search, through pipelines, with their names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, LGMLVQ, RejectClassifier, exemplars, explain
from lvq.inspection import nearest_cases
from lvq.rejection import CostClassifier

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
    assert repr(found) == f"Exemplars(2 for each of {len(plain.rows)} prototypes; see .names and .distances)"


@pytest.mark.parametrize(
    ("rows", "k", "y", "message"),
    [
        (90, 0, None, "k of exemplars == 0, must be >= 1"),
        (4, 5, None, "k of exemplars must be at most .* got k=5 and 4 of X"),
        (5, 2, list("aabcc"), "at most .* got k=2 and 1 of class 'b'"),
        (90, 2, list("abc"), r"inconsistent numbers of samples: \[3, 90\]"),
    ],
)
def test_refused(rows, k, y, message):
    X, classes = draw()
    with pytest.raises(ValueError, match=message):
        exemplars(GLVQ(**QUICK).fit(X, classes), X[:rows], k, y=y)


# -- cases nearest to a query ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_nearest_cases_by_a_plain_search(model):
    """Of winner and rival of `explain`, by the metric of each."""
    X, y = draw()
    X[4] = X[1]  # a tie: the first row comes first
    queries = draw(40, seed=1)[0]
    model = model.set_params(**QUICK).fit(X, y)
    fitted, reasons = model.model_, explain(model, queries)
    found = nearest_cases(model, queries, X, y, k=3)
    assert found.own.labels.tolist() == model.predict(queries).tolist()
    for prototypes, side in ((reasons.winner, found.own), (reasons.rival, found.rival)):
        assert side.labels.tolist() == fitted.classes[fitted.labels[prototypes]].tolist()
        for query, prototype in enumerate(prototypes):
            omega = fitted.matrix_of(prototype)
            omega = np.diag(omega) if omega.ndim == 1 else omega
            D = np.linalg.norm((X - queries[query]) @ omega.T, axis=1)
            own = np.flatnonzero(y == fitted.classes[fitted.labels[prototype]])
            nearest = sorted(own.tolist(), key=lambda row, D=D: (D[row].round(9), row))[:3]
            assert side.rows[query].tolist() == nearest
            np.testing.assert_allclose(side.distances[query], D[nearest], atol=1e-7)


def test_nearest_cases_are_shown_as_they_are():
    X, y = draw()
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    pictures = np.arange(90 * 6).reshape(90, 2, 3)
    found = nearest_cases(model, X[:2], X, y, k=2, samples=pictures)
    assert np.array_equal(found.own.names[0, 0], pictures[found.own.rows[0, 0]])
    named = pd.DataFrame(X, index=[f"patient {row}" for row in range(90)])
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(named, y)
    found = nearest_cases(model, named[:3], named, y, k=2)
    lines = found.table()
    assert list(lines.columns) == ["query", "label", "rival", "row", "distance", "case"]
    assert len(lines) == 3 * 2 * 2
    assert lines["case"].tolist() == [f"patient {row}" for row in lines["row"]]
    assert (y[lines["row"]] == lines["label"]).all()
    assert lines[~lines["rival"]]["row"].tolist() == found.own.rows.ravel().tolist()


def test_sparse_samples_and_the_class_that_costs_decide():
    X, y = draw()
    model = GLVQ(**QUICK).fit(X, y)
    dense = nearest_cases(model, X[:5], X, y)
    rows = sparse.csr_matrix(X)
    of_sparse = GLVQ(**QUICK).fit(rows, y)
    thin = nearest_cases(of_sparse, rows[:5], rows, y)
    assert np.array_equal(dense.rival.rows, thin.rival.rows)
    assert np.array_equal(exemplars(of_sparse, rows, 3).rows, exemplars(model, X, 3).rows)
    by_cost = CostClassifier(model, {"a:b": 50, "a:c": 50}).fit(X, y)
    assert nearest_cases(by_cost, X, X, y).own.labels.tolist() == by_cost.predict(X).tolist()


def test_cases_are_shown_in_an_explanation():
    X, y = draw()
    model = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    names = [f"flower {row}" for row in range(len(X))]
    found = nearest_cases(model, X[:3], X, y, k=2, samples=names)
    table = explain(model, X[:3], cases=found).table(1)
    assert table["case"].tolist() == found.own.names[:, 0].tolist() == names[:3]
    assert table["rival_case"].tolist() == found.rival.names[:, 0].tolist()
    assert "flower 0" in explain(model, X[:3], cases=found)._repr_html_()
    assert "case" not in explain(model, X[:3]).table(1)
    for queries in (X[:2], X[1:4]):
        with pytest.raises(ValueError, match="cases of explain must be nearest_cases of the same estimator and sam"):
            explain(model, queries, cases=found)


def test_nearest_cases_refuses():
    X, y = draw()
    model = GLVQ(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[90, 2\]"):
        nearest_cases(model, X, X, y, samples=["one", "two"])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[80, 90\]"):
        nearest_cases(model, X, X, y[:80])
    with pytest.raises(ValueError, match=r"k of nearest_cases must be at most .* k=31 and 30 of class 'a'"):
        nearest_cases(model, X, X, y, k=31)
