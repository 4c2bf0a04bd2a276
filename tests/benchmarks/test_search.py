"""The benchmark of the search: its cells, its file of results and its table, on a set that scikit-learn has."""

import json

import pytest

from benchmarks.search import DEFAULT, GRID, METHODS, SEARCH, as_markdown, measure, summary
from lvq import LVQClassifier, LVQClassifierCV


def row(dataset, fold, grid, search, default=0.1):
    parts = {GRID: (0.8, grid), SEARCH: (0.9, search), DEFAULT: (0.7, default)}
    cells = {name: {"accuracy": accuracy, "seconds": seconds} for name, (accuracy, seconds) in parts.items()}
    return {"dataset": dataset, "repeat": 0, "fold": fold, "folds": 2} | cells


def test_stored_cells_are_not_computed_again(tmp_path, monkeypatch):
    quick = LVQClassifierCV(estimator=LVQClassifier(max_iter=5), candidates=[{}], cv=2)
    monkeypatch.setattr("benchmarks.search.methods", lambda n: dict.fromkeys(METHODS, quick))
    path = tmp_path / "search.jsonl"
    rows = list(measure(["iris"], folds=2, path=path))
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    for measured in rows:
        assert all(measured[name]["seconds"] > 0 and measured[name]["accuracy"] > 0.8 for name in METHODS)
    monkeypatch.setattr("benchmarks.search.cell", None)
    assert list(measure(["iris"], folds=2, path=path)) == rows


def test_the_ratio_of_the_mean_is_that_of_the_mean_times():
    table = summary([row("a", 0, 1.0, 2.0), row("a", 1, 3.0, 4.0), row("b", 0, 6.0, 7.0)])
    assert [entry["dataset"] for entry in table] == ["a", "b", "mean"]
    assert [entry["ratio"] for entry in table] == pytest.approx([3 / 2, 7 / 6, 10 / 8])
    assert table[0][f"{SEARCH} accuracy"] == pytest.approx(90)
    assert as_markdown(table).count("\n") == 5
