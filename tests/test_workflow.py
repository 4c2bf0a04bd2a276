"""The whole job as functions: preparation, assembly, folders, and the numbers that come out."""

import re
import signal
import threading

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer

from lvq import GLVQ, GMLVQ, MODELS, LVQClassifier, LVQClassifierCV
from lvq.rejection import RejectClassifier

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from lvq.tables import TableError  # noqa: E402
from lvq.workflow import (  # noqa: E402
    fit_table,
    load_model,
    make_model,
    make_pipeline_for,
    make_rejecting,
    predict_table,
    prepare,
)
from lvq.workflow.assembly import NAMES, SMALL  # noqa: E402
from lvq.workflow.fitting import split  # noqa: E402
from lvq.workflow.folders import all_or_nothing, check_folder  # noqa: E402
from lvq.workflow.matching import expected_columns  # noqa: E402


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


def test_columns_are_sorted_by_kind():
    samples = prepare(mixed(), "kind", categorical=["code"])
    assert list(samples.X) == ["a", "gaps", "colour", "code"]
    assert samples.gaps == ("gaps",)
    assert samples.texts == ("colour", "code")
    assert set(samples.X["code"]) == {"1", "2", "3"}
    assert set(samples.X["colour"]) == {"red", "green", "(missing)"}
    assert samples.notes == ()


def test_the_table_is_left_as_it_is():
    table = mixed()
    before = table.copy()
    prepare(table, "kind", categorical=["code"])
    pd.testing.assert_frame_equal(table, before)


def test_repeated_rows_are_told():
    table = pd.concat([mixed(), mixed().iloc[:5]], ignore_index=True)
    assert any("5 rows repeat another one" in note for note in prepare(table, "kind").notes)


@pytest.mark.parametrize(("start", "step", "counts"), [(0, 1, True), (1, 1, True), (2, 1, False), (0, 2, False)])
def test_only_a_count_of_rows_is_a_count_of_rows(start, step, counts):
    table = mixed().assign(id=start + step * np.arange(60.0))
    assert ("id" not in prepare(table, "kind").X) == counts


def test_a_count_of_rows_is_one_without_some_of_the_rows():
    table = mixed().assign(id=np.arange(60.0))
    table.loc[[0, 7, 8], "kind"] = None
    assert "id" not in prepare(table, "kind").X


def test_columns_to_look_at_twice():
    table = mixed(n=80)
    plain = prepare(table, "kind").notes
    table = table.assign(
        patient=np.random.default_rng(0).permutation(80) + 1000.0,
        icd=np.where(table["kind"] == "yes", "C50", "N60").astype(object),
        dose=np.where(np.arange(80) % 8, (np.arange(80) % 5).astype(str), "n.d.").astype(object),
    )
    more = prepare(table, "kind").notes
    assert plain == ()
    assert len(more) == 3
    assert "'dose' holds numbers, but also texts such as 'n.d.'" in more[0]
    assert "a whole number of its own in 'patient'" in more[1]
    assert "can be read off 'icd' alone" in more[2]
    assert len(prepare(table, "kind", categorical=["dose"], drop=["patient", "icd"]).notes) == 0


def test_a_text_of_its_own_in_every_row_is_no_category():
    table = mixed().assign(name=[f"N{k}" for k in range(60)])
    with pytest.raises(TableError, match=r"'name' .* another text in every row, such as 'N0'.*--drop 'name'"):
        prepare(table, "kind")


def test_among_numbers_the_text_is_named():
    table = mixed(n=200).assign(dose=[*(f"{k}.5" for k in range(199)), "<0.5"])
    with pytest.raises(TableError, match=r"200 different texts, such as '<0\.5' among numbers"):
        prepare(table, "kind")


def test_a_class_that_reads_as_missing_is_told():
    table = mixed().assign(stage=np.array(["severe", None], dtype=object)[np.arange(60) % 2])
    with pytest.raises(TableError, match=r"only the class 'severe', beside 30 rows without a value \(.*None\)"):
        prepare(table, "stage")


def test_numbers_may_be_classes():
    table = mixed().assign(grade=np.arange(60) % 3 + 1.0)
    assert set(prepare(table, "grade").y) == {"1", "2", "3"}
    table["grade"] += 0.5  # a few levels with fractions are classes, many are measured
    assert set(prepare(table, "grade").y) == {"1.5", "2.5", "3.5"}


