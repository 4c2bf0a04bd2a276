"""`value_and_gradient` and an epoch of Adam on a GPU, against a float32 matrix product (TF32 off) in the same run.

Prints, and writes to `benchmarks/results/gpu.json` (or the folder in the first argument). Data lie on the device. The
fraction is the product's time over ours for GLVQ, whose counted flops are the product's own, and the fraction of the
product's rate by 2N(2mn + Mm) counted flops for GMLVQ. Also checks the results against float64 on the CPU.
"""

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lvq.model.costs import GLVQCost
from lvq.model.links import Identity
from lvq.model.objective import Objective, Params
from lvq.model.relevance import MatrixRelevance, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Adam, train
from lvq.solvers.batch import Problem


def milliseconds(call: Callable[[], object], repeats: int = 20) -> float:
    """Best mean of three rounds of calls in a row, nothing read back between them."""
    call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(3):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            call()
        end.record()
        torch.cuda.synchronize()
        best = min(best, start.elapsed_time(end) / repeats)
    return best


def make(
    relevance: Relevance, samples: int, n: int, count: int, device: str, dtype: Any
) -> tuple[Problem, Params, ArraySamples]:
    """A problem of random data with 10 classes."""
    generator = torch.Generator(device=device).manual_seed(0)
    X = torch.randn(samples, n, generator=generator, device=device, dtype=dtype)
    y = torch.randint(0, 10, (samples,), generator=generator, device=device)
    W = torch.randn(count, n, generator=generator, device=device, dtype=dtype)
    labels = np.repeat(np.arange(10), count // 10)
    omega = None
    if isinstance(relevance, MatrixRelevance):
        omega = torch.eye(n, device=device, dtype=dtype) / n**0.5
        omega += 0.01 * torch.randn(n, n, generator=generator, device=device, dtype=dtype)
    objective = Objective(relevance.metric(labels), Identity(), GLVQCost(), torch.as_tensor(labels, device=device))
    data = ArraySamples(X, y, torch.full((samples,), 1 / samples, device=device, dtype=dtype))
    problem = Problem(objective, relevance)
    return problem, problem.free(Params(W, omega)), data


def rate(relevance: Relevance, samples: int, n: int, count: int) -> dict[str, Any]:
    """One case."""
    problem, free, data = make(relevance, samples, n, count, "cuda", torch.float32)
    W = free.prototypes
    product = milliseconds(lambda: data.X @ W.T)
    ours = milliseconds(lambda: problem.value_and_gradient(free, data))
    matrix = isinstance(relevance, MatrixRelevance)
    flops = 2 * samples * (2 * n * n + count * n) if matrix else 2 * samples * count * n
    return {
        "model": "GMLVQ" if matrix else "GLVQ",
        "case": f"N={samples}, n={n}, M={count}, float32",
        "product_ms": round(product, 3),
        "product_tflops": round(2 * samples * count * n / product / 1e9, 1),
        "value_and_gradient_ms": round(ours, 3),
        "share_of_product": round(flops / ours / (2 * samples * count * n / product), 3),
    }


def agreement(relevance: Relevance) -> dict[str, float]:
    """Largest difference from float64 on the CPU, relative to the largest entry."""
    problem, free, data = make(relevance, 20_000, 100, 300, "cuda", torch.float32)
    value, gradient = problem.value_and_gradient(free, data)
    to = lambda part: None if part is None else part.cpu().double()  # noqa: E731
    host = Problem(
        Objective(problem.objective.metric, Identity(), GLVQCost(), problem.objective.labels.cpu()), relevance
    )
    samples = ArraySamples(to(data.X), data.y.cpu(), to(data.weight))
    exact, expected = host.value_and_gradient(Params(*map(to, free)), samples)
    result = {"value": abs(float(value) - float(exact))}
    for name, ours, theirs in zip(("prototypes", "relevance"), gradient, expected):
        if theirs is not None:
            result[name] = float((ours.cpu().double() - theirs).abs().max() / theirs.abs().max())
    return result


def epoch(relevance: Relevance, samples: int, n: int, count: int, batch: int) -> float:
    """Milliseconds of one epoch of Adam."""
    problem, free, data = make(relevance, samples, n, count, "cuda", torch.float32)
    params = problem.params(free)
    settings = Adam(batch_size=batch, max_iter=1)
    return milliseconds(lambda: train(problem, params, data, settings, np.random.RandomState(0)), 2)


def main() -> None:
    """Measure, print, write."""
    assert not torch.backends.cuda.matmul.allow_tf32
    result: dict[str, Any] = {
        "machine": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "agreement_with_float64_on_cpu": {"GLVQ": agreement(Relevance()), "GMLVQ": agreement(MatrixRelevance())},
        "rates": [
            rate(Relevance(), 1_000_000, 256, 1000),
            rate(MatrixRelevance(), 1_000_000, 256, 1000),
            rate(Relevance(), 1_000_000, 64, 100),
            rate(MatrixRelevance(), 1_000_000, 64, 100),
        ],
        "adam_epoch_ms": {
            f"{name}, N=1,000,000, n=256, M=1,000, batches of {batch}": round(
                epoch(relevance, 1_000_000, 256, 1000, batch), 1
            )
            for name, relevance in (("GLVQ", Relevance()), ("GMLVQ", MatrixRelevance()))
            for batch in (8192, 65536)
        },
    }
    text = json.dumps(result, indent=2)
    print(text)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "results"
    (folder / "gpu.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
