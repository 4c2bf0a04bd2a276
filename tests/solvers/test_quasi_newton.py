"""L-BFGS on tensors: the iterations and the minimum of SciPy's, and one transfer to the host for each evaluation."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from lvq.model.costs import COSTS
from lvq.model.links import KERNELS, Identity
from lvq.model.objective import Objective, Params
from lvq.model.relevance import GradientRelevance, MatrixRelevance, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers import adam, lbfgs
from lvq.solvers.batch import Problem
from lvq.solvers.quasi_newton import Line, Pairs, minimise

torch = pytest.importorskip("torch")

PLACES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
places = pytest.mark.parametrize("place", PLACES)


def quadratic(seed, size):
    """Of condition 1e4, and where its minimum is."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix, minimum = basis * np.geomspace(1, 1e4, size) @ basis.T, rng.normal(size=size)
    return lambda x: (float((x - minimum) @ matrix @ (x - minimum) / 2), matrix @ (x - minimum))


FUNCTIONS = {
    "quadratic": (quadratic(0, 8), np.zeros(8)),
    "another quadratic": (quadratic(1, 30), np.full(30, 3.0)),
    "rosenbrock": (lambda x: (rosen(x), rosen_der(x)), np.array([-1.2, 1.0])),
    "rosenbrock of ten": (lambda x: (rosen(x), rosen_der(x)), np.linspace(-2, 2, 10)),
}


def on_tensors(function, place):
    """A function of arrays as one of tensors."""

    def tensors(x):
        value, gradient = function(x.cpu().numpy())
        return tuple(torch.as_tensor(part, dtype=torch.float64, device=place) for part in (value, gradient))

    return tensors


def both(function, start, place, max_iter, tol):
    """Minimum, history and whether it converged, of SciPy's iterations and of ours."""
    theirs, ours = [], []

    def callback(intermediate_result):
        theirs.append(float(intermediate_result.fun))

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": 10, "ftol": tol, "gtol": tol}
    expected = minimize(function, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
    found = minimise(on_tensors(function, place), torch.as_tensor(start, device=place), max_iter, tol, 10, ours.append)
    return (expected.x, theirs, expected.status != 1), (found.x.cpu().numpy(), ours, found.converged)


@places
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_minimum_is_that_of_scipy(name, place):
    expected, found = both(*FUNCTIONS[name], place, 1000, 1e-12)
    assert found[2]
    assert found[1][-1] == pytest.approx(expected[1][-1], abs=1e-9)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-4)
    assert len(found[1]) <= 1.2 * len(expected[1])
    assert (np.diff(found[1]) <= 0).all()


@places
@pytest.mark.parametrize("tol", [1e-2, 1e-5])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_iterations_are_those_of_scipy(name, tol, place):
    """The first of them, before rounding has grown; and where it stops."""
    function, start = FUNCTIONS[name]
    for max_iter in (1, 2, 15):
        expected, found = both(function, start, place, max_iter, tol)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-6)
        assert found[2] == expected[2]


def test_a_start_without_a_gradient_is_kept():
    found = minimise(lambda x: (x @ x, 2 * x), torch.zeros(3, dtype=torch.float64), 10, 1e-5, 5, lambda value: None)
    assert found.converged
    assert found.value == 0
    assert found.x.tolist() == [0, 0, 0]


@pytest.mark.parametrize("start", [np.nan, np.inf])
def test_a_start_that_is_not_finite_ends(start):
    seen = []
    x = torch.full((3,), start, dtype=torch.float64)
    assert minimise(lambda x: (x @ x, 2 * x), x, 10, 1e-5, 5, seen.append).x is not None
    assert seen == []


def test_a_kink_ends_the_search():
    """|x| in ten dimensions: no step satisfies the conditions at last, and the best point is returned."""
    seen = []
    start = torch.linspace(-1, 1, 10, dtype=torch.float64)
    found = minimise(lambda x: (x.abs().sum(), x.sign()), start, 200, 0.0, 5, seen.append)
    assert found.value == min(seen) < 1e-3
    assert float(found.x.abs().sum()) == found.value


def test_one_transfer_for_each_evaluation_and_one_for_each_iteration(monkeypatch):
    """Counted by `tolist`, `item` and conversions, the only ways by which numbers come to the host here."""
    transfers, evaluations, iterations = [], [], []
    for name in ("tolist", "item", "numpy", "__float__", "__bool__", "cpu", "__array__"):
        original = getattr(torch.Tensor, name)

        def counted(self, *arguments, original=original, **options):
            transfers.append(self.numel())
            return original(self, *arguments, **options)

        monkeypatch.setattr(torch.Tensor, name, counted)

    def function(x):
        evaluations.append(1)
        return ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x) ** 2).sum() / 100, _gradient(x)

    minimise(function, torch.linspace(-1, 2, 500, dtype=torch.float64), 30, 1e-12, 10, iterations.append)
    assert len(iterations) == 30
    assert len(transfers) == len(evaluations) + len(iterations)
    assert max(transfers) <= 3 * 21  # numbers, never a vector


def _gradient(x):
    gradient = -2 * (1 - x) / 100
    error = 2 * (x[1:] - x[:-1] ** 2)
    gradient[1:] += error
    gradient[:-1] -= 2 * x[:-1] * error
    return gradient


