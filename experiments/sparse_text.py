"""20 newsgroups with all its words: models on sparse rows beside linear ones, with their memory and time.

Run as ``python -m experiments.sparse_text``; it writes ``experiments/results/sparse_text.json``. Times are CPU
seconds of one process. Memory is the peak that Python and NumPy allocate during ``fit`` and ``predict``, in bytes and
as a multiple of the CSR matrix of the training samples, which itself is not counted. The time of an epoch is the
difference between 3 epochs and 1, divided by 2. L-BFGS is left out: GRLVQ took 66 times the matrix's memory with it, as
its history holds 20 copies of the prototypes in float64. The nearest class mean is GLVQ without a step: scikit-learn's
NearestCentroid makes all rows dense (11.8 GB here). Models that the results' file has already are not run again.
"""

from __future__ import annotations

import json
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from lvq import GLVQ, GRLVQ, LOGM
from lvq.datasets import load_dataset

RESULTS = Path(__file__).parent / "results" / "sparse_text.json"
SHORT, LONG = 1, 3  # epochs whose difference gives the time of one
WORDS = 1000  # of the dense run
MODELS: dict[str, Any] = {
    "GLVQ, online": GLVQ(solver="online", max_iter=10, random_state=0),
    "LOGM, online": LOGM(solver="online", max_iter=10, xi=10.0, random_state=0),
    "LOGM with relevances, adam": LOGM(relevance="gradient", max_iter=5, xi=10.0, learning_rate=0.01, random_state=0),
    "GRLVQ, adam": GRLVQ(max_iter=5, learning_rate=0.01, random_state=0),
    "SGDClassifier": SGDClassifier(max_iter=10, tol=None, random_state=0),
    "LinearSVC": LinearSVC(random_state=0),
    "nearest class mean": GLVQ(init="means", solver="online", learning_rate=0, max_iter=1),
}


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
    """CPU seconds of one epoch or iteration."""
    seconds = []
    for epochs in (SHORT, LONG):
        trial = clone(model).set_params(max_iter=epochs)
        start = time.process_time()
        trial.fit(X, y)
        seconds.append(time.process_time() - start)
    return round((seconds[1] - seconds[0]) / (LONG - SHORT), 3)


def main() -> None:
    """Run all models and write the results."""
    data = load_dataset("20newsgroups")
    y, y_test = data.y_train, data.y_test
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    X = vectorizer.fit_transform(data.X_train)
    X_test = vectorizer.transform(data.X_test)
    csr_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    models: dict[str, Any] = json.loads(RESULTS.read_text())["models"] if RESULTS.exists() else {}
    warnings.simplefilter("ignore", ConvergenceWarning)  # few iterations on purpose
    GLVQ(solver="online", max_iter=1).fit(X[::50], y[::50])  # compiles
    for name, model in MODELS.items():
        if name in models:
            continue
        models[name] = measured(model, X, y, X_test, y_test, csr_bytes)
        if model.get_params().get("learning_rate") != 0 and not isinstance(model, LinearSVC):
            models[name]["epoch_seconds"] = epoch_seconds(model, X, y)
        print(name, models[name], flush=True)
    few = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, max_features=WORDS)
    dense, dense_test = few.fit_transform(data.X_train).toarray(), few.transform(data.X_test).toarray()
    accuracy = clone(MODELS["GLVQ, online"]).fit(dense, y).score(dense_test, y_test)
    result = {
        "samples": X.shape[0],
        "features": X.shape[1],
        "stored_numbers": int(X.nnz),
        "csr_megabytes": round(csr_bytes / 1e6, 2),
        "models": models,
        f"GLVQ, online, {WORDS} words, dense": {"test_accuracy": round(float(accuracy), 4)},
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
