"""The experiment on few rows: which sets it finds, and which rows it takes."""

import sys

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from experiments import few_shots
from experiments.few_shots import FEWER_GROUPS, GROUPS, INTENTS, task_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Twenty groups of 30 training and 10 test rows, the first feature of which is the number of the row."""
    random, parts = np.random.RandomState(0), {}
    for part, rows in (("train", 30), ("test", 10)):
        y = np.repeat(np.arange(20), rows)
        parts[f"X_{part}"] = normalize(np.eye(20)[y] + 0.3 * random.normal(size=(len(y), 20)))
        parts[f"y_{part}"] = y
    np.savez(tmp_path / few_shots.FILES[GROUPS], **parts)
    monkeypatch.setenv("LVQ_DATA", str(tmp_path))
    return tmp_path


def test_each_class_has_so_many_rows_and_parts_have_none_in_common(folder):
    for draw in range(2):
        task = task_of(GROUPS, 5, draw)
        assert np.bincount(task.train.y).tolist() == [5] * 20
        rows = {part: {row.tobytes() for row in getattr(task, part).X} for part in ("train", "validation", "test")}
        assert not rows["train"] & rows["validation"]
        assert len(rows["validation"]) == 120
        assert len(rows["test"]) == 200


def test_groups_that_are_left_out_are_foreign_alone(folder):
    whole = task_of(GROUPS, 1, 0).test
    names = {row.tobytes(): label for row, label in zip(whole.X, whole.y)}
    for draw in range(3):
        task = task_of(FEWER_GROUPS, 2, draw)
        foreign = {names[row.tobytes()] for row in task.foreign}
        known = {names[row.tobytes()] for row in task.test.X}
        assert len(foreign) == 5
        assert known == set(range(20)) - foreign
        assert [sorted(set(part.y.tolist())) for part in task[:3]] == [list(range(15))] * 3
        old = [names[row.tobytes()] for row in task.test.X]
        assert np.array_equal(np.argsort(old, kind="stable"), np.argsort(task.test.y, kind="stable"))


def test_sets_without_a_file_are_left_out(folder, monkeypatch, capsys):
    monkeypatch.setattr(few_shots, "computed", lambda wanted, *_: {cell: {} for cell in wanted})
    monkeypatch.setattr(few_shots, "summary", lambda found: str(sorted({cell.dataset for cell in found})))
    monkeypatch.setattr(sys, "argv", ["few_shots", "--quick", "--out", str(folder / "cells.jsonl")])
    few_shots.main()
    shown = capsys.readouterr().out
    assert f"{INTENTS}: skipped, as clinc150_minilm.npz is not in the folder" in shown
    assert str([FEWER_GROUPS, GROUPS]) in shown


def test_a_cell_of_each_model(folder):
    for cell in few_shots.cells([FEWER_GROUPS], ["class mean", "k-NN", "cosine", "logistic regression"], [5], 1):
        found = few_shots.compute(cell)
        assert found["accuracy"] > 50
        assert all(0.5 < area < 1 for area in found["areas"].values())
