"""L-BFGS: the objective decreases, the result is never worse than the start, and a weight is a number of copies."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, RSLVQ, SNPC, LVQClassifier
from lvq.model.costs import GLVQCost
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params, Problem
from lvq.model.relevance import Matrix, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers import lbfgs
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS, train

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    GLVQ(slope=5.0, kernel="cauchy", n_prototypes=2),
    GRLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(log_determinant=0.05, rank=2), n_prototypes=2),
    LGMLVQ(),
    LOGM(kernel=Gaussian(width="learned"), alpha=0.05),
    SNPC(n_prototypes=2),
    LVQClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_objective_decreases(model, data):
    """From that of the start, which zero steps of another solver show, to the last of the history."""
    X, y = data
    start = clone(model).set_params(solver=Adam(0.0), max_iter=1, random_state=0).fit(X, y)
    model = clone(model).set_params(solver="lbfgs", random_state=0).fit(X, y)
    history = model.objective_history_
    assert model.n_iter_ == len(history) > 1
    assert (np.diff(history) <= 0).all()
    assert model.objective_value(X, y) == pytest.approx(history[-1], rel=1e-8)
    assert model.objective_value(X, y) < start.objective_value(X, y) - 1e-3
    again = model.set_params(warm_start=True).fit(X, y).objective_value(X, y)  # never above a start
    assert again <= history[-1] + 1e-9 * abs(history[-1])


def test_the_convergence_warning_names_the_parameters(data):
    X, y = data
    message = r"LOGM: lbfgs stopped after 3 iterations.* Increase max_iter \(now 3\) or .*tol, or scale the features"
    with pytest.warns(ConvergenceWarning, match=message):
        model = LOGM(solver=LBFGS(tol=1e-9), n_prototypes=3, max_iter=3, random_state=0).fit(10 * X, y)
    assert model.n_iter_ == 3


def test_scaled_features_need_no_scaling(data):
    """What is done already is not advised."""
    with pytest.warns(ConvergenceWarning, match=r"Increase max_iter .* tol\.$"):
        LOGM(solver=LBFGS(tol=1e-9), n_prototypes=3, max_iter=1).fit(StandardScaler().fit_transform(data[0]), data[1])


def test_a_run_that_converges_with_its_last_iteration_has_converged(data):
    """The smallest number of iterations that converges, and all larger ones."""
    X, y = data
    problem = Problem(Objective(Relevance().metric(y), Identity(), GLVQCost(), np.arange(3)), Relevance())
    start = Params(np.stack([X[y == label].mean(axis=0) for label in range(3)]))
    samples = ArraySamples(X, y, np.ones(len(X))).arranged(np.zeros(4))
    taken = []
    for allowed in range(1, 60):
        result = train(problem, start, samples, allowed, 1e-3)
        taken.append(result.converged)
        if result.converged:
            break
    assert taken[-1]
    # with more iterations it converges too
    assert all(train(problem, start, samples, allowed + more, 1e-3).converged for more in range(1, 30))


# -- large data --------------------------------------------------------------------------------------------------------


def large_from(monkeypatch, n_samples):
    """So many samples count as many."""
    monkeypatch.setattr(lbfgs, "LARGE", n_samples)
    monkeypatch.setattr(lbfgs, "LARGE_WORK", 0)


@pytest.fixture
def large(monkeypatch):
    """A problem whose samples count as many, its start, and the number of samples of each evaluation."""
    random = np.random.default_rng(0)
    y = np.sort(random.integers(0, 4, 6000))
    X = random.normal(size=(6000, 6)) + 1.5 * np.eye(4, 6)[y]
    labels = np.repeat(np.arange(4), 3)
    start = Params(X[[np.flatnonzero(y == k)[j] for k in range(4) for j in range(3)]])
    problem = Problem(Objective(Euclidean(), Identity(), GLVQCost(), labels), Relevance(), 1.0)
    sizes, evaluate = [], Problem.value_and_gradient
    monkeypatch.setattr(
        Problem,
        "value_and_gradient",
        lambda self, free, data: sizes.append(data.n_samples) or evaluate(self, free, data),
    )
    return problem, start, ArraySamples(X, y, np.full(6000, 1 / 6000)), sizes


def test_large_data_begin_with_epochs_of_adam(monkeypatch, large):
    """The objective is that of a run on all samples, with fewer evaluations of all samples."""
    problem, start, samples, sizes = large
    whole = lbfgs.train(problem, start, samples, 200, 2e-5)
    everything = sizes.count(6000)
    assert set(sizes) == {6000}
    sizes.clear()
    large_from(monkeypatch, 6000)
    first = lbfgs.train(problem, start, samples, 200, None)
    assert sizes.count(6000) < everything / 2
    assert max(size for size in sizes if size < 6000) < 100
    assert first.history[-1] <= whole.history[-1] + 1e-2 * abs(whole.history[-1])  # kinks make many minima
    assert first.converged
    assert 20 < len(first.history) <= 40
    assert (np.diff(first.history) <= 0).all()
    again = lbfgs.train(problem, start, samples, 200, None)
    np.testing.assert_array_equal(again.params.prototypes, first.params.prototypes)
    short = lbfgs.train(problem, start, samples, 3, None)
    assert (short.n_iter, short.converged) == (3, False)


@pytest.mark.parametrize("model", [GLVQ(n_prototypes=2), RSLVQ(), LGMLVQ()], ids=str)
def test_large_fits_compute_in_single_precision_and_end_where_double_precision_does(monkeypatch, large, model):
    """Objective and types of the result; the objective is computed from all samples in float64."""
    X, y, _ = large[2]
    X = X + 1e4
    large_from(monkeypatch, 6000)
    types, reduce = [], ArraySamples.reduce
    monkeypatch.setattr(ArraySamples, "reduce", lambda self, *rest: types.append(self.X.dtype) or reduce(self, *rest))
    model = clone(model).set_params(random_state=0)
    single = clone(model).fit(X, y)
    assert types.count(np.float32) > 100
    monkeypatch.setattr(lbfgs, "in_single", lambda *_: False)
    types.clear()
    double = clone(model).fit(X, y)
    assert np.float32 not in types
    assert single.objective_value(X, y) == pytest.approx(double.objective_value(X, y), rel=1e-3)
    assert single.prototypes_.dtype == np.float64
    assert single.model_.relevance is None or single.model_.relevance.dtype == np.float64
