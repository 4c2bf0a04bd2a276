"""Bars and lines are the relevances; the title states what is omitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, variable_importances
from lvq.model.relevance import Matrix
from lvq.plots import RelevanceDisplay, relevance_profile
from lvq.preprocessing import SavitzkyGolay
from lvq.solvers.lbfgs import LBFGS

plt = pytest.importorskip("matplotlib.pyplot")


def widths(display):
    return np.array([bar.get_width() for bar in display.bars_])


def test_bars_are_sorted_relevances(fitted):
    model = fitted["relevances"]
    display = RelevanceDisplay.from_estimator(model, values="lambda")
    assert_allclose(widths(display), np.sort(model.relevances_)[::-1])
    assert_allclose(model.relevances_[display.order_], widths(display))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"feature {k}" for k in display.order_]
    assert display.ax_.yaxis_inverted()  # the first on top


def test_unsorted_bars(fitted):
    model = fitted["relevances"]
    display = RelevanceDisplay.from_estimator(model, values="lambda", sort=False)
    assert_allclose(widths(display), model.relevances_)


def test_matrices_give_their_diagonal(fitted):
    model = fitted["matrix"]
    display = RelevanceDisplay.from_estimator(model, values="lambda", sort=False)
    assert_allclose(widths(display), np.diag(model.lambda_) / np.trace(model.lambda_))


def test_title_states_the_weight_of_omitted_features(fitted):
    model = fitted["relevances"]
    display = RelevanceDisplay.from_estimator(model, values="lambda", max_features=1)
    rest = 1 - model.relevances_.max()
    assert len(display.bars_) == 1
    assert display.ax_.get_title() == f"1 of 4 features; total weight of the others: {100 * rest:.0f} %"


def test_local_matrices_have_markers(fitted):
    model = fitted["local by class"]
    profile = relevance_profile(model, per_matrix=True)
    display = RelevanceDisplay.from_estimator(model, values="lambda", sort=False)
    assert_allclose(widths(display), profile.mean(axis=0))
    for line, row in zip(display.lines_, profile):
        assert_allclose(line.get_xdata(), row)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["mean", "0", "1", "2"]
    named = RelevanceDisplay.from_estimator(model, values="lambda", class_names=["a", "b", "c"])
    assert named.each_names == ["a", "b", "c"]


def test_local_matrices_of_one_class_look_different(fitted):
    for kind in ("bar", "line"):
        display = RelevanceDisplay.from_estimator(fitted["local by prototype"], values="lambda", kind=kind)
        looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in display.lines_}
        assert len(looks) == len(display.lines_)


@pytest.mark.parametrize("group", [1, "1", -2, np.int64(1)])
def test_one_local_matrix(fitted, group):
    model = fitted["local by class"]
    display = RelevanceDisplay.from_estimator(model, group=group, sort=False)
    assert_allclose(widths(display), relevance_profile(model, per_matrix=True)[1])


def test_many_local_matrices_have_one_label(data):
    model = LGMLVQ(relevance=Matrix(local="prototype"), n_prototypes=8, solver=LBFGS(tol=0.5), random_state=0).fit(
        *data
    )
    for kind in ("bar", "line"):
        display = RelevanceDisplay.from_estimator(model, values="lambda", kind=kind)
        assert [text.get_text() for text in display.legend_.get_texts()] == ["mean", "each local matrix"]


def test_unknown_groups(fitted):
    with pytest.raises(ValueError, match=r"group of RelevanceDisplay must be an index from 0 to 2 or one of .*got 'x'"):
        RelevanceDisplay.from_estimator(fitted["local by class"], group="x")
    with pytest.raises(ValueError, match="GMLVQ has one metric for all"):
        RelevanceDisplay.from_estimator(fitted["matrix"], group=0)


def test_folds_have_a_standard_deviation(data):
    results = cross_validate(GRLVQ(random_state=0), *data, cv=4, return_estimator=True)
    each = np.array([model.relevances_ for model in results["estimator"]])
    display = RelevanceDisplay.from_cv_results(results, values="lambda", sort=False)
    assert_allclose(widths(display), each.mean(axis=0))
    assert_allclose(display.each, each)
    segments = display.errorbar_.lines[2][0].get_segments()
    assert_allclose([segment[1][0] - segment[0][0] for segment in segments], 2 * each.std(axis=0))
    assert [text.get_text() for text in display.legend_.get_texts()] == ["mean", "each fold", "standard deviation"]
    again = RelevanceDisplay.from_cv_results(results["estimator"], kind="line")
    assert again.errorbar_ is not None


@pytest.mark.parametrize("kind", ["relevances", "local by class", "plain"])
def test_lines(fitted, kind):
    model = fitted[kind]
    display = RelevanceDisplay.from_estimator(model, kind="line")
    assert_allclose(display.lines_[-1].get_ydata(), relevance_profile(model))
    assert display.bars_ is None


def test_the_title_names_the_euclidean_metric(fitted):
    display = RelevanceDisplay.from_estimator(fitted["plain"])
    assert_allclose(widths(display), 0.25)
    assert "all features have the same weight" in display.ax_.get_title()


def test_names(data, fitted):
    display = RelevanceDisplay.from_estimator(fitted["relevances"], feature_names=["a", "b", "c", "d"], sort=False)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature_names of RelevanceDisplay must have one name for each of the 4"):
        RelevanceDisplay.from_estimator(fitted["relevances"], feature_names=["a"])


def test_bar_kwargs(fitted):
    display = RelevanceDisplay.from_estimator(fitted["relevances"], bar_kwargs={"fc": "red"})
    assert display.bars_[0].get_facecolor() == (1, 0, 0, 1)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [({"kind": "pie"}, "kind of RelevanceDisplay.plot must be"), ({"max_features": 0}, "max_features of Relev")],
)
def test_wrong_parameters(fitted, keywords, message):
    with pytest.raises(ValueError, match=message):
        RelevanceDisplay.from_estimator(fitted["relevances"], **keywords)


def test_folds_without_models(data):
    with pytest.raises(ValueError, match="return_estimator=True"):
        RelevanceDisplay.from_cv_results(cross_validate(GRLVQ(random_state=0), *data, cv=2))
    X, y = data
    unequal = [GLVQ().fit(X, y), GLVQ().fit(X[:, :2], y)]
    with pytest.raises(ValueError, match=r"same number of features, got \[2, 4\]"):
        RelevanceDisplay.from_cv_results(unequal)


@pytest.mark.parametrize("kind", ["relevances", "matrix", "local by class"])
def test_importances_are_drawn_without_being_asked_for(fitted, kind):
    model = fitted[kind]
    display = RelevanceDisplay.from_estimator(model, max_features=2)
    best = np.argsort(-model.feature_importances_)[:2]
    assert display.order_.tolist() == best.tolist()
    assert_allclose(widths(display), model.feature_importances_[best])
    assert display.ax_.get_xlabel().startswith("Importance")
    assert "total importance of the others" in display.ax_.get_title()
    assert display.legend_ is None


def test_importances_of_folds(data):
    results = cross_validate(LGMLVQ(random_state=0), *data, cv=3, return_estimator=True)
    each = np.array([model.feature_importances_ for model in results["estimator"]])
    display = RelevanceDisplay.from_cv_results(results, sort=False)
    assert_allclose(display.each, each)
    assert display.ax_.get_xlabel().startswith("Importance")


@pytest.mark.parametrize("kind", ["bar", "line"])
def test_intervals_have_whiskers(data, kind):
    found = variable_importances(GRLVQ(random_state=0), *data, n_resamples=4)
    display = RelevanceDisplay.from_intervals(found, kind=kind, **({"sort": False} if kind == "bar" else {}))
    assert [text.get_text() for text in display.legend_.get_texts()] == ["90 % interval"]
    if kind == "bar":
        assert_allclose(widths(display), found.importances)
        segments = np.array(display.errorbar_.lines[2][0].get_segments())
        assert_allclose(segments[:, :, 0], np.column_stack([found.lower, found.upper]), atol=1e-12)
    else:
        corners = display.errorbar_.get_paths()[0].vertices[:, 1]
        assert corners.min() == pytest.approx(found.lower.min())
        assert corners.max() == pytest.approx(found.upper.max())


def test_values_that_are_not_available(fitted):
    with pytest.raises(
        ValueError, match=r"values of RelevanceDisplay.from_estimator must be 'importance', 'lambda' or"
    ):
        RelevanceDisplay.from_estimator(fitted["matrix"], values="omega")
    with pytest.raises(ValueError, match="must be 'lambda' for this model, got 'importance': it has no relevances"):
        RelevanceDisplay.from_estimator(fitted["plain"], values="importance")
    with pytest.raises(ValueError, match="must be 'lambda' for single matrices"):
        RelevanceDisplay.from_estimator(fitted["local by class"], values="importance", group=0)


def test_columns_of_x_before_steps_that_keep_their_names(data):
    """Behind a derivative a feature has the name of a column, but is another one; with X the columns are shown."""
    X, y = data
    model = make_pipeline(SavitzkyGolay(window=3, derivative=1), StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    own = RelevanceDisplay.from_estimator(model)
    assert own.ax_.get_title() == "After SavitzkyGolay, StandardScaler"
    assert_allclose(own.relevances, model[-1].feature_importances_)
    of_columns = RelevanceDisplay.from_estimator(model, X=X)
    assert of_columns.ax_.get_title() == ""
    assert_allclose(of_columns.relevances, variable_importances(model, X).importances)
    assert_allclose(of_columns.relevances.sum(), 1)
    assert not np.allclose(of_columns.relevances, own.relevances)
    folds = cross_validate(model, X, y, cv=2, return_estimator=True)
    assert RelevanceDisplay.from_cv_results(folds).ax_.get_title() == "After SavitzkyGolay, StandardScaler"
    with pytest.raises(ValueError, match=r"X of RelevanceDisplay\.from_estimator is for importances of its columns"):
        RelevanceDisplay.from_estimator(model, X=X, values="lambda")
