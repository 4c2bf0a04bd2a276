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


@pytest.fixture(scope="module", params=["impute", "ignore"])
def run(lvq, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("penguins")
    penguins().to_csv(folder / "table.csv", index=False)
    completed = lvq(
        "fit", folder / "table.csv", "--target", "species", "--model", "lvq", "--prototypes", 1, "--folds", 0, "--out",
        folder / "run", "--missing", request.param,
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return folder / "run"


def predicted(lvq, run, table, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    completed = lvq("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--force")
    assert completed.code == 0, completed.err
    return pd.read_csv(tmp_path / "p.csv", keep_default_na=False)


def sparse_minority(seed, n=200):
    """A rare class far away, with most values missing: filled with medians, its rows look like the frequent class."""
    rng = np.random.default_rng(seed)
    rare = np.arange(n) % 10 < 3
    table = pd.DataFrame(rng.normal(8.0 * rare[:, None], size=(n, 6)), columns=MEASURED)
    keep = rng.integers(0, 6, n)
    gone = rng.random(table.shape) < 0.7
    gone[np.arange(n), keep] = False
    return table.mask(gone).assign(species=np.where(rare, "Adelie", "Gentoo"))


def fitted(lvq, table, folder, *options):
    table.to_csv(folder / "table.csv", index=False)
    completed = lvq(
        "fit", folder / "table.csv", "--target", "species", "--model", "glvq", "--out", folder / "run", "--force",
        *options,
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return completed, json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", range(2))
def test_values_are_ignored_where_that_is_better(lvq, tmp_path, seed):
    completed, metrics = fitted(lvq, sparse_minority(seed), tmp_path, "--folds", 3)
    missing = metrics["missing"]
    assert missing["way"] == "ignore"
    assert missing["requested"] == "auto"
    assert missing["scores"]["ignore"] > missing["scores"]["impute"] + 0.01
    assert metrics["folds"]["mean"] == pytest.approx(missing["scores"]["ignore"], abs=0.01)
    for accuracy in missing["scores"].values():
        assert f"{100 * accuracy:.1f} %" in missing["sentence"]
    assert "above its standard error" in missing["sentence"]
    assert missing["sentence"] in metrics["protocol"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "were ignored: distances are over the values that a row has" in page
    assert "Missing numbers" in completed.out
    assert "ignored" in completed.out


def test_values_are_filled_where_ignoring_gains_nothing(lvq, tmp_path):
    """All classes are recognised by a column without gaps, so that both ways have the same accuracy."""
    table = penguins(missing=0.3)
    table["sure"] = np.where(table["species"] == "Adelie", 40.0, 0.0)
    _, metrics = fitted(lvq, table, tmp_path, "--folds", 2)
    assert metrics["missing"]["way"] == "impute"
    assert "so that nothing is gained" in metrics["missing"]["sentence"]


@pytest.mark.parametrize(
    ("options", "way", "why"),
    [
        (("--missing", "impute"), "impute", "as requested"),
        (("--missing", "ignore"), "ignore", "as requested"),
        (("--folds", 0), "impute", "there were no folds (--folds)"),
        (("--max-error", 0.2), "impute", "rows that test a guarantee must not choose"),
        (("--model", "rlvq", "--folds", 0), "impute", "RLVQ cannot ignore them"),
        (("--model", "fc1glvq", "--folds", 2), "impute", "GLVQ cannot ignore them"),
        (("--sample-prototypes", "--folds", 2), "impute", "prototypes that are samples need filled values"),
    ],
)
def test_why_there_was_no_choice(lvq, tmp_path, options, way, why):
    _, metrics = fitted(lvq, penguins(), tmp_path, *(options if "--folds" in options else (*options, "--folds", 2)))
    assert metrics["missing"]["way"] == way
    assert metrics["missing"]["scores"] is None
    assert why in metrics["missing"]["sentence"]


def test_a_table_without_gaps_has_no_word_about_them(lvq, tmp_path):
    completed, metrics = fitted(lvq, penguins(missing=0), tmp_path, "--folds", 2)
    assert metrics["missing"] is None
    assert "issing" not in completed.out + metrics["protocol"]


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
        (("--missing", "drop"), "--missing must be one of auto, impute, ignore, got 'drop'"),
        (("--missing", "ignore", "--model", "rlvq"), "Ignoring missing values (--missing ignore) needs one of lvq"),
        (("--missing", "ignore", "--sample-prototypes"), "need filled values"),
        (("--missing", "impute", "--stream"), "cannot fill missing numbers"),
    ],
)
def test_wrong_requests(lvq, tmp_path, options, message):
    penguins().to_csv(tmp_path / "table.csv", index=False)
    found = lvq("fit", tmp_path / "table.csv", "--target", "species", "--out", tmp_path / "run", *options)
    assert found.code in (1, 2)
    assert message in " ".join(found.err.split())


def compared(lvq, table, folder, *options):
    table.to_csv(folder / "table.csv", index=False)
    found = lvq(
        "compare", folder / "table.csv", "--target", "species", "--prototypes", 1, "--folds", 3, "--repeats", 1,
        "--no-rivals", "--json", *options,
    )  # fmt: skip
    assert found.code == 0, found.err
    return json.loads(found.out)


@pytest.mark.parametrize("seed", range(2))
def test_compare_ignores_where_fit_does(lvq, tmp_path, seed):
    found = compared(lvq, sparse_minority(seed), tmp_path, "--model", "glvq", "--model", "rlvq")
    assert set(found["scores"]) == {"glvq, 1, ignore", "rlvq, 1"}
    own = found["missing"]["models"]["glvq, 1"]
    assert own["way"] == "ignore"
    assert own["scores"]["ignore"] == pytest.approx(np.mean(found["scores"]["glvq, 1, ignore"]))
    assert own["scores"]["ignore"] > own["scores"]["impute"] + 0.01
    assert found["missing"]["models"]["rlvq, 1"] == {"way": "impute", "scores": None, "why": ""}
    assert found["missing"]["sentence"] in found["notes"]
    assert "of 'glvq, 1' they were ignored: distances are over the values that a row has" in found["notes"][-1]


def test_compare_as_requested(lvq, tmp_path):
    table = sparse_minority(0)
    filled = compared(lvq, table, tmp_path, "--model", "glvq", "--missing", "impute")
    ignored = compared(lvq, table, tmp_path, "--model", "glvq", "--model", "rlvq", "--missing", "ignore")
    assert set(filled["scores"]) == {"glvq, 1"}
    assert set(ignored["scores"]) == {"glvq, 1, ignore"}
    assert filled["notes"][-1].endswith("became the median of their column, with an indicator feature; as requested.")
    assert "Left out, as they cannot ignore missing values (--missing ignore): rlvq." in ignored["notes"]
    assert "numbers, in 6 of 6 columns) were ignored: distances are" in ignored["notes"][-1]
    best = compared(lvq, table, tmp_path, "--model", "glvq")
    assert best["scores"]["glvq, 1, ignore"] == ignored["scores"]["glvq, 1, ignore"]


def test_compare_without_gaps_or_with_a_wrong_request(lvq, tmp_path):
    found = compared(lvq, penguins(missing=0), tmp_path, "--model", "glvq")
    assert found["missing"] is None
    assert set(found["scores"]) == {"glvq, 1"}
    options = ("compare", tmp_path / "table.csv", "--target", "species", "--missing")
    assert "must be one of auto, impute, ignore, got 'drop'" in lvq(*options, "drop").err
    refused = lvq(*options, "ignore", "--model", "rlvq")
    assert refused.code == 1
    assert "Ignoring missing values (--missing ignore) needs one of lvq" in refused.err


def test_onnx_names_the_remedy(lvq, tmp_path):
    pytest.importorskip("onnx")
    fitted(lvq, penguins(), tmp_path, "--missing", "ignore", "--folds", 0)
    found = lvq("export", tmp_path / "run", "--onnx", tmp_path / "model.onnx")
    assert found.code == 1
    assert "ignores missing values, which ONNX does not support; fit it again with --missing impute" in found.err
    assert "or with --stream from tables that are filled, without --missing ignore." in found.err
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.parametrize("model", ["lvq", "glvq", "grlvq", "gmlvq"])
def test_a_stream_ignores_missing_numbers(model, lvq, tmp_path):
    """As a user types it: fit, predict, and the page and metrics that tell what was done."""
    numbers = penguins(1500).select_dtypes("number").assign(species=penguins(1500)["species"])
    numbers.to_csv(tmp_path / "table.csv", index=False)
    command = ("fit", tmp_path / "table.csv", "--target", "species", "--stream", "--model", model)
    refused = lvq(*command, "--out", tmp_path / "run")
    assert refused.code == 2 or refused.code == 1
    assert "is nan, and the model needs finite numbers" in refused.err
    assert "--missing ignore" in refused.err
    assert not (tmp_path / "run").exists()
    done = lvq(*command, "--out", tmp_path / "run", "--missing", "ignore")
    assert done.code == 0, done.err
    assert "Missing numbers" in done.out
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["missing"]["way"] == "ignore"
    assert 0.05 < metrics["missing"]["fraction"] < 0.11
    assert "were ignored" in (tmp_path / "run" / "report.html").read_text()
    predicted = lvq("predict", tmp_path / "run", tmp_path / "table.csv", "--out", tmp_path / "predicted.csv")
    assert predicted.code == 0, predicted.err
    labels = pd.read_csv(tmp_path / "predicted.csv")["label"]
    assert (labels == numbers["species"]).mean() > 0.8


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
    validated = lvq("validate", tmp_path / "run", path, "--json")
    assert validated.code == 0, validated.err
    alone = tmp_path / "alone.lvq"
    alone.write_bytes((tmp_path / "run" / "model.lvq").read_bytes())
    table.to_csv(path, index=False)
    failed = lvq("predict", alone, path, "--out", out, "--force")
    assert failed.code == 1
    assert "'n.d.' in row 3; correct it, leave the cell empty, or name the text as missing" in failed.err
    given = lvq(
        "predict", alone, path, "--out", out, "--force", "--missing-mark", "n.d.", "--missing-mark", "bill 0=-9"
    )
    assert given.code == 0, given.err
    pd.testing.assert_frame_equal(marked, pd.read_csv(out))
    (tmp_path / "metrics.json").write_text("[1, 2]")  # of another program
    assert lvq("predict", alone, path, "--out", out, "--force", "--missing-mark", "n.d.").code == 0
    (tmp_path / "metrics.json").write_text("{")
    damaged = lvq("predict", alone, path, "--out", out, "--force", "--missing-mark", "n.d.")
    assert damaged.code == 1
    assert "though it may name values that are missing" in damaged.err
