"""Importances of the columns of a pipeline's input: one for each variable, whatever the steps do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, LVQClassifier, RejectClassifier, variable_importances

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def data():
    """The second of four columns tells the classes apart; the units differ."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 4))
    X[:, 1] += 3 * y
    return X * [1, 100, 0.01, 1] + 5, y


@pytest.fixture(scope="module")
def table():
    """A variable of two categories that tells the classes apart, one of fifty that does not, numbers, and a leak."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    sex = np.where(rng.random(400) < 0.1 + 0.8 * y, "f", "m")
    day = rng.integers(0, 50, 400).astype(str)
    return pd.DataFrame({"sex": sex, "day": day, "age": rng.normal(size=400), "leak": y}), y


def encoded(model):
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["sex", "day"]), (StandardScaler(), ["age"])
    )
    return make_pipeline(columns, model)


@pytest.mark.parametrize("model", [GMLVQ(random_state=0), LVQClassifier(random_state=0)], ids=repr)
def test_of_training_samples_they_are_the_importances_of_the_features(model, data):
    X, y = data
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    found = variable_importances(model, X)
    np.testing.assert_allclose(found.importances, model[-1].feature_importances_, rtol=1e-6)
    np.testing.assert_allclose(found.importances, found.explained / found.explained.sum())
    assert found.names.tolist() == [f"feature {k}" for k in range(4)]


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler(), PCA(random_state=0)],
        [StandardScaler(), FunctionTransformer(lambda X: X @ np.array([[1.0, 5.0, 1.0, 1.0]]).T)],
        [SimpleImputer(), StandardScaler()],
    ],
    ids=["PCA", "unknown", "imputer"],
)
def test_steps_need_not_be_followed(steps, data):
    X, y = data
    found = variable_importances(make_pipeline(*steps, GMLVQ(random_state=0)).fit(X, y), X)
    assert found.importances.argmax() == 1
    assert found.importances.sum() == pytest.approx(1)


def test_a_categorical_variable_is_one_and_counts_as_its_category_means(table):
    X, y = table
    model = encoded(GLVQ(random_state=0)).fit(X, y)
    found = variable_importances(model, X)
    assert found.names.tolist() == ["sex", "day", "age", "leak"]
    assert found.importances[0] > 0.8
    assert found.importances[1] < 0.1  # fifty columns explain much by chance
    assert found.importances[3] == 0  # is not used
    P = model.predict_proba(X)[:, 1]
    D = model[-1].model_.distances(model[0].transform(X))
    for k, (name, surplus) in enumerate({"sex": 0, "day": 46}.items()):  # degrees of freedom beyond three
        parts = []
        for output in (P, D[:, 0] - D[:, 1]):  # of two prototypes all pairs are the same
            means = X.assign(output=output).groupby(name)["output"].transform("mean")
            parts.append(np.var(means) / np.var(output))
        part = np.mean(parts)
        expected = max(0.0, part - surplus * (1 - part) / (400 - surplus - 4)) if surplus else part
        assert found.explained[k] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_columns_that_a_selector_removes_have_none(data):
    X, y = data
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), GMLVQ(random_state=0)).fit(X, y)
    found = variable_importances(model, X)
    np.testing.assert_array_equal(found.importances > 0, model[1].get_support())


def test_missing_values_are_a_column_of_their_own(data):
    X, y = data
    X = X.copy()
    X[:, 3] = np.where(y == 1, np.nan, 0.0)
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    assert variable_importances(model, X).explained[3] > 0.5


def test_sparse_samples(data):
    X, y = data
    X = np.maximum(X, 0)
    model = make_pipeline(MaxAbsScaler(), GMLVQ(random_state=0)).fit(sparse.csr_matrix(X), y)
    one, other = (variable_importances(model, rows) for rows in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(one.importances, other.importances, rtol=1e-6)


def test_models_without_relevances_and_with_a_reject_option(data):
    X, y = data
    scaled = make_pipeline(StandardScaler(), GLVQ(random_state=0))
    assert variable_importances(scaled.fit(X, y), X).importances.argmax() == 1
    reject = RejectClassifier(scaled, min_coverage=0.8).fit(X, y)
    assert variable_importances(reject, X).importances.argmax() == 1
    streamed = GLVQ(random_state=0).partial_fit(X, y, classes=[0, 1])
    assert variable_importances(streamed, X).importances.argmax() == 1
