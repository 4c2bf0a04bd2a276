"""Tables with named columns: pandas, polars and pyarrow as inputs, pandas and polars as outputs of `transform`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lvq import GMLVQ

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
