"""`fit` and `partial_fit` are atomic: an error or an interrupt at any point leaves the estimator exactly as it was."""

import dataclasses
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import lvq
from lvq import GLVQ, LGMLVQ, LOGM, LVQClassifier, LVQClassifierCV
from lvq.model.relevance import Matrix
from tests.estimators.configurations import BATCH_MODELS, ONLINE

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PACKAGE = str(Path(lvq.__file__).parent)
SEARCH = {
    "cv": 2,
    "candidates": [{"n_prototypes": 1, "relevance": Matrix(ridge=ridge)} for ridge in (0.01, 0.003, 0.001, 0.0003)],
    "random_state": 0,
}
STREAMED = [
    *(clone(model).set_params(max_iter=3) for model in ONLINE + BATCH_MODELS),
    *[GLVQ(relevance="fc1", random_state=0, max_iter=3), LOGM(warm_start=True, random_state=0, max_iter=3)],
    LGMLVQ(solver="online", random_state=np.random.RandomState(0), max_iter=3),
]
FITTED = [
    *STREAMED,
    LVQClassifier(random_state=0, max_iter=3),
    LVQClassifierCV(estimator=LVQClassifier(max_iter=2), **SEARCH),
]
OUTPUTS = ("predict", "predict_proba", "decision_function")


def samples(shift=0.0, names=(0, 1, 2)):
    """A little table of three classes; another one for another shift."""
    rng = np.random.default_rng(int(10 * shift) + 1)
    y = np.arange(36) % 3
    return rng.normal(size=(36, 3)) + y[:, None] + shift, np.array(names)[y]


def same(one, other):
    """Whether two objects hold equal values all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.random.RandomState):
        return same(one.get_state(), other.get_state())
    if dataclasses.is_dataclass(one):  # and no values kept for later
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one))
    if hasattr(one, "get_params"):
        return same(vars(one), vars(other))
    return one == other


def copy(estimator):
    """An independent copy, down to the last array."""
    return pickle.loads(pickle.dumps(estimator))


def run_until(call, stop):
    """Run a call, with a KeyboardInterrupt at the `stop`-th call of a function of this package; the number of calls."""
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            seen += 1
            if seen == stop:
                raise KeyboardInterrupt
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


def assert_every_interrupt_is_undone(model, call, then, count):
    """Interrupt `call` at `count` points: the estimator is as before, and `then` gives what it would have given."""
    before, once, expected = copy(model), copy(model), copy(model)
    then(expected)
    call(copy(model))  # imports and caches: only the second run makes the usual calls
    total = run_until(lambda: call(once), stop=0)
    inputs = samples()[0]
    for stop in np.unique(np.linspace(1, total, count).round().astype(int)):  # the first, the last, others between
        with pytest.raises(KeyboardInterrupt):
            run_until(lambda: call(model), stop)
        assert same(vars(model), vars(before)), f"interrupted at call {stop} of {total}"
        if hasattr(before, "model_"):
            assert all(np.array_equal(getattr(model, name)(inputs), getattr(before, name)(inputs)) for name in OUTPUTS)
    then(model)
    assert same(vars(model), vars(expected))


points = pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.slow)])


def fit(model, shift=1.0, names=("x", "y", "z")):
    return model.fit(*samples(shift, names))


def partial_fit(model, shift=1.0):
    return model.partial_fit(*samples(shift), classes=[0, 1, 2])


@pytest.mark.thin(3)
@points
@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_interrupted_second_fit(model, count):
    """Other samples of other classes leave no trace in the model of the first fit."""
    model = copy(model).fit(*samples())
    names = (0, 1, 2) if model.get_params().get("warm_start") else ("x", "y", "z")
    then = partial_fit if hasattr(model, "partial_fit") else fit
    assert_every_interrupt_is_undone(model, lambda model: fit(model, names=names), then, count)


@pytest.mark.thin(3)
@points
@pytest.mark.parametrize("model", STREAMED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("known", [2, 3])
def test_interrupted_later_batch(model, count, known):
    """A later batch may bring a class that the first did not have, so prototypes and statistics grow."""
    X, y = samples()
    model = copy(model).partial_fit(X[y < known], y[y < known], classes=[0, 1, 2])
    assert_every_interrupt_is_undone(model, partial_fit, partial_fit, count)


# -- interrupts and errors in known places -----------------------------------------------------------------------------


def test_a_random_state_of_the_user_is_not_shared():
    """Numbers drawn elsewhere from the same RandomState do not change how a stream continues."""
    one, other = (partial_fit(GLVQ(random_state=np.random.RandomState(0)), 0.0) for _ in range(2))
    other.random_state.uniform(size=100)
    np.testing.assert_array_equal(partial_fit(one).prototypes_, partial_fit(other).prototypes_)
