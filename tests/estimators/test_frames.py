"""Tables with named columns: pandas, polars and pyarrow as inputs, pandas and polars as outputs of `transform`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, LVQ1, SNPC, LVQClassifier
from lvq.model.relevance import Matrix

NAMES = ["length", "width", "height", "noise"]


def columns(X, names=NAMES):
    return dict(zip(names, X.T))


MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=MAKERS)
def frame(request):
    """A function of a dict of columns that makes a table of each kind in turn."""
    return MAKERS[request.param]


def test_names_are_kept(frame, data):
    X, y = data
    table, X = frame(columns(X)), np.asarray(frame(columns(X)))  # the same order in memory, so the same rounding
    plain, named = (GMLVQ(max_iter=3, solver="online", random_state=0).fit(given, y) for given in (X, table))
    assert named.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(named.prototypes_, plain.prototypes_)
    np.testing.assert_array_equal(named.predict_proba(table), plain.predict_proba(X))
    np.testing.assert_array_equal(named.explain(table).contributions, plain.explain(X).contributions)


# -- transform ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(library, kind, frame, data):
    X, y = data
    model = GMLVQ(solver="online", relevance=Matrix(rank=2), max_iter=2, random_state=0).set_output(transform=library)
    image = model.fit(frame(columns(X)), y).transform(frame(columns(X)))
    assert isinstance(image, kind)
    assert list(image.columns) == ["gmlvq0", "gmlvq1"]
    np.testing.assert_allclose(image.to_numpy(), X @ model.omega_.T)
    assert isinstance(model.predict(frame(columns(X))), np.ndarray)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [LVQClassifier, SNPC])
def test_every_model_with_one_matrix_is_a_transformer(kind, data):
    """With all of scikit-learn's interface for transformers."""
    X, y = data
    model, name = kind(relevance=Matrix(rank=2), max_iter=2), kind.__name__.lower()
    table = pd.DataFrame(X, columns=NAMES)
    image = model.set_output(transform="pandas").fit_transform(table, y)
    assert list(image.columns) == model.get_feature_names_out().tolist() == [f"{name}0", f"{name}1"]
    np.testing.assert_allclose(image.to_numpy(), X @ model.omega_.T)
    steps = make_pipeline(StandardScaler(), clone(model), LVQ1(random_state=0)).fit(table, y)
    assert steps[:-1].get_feature_names_out().tolist() == [f"{name}0", f"{name}1"]
