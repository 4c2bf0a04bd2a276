"""Missing values: certainty falls with what is missing, rows with too little known are rejected, filled or ignored."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("vl_convert")


MEASURED = [f"bill {k}" for k in range(6)]


def penguins(n=200, seed=0, missing=0.08):
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    table = pd.DataFrame(rng.normal(2.0 * kind[:, None], size=(n, 6)), columns=MEASURED)
    table = table.mask(rng.random(table.shape) < missing)
    return table.assign(island=rng.choice(["Biscoe", "Dream"], n), species=np.where(kind, "Adelie", "Gentoo"))


def predicted(lvq, run, table, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    completed = lvq("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--force")
    assert completed.code == 0, completed.err
    return pd.read_csv(tmp_path / "p.csv", keep_default_na=False)


def fitted(lvq, table, folder, *options):
    table.to_csv(folder / "table.csv", index=False)
    completed = lvq(
        "fit", folder / "table.csv", "--target", "species", "--model", "glvq", "--out", folder / "run", "--force",
        *options,
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return completed, json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))


def test_a_model_that_ignores_takes_gaps_in_every_column_of_numbers(lvq, tmp_path):
    table = penguins(missing=0)
    table.loc[::5, "bill 0"] = np.nan
    fitted(lvq, table, tmp_path, "--missing", "ignore", "--folds", 0)
    new = penguins(seed=1, missing=0)
    new.loc[:19, "bill 3"] = np.nan
    found = predicted(lvq, tmp_path / "run", new, tmp_path)
    assert "missing value" not in set(found["reason"])
    assert set(found["label"]) == {"Adelie", "Gentoo"}
    radii = pd.to_numeric(found["certified_radius"])
    assert radii[:20].isna().all()
    assert (radii[20:] > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--missing", "drop"), "--missing must be impute or ignore, got 'drop'"),
        (("--missing", "ignore", "--model", "rlvq"), "missing='ignore' (--missing ignore) needs one of the models lvq"),
        (("--missing", "ignore", "--sample-prototypes"), "needs filled values"),
    ],
)
def test_wrong_requests(lvq, tmp_path, options, message):
    penguins().to_csv(tmp_path / "table.csv", index=False)
    found = lvq("fit", tmp_path / "table.csv", "--target", "species", "--out", tmp_path / "run", *options)
    assert found.code in (1, 2)
    assert message in " ".join(found.err.split())


def test_marks_of_the_fit_hold_for_predictions_and_validation(lvq, tmp_path):
    table = penguins(missing=0)
    table.loc[::20, "bill 0"] = -9.0
    table = table.astype({"bill 1": object})
    table.loc[1::40, "bill 1"] = "n.d."
    path, out = tmp_path / "t.csv", tmp_path / "p.csv"
    table.to_csv(path, index=False)
    fit = ("fit", path, "--target", "species", "--model", "glvq", "--folds", 0, "--missing", "impute", "--out")
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
    alone = tmp_path / "alone.lvq"
    alone.write_bytes((tmp_path / "run" / "model.lvq").read_bytes())
    table.to_csv(path, index=False)
    failed = lvq("predict", alone, path, "--out", out, "--force")
    assert "'n.d.' in row 3; correct it, leave the cell empty, or name the text as missing" in failed.err
    given = lvq(
        "predict", alone, path, "--out", out, "--force", "--missing-mark", "n.d.", "--missing-mark", "bill 0=-9"
    )
    assert given.code == 0, given.err
    pd.testing.assert_frame_equal(marked, pd.read_csv(out))
