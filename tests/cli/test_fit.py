"""`lvq fit`: a good run, and everything that can be wrong with a table or an option."""

import json
import os
import re

import numpy as np
import pytest

from lvq.persistence import load
from lvq.tables.header import TableError

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

FILES = {"model.lvq", "report.html", "metrics.json"}


def refused(completed, code=1):
    """The error on standard error, one line; nothing on standard output."""
    assert completed.code == code, completed
    assert completed.out == ""
    assert "Traceback" not in completed.err
    lines = [line for line in completed.err.splitlines() if not line.startswith("Note:")]
    if code == 1:
        assert len(lines) == 1, completed.err
    assert lines[-1].startswith("Error: ")
    return lines[-1]


def table_of(tmp_path, **columns):
    path = tmp_path / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def two_classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return {"a": rng.normal(3.0 * y), "b": rng.normal(size=n), "kind": np.array(["no", "yes"])[y]}


# -- a good run --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "rows"), [(2, True), (21, False)])
def test_metrics_of_the_classes_on_the_console(lvq, tmp_path, n_classes, rows):
    y = np.arange(10 * n_classes) % n_classes
    path = table_of(tmp_path, a=np.random.default_rng(0).normal(3.0 * y), kind=y)
    completed = lvq(
        "fit", path, "--target", "kind", "--model", "glvq", "--folds", 0, "--out", tmp_path / "run", "--prototypes", 1
    )
    assert completed.code == 0, completed.err
    lines = completed.out.splitlines()
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))["metrics"]["by_class"][1]
    values = [metrics[name]["value"] for name in ("sensitivity", "specificity", "ppv", "npv")]
    shown = ["–" if value is None else f"{100 * value:.1f} %" for value in values]
    line = " ".join(["1", str(metrics["sensitivity"]["total"]), *shown])
    assert (line in [" ".join(line.split()) for line in lines]) == rows
    assert max(len(line) for line in lines[1:] if not line.startswith("Written")) <= 80


def test_the_numbers_are_those_of_the_model_and_the_metrics(run, fruit_csv):
    folder, completed = run
    for text in ("Accuracy", "balanced accuracy", "logistic regression", "Importance", "Written to", "length [cm]"):
        assert text in " ".join(completed.out.split())  # brackets are not markup; lines are wrapped anywhere
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    accuracy = metrics["metrics"]["accuracy"]
    assert f"{accuracy['count']} of {accuracy['total']}" in completed.out
    assert metrics["context"]["target"] == "Sorte"
    assert metrics["data"]["n_train"] + metrics["data"]["n_samples"] == 160
    assert accuracy["value"] > 0.8
    model = load(folder / "model.lvq")
    assert sorted(model.classes_) == ["Birne", "Äpfel"]
    assert model.feature_names_in_.tolist() == ["length [cm]", "weight", "colour", "ripe"]


def test_the_same_seed_gives_the_same_files(lvq, tmp_path):
    path = table_of(tmp_path, **two_classes())
    for name in ("one", "two"):
        completed = lvq(
            "fit", path, "--target", "kind", "--model", "gmlvq", "--folds", 2, "--seed", 3, "--out", tmp_path / name
        )
        assert completed.code == 0, completed.err
    one, two = ((tmp_path / name / "metrics.json").read_text(encoding="utf-8") for name in ("one", "two"))
    assert one == two


