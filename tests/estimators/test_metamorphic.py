"""Changes of the data with a known effect on the model, and models that other libraries have too.

The starts are given or at the means: k-means and random samples depend on the order of the rows by design. Weights of
single features cannot be compared after a rotation.
"""

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import scale

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, MCE, OLVQ1, RSLVQ, LVQClassifier
from lvq.solvers.online import Online

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# few iterations: rounding errors have not grown, and every effect is there already
FEW = {"init": "means", "max_iter": 8, "random_state": 0}
BATCH = [GLVQ, GRLVQ, GMLVQ, LGMLVQ, MCE, LOGM, RSLVQ]
EUCLIDEAN = [GLVQ(**FEW), MCE(**FEW), LOGM(**FEW), RSLVQ(**FEW)]
MATRICES = [GMLVQ(**FEW), LGMLVQ(**FEW)]
# folds are of rows, in an order by the numbers in them: of forms that are equally good each may be chosen
DEFAULT = LVQClassifier(form="linear", n_prototypes=1, calibration=None, **FEW)
EVERY = [*(kind(**FEW) for kind in BATCH), DEFAULT]


def name(model):
    return type(model).__name__


@pytest.fixture(params=[load_iris, load_wine], ids=["iris", "wine"])
def data(request):
    X, y = request.param(return_X_y=True)
    return scale(X), y


def fitted(model, X, y, **options):
    return clone(model).fit(X, y, **options)


def close(first, second, atol=1e-5):
    np.testing.assert_allclose(first, second, rtol=1e-5, atol=atol)


# -- order -------------------------------------------------------------------------------------------------------------


@pytest.mark.thin(5)
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_permuted_features(model, data):
    X, y = data
    order = np.random.default_rng(0).permutation(X.shape[1])
    plain, permuted = fitted(model, X, y), fitted(model, X[:, order], y)
    close(permuted.prototypes_, plain.prototypes_[:, order], atol=1e-4)
    close(permuted.predict_proba(X[:, order]), plain.predict_proba(X), atol=1e-4)
    if hasattr(plain, "feature_importances_"):
        close(permuted.feature_importances_, plain.feature_importances_[order], atol=1e-3)


@pytest.mark.thin(5)
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_permuted_samples(model, data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(X))
    plain, permuted = fitted(model, X, y), fitted(model, X[order], y[order])
    close(permuted.prototypes_, plain.prototypes_, atol=1e-4)
    close(permuted.predict_proba(X), plain.predict_proba(X), atol=1e-4)


def test_permuted_samples_choose_the_same_bits(data):
    """The form, its scores and the temperature."""
    X, y = data
    order = np.random.default_rng(0).permutation(len(X))
    model = LVQClassifier(max_iter=8, random_state=0)
    plain, permuted = fitted(model, X, y), fitted(model, X[order], y[order])
    assert permuted.form_ == plain.form_
    assert permuted.form_scores_ == plain.form_scores_
    assert permuted.model_.decision.temperature == plain.model_.decision.temperature


@pytest.mark.thin(5)
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_permuted_classes(model, data):
    """Other names in another order: the prototypes and the columns of the probabilities are permuted with them."""
    X, y = data
    names = np.array(["c", "a", "b"])
    plain, permuted = fitted(model, X, y), fitted(model, X, names[y])
    column = np.argsort(names)
    close(permuted.prototypes_, plain.prototypes_[column], atol=1e-4)
    close(permuted.predict_proba(X), plain.predict_proba(X)[:, column], atol=1e-4)
    np.testing.assert_array_equal(permuted.predict(X), names[plain.predict(X)])


# -- geometry ----------------------------------------------------------------------------------------------------------


@pytest.mark.thin(5)
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_a_shift_moves_the_prototypes(model, data):
    X, y = data
    X = np.round(X * 2**20) / 2**20  # so that the shift is exact
    shift = np.arange(X.shape[1]) * 4.0
    plain, moved = fitted(model, X, y), fitted(model, X + shift, y)
    close(moved.prototypes_ - shift, plain.prototypes_, atol=1e-4)
    close(moved.predict_proba(X + shift), plain.predict_proba(X), atol=1e-4)


