"""L-BFGS: the objective decreases, the result is never worse than the start, and a weight is a number of copies."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE, RSLVQ, SNPC, LVQClassifier
from lvq.model.costs import GLVQCost
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params
from lvq.model.relevance import Matrix, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers import lbfgs
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS, train
from lvq.solvers.problem import Problem

MODELS = [
    GLVQ(n_prototypes=2),
    GLVQ(slope=5.0, kernel="cauchy"),
    GRLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2)),
    GMLVQ(relevance=Matrix(log_determinant=0.05), n_prototypes=2),
    LGMLVQ(),
    MCE(n_prototypes=2, relevance="matrix"),
    LOGM(n_prototypes=3),
    LOGM(kernel=Gaussian(width="learned"), alpha=0.05),
    SNPC(n_prototypes=2),
    RSLVQ(n_prototypes=2, relevance="gradient"),
    LVQClassifier(),
    LVQClassifier(relevance=Matrix(ridge=0.1), kernel=None, n_prototypes=3),
]


def short_repr(model):
    return repr(model).replace("\n", "").replace(" ", "")


@pytest.fixture(scope="module")
def data():
    """Three overlapping classes, four features of which the last is noise, in no order."""
    rng = np.random.default_rng(7)
    y = rng.permutation(np.arange(90) % 3)
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), y


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


@pytest.mark.parametrize("model", MODELS, ids=short_repr)
def test_the_objective_decreases(model, data):
    """From that of the start, which zero steps of another solver show, to the last of the history."""
    X, y = data
    start = clone(model).set_params(solver=Adam(0.0), max_iter=1, random_state=0).fit(X, y)
    model = quiet_fit(clone(model).set_params(solver="lbfgs", random_state=0), X, y)
    history = model.objective_history_
    assert model.n_iter_ == len(history) > 1
    assert (np.diff(history) <= 0).all()
    assert history[0] < start.objective_value(X, y)
    assert model.objective_value(X, y) == pytest.approx(history[-1], rel=1e-8)
    assert model.objective_value(X, y) < start.objective_value(X, y) - 1e-3


@pytest.mark.parametrize("model", MODELS, ids=short_repr)
def test_never_higher_than_a_start(model, data):
    X, y = data
    model = clone(model).set_params(solver="online", warm_start=True, random_state=0, max_iter=30)
    if isinstance(model.relevance, Matrix):
        model.set_params(relevance__log_determinant=0.0, relevance__ridge=0.0)  # penalties of the batch solvers only
    model.fit(X, y)
    model.set_params(solver="lbfgs", max_iter=100)
    for _ in range(2):  # from the result of online, and from its own
        before = model.objective_value(X, y)
        quiet_fit(model, X, y)
        assert model.objective_value(X, y) <= before + 1e-9 * abs(before)


def test_a_matrix_of_free_size_is_not_continued_with_unit_trace(data):
    """Units measured before would be of another scale; the message names what has changed."""
    model = quiet_fit(LVQClassifier(n_prototypes=2, warm_start=True, random_state=0, max_iter=5), *data)
    with pytest.raises(ValueError, match=r"warm_start=True of LVQClassifier .* has changed"):
        model.set_params(solver="online").fit(*data)


def test_an_optimal_start_is_kept():
    """All samples of a class at one place, prototypes on them: the gradient is zero."""
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0), np.repeat([0, 1], 5)
    model = GLVQ(solver="lbfgs").fit(X, y)
    np.testing.assert_array_equal(model.prototypes_, [[0, 0], [1, 1]])
    np.testing.assert_allclose(model.objective_history_, np.full(model.n_iter_, -1.0))


@pytest.mark.parametrize("max_iter", [1, 3])
def test_convergence_warning_names_the_parameters(max_iter, data):
    X, y = data
    message = (
        rf"LOGM: lbfgs stopped after {max_iter} iterations, before the objective \(.*\) converged. Increase max_iter "
        rf"\(now {max_iter}\) or the solver's tol, or scale the features"
    )
    with pytest.warns(ConvergenceWarning, match=message) as warned:
        model = LOGM(solver=LBFGS(tol=1e-9), n_prototypes=3, max_iter=max_iter, random_state=0).fit(10 * X, y)
    assert model.n_iter_ == max_iter
    assert warned[0].filename == __file__  # the line that called fit


def test_scaled_features_need_no_scaling(data):
    """What is done already is not advised."""
    X, y = data
    scaled = StandardScaler().fit_transform(X)
    for samples, advised in ((scaled, False), (100 * scaled, True), (np.hstack([scaled, 9 * scaled]), True)):
        with pytest.warns(ConvergenceWarning, match="Increase max_iter") as warned:
            LOGM(solver=LBFGS(tol=1e-9), n_prototypes=3, max_iter=1, random_state=0).fit(samples, y)
        assert ("scale the features" in str(warned[0].message)) == advised


def test_no_warning_after_convergence(data):
    """Warnings are errors here."""
    model = GLVQ(solver="lbfgs", max_iter=1000, random_state=0).fit(*data)
    assert model.n_iter_ < 1000


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


@pytest.mark.parametrize(
    ("model", "again"),
    [
        (GLVQ(), False),
        (GMLVQ(), False),
        (RSLVQ(n_prototypes=2), False),  # no kinks
        (GLVQ(n_prototypes=2), True),  # kinks between the prototypes of a class
        (GMLVQ(n_prototypes=2), True),
        (GRLVQ(), True),  # relevances that are caught at 0
    ],
    ids=short_repr,
)
def test_when_another_run_follows(model, again, monkeypatch):
    """Where the first can stall at a kink; the first is rough then, but not with matrices."""
    runs, minimise = [], lbfgs._minimise
    monkeypatch.setattr(lbfgs, "_minimise", lambda *given: runs.append(given) or minimise(*given))
    clone(model).set_params(random_state=0).fit(*load_iris(return_X_y=True))
    rough = lbfgs.ROUGH if again and not isinstance(model.relevance, Matrix) and model.relevance != "matrix" else 1
    assert [given[3] / lbfgs.TOL for given in runs] == pytest.approx([rough, 1] if again else [1])


def test_a_smaller_tol_gives_a_lower_objective(data):
    X, y = data
    values = []
    for tol in (1e-1, 1e-4, 1e-9):
        model = RSLVQ(solver=LBFGS(tol=tol), n_prototypes=2, max_iter=5000, random_state=0)
        values.append(quiet_fit(model, X, y).objective_history_[-1])
    assert values[0] > values[1] > values[2] or values[0] > values[1] >= values[2]


# -- a weight is a number of copies ------------------------------------------------------------------------------------

COPIED = [
    LVQClassifier(form="linear", n_prototypes=2, calibration=None),  # folds are of rows: copies are in different ones
    LVQClassifier(relevance=Matrix(rank=2, ridge=0.1), calibration=None),
    GMLVQ(),
    GMLVQ(relevance=Matrix(rank=2), n_prototypes=2),
    LOGM(n_prototypes=3),
    LOGM(n_prototypes=2, kernel=Gaussian(width="learned")),
    RSLVQ(n_prototypes=3),
    LGMLVQ(kernel="cauchy"),
    LOGM(n_prototypes=2, init="means"),
    LOGM(n_prototypes=2, init="random"),
]


@pytest.mark.parametrize("model", COPIED, ids=short_repr)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_weight_is_a_number_of_copies(model, seed, data):
    """Start, units and steps, whatever the order; for as many iterations as rounding has not grown in."""
    X, y = data
    rng = np.random.default_rng(seed)
    copies = rng.integers(0, 4, len(X))
    many = rng.permutation(np.repeat(np.arange(len(X)), copies))
    model = clone(model).set_params(solver="lbfgs", random_state=0, max_iter=5)
    weighted = quiet_fit(clone(model), X, y, copies)
    repeated = quiet_fit(clone(model), X[many], y[many])
    shuffled = rng.permutation(len(X))
    reordered = quiet_fit(clone(model), X[shuffled], y[shuffled], copies[shuffled])
    for other in (repeated, reordered):
        np.testing.assert_allclose(other.prototypes_, weighted.prototypes_, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(other.objective_history_, weighted.objective_history_, rtol=1e-8)
        np.testing.assert_allclose(other.predict_proba(X), weighted.predict_proba(X), rtol=1e-5, atol=1e-7)
    assert weighted.objective_value(X, y, copies) == pytest.approx(repeated.objective_value(X[many], y[many]), rel=1e-8)


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
        lambda self, free, data, m=map: sizes.append(data.n_samples) or evaluate(self, free, data, m),
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


def test_a_tolerance_holds_on_large_data(monkeypatch, large):
    problem, start, samples, _ = large
    whole = lbfgs.train(problem, start, samples, 300, 1e-6)
    large_from(monkeypatch, 6000)
    exact = lbfgs.train(problem, start, samples, 300, 1e-6)
    assert exact.history[-1] <= whole.history[-1] + 1e-3 * abs(whole.history[-1])


def test_epochs_of_adam_do_not_spoil_a_good_start(monkeypatch, large):
    problem, start, samples, _ = large
    large_from(monkeypatch, 6000)
    found = lbfgs.train(problem, start, samples, 500, 1e-9)
    again = lbfgs.train(problem, found.params, samples, 500, 1e-9)
    assert again.history[-1] <= found.history[-1] + 1e-9


@pytest.mark.parametrize(
    "model", [GLVQ(n_prototypes=2), GMLVQ(), MCE(n_prototypes=2, relevance="matrix"), RSLVQ(), LGMLVQ()], ids=short_repr
)
def test_large_fits_compute_in_single_precision_and_end_where_double_precision_does(monkeypatch, model):
    """Objective and types of the result; the objective is computed from all samples in float64."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 6000)
    X = random.normal(size=(6000, 6)) + 1.5 * np.eye(4, 6)[y] + 1e4
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


