"""`lvq fit --sample-prototypes`: prototypes that are rows of the table, named in report and console."""

import json
import re

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
        "fit", folder / "table.csv", "--target", "status", "--model", "lvq", "--prototypes", 2, "--folds", 2,
        "--sample-prototypes", "--out", folder / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return completed, folder / "run"


def test_prototypes_are_the_rows_that_are_named(run, table):
    completed, folder = run
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    model = load(folder / "model.lvq")
    named = re.search(r"training row: (['\d, ]+)\.", completed.err)[1]
    rows = [int(name) - 2 for name in re.findall(r"\d+", named)]  # the first row of a sheet is row 2
    assert len(set(rows)) == 4
    columns, last = model.estimator_[0], model.estimator_[-1]
    named = columns.transform(table.iloc[rows].drop(columns="status"))
    np.testing.assert_allclose(last.prototypes_, named, atol=1e-12)
    assert table["status"].iloc[rows].tolist() == last.prototype_labels_.tolist()
    assert metrics["prototypes"]["n_prototypes"] == 4
    assert "where rows are people" in completed.err


def test_models_without_such_prototypes(lvq, tmp_path, table):
    table.to_csv(tmp_path / "table.csv", index=False)
    found = lvq(
        "fit", tmp_path / "table.csv", "--target", "status", "--model", "lvq1", "--sample-prototypes", "--out",
        tmp_path / "run",
    )  # fmt: skip
    assert found.code == 2
    assert "(--sample-prototypes) needs one of the models lvq, lvq-cv" in " ".join(found.err.split())
