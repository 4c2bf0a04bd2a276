"""Marks of missing values."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("jinja2")


MEASURED = [f"bill {k}" for k in range(6)]


def penguins(n=200, seed=0, missing=0.08):
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    table = pd.DataFrame(rng.normal(2.0 * kind[:, None], size=(n, 6)), columns=MEASURED)
    table = table.mask(rng.random(table.shape) < missing)
    return table.assign(island=rng.choice(["Biscoe", "Dream"], n), species=np.where(kind, "Adelie", "Gentoo"))


def test_marks_of_the_fit_hold_for_predictions_and_validation(lvq, tmp_path):
    table = penguins(missing=0)
    table.loc[::20, "bill 0"] = -9.0
    table = table.astype({"bill 1": object})
    table.loc[1::40, "bill 1"] = "n.d."
    path, out = tmp_path / "t.csv", tmp_path / "p.csv"
    table.to_csv(path, index=False)
    fit = ("fit", path, "--target", "species", "--model", "glvq", "--folds", 0, "--out")
    refused = lvq(*fit, tmp_path / "other")
    assert refused.code == 1
    assert "'bill 1' of" in refused.err
    assert "'n.d.' in row 3, 'n.d.' in row 43" in refused.err
    noted = lvq(*fit, tmp_path / "other", "--missing-mark", "n.d.")
    assert noted.code == 0, noted.err
    assert "'bill 0' is -9 in 10 rows" in " ".join(noted.err.split())
    fitted = lvq(*fit, tmp_path / "run", "--missing-mark", "n.d.", "--missing-mark", "bill 0=-9")
    assert fitted.code == 0, fitted.err
    assert "is -9 in" not in fitted.err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["missing_marks"]["bill 0"] == ["n.d.", "-9"]
    assert lvq("predict", tmp_path / "run", path, "--out", out).code == 0
    marked = pd.read_csv(out)
    table.replace({"bill 0": {-9.0: None}, "bill 1": {"n.d.": None}}).to_csv(path, index=False)
    assert lvq("predict", tmp_path / "run", path, "--out", out, "--force").code == 0
    pd.testing.assert_frame_equal(marked, pd.read_csv(out))
