"""Checkpoints: a run that was interrupted or killed anywhere has the bits of an undisturbed one."""

import errno
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GLVQ, fit_batches, load, save
from lvq.estimators.registry import estimator_types
from lvq.files import write_atomically
from lvq.persistence import LoadError
from lvq.persistence.files import to_bytes
from lvq.streaming import fitting
from lvq.streaming.checkpoints import CheckpointFile

from .conftest import make_rows

SETTINGS = {"epochs": 2, "batch_rows": 50, "shuffle_rows": 170, "every": 1}


class Stop(Exception):
    """An interruption."""


@pytest.fixture(autouse=True)
def small_buffer(monkeypatch):
    """Groups of one batch also in the first pass, so that it can be interrupted."""
    monkeypatch.setattr("lvq.streaming.fitting.BUFFER_BYTES", 1)


@pytest.fixture
def stop_after(monkeypatch):
    """A function: after so many batches, of any pass, the next one is interrupted; None for never."""
    learn = fitting._Run._learn

    def stop_after(count):
        left = [count]

        def counted(self, X, y):
            if left[0] == 0:
                raise Stop
            if left[0] is not None:
                left[0] -= 1
            learn(self, X, y)

        monkeypatch.setattr(fitting._Run, "_learn", counted)

    return stop_after


def two_files(frame, folder):
    paths = [folder / "one.parquet", folder / "two.parquet"]
    frame[:430].to_parquet(paths[0], index=False)
    frame[430:].to_parquet(paths[1], index=False)
    return paths


@pytest.mark.parametrize("every", [1, 3])
def test_interrupted_at_every_batch(every, frame, tmp_path, stop_after):
    paths, file = two_files(frame, tmp_path), tmp_path / "run.checkpoint"
    settings = SETTINGS | {"every": every, "target": "kind", "reseed_after": 40}
    expected = to_bytes(fit_batches(make_pipeline(StandardScaler(), GLVQ(n_prototypes=2)), paths, **settings))
    for count in (0, 3, 21, 33, 57) if every == 1 else (2, 27, 50):
        model = make_pipeline(StandardScaler(), GLVQ(n_prototypes=2))
        stop_after(count)
        with pytest.raises(Stop):
            fit_batches(model, paths, checkpoint=file, **settings)
        assert not hasattr(model[-1], "model_")
        stop_after(None)
        fit_batches(model, paths, checkpoint=file, **settings)
        assert to_bytes(model) == expected
        file.unlink()


def test_interrupted_again_and_again(frame, tmp_path, stop_after):
    """Four batches at a time, in all of which a checkpoint is written."""
    paths, file = two_files(frame, tmp_path), tmp_path / "run.checkpoint"
    expected = to_bytes(fit_batches(make_pipeline(StandardScaler(), GLVQ()), paths, target="kind", **SETTINGS))
    model = make_pipeline(StandardScaler(), GLVQ())
    for _ in range(100):
        stop_after(4)
        try:
            fit_batches(model, paths, checkpoint=file, target="kind", **SETTINGS)
            break
        except Stop:
            continue
    assert to_bytes(model) == expected


@pytest.mark.parametrize("name", sorted(set(estimator_types()) - {"LVQClassifierCV"}))
def test_every_estimator(name, rows, tmp_path, stop_after):
    """From batches of a function, after a class that appears late."""
    X, y = rows
    X, y = X[np.argsort(y == 2, kind="stable")], np.sort(y == 2).astype(int)
    batches = [(X[begin : begin + 80], y[begin : begin + 80]) for begin in range(0, len(X), 80)]
    given = {"ridge": 0.0} if name == "LVQClassifier" else {}
    make = estimator_types()[name]
    settings = {"classes": [0, 1], "batch_rows": 100, "shuffle_rows": 200, "every": 2}
    expected = fit_batches(make(**given), batches, **settings)
    stop_after(7)
    with pytest.raises(Stop):
        fit_batches(make(**given), batches, checkpoint=tmp_path / "run", **settings)
    stop_after(None)
    model = fit_batches(make(**given), batches, checkpoint=tmp_path / "run", **settings)
    assert to_bytes(model) == to_bytes(expected)


def test_a_run_that_has_ended(rows, tmp_path):
    one = fit_batches(GLVQ(), [rows], checkpoint=tmp_path / "run")
    two = fit_batches(GLVQ(), lambda: pytest.fail("read again"), checkpoint=tmp_path / "run")
    assert to_bytes(two) == to_bytes(one)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 3}, "another epochs"),
        ({"batch_rows": 51}, "another batch_rows"),
        ({"shuffle_rows": 0}, "another shuffle_rows"),
        ({"random_state": 1}, "another random_state"),
        ({"classes": ["x", "y", "z"]}, "another classes"),
        ({"features": ["a", "b"]}, "another features"),
        ({"reseed_after": 3, "epochs": 3}, "another epochs, reseed_after"),
    ],
)
def test_a_checkpoint_of_other_arguments(change, message, frame, tmp_path):
    paths, file = two_files(frame, tmp_path), tmp_path / "run.checkpoint"
    fit_batches(GLVQ(), paths, target="kind", checkpoint=file, **SETTINGS)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=rf"run.checkpoint belongs to a run with {message}; give the same"):
        fit_batches(GLVQ(), paths, target="kind", checkpoint=file, **SETTINGS | change)
    assert file.read_bytes() == before


