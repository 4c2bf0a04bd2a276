"""Several threads and processes at a time, and Ctrl-C: the same bits as one after another, or nothing at all."""

import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import lvq
from lvq import GLVQ, GMLVQ, LVQ1, OLVQ1, RSLVQ, LVQClassifier, RejectClassifier

THREADS = 8
MODELS = [
    LVQ1(random_state=0),
    OLVQ1(relevance="fc2", n_prototypes=2, random_state=0),
    GLVQ(solver="online", max_iter=5, random_state=0),
    GLVQ(n_prototypes=3, max_iter=10, random_state=0),
    GMLVQ(solver="adam", max_iter=3, random_state=0),
    RSLVQ(max_iter=10, random_state=0),
    LVQClassifier(max_iter=5, random_state=0),
    RejectClassifier(GLVQ(max_iter=10, random_state=0), min_coverage=0.8),
]
OUTPUTS = ("predict", "predict_proba")
SOURCE = os.path.dirname(os.path.dirname(lvq.__file__))


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def fitted(model, X, y):
    return clone(model).fit(X, y)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


# -- threads -----------------------------------------------------------------------------------------------------------


def test_many_threads_fit_and_predict_on_shared_data(data):
    """Every model in every thread, begun together, gives the bits of a fit alone; one for all threads as well."""
    X, y = data
    shared = [fitted(model, X, y) for model in MODELS]
    alone = [[getattr(model, name)(X) for name in OUTPUTS] for model in shared]
    begin = threading.Barrier(THREADS)

    def work(first):
        begin.wait()
        for number in range(len(MODELS)):
            index = (first + number) % len(MODELS)  # different models at the same time
            for model in (fitted(MODELS[index], X, y), shared[index]):
                for name, expected in zip(OUTPUTS, alone[index]):
                    np.testing.assert_array_equal(getattr(model, name)(X), expected)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


def test_predictions_while_the_model_is_fitted_again(data):
    """They are those of the model before or after, never of a mixture."""
    X, y = data
    model, other = GLVQ(max_iter=10, random_state=0), (y + 1) % 3
    after = fitted(model, X, other).predict(X)
    before = model.fit(X, y).predict(X)
    stop, seen = threading.Event(), []

    def watch():
        while not stop.is_set():
            seen.append(model.predict(X))

    with ThreadPoolExecutor(2) as pool:
        watching = [pool.submit(watch) for _ in range(2)]
        for labels in [other, y] * 10:
            model.fit(X, labels)
        stop.set()
        for each in watching:
            each.result()
    assert seen
    assert all(np.array_equal(found, before) or np.array_equal(found, after) for found in seen)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the global lock")
def test_free_threaded_python_stays_free_threaded():
    """Neither an import nor a fit turns the global lock on again, as an extension module that needs it does."""
    code = """
        import sys
        from sklearn.datasets import load_iris
        from lvq import LVQClassifier

        LVQClassifier(max_iter=2).fit(*load_iris(return_X_y=True))
        print(sys._is_gil_enabled())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = os.environ | {"PYTHONPATH": SOURCE}
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.stdout == "False\n", finished.stderr


# -- processes ---------------------------------------------------------------------------------------------------------

PROGRAM = """
    import multiprocessing, sys, threading, warnings
    import numpy as np
    from sklearn.datasets import load_iris
    from lvq import GLVQ, LVQ1

    X, y = load_iris(return_X_y=True)
    def work(seed):
        models = LVQ1(max_iter=3, random_state=seed), GLVQ(max_iter=5, random_state=seed)
        return [model.fit(X, y).predict_proba(X) for model in models]

    if __name__ == "__main__":
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads, from Python 3.12 on
        alone = [work(seed) for seed in range(2)]
        busy = threading.Thread(target=lambda: [work(0) for _ in range(5)])
        busy.start()  # the process is forked while a fit holds its locks
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            found = pool.map_async(work, range(2)).get(timeout=300)
        busy.join()
        assert all(np.array_equal(a, b) for one, two in zip(alone, found) for a, b in zip(one, two))
        print("equal")
"""


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_processes_fit_as_this_one_does(method, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    environment = os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(program), method]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert finished.stdout == "equal\n", finished.stderr


# -- interrupts --------------------------------------------------------------------------------------------------------

LONG = {"max_iter": 10_000_000, "random_state": 0}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("delay", [0.02, 0.2])
@pytest.mark.parametrize(
    "model", [LVQ1(**LONG), GLVQ(solver="online", **LONG), GMLVQ(solver="adam", **LONG)], ids=lambda m: type(m).__name__
)
def test_a_signal_ends_a_long_fit(model, delay, data):
    """Ctrl-C in any phase: the fit ends soon, the model is the one before, and can be fitted again."""
    X, y = data
    model.set_params(max_iter=2).fit(X, y)
    before = model.predict_proba(X)
    before_handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        model.set_params(max_iter=LONG["max_iter"])
        signal.setitimer(signal.ITIMER_REAL, delay)
        begin = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, (y + 1) % 3)
        assert time.process_time() - begin < delay + 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before_handler)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    np.testing.assert_array_equal(model.set_params(max_iter=2).fit(X, y).predict_proba(X), before)
