"""`lvq fit --sample-prototypes`: prototypes that are rows of the table, named in report and console."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("vl_convert")

from lvq.persistence import load  # noqa: E402


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    ill = np.arange(160) % 2 == 1
    values = rng.normal(1.5 * ill[:, None], size=(160, 3))
    kind = np.where(rng.random(160) < 0.5, "in", "out")
    return pd.DataFrame(values, columns=["a", "b", "c"]).assign(ward=kind, status=np.where(ill, "ill", "well"))


@pytest.fixture(scope="module")
def run(lvq, table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    table.to_csv(folder / "table.csv", index=False)
    completed = lvq(
        "fit", folder / "table.csv", "--target", "status", "--model", "gmlvq", "--prototypes", 2, "--folds", 2,
        "--sample-prototypes", "--out", folder / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return completed, folder / "run"


def test_prototypes_are_the_rows_that_are_named(run, table):
    completed, folder = run
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    model = load(folder / "model.lvq")
    rows = [int(names[0]) - 2 for names in metrics["prototypes"]["exemplars"]]  # the first row of a sheet is row 2
    assert len(set(rows)) == 4
    columns, last = model.estimator_[0], model.estimator_[-1]
    named = columns.transform(table.iloc[rows].drop(columns="status"))
    index = metrics["prototypes"]["index"]
    np.testing.assert_allclose(last.prototypes_[index], named, atol=1e-12)
    assert table["status"].iloc[rows].tolist() == last.prototype_labels_[index].tolist()
    for row in rows:
        assert str(row + 2) in completed.err


def test_report_and_console_warn(run):
    completed, folder = run
    assert "Every prototype is a training row: " in completed.err
    assert "give them only to those who may see the data" in " ".join(completed.err.split())
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'id="exemplar-warning"' in page
    assert "this page names people" in page
    assert "Every prototype is a training row" in page


def test_other_runs_name_no_row(lvq, table, tmp_path):
    table.to_csv(tmp_path / "table.csv", index=False)
    completed = lvq(
        "fit", tmp_path / "table.csv", "--target", "status", "--model", "glvq", "--folds", 0, "--out", tmp_path / "run"
    )
    assert completed.code == 0, completed.err
    assert "training row:" not in completed.err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["prototypes"]["exemplars"] is None


def test_models_without_such_prototypes(lvq, tmp_path, table):
    table.to_csv(tmp_path / "table.csv", index=False)
    found = lvq(
        "fit", tmp_path / "table.csv", "--target", "status", "--model", "lvq1", "--sample-prototypes", "--out",
        tmp_path / "run",
    )  # fmt: skip
    assert found.code == 2
    assert "Learning prototypes that are samples (--sample-prototypes) needs one of lvq" in " ".join(found.err.split())
