"""`fit_batches` of sparse rows: as dense ones to rounding, never dense."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LVQ1, RSLVQ, fit_batches
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online
from lvq.streaming.fit_batches import groups
from lvq.streaming.sources import Layout, make_source

SETTINGS = {"epochs": 2, "batch_rows": 50, "shuffle_rows": 170}


@pytest.fixture
def rows():
    """Three classes, each with some features of its own; nine tenths of the values are zero."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.random((600, 30)) * (rng.random((600, 30)) < 0.1)
    X[np.arange(600), 10 * y + rng.integers(10, size=600)] = 1.0 + rng.random(600)
    return X * np.linspace(0.1, 10, 30), y


def batches_of(X, y, size=130, form=sparse.csr_array):
    return lambda: ((form(X[begin : begin + size]), y[begin : begin + size]) for begin in range(0, len(y), size))


@pytest.mark.parametrize(
    ("model", "scaler"),
    [
        (GLVQ(), None),
        (GRLVQ(), MaxAbsScaler()),
        (GMLVQ(relevance=Matrix(rank=3)), StandardScaler(with_mean=False)),
        (RSLVQ(), MaxAbsScaler()),
        (LVQ1(), None),
    ],
    ids=str,
)
def test_the_same_as_dense_rows(model, scaler, rows):
    def fitted(form):
        pipeline = type(model)(**model.get_params(deep=False)).set_params(
            random_state=0, solver=Online(learning_rate=0.02, schedule="constant")
        )
        pipeline = pipeline if scaler is None else make_pipeline(scaler, pipeline)
        return fit_batches(pipeline, batches_of(*rows, form=form), **SETTINGS)

    ours, theirs = fitted(sparse.csr_array), fitted(np.asarray)
    final = [part if scaler is None else part[-1] for part in (ours, theirs)]
    np.testing.assert_allclose(final[0].prototypes_, final[1].prototypes_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(sparse.csr_array(rows[0])), theirs.predict(rows[0]))
    if scaler is not None:
        assert ours.score(rows[0], rows[1]) > 0.6


def test_the_buffer_is_in_numbers_that_are_stored(rows, monkeypatch):
    """32 MB of these rows are more than one batch, whatever the number of features."""
    X, y = rows
    wide = sparse.csr_array(sparse.hstack((sparse.csr_array(X), sparse.csr_array((len(y), 200_000)))))
    monkeypatch.setattr("lvq.streaming.fit_batches.BUFFER_BYTES", 3 * 64 * 100)
    found = groups(make_source(batches_of(wide, y), None, None, None), Layout(), 64, None)
    assert max(len(part) for _, part in found) > 128


def with_value(X, row, column, value):
    X = X.toarray()
    X[row, column] = value
    return sparse.csr_array(X)


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (
            make_pipeline(StandardScaler(), GLVQ()),
            lambda X: X,
            "pass `with_mean=False`",
        ),
        (make_pipeline(MinMaxScaler(), GLVQ()), lambda X: X, "does not support sparse input"),
        (GLVQ(missing="ignore"), lambda X: X, "dense data is required"),
        (GLVQ(), lambda X: with_value(X, 5, 7, np.nan), r"batch 2, row 306: .* column 7 is nan, .* remove the row\.$"),
        (GLVQ(), lambda X: with_value(X, 0, 0, np.inf), r"batch 2, row 301: .* column 0 is inf"),
        (GLVQ(), lambda X: X[:, :-1], "batch 2, row 301: 29 features, but the rows before have 30"),
        (GLVQ(), lambda X: X.toarray(), "batch 2, row 301: the rows are dense, but those before are sparse"),
    ],
)
def test_bad_rows_name_their_place(model, change, message, rows):
    X, y = sparse.csr_array(rows[0]), rows[1]
    with pytest.raises((ValueError, TypeError), match=message):
        fit_batches(model, [(X[:300], y[:300]), (change(X[300:]), y[300:])], classes=[0, 1, 2])


MEMORY = """
import resource
import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
import lvq
from lvq.streaming import fit_batches

fit_batches.BUFFER_BYTES = 1 << 22

def batches(count):
    for seed in range(count):
        y = np.arange(5000) % 2
        yield sparse.random_array((5000, 5000), density=0.01, format="csr", rng=np.random.default_rng(seed)), y

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

make = lambda: make_pipeline(MaxAbsScaler(), lvq.GLVQ())
lvq.fit_batches(make(), lambda: batches(4))
before = peak()
lvq.fit_batches(make(), lambda: batches(24))
print(peak() - before)
"""


def test_memory_does_not_grow_with_the_stream():
    """24 batches store 72 MB, and are 4.8 GB as dense rows; after 4 of them no more than 12 MB are added."""
    result = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True)
    assert int(result.stdout) < 12 * 1024
