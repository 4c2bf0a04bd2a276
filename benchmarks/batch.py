"""`value_and_gradient` on the CPU against a matrix product in the same run, all cores.

Prints, and writes to `benchmarks/results/batch.json`, the fraction of the product's rate by counted flops of the
necessary products: 2NMn for GLVQ, 2N(2mn + Mm) for GMLVQ.
"""

import json
import os
import pathlib
import platform
from typing import Any

import numpy as np

from benchmarks.online import best_time
from lvq.model.costs import GLVQCost
from lvq.model.links import Identity
from lvq.model.objective import Objective, Params
from lvq.model.relevance import MatrixRelevance, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers.batch import Problem
from lvq.solvers.threads import product_threads, single_threaded_products, thread_map

RESULTS = pathlib.Path(__file__).parent / "results" / "batch.json"


def measure(relevance: Relevance, samples: int, n: int, count: int, flops: float, dtype: type) -> dict[str, Any]:
    """One case: its rate, and that of a 2048 x 2048 product between its runs."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((samples, n)).astype(dtype), random.integers(0, 10, samples)
    W, labels = random.standard_normal((count, n)).astype(dtype), np.repeat(np.arange(10), count // 10)
    weight = np.ones(samples, dtype=dtype)
    params = Params(W, relevance.start(X[:2000], y[:2000], weight[:2000], labels))
    problem = Problem(Objective(relevance.metric(labels), Identity(), GLVQCost(), labels), relevance)
    data, free = ArraySamples(X, y, weight).arranged(np.zeros(n, dtype=dtype)), problem.free(params)
    a = random.standard_normal((2048, 2048)).astype(dtype)
    product = 2 * 2048**3 / best_time(lambda: a @ a)
    with single_threaded_products(product_threads()), thread_map(product_threads()) as mapping:
        seconds = best_time(lambda: problem.value_and_gradient(free, data, mapping))
    product = max(product, 2 * 2048**3 / best_time(lambda: a @ a))
    return {
        "model": "GLVQ" if relevance.metric(labels).__class__.__name__ == "Euclidean" else "GMLVQ",
        "case": f"N={samples}, n={n}, M={count}, {np.dtype(dtype).name}",
        "milliseconds": round(1e3 * seconds, 1),
        "product_gflops": round(product / 1e9, 1),
        "share_of_product": round(flops / seconds / product, 3),
    }


def main() -> None:
    """Measure, print, write."""
    rows = []
    for dtype in (np.float64, np.float32):
        rows.append(measure(Relevance(), 60_000, 784, 100, 2 * 60_000 * 100 * 784, dtype))
        print(rows[-1], flush=True)
        rows.append(measure(MatrixRelevance(), 20_000, 64, 100, 2 * 20_000 * (2 * 64**2 + 100 * 64), dtype))
        print(rows[-1], flush=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, numpy {np.__version__}"
    RESULTS.write_text(json.dumps({"machine": machine, "threads": product_threads(), "rates": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
