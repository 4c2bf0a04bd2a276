"""Models with a cost: costs of confusions, a user's own parts, choices of solver, objective_value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

from lvq import GLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.estimators.specification import PENALTIES
from lvq.model.costs import CrossEntropyCost, GLVQCost
from lvq.model.links import KERNELS, InverseMultiquadric
from lvq.model.metrics import DistanceGradient, Prepared, nearest_pair
from lvq.model.relevance import Matrix, Relevance
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import is_compiled

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
STILL = Adam(learning_rate=0.0)  # the objective at the start


# -- costs -------------------------------------------------------------------------------------------------------------

PRICED = [
    (LVQClassifier(cost=GLVQCost(slope=5.0), relevance=None), "lbfgs"),
    (LVQClassifier(cost="glvq", relevance=Matrix(local="class")), "adam"),
    (LVQClassifier(cost="logm", relevance=None, n_prototypes=2), "lbfgs"),
    (LVQClassifier(cost="cross_entropy", relevance="matrix"), "adam"),
]


@pytest.fixture(scope="module")
def blobs():
    """Three round classes of 200 at the corners of a triangle, all overlapping all others."""
    rng = np.random.default_rng(11)
    y = np.arange(600) % 3
    return np.array([[0.0, 0.0], [1.6, 0.0], [0.8, 1.4]])[y] + rng.normal(size=(600, 2)), y


@pytest.mark.parametrize(("model", "solver"), PRICED, ids=str)
def test_a_cost_of_one_confusion_lowers_its_number(model, solver, blobs):
    """Rows are the true classes: the first must not be taken for the second."""
    X, y = blobs
    model = clone(model).set_params(solver=solver, random_state=0, max_iter=40)
    plain = confusion_matrix(y, clone(model).fit(X, y).predict(X))
    costs = np.ones((3, 3))
    costs[0, 1] = 10.0
    changed = confusion_matrix(y, clone(model).set_params(cost_matrix=costs).fit(X, y).predict(X))
    assert changed[0, 1] < 0.7 * plain[0, 1]
    assert changed[1, 0] > plain[1, 0]


@pytest.mark.parametrize(("relevance", "n_features"), [(None, 2), (Matrix(), 3)], ids=["plain", "matrix"])
def test_cross_entropy_with_one_prototype_per_class_is_logistic_regression(relevance, n_features):
    """Of multinomial logistic regression without a penalty: the same optimum and the same probabilities."""
    rng = np.random.default_rng(11)
    y = np.arange(600) % 3
    X = 1.2 * np.eye(3, n_features)[y] + rng.normal(size=(600, n_features))
    linear = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(X, y)
    cost = CrossEntropyCost(alpha=0.0)  # no pull to the own class
    model = LVQClassifier(cost=cost, relevance=relevance, kernel=None, n_prototypes=1, calibration=None)
    model.set_params(solver=LBFGS(tol=1e-13), max_iter=1000, random_state=0).fit(X, y)
    log_loss = -np.log(linear.predict_proba(X)[np.arange(len(y)), y]).mean()
    assert model.objective_history_[-1] == pytest.approx(log_loss, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), linear.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        LVQClassifier(cost="rslvq"),
        LVQClassifier(cost="logm", solver="online"),
        LVQClassifier(cost="glvq", relevance="fc1"),  # "auto" is online here
    ],
    ids=str,
)
def test_costs_are_refused(model, blobs):
    refused = (
        "The 'cost_matrix' parameter of LVQClassifier needs the cost glvq, mce, logm or cross_entropy and the solver"
    )
    model = clone(model).set_params(cost_matrix=np.ones((3, 3)))
    with pytest.raises(ValueError, match=refused):
        clone(model).fit(*blobs)
    with pytest.raises(ValueError, match=refused):
        model.set_params(relevance=None).partial_fit(*blobs, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones(3), "Expected 2D array, got 1D array"),
        (np.ones((3, 2)), r"one row and column for each of the 3 classes; got shape \(3, 2\)"),
        (-np.ones((3, 3)), "non-negative costs.* smallest cost of -1"),
        (np.full((3, 3), np.nan), "Input cost_matrix contains NaN"),
        ([["a", "b", "c"]] * 3, "could not convert string to float"),
    ],
)
def test_bad_costs(costs, message, blobs):
    with pytest.raises(ValueError, match=message):
        LVQClassifier(cost="glvq", relevance=None, cost_matrix=costs).fit(*blobs)


# -- a user's own parts ------------------------------------------------------------------------------------------------


class SquaredHinge:
    """max(0, 1 + d+ - d-)^2: what a user needs to write, and no more."""

    smooth = True

    def value_and_derivative(self, H, y, labels):
        pair = nearest_pair(H, y, labels)
        excess = np.maximum(0, 1 + pair.d_plus - pair.d_minus)
        return excess**2, DistanceGradient(np.stack((2 * excess, -2 * excess), 1), np.stack((pair.own, pair.other), 1))


class SquareRoot:
    """H = sqrt(1 + D) - 1, a link without a width."""

    def value(self, distances):
        return np.sqrt(1 + distances) - 1

    def derivative(self, distances):
        return 0.5 / np.sqrt(1 + distances)


class FourthPower:
    """sum_l (x_l - w_l)^4, a metric that is no plain one between images."""

    def prepare(self, W, R):
        return FourthPowerPrototypes(W)


class FourthPowerPrototypes(Prepared):
    """The prototypes, with what a batch needs."""

    def __init__(self, W):
        self.W = W

    def distances(self, X):
        return ((X[:, None] - self.W) ** 4).sum(2), None

    def pullback(self, X, cache, slopes):
        value = slopes.whole(len(self.W))
        return -4 * (value[:, :, None] * (X[:, None] - self.W) ** 3).sum(0), None


@dataclass(frozen=True)
class FourthPowers(Relevance):
    """The rule that brings the metric; nothing of it is learned."""

    smooth: ClassVar[bool] = True

    def metric(self, labels):
        return FourthPower()


OWN = {
    "link": LOGM(kernel=SquareRoot(), n_prototypes=2),
    "metric of a soft cost": RSLVQ(relevance=FourthPowers()),
    "all three": LVQClassifier(cost=SquaredHinge(), kernel=SquareRoot(), relevance=FourthPowers()),
}


@pytest.mark.parametrize("solver", ["auto", "adam"])
@pytest.mark.parametrize("name", OWN)
def test_own_parts_learn(name, solver, data):
    X, y = data
    model = clone(OWN[name]).set_params(solver=solver, random_state=0)
    idle = clone(model).set_params(solver=STILL, max_iter=1).fit(X, y)
    model.set_params(max_iter=60).fit(X, y)
    assert model.objective_value(X, y) < idle.objective_value(X, y) - 1e-3
    assert model.score(X, y) > 0.75
    assert model.predict_proba(X).shape == (90, 3)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(1)], model.predict(X))
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(1)], model.predict(X))


@pytest.mark.parametrize(
    ("model", "part", "kind"),
    [
        (LVQClassifier(cost=SquaredHinge(), relevance=None), "cost", "SquaredHinge"),
        (GLVQ(kernel=SquareRoot()), "kernel", "SquareRoot"),
        (GLVQ(relevance=FourthPowers()), "relevance", "FourthPowers"),
    ],
    ids=["cost", "kernel", "relevance"],
)
def test_online_refuses_own_parts(model, part, kind, data):
    message = rf"solver='online' supports the {part}s \[.*\], not {kind}; use solver='lbfgs' or 'adam' for a {part}"
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(solver="online").fit(*data)
    with pytest.raises(ValueError, match=message):
        clone(model).partial_fit(*data, classes=[0, 1, 2])


def test_an_own_metric_has_no_contributions_and_no_missing_values(data):
    """Both are formulas of quadratic metrics, so they are refused instead of being wrong."""
    X, y = data
    model = GLVQ(relevance=FourthPowers(), max_iter=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"A contribution of features does not support the metric .*; it supports"):
        model.explain(X)
    with pytest.raises(ValueError, match=r"missing='ignore' does not support the metric .*SimpleImputer"):
        clone(model).set_params(missing="ignore").fit(np.where(X > 2, np.nan, X), y)


# -- solvers and what goes with them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PENALTIES, "feature_groups"])
def test_online_does_not_ignore_a_penalty(name, data):
    """It is refused, never silently dropped."""
    model = LGMLVQ(relevance=Matrix(**{name: [*"abcd"] if name == "feature_groups" else 0.1}), solver="online")
    with pytest.raises(ValueError, match=rf"online solver of LGMLVQ does not support .*{name}.* of Matrix"):
        model.fit(*data)
    with pytest.raises((ValueError, AttributeError), match=name if name != "ridge" else "partial_fit|ridge"):
        model.partial_fit(*data, classes=[0, 1, 2])


def test_objective_is_the_mean_cost_by_hand():
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    model = GLVQ(init=[[0.0], [3.0]], solver=STILL, max_iter=1).fit(X, y)
    # mu: (0-9)/9, (1-4)/5, (1-16)/17
    assert model.objective_value(X, y) == pytest.approx((-1 - 3 / 5 - 15 / 17) / 3)
    assert model.objective_value(X, y, [1, 0, 3]) == pytest.approx((-1 - 45 / 17) / 4)


def test_objective_uses_the_class_weights(data):
    X, y = data
    factors = np.array([5.0, 1.0, 0.5])
    weighted = GLVQ(random_state=0, max_iter=1, class_weight=dict(enumerate(factors))).fit(X, y)
    plain = GLVQ(init=weighted.prototypes_, solver=STILL, max_iter=1).fit(X, y)
    assert weighted.objective_value(X, y) == pytest.approx(plain.objective_value(X, y, factors[y]))
    assert weighted.objective_value(X, y) != pytest.approx(plain.objective_value(X, y))


@pytest.mark.parametrize("kernel", [name for name, kernel in KERNELS.items() if is_compiled(kernel)])
def test_training_uses_the_width_of_the_kernel(kernel, data):
    """A width of 4 on the data and one of 1 on a quarter of the data are the same kernel."""
    X, y = data
    model = GLVQ(solver="online", kernel=kernel, random_state=0, max_iter=20)
    wide, other = (clone(model).set_params(kernel__width=width).fit(X, y) for width in (4.0, 0.5))
    narrow = clone(model).set_params(kernel__width=1.0).fit(X / 4, y)
    np.testing.assert_allclose(narrow.prototypes_, wide.prototypes_ / 4, rtol=1e-8)
    assert np.abs(other.prototypes_ - wide.prototypes_).max() > 0.01


def test_a_learned_width_stays_finite():
    """The objective falls as the width grows without bound, and L-BFGS tries widths of any size."""
    X = np.array([[0.4061909048669159], [0.4361587626205451], [0.5100350950619689], [0.024716411515735295]])
    y = [1, 0, 2, 0]
    model = GLVQ(kernel=InverseMultiquadric(width="learned"), random_state=0).fit(X, y)
    assert 0 < model.kernel_width_ < np.inf
    assert np.isfinite(model.predict_proba(X)).all()
