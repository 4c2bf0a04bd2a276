"""Online training against a one-thread matrix product in the same run.

Prints, and writes to `benchmarks/results/online.json`: the fraction of the product's rate that each model reaches, by
2Mn counted flops a sample for the vector models and 2(7mn + 2Mn + 3Mm) for GMLVQ; float32 against float64, and the
same for the look-ahead product alone; the time of a small fit; and what a second process pays for its first fit. One
thread: the numbers mean nothing while others run.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import json
import pathlib
import platform
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_iris

from lvq import GLVQ, GMLVQ, LOGM, LVQ1

RESULTS = pathlib.Path(__file__).parent / "results" / "online.json"


def best_time(call: Callable[[], object], repeats: int = 7) -> float:
    """Shortest time of some runs, which other processes disturb least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def product_rate(dtype: type) -> float:
    """Flops a second of a one-thread 1024 x 1024 matrix product."""
    a = np.random.default_rng(0).standard_normal((1024, 1024)).astype(dtype)
    return 2 * 1024**3 / best_time(lambda: a @ a, 10)


def seconds_per_sample(model: object, n: int, n_classes: int, dtype: type) -> float:
    """Time of one more epoch: the difference of a long and a short fit, so that start and validation drop out."""
    samples = max(2000, 1_000_000 // (n * 4))
    random = np.random.default_rng(0)
    X = random.standard_normal((samples, n)).astype(dtype)
    y = random.integers(0, n_classes, samples)
    init = random.standard_normal((100, n)).astype(dtype)
    model.set_params(n_prototypes=100 // n_classes, init=init, random_state=0)
    model.set_params(max_iter=1).fit(X, y)
    short = best_time(lambda: model.set_params(max_iter=1).fit(X, y))
    long = best_time(lambda: model.set_params(max_iter=6).fit(X, y))
    return (long - short) / 5 / samples


def product_speed_up(n: int) -> float:
    """What float32 gains in the look-ahead product alone (8 samples by 108 rows): no step can gain more than that."""
    seconds = {}
    for dtype in (np.float64, np.float32):
        rows = np.random.default_rng(0).standard_normal((108, n)).astype(dtype)
        samples, products = rows[100:], np.zeros((8, 108), dtype=dtype)
        seconds[dtype] = best_time(lambda s=samples, r=rows.T, p=products: [np.dot(s, r, p) for _ in range(4000)])
    return seconds[np.float64] / seconds[np.float32]


def rates() -> list[dict[str, object]]:
    """Each model at each size, in both precisions."""
    rows = []
    cases = [
        (model, n, 2 * 100 * n) for n in (64, 256) for model in (LVQ1(), GLVQ(solver="online"), LOGM(solver="online"))
    ]
    cases += [
        (GMLVQ(solver="online"), 256, 2 * (7 * 256**2 + 5 * 100 * 256)),
        (GMLVQ(solver="online"), 64, 2 * (7 * 64**2 + 5 * 100 * 64)),
    ]
    for model, n, flops in cases:
        seconds = {dtype: seconds_per_sample(model, n, 10, dtype) for dtype in (np.float64, np.float32)}
        rows.append(
            {
                "model": type(model).__name__,
                "n_features": n,
                "n_prototypes": 100,
                "samples_per_second": round(1 / seconds[np.float64]),
                "share_of_product": round(flops / seconds[np.float64] / product_rate(np.float64), 3),
                "float32_speed_up": round(seconds[np.float64] / seconds[np.float32], 2),
            }
        )
        print(rows[-1], flush=True)
    return rows


def small_fit() -> float:
    """Milliseconds of GLVQ on iris, class means, one prototype per class, 100 epochs."""
    X, y = load_iris(return_X_y=True)
    model = GLVQ(solver="online", init="means", max_iter=100, random_state=0).fit(X, y)
    return 1e3 * best_time(lambda: model.fit(X, y), 30)


def first_fit() -> dict[str, float]:
    """Seconds that a second process pays: importing lvq, importing numba, and the first online fit beyond that."""
    program = """
import time; t0 = time.perf_counter()
import sklearn.base, sklearn.utils.multiclass, sklearn.datasets; t1 = time.perf_counter()
import lvq; t2 = time.perf_counter()
import numba; t3 = time.perf_counter()
X, y = sklearn.datasets.load_iris(return_X_y=True)
t4 = time.perf_counter(); lvq.GLVQ(solver="online").fit(X, y); t5 = time.perf_counter()
print(t1 - t0, t2 - t1, t3 - t2, t5 - t4)
"""
    names = ("import_sklearn", "import_lvq_besides", "import_numba", "first_fit_beyond_numba")
    runs = [
        [float(part) for part in subprocess.check_output([sys.executable, "-c", program], text=True).split()]
        for _ in range(5)
    ]
    return {name: round(min(column), 3) for name, column in zip(names, zip(*runs))}


def main() -> None:
    """Measure all, print, and write."""
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "numpy": np.__version__,
        "product_gflops": {d.__name__: round(product_rate(d) / 1e9, 1) for d in (np.float64, np.float32)},
        "product_float32_speed_up": {f"n={n}": round(product_speed_up(n), 2) for n in (64, 256)},
        "rates": rates(),
        "iris_100_epochs_ms": round(small_fit(), 2),
        "second_process_seconds": first_fit(),
    }
    print(json.dumps({k: v for k, v in result.items() if k != "rates"}, indent=2))
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
