"""`lvq validate`: a fitted model on a labelled table from elsewhere."""

import json
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("jinja2")


def hospital(n=600, seed=0, shift=0.0, noise=0.0):
    """Two classes with two laboratory values and a ward; `shift` moves one value, `noise` exchanges classes."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.5
    other = rng.random(n) < noise
    return pd.DataFrame(
        {
            "crp": rng.normal(3.0 * ill) + shift,
            "age": rng.normal(50, 10, n).round(),
            "ward": rng.choice(["A", "B"], n),
            "status": np.where(ill ^ other, "ill", "well"),
        }
    )


@pytest.fixture(scope="module")
def run(lvq, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    hospital().to_csv(folder / "own.csv", index=False)
    completed = lvq(
        "fit", folder / "own.csv", "--target", "status", "--model", "glvq", "--max-error", 0.15, "--folds", 0, "--out",
        folder / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return folder / "run"


def validated(lvq, run, folder, table, *options):
    path = folder / "elsewhere.csv"
    table.to_csv(path, index=False)
    return lvq("validate", run, path, "--out", folder / "validation", *options)


def test_a_table_from_the_same_source(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=1))
    assert completed.code == 0, completed.err
    found = json.loads((tmp_path / "validation" / "validation-elsewhere.json").read_text(encoding="utf-8"))
    assert found["data"]["n_samples"] == 600
    assert found["earlier"]["verdict"] == "kept"
    low, high = found["earlier"]["difference"]
    assert low < 0 < high
    assert found["metrics"]["by_class"][0]["sensitivity"]["interval"][0] > 0.7
    page = (tmp_path / "validation" / "validation-elsewhere.html").read_text(encoding="utf-8")
    assert "In the original test, the accuracy was" in page
    assert "of own.csv; the difference here is no more than chance" in page
    assert "The guarantee is kept: the error rate of accepted rows is below it, with 95 % confidence." in page
    assert "Applied to 600 rows of elsewhere.csv." in page
    assert "had not seen" not in page
    assert not any("the fit's table" in note for note in found["context"]["notes"])
    again = lvq("validate", run, run.parent / "own.csv", "--out", tmp_path / "validation")
    assert "own.csv is also the name of the fit's table" in again.err


def test_where_every_row_is_rejected(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=4).assign(ward="C"))
    assert completed.code == 0, completed.err
    printed = " ".join(completed.out.split())
    assert "Every test sample is rejected" in printed
    assert "The guarantee is not contradicted" in printed


def test_a_broken_guarantee_is_reported(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=3, noise=0.4))
    assert completed.code == 0, completed.err
    assert "The guarantee is broken" in completed.out


def test_unknown_classes_categories_and_missing_labels(lvq, run, tmp_path):
    table = hospital(seed=5, n=50).astype({"status": object})
    table.loc[:4, "status"] = None
    table.loc[5:6, "status"] = "deceased"
    table.loc[7:8, "ward"] = "C"
    table.loc[9, "age"] = np.nan
    completed = validated(lvq, run, tmp_path, table)
    assert completed.code == 0, completed.err
    found = json.loads((tmp_path / "validation" / "validation-elsewhere.json").read_text(encoding="utf-8"))
    assert found["data"]["n_samples"] == 44  # without a class, or a value that had none missing in training
    assert found["data"]["classes"][-1] == "deceased"
    assert any("not fitted to the class 'deceased'" in note for note in found["context"]["notes"])
    assert any("missing value of 'age'" in note for note in found["context"]["notes"])
    assert any("5 rows without a value of 'status'" in note for note in found["context"]["notes"])
    whole = json.loads((tmp_path / "validation" / "validation-elsewhere.json").read_text(encoding="utf-8"))
    assert whole["rejection"]["reasons"]["unknown category"] == 2
    assert sum(map(sum, whole["rejection"]["confusion"][0])) == 44


def test_a_table_without_any_prediction(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=5, n=20).assign(age=np.nan))
    assert completed.code == 1
    assert "nothing to validate" in completed.err


def test_what_cannot_be_validated(lvq, run, tmp_path):
    table = hospital(n=20)
    completed = validated(lvq, run, tmp_path, table.rename(columns={"status": "Status"}))
    assert completed.code == 1
    assert "Did you mean 'Status'?" in completed.err
    assert validated(lvq, run, tmp_path, table.rename(columns={"status": "Status"}), "--target", "Status").code == 0
    assert "has none of the model's classes" in validated(lvq, run, tmp_path, table, "--target", "ward", "--force").err
    assert "validation-elsewhere.html, " in validated(lvq, run, tmp_path, table).err
    completed = lvq("validate", tmp_path, tmp_path / "elsewhere.csv")
    assert "has no metrics.json" in completed.err
    for content, message in (("{}", "fit again"), ('{"name": "x', "cannot be read"), ("7", "fit again")):
        (tmp_path / "metrics.json").write_text(content, encoding="utf-8")
        completed = lvq("validate", tmp_path, tmp_path / "elsewhere.csv")
        assert completed.code == 1
        assert re.search(f"metrics.json .*{message}", completed.err)


def test_probabilities_of_predictions(lvq, run, tmp_path):
    table = hospital(n=20)
    table.to_csv(tmp_path / "new.csv", index=False)
    completed = lvq("predict", run, tmp_path / "new.csv", "--probabilities", "--out", tmp_path / "p.csv")
    assert completed.code == 0, completed.err
    found = pd.read_csv(tmp_path / "p.csv")
    probabilities = found[["probability ill", "probability well"]]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=2e-6)
    assert (probabilities.idxmax(axis=1) == "probability " + found["label"]).all()
