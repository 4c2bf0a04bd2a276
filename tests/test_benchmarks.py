"""The benchmarks: formulas against slow ones, workers that fail, stored results, and a quick run of every case."""

import json
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from benchmarks import cases, data, environments, goals, page
from benchmarks.__main__ import main
from benchmarks.cases import fit
from benchmarks.processes import Workers
from benchmarks.results import Store, read
from benchmarks.rounds import Entry, Run, interleave
from benchmarks.workers import measures
from benchmarks.workers.__main__ import run as run_task


@pytest.fixture(scope="module")
def workers():
    with Workers() as found:
        yield found


@pytest.fixture
def no_environments(monkeypatch, tmp_path):
    """No other library is installed."""
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "none")
    monkeypatch.setattr(environments, "has_r_class", lambda: False)


# -- formulas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [None, 2])
def test_scores_of_prototypes_are_those_of_loops(seed, rank, monkeypatch):
    monkeypatch.setattr(measures, "BLOCK", 7)
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((20, 4)), random.integers(0, 3, 20)
    W, labels = random.standard_normal((6, 4)), np.repeat(np.arange(3), 2)
    omega = None if rank is None else random.standard_normal((rank, 4))
    margins, correct = [], []
    for x, label in zip(X, y):
        d = [float(np.sum(((np.eye(4) if omega is None else omega) @ (x - w)) ** 2)) for w in W]
        d_plus, d_minus = (min(d[j] for j in range(6) if (labels[j] == label) == own) for own in (True, False))
        margins.append((d_plus - d_minus) / (d_plus + d_minus))
        correct.append(labels[int(np.argmin(d))] == label)
    found = measures.prototype_scores(X, y, W, labels, omega)
    assert found["objective"] == pytest.approx(np.mean(margins), abs=1e-12)
    assert found["accuracy"] == np.mean(correct)


def test_folds_cover_every_sample_once_in_a_repetition():
    found = data.folds("iris", 5, 2)
    assert found["folds"].shape == (150, 2)
    assert all(np.bincount(column).tolist() == [30] * 5 for column in found["folds"].T)


# -- environments and workers ------------------------------------------------------------------------------------------


def test_errors_of_a_task_are_results():
    task = {"operation": "versions", "packages": ["no-such-package"]}
    assert run_task(task)["status"].startswith("failed: PackageNotFoundError")
    with data.Data() as folders:
        where = folders.folder(data.blobs, 30, 2, 2)
        task = {"operation": "fit", "library": "lvq", "model": "unknown", "data": where}
        assert run_task(task) == {"status": "not offered: Ours has no model 'unknown'"}


def test_a_worker_that_is_stopped_or_dies_is_replaced(workers):
    task = {"operation": "versions", "packages": ["numpy"]}
    long = task | {"packages": 5000 * ["numpy"]}
    assert workers.ask("numpy", long, timeout=0.0)["status"] == "over 0 s"
    assert workers.ask("numpy", task)["versions"] == {"numpy": np.__version__}
    next(iter(workers.found.values())).process.kill()
    assert workers.ask("numpy", task)["status"] in ("ok", "failed: the process ended with code -9")
    assert workers.ask("numpy", task)["status"] == "ok"


# -- rounds ------------------------------------------------------------------------------------------------------------


class Scripted:
    """Stands for the workers: gives prepared seconds in turn, and records who was asked."""

    def __init__(self, seconds):
        self.seconds, self.asked = {library: list(values) for library, values in seconds.items()}, []

    def ask(self, library, task, *, threads, timeout, fresh):
        self.asked.append(library)
        value = self.seconds[library].pop(0)
        if value > timeout:
            return {"status": f"over {timeout:.0f} s"}
        return {"status": "ok", "wall": value, "cpu": value, "calls": 1, "evaluated": task["evaluate"]}


def test_participants_take_turns_and_the_first_round_is_apart():
    workers = Scripted({"lvq": [9.0, 1.0, 1.5, 0.5], "sklvq": [5.0, 3.0, 3.0]})
    rows = interleave(Run(workers, None, repeat=3), [Entry("lvq", {}), Entry("sklvq", {})])
    assert workers.asked == ["lvq", "sklvq", "lvq", "sklvq", "lvq", "lvq"]  # 3 s again would be more than 4 s in all
    assert rows[0]["cpu"] == {"median": 1.0, "q1": 0.75, "q3": 1.25, "n": 3, "first": 9.0}
    assert rows[0]["evaluated"] is True
    assert rows[1]["cpu"]["n"] == 1


def test_a_peer_is_stopped_at_a_multiple_of_our_time():
    run = Run(Scripted({"lvq": [3.0], "sklvq": [31.0]}), None, repeat=0)
    rows = interleave(run, [Entry("lvq", {}), Entry("sklvq", {})])
    assert rows[1] == {"library": "sklvq", "threads": 1, "status": "over 30 s"}


def test_a_peer_that_failed_on_a_smaller_set_is_left_out():
    model = {"model": "glvq", "rank": None, "per_class": 10}
    stopped = {"set": "digits", **model, "library": "sklvq", "status": "over 20 s"}
    cell = {"set": "mnist", **model}
    assert fit.known_to_fail("sklvq", cell, [stopped]) == "not run: over 20 s on digits, 10 per class"
    assert fit.known_to_fail("prosemble", cell, [stopped]) is None
    assert fit.known_to_fail("sklvq", {"set": "iris", **model}, [stopped]) is None
    assert fit.known_to_fail("sklvq", cell | {"per_class": 1}, [stopped]) is None


