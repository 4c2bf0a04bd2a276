"""The functions behind the commands: preparation, pipelines, runs, fits and predictions."""

import inspect
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, RSLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators.find_model import need_model
from lvq.estimators.registry import MODELS
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Matrix

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from lvq.tables.header import TableError  # noqa: E402
from lvq.workflow import TableOptions, compare, fit, make_model, predict, validate  # noqa: E402
from lvq.workflow.columns import code_notes, prepare  # noqa: E402
from lvq.workflow.design import Design, split_rows  # noqa: E402
from lvq.workflow.pipeline import CROSS_FIT_BELOW, NAMES, make_pipeline_for, make_reject_classifier  # noqa: E402


def mixed(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    gaps = rng.normal(y)
    gaps[::7] = np.nan
    return pd.DataFrame(
        {
            "a": rng.normal(3.0 * y),
            "gaps": gaps,
            "colour": np.array(["red", "green", None], dtype=object)[rng.integers(0, 3, n)],
            "code": rng.integers(1, 4, n).astype(float),
            "kind": np.array(["no", "yes"])[y].astype(object),
        }
    )


# -- preparation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "step", "counts"), [(0, 1, True), (1, 1, True), (2, 1, False), (0, 2, False)])
def test_row_numbers_start_at_0_or_1(start, step, counts):
    table = mixed().assign(id=start + step * np.arange(60.0))
    table.loc[[0, 7, 8], "kind"] = None  # rows that are left out
    assert ("id" not in prepare(table, "kind").X) == counts


def test_identifiers_copies_and_leaks_are_named():
    table = mixed(n=240).assign(patient=np.random.default_rng(0).permutation(240) + 1000.0)
    table["icd"] = np.where(table["kind"] == "yes", "C50", "N60").astype(object)
    run = fit(table, "kind", model="grlvq", folds=0)
    notes = " ".join(answer.text for answer in run.report.verdict)
    assert "icd" in notes
    assert "a different whole number in every test sample: patient" in notes
    table = pd.concat([mixed(), mixed().iloc[:40]], ignore_index=True)
    notes = " ".join(answer.text for answer in fit(table, "kind", model="glvq", folds=0).report.verdict)
    assert "the same values as a training sample" in notes
    table = pd.concat([mixed(n=4)[["colour", "kind"]]] * 60, ignore_index=True)  # few different rows, not copies
    report = fit(table, "kind", model="glvq", folds=0).report
    assert report.data.n_known
    assert not any("the same values" in answer.text for answer in report.verdict)


def test_columns_of_numbers_with_some_texts_are_refused_all_at_once():
    table = mixed(n=200).astype({"a": object, "code": object})
    table.loc[[3, 50], "a"] = ["12,5x", "n/a?"]
    table.loc[:6, "code"] = "?9"
    with pytest.raises(TableError) as raised:
        prepare(table, "kind", source="t.csv")
    first, second = str(raised.value).split("The column ")[1:]
    assert first.startswith(
        "'a' of t.csv holds numbers, but 2 of 200 values are not: '12,5x' in row 3, 'n/a?' in row 50;"
    )
    assert "name them as missing with --missing-mark 'a=12,5x' --missing-mark 'a=n/a?', or" in first
    assert second.count("--missing-mark") == 1
    assert "--categorical 'a'" in first
    assert (
        "7 of 200 values are not: '?9' in row 0, '?9' in row 1, '?9' in row 2, '?9' in row 3, '?9' in row 4 and 2 more"
        in second
    )
    samples = prepare(table.drop(columns=["a"]), "kind", TableOptions(categorical=["code"]))
    assert "?9" in set(samples.X["code"])


def test_values_that_the_user_names_as_missing(tmp_path):
    table = mixed(n=100).drop(columns=["colour", "gaps"]).astype({"a": object})
    table.loc[7, "a"] = "1.5 mg"
    table.to_csv(tmp_path / "one.csv", index=False)
    with pytest.raises(TableError, match=r"1 of 100 values are not: '1\.5 mg' in row 9"):
        fit(tmp_path / "one.csv", "kind", folds=0)
    options = TableOptions(missing_marks=["a=1.5 mg"])
    fitted = fit(tmp_path / "one.csv", "kind", model="glvq", folds=0, options=options)
    assert fitted.report.context.marks == {"a": ["1.5 mg"]}
    assert "Values marked as missing: 'a=1.5 mg'." in fitted.report.context.protocol
    run, missing = fitted.write(tmp_path / "run"), table.assign(a=table["a"].replace("1.5 mg", None))
    pd.testing.assert_frame_equal(predict(run, table).frame, predict(run, missing).frame)


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ([0.0] * 5, ["0"]),
        ([-1.0] * 3 + [9999.0] * 4, ["-1", "9999"]),
        ([777.0] * 3 + [888.0] * 3 + [999.0] * 3, ["777", "888", "999"]),
        ([99.9] * 3, ["99.9"]),
        ([0.0] * 2, []),  # in two rows only
        ([0.0] * 300, []),  # in most rows
        ([1000.0] * 5, []),  # not a usual code
        ([49.0, 39.0, 29.0, 19.0, 9.0, 9.0, 9.0], []),  # the smallest of several outliers
    ],
)
def test_codes_of_missing_values(codes, found):
    noted = code_notes(pd.DataFrame({"x": [*codes, *np.linspace(50, 80, 121), np.nan]}))
    assert [note.partition("'x=")[2] for note in noted] == [f"{code}'." for code in found]


