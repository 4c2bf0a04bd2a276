"""`lvq validate`: a fitted model on a labelled table from elsewhere."""

import json
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("vl_convert")

from lvq.report.validation_page import render_validation  # noqa: E402


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
    completed = validated(lvq, run, tmp_path, hospital(seed=1), "--json")
    assert completed.code == 0, completed.err
    found = json.loads(completed.out)
    assert found["n_labelled"] == 600
    assert found["guarantee"]["verdict"] == "kept"
    assert not found["drift"]["certainty"]["drifted"]
    assert found["drift"]["n_drifted"] == 0
    assert found["metrics"]["by_class"][0]["sensitivity"]["interval"][0] > 0.7
    page = (tmp_path / "validation" / "validation-elsewhere.html").read_text(encoding="utf-8")
    assert "0 of 3 features have drifted; the certainty has not drifted" in page
    assert "Kept:" in page
    assert "columns predicted ones" in page
    assert '<span class="muted">predicted</span> well' in page


def test_the_mean_of_the_certainty_is_compared(lvq, run, tmp_path):
    table = hospital(seed=1, n=40)
    table.loc[0, "age"] = np.nan  # no prediction, so no certainty
    drift = json.loads(validated(lvq, run, tmp_path, table, "--json").out)["drift"]["certainty"]
    lvq("predict", run, tmp_path / "elsewhere.csv", "--out", tmp_path / "p.csv")
    mean = pd.read_csv(tmp_path / "p.csv")["certainty"].mean()
    assert drift["mean"] == pytest.approx(mean, rel=1e-9)
    reference = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["reference"]["certainty"]
    assert drift["shift"] == pytest.approx((mean - reference["mean"]) / reference["standard_deviation"], rel=1e-6)


def test_the_table_of_the_fit(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital())
    assert completed.code == 0, completed.err
    assert "as many rows of each class as the one that the model was fitted to" in completed.err + completed.out
    completed = validated(lvq, run, tmp_path, hospital(n=599), "--force")
    assert "as many rows of each class" not in completed.err + completed.out


def test_drift_is_named(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=2, shift=1.5))
    assert completed.code == 0, completed.err
    assert "Drifted features 1 of 3 crp" in " ".join(completed.out.split())


def test_where_every_row_is_rejected(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=4).assign(ward="C"))
    assert completed.code == 0, completed.err
    printed = " ".join(completed.out.split())
    assert "Coverage 0.0 % 0 of 600" in printed
    assert "Guarantee not contradicted at most 15 %, no row was accepted" in printed
    fitted = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["scores"]["coverage"]
    assert f"at the fit {100 * fitted:.1f} % accuracy of accepted - no row" in printed


def test_a_broken_guarantee_is_reported(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=3, noise=0.4))
    assert completed.code == 0, completed.err
    assert "broken" in completed.out
    assert "Broken:" in (tmp_path / "validation" / "validation-elsewhere.html").read_text(encoding="utf-8")


def test_few_rows_decide_nothing(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(n=8, seed=4), "--json")
    assert json.loads(completed.out)["guarantee"]["verdict"] == "not contradicted"


def test_unknown_classes_categories_and_missing_labels(lvq, run, tmp_path):
    table = hospital(seed=5, n=50).astype({"status": object})
    table.loc[:4, "status"] = None
    table.loc[5:6, "status"] = "dead"
    table.loc[7:8, "ward"] = "C"
    table.loc[9, "age"] = np.nan
    completed = validated(lvq, run, tmp_path, table, "--json")
    assert completed.code == 0, completed.err
    found = json.loads(completed.out)
    assert (found["n_rows"], found["n_labelled"], found["n_predicted"]) == (50, 45, 44)
    assert found["classes"][-1] == "dead"
    assert found["reasons"]["unknown category"] == 2
    assert any("not fitted to the class 'dead'" in note for note in found["notes"])
    assert sum(map(sum, found["confusion"])) == 45
    assert "5 rows have no value of 'status'; they count for the drift only." in found["notes"]
    accuracy = found["metrics"]["accuracy"]
    assert accuracy["total"] == 44
    assert found["difference"]["value"] == pytest.approx(accuracy["value"] - found["at_fit"]["accuracy"])


def test_one_row_is_counted_in_the_singular(lvq, run, tmp_path):
    table = hospital(seed=5, n=20).astype({"status": object})
    table.loc[0, "status"] = None
    table.loc[1, "age"] = np.nan
    completed = validated(lvq, run, tmp_path, table, "--json")
    assert "1 row has no value of 'status'; it counts for the drift only." in json.loads(completed.out)["notes"]
    page = (tmp_path / "validation" / "validation-elsewhere.html").read_text(encoding="utf-8")
    assert "1 row has no prediction, as a value is missing or too large; it counts as rejected." in page


def test_a_table_without_any_prediction(lvq, run, tmp_path):
    completed = validated(lvq, run, tmp_path, hospital(seed=5, n=20).assign(age=np.nan))
    assert completed.code == 0, completed.err
    assert "0 of 20" in completed.out
    page = (tmp_path / "validation" / "validation-elsewhere.html").read_text(encoding="utf-8")
    assert "20 rows have no prediction" in page
    assert "The accuracy here" not in page


def test_the_run_stores_counts_and_no_rows(run):
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    reference = metrics["reference"]
    assert [column["name"] for column in reference["columns"]] == ["crp", "age", "ward"]
    assert all(len(column["counts"]) <= 11 for column in reference["columns"])
    assert sum(reference["columns"][0]["counts"]) == metrics["data"]["n_train"]


def test_what_cannot_be_validated(lvq, run, tmp_path):
    table = hospital(n=20)
    completed = validated(lvq, run, tmp_path, table.rename(columns={"status": "Status"}))
    assert completed.code == 1
    assert "Did you mean 'Status'?" in completed.err
    assert validated(lvq, run, tmp_path, table.rename(columns={"status": "Status"}), "--target", "Status").code == 0
    assert "already has validation-elsewhere.html" in validated(lvq, run, tmp_path, table).err
    completed = lvq("validate", tmp_path, tmp_path / "elsewhere.csv")
    assert "metrics.json does not exist" in completed.err
    for content, message in (("{}", "lacks 'name', 'data'"), ('{"name": "x', "is damaged"), ("7", "is damaged")):
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
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.idxmax(axis=1) == "probability " + found["label"]).all()


@pytest.mark.parametrize(("value", "text"), [(0.0004, "is the same ("), (-0.02, "is lower by 2.0 points (")])
def test_a_difference_of_no_point_is_none(lvq, run, tmp_path, value, text):
    completed = validated(lvq, run, tmp_path, hospital(seed=1), "--json")
    summary = json.loads((tmp_path / "validation" / "validation-elsewhere.json").read_text(encoding="utf-8"))
    summary["difference"]["value"] = value
    page = render_validation(summary)
    assert completed.code == 0
    assert f"The accuracy here {text}95&nbsp;% interval" in page