# -- results, goals and page -------------------------------------------------------------------------------------------


def test_a_store_goes_on_where_the_same_commit_was(tmp_path):
    header = {"commit": "a", "settings": {}, "machine": {}}
    Store(tmp_path, "fit", header).add({"set": "iris"}, [{"status": "ok", "value": float("nan")}], 1.0)
    again = Store(tmp_path, "fit", header)
    assert again.has({"set": "iris"})
    assert not again.has({"set": "wine"})
    assert again.rows[0]["value"] is None
    assert not read(tmp_path, "fit")["complete"]
    assert not Store(tmp_path, "fit", header | {"commit": "b"}).rows
    again.add({"set": "iris"}, [{"status": "skipped: no data"}], 1.0)
    assert [row["status"] for row in again.rows] == ["skipped: no data"]
    assert not again.has({"set": "iris"})
    assert not Store(tmp_path, "fit", header, fresh=True).rows


def fit_rows(ours, theirs, **peer):
    """A row of ours and one of a peer, for every model on digits."""
    shared = {"set": "digits", "threads": 1, "status": "ok", "objective": -0.5, "test_accuracy": 0.9, "tests": 500}
    return [
        {**shared, **model, "library": library, "cpu": {"median": seconds}, **(peer if library == "sklvq" else {})}
        for model in fit.models("digits")
        for library, seconds in (("lvq", ours), ("sklvq", theirs))
    ]


@pytest.mark.parametrize(
    ("rows", "held"),
    [
        (fit_rows(1.0, 5.1), True),
        (fit_rows(1.0, 4.9), False),
        (fit_rows(1.0, 9.0, objective=-0.6), False),
        (fit_rows(1.0, 9.0, test_accuracy=0.97), False),
        (fit_rows(1.0, 9.0, status="over 20 s"), True),
        (fit_rows(9.0, 9.0, status="over 20 s"), None),
        ([], None),
    ],
)
def test_the_goal_of_a_fit(rows, held):
    found = [goal for goal in goals.goals({"fit": rows}) if goal.goal.startswith("`fit` on digits")]
    assert [goal.held for goal in found] == [held]


def ask_here(workers, library, task, **_):
    """The result of a task without a process of its own, whose start would take longer than all tasks."""
    if workers.interpreter(library) is None:
        return {"status": environments.missing(library)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_task(task | {"library": library})


def test_a_quick_run_of_every_case_and_its_page(tmp_path, no_environments, monkeypatch, capsys):
    """Ours and what is in scikit-learn; the other libraries are reported as missing."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(Workers, "ask", ask_here)
    out = tmp_path / "results"
    assert main(["--quick", "--repeat", "0", "--out", str(out)]) == 0
    found = {name: read(out, name) for name in cases.NAMES}
    for name, content in found.items():
        assert content["complete"], name
        assert [row for row in content["rows"] if row["status"] == "ok"], name
        problems = {row["status"] for row in content["rows"]} - {"ok"}
        assert all(status.startswith(("not installed", "not offered")) for status in problems), problems
    assert {row["library"] for row in found["fit"]["rows"]} == {
        "lvq", "numpy", "scikit-learn", "sklvq", "sklearn-lvq", "prosemble", "prototorch"
    }  # fmt: skip
    assert str(environments.ROOT) not in json.dumps(found)
    text_of_page = page.write(out, tmp_path / "docs").read_text(encoding="utf-8")
    for name in cases.NAMES:
        assert f"## {cases.load(name).TITLE}" in text_of_page
    for target in re.findall(r"\]\((images/[^)]+)\)", text_of_page):
        assert (tmp_path / "docs" / target).read_text(encoding="utf-8").startswith("<?xml")
    assert "Not measured yet" in text_of_page  # the GPU alone
    drawn = tmp_path / "docs" / "images" / "benchmarks-coldstart.svg"
    before = drawn.read_bytes()
    cases.figure_of("coldstart")(found["coldstart"]["rows"], drawn)
    assert drawn.read_bytes() == before


@pytest.mark.slow
def test_the_gpu_script_runs_alone(tmp_path):
    pytest.importorskip("torch")
    command = [sys.executable, str(environments.ROOT / "benchmarks" / "gpu.py"), "--device", "cpu", "--quick"]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, capture_output=True, cwd=tmp_path)
    rows = read(tmp_path, "gpu")["rows"]
    assert [row["model"] for row in rows] == ["glvq", "gmlvq", "default", "glvq", "default"]
    assert {row["status"] for row in rows} == {"ok"}
    again = ["--out", str(tmp_path), "--sets", "embeddings"]
    subprocess.run([*command, *again], check=True, capture_output=True, cwd=tmp_path)
    assert read(tmp_path, "gpu")["rows"][:-1] == rows[:-1]


def test_the_page_in_the_repository_is_that_of_its_results(tmp_path):
    pytest.importorskip("matplotlib")
    made = page.write(docs=tmp_path).read_text(encoding="utf-8")
    assert made == (environments.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