def test_dates_are_refused_unless_dropped():
    table = mixed().assign(when=pd.date_range("2020-01-01", periods=60))
    with pytest.raises(TableError, match=r"'when' .* --drop 'when'"):
        prepare(table, "kind")
    assert "when" not in prepare(table, "kind", drop=["when"]).X


# -- assembly ----------------------------------------------------------------------------------------------------------


def test_names_of_models():
    assert isinstance(make_model(), LVQClassifier)
    assert isinstance(make_model("LVQ-CV"), LVQClassifierCV)
    for name in MODELS:
        if " " not in name:
            assert type(make_model(name)) is MODELS[name].estimator
    assert make_model("lvq", kernel="none").kernel is None
    assert make_model("dk-gmlvq").kernel == "gaussian"
    assert make_model("gmlvq").get_params() == GMLVQ(random_state=0).get_params()


def test_every_name_can_be_made():
    for name in NAMES:
        assert make_model(name, prototypes=2, seed=1).random_state == 1


def test_plain_numbers_are_only_standardised():
    samples = prepare(mixed()[["a", "code", "kind"]], "kind")
    assert list(make_pipeline_for(samples, GLVQ()).named_steps) == ["standardscaler", "glvq"]


def test_what_is_learned_is_learned_from_the_training_rows():
    """Values of other rows, however odd, change nothing."""
    samples = prepare(mixed(), "kind")
    rows = np.arange(40)
    one = make_pipeline_for(samples, GLVQ(random_state=0)).fit(samples.X.iloc[rows], samples.y[rows])
    table = mixed()
    table.loc[40:, ["a", "gaps", "code"]] = 1e6
    other = prepare(table, "kind")
    two = make_pipeline_for(other, GLVQ(random_state=0)).fit(other.X.iloc[rows], other.y[rows])
    np.testing.assert_array_equal(one[-1].prototypes_, two[-1].prototypes_)


def test_numbers_gaps_and_categories_as_the_model_sees_them():
    samples = prepare(mixed(), "kind")
    pipeline = make_pipeline_for(samples, GLVQ(random_state=0)).fit(samples.X, samples.y)
    columns = pipeline[0]
    assert isinstance(columns, ColumnTransformer)
    names = columns.get_feature_names_out().tolist()
    seen = pd.DataFrame(columns.transform(samples.X), columns=names)
    assert names == ["a", "code", "gaps", "missingindicator_gaps", "colour_(missing)", "colour_green", "colour_red"]
    np.testing.assert_allclose(seen[["a", "code", "missingindicator_gaps"]].std(ddof=0), 1)
    missing = samples.X["gaps"].isna().to_numpy()
    assert seen["gaps"][missing].nunique() == 1
    assert (seen["missingindicator_gaps"] > 0).tolist() == missing.tolist()
    np.testing.assert_array_equal(seen[["colour_(missing)", "colour_green", "colour_red"]].sum(axis=1), 1)
    unknown = samples.X.iloc[:1].assign(colour="blue")
    assert not columns.transform(unknown)[:, -3:].any()


def test_a_name_that_an_encoder_would_make_is_no_clash():
    samples = prepare(mixed().rename(columns={"code": "colour_red"}), "kind")
    make_pipeline_for(samples, GLVQ(random_state=0)).fit(samples.X, samples.y)


def test_a_fold_without_a_value_of_a_column_still_fits():
    table = mixed()
    table["gaps"] = np.where(np.arange(60) == 3, 1.0, np.nan)
    samples = prepare(table, "kind")
    rows = np.arange(10, 60)
    model = make_pipeline_for(samples, GLVQ(random_state=0)).fit(samples.X.iloc[rows], samples.y[rows])
    assert len(model.predict(samples.X)) == 60


