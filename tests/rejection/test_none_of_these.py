"""measure="combined": "none of these" as one more class, at one distance from every sample."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit

from lvq import GLVQ, RSLVQ, LVQClassifier
from lvq.rejection import CostClassifier, RejectClassifier
from lvq.rejection.scores import NoneOfThese, Predictions
from tests.rejection.populations import QUICK, draw

PLAIN = {"cost": "cross_entropy", "relevance": None, "random_state": 0}
MODELS = {
    "probability": LVQClassifier(n_prototypes=2, **PLAIN),
    "kernel": LVQClassifier(kernel="cauchy", **PLAIN),
    "posterior": RSLVQ(n_prototypes=2, **QUICK),
    "relative": GLVQ(n_prototypes=2, **QUICK),
}


def foreign(n_samples, seed, away=2.5):
    """Samples of no class, on the side that no class is on."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, 4)) - away * np.array([1, 1, 1, 0])


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    X, y = draw(600)
    return MODELS[request.param].fit(X, y)


def test_the_certainty_is_that_of_one_more_class(fitted):
    """As if a further prototype of a class of its own were at the same distance from every sample."""
    X, b = np.concatenate((draw(200, 1)[0], foreign(50, 1))), 2.0
    made = Predictions(fitted, X)
    model, rule = fitted.model_, fitted.model_.decision
    H = np.column_stack((model.link.value(made.distances), np.full(len(X), b)))
    labels = np.append(model.labels, len(model.classes))
    own = np.searchsorted(model.classes, made.predicted)
    if rule.xi is None:
        near = np.where(labels == own[:, None], H, np.inf).min(axis=1)
        far = np.where(labels == own[:, None], np.inf, H).min(axis=1)
        expected = (far - near) / (far + near)
    else:
        table = np.exp(-rule.xi / (1 if rule.soft else rule.temperature) * H)
        by_class = [table[:, labels == c] for c in range(labels[-1] + 1)]
        by_class = np.column_stack([part.sum(1) if rule.soft else part.max(1) for part in by_class])
        expected = by_class[np.arange(len(X)), own] / by_class.sum(axis=1)
    np.testing.assert_allclose(NoneOfThese(b).certainty(made), expected, rtol=1e-6, atol=1e-12)
    farther = NoneOfThese(2 * b).certainty(made)
    assert (farther >= NoneOfThese(b).certainty(made) - 1e-12).all()


def test_it_finds_foreign_inputs_and_mistakes(fitted):
    X, y = draw(1000, 1)
    both = RejectClassifier(fitted, cv="prefit", measure="combined").fit(X, y)
    usual = RejectClassifier(fitted, cv="prefit").fit(X, y)
    X_test, y_test = draw(3000, 2)
    strange, correct = foreign(1000, 2), fitted.predict(X_test) == y_test

    inside = both.certainty(X_test)
    assert area(inside, both.certainty(strange)) > area(usual.certainty(X_test), usual.certainty(strange))
    distance = Predictions(fitted, X_test).nearest.winner_distance
    assert roc_auc_score(correct, inside) > roc_auc_score(correct, -distance)
    assert abs(both.coverage(X_test) - 0.9) < 0.04
    assert both.coverage(strange) < usual.coverage(strange)
    far = X_test + 100 * (X_test - X_test.mean(axis=0))
    assert set(both.reason(far)) == {"outlier"}
    assert set(both.reason(fitted.prototypes_)) == {""}
    assert "ambiguous" in both.reason(X_test)


def area(positive, negative):
    return roc_auc_score(np.repeat([1, 0], [len(positive), len(negative)]), np.concatenate((positive, negative)))


def test_outliers_move_none_of_these_nearer(fitted):
    """To where most of them are found, as far as mistakes are found nearly as well; fewer others are accepted."""
    X, y = draw(1000, 1)
    strange, others = foreign(50, 3, away=0.8), foreign(3000, 4, away=0.8)
    taught = RejectClassifier(fitted, cv="prefit").fit(X, y, outliers=strange)
    usual = RejectClassifier(fitted, cv="prefit", measure="combined").fit(X, y)
    made, outliers, correct = Predictions(fitted, X), Predictions(fitted, strange), fitted.predict(X) == y

    def areas(one):
        inside = one.certainty(made)
        return area(inside, one.certainty(outliers)), area(inside[correct], inside[~correct])

    found, mistakes = areas(taught.measure_)
    least = areas(usual.measure_)[1] - 0.03
    assert mistakes >= least
    near = fitted.model_.link.value(made.nearest.winner_distance)
    for place in np.quantile(near, np.linspace(0.99, 0, 65)):
        of_outliers, of_mistakes = areas(NoneOfThese(float(place)))
        assert of_outliers <= found or of_mistakes < least
    assert taught.measure_.distance < usual.measure_.distance
    assert abs(taught.coverage(draw(3000, 2)[0]) - 0.9) < 0.04
    assert taught.coverage(others) < usual.coverage(others)


