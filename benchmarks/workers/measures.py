"""The formulas of the measurements, each once, for every library: NumPy only."""

import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

BLOCK = 4096


@lru_cache(maxsize=1)
def load(folder: str) -> dict[str, np.ndarray]:
    """The arrays of a folder, by the names of their files; the last folder stays in memory."""
    found = {name[:-4]: np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
    if "X_indptr" in found:  # sparse rows, for this library only
        from scipy.sparse import csr_array

        parts = [found.pop(f"X_{name}") for name in ("data", "indices", "indptr", "shape")]
        found["X"] = csr_array(tuple(parts[:3]), shape=tuple(parts[3].tolist()))
    return found


def quartiles(values: Sequence[float]) -> dict[str, float | int]:
    """Median, quartiles and number of some values."""
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    return {"median": float(median), "q1": float(q1), "q3": float(q3), "n": len(values)}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The p of values ~ sizes^p, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def times(call: Callable[[], object], at_least: float = 0.2, most: int = 50) -> dict[str, Any]:
    """Median wall and CPU seconds of calls, repeated until they took `at_least` seconds together."""
    wall: list[float] = []
    cpu: list[float] = []
    while not wall or (sum(wall) < at_least and len(wall) < most):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        call()
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    return {"wall": float(np.median(wall)), "cpu": float(np.median(cpu)), "calls": len(wall)}


def prototype_scores(
    X: np.ndarray, y: np.ndarray, prototypes: np.ndarray, labels: np.ndarray, omega: np.ndarray | None = None
) -> dict[str, float]:
    """Accuracy, and GLVQ's objective: the mean of (d+ - d-)/(d+ + d-) with d = |Omega (x - w)|^2.

    Computed for every library from its prototypes and matrix, so that a difference is one of the models.
    """
    prototypes = np.asarray(prototypes, dtype=float)
    centre = prototypes.mean(axis=0)
    matrix = np.eye(X.shape[1]) if omega is None else np.asarray(omega, dtype=float)
    P = (prototypes - centre) @ matrix.T
    correct, margin = 0, 0.0
    for start in range(0, len(X), BLOCK):
        Z = (X[start : start + BLOCK] - centre) @ matrix.T
        D = np.maximum((Z**2).sum(axis=1)[:, None] + (P**2).sum(axis=1) - 2 * Z @ P.T, 0)
        own = labels == y[start : start + BLOCK, None]
        d_plus, d_minus = (np.where(mask, D, np.inf).min(axis=1) for mask in (own, ~own))
        correct += int((d_plus < d_minus).sum())
        total = d_plus + d_minus
        margin += float(((d_plus - d_minus) / np.where(total > 0, total, 1)).sum())
    return {"accuracy": correct / len(X), "objective": margin / len(X)}


def extra_megabytes(call: Callable[[], object]) -> float:
    """The largest resident memory of this process during a call, less that before it (Linux).

    The kernel's own record of the largest is reset before the call. `getrusage` has it too, but it begins with that of
    the process that started this one.
    """
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    before = _resident("VmRSS")
    call()
    return _resident("VmHWM") - before


def _resident(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def product_and_argmin(X: np.ndarray, F: np.ndarray, b: np.ndarray, rows: int | None) -> np.ndarray:
    """The limit of every prediction: the index of the smallest b - X F, in blocks of rows or whole (None)."""
    if rows is None:
        return (b - X @ F).argmin(axis=1)
    winners = np.empty(len(X), dtype=np.intp)
    scores = np.empty((rows, F.shape[1]), dtype=X.dtype)
    for start in range(0, len(X), rows):
        block = X[start : start + rows]
        part = np.dot(block, F, out=scores[: len(block)])
        np.subtract(b, part, out=part).argmin(axis=1, out=winners[start : start + rows])
    return winners
