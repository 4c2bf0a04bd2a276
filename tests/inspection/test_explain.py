"""Explanations of whole pipelines: contributions in the input's columns, whose sum is D- - D+."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, RSLVQ, LVQClassifier
from lvq.inspection.explain import explain
from lvq.model.relevance import Matrix
from lvq.rejection import CostClassifier, RejectClassifier
from tests.inspection.populations import draw, table

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}


def difference(pipeline, X):
    """D- - D+ by the model's own distances."""
    D = pipeline[-1].model_.distances(np.asarray(pipeline[:-1].transform(X), dtype=np.float64))
    labels = pipeline[-1].model_.labels
    own = labels == labels[D.argmin(axis=1)][:, None]
    return np.where(own, np.inf, D).min(axis=1) - D.min(axis=1)


def check_sums(pipeline, X):
    explanation = explain(pipeline, X)
    expected = difference(pipeline, X)
    assert_allclose(explanation.contributions.sum(axis=1), expected, rtol=1e-7, atol=1e-8 * expected.max())
    assert_array_equal(explanation.label, pipeline.predict(X))
    return explanation


@pytest.mark.parametrize(
    "model",
    [GLVQ(), GRLVQ(), GMLVQ(relevance=Matrix(rank=2), n_prototypes=2), LGMLVQ(), RSLVQ(decision="posterior")],
    ids=str,
)
def test_a_model_alone_explains_as_its_method_does(model):
    X, y = draw()
    model.set_params(**QUICK).fit(X, y)
    explanation, own = explain(model, X), model.explain(X)
    for name in ("label", "certainty", "winner", "rival"):
        assert_array_equal(getattr(explanation, name), getattr(own, name))
    assert_allclose(
        explanation.contributions, own.contributions, rtol=1e-9, atol=1e-9 * np.abs(own.contributions).max()
    )
    assert explanation.feature_names.tolist() == [f"feature {column}" for column in range(5)]


@pytest.mark.parametrize(
    "model", [GLVQ(), GMLVQ(), LGMLVQ(relevance=Matrix(local="prototype"), n_prototypes=2)], ids=str
)
@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(),),
        (MinMaxScaler(clip=True), QuantileTransformer(n_quantiles=10)),
        (StandardScaler(), PCA(3)),
        (StandardScaler(), PCA(3, whiten=True), SelectKBest(k=2), StandardScaler()),
        (SelectKBest(k=3), TruncatedSVD(2)),
    ],
    ids=str,
)
def test_rows_sum_to_the_difference_of_the_distances(steps, model):
    X, y = draw()
    pipeline = make_pipeline(*steps, model.set_params(**QUICK)).fit(X, y)
    explanation = check_sums(pipeline, X)
    assert explanation.contributions.shape == X.shape
    if isinstance(steps[0], SelectKBest):
        assert not explanation.contributions[:, ~pipeline[0].get_support()].any()


def test_a_rotation_is_that_of_the_metric():
    """All principal components change nothing but the axes: the same as a matrix of the model itself."""
    X, y = draw()
    X = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(PCA(), GLVQ(**QUICK)).fit(X, y)
    W = pipeline[0].inverse_transform(pipeline[-1].prototypes_)
    explanation = explain(pipeline, X)
    expected = (X - W[explanation.rival]) ** 2 - (X - W[explanation.winner]) ** 2
    assert_allclose(explanation.contributions, expected, atol=1e-10)


def test_units_of_the_input_change_nothing():
    X, y = draw()
    factor = np.array([1.0, 1e12, 1e-12, 7.0, 0.5])
    pipeline = make_pipeline(StandardScaler(), PCA(2), GMLVQ(**QUICK))
    contributions = explain(pipeline.fit(X, y), X).contributions
    assert_allclose(explain(pipeline.fit(X * factor, y), X * factor).contributions, contributions, rtol=1e-6, atol=1e-9)


def pipeline_of_blocks(model, *, scaled=False, **options):
    encoder = OneHotEncoder(sparse_output=False, **options)
    steps = [
        ("texts", make_pipeline(encoder, StandardScaler()) if scaled else encoder, ["colour", "shape"]),
        ("gaps", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["width"]),
        ("numbers", StandardScaler(), make_column_selector("length|height")),
    ]
    return make_pipeline(ColumnTransformer(steps), model.set_params(**QUICK))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("model", [GLVQ(), LGMLVQ()], ids=str)
