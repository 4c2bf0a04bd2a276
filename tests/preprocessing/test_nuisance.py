"""Removal of a nuisance: at chance afterwards, the classes kept, and the steps around it go on working."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from lvq import GLVQ, certified_radius, counterfactual
from lvq.estimators.find_model import need_model
from lvq.inspection.steps import input_map
from lvq.plots import prototypes_in_units
from lvq.preprocessing import NuisanceRemoval

N_FEATURES = 8


def draw(seed, n_samples=400, n_sites=2, same=0.5):
    """Correlated features of different scales; sites and classes differ in means, and are related unless `same` is 0.5.

    The geometry is that of the seed alone, so that other samples of it can be drawn.
    """
    of_set, rng = np.random.default_rng(seed), np.random.default_rng([seed, n_samples])
    mixing = of_set.normal(size=(N_FEATURES, N_FEATURES)) * of_set.uniform(0.1, 10, N_FEATURES)
    sites, classes = 2 * of_set.normal(size=(n_sites, N_FEATURES)), 2 * of_set.normal(size=(2, N_FEATURES))
    site = rng.integers(0, n_sites, n_samples)
    y = (rng.random(n_samples) < np.where(site == 0, same, 1 - same)).astype(int)
    return (rng.normal(size=(n_samples, N_FEATURES)) + sites[site] + classes[y]) @ mixing, y, site


def accuracy(X, labels, new, new_labels):
    """Of another linear model, on other samples."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    return model.fit(X, labels).score(new, new_labels)


@pytest.mark.parametrize(("seed", "n_sites"), [(0, 2), (1, 3)])
def test_the_site_is_at_chance_and_the_classes_are_kept(seed, n_sites):
    """On samples that neither the removal nor the classifier has seen."""
    (X, y, site), (new, new_y, new_site) = draw(seed, 600, n_sites), draw(seed, 3000, n_sites)
    removal = NuisanceRemoval(random_state=0).fit(X, y, nuisance=site)
    Z, new_Z = removal.transform(X), removal.transform(new)
    assert len(removal.directions_) < n_sites + 2
    assert accuracy(X, site, new, new_site) > 0.9
    assert abs(accuracy(Z, site, new_Z, new_site) - 1 / n_sites) < 0.06
    assert accuracy(Z, y, new_Z, new_y) > accuracy(X, y, new, new_y) - 0.03
    assert removal.accuracies_[0] > 0.9
    assert removal.chance_ == pytest.approx(1 / n_sites)
    assert len(removal.accuracies_) == len(removal.directions_) + 1


def test_other_fractions_of_the_classes_are_not_a_nuisance():
    """Where site and class are related, the classes keep their accuracy if `fit` knows them."""
    (X, y, site), (new, new_y, _) = draw(0, 600, same=0.8), draw(0, 3000, same=0.8)
    removal = NuisanceRemoval(random_state=0).fit(X, y, nuisance=site)
    assert accuracy(removal.transform(X), y, removal.transform(new), new_y) > accuracy(X, y, new, new_y) - 0.03


def test_two_means_are_equal_after_one_direction():
    X, _, site = draw(0)
    removal = NuisanceRemoval(random_state=0).fit(X, nuisance=site)
    Z = removal.transform(X)
    means = [[rows[site == value].mean(axis=0) / X.std(axis=0) for value in (0, 1)] for rows in (X, Z)]
    before, after = (np.abs(first - second).max() for first, second in means)
    assert before > 0.5
    assert after < 0.02


def test_nothing_is_removed_where_nothing_differs():
    X, site = np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 2
    removal = NuisanceRemoval(random_state=0).fit(X, nuisance=site)
    assert removal.directions_.shape == removal.patterns_.shape == (0, 4)
    np.testing.assert_array_equal(removal.transform(X), X)


def test_it_is_a_projection():
    X, _, site = draw(1, n_sites=4)
    removal = NuisanceRemoval(random_state=0).fit(X, nuisance=site)
    Z = removal.transform(X)
    scale = np.abs(X).max()
    np.testing.assert_allclose(removal.transform(Z), Z, atol=1e-10 * scale)
    np.testing.assert_allclose(removal.directions_ @ removal.patterns_.T, np.eye(len(removal.directions_)), atol=1e-9)
    measured = (Z - removal.mean_) @ removal.directions_.T
    np.testing.assert_allclose(measured, 0, atol=1e-10)


def test_types_names_and_copies():
    pandas = pytest.importorskip("pandas")
    X, _, site = draw(0)
    removal = NuisanceRemoval(random_state=0)
    table = pandas.DataFrame(X, columns=[f"band {k}" for k in range(N_FEATURES)])
    given = table.copy()
    removal.set_output(transform="pandas").fit(table, nuisance=site)
    found = removal.transform(table)
    pandas.testing.assert_frame_equal(table, given)
    assert list(found.columns) == list(table.columns) == removal.get_feature_names_out().tolist()
    single = NuisanceRemoval(random_state=0).fit(X.astype(np.float32), nuisance=site)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    again = pickle.loads(pickle.dumps(single))
    np.testing.assert_array_equal(again.transform(X), single.transform(X))
    assert clone(single).get_params() == single.get_params()


@pytest.fixture(scope="module")
def pipeline():
    X, y, site = draw(0)
    model = make_pipeline(StandardScaler(), NuisanceRemoval(random_state=0), GLVQ(random_state=0))
    return model.fit(X, y, nuisanceremoval__nuisance=site), X, y, site


def test_linear_steps_go_on(pipeline):
    """Radii, counterfactuals and prototypes in units know the projection."""
    model, X, _, _ = pipeline
    rng = np.random.default_rng(0)
    step = rng.normal(size=X.shape)
    expected = model[:-1].transform(X + step) - model[:-1].transform(X)
    np.testing.assert_allclose(step @ input_map(need_model(model, "test"), "test").T, expected, atol=1e-9)
    radius = certified_radius(model, X)
    step *= (radius * (1 - 1e-9) / np.linalg.norm(step, axis=1))[:, None]
    np.testing.assert_array_equal(model.predict(X + step), model.predict(X))
    changed = counterfactual(model, X[:5], samples=X)
    np.testing.assert_array_equal(model.predict(changed.samples), changed.label)
    back = prototypes_in_units(model)
    np.testing.assert_allclose(model[:1].transform(back), model[-1].prototypes_, atol=1e-9)


def test_the_nuisance_is_not_the_second_argument():
    X, y, site = draw(0, 50)
    with pytest.raises(
        ValueError, match=r"fit of NuisanceRemoval needs nuisance, .* the second argument, y, is the cla"
    ):
        NuisanceRemoval().fit(X, site)
    with pytest.raises(ValueError, match=r"must have two values or more, each in at least cv=5 samples, got \{0: 50\}"):
        NuisanceRemoval().fit(X, y, nuisance=np.zeros(50, dtype=int))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NuisanceRemoval().fit(X, y, nuisance=site[:-1])
    with pytest.raises(InvalidParameterError, match="The 'cv' parameter of NuisanceRemoval must be"):
        NuisanceRemoval(cv=1).fit(X, nuisance=site)