def test_outliers_where_certainties_are_nearly_all_zero_or_one():
    """A steep posterior separates them by powers like exp(-300), which thresholds do not see."""
    X, y = load_digits(return_X_y=True)
    known, strange = y < 8, X[y >= 8] / 16
    model = RSLVQ(random_state=0).fit(X[known][::2] / 16, y[known][::2])
    safe = RejectClassifier(model, cv="prefit").fit(X[known][1::2] / 16, y[known][1::2], outliers=strange[:50])
    assert abs(safe.coverage(X[known][1::2] / 16) - 0.9) < 0.01
    assert safe.coverage(strange[50:]) < 0.2


def test_samples_of_one_length_have_a_nearer_border():
    """Embeddings: 95 % of them are nearer than "none of these", which is their default; not so for categories."""
    X, y = draw(600)
    X = X + 3
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    codes = np.concatenate((X > 3, X <= 3), axis=1).astype(float)
    for rows, metric, quantile in (
        (X, "euclidean", 0.99), (unit, "euclidean", 0.95), (unit, "cosine", 0.95), (codes, "euclidean", 0.99)
    ):  # fmt: skip
        model = LVQClassifier(form="plain", metric=metric, random_state=0).fit(rows, y)
        made = Predictions(model, rows)
        near = made.nearest.winner_distance
        assert NoneOfThese.calibrated(made, y, None).distance == pytest.approx(np.quantile(near, quantile))
        for cv in ("prefit", 2):
            auto = RejectClassifier(model, cv=cv).fit(rows, y).measure_
            assert isinstance(auto, NoneOfThese) == (rows is unit)


@pytest.mark.parametrize("inner", [LVQClassifier(**PLAIN), GLVQ(**QUICK)], ids=["probability", "relative"])
def test_savings_fall_far_from_all_prototypes(inner):
    X, y = draw(600)
    model = CostClassifier(inner, {"cat:dog": 5}).fit(X, y)
    safe = RejectClassifier(model, cv="prefit", measure="combined").fit(X, y)
    usual = RejectClassifier(model, cv="prefit").fit(X, y)
    far = 50 * X
    assert usual.accept(far).any()
    assert set(safe.reason(far)) == {"outlier"}
    assert (safe.certainty(X) <= usual.certainty(X) + 1e-12).all()


def test_outliers_train_nothing():
    X, y = draw(300)
    model = RejectClassifier(GLVQ(**QUICK), cv=0.3).fit(X, y)
    other = RejectClassifier(GLVQ(**QUICK), cv=0.3).fit(X, y, outliers=foreign(40, 3))
    np.testing.assert_array_equal(model.estimator_.prototypes_, other.estimator_.prototypes_)


def test_folds_have_distances_of_their_own():
    """A model that measures in other units in each fold gets the same decisions."""
    X, y = draw(600)
    folds = list(ShuffleSplit(3, test_size=0.3, random_state=0).split(X))
    model = RejectClassifier(LVQClassifier(**PLAIN), measure="combined", cv=folds, min_coverage=0.8).fit(X, y)
    assert abs(model.coverage(draw(3000, 2)[0]) - 0.8) < 0.05
    within = [LVQClassifier(**PLAIN).fit(X[train], y[train]) for train, _ in folds]
    own = [
        NoneOfThese.calibrated(Predictions(one, X[test]), y[test], None).distance
        for one, (_, test) in zip(within, folds)
    ]
    assert model.measure_.distance == pytest.approx(np.mean(own))


def test_the_tests_of_a_guarantee_place_nothing():
    """Other testing samples, the same path samples: the same distance."""
    X, y = draw(2000)
    model = GLVQ(**QUICK).fit(*draw(300, 1))
    path = RejectClassifier(model, cv="prefit", measure="combined", max_error=0.2).fit(X, y)
    b = path.measure_.distance
    rows = np.random.RandomState(0).permutation(2000)[:500]
    made = Predictions(model, X[rows])
    assert b == pytest.approx(np.quantile(made.nearest.winner_distance, 0.99))


def test_refused():
    X, y = draw(100)
    with pytest.raises(ValueError, match=r"measure='combined', need a model of this library.* LogisticRegression"):
        RejectClassifier(LogisticRegression(), measure="combined").fit(X, y)
    with pytest.raises(
        ValueError, match=r"outliers of RejectClassifier.fit need measure='combined' or 'auto', got 'rel"
    ):
        RejectClassifier(GLVQ(**QUICK), measure="relsim").fit(X, y, outliers=X)
    with pytest.raises(ValueError, match="distance of NoneOfThese must be finite and not negative, got nan"):
        NoneOfThese(np.nan)


@pytest.mark.parametrize("origin", [0, 1000])
def test_samples_far_from_the_origin_have_no_common_length(origin):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.arange(300) % 3
    X[:, 0] += 3 * (y == 1)
    assert RejectClassifier(LVQClassifier(form="plain", random_state=0)).fit(X + origin, y).measure_ == "probability"