def test_blocks_one_hot_columns_and_indicators(model, scaled):
    X, y = table()
    pipeline = pipeline_of_blocks(model, scaled=scaled).fit(X, y)
    explanation = check_sums(pipeline, X)
    assert explanation.feature_names.tolist() == ["length", "width", "height", "colour", "shape"]
    inner = pipeline[-1].explain(pipeline[:-1].transform(X)).contributions
    # texts: blue, green, red, round, square; gaps: width and its indicator; numbers: length, height
    columns = [[7], [5, 6], [8], [0, 1, 2], [3, 4]]
    expected = np.stack([inner[:, of].sum(axis=1) for of in columns], axis=1)
    assert_allclose(explanation.contributions, expected, atol=1e-9)
    if isinstance(model, GLVQ):
        assert np.abs(explanation.contributions[:, 3]).mean() > 5 * np.abs(explanation.contributions[:, 4]).mean()


@pytest.mark.parametrize(
    ("options", "count"), [({"drop": "first"}, 3), ({"drop": "if_binary"}, 4), ({"min_frequency": 45}, 4)], ids=str
)
def test_one_hot_columns_that_are_left_out_or_joined(options, count):
    X, y = table()
    pipeline = pipeline_of_blocks(GMLVQ(), **options).fit(X, y)
    assert pipeline[0].output_indices_["texts"].stop == count
    contributions, inner = check_sums(pipeline, X).contributions, pipeline[-1].explain(pipeline[:-1].transform(X))
    assert_allclose(contributions[:, 3:].sum(axis=1), inner.contributions[:, :count].sum(axis=1), atol=1e-9)
    colours = count - 1 if "drop" in options else 2
    assert_allclose(contributions[:, 3], inner.contributions[:, :colours].sum(axis=1), atol=1e-9)


def test_mixing_behind_and_in_blocks():
    X, y = table()
    numbers = make_pipeline(StandardScaler(), PCA(1))
    steps = [("numbers", numbers, ["height", "length"]), ("texts", OneHotEncoder(sparse_output=False), ["colour"])]
    explanation = check_sums(make_pipeline(ColumnTransformer(steps), PCA(4), GMLVQ(**QUICK)).fit(X, y), X)
    assert not explanation.contributions[:, [1, 4]].any()
    assert np.abs(explanation.contributions[:, [0, 2, 3]]).min(axis=1).max() > 0


@pytest.mark.parametrize(
    "step",
    [
        KNNImputer(add_indicator=True),
        SimpleImputer(),
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        OrdinalEncoder(),
        TargetEncoder(),
        FunctionTransformer(),
        FunctionTransformer(np.arcsinh, feature_names_out="one-to-one"),
    ],
    ids=str,
)
@pytest.mark.parametrize("named", [True, False])
def test_steps_that_keep_columns(step, named):
    X, y = draw()
    if "Imputer" in str(step):
        X[::5, 1] = X[1::7, 3] = np.nan
    if step.__class__.__name__ in ("OrdinalEncoder", "TargetEncoder"):
        X = np.round(X / X.std(axis=0))
    X = pd.DataFrame(X, columns=list("abcde")) if named else X
    pipeline = make_pipeline(step, GMLVQ(**QUICK)).fit(X, y)
    explanation = check_sums(pipeline, X)
    assert explanation.feature_names.tolist() == (list("abcde") if named else [f"feature {k}" for k in range(5)])
    inner = pipeline[-1].explain(pipeline[:-1].transform(X)).contributions
    if "indicator" in str(step):
        expected = inner[:, :5] + inner[:, 5:] @ np.eye(5)[[1, 3]]
    else:
        expected = inner.reshape(len(X), 5, -1).sum(axis=2)
    assert_allclose(explanation.contributions, expected, atol=1e-9 * np.abs(inner).max())


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_empty_columns_and_indicators_alone():
    X, y = draw()
    X[:, 2] = np.nan
    X[::5, 1] = np.nan
    steps = [
        ("values", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), [4, 1, 2]),
        ("gaps", MissingIndicator(), slice(0, 3)),
    ]
    pipeline = make_pipeline(ColumnTransformer(steps, remainder="passthrough"), GLVQ(**QUICK)).fit(X, y)
    contributions = check_sums(pipeline, X).contributions
    inner = pipeline[-1].explain(pipeline[:-1].transform(X)).contributions
    # features 4 and 1, indicators of 1 and 2; then those of 1 and 2; then feature 3 (0 is used by `gaps` alone)
    columns = [[], [1, 2, 4], [3, 5], [6], [0]]
    expected = np.stack([inner[:, of].sum(axis=1) for of in columns], axis=1)
    assert_allclose(contributions, expected, atol=1e-9 * np.abs(expected).max())