def test_many_texts_are_named():
    comment = np.array([f"seen in week {week}" for week in range(24)], dtype=object)[np.arange(60) % 24]
    notes = prepare(mixed().assign(comment=comment), "kind").notes
    (note,) = (note for note in notes if "--drop 'comment'" in note)
    assert note.startswith("One-hot encoded 'comment', 24 strings;")
    assert prepare(mixed().assign(comment=comment), "kind", TableOptions(categorical=["comment"])).notes == ()


def test_counts_and_continuous_values_hold_no_codes():
    rng = np.random.default_rng(0)
    for values in (
        rng.poisson(5.0, 500),
        rng.integers(0, 10, 500),
        rng.normal(size=500).round(1),
        rng.lognormal(size=500),
    ):
        assert code_notes(pd.DataFrame({"x": values.astype(float)})) == []


def test_rows_without_a_class_are_counted_in_the_error():
    table = mixed().assign(stage=np.array(["severe", None], dtype=object)[np.arange(60) % 2])
    with pytest.raises(TableError, match=r"only the class 'severe', and 30 rows without a value \(.*None\)"):
        prepare(table, "stage")


# -- pipelines ---------------------------------------------------------------------------------------------------------


def test_names_of_models():
    assert isinstance(make_model(), LVQClassifier)
    assert isinstance(make_model("LVQ-CV"), LVQClassifierCV)
    for name in MODELS:
        if " " not in name:
            assert type(make_model(name)) is MODELS[name].estimator
    assert make_model("dk-gmlvq").kernel == "gaussian"
    assert make_model("gmlvq").get_params() == GMLVQ(random_state=0).get_params()
    for name in set(NAMES) - {"lvq-cv"}:
        assert make_model(name, prototypes=2, seed=1).random_state == 1
    with pytest.raises(ValueError, match="lvq-cv, which chooses their number"):
        make_model("lvq-cv", prototypes=2)
    with pytest.raises(ValueError, match=r"Did you mean 'gmlvq'\?"):
        make_model("gmlqv")


def test_a_fold_without_a_value_of_a_column_still_fits():
    table = mixed()
    table["gaps"] = np.where(np.arange(60) == 3, 1.0, np.nan)
    samples = prepare(table, "kind")
    rows = np.arange(10, 60)
    model = make_pipeline_for(samples, GLVQ(random_state=0)).fit(samples.X.iloc[rows], samples.y[rows])
    assert len(model.predict(samples.X)) == 60


