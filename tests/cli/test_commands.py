"""`lvq export` and `demo`, and what all commands do with a table."""

import gzip
import io
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_is_opened_once(lvq, run, fruit_csv, tmp_path, monkeypatch, packed):
    """The file itself is opened once, by whatever function."""
    opened, before = [], io.open
    if packed:
        content, fruit_csv = fruit_csv.read_bytes(), tmp_path / "fruit.csv.gz"
        fruit_csv.write_bytes(gzip.compress(content))

    def counting(path, *arguments, **settings):
        if isinstance(path, str | Path) and Path(path) == fruit_csv:
            opened.append(fruit_csv)
        return before(path, *arguments, **settings)

    monkeypatch.setattr(io, "open", counting)  # of Path.open
    monkeypatch.setattr("builtins.open", counting)
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