def test_the_table_has_names_and_input_units(monkeypatch):
    X, y = table()
    X.index = [f"row {k}" for k in range(len(X))]
    y = np.array(["low", "middle", "high"], dtype=object)[y]
    pipeline = pipeline_of_blocks(GLVQ(n_prototypes=2)).fit(X, y)
    explanation = explain(pipeline, X[:8])
    found = explanation.table()
    assert list(found["sample"].unique()) == list(X.index[:8])
    assert len(found) == 8 * 5
    W = pipeline[-1].prototypes_
    length = pipeline[0].named_transformers_["numbers"].inverse_transform(W[:, 7:])[:, 0]
    for name, lines in found.groupby("sample"):
        row = X.index.get_loc(name)
        lines = lines.set_index("feature")
        assert lines["fraction"].abs().sum() == pytest.approx(1)
        assert (lines["contribution"].abs().diff()[1:] <= 0).all()  # the largest first
        assert_allclose(lines["contribution"][X.columns], explanation.contributions[row])
        assert lines.loc["colour", "value"] == X.loc[name, "colour"]
        assert lines.loc["length", "value"] == X.loc[name, "length"]
        assert (lines.loc["width", "value"] is None) == np.isnan(X.loc[name, "width"])
        winner = int(lines["winner"].iloc[0])
        assert lines.loc["length", "winner_value"] == pytest.approx(length[winner])
        colours = ["blue", "green", "red"]  # one value, that of the largest code
        assert lines.loc["colour", "winner_value"] == colours[int(W[winner, :3].argmax())]
    assert explanation.table(n_features=2).equals(found.groupby("sample", sort=False).head(2).reset_index(drop=True))
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    plain = explanation.table()
    assert isinstance(plain, list)
    assert [line["feature"] for line in plain] == found["feature"].tolist()
    with pytest.raises(ValueError, match="n_features of table must be at least 1, or None for all features, got 0"):
        explanation.table(0)


def test_the_table_without_an_inverse_has_no_prototype_values():
    X, y = draw()
    pipeline = make_pipeline(FunctionTransformer(np.arcsinh, feature_names_out="one-to-one"), GLVQ(**QUICK)).fit(X, y)
    found = explain(pipeline, X[:3]).table()
    assert found["winner_value"].isna().all()
    assert_array_equal(found.loc[found["feature"] == "feature 1", "value"], X[:3, 1])


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((StandardScaler(), PolynomialFeatures()), r"one input column each, .* got PolynomialFeatures; transform X"),
        ((FunctionTransformer(np.arcsinh),), "got FunctionTransformer; transform X"),
        ((PCA(3), QuantileTransformer(n_quantiles=10)), "needs linear steps after PCA, which mixes columns, and one"),
    ],
    ids=str,
)
def test_steps_that_cannot_be_followed(steps, message):
    X, y = draw()
    with pytest.raises(ValueError, match=message):
        explain(make_pipeline(*steps, GLVQ(**QUICK)).fit(X, y), X)


def test_refused():
    X, y = draw()
    with pytest.raises(ValueError, match=r"explain needs a model of this library, .* got LogisticRegression"):
        explain(LogisticRegression(), X)
    dependent = make_pipeline(StandardScaler(), PCA(3), GLVQ(**QUICK)).fit(X, y)
    dependent[1].components_[1] = dependent[1].components_[0]
    with pytest.raises(ValueError, match="back through PCA, whose components are linearly dependent; fit it with"):
        explain(dependent, X)


@pytest.mark.parametrize("outer", [lambda reject: reject, lambda reject: make_pipeline(StandardScaler(), reject)])
def test_of_a_reject_classifier_the_certainty_is_its_own(outer):
    X, y = draw()
    X[::4, 0] = np.nan
    inner = make_pipeline(SimpleImputer(), GLVQ(**QUICK))
    model = outer(RejectClassifier(inner, min_coverage=0.9, measure="distance")).fit(X, y)
    reject, reaching = (model, X) if isinstance(model, RejectClassifier) else (model[-1], model[:-1].transform(X))
    certainty = explain(model, X).certainty
    assert_array_equal(certainty, reject.certainty(reaching))
    inside = explain(reject.estimator_, reaching).certainty
    assert np.abs(inside - certainty).max() > 0.1  # another measure, and lowered for missing values
    assert_allclose([line["certainty"] for line in explain(model, X[:3]).table(1).to_dict("records")], certainty[:3])