def test_thresholds_of_small_tables_are_cross_fitted():
    assert make_reject_classifier(GLVQ(), n_samples=CROSS_FIT_BELOW - 1).cv.n_splits == 5
    assert make_reject_classifier(GLVQ(), n_samples=CROSS_FIT_BELOW).cv == 0.3
    assert make_reject_classifier(GLVQ(), n_samples=10).min_coverage == 0.9
    assert make_reject_classifier(GLVQ(), n_samples=10, smallest_class=3).cv.n_splits == 3
    guaranteed = make_reject_classifier(GLVQ(), n_samples=10, max_error=0.1, confidence=0.8)
    assert guaranteed.cv == 0.5
    assert make_reject_classifier(GLVQ(), n_samples=10**6, max_error=0.01).cv == 0.3
    assert (guaranteed.min_coverage, guaranteed.max_error[0], guaranteed.confidence) == (None, 0.1, 0.8)
    assert guaranteed.max_error == sorted(guaranteed.max_error)  # weaker bounds, fixed before the rows are seen
    assert guaranteed.max_error[-1] == 0.5
    with pytest.raises(ValueError, match=r"max_error .* or coverage .*, not both"):
        make_reject_classifier(GLVQ(), n_samples=10, max_error=0.1, coverage=0.5)


# -- splits ------------------------------------------------------------------------------------------------------------


def test_the_test_rows_do_not_change_the_model():
    """Values of the test rows do not change the prototypes."""
    table, prototypes = mixed(n=80), []
    _, test, _ = split_rows(prepare(table, "kind"), Design(), 0.25, 0)
    changed = table.copy()
    changed.loc[test, "a"] = 1e5 * (1 + np.arange(len(test)))
    for each in (table, changed):
        prototypes.append(fit(each, "kind", model="glvq", folds=2).model.estimator_[-1].prototypes_)
    np.testing.assert_array_equal(*prototypes)


def test_the_models_of_the_folds_are_fitted_once(monkeypatch):
    """The cross-validation and the thresholds share them; with another number of folds each has its own."""
    before, fits, results = GLVQ.fit, [], []
    monkeypatch.setattr(GLVQ, "fit", lambda self, X, y, *rest: fits.append(len(y)) or before(self, X, y, *rest))
    for folds in (5, 4, 0):
        results.append(fit(mixed(n=80), "kind", model="glvq", folds=folds))
        assert results[-1].model.cv.n_splits == 5
    assert fits == [48] * 5 + [60] + [45] * 4 + [60] + [48] * 5 + [60] + [48] * 5
    np.testing.assert_array_equal(*(result.model.estimator_[-1].prototypes_ for result in results[:2]))


@pytest.mark.parametrize("options", [{}, {"max_error": 0.3}, {"costs": {"no:yes": 3.0}}])
def test_each_row_is_predicted_once_by_the_fitted_model(monkeypatch, options):
    """Thresholds and all parts of the report read the same distances; the map has others, of its grid."""
    seen, table = [], mixed(n=120)
    for name in ("distances", "predicted"):
        before = getattr(PrototypeModel, name)
        counting = lambda self, X, before=before: seen.append((self, X)) or before(self, X)  # noqa: E731
        monkeypatch.setattr(PrototypeModel, name, counting)
    run = fit(table, "kind", folds=2, **options)
    found = need_model(run.model, "a test")
    rows = Counter(row.tobytes() for model, X in seen if model is found.model for row in np.asarray(X))
    counts = [rows[row.tobytes()] for row in found.inputs(table[run.model.feature_names_in_])]
    tested = split_rows(prepare(table, "kind"), Design(), 0.25, seed=0)[1]
    assert {counts[row] for row in tested} == {1}
    assert set(counts) == ({0, 1} if "max_error" in options else {1})  # what trains is not tested


@pytest.mark.parametrize("options", [{"folds": 0}, {"folds": 5}, {"folds": 0, "max_error": 0.3}])
def test_the_stored_folds_are_those_of_the_thresholds(options):
    """They are drawn at random, as held-out rows are: rows that are neighbours in a table may be alike."""
    table = mixed(n=120)[["a", "code", "kind"]]
    model = fit(table, "kind", model="glvq", seed=1, **options).model
    assert isinstance(model.cv, float) if "max_error" in options else model.cv.shuffle
    train = split_rows(prepare(table, "kind"), Design(), 0.25, seed=1)[0]
    again = clone(model).fit(table[["a", "code"]].iloc[train], table["kind"].iloc[train].to_numpy(dtype=str))
    np.testing.assert_array_equal(again.point_.thresholds, model.point_.thresholds)