def test_the_options_reach_the_model(lvq, tmp_path):
    path = table_of(tmp_path, **two_classes())
    completed = lvq(
        "fit", path, "--target", "kind", "--model", "gmlvq", "--prototypes", 3,
        "--coverage", 0.8, "--seed", 7, "--test-size", 0.5, "--folds", 0, "--out", tmp_path / "run",
        "--title", "Ward 7",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    model = load(tmp_path / "run" / "model.lvq")
    inner = model.estimator_[-1]
    assert (inner.n_prototypes, inner.random_state) == (3, 7)
    assert (model.min_coverage, model.max_error, model.random_state) == (0.8, None, 7)
    assert completed.out.startswith("Ward 7 on table.csv")
    assert "30 test rows" in completed.out
    assert "Ward 7" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


# -- a guarantee -------------------------------------------------------------------------------------------------------


def test_a_guarantee_that_is_not_achievable_is_weaker_and_reports_the_rows_it_needs(lvq, tmp_path):
    completed = lvq(
        "fit", table_of(tmp_path, **two_classes()), "--target", "kind", "--model", "glvq", "--max-error", 0.01,
        "--folds", 0, "--out", tmp_path / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    note = re.search(
        r"An error rate of at most 1 % could not be guaranteed; ([\d.]+) % is the lowest bound that can be guaranteed "
        r"for accepted predictions, with confidence 0\.95, at a coverage of \d+ %\. .* Why: .* needs at least 299 "
        r"accepted testing samples .* give about (\d+) samples to fit .* The rows to fit are 75 % of the table",
        completed.err.replace("\n", " "),
    )
    assert note is not None, completed.err
    assert int(note[2]) > 299
    shown = " ".join(completed.out.split())
    assert f"at most {float(note[1]):g} % of the accepted predictions are wrong" in shown
    assert f"The requested 1.0 % could not be guaranteed. Requested alone, {note[1]} % may accept more" in shown
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"model.lvq", "report.html", "metrics.json"}
    assert note[0] in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["model"]["rejection"]["guarantee"]["requested_error"] == 0.01


@pytest.mark.parametrize(("rare", "weak"), [(0.1, True), (0.5, False)])
def test_a_guarantee_that_a_constant_prediction_meets_is_called_weak(lvq, tmp_path, rare, weak):
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(400) < rare * 400, "yes", "no")
    values = rng.normal(size=400) + 3 * (kind == "yes")
    completed = lvq(
        "fit", table_of(tmp_path, kind=kind, a=values, b=rng.normal(size=400)), "--target", "kind", "--model", "glvq",
        "--max-error", 0.2, "--folds", 0, "--out", tmp_path / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    sentence = "Always predicting the most frequent class is wrong for"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert (sentence in " ".join(completed.out.split())) == (sentence in page) == weak


# -- tables that cannot be used ---------------------------------------------------------------------------------------


def wrong(name, columns, message, *options):
    return pytest.param(columns, message, options, id=name)


@pytest.mark.parametrize(
    ("columns", "message", "options"),
    [
        wrong("one class", {"a": range(20), "kind": ["x"] * 20}, "has only the class 'x'; two or more are needed"),
        wrong("no class", {"a": [1, 3] * 10, "kind": [None] * 20}, "has no value in any row"),
        wrong(
            "a thousand classes of one or two",
            {"a": np.arange(1500) ** 2, "kind": [f"c{k % 1000}" for k in range(1500)]},
            r"needs at least 5 rows .* fewer of 'c0' \(2\), .* and 992 more",
        ),
        wrong("no feature", {"a": [1] * 20, "kind": ["x", "y"] * 10}, "no column that can be a feature"),
        wrong(
            "too many strings",
            {"a": [f"note {k}" for k in range(200)], "kind": ["x", "y"] * 100},
            r"'a' .* holds 200 different strings .* 'note 0'.* names rows.* --drop 'a', .* together, .* --group 'a'",
        ),
        wrong("infinite", {"a": [1, np.inf] * 10, "kind": ["x", "y"] * 10}, r"'a' .* holds inf in row 3,"),
        wrong("dropped target", {"a": [1, 3] * 10, "kind": ["x", "y"] * 10}, "cannot be left out", "--drop", "kind"),
        wrong("dropped nothing", {"a": [1, 3] * 10, "kind": ["x", "y"] * 10}, "no column 'c'", "--drop", "c"),
        wrong(
            "two in one",
            {"a": [1, 3] * 10, "b": [1, 4] * 10, "kind": ["x", "y"] * 10},
            "each of these names separately",
            "--drop",
            "a,b",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(lvq, tmp_path, columns, message, options):
    path = table_of(tmp_path, **columns)
    completed = lvq("fit", path, "--target", "kind", "--model", "glvq", "--out", tmp_path / "run", *options)
    assert re.search(message, refused(completed))
    assert not (tmp_path / "run").exists()


def test_notes_name_what_is_left_out(lvq, tmp_path):
    columns = two_classes()
    path = table_of(tmp_path, id=range(1, 61), same=["s"] * 60, also=0, **columns)
    text = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*text, "61,s,0,1.0,2.0,", ""]), encoding="utf-8")
    completed = lvq("fit", path, "--target", "kind", "--model", "glvq", "--folds", 0, "--out", tmp_path / "run")
    assert completed.code == 0, completed.err
    assert completed.err.splitlines() == [
        "Note: Left out 1 row without a value of 'kind' (an empty cell, or a string such as NA or None).",
        "Note: Left out 1 column with the number of the row: 'id'.",
        "Note: Left out 2 columns with the same value in all rows: 'same', 'also'.",
    ]


# -- wrong usage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prototypes", "0"), "prototypes"),
        (("--max-error", "5"), "5 % is 0.05"),
        (("--colour", "red"), "No such option"),
        (("--folds", "x"), "folds"),
    ],
)
def test_wrong_usage_has_its_own_exit_code(lvq, tmp_path, options, message):
    path = table_of(tmp_path, **two_classes())
    completed = lvq("fit", path, "--target", "kind", "--out", tmp_path / "run", *options)
    assert message in refused(completed, code=2)


def test_missing_arguments(lvq, fruit_csv):
    assert "TABLE" in refused(lvq("fit"), code=2)
    assert "--target" in refused(lvq("fit", fruit_csv), code=2)
    assert "--out" in refused(lvq("fit", fruit_csv, "--target", "Sorte"), code=2)


# -- folders -----------------------------------------------------------------------------------------------------------


def test_an_existing_run_is_replaced_only_by_force(lvq, tmp_path):
    path, folder = table_of(tmp_path, **two_classes()), tmp_path / "run"
    folder.mkdir()
    (folder / "metrics.json").write_text("mine", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    options = ("--target", "kind", "--model", "glvq", "--folds", 0, "--out", folder)
    assert "metrics.json exists; use --force (force=True)" in refused(lvq("fit", path, *options))
    assert (folder / "metrics.json").read_text(encoding="utf-8") == "mine"
    completed = lvq("fit", path, *options, "--force")
    assert completed.code == 0, completed.err
    assert {place.name for place in folder.iterdir()} == FILES | {"notes.txt"}
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_computed(lvq, tmp_path, monkeypatch):
    monkeypatch.setattr("lvq.workflow.study.open_table", lambda *_, **__: pytest.fail("it was read"))
    path = table_of(tmp_path, **two_classes())
    (tmp_path / "file").touch()
    places = [tmp_path / "file", tmp_path / "file" / "run", tmp_path / "file" / "deep" / "run"]
    for place in [*places, "/proc/run", "/proc/self/run"] if os.path.isdir("/proc/self") else places:
        message = refused(lvq("fit", path, "--target", "kind", "--out", place))
        assert "choose another" in message


def test_debug_raises_the_error(lvq, tmp_path):
    with pytest.raises(TableError, match="does not exist"):
        lvq("fit", tmp_path / "no.csv", "--target", "kind", "--out", tmp_path / "run", "--debug")
