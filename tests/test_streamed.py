"""`fit_table(stream=True)`, `lvq fit --stream`: tables read in parts."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lvq.persistence import load
from lvq.persistence.files import to_bytes
from lvq.streaming import fitting
from lvq.workflow import fit_table, predict_table, validate_table
from lvq.workflow.streamed import HeldOut


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = rng.normal(size=(3000, 4)) + 4 * np.eye(4)[y]
    return pd.DataFrame(X * [1, 100, 1, 1], columns=["a", "b", "c", "d"]).assign(kind=np.array(["x", "y", "z"])[y])


def write(frame, path):
    {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".feather": frame.to_feather}[path.suffix](
        path, **({} if path.suffix == ".feather" else {"index": False})
    )
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_a_run(suffix, frame, tmp_path):
    path = write(frame, tmp_path / f"table{suffix}")
    result = fit_table(path, "kind", stream=True, model="glvq", out=tmp_path / "run")
    assert result.summary["scores"]["accuracy"] > 0.9
    assert result.summary["scores"]["n_samples"] == 750
    assert result.summary["data"]["n_train"] == 3000 - 750 - 675
    assert "read in parts" in result.notes[0]
    assert {file.name for file in (tmp_path / "run").iterdir()} == {"model.lvq", "report.html", "metrics.json"}
    model = load(tmp_path / "run" / "model.lvq")
    assert model.classes_.tolist() == ["x", "y", "z"]
    predicted = predict_table(tmp_path / "run", path, tmp_path / "predicted.csv")
    assert predicted.rows == 3000


def test_formats_give_the_same_model(frame, tmp_path):
    frame = frame.round(3)
    models = [
        fit_table(write(frame, tmp_path / f"table{suffix}"), "kind", stream=True).model.estimator_[-1].prototypes_
        for suffix in (".csv", ".parquet")
    ]
    np.testing.assert_array_equal(*models)


def test_a_guarantee(frame, tmp_path):
    path = write(frame, tmp_path / "table.parquet")
    result = fit_table(path, "kind", stream=True, model="gmlvq", max_error=0.1)
    assert result.summary["model"]["rejection"]["guarantee"]["max_error"] == 0.1


def test_held_out_rows_are_not_trained_on(frame, tmp_path, monkeypatch):
    """Every row is either trained on once, or in the test, or in the calibration."""
    from lvq.workflow import streamed

    seen = []

    def recording(pipeline, batches, **settings):
        seen.extend(X for X, _ in batches.function())
        return fit(pipeline, batches, **settings)

    fit = streamed.fit_batches
    monkeypatch.setattr(streamed, "fit_batches", recording)
    fitted = streamed.fit_streamed(
        [write(frame[:1000], tmp_path / "one.csv"), write(frame[1000:], tmp_path / "two.csv")],
        "kind",
        streamed.streaming_model(make()),
        drop=("d",),
        test_size=0.2,
        seed=1,
    )
    parts = [*seen, fitted.test[0], fitted.calibration[0]]
    assert [len(fitted.test[0]), fitted.n_train] == [600, sum(map(len, seen))]
    used = np.sort(np.concatenate([part["a"].to_numpy() for part in parts]))
    np.testing.assert_allclose(used, np.sort(frame["a"]), rtol=1e-15)
    assert list(fitted.test[0]) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["lvq", "gmlvq", "glvq", "lvq1"])
def test_models_of_the_command_line_can_be_streamed(name):
    from lvq.workflow import make_model
    from lvq.workflow.streamed import streaming_model

    model = streaming_model(make_model(name))
    assert hasattr(model, "partial_fit")


def make():
    from lvq import GLVQ

    return GLVQ()


def test_rows_are_drawn_without_memory_for_all():
    drawn = HeldOut.drawn(10**12, 0.25, seed=0)
    assert len(drawn.rows) == 40_000
    assert drawn.for_test.sum() == 20_000
    assert (np.diff(drawn.rows) > 0).all()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda frame: frame.assign(a="text"), {}, r"table.csv, row 2: the column 'a' holds 'text', not a number"),
        (
            lambda frame: frame.assign(a=frame["a"].where(frame.index != 70)),
            {},
            r"table.csv, row 72: the value in column",
        ),
        (
            lambda frame: frame.assign(kind=frame["kind"].where(frame.index != 70)),
            {},
            r"1 rows of .* have no value of 'kind', the first in .*table.csv, row 72; with --stream",
        ),
        (
            lambda frame: frame.assign(kind=frame["kind"].where(frame.index != 70, "new")),
            {},
            r"of which fewer rows have 'new' \(the first of 'new': .*table.csv, row 72\)",
        ),
        (lambda frame: frame[:500], {}, "has 500 rows; --stream"),
        (lambda frame: frame.assign(kind="x"), {}, "got 1 classes"),
        (lambda frame: frame, {"model": "lvq-cv"}, "LVQClassifierCV needs the whole table"),
        (lambda frame: frame, {"categorical": ["a"]}, "without a design; leave out categorical"),
        (lambda frame: frame, {"encoding": "latin-1"}, "without a design; leave out encoding"),
        (lambda frame: frame, {"class_weight": "balanced"}, "cannot balance the classes.* Give the weights"),
        (lambda frame: frame, {"drop": ["e"]}, "has no column 'e'"),
        (lambda frame: frame, {"drop": ["a", "b", "c", "d"]}, "no column that can be a feature"),
    ],
)
def test_bad_tables(change, options, message, frame, tmp_path):
    path = write(change(frame), tmp_path / "table.csv")
    with pytest.raises(ValueError, match=message):
        fit_table(path, "kind", stream=True, out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_several_tables_and_a_checkpoint(frame, tmp_path, monkeypatch):
    """A run that is interrupted between batches continues; the result is that of the whole table."""
    from lvq.streaming.checkpoints import CheckpointFile

    parts = [write(frame[:1700], tmp_path / "one.parquet"), write(frame[1700:], tmp_path / "two.parquet")]
    whole = fit_table(write(frame, tmp_path / "all.parquet"), "kind", stream=True, model="glvq")
    writes, write_file = [], CheckpointFile.write

    def interrupted(self, checkpoint):
        write_file(self, checkpoint)
        writes.append(checkpoint)
        if len(writes) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(CheckpointFile, "write", interrupted)
    options = {"stream": True, "model": "glvq", "checkpoint": tmp_path / "run.checkpoint"}
    monkeypatch.setattr("lvq.streaming.fitting._Run.to_the_end", _with_checkpoints)
    with pytest.raises(KeyboardInterrupt):
        fit_table(parts, "kind", **options)
    result = fit_table(parts, "kind", **options)
    np.testing.assert_array_equal(result.model.estimator_[-1].prototypes_, whole.model.estimator_[-1].prototypes_)
    assert result.summary["data"]["name"] == "one.parquet, two.parquet"
    with pytest.raises(ValueError, match="belongs to a run with another batches"):
        fit_table(parts[0], "kind", **options)


def _with_checkpoints(run, source, to_the_end=fitting._Run.to_the_end):
    run.settings = run.settings._replace(every=1)
    return to_the_end(run, source)


def test_a_checkpoint_needs_a_stream(frame, tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint \(--checkpoint\) needs stream=True"):
        fit_table(write(frame, tmp_path / "table.csv"), "kind", checkpoint=tmp_path / "run.checkpoint")


@pytest.fixture
def gaps(frame):
    """A fifth of the numbers is missing, all of one row; the second half of a column."""
    holes = np.random.default_rng(1).random((3000, 4)) < 0.2
    holes[17], holes[1500:, 3] = True, True
    return frame.assign(**frame[["a", "b", "c", "d"]].mask(holes))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
@pytest.mark.parametrize("model", ["lvq", "glvq", "gmlvq"])
def test_missing_numbers_are_ignored(model, suffix, gaps, tmp_path):
    path = write(gaps, tmp_path / f"table{suffix}")
    result = fit_table(path, "kind", stream=True, model=model, missing="ignore", out=tmp_path / "run")
    assert result.summary["scores"]["accuracy"] > 0.8
    section = result.summary["missing"]
    assert section["way"] == section["requested"] == "ignore"
    assert section["fraction"] == pytest.approx(0.3, abs=0.02)
    assert "in 4 of 4 columns) were ignored" in section["sentence"]
    assert section["sentence"] in result.summary["protocol"]
    predicted = predict_table(tmp_path / "run", path, tmp_path / "predicted.csv")
    assert predicted.rows == 3000
    assert "missing value" not in predicted.reasons


def test_without_missing_numbers_it_is_the_ordinary_run(frame, tmp_path):
    path = write(frame, tmp_path / "table.parquet")
    one, two = (fit_table(path, "kind", stream=True, model="gmlvq", missing=way) for way in ("auto", "ignore"))
    np.testing.assert_array_equal(one.model.estimator_[-1].prototypes_, two.model.estimator_[-1].prototypes_)
    assert one.summary["missing"] is two.summary["missing"] is None


def test_a_column_without_any_number(frame, tmp_path):
    """It stays missing everywhere, and a note tells it."""
    path = write(frame.assign(e=np.nan), tmp_path / "table.csv")
    result = fit_table(path, "kind", stream=True, model="gmlvq", missing="ignore")
    assert result.summary["scores"]["accuracy"] > 0.9
    assert np.isfinite(result.model.estimator_[-1].prototypes_).all()
    assert "Columns without a value in the training rows, which the model cannot use: 'e'." in result.notes


def test_an_interrupted_run_with_missing_numbers_continues(gaps, tmp_path, monkeypatch):
    from lvq.streaming.checkpoints import CheckpointFile

    path = write(gaps, tmp_path / "table.csv")
    options = {"stream": True, "model": "gmlvq", "missing": "ignore"}
    monkeypatch.setattr("lvq.streaming.fitting._Run.to_the_end", _with_checkpoints)
    whole = fit_table(path, "kind", **options)
    write_file = CheckpointFile.write

    def interrupted(self, checkpoint):
        write_file(self, checkpoint)
        raise KeyboardInterrupt

    monkeypatch.setattr(CheckpointFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit_table(path, "kind", **options, checkpoint=tmp_path / "run.checkpoint")
    monkeypatch.setattr(CheckpointFile, "write", write_file)
    again = fit_table(path, "kind", **options, checkpoint=tmp_path / "run.checkpoint")
    assert to_bytes(again.model.estimator_) == to_bytes(whole.model.estimator_)


@pytest.mark.parametrize("n_files", [1, 2])
def test_samples_are_named_by_their_row_of_the_file(n_files, frame, tmp_path):
    """The values of a sample in the report are those of the row that its name tells."""
    parts = {"one.csv": frame} if n_files == 1 else {"one.csv": frame[:1200], "two.csv": frame[1200:]}
    paths = [write(part, tmp_path / name) for name, part in parts.items()]
    result = fit_table(paths if n_files > 1 else paths[0], "kind", stream=True, model="glvq")
    points = result.summary["map"]["points"]
    classes = result.summary["data"]["classes"]
    for name, true in zip(points["name"], points["true"], strict=True):
        file, row = ("one.csv", name) if n_files == 1 else name.split(":")
        line = (tmp_path / file).read_text().splitlines()[int(row) - 1]  # the header is row 1
        assert line.split(",")[-1] == classes[true]


def test_drift_since_a_stream(frame, tmp_path):
    """The run holds a reference: the same source has not drifted, a moved column has."""
    path = write(frame, tmp_path / "table.csv")
    fit_table(path, "kind", stream=True, model="glvq", out=tmp_path / "run")
    assert validate_table(tmp_path / "run", path).summary["drift"]["n_drifted"] == 0
    moved = write(frame.assign(b=frame["b"] + 300), tmp_path / "moved.csv")
    drift = validate_table(tmp_path / "run", moved).summary["drift"]
    assert [row["name"] for row in drift["columns"] if row["drifted"]] == ["b"]


@pytest.mark.parametrize("n_files", [1, 2])
def test_the_row_at_which_a_run_continues(n_files, frame, tmp_path, monkeypatch, caplog):
    from lvq.streaming.checkpoints import CheckpointFile

    parts = [frame] if n_files == 1 else [frame[:1000], frame[1000:]]
    paths = [write(part, tmp_path / f"table{number}.csv") for number, part in enumerate(parts)]
    options = {"stream": True, "model": "glvq", "checkpoint": tmp_path / "run.checkpoint"}
    monkeypatch.setattr(fitting._Run, "to_the_end", _in_small_steps)
    write_file, count = CheckpointFile.write, itertools.count()

    def interrupted(self, checkpoint):
        write_file(self, checkpoint)
        if checkpoint.progress.stage == 1 and next(count) == 12:
            raise KeyboardInterrupt

    monkeypatch.setattr(CheckpointFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit_table(paths, "kind", **options)
    with caplog.at_level("INFO", logger="lvq"):
        fit_table(paths, "kind", **options)
    held_out = HeldOut.drawn(3000, 0.25, seed=0)
    row = np.setdiff1d(np.arange(3000), held_out.rows)[1200]  # 12 batches of 100 rows are done
    place = f"row {row + 2} of table0.csv" if n_files == 1 else f"row {row - 1000 + 2} of table1.csv"
    assert f"in training pass 1 of 1, with the rows from {place} on" in caplog.messages[0]
    caplog.clear()
    with caplog.at_level("INFO", logger="lvq"):
        fit_table(paths, "kind", **options)
    assert caplog.messages == [
        f"The checkpoint {tmp_path / 'run.checkpoint'} holds the finished training, which is used; remove it to train "
        "again."
    ]


def _in_small_steps(run, source, to_the_end=fitting._Run.to_the_end):
    run.settings = run.settings._replace(every=1, batch_rows=100, shuffle_rows=0)
    return to_the_end(run, source)