def test_thresholds_of_small_tables_are_cross_fitted():
    assert make_rejecting(GLVQ(), n_samples=SMALL - 1).cv == 5
    assert make_rejecting(GLVQ(), n_samples=SMALL).cv is None
    assert make_rejecting(GLVQ(), n_samples=10).coverage == 0.9
    assert make_rejecting(GLVQ(), n_samples=10, smallest_class=3).cv == 3
    assert make_rejecting(GLVQ(), n_samples=10, smallest_class=8, max_error=0.1).cv == 4
    assert make_rejecting(GLVQ(), n_samples=10).calibration_size == 0.3
    guaranteed = make_rejecting(GLVQ(), n_samples=10, max_error=0.1, confidence=0.8)
    assert guaranteed.calibration_size == 0.5
    assert make_rejecting(GLVQ(), n_samples=10**6, max_error=0.01).calibration_size == 0.3
    assert (guaranteed.coverage, guaranteed.max_error, guaranteed.confidence) == (None, 0.1, 0.8)
    with pytest.raises(ValueError, match="max_error or coverage, not both"):
        make_rejecting(GLVQ(), n_samples=10, max_error=0.1, coverage=0.5)


# -- splits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_split_is_by_class_and_covers_all(seed):
    samples = prepare(mixed(), "kind")
    train, test = split(samples, 0.25, seed)
    assert sorted([*train, *test]) == list(range(60))
    assert abs((samples.y[test] == "yes").mean() - 0.5) < 0.1


def test_the_test_rows_are_never_learned_from(tmp_path, monkeypatch):
    """Classes of the test rows do not matter to the model."""
    table = mixed(n=80)
    samples = prepare(table, "kind")
    _, test = split(samples, 0.25, 0)
    prototypes = []
    for flip in (False, True):
        changed = table.copy()
        if flip:
            changed.loc[test, "a"] = 1e5 * (1 + np.arange(len(test)))
        path = tmp_path / f"{flip}.csv"
        changed.to_csv(path, index=False)
        prototypes.append(fit_table(path, "kind", model="glvq", folds=2).model.estimator_[-1].prototypes_)
    np.testing.assert_array_equal(*prototypes)


def test_progress_is_told_from_the_first_step_to_the_last(tmp_path):
    path = tmp_path / "table.csv"
    mixed().to_csv(path, index=False)
    told = []
    result = fit_table(path, "kind", model="glvq", folds=2, progress=lambda *step: told.append(step))
    assert result.folder is None
    assert [step[1] for step in told] == sorted(step[1] for step in told)
    assert told[0][1] == 0
    assert told[-1][1] == told[-1][2] == 6
    assert isinstance(result.model, RejectClassifier)


@pytest.mark.parametrize(("options", "message"), [({"test_share": 1.0}, "test_share"), ({"folds": 1}, "folds must be")])
def test_wrong_numbers_are_refused_first(options, message):
    with pytest.raises(ValueError, match=message):
        fit_table("no such table.csv", "kind", **options)


def test_a_tiny_table_is_learned_from(tmp_path):
    rows = mixed(n=10)[["a", "kind"]]
    rows.to_csv(tmp_path / "table.csv", index=False)
    result = fit_table(tmp_path / "table.csv", "kind", model="glvq")
    assert result.summary["scores"]["n_samples"] == 3


# -- numbers that name something ---------------------------------------------------------------------------------------


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
def test_codes_are_known_again_however_a_file_spells_them(tmp_path, fitted):
    table = coded()
    result = fit_table(
        written(tmp_path / fitted, table), "kind", model="glvq", folds=0, drop=["patient"], categorical=["ward", "zip"]
    )
    assert result.model.classes_.tolist() == ["007", "010"]
    others = {
        "same.csv": table,
        "same.parquet": table,
        "whole.csv": table.assign(ward=table["ward"].astype(int)),
        "spreadsheet.csv": table.assign(zip=table["zip"].astype(int)),
        "spreadsheet.parquet": table.assign(zip=table["zip"].astype(int)),
    }
    for name, other in others.items():
        found = predict_table(result.model, written(tmp_path / name, other), tmp_path / "answers.csv", force=True)
        assert found.reasons["unknown category"] == 0, name
        assert found.labels.keys() == {"007", "010"}
    strange = written(tmp_path / "strange.csv", table.assign(ward=7))
    assert predict_table(result.model, strange, tmp_path / "answers.csv", force=True).accepted == 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_kept_columns_are_copies(tmp_path, suffix):
    table = coded()
    model = GLVQ(random_state=0).fit(table[["a", "ward"]], table["kind"])
    for name in ("table.csv", "table.parquet"):
        path, out = written(tmp_path / name, table), tmp_path / f"answers{suffix}"
        predict_table(model, path, out, keep=["patient", "zip"], force=True)
        answers = pd.read_csv(out, dtype=str) if suffix == ".csv" else pd.read_parquet(out)
        assert answers["patient"].astype(str).tolist() == table["patient"].astype(str).tolist()
        assert answers["zip"].tolist() == table["zip"].tolist()


