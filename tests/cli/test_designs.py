"""Designs of studies: groups, time, a given test table, chosen columns."""

import json
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("jinja2")

from lvq.persistence import load  # noqa: E402


def patients(n_patients=40, visits=5, seed=0, apart=1.2):
    """Visits of patients, who are recognisable by their values; the class is that of the patient."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n_patients) % 2
    rows = np.repeat(np.arange(n_patients), visits)
    own = rng.normal(size=(n_patients, 3)) + apart * ill[:, None]
    values = own[rows] + 0.05 * rng.normal(size=(len(rows), 3))
    table = pd.DataFrame(values, columns=["lab_a", "lab_b", "lab_c"])
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.permutation(len(rows)), unit="D")
    return table.assign(
        patient=[f"p{number:02}" for number in rows], visit=days.strftime("%Y-%m-%d"),
        status=np.where(ill[rows] == 1, "ill", "well"),
    )  # fmt: skip


def fitted(lvq, tmp_path, table, *options, target="status"):
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    completed = lvq("fit", path, "--target", target, "--out", tmp_path / "run", *options)
    assert completed.code == 0, completed.err
    return completed, json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))


def test_a_group_is_never_split(lvq, tmp_path, monkeypatch):
    """Every fit inside the command is to whole groups, and no group is in training and test."""
    from sklearn.pipeline import Pipeline

    table, fits = patients(), []
    fit = Pipeline.fit
    monkeypatch.setattr(Pipeline, "fit", lambda self, X, y=None, **more: fits.append(X) or fit(self, X, y, **more))
    _, metrics = fitted(lvq, tmp_path, table, "--group", "patient", "--drop", "visit", "--folds", 2, "--model", "gmlvq")
    assert list(load(tmp_path / "run" / "model.lvq").feature_names_in_) == ["lab_a", "lab_b", "lab_c"]
    assert "all of 10 groups" in metrics["context"]["protocol"]
    assert "in folds of whole groups" in metrics["context"]["protocol"]
    assert metrics["data"]["n_samples"] == 50
    assert len(fits) > 20
    for X in fits:
        assert set(table.loc[X.index - 2].groupby("patient").size()) == {5}


def test_temperature_respects_groups(lvq, tmp_path):
    """Patients are recognised by their values, so that probabilities look calibrated when patients are split."""
    table = patients(apart=0, visits=8).drop(columns="visit")
    temperature = {}
    for name, options in (("split", ("--drop", "patient")), ("whole", ("--group", "patient"))):
        fitted(lvq, tmp_path, table, *options, "--folds", 0, "--force")
        temperature[name] = load(tmp_path / "run" / "model.lvq").estimator_[-1].model_.decision.temperature
    assert temperature["whole"] > 1.5 * temperature["split"]


def test_a_guarantee_with_groups_counts_groups(lvq, tmp_path):
    table = patients(n_patients=120)
    table[["lab_a", "lab_b"]] += 8 * (table[["status"]] == "ill").to_numpy()
    completed, metrics = fitted(
        lvq, tmp_path, table, "--group", "patient", "--drop", "visit", "--folds", 0, "--max-error", 0.2, "--confidence",
        0.8, "--model", "glvq",
    )  # fmt: skip
    assert "for a randomly chosen row of a new group" in " ".join(completed.out.split())
    assert "one row of each group" in metrics["context"]["protocol"]
    assert metrics["model"]["rejection"]["guarantee"]["n_testing"] <= 45  # half of the training patients, not visits


def test_time_tests_on_the_future(lvq, tmp_path):
    table = patients()
    completed, metrics = fitted(
        lvq, tmp_path, table, "--time", "visit", "--drop", "patient", "--model", "glvq", "--folds", 3
    )
    names = metrics["map"]["points"]["name"]
    later = table["visit"].sort_values().iloc[-50:]
    assert set(names) == {row + 2 for row in later.index}  # as a spreadsheet counts
    assert "The latest 50 of 200 rows" in metrics["context"]["protocol"]
    until, since = table["visit"].sort_values().iloc[-51], later.iloc[0]
    assert (
        f"those from {since} on (visit); the model was fitted to rows up to {until}." in metrics["context"]["protocol"]
    )
    assert sum(metrics["context"]["folds"]["n_samples"]) == pytest.approx(
        3 / 4 * 150, abs=1
    )  # the first quarter only trains
    assert "visit" not in metrics["data"]["variables"]
    assert completed.code == 0


def test_features_that_are_dates_are_shown_as_dates(lvq, tmp_path):
    """In explanations, and in prototypes of a validation, which knows from the run which columns are dates."""
    table = patients()
    options = ("--date", "visit", "--drop", "patient", "--model", "grlvq", "--folds", 0)
    _, metrics = fitted(lvq, tmp_path, table, *options)
    lines = [(one["name"], line) for one in metrics["explanations"]["typical"] for line in one["features"]]
    dates = [(name, line) for name, line in lines if line["name"] == "visit"]
    assert dates
    assert all(line["value"] == table["visit"][name - 2] for name, line in dates)
    validated = lvq("validate", tmp_path / "run", tmp_path / "table.csv")
    assert validated.code == 0, validated.err
    shown = json.loads((tmp_path / "run" / "validation-table.json").read_text())["prototypes"]
    assert re.fullmatch(r"2020-\d\d-\d\d", shown["low"][shown["features"].index("visit")])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_coverage_of_later_rows_is_the_requested_one():
    """Nothing drifts, so 90 % of later rows are accepted: thresholds belong to the model of all training rows.

    Thresholds from models of the past alone, whose first have few rows, accepted 97 % here, and all of fewer rows.
    """
    from sklearn.model_selection import StratifiedKFold

    from lvq import LVQClassifier, RejectClassifier
    from lvq.workflow.design import Design
    from lvq.workflow.fitting import fit_rejecting

    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 1200)
        X = pd.DataFrame(rng.normal(size=(1200, 12)) + 0.9 * y[:, None] * (np.arange(12) < 5)).rename(columns=str)
        model = LVQClassifier(max_iter=15, calibration=None, random_state=0)
        classifier = RejectClassifier(model, min_coverage=0.9, cv=StratifiedKFold(5), measure="combined")
        design = Design(times=np.arange(200.0))
        fit_rejecting(classifier, X.iloc[:200], y[:200], design, seed=0)
        found.append(classifier.coverage(X.iloc[200:]))
    assert 0.86 < np.mean(found) < 0.94


def test_time_and_group_leave_out_the_training_rows_of_test_groups(lvq, tmp_path):
    completed, metrics = fitted(
        lvq, tmp_path, patients(visits=2), "--time", "visit", "--group", "patient", "--model", "glvq", "--folds", 0
    )
    assert "training rows of groups that also have test rows" in completed.err
    assert metrics["data"]["n_train"] + metrics["data"]["n_samples"] < 80


def test_columns_by_pattern(lvq, tmp_path):
    table = patients()
    fitted(lvq, tmp_path, table, "--features", "lab_*", "--drop", "*_b", "--model", "glvq", "--folds", 0)
    assert list(load(tmp_path / "run" / "model.lvq").feature_names_in_) == ["lab_a", "lab_c"]
    path = tmp_path / "table.csv"
    completed = lvq("fit", path, "--target", "status", "--features", "x*", "--out", tmp_path / "other")
    assert completed.code == 1
    assert "matches 'x*' (--features)" in completed.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group", "patien"), "Did you mean 'patient'?"),
        (("--time", "status", "--target", "patient"), "must hold dates or numbers for --time"),
        (("--group", "status", "--target", "lab_a"), "--group needs at least 4 groups"),
    ],
)
def test_designs_that_are_not_possible(lvq, tmp_path, options, message):
    path = tmp_path / "table.csv"
    patients().assign(lab_a=lambda table: (table["lab_a"] > 0).astype(str)).to_csv(path, index=False)
    target = () if "--target" in options else ("--target", "status")
    completed = lvq("fit", path, *target, *options, "--drop", "visit", "--out", tmp_path / "run")
    assert completed.code == 1
    assert message in completed.err


def test_a_guarantee_that_leaves_one_class_to_train_on(lvq, tmp_path):
    rng, day = np.random.default_rng(0), np.arange(60)
    y = np.where((day % 2 == 1) | (day < 30), "a", "b")  # the first two of four groups have one class
    table = pd.DataFrame({"x": rng.normal(3.0 * (y == "a")), "v": rng.normal(size=60), "day": day, "status": y})
    table["group"] = day // 15
    options = ("--time", "day", "--group", "group", "--model", "glvq", "--folds", 0, "--max-error", 0.2)
    table.to_csv(tmp_path / "table.csv", index=False)
    completed = lvq("fit", tmp_path / "table.csv", "--target", "status", "--out", tmp_path / "run", *options)
    assert completed.code == 1
    assert "30 of 45 training rows are held out for the thresholds, which leaves fewer than two" in completed.err