# -- evidence ----------------------------------------------------------------------------------------------------------

PROBABLE = {"cost": "cross_entropy", "kernel": None, "max_iter": 20, "random_state": 0}
FORMS = {
    "plain": {"relevance": None},
    "additive": {"relevance": "local_diagonal"},
    "additive, 3 prototypes": {"relevance": "local_diagonal", "n_prototypes": 3},
    "shared matrix": {"relevance": "matrix"},
    "local matrix": {"relevance": "local_matrix", "n_prototypes": 2},
    "two classes": {"relevance": "local_diagonal"},
}


def check_evidence(model, X):
    """Rows of the evidence sum to the log-odds of the predicted class against the rival's."""
    found, classes = explain(model, X), model.classes_.tolist()
    logarithm, rows = np.log(model.predict_proba(X)), np.arange(len(X))
    own, other = ([classes.index(label) for label in names] for names in (found.label, found.rival_label))
    assert_allclose(found.evidence.sum(axis=1), logarithm[rows, own] - logarithm[rows, other], rtol=1e-6, atol=1e-7)
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("form", FORMS)
def test_evidence_sums_to_the_log_odds(form):
    """Through scalers, categories, imputers with indicators, at a temperature."""
    X, y = table(150)
    y = y if form != "two classes" else np.minimum(y, 1)
    pipeline = pipeline_of_blocks(LVQClassifier(**PROBABLE, **FORMS[form]))
    pipeline[-1].set_params(solver="auto", max_iter=20)
    model = pipeline.fit(X, y)
    assert model[-1].model_.decision.temperature != 1
    found = check_evidence(model, X)
    assert found.evidence.shape == X.shape
    if form == "two classes":
        expected = np.where(found.label == 1, 1, -1) * model.decision_function(X)
        assert_allclose(found.evidence.sum(axis=1), expected, rtol=1e-9)
    lines = found.table(2)
    assert_allclose(lines["odds"], np.exp(lines["evidence"]))
    assert "contribution" not in lines


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_evidence_with_missing_values_mixing_steps_and_wrappers():
    X, y = draw()
    model = LVQClassifier(**PROBABLE, relevance="local_diagonal")
    check_evidence(make_pipeline(StandardScaler(), PCA(3), model).fit(X, y), X)
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    ignoring = make_pipeline(StandardScaler(), LVQClassifier(**PROBABLE, relevance="local_diagonal", missing="ignore"))
    found = check_evidence(ignoring.fit(gaps, y), gaps)
    assert not found.evidence[::3, 1].any()
    check_evidence(RejectClassifier(make_pipeline(StandardScaler(), model)).fit(X, y), X)
    costs = CostClassifier(make_pipeline(StandardScaler(), model), [[0, 1, 1], [50, 0, 1], [1, 1, 0]]).fit(X, y)
    assert (check_evidence(costs, X).evidence.sum(axis=1) < 0).any()  # where the costs decide


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [GLVQ(), LVQClassifier(cost="mce", kernel=None, relevance=None)], ids=str)
def test_without_log_odds_there_is_no_evidence(model):
    X, y = draw()
    found = explain(model.set_params(max_iter=5).fit(X, y), X)
    assert found.evidence is None
    assert {"contribution", "fraction"} < set(found.table(1))
    assert "evidence" not in found._repr_html_()


def test_short_descriptions():
    X, y = draw()
    names = np.array(["<a>", "b & c", "d"])[y]
    model = make_pipeline(StandardScaler(), LVQClassifier(**PROBABLE, relevance="local_diagonal"))
    found = explain(model.fit(X, names), X)
    assert repr(found) == "InputExplanation(evidence of 5 columns, 120 samples; see .table())"
    page = found._repr_html_()
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert page.count("<tr>") == 5 * 5
    assert "and 115 more samples" in page
    assert page.count("× ") == 5 * 5
    pytest.importorskip("matplotlib")
    display = found.plot(row=2, max_features=3)
    assert len(display.bars_) == 4
    assert display.label == str(found.label[2])