def test_answers_never_replace_the_table(tmp_path):
    table = written(tmp_path / "table.csv", coded())
    before = table.read_bytes()
    model = GLVQ(random_state=0).fit(coded()[["a"]], coded()["kind"])
    with pytest.raises(TableError, match="is the table itself"):
        predict_table(model, table, tmp_path / "." / "table.csv", force=True)
    assert table.read_bytes() == before


# -- models of other making --------------------------------------------------------------------------------------------


def test_any_model_with_column_names_will_do(tmp_path):
    table = mixed()[["a", "code"]]
    table.to_csv(tmp_path / "table.csv", index=False)
    model = GLVQ(random_state=0).fit(table, mixed()["kind"])
    found = predict_table(model, tmp_path / "table.csv", tmp_path / "answers.csv")
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers["label"].tolist() == model.predict(table).tolist()
    assert answers["accepted"].all()
    assert found.accepted == 60
    assert expected_columns(model).names == ["a", "code"]


def test_a_model_without_a_certified_radius_leaves_it_empty(tmp_path):
    from lvq import RSLVQ

    table = mixed()[["a", "code"]]
    table.to_csv(tmp_path / "table.csv", index=False)
    model = RSLVQ(decision="posterior", random_state=0).fit(table, mixed()["kind"])
    predict_table(model, tmp_path / "table.csv", tmp_path / "answers.csv")
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers["certified_radius"].isna().all()
    assert answers["label"].tolist() == model.predict(table).tolist()


def test_a_model_without_column_names_is_refused(tmp_path):
    model = GLVQ(random_state=0).fit([[0.0], [1.0]], [0, 1])
    (tmp_path / "table.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="without column names"):
        predict_table(model, tmp_path / "table.csv", tmp_path / "answers.csv")


def test_a_missing_model_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no model .*model\.lvq"):
        load_model(tmp_path)


# -- folders -----------------------------------------------------------------------------------------------------------


def test_a_new_folder_appears_at_once_and_complete(tmp_path):
    with all_or_nothing(tmp_path / "deep" / "run") as temporary:
        (temporary / "one").touch()
        assert not (tmp_path / "deep" / "run").exists()
    assert [path.name for path in (tmp_path / "deep").rglob("*")] == ["run", "one"]
    assert (tmp_path / "deep" / "run").stat().st_mode & 0o700 == 0o700


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_no_trace(tmp_path, error):
    with pytest.raises(error, match="stop"), all_or_nothing(tmp_path / "deep" / "run") as temporary:  # noqa: PT012
        (temporary / "one").touch()
        raise error("stop")
    assert list(tmp_path.iterdir()) == []


def test_an_old_folder_keeps_its_other_files(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("one", "mine"):
        (tmp_path / "run" / name).write_text("old", encoding="utf-8")
    with all_or_nothing(tmp_path / "run") as temporary:
        (temporary / "one").write_text("new", encoding="utf-8")
    assert (tmp_path / "run" / "one").read_text(encoding="utf-8") == "new"
    assert (tmp_path / "run" / "mine").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_control_c_while_moving_waits_for_the_end(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    moved = []

    def slowly(source, target):
        moved.append(target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("lvq.workflow.folders.os.replace", slowly)
    with pytest.raises(KeyboardInterrupt), all_or_nothing(tmp_path / "run") as temporary:  # noqa: PT012
        for name in ("one", "two", "three"):
            (temporary / name).touch()
    assert len(moved) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_may_write_too(tmp_path):
    def write():
        with all_or_nothing(tmp_path / "run") as temporary:
            (temporary / "one").touch()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "run" / "one").exists()


def test_places_are_checked_first(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=re.escape(f"{tmp_path / 'file'} is a file")):
        check_folder(tmp_path / "file" / "run")
    with pytest.raises(FileExistsError, match=r"holds file already; use force \(--force\)"):
        check_folder(tmp_path, ["file"])
    assert check_folder(tmp_path, ["file"], force=True) == tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