def test_a_coverage_of_1_accepts_all():
    table = mixed(200)[["a", "code", "kind"]]
    result = fit(table, "kind", model="glvq", folds=0, coverage=1.0)
    assert result.notes == []
    assert result.model.accept(table[["a", "code"]].assign(a=1e6)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"test_size": 1.0}, "test_size"), ({"folds": 1}, "folds must be"), ({"confidence": 1}, "confidence must be a")],
)
def test_wrong_numbers_are_refused_first(options, message):
    with pytest.raises(ValueError, match=message):
        fit("no such table.csv", "kind", **options)


# -- codes -------------------------------------------------------------------------------------------------------------


def coded(n=80):
    """A table with a patient's number beyond float64, a ward as a number, and a postal code with a zero before."""
    place = np.arange(n)
    return pd.DataFrame(
        {
            "patient": 2**53 + 1 + place,
            "a": np.random.default_rng(0).normal(3.0 * (place % 2)),
            "ward": (place // 2 % 3).astype(float),
            "zip": np.array(["01067", "04109", "10115"], dtype=object)[place // 3 % 3],
            "kind": np.array(["007", "010"], dtype=object)[place % 2],
        }
    )


def written(path, table):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("fitted", ["fit.csv", "fit.parquet"])
def test_codes_are_matched_however_a_file_writes_them(tmp_path, fitted):
    table, options = coded(), TableOptions(drop=["patient"], categorical=["ward", "zip"])
    result = fit(written(tmp_path / fitted, table), "kind", model="glvq", folds=0, options=options)
    assert result.model.classes_.tolist() == ["007", "010"]
    others = {
        "same.csv": table,
        "same.parquet": table,
        "whole.csv": table.assign(ward=table["ward"].astype(int)),
        "spreadsheet.csv": table.assign(zip=table["zip"].astype(int)),
        "spreadsheet.parquet": table.assign(zip=table["zip"].astype(int)),
    }
    for name, other in others.items():
        found = predict(result.model, written(tmp_path / name, other), tmp_path / "predictions.csv", force=True)
        assert found.reasons["unknown category"] == 0, name
        assert found.labels.keys() == {"007", "010"}
    strange = written(tmp_path / "strange.csv", table.assign(ward=7))
    assert predict(result.model, strange, tmp_path / "predictions.csv", force=True).accepted == 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_kept_columns_are_copies(tmp_path, suffix):
    table = coded()
    model = GLVQ(random_state=0).fit(table[["a", "ward"]], table["kind"])
    for name in ("table.csv", "table.parquet"):
        path, out = written(tmp_path / name, table), tmp_path / f"predictions{suffix}"
        predict(model, path, out, keep=["patient", "zip"], force=True)
        predictions = pd.read_csv(out, dtype=str) if suffix == ".csv" else pd.read_parquet(out)
        assert predictions["patient"].astype(str).tolist() == table["patient"].astype(str).tolist()
        assert predictions["zip"].tolist() == table["zip"].tolist()


# -- models fitted in Python ------------------------------------------------------------------------------------------


def test_any_model_with_column_names_can_predict():
    table = mixed()[["a", "code"]]
    model = GLVQ(random_state=0).fit(table, mixed()["kind"])
    found = predict(model, table)
    assert found.frame["label"].tolist() == model.predict(table).tolist()
    assert found.frame["accepted"].all()
    assert found.accepted == 60
    model = RSLVQ(decision="posterior", random_state=0).fit(table, mixed()["kind"])
    found = predict(model, table)
    assert found.frame["label"].tolist() == model.predict(table).tolist()


@pytest.mark.parametrize(("scaled", "value"), [(False, 1e200), (True, -1e308)])
def test_a_row_whose_distances_overflow_is_rejected(scaled, value):
    table = mixed()[["a", "code"]]
    model = GLVQ(random_state=0)
    model = (make_pipeline(StandardScaler(), model) if scaled else model).fit(table * 1e-2, mixed()["kind"])
    table.loc[[3, 5], "code"] = value
    found = predict(model, table * 1e-2)
    assert found.notes == [
        "2 rows with a value of 'code' that is too large to compute distances (first in row 3): rejected."
    ]
    assert found.frame["reason"].eq("value too large").to_numpy().nonzero()[0].tolist() == [3, 5]
    assert found.frame["label"].isna().to_numpy().nonzero()[0].tolist() == [3, 5]
    assert found.accepted == 58


def test_a_model_without_column_names_is_refused():
    model = GLVQ(random_state=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="without column names"):
        predict(model, pd.DataFrame({"a": [1.0]}))


# -- data frames -------------------------------------------------------------------------------------------------------


def test_a_data_frame_gives_the_same_as_its_file(tmp_path):
    table = mixed(n=120)
    table.to_csv(tmp_path / "table.csv", index=False)
    options = TableOptions(categorical=["code"])
    of_frame, of_file = (fit(each, "kind", options=options, folds=2) for each in (table, tmp_path / "table.csv"))
    one, other = (run.report.to_json() for run in (of_frame, of_file))
    one["prototypes"]["exemplar"] = [row + 2 for row in one["prototypes"]["exemplar"]]  # lines of the file, after names
    for part in ("metrics", "rejection", "relevance", "prototypes", "verdict", "coverage"):
        assert one[part] == other[part], part
    assert one["context"]["folds"] == other["context"]["folds"]
    of_frame.write(tmp_path / "run")
    with pytest.raises(FileExistsError, match="force"):
        of_frame.write(tmp_path / "run")
    rows = table.drop(columns="kind").set_axis([f"r{k}" for k in range(120)], axis=0)
    found = predict(tmp_path / "run", rows)
    assert found.frame.index.tolist() == rows.index.tolist()
    written = pd.read_csv(predict(tmp_path / "run", tmp_path / "table.csv", tmp_path / "p.csv").path)
    assert found.frame["label"].tolist() == written["label"].tolist()
    np.testing.assert_array_equal(found.frame["certainty"].to_numpy(dtype=float), written["certainty"])
    here, there = (validate(tmp_path / "run", each, force=True).report for each in (table, tmp_path / "table.csv"))
    assert here.metrics == there.metrics
    assert here.metrics.accuracy.count == (found.frame["label"].to_numpy() == table["kind"].to_numpy()).sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": ("kind", "")}, r"name columns by strings, here \"\('kind', ''\)\" instead of"),
        ({"options": TableOptions(drop=[("n", "")])}, "name columns by strings"),
        ({"models": []}, "models must have the name of a model"),
    ],
)
def test_what_a_comparison_is_given_wrongly(options, message):
    table = mixed()
    table.columns = pd.MultiIndex.from_product([list(table), [""]])
    with pytest.raises(ValueError, match=message):
        compare(table, **{"target": "('kind', '')", "others": False} | options)


def test_a_data_frame_is_not_changed_and_keeps_its_index():
    table = mixed().set_axis([f"case {k}" for k in range(60)], axis=0)
    before = table.copy()
    run = fit(table, "kind", model="glvq", folds=0, options=TableOptions(missing_marks=["colour=red"]))
    pd.testing.assert_frame_equal(table, before)
    assert all(str(name).startswith("case ") for name in run.report.map.points.name)


def test_a_fit_has_few_parameters():
    assert len(inspect.signature(fit).parameters) <= 15


def test_a_model_may_be_given_as_an_estimator():
    run = fit(mixed(), "kind", model=GMLVQ(relevance=Matrix(rank=1), n_prototypes=2), folds=0)
    assert run.report.model.parameters == {"n_prototypes": 2, "relevance": "Matrix(rank=1)"}
    assert run.report.model.n_prototypes == 4
