"""Prototypes by column of the input: numbers in their units, categories with fractions."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import variable_table
from lvq.solvers.online import Online

X = pd.DataFrame(
    {"colour": list("aaabbbbbcc"), "size": [1.0, 2, 3, 4, np.nan, 6, 7, 8, 9, 10], "tail": list("yynnnnnnnn")}
)
Y = np.repeat(["low", "high"], 5)


def fitted(*steps):
    """A model whose prototypes are the means of the classes."""
    model = GLVQ(init="means", max_iter=1, solver=Online(learning_rate=1e-9), random_state=0)
    return need_model(make_pipeline(*steps, model).fit(X, Y), "")


def test_means_of_the_classes():
    table = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["size"]),
        (OneHotEncoder(sparse_output=False), ["tail", "colour"]),
    )
    found = fitted(table)
    result = variable_table(found, found.model.prototypes)  # classes in the order high, low
    assert result.names.tolist() == ["colour", "size", "tail"]
    assert [row[0] for row in result.values] == ["b", "a"]
    assert [row[2] for row in result.values] == ["n", "n"]
    fractions = result.parts.categories[0].fractions
    np.testing.assert_allclose(fractions.max(axis=1), [0.6, 0.6], atol=1e-6)
    np.testing.assert_allclose([row[1] for row in result.values], [8.0, (10 + 50 / 9) / 5], rtol=1e-6)
    assert [note.split() for note in result.notes[1]] == [["60", "%"], ["20", "%", "missing"], ["60", "%"]]
    assert result.notes[0][1:] == ["", ""]
    assert result.cells[0][2] == "n"
    assert result.cells[1][0].split() == ["a", "(60", "%)"]
    assert result.details[1][0].split() == ["a", "60", "%,", "b", "40", "%"]


def test_features_that_are_columns_need_no_table():
    found = need_model(make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X[["size"]].fillna(0), Y), "")
    assert variable_table(found, found.model.prototypes) is None


def test_steps_without_an_inverse_by_column():
    table = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), (PCA(1), ["size"]))
    model = make_pipeline(table, GLVQ(random_state=0)).fit(X.fillna(0.0), Y)
    found = need_model(model, "")
    result = variable_table(found, found.model.prototypes)
    assert result is not None
    assert isinstance(result.values[0][1], float)