def test_the_direction_is_that_of_the_two_loop_recursion():
    """Against the recursion on vectors, with more pairs than are kept."""
    rng = np.random.default_rng(0)
    matrix = np.diag(rng.uniform(1, 5, 6))
    gradient, kept = rng.normal(size=6), []
    memory = Pairs(torch.as_tensor(gradient), 3)
    for _ in range(7):
        step = rng.normal(size=6)
        gradient = rng.normal(size=6)
        kept = [*kept, (step, matrix @ step)][-3:]
        memory.update(torch.as_tensor(gradient), tuple(torch.as_tensor(part) for part in kept[-1]))
        q, factors = -gradient, []
        for s, y in reversed(kept):
            factors.append((s @ q) / (s @ y))
            q = q - factors[-1] * y
        q = q * (kept[-1][0] @ kept[-1][1]) / (kept[-1][1] @ kept[-1][1])
        for (s, y), factor in zip(kept, reversed(factors)):
            q = q + (factor - (y @ q) / (s @ y)) * s
        direction, slope = memory.direction()
        np.testing.assert_allclose(direction.numpy(), q, rtol=1e-10)
        assert slope == pytest.approx(gradient @ q, rel=1e-10)


# -- the objectives of LVQ ---------------------------------------------------------------------------------------------

RULES = {
    "plain": Relevance(),
    "vector": GradientRelevance(),
    "matrix": MatrixRelevance(),
    "local": MatrixRelevance(local="class", rank=2, unit_trace=False, ridge=0.01),
}


def problem_of(cost, relevance, kernel, place):
    """An objective for arrays, or for tensors at a place."""
    labels = np.repeat(np.arange(3), 2)
    link = KERNELS["gaussian"](2.0) if kernel else Identity()
    there = labels if place is None else torch.as_tensor(labels, device=place)
    return Problem(Objective(relevance.metric(labels), link, COSTS[cost](), there), relevance, 1.5)


@places
@pytest.mark.parametrize("relevance", RULES)
@pytest.mark.parametrize(("cost", "kernel"), [("glvq", False), ("logm", True), ("rslvq", False), ("mce", True)])
def test_lvq_objectives_have_the_minimum_of_arrays(cost, kernel, relevance, place):
    """Also with a learned width, which is one more number; from the same start, by runs with steps of Adam."""
    rule, rng = RULES[relevance], np.random.default_rng(5)
    y = np.sort(rng.integers(0, 3, 120))
    X = rng.normal(size=(120, 4)) + 2 * np.eye(3, 4)[y]
    labels, weight = np.repeat(np.arange(3), 2), np.full(120, 1 / 120)
    W = np.concatenate([X[y == label][:2] for label in range(3)])
    start = Params(W, rule.start(X, y, weight, labels), 2.0 if kernel else None)
    move = lambda part: part if part is None or isinstance(part, float) else torch.as_tensor(part, device=place)  # noqa: E731
    plain = lbfgs.train(problem_of(cost, rule, kernel, None), start, ArraySamples(X, y, weight), 60, 1e-4)
    samples = ArraySamples(X, y, weight).to(move)
    found = lbfgs.train(problem_of(cost, rule, kernel, place), Params(*map(move, start)), samples, 60, 1e-4)
    assert isinstance(found.params.prototypes, torch.Tensor)
    assert found.history[0] == pytest.approx(plain.history[0], rel=1e-9)
    assert found.history[-1] == pytest.approx(plain.history[-1], rel=2e-2)  # kinks: other minima are close by
    assert found.converged == plain.converged


@places
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_tensors_begin_with_epochs_of_adam(dtype, place, monkeypatch):
    """Of few and large batches, whatever the number of samples; the objective is that of arrays to a hundredth."""
    monkeypatch.setattr(lbfgs, "LARGE", 1000)
    monkeypatch.setattr(lbfgs, "LARGE_WORK", 0)
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 3000))
    X = (rng.normal(size=(3000, 6)) + 1.5 * np.eye(3, 6)[y]).astype(dtype)
    start, weight = np.concatenate([X[y == label][:2] for label in range(3)]), np.full(3000, 1 / 3000, dtype=dtype)
    samples, sizes = ArraySamples(X, y, weight), []
    plain = lbfgs.train(problem_of("glvq", Relevance(), False, None), Params(start), samples, 100, None)
    evaluate = Problem.value_and_gradient
    monkeypatch.setattr(
        Problem,
        "value_and_gradient",
        lambda self, free, data, m=map: sizes.append(data.n_samples) or evaluate(self, free, data, m),
    )
    there = samples.to(lambda array: torch.as_tensor(array, device=place))
    problem = problem_of("glvq", Relevance(), False, place)
    found = lbfgs.train(problem, Params(torch.as_tensor(start, device=place)), there, 100, None)
    assert found.params.prototypes.dtype == there.X.dtype
    assert found.history[-1] == pytest.approx(plain.history[-1], rel=1e-2)
    batches = [size for size in sizes if size not in (3000, 3000 // lbfgs.COMPARED)]
    assert len(batches) == adam.GPU_BATCHES * adam.GPU_EPOCHS
    assert max(batches) - min(batches) <= 1


def test_a_line_counts_evaluations_and_stays_until_a_step_is_accepted():
    start = torch.tensor([3.0, 0.0], dtype=torch.float64)
    line = Line(lambda x: ((x * x).sum(), 2 * x), start)
    assert (line.evaluations, line.step, line.slope) == (1, 0.0, 0.0)
    assert (line.here.value, line.here.largest) == (9.0, 6.0)
    line.turn(torch.tensor([-1.0, 1.0], dtype=torch.float64))
    assert line.evaluate(1.0) == (5.0, -2.0)
    assert line.evaluate(2.0) == (5.0, 2.0)
    assert (line.evaluations, line.step, line.slope) == (3, 2.0, 2.0)
    assert line.here.x.tolist() == [3.0, 0.0]
    assert line.accept().x.tolist() == line.here.x.tolist() == [1.0, 2.0]
    assert (line.here.value, line.here.largest, line.here.gradient.tolist()) == (5.0, 4.0, [2.0, 4.0])
