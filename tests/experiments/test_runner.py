"""The toy paper from end to end, with a cell that fails, and what is written of it."""

import json
from collections import Counter

import pytest

from experiments import reproduction, runner
from tests.experiments import toy as toy_paper


@pytest.fixture
def toy(monkeypatch):
    """The toy module, with an empty trace."""
    monkeypatch.setattr(toy_paper, "TRACE", [])
    return toy_paper


def result(tmp_path):
    return json.loads((tmp_path / "out" / "toy.json").read_text())


def test_from_end_to_end(toy, tmp_path):
    assert runner.run("toy", toy, jobs=2, out=tmp_path / "out") == 0
    found = result(tmp_path)
    assert found["title"] == "A toy"
    assert found["command"] == "python -m experiments toy"
    assert found["cells"] == {"finished": 10, "all": 10}
    assert sum(found["cells_from"].values()) == 10
    assert [(row["dataset"], row["mean"], row["n_runs"], row["verdict"]) for row in found["rows"]] == [
        ("iris", 76.2, 5, "short"),
        ("diabetes", 76.2, 5, "reproduced"),
    ]
    assert set(found["versions"]) == {"Python", "lvq", "numpy", "scipy", "scikit-learn", "numba"}
    page = (tmp_path / "out" / "toy.md").read_text()
    assert "2 rows: 1 reproduced, 0 better, 1 short" in page
    assert "| diabetes | MCE |  | 76.20 ± 0.16 | 5 | 76.13 ± 0.80 | reproduced |  |" in page
    assert "A note on 10 cells." in page
    hidden = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert hidden == []  # nothing temporary is left


def test_a_cell_that_fails_does_not_stop_the_others(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(toy, "FAILS", "iris 2")
    assert runner.run("toy", toy, jobs=2, out=tmp_path / "out") == 1
    printed_text = capsys.readouterr().out
    assert "ArithmeticError: this one cannot be computed" in printed_text
    assert "failed: Cell(table='table-1', dataset='iris', method='MCE', setting='', run=2, fold=-1)" in printed_text
    assert result(tmp_path)["cells"] == {"finished": 9, "all": 10}
    monkeypatch.setattr(toy, "FAILS", "")
    assert runner.run("toy", toy, out=tmp_path / "out") == 0
    assert Counter(toy.TRACE) == Counter({f"{name} {run}": 1 for name in ("iris", "diabetes") for run in range(5)}) + (
        Counter({"iris 2": 1})
    )


def test_short_rows_must_be_explained(toy, tmp_path, monkeypatch, capsys):
    runner.run("toy", toy, out=tmp_path / "out")
    monkeypatch.setattr(reproduction, "PAPERS", ("toy",))
    monkeypatch.setattr(reproduction, "RESULTS", tmp_path / "out")
    monkeypatch.setattr(reproduction, "TARGET", tmp_path / "docs" / "reproduction.md")
    explanations = tmp_path / "explanations.toml"
    monkeypatch.setattr(reproduction, "EXPLANATIONS", explanations)
    explanations.write_text("")
    assert reproduction.main() == 1
    assert "toy / table-1 / iris / MCE /" in capsys.readouterr().out
    assert not reproduction.TARGET.exists()
    explanations.write_text('[[short]]\npaper = "toy"\ndataset = "ir*"\ntext = "The toy gives 76 whatever the data."\n')
    assert reproduction.main() == 0
    page = reproduction.TARGET.read_text()
    assert "- table-1 iris MCE: The toy gives 76 whatever the data." in page
    assert "76.2 (95.6) ↓" in page
    assert "| A toy | 2 | 1 | 0 | 1 | 0 |" in page


def test_committed_results_are_explained_and_documented():
    """Of the papers whose results are in the repository; an incomplete run is skipped."""
    results = reproduction.read_results(runner.RESULTS)
    whole = [result for result in results if result["cells"]["finished"] == result["cells"]["all"]]
    if not results or len(whole) < len(results):
        pytest.skip("not all results are there")
    explanations = reproduction.read_explanations(reproduction.EXPLANATIONS)
    assert reproduction.unexplained(results, explanations) == []
    page = reproduction.document(results, explanations)
    assert reproduction.TARGET.read_text(encoding="utf-8") == page, "run python -m experiments.reproduction"
