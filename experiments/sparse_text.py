"""20 newsgroups with all its words: models on sparse rows beside linear ones, with their memory and time.

Run as ``python -m experiments.sparse_text``; it writes ``experiments/results/sparse_text.json``. Parameters are chosen
by the accuracy on a quarter of the training part, from the grids below, and the model is then fitted to all of it; the
test part is used once. Times are CPU seconds of one process. Memory is the peak that Python and NumPy allocate during
``fit`` and ``predict``, as a multiple of the CSR matrix of the training samples, which itself is not counted. The time
of an epoch is the difference between 11 epochs and 1, divided by 10, each the shortest of three runs. Batch solvers are
left out: with relevances Adam takes 11 times the matrix's memory, and L-BFGS 66 times. The nearest class mean is GLVQ
without a step: scikit-learn's NearestCentroid makes all rows dense (11.8 GB here). Models that the results' file has
already are not run again.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.svm import LinearSVC

from experiments.datasets import load_dataset
from lvq import GLVQ, GRLVQ, LOGM, LVQClassifier

RESULTS = Path(__file__).parent / "results" / "sparse_text.json"
SHORT, LONG, REPEATS = 1, 11, 3  # epochs whose difference gives the time of one; the shortest of so many runs
WORDS = 1000  # of the dense run
ONLINE: dict[str, Any] = {"solver": "online", "max_iter": 10, "random_state": 0}
RATES = {"learning_rate": [0.001, 0.003, 0.01, 0.03, 0.1]}
STEEP = {"xi": [3.0, 10.0, 30.0]}
MODELS: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "GLVQ, online": (GLVQ(**ONLINE), RATES),
    "LOGM, online": (LOGM(**ONLINE), RATES | STEEP),
    "LOGM with relevances, online": (
        LOGM(relevance="gradient", **ONLINE),
        RATES | {"xi": [10.0], "relevance_rate": [0.01, 0.1, 1.0]},
    ),
    "SGDClassifier": (SGDClassifier(max_iter=10, tol=None, random_state=0), {"alpha": [1e-5, 3e-5, 1e-4, 3e-4]}),
    "LinearSVC": (LinearSVC(random_state=0), {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}),
    "nearest class mean": (GLVQ(init="means", solver="online", learning_rate=0, max_iter=1), {}),
    "GRLVQ, online": (GRLVQ(**ONLINE), RATES | {"relevance_rate": [0.001, 0.1]}),
    "LVQClassifier, as it is": (LVQClassifier(random_state=0), {}),
}


def chosen(model: Any, grid: dict[str, list[Any]], X: Any, y: np.ndarray) -> tuple[dict[str, Any], float]:
    """Parameters with the best accuracy on a quarter of the training samples, and that accuracy."""
    rows, held_out = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)
    tried = [
        (float(clone(model).set_params(**given).fit(X[rows], y[rows]).score(X[held_out], y[held_out])), given)
        for given in ParameterGrid(grid)
    ]
    accuracy, given = max(tried, key=lambda pair: pair[0])
    return given, accuracy


def measured(model: Any, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, csr_bytes: int) -> dict[str, Any]:
    """Accuracy, CPU seconds and peak memory of one model."""
    start = time.process_time()
    model.fit(X, y)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    predict_seconds = time.process_time() - start
    short = clone(model).set_params(**({"max_iter": 2} if "learning_rate" in model.get_params() else {}))
    peaks = [peak(lambda: short.fit(X, y)), peak(lambda: model.predict(X_test))]  # more epochs take no more memory
    return {
        "test_accuracy": round(accuracy, 4),
        "fit_seconds": round(fit_seconds, 2),
        "predict_seconds": round(predict_seconds, 3),
        "fit_peak_of_csr": round(peaks[0] / csr_bytes, 2),
        "predict_peak_of_csr": round(peaks[1] / csr_bytes, 2),
    }


def peak(call: Any) -> int:
    """Largest number of bytes that a call allocates at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def epoch_seconds(model: Any, X: Any, y: np.ndarray) -> float:
    """CPU seconds of one epoch."""
    shortest = []
    for epochs in (SHORT, LONG):
        trial, seconds = clone(model).set_params(max_iter=epochs), []
        for _ in range(REPEATS):
            start = time.process_time()
            trial.fit(X, y)
            seconds.append(time.process_time() - start)
        shortest.append(min(seconds))
    return round((shortest[1] - shortest[0]) / (LONG - SHORT), 3)


def main() -> None:
    """Run all models and write the results."""
    data = load_dataset("20newsgroups")
    y, y_test = data.y_train, data.y_test
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform(data.X_train)
    X_test = vectorizer.transform(data.X_test)
    csr_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    result: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"models": {}}
    models = result["models"]
    result |= {"samples": X.shape[0], "features": X.shape[1], "stored_numbers": int(X.nnz)}
    result |= {"csr_megabytes": round(csr_bytes / 1e6, 2)}
    for start in (GLVQ(**ONLINE), GRLVQ(**ONLINE)):
        start.set_params(max_iter=1).fit(X[::50], y[::50])  # compiles
    for name, (model, grid) in MODELS.items():
        if name in models:
            continue
        given, accuracy = chosen(model, grid, X, y)
        model.set_params(**given)
        found = {"chosen": given, "held_out_accuracy": round(accuracy, 4)}
        found |= measured(model, X, y, X_test, y_test, csr_bytes)
        if grid and not isinstance(model, LinearSVC):
            found["epoch_seconds"] = epoch_seconds(model, X, y)
        models[name] = found
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        print(name, found, flush=True)
    few = TfidfVectorizer(sublinear_tf=True, max_features=WORDS)
    dense, dense_test = few.fit_transform(data.X_train).toarray(), few.transform(data.X_test).toarray()
    accuracy = clone(MODELS["GLVQ, online"][0]).fit(dense, y).score(dense_test, y_test)
    result[f"GLVQ, online, {WORDS} words, dense"] = {"test_accuracy": round(float(accuracy), 4)}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
