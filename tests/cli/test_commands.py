"""`lvq report`, `export` and `demo`."""

import json
import re
import shutil
import types
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")


# -- report ------------------------------------------------------------------------------------------------------------


def test_a_report_is_written_again(lvq, run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run[0], folder)
    (folder / "report.html").unlink()
    completed = lvq("report", folder)
    assert (completed.code, completed.out) == (0, f"Written: {folder / 'report.html'}\n")
    assert (folder / "report.html").read_bytes() == (run[0] / "report.html").read_bytes()


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", '{"data": 3}', "\udcff"])
def test_a_report_of_damaged_metrics_is_refused(lvq, tmp_path, content):
    if content is not None:
        (tmp_path / "metrics.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    completed = lvq("report", tmp_path)
    assert completed.code == 1
    assert completed.err.startswith("Error: ")
    assert "metrics.json" in completed.err
    assert len(completed.err.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()


def test_a_report_of_an_older_version_is_refused(lvq, run, tmp_path):
    metrics = json.loads((run[0] / "metrics.json").read_text(encoding="utf-8"))
    for name in metrics:
        (tmp_path / "metrics.json").write_text(
            json.dumps({key: value for key, value in metrics.items() if key != name}), encoding="utf-8"
        )
        completed = lvq("report", tmp_path)
        if completed.code:
            assert re.fullmatch(
                r"Error: .*metrics\.json was not written by this version of `lvq fit` .*\n", completed.err
            )


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


def test_a_model_is_not_replaced_by_its_graph(lvq, run, tmp_path):
    for extra in ("onnx", "skl2onnx"):
        pytest.importorskip(extra)
    folder = shutil.copytree(run[0], tmp_path / "run")
    completed = lvq("export", folder, "--onnx", folder / "model.lvq", "--force")
    assert completed.code == 1
    assert "is the model itself" in completed.err
    assert (folder / "model.lvq").read_bytes() == (run[0] / "model.lvq").read_bytes()


# -- demo --------------------------------------------------------------------------------------------------------------


def test_the_demo_fits_and_predicts(lvq, tmp_path, monkeypatch):
    for extra in ("altair", "vl_convert"):
        pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    folder = Path("demo")
    completed = lvq("demo", "--out", folder)
    assert completed.code == 0, completed.err
    files = {"model.lvq", "report.html", "metrics.json", "wdbc.csv", "predictions.csv"}
    assert {path.name for path in folder.iterdir()} == files
    assert "Guaranteed with confidence 0.95: an error rate of at most 5 % among accepted predictions" in completed.out
    scores = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["scores"]
    assert scores["accuracy"] > 0.9
    assert scores["accepted_accuracy"] >= 0.95
    assert max(map(len, completed.out.splitlines())) <= 120
    # the commands that it shows are commands
    shown = re.findall(r"^\$ lvq (.*)$", completed.out, flags=re.MULTILINE)
    assert len(shown) == 2
    assert lvq(*shown[1].split(), "--force").code == 0
    assert lvq(*shown[0].split()).err.startswith("Error: demo already has model.lvq")  # the command is valid
    assert lvq("demo", "--out", folder).code == 1


def test_an_interrupted_demo_leaves_no_file(lvq, tmp_path, monkeypatch):
    def fitted(table, target, *, out, **options):
        (out / "model.lvq").touch()
        return types.SimpleNamespace(model=None)

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("lvq.workflow.demo.fit_table", fitted)
    monkeypatch.setattr("lvq.workflow.demo.predict_table", interrupt)
    completed = lvq("demo", "--out", tmp_path / "demo")
    assert (completed.code, completed.err.splitlines()[-1]) == (130, "Interrupted: nothing was written.")
    assert list(tmp_path.iterdir()) == []
