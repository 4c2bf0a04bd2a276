"""`TablePreprocessor`: raw data frames as features, and everything behind it in terms of the frame's columns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from lvq import (
    GLVQ,
    GMLVQ,
    certified_radius,
    counterfactual,
    exemplars,
    explain,
    variable_importances,
)

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from lvq.preprocessing import TablePreprocessor  # noqa: E402
from lvq.tables.header import TableError  # noqa: E402


def raw(n=80, seed=0):
    """Numbers as strings, gaps, limits, dates, categories as numbers and as strings."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    size = rng.normal(3.0 * y)
    lead = [f"{value:.2f}" if value > 0.5 else "<0.5" for value in rng.exponential(1 + y)]
    weight = rng.normal(y)
    weight[::9] = np.nan
    return pd.DataFrame(
        {
            "size": [f"{value:.4f}" for value in size],
            "lead": lead,
            "weight": weight,
            "ward": rng.integers(1, 4, n),
            "colour": np.array(["red", " green ", None, "NA", "(missing)"], dtype=object)[rng.integers(0, 5, n)],
            "day": [f"2024-01-{1 + k % 28:02}" for k in range(n)],
            "seen": pd.date_range("2020-01-01", periods=n),
        },
        index=[f"case {k}" for k in range(n)],
    ), np.array(["no", "yes"])[y]


def preprocessor():
    return TablePreprocessor(categorical=["ward"], dates=["day"], detection_limits=["lead"])


def test_cells_are_read_as_their_kinds():
    X, _ = raw()
    found = preprocessor().fit(X)
    assert found.kinds_ == {
        "size": "number", "lead": "number", "weight": "number", "ward": "category", "colour": "category",
        "day": "date", "seen": "date",
    }  # fmt: skip
    names = found.get_feature_names_out().tolist()
    assert names[-6:] == ["ward_1", "ward_2", "ward_3", "colour_(missing)", "colour_green", "colour_red"]
    seen = pd.DataFrame(found.transform(X), columns=names)
    lead = X["lead"].replace("<0.5", "0.25").astype(float)
    np.testing.assert_allclose(seen["lead"], (lead - lead.mean()) / lead.std(ddof=0))
    np.testing.assert_allclose(np.diff(seen["seen"]), np.diff(seen["seen"])[0])
    assert seen["colour_(missing)"].sum() == X["colour"].isin([None, "NA", "(missing)"]).sum()
    assert (seen["missingindicator_weight"] > 0).tolist() == X["weight"].isna().tolist()


def test_rows_are_transformed_one_by_one_and_columns_by_name():
    X, _ = raw()
    X = X.drop(columns="lead")
    found = TablePreprocessor(categorical=["ward"], dates=["day"]).fit(X)
    whole = found.transform(X)
    shuffled = X[X.columns[::-1]].assign(unused=1)
    np.testing.assert_array_equal(found.transform(shuffled), whole)
    np.testing.assert_array_equal(np.vstack([found.transform(X.iloc[[k]]) for k in range(20)]), whole[:20])
    unknown = X.iloc[:1].assign(colour="blue", ward="02.0", weight=np.nan)
    row = pd.Series(found.transform(unknown)[0], index=found.get_feature_names_out())
    assert row[["colour_green", "colour_red", "colour_(missing)"]].tolist() == [0, 0, 0]
    assert row["ward_2"] == 1  # the same number
    assert np.isfinite(row).all()


def test_parameters_are_those_of_the_table():
    found = clone(preprocessor()).set_params(gaps=["weight"])
    assert found.get_params() == {
        "categorical": ["ward"], "dates": ["day"], "detection_limits": ["lead"], "gaps": ["weight"],
    }  # fmt: skip
    X, _ = raw()
    refitted = TablePreprocessor().fit(X[["weight"]]).fit(X[["weight", "ward"]])
    assert refitted.transform(X).shape[1] == 3
    assert "TablePreprocessor" in TablePreprocessor()._repr_html_()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X: X.to_numpy(), TypeError, "must be a pandas DataFrame"),
        (lambda X: X.rename(columns={"day": 5}), TableError, "name columns by strings, here '5' instead of 5"),
        (lambda X: X.drop(columns="day"), TableError, "no column 'day'"),
        (lambda X: X.assign(lead="low"), TableError, "must hold numbers, but holds 'low' in row case 0"),
        (lambda X: X.assign(weight=[[1.0]] * len(X)), TypeError, "'weight' .* holds values of type"),
    ],
)
def test_what_cannot_be_read_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        preprocessor().fit(change(raw()[0]))


def test_what_changes_after_the_fit_is_refused():
    X, _ = raw()
    found = TablePreprocessor(gaps=[]).fit(X[["weight", "ward"]].dropna())
    with pytest.raises(TableError, match="no column 'ward'"):
        found.transform(X[["weight"]])
    with pytest.raises(TableError, match="must hold numbers, but holds 'x' in row case 0"):
        found.transform(X.assign(ward="x"))
    assert np.isnan(found.transform(X)[0, 0])  # not among the gaps
    assert TablePreprocessor().fit(X[["weight", "ward"]].dropna()).transform(X)[0, 0] == 0  # the mean


@pytest.fixture(scope="module")
def fitted():
    X, y = raw()
    return make_pipeline(preprocessor(), GMLVQ(random_state=0)).fit(X, y), X, y


def test_explanations_are_in_the_columns_of_the_frame(fitted):
    model, X, y = fitted
    found = explain(model, X)
    assert found.feature_names.tolist() == list(X)
    inner = model[-1].model_.explain(model[:-1].transform(X))
    np.testing.assert_allclose(found.contributions.sum(axis=1), inner.contributions.sum(axis=1))
    assert variable_importances(model, X, y).names.tolist() == list(X)
    assert all(name.startswith("case") for name in exemplars(model, X, y=y).names.ravel())


def test_certificates_and_counterfactuals_go_through_it(fitted):
    model, X, _ = fitted
    kept = X.assign(lead="1.0")
    radius = certified_radius(model, kept)
    assert (radius > 0).all()
    found = counterfactual(model, X.iloc[:5], samples=X)
    assert model.predict(found.samples).tolist() == found.label.tolist()
    assert (found.label != model.predict(X.iloc[:5])).all()


def test_graphs_take_the_columns_as_it_reads_them():
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    from lvq.onnx import to_onnx

    X, y = raw()
    X = X[["weight", "colour"]].assign(weight=X["weight"].fillna(0.5), colour=X["colour"].isin(["red"]).map(str))
    model = make_pipeline(TablePreprocessor(), GLVQ(random_state=0)).fit(X, y)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    feed = {name: X[[name]].to_numpy() for name in X}
    np.testing.assert_array_equal(session.run(["label"], feed)[0], model.predict(X))
    later = X.assign(weight=X["weight"].mask(np.arange(len(X)) % 2 == 0))  # gaps where there were none
    feed = {name: later[[name]].to_numpy() for name in later}
    np.testing.assert_array_equal(session.run(["label"], feed)[0], model.predict(later))
