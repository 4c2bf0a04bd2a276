"""Certified radii against an attack: projected gradient descent inside the radius of 10,000 samples.

    python -m experiments.certificates [--samples N]

Four overlapping classes in ten features, 10,000 new samples, models with every kind of metric and two prototypes per
class, each of the norms 1, 2 and infinity. The attack minimises the difference between the distances to the nearest
prototype of another class and of the predicted one, over the ball of the certified radius times 1 - 1e-9, from the
sample itself and from random points of the ball. A certificate is broken if any visited point gets another label.

Written to `experiments/results/certificates.json`: samples, broken certificates, the median radius, and the fraction of
samples whose label the same attack changes at twice and at four times the radius, which shows that it can.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, MCE, LVQClassifier, certified_radius
from lvq.estimators.base import BaseLVQ
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Matrix

RESULT = pathlib.Path(__file__).parent / "results" / "certificates.json"
NORMS = (1, 2, np.inf)
STEPS, STARTS = 12, 3
OPTIONS: dict[str, Any] = {"n_prototypes": 2, "max_iter": 30, "random_state": 0}
MODELS: dict[str, BaseLVQ] = {
    "GLVQ": GLVQ(**OPTIONS),
    "GRLVQ": GRLVQ(**OPTIONS),
    "GMLVQ": GMLVQ(**OPTIONS),
    "GMLVQ, rank 2": GMLVQ(relevance=Matrix(rank=2), **OPTIONS),
    "LGMLVQ": LGMLVQ(**OPTIONS),
    "MCE, local weights": MCE(relevance="local_diagonal", **OPTIONS),
    "LVQClassifier": LVQClassifier(**OPTIONS),
}


def draw(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four classes of two overlapping clusters each."""
    centres = np.random.default_rng(0).normal(size=(4, 2, 10)) * 1.2
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, size)
    return rng.normal(size=(size, 10)) + centres[y, rng.integers(0, 2, size)], y


def squares(model: PrototypeModel) -> np.ndarray:
    """Lambda of each prototype, of shape (M, n, n)."""
    found = []
    for j in range(len(model.prototypes)):
        omega = model.matrix_of(j)
        found.append(np.diag(omega**2) if omega.ndim == 1 else omega.T @ omega)
    return np.array(found)


def projected(step: np.ndarray, radius: np.ndarray, norm: float) -> np.ndarray:
    """The nearest change inside the ball of each row."""
    if norm == np.inf:
        return np.clip(step, -radius[:, None], radius[:, None])
    if norm == 2:
        length = np.linalg.norm(step, axis=1)
        return step * np.minimum(1, radius / np.maximum(length, 1e-300))[:, None]
    size = np.abs(step)
    ordered = -np.sort(-size, axis=1)
    excess = (np.cumsum(ordered, axis=1) - radius[:, None]) / np.arange(1, step.shape[1] + 1)
    count = np.count_nonzero(ordered > excess, axis=1)
    limit = np.where(size.sum(axis=1) > radius, excess[np.arange(len(step)), np.maximum(count, 1) - 1], 0.0)
    found = np.sign(step) * np.maximum(size - limit[:, None], 0)
    total = np.abs(found).sum(axis=1)  # rounding must not leave the ball
    return found * np.minimum(1, radius / np.maximum(total, 1e-300))[:, None]


def gradient(model: PrototypeModel, Lambda: np.ndarray, Z: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Of the distance to the nearest prototype of another class minus that to the nearest of class `own`."""
    D = np.array([np.einsum("in,nm,im->i", Z - w, L, Z - w) for w, L in zip(model.prototypes, Lambda)]).T
    same = model.labels[None] == own[:, None]
    j, k = np.where(same, np.inf, D).argmin(axis=1), np.where(same, D, np.inf).argmin(axis=1)
    towards = [np.einsum("inm,im->in", Lambda[i], Z - model.prototypes[i]) for i in (j, k)]
    return 2 * (towards[0] - towards[1])


def broken(model: BaseLVQ, X: np.ndarray, radius: np.ndarray, norm: float, seed: int = 0) -> np.ndarray:
    """Which samples get another label somewhere on the way of the attack."""
    fitted, Lambda, rng = model.model_, squares(model.model_), np.random.default_rng(seed)
    before = model.predict(X)
    own = np.asarray(np.searchsorted(model.classes_, before))
    found = np.zeros(len(X), dtype=bool)
    for start in range(STARTS):
        change = np.zeros_like(X) if start == 0 else projected(rng.normal(size=X.shape) * radius[:, None], radius, norm)
        for number in range(STEPS):
            slope = gradient(fitted, Lambda, X + change, own)
            length = np.linalg.norm(slope, axis=1, keepdims=True)
            rate = radius[:, None] * (4.0 if number < STEPS // 2 else 0.5)
            change = projected(change - rate * slope / np.maximum(length, 1e-300), radius, norm)
            found |= model.predict(X + change) != before
    return found


def attack(name: str, norm: float, samples: int) -> dict[str, object]:
    """Counts for one model and norm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MODELS[name].fit(*draw(2000, 1))
    X, y = draw(samples, 2)
    radius = certified_radius(model, X, norm)
    few = slice(0, min(1000, samples))
    return {
        "model": name,
        "norm": "inf" if norm == np.inf else norm,
        "samples": samples,
        "accuracy": float(model.score(X, y)),
        "median_radius": float(np.median(radius)),
        "broken": int(broken(model, X, radius * (1 - 1e-9), norm).sum()),
        "changed_at_twice": float(broken(model, X[few], 2 * radius[few], norm).mean()),
        "changed_at_four_times": float(broken(model, X[few], 4 * radius[few], norm).mean()),
    }


def main(arguments: list[str] | None = None) -> None:
    """Every model and norm; rows are written as they are finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    samples = parser.parse_args(arguments).samples
    rows = []
    for name in MODELS:
        for norm in NORMS:
            with threadpool_limits(1):
                rows.append(attack(name, norm, samples))
            print(*rows[-1].values(), flush=True)
            RESULT.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
