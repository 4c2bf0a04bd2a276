"""`lvq compare`: a table with a test."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")


def test_a_table_as_text_and_as_a_file(lvq, fruit_csv, tmp_path):
    found = lvq(
        "compare", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--model", "grlvq",
        "--folds", 2, "--repeats", 1, "--no-others", "--out", tmp_path / "ranking.csv",
    )  # fmt: skip
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert "160 rows, 4 features, 2 classes" in lines[0]
    assert any("glvq" in line and "best" in line for line in lines)
    assert "2 splits are too few to show" in " ".join(found.out.split())
    assert any("most frequent class" in line for line in lines)
    assert max(map(len, lines[:8])) <= 100
    assert sorted(pd.read_csv(tmp_path / "ranking.csv")["name"]) == ["glvq", "grlvq"]


def test_time_trains_on_the_past_and_tests_on_the_future(lvq, fruit, tmp_path, monkeypatch):
    """Every model of the command has the same splits, in the order of the dates, which are not that of the rows."""
    from sklearn.pipeline import Pipeline

    path, fits, tests = tmp_path / "fruit.csv", [], []
    days = np.random.default_rng(0).permutation(len(fruit))
    dates = pd.to_datetime("2024-01-01") + pd.to_timedelta(days, unit="D")
    fruit.assign(picked=dates.strftime("%Y-%m-%d")).to_csv(path, index=False)
    fit, score = Pipeline.fit, Pipeline.score
    monkeypatch.setattr(Pipeline, "fit", lambda self, X, y: fits.append(X) or fit(self, X, y))
    monkeypatch.setattr(Pipeline, "score", lambda self, X, y: tests.append(X) or score(self, X, y))
    options = ("compare", path, "--target", "Sorte", "--drop", "name", "--time", "picked", "--model", "glvq")
    found = lvq(*options, "--folds", 3)
    assert found.code == 0, found.err
    assert "3 splits, each tested on later rows than those it was trained on." in found.out
    assert len(fits) == len(tests) == 12  # four models
    for train, test in zip(fits, tests):
        assert "picked" not in train
        assert days[train.index - 2].max() < days[test.index - 2].min()
    for number in range(3):
        assert len({tuple(X.index) for X in fits[number::3]}) == 1

    again = lvq(*options, "--repeats", 2)
    assert again.code == 1
    assert "repeats (--repeats) must be 1 with time (--time), got 2" in again.err
    assert "Did you mean 'picked'?" in lvq("compare", path, "--target", "Sorte", "--time", "pickd").err


def test_time_in_which_the_classes_follow_each_other(lvq, fruit, tmp_path):
    path = tmp_path / "fruit.csv"
    fruit.sort_values("Sorte").assign(year=np.arange(len(fruit))).to_csv(path, index=False)
    options = ("compare", path, "--target", "Sorte", "--time", "year", "--drop", "name", "--model", "glvq")
    found = lvq(*options, "--no-others")
    assert found.code == 0, found.err
    assert "3 splits, each tested on later rows" in found.out
    found = lvq(*options, "--folds", 2)
    assert found.code == 1
    assert "in the order of time leaves two rows or more of each class" in found.err