def test_where_single_precision_serves(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 2
    samples, start = ArraySamples(X, y, np.ones(100)), Params(X[:2])
    assert not lbfgs.in_single(start, samples, 1.0, None)  # few samples
    large_from(monkeypatch, 100)
    assert lbfgs.in_single(start, samples, 1.0, None)
    assert lbfgs.in_single(start, samples, 1.0, lbfgs.TOL)
    assert not lbfgs.in_single(start, samples, 1.0, lbfgs.TOL / 2)  # a finer tolerance
    assert not lbfgs.in_single(start, samples, 1e-13, None)  # squares of small distances would be 0
    assert not lbfgs.in_single(start, samples, 1 / lbfgs.SINGLE, None)
    assert lbfgs.in_single(start, samples, 1.01 / lbfgs.SINGLE, None)
    assert not lbfgs.in_single(start, samples.to(lambda array: array * 1e13), 1e13, None)  # or infinite
    assert not lbfgs.in_single(Params(X[:2] * 1e13), samples, 1.0, None)
    assert not lbfgs.in_single(start, ArraySamples(sparse.csr_array(X), y, np.ones(100)), 1.0, None)
    assert not lbfgs.in_single(start, samples.to(lambda array: array.astype(np.float32)), 1.0, None)  # they are


@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e22, 1e100])
@pytest.mark.parametrize("model", [GLVQ(n_prototypes=3), GMLVQ()])
def test_large_fits_of_values_that_single_precision_cannot_hold(monkeypatch, scale, model):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 2000)
    X = random.normal(size=(2000, 4)) + 2 * np.eye(3, 4)[y]
    large_from(monkeypatch, 2000)
    model = clone(model).set_params(random_state=0)
    accuracy = clone(model).fit(X, y).score(X, y)
    assert clone(model).fit(X * scale, y).score(X * scale, y) == pytest.approx(accuracy, abs=0.01)
