"""`fit_batches`: the same as calls of `partial_fit` by hand, from functions and files, in bounded memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from lvq import GLVQ, GMLVQ, LVQ1, RSLVQ, LVQClassifier, fit_batches
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online


def cut(X, y, size):
    """A function that returns batches."""
    return lambda: ((X[begin : begin + size], y[begin : begin + size]) for begin in range(0, len(X), size))


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        GLVQ,
        GMLVQ,
        LVQ1,
        RSLVQ,
        lambda **given: LVQClassifier(relevance=Matrix(local="prototype"), n_prototypes=2, **given),
    ],
)
def test_it_is_partial_fit_batch_by_batch(make, rows):
    X, y = rows
    expected = make(random_state=3)
    for _ in range(2):
        for begin in range(0, len(X), 64):
            expected.partial_fit(X[begin : begin + 64], y[begin : begin + 64], classes=[0, 1, 2])
    model = fit_batches(make(random_state=3), cut(X, y, 130), epochs=2, batch_rows=64, shuffle_rows=0)
    np.testing.assert_array_equal(model.prototypes_, expected.prototypes_)
    assert model.n_iter_ == expected.n_iter_


def test_the_first_pass_standardises(rows):
    X, y = rows
    model = fit_batches(make_pipeline(StandardScaler(), GLVQ()), cut(X, y, 130), batch_rows=64)
    np.testing.assert_allclose(model[0].mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model[0].var_, X.var(axis=0), rtol=1e-12)
    assert model.score(X, y) > 0.9


def test_a_scaler_that_returns_frames(frame, tmp_path):
    """The model gets their names, as in a pipeline."""
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    scaler = StandardScaler().set_output(transform="pandas")
    model = fit_batches(make_pipeline(scaler, GLVQ()), [tmp_path / "rows.parquet"], target="kind", batch_rows=64)
    assert model[-1].feature_names_in_.tolist() == frame.columns.drop("kind").tolist()
    plain = make_pipeline(StandardScaler(), GLVQ())
    fit_batches(plain, [tmp_path / "rows.parquet"], target="kind", batch_rows=64)
    np.testing.assert_array_equal(model[-1].prototypes_, plain[-1].prototypes_)


def test_the_buffer_shuffles_by_the_seed(rows):
    X, y = rows
    found = [
        fit_batches(
            GLVQ(solver=Online(shuffle=False)), cut(X, y, 100), batch_rows=50, shuffle_rows=200, random_state=seed
        ).prototypes_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_every_row_is_used_once_in_each_epoch(rows):
    X, y = rows
    seen = []

    class Recording(GLVQ):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            seen.append(X.copy())
            return super().partial_fit(X, y, classes)

    fit_batches(Recording(), cut(X, y, 130), classes=[0, 1, 2], epochs=3, batch_rows=50, shuffle_rows=170)
    used = np.concatenate(seen)
    epochs = used.reshape(3, *X.shape)
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch, axis=0), np.sort(X, axis=0))
    assert (epochs[0] != epochs[1]).any()
    first = epochs[0][:170]  # rows stay within their buffer
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(X[:170], axis=0))


def test_float32_stays(rows):
    X, y = rows
    assert fit_batches(GLVQ(), cut(X.astype(np.float32), y, 100)).prototypes_.dtype == np.float32


def test_given_classes_need_no_first_pass(rows):
    X, y = rows
    calls = []

    def batches():
        calls.append(1)
        return cut(X, y, 100)()

    model = fit_batches(GLVQ(), batches, classes=[0, 1, 2, 3])
    assert len(calls) == 1
    assert model.classes_.tolist() == [0, 1, 2, 3]
    fit_batches(GLVQ(), batches)
    assert len(calls) == 3


def test_parameters_stay_and_an_older_fit_is_forgotten(rows, frame):
    X, y = rows
    random_state = np.random.RandomState(0)
    model = GLVQ(random_state=random_state).fit(frame.drop(columns="kind"), y)
    assert fit_batches(model, cut(X, y, 100)) is model
    assert model.random_state is random_state
    assert not hasattr(model, "feature_names_in_")
    assert fit_batches(GLVQ(), cut(X, y, 100)).random_state is None


# -- kinds of batches --------------------------------------------------------------------------------------------------


def written(frame, folder, kind):
    """Two files of the frame."""
    paths = []
    for number, part in enumerate((frame[:430], frame[430:])):
        path = folder / f"part{number}.{kind}"
        if kind == "csv":
            part.to_csv(path, index=False)
        else:
            pq.write_table(pa.Table.from_pandas(part, preserve_index=False), path, row_group_size=150)
        paths.append(path)
    return paths


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_what_their_rows_are(kind, frame, tmp_path):
    pipeline = make_pipeline(StandardScaler(), GLVQ())
    settings = {"batch_rows": 64, "shuffle_rows": 300, "epochs": 2}
    X, y = frame.drop(columns="kind"), frame["kind"].to_numpy(dtype=str)
    expected = fit_batches(clone(pipeline), [(X, y)], **settings)
    model = fit_batches(pipeline, written(frame, tmp_path, kind), target="kind", **settings)
    np.testing.assert_array_equal(model[-1].prototypes_, expected[-1].prototypes_)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("convert", [lambda table: table, pa.Table.from_pandas])
def test_tables_in_memory(convert, frame):
    batches = [convert(frame[:100]), convert(frame[frame.columns[::-1]][100:200])]  # columns are matched by name
    model = fit_batches(GLVQ(), batches, target="kind")
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.classes_.tolist() == ["x", "y", "z"]


def test_classes_of_files(rows, frame, tmp_path):
    """Integers stay integers in Parquet; in CSV the given classes tell."""
    numbered = frame.assign(kind=rows[1])
    parquet, text = written(numbered, tmp_path, "parquet"), written(numbered, tmp_path, "csv")
    assert fit_batches(GLVQ(), parquet, target="kind").classes_.tolist() == [0, 1, 2]
    assert fit_batches(GLVQ(), text, target="kind").classes_.tolist() == ["0", "1", "2"]
    assert fit_batches(GLVQ(), text, target="kind", classes=[0, 1, 2]).classes_.tolist() == [0, 1, 2]
    assert fit_batches(GLVQ(), parquet, target="kind", classes=["0", "1", "2"]).classes_.tolist() == ["0", "1", "2"]


# -- bad input: a message that names file and row, and nothing changes -------------------------------------------------


def check_refused(message, batches, error=ValueError, **settings):
    model = make_pipeline(StandardScaler(), GLVQ())
    with pytest.raises(error, match=message):
        fit_batches(model, batches, **settings)
    for step in model:
        with pytest.raises(NotFittedError):
            check_is_fitted(step)


def test_another_width_in_the_seventh_batch(rows):
    X, y = rows
    batches = list(cut(X, y, 100)())
    batches[6] = (batches[6][0][:, :3], batches[6][1])
    check_refused("batch 7, row 601: 3 features, but the rows before have 4", batches)


def test_other_columns(frame):
    X, y = frame[["a", "b"]], frame["kind"]
    check_refused("batch 2, row 51: the columns are 'b', 'a'", [(X[:50], y[:50]), (X[50:][["b", "a"]], y[50:])])


def test_a_new_class_in_the_last_file(frame, tmp_path):
    paths = written(frame, tmp_path, "parquet")
    last = frame[430:].copy()
    last.iloc[-1, -1] = "new"
    last.to_parquet(paths[1], index=False)
    message = r"part1.parquet, row 571: the class 'new' is not among the classes \['x', 'y', 'z'\]"
    check_refused(message, paths, target="kind", classes=["x", "y", "z"])


@pytest.mark.parametrize(("kind", "value"), [("csv", np.nan), ("parquet", np.inf)])
def test_values_that_are_not_finite(kind, value, frame, tmp_path):
    frame.iloc[800, 1] = value
    paths = written(frame, tmp_path, kind)
    check_refused(f"part1.{kind}, row 372: the value in column 'b' is {value}", paths, target="kind")


def test_a_missing_class(frame, tmp_path):
    frame.iloc[800, 4] = None
    check_refused("part1.csv, row 372: the class is missing", written(frame, tmp_path, "csv"), target="kind")
    X = np.zeros((2, 2))
    check_refused("batch 1, row 2: the class is missing", [(X, np.array([0, np.nan]))])


def test_a_text_in_a_column_of_numbers(frame, tmp_path):
    frame = frame.astype({"b": object})
    frame.iloc[800, 1] = "many"
    check_refused(
        r"'b' of .*part1\.csv must hold numbers, but holds 'many' in row 372",
        written(frame, tmp_path, "csv"),
        target="kind",
    )


def test_a_file_without_a_column(frame, tmp_path):
    paths = written(frame, tmp_path, "csv")
    frame.drop(columns="c").to_csv(paths[1], index=False)
    check_refused("part1.csv has no column 'c'", paths, target="kind")


@pytest.mark.parametrize(
    ("batches", "message", "error"),
    [
        (iter([]), "only once: give the function that makes it", TypeError),
        ([], "is an empty list; give at least one", ValueError),
        (lambda: [], "got no rows", ValueError),
        (lambda: [(np.zeros((0, 2)), [])], "got no rows", ValueError),
        ("rows.csv", "a table needs target=", ValueError),
        ([(np.zeros((3, 2)), [0, 1])], r"batch 1: X must have two dimensions .* \(3, 2\) and \(2,\)", ValueError),
        ([(np.zeros((3, 2)), [0, 1, 0], 1)], "batch 1: a batch must be a pair", ValueError),
        ([([["a"]], [0])], "batch 1: X must hold numbers", ValueError),
        ([pd.DataFrame({"a": [1]})], "batch 1: .* a table needs target=", ValueError),
        ([(np.zeros((3, 2)), [0, 0, 0])], "at least two classes", ValueError),
    ],
)
def test_bad_batches(batches, message, error):
    check_refused(message, batches, error)


def test_models_and_numbers_that_do_not_fit(rows):
    check_refused("epochs of fit_batches must be 1 or more, got -1", [rows], epochs=-1)
    with pytest.raises(TypeError, match=r"needs an estimator with partial_fit.* got SVC"):
        fit_batches(SVC(), [rows])
    with pytest.raises(TypeError, match=r"StandardScaler, LVQClassifier\. .*has it with solver='online'"):
        fit_batches(make_pipeline(StandardScaler(), LVQClassifier(missing="ignore")), [rows])
    with pytest.raises(TypeError, match="got StandardScaler, MinMaxScaler, GLVQ"):
        fit_batches(make_pipeline(StandardScaler(), MinMaxScaler(), GLVQ()), [rows])
