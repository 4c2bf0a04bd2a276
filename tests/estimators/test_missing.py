"""missing="ignore": NaN in `fit` and in predictions, the same bits where nothing is missing, and clear errors."""

import numpy as np
import pytest
from sklearn.base import clone

import lvq
from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, RSLVQ, SNPC, LVQClassifier
from lvq.estimators import classifier
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online
from tests.estimators.configurations import ignoring

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    GLVQ(n_prototypes=2, kernel=Gaussian(width="learned")),
    GLVQ(solver="adam", max_iter=20, init="samples", n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2)),
    SNPC(relevance="local_matrix", n_prototypes=2),
    RSLVQ(decision="posterior"),
    LVQClassifier(),
    LVQClassifier(relevance="local_diagonal"),
    GLVQ(solver="online", kernel=Gaussian(width="learned"), slope="time", max_iter=30),
    LGMLVQ(solver=Online(step="relative"), n_prototypes=2, max_iter=30),
    RSLVQ(solver="online", relevance="local_diagonal", max_iter=30),
]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_learns_and_predicts_with_missing_values(number, gaps):
    """Missing values contribute nothing."""
    dtype = np.float32 if number % 2 else np.float64
    X, y = gaps[0].astype(dtype), gaps[1]
    model = ignoring(MODELS[number]).fit(X, y)
    assert model.prototypes_.dtype == dtype
    assert model.score(X, y) > 0.8
    probability = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    assert np.isfinite(np.column_stack((probability, model.decision_function(X)))).all()
    assert np.isfinite(model.objective_value(X, y))
    if model.model_.importances is not None:
        assert model.feature_importances_[2:].sum() > 0.4  # the petals
    found, D, rows = model.explain(X), model.model_.distances(X), np.arange(len(X))
    assert (found.contributions[np.isnan(X)] == 0).all()
    gap = D[rows, found.rival] - D[rows, found.winner]
    np.testing.assert_allclose(found.contributions.sum(axis=1), gap, rtol=1e-4, atol=1e-4 * D.max())
    assert ((found.certainty >= 0) & (found.certainty <= 1)).all()


@pytest.mark.parametrize("model", [GMLVQ(), LVQClassifier()], ids=str)
def test_row_without_values(model, gaps):
    """The first class, certainty 0, equal probabilities."""
    X, y = gaps
    model = ignoring(model).fit(X[:-1], y[:-1])
    found = model.explain(X[-1:])
    assert found.label.tolist() == [0]
    assert found.certainty.tolist() == [0]
    np.testing.assert_allclose(model.predict_proba(X[-1:]), 1 / 3, rtol=1e-6)


def test_rows_without_values_are_left_out(gaps):
    X, y = gaps
    model = LVQClassifier(missing="ignore", random_state=0).fit(X[:-1], y[:-1])
    more = np.vstack((X[:-1], np.full((30, 4), np.nan))), np.append(y[:-1], np.repeat([0, 1, 2], 10))
    np.testing.assert_array_equal(clone(model).fit(*more).prototypes_, model.prototypes_)


@pytest.mark.parametrize("solver", ["lbfgs", "online"])
def test_samples_of_a_warm_start_count_in_the_variances(gaps, solver):
    """Else a feature that the first samples do not have would never have a part in the observed fraction."""
    X, y = gaps
    first = X.copy()
    first[:, 0] = np.nan
    model = GMLVQ(missing="ignore", warm_start=True, solver=solver, max_iter=5, random_state=0)
    assert model.fit(first, y).model_.variances[0] == 0
    variances = model.fit(X, y).model_.variances
    np.testing.assert_allclose(variances, np.nanvar(X, axis=0))


def test_what_cannot_ignore_missing_values_names_the_parameter(gaps, samples):
    model = GMLVQ(missing="ignore", random_state=0).fit(*gaps)
    calls = {
        "certified_radius": lambda X: lvq.certified_radius(model, X),
        "counterfactual": lambda X: lvq.counterfactual(model, X, samples=samples[0]),
        "transform": model.transform,
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name} needs samples without missing values.*missing='ignore'"):
            call(gaps[0][:5])
        call(samples[0][:2])


@pytest.mark.parametrize("kind", ["csr_array", "coo_matrix"])
def test_sparse_rows_with_nan_name_the_row_and_no_way_that_fails(kind):
    """What a sparse matrix stores may be NaN; missing="ignore" is not for sparse rows."""
    from scipy import sparse

    dense = np.where(np.arange(24).reshape(6, 4) % 3 == 0, 1.0, 0.0)
    y, model = np.arange(6) % 2, GLVQ(random_state=0)
    model.fit(getattr(sparse, kind)(dense), y)
    dense[4, 2] = np.nan
    holed, message = getattr(sparse, kind)(dense), "row 4, counted from 0, column 2. GLVQ takes sparse rows of finite"
    new = GLVQ()
    for call in (new.fit, lambda X, y: new.partial_fit(X, y, classes=[0, 1]), lambda X, _: model.predict(X)):
        with pytest.raises(ValueError, match=message) as caught:
            call(holed, y)
        assert "ignore" not in str(caught.value)


def test_samples_without_any_value_are_refused():
    X, y = np.full((30, 3), np.nan), np.arange(30) % 3
    with pytest.raises(ValueError, match="with missing='ignore' needs at least one value, but all values of X are NaN"):
        GLVQ(missing="ignore").fit(X, y)


def test_groups_follow_their_rows(samples, monkeypatch):
    """A row without any value is left out, and so is its group."""
    X, y = samples[0].copy(), samples[1]
    X[3] = np.nan
    seen = []
    monkeypatch.setattr(classifier, "make_folds", lambda samples, classes, groups: seen.append((samples, groups)))
    LVQClassifier(relevance="matrix", missing="ignore", max_iter=0).fit(X, y, groups=np.arange(150))
    found, groups = seen[0]
    assert groups.tolist() == [*range(3), *range(4, 150)]
    np.testing.assert_array_equal(found.X, X[groups])


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*very different scales")
@pytest.mark.parametrize(
    "model", [GMLVQ(), GLVQ(), GRLVQ(), RSLVQ(), LVQClassifier(), GLVQ(solver="adam"), GMLVQ(solver="adam")], ids=str
)
def test_scales_beyond_float32(model, gaps):
    """A row with a value of the small feature alone is too far away: the start is not returned as a fitted model."""
    X, y = gaps[0][:, :2] * [1e9, 1e-3], gaps[1]
    model = clone(model).set_params(missing="ignore", max_iter=5)
    with pytest.raises(ValueError, match=r"not finite.* float32.*Standardise .* or give X as float64"):
        model.fit(X.astype(np.float32), y)
    assert not hasattr(model, "model_")
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(model.fit(X, y).objective_history_).all()