@pytest.mark.thin(7)
@pytest.mark.parametrize("factor", [2.0**-10, 2.0**10])
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_a_factor_scales_the_prototypes(model, factor, data):
    X, y = data
    plain, scaled = fitted(model, X, y), fitted(model, factor * X, y)
    close(scaled.prototypes_ / factor, plain.prototypes_, atol=1e-4)
    close(scaled.predict_proba(factor * X), plain.predict_proba(X), atol=1e-4)


@pytest.mark.thin(3)
@pytest.mark.parametrize("model", EUCLIDEAN, ids=name)
def test_a_rotation_rotates_the_prototypes(model, data):
    X, y = data
    R = ortho_group.rvs(X.shape[1], random_state=0)
    plain, rotated = fitted(model, X, y), fitted(model, X @ R, y)
    close(rotated.prototypes_, plain.prototypes_ @ R, atol=1e-4)
    close(rotated.predict_proba(X @ R), plain.predict_proba(X), atol=1e-4)


@pytest.mark.thin(3)
@pytest.mark.parametrize("model", MATRICES, ids=name)
def test_a_rotation_rotates_the_matrices(model, data):
    """Omega starts at the identity, which is the same in every orthogonal basis."""
    X, y = data
    R = ortho_group.rvs(X.shape[1], random_state=0)
    plain, rotated = fitted(model, X, y), fitted(model, X @ R, y)
    close(rotated.prototypes_, plain.prototypes_ @ R, atol=1e-4)
    close(R @ rotated.lambda_ @ R.T, plain.lambda_, atol=1e-4)


@pytest.mark.parametrize("kind", [LVQ1, OLVQ1])
def test_rules_in_a_rotated_and_shifted_space(kind, data):
    X, y = data
    model = kind(max_iter=2, solver=Online(shuffle=False))
    R = ortho_group.rvs(X.shape[1], random_state=0)
    rows = np.concatenate([np.flatnonzero(y == k)[:2] for k in range(3)])
    plain = clone(model).set_params(init=(X[rows], y[rows])).fit(X, y)
    moved = clone(model).set_params(init=(X[rows] @ R + 1, y[rows])).fit(X @ R + 1, y)
    close(moved.prototypes_, plain.prototypes_ @ R + 1)


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.thin(3)
@pytest.mark.parametrize("model", EVERY, ids=name)
def test_copies_are_weights(model, data):
    X, y = data
    copies = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), copies)
    copied, weighted = fitted(model, X[rows], y[rows]), fitted(model, X, y, sample_weight=copies.astype(float))
    close(weighted.prototypes_, copied.prototypes_, atol=1e-4)
    close(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-4)


# -- other libraries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LVQ1, OLVQ1, GLVQ])
def test_prototypes_at_the_means_are_the_nearest_centroid(kind, data):
    X, y = data
    solver = Online(learning_rate=1e-300 if kind is OLVQ1 else 0.0)
    model = kind(init="means", max_iter=1, solver=solver).fit(X, y)
    rng = np.random.default_rng(0)
    new = rng.normal(size=(5000, X.shape[1]))
    np.testing.assert_array_equal(model.predict(new), NearestCentroid().fit(X, y).predict(new))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prototypes_at_all_samples_are_the_nearest_neighbour(data, dtype):
    X, y = data
    X = X.astype(dtype)
    _, rows = np.unique(X, axis=0, return_index=True)
    X, y = X[rows], y[rows]
    model = LVQ1(init=(X, y), solver=Online(learning_rate=0.0), max_iter=1).fit(X, y)
    new = np.random.default_rng(0).normal(size=(5000, X.shape[1])).astype(dtype)
    expected = KNeighborsClassifier(1, algorithm="brute").fit(X.astype(float), y)
    distances = expected.kneighbors(new.astype(float), 2)[0]
    clear = distances[:, 1] - distances[:, 0] > (1e-5 if dtype == np.float32 else 1e-12)
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(model.predict(new)[clear], expected.predict(new.astype(float))[clear])
    assert model.score(X, y) == 1