def test_a_checkpoint_of_another_model_or_file(frame, tmp_path):
    paths, file = two_files(frame, tmp_path), tmp_path / "run.checkpoint"
    fit_batches(GLVQ(), paths, target="kind", checkpoint=file, **SETTINGS)
    with pytest.raises(ValueError, match="another estimator; give"):
        fit_batches(GLVQ(n_prototypes=2), paths, target="kind", checkpoint=file, **SETTINGS)
    frame[431:].to_parquet(paths[1], index=False)
    with pytest.raises(ValueError, match=r"another batches \(files\); give"):
        fit_batches(GLVQ(), paths, target="kind", checkpoint=file, **SETTINGS)


def test_other_files_are_not_checkpoints(rows, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"text")
    with pytest.raises(LoadError, match="is not a checkpoint"):
        fit_batches(GLVQ(), [rows], checkpoint=path)
    path.unlink()
    fit_batches(GLVQ(), [rows], checkpoint=path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(LoadError, match="is damaged"):
        fit_batches(GLVQ(), [rows], checkpoint=path)
    with pytest.raises(OSError, match="is a folder"):
        fit_batches(GLVQ(), [rows], checkpoint=tmp_path)


def test_a_full_disk(rows, tmp_path, monkeypatch):
    """The checkpoint before stays, and nothing half-written."""
    X, y = rows
    path, writes = tmp_path / "run", []

    def full(descriptor):
        writes.append(descriptor)
        if len(writes) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("lvq.files.os.fsync", full)
    model = GLVQ()
    with pytest.raises(OSError, match=r"run could not be written \(No space left on device\); the one before is kept"):
        fit_batches(model, [(X, y)], checkpoint=path, batch_rows=100, every=2)
    assert not hasattr(model, "model_")
    assert [found.name for found in tmp_path.iterdir()] == ["run"]
    monkeypatch.undo()
    fit_batches(model, [(X, y)], checkpoint=path, batch_rows=100, every=2)
    assert to_bytes(model) == to_bytes(fit_batches(GLVQ(), [(X, y)], batch_rows=100))


def test_the_seed_of_a_run_without_one(rows, tmp_path, stop_after):
    """random_state=None draws a seed once; the checkpoint keeps it."""
    X, y = rows
    stop_after(12)
    with pytest.raises(Stop):
        fit_batches(GLVQ(), [(X, y)], checkpoint=tmp_path / "run", random_state=None, batch_rows=100, every=1)
    stop_after(None)
    content = (tmp_path / "run").read_bytes()
    results = []
    for _ in range(2):
        (tmp_path / "run").write_bytes(content)
        model = fit_batches(GLVQ(), [(X, y)], checkpoint=tmp_path / "run", random_state=None, batch_rows=100, every=1)
        results.append(to_bytes(model))
    assert results[0] == results[1]


# -- SIGKILL -----------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import lvq
folder, missing, checkpoint = sys.argv[1:]
model = make_pipeline(StandardScaler(), lvq.GMLVQ(missing=missing))
print("ready", flush=True)
lvq.fit_batches(
    model, [folder + "/one.parquet", folder + "/two.csv"], target="kind", epochs=3, batch_rows=20, shuffle_rows=500,
    checkpoint=checkpoint or None, every=3,
)
lvq.save(model, folder + "/model.lvq")
"""


def run_program(folder, missing, checkpoint="", kill_after=None):
    """Run the program; killed after so many checkpoints and seconds."""
    command = [sys.executable, "-c", PROGRAM, str(folder), missing, str(checkpoint)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if kill_after is not None:
            count, seconds = kill_after
            written, last = 0, inode(checkpoint)
            while written < count and process.poll() is None:
                present = inode(checkpoint)
                written, last = written + (present != last), present
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        assert process.wait() == (0 if kill_after is None else -signal.SIGKILL)


def inode(path):
    """A number that changes when a file is replaced."""
    return path.stat().st_mtime_ns if path.exists() else None


@pytest.mark.parametrize("missing", ["raise", "ignore"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_killed_at_random_moments(seed, missing, tmp_path):
    X, y = make_rows(2000, seed)
    if missing == "ignore":
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=np.array(["x", "y", "z"])[y])
    frame[:700].to_parquet(tmp_path / "one.parquet", index=False)
    frame[700:].to_csv(tmp_path / "two.csv", index=False)
    run_program(tmp_path, missing)
    expected = (tmp_path / "model.lvq").read_bytes()
    (tmp_path / "model.lvq").unlink()
    draw, checkpoint = random.Random(seed), tmp_path / "run.checkpoint"
    for _ in range(3):  # of about 130 checkpoints, so that no run ends before it is killed
        run_program(tmp_path, missing, checkpoint, (draw.randrange(30), draw.uniform(0, 0.02)))
        assert not (tmp_path / "model.lvq").exists()
    run_program(tmp_path, missing, checkpoint)
    assert (tmp_path / "model.lvq").read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".tmp") == []
    save(load(tmp_path / "model.lvq"), tmp_path / "again.lvq")
    assert lvq.load(tmp_path / "again.lvq").predict(frame[["a", "b", "c", "d"]]).shape == (2000,)


def test_only_remains_of_the_same_checkpoint_are_removed(tmp_path):
    """Also beside the file that a link points to, and where the name has characters of a pattern."""
    (tmp_path / "kept").mkdir()
    link, target = tmp_path / "run[1]", tmp_path / "kept" / "run[2]"
    link.symlink_to(target)
    own, other = tmp_path / "kept" / ".run[2]-abcd_123.tmp", tmp_path / "kept" / ".run[2]-b-abcd_123.tmp"
    own.touch()
    other.touch()
    CheckpointFile(link).remove_remains()
    assert not own.exists()
    assert other.exists()


def test_names_of_remains(tmp_path):
    """Their length is that of the tempfile module."""
    with write_atomically(tmp_path / "run"):
        [remains] = tmp_path.iterdir()
    remains.touch()
    CheckpointFile(tmp_path / "run").remove_remains()
    assert not remains.exists()
