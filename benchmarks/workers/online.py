"""The online solver against a matrix product of one thread in the same process."""

from typing import Any

import numpy as np

from benchmarks.workers import measures
from benchmarks.workers.models import Task


def counted_flops(model: str, n: int, prototypes: int) -> float:
    """Flops a sample that the formulas need: 2Mn; with a square matrix 2(7n^2 + 5Mn)."""
    return 2 * (7 * n**2 + 5 * prototypes * n) if model == "gmlvq" else 2 * prototypes * n


def rate(task: Task) -> dict[str, Any]:
    """Samples a second of one more epoch, and its fraction of the product's rate.

    The time is the difference of a long and a short fit, so that start and validation drop out.
    """
    import lvq

    n, prototypes, classes = task["features"], task["prototypes"], 10
    random, dtype = np.random.default_rng(0), np.dtype(task["dtype"])
    X = random.standard_normal((task["samples"], n)).astype(dtype)
    y = random.integers(0, classes, task["samples"])
    init = random.standard_normal((prototypes, n)).astype(dtype)
    kinds: dict[str, Any] = {"lvq1": lvq.LVQ1, "glvq": lvq.GLVQ, "gmlvq": lvq.GMLVQ}
    given = {} if task["model"] == "lvq1" else {"solver": "online"}
    model = kinds[task["model"]](n_prototypes=prototypes // classes, init=init, random_state=0, **given)
    square = random.standard_normal((1024, 1024)).astype(dtype)
    model.set_params(max_iter=1).fit(X, y)
    short, long, product = [], [], []
    for _ in range(task["rounds"]):
        product.append(measures.times(lambda: square @ square, 0)["cpu"])
        short.append(measures.times(lambda: model.set_params(max_iter=1).fit(X, y), 0)["cpu"])
        long.append(measures.times(lambda: model.set_params(max_iter=6).fit(X, y), 0)["cpu"])
    seconds = (min(long) - min(short)) / 5 / len(X)
    if seconds <= 0:
        raise ValueError("six epochs took no longer than one: too few samples to measure")
    flops = counted_flops(task["model"], n, prototypes)
    fraction = flops / seconds / (2 * 1024**3 / min(product))
    return {"cpu": seconds, "wall": seconds, "samples_per_second": 1 / seconds, "fraction_of_product": fraction}
