"""`lvq export` and `demo`, and what all commands do with a table."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")


# -- tables ------------------------------------------------------------------------------------------------------------


def test_a_table_is_opened_once(lvq, run, fruit_csv, tmp_path, monkeypatch):
    from lvq.tables import read

    opened, before = [], read._of_csv
    monkeypatch.setattr(read, "_of_csv", lambda *arguments: opened.append(arguments[0]) or before(*arguments))
    fit = ("fit", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--folds", 0, "--out")
    for command in (
        (*fit, tmp_path / "r"),
        ("predict", run[0], fruit_csv, "--out", tmp_path / "predictions.csv"),
        ("validate", run[0], fruit_csv, "--out", tmp_path / "validation"),
    ):
        completed = lvq(*command)
        assert completed.code == 0, completed.err
        assert opened == [fruit_csv]
        opened.clear()


# -- export ------------------------------------------------------------------------------------------------------------


def test_a_model_is_exported(lvq, run, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    path = tmp_path / "model.onnx"
    completed = lvq("export", run[0], "--onnx", path)
    assert completed.code == 0, completed.err
    onnx.checker.check_model(onnx.load(path))
    assert lvq("export", run[0], "--onnx", path).code == 1
    assert lvq("export", run[0], "--onnx", path, "--force").code == 0
    assert "does not exist" in lvq("export", tmp_path, "--onnx", tmp_path / "x.onnx").err


# -- demo --------------------------------------------------------------------------------------------------------------


def test_the_demo_fits_and_predicts(lvq, tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    folder = Path("demo")
    completed = lvq("demo", "--out", folder)
    assert completed.code == 0, completed.err
    files = {"model.lvq", "report.html", "metrics.json", "wdbc.csv", "predictions.csv"}
    assert {path.name for path in folder.iterdir()} == files
    assert "at most 5 % of the accepted predictions are wrong" in " ".join(completed.out.split())
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["metrics"]["accuracy"]["value"] > 0.9
    assert metrics["accepted_accuracy"]["value"] >= 0.95
    assert max(map(len, completed.out.splitlines())) <= 120
    # the commands that it shows are commands
    shown = re.findall(r"^\$ lvq (.*)$", completed.out, flags=re.MULTILINE)
    assert len(shown) == 2
    assert lvq(*shown[1].split(), "--force").code == 0
    assert lvq(*shown[0].split()).err.startswith("Error: demo/model.lvq, ")  # the command is valid
    assert lvq("demo", "--out", folder).code == 1
