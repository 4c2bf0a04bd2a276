"""How often a guaranteed error is exceeded, by simulation with a known truth.

    python -m experiments.guarantees [--calibrations N]

A fixed GLVQ model labels samples, and each label is flipped with a probability eta(x) that is known. So the error among
accepted samples is the mean of eta over them, without the noise of test labels. `RejectClassifier(max_error=...)`
is calibrated N times (2,000 by default) on new samples, for every procedure and population:

- "hard": eta is just above the bound everywhere; whatever is certified is a violation, except with several bounds, of
  which a higher one may be certified;
- "honest": eta falls with the certainty;
- "inverted": eta rises with the certainty;
- "one class": one class is predicted well, the other not.

Written to `experiments/results/guarantees.json`: calibrations, how many certify a point, how many of these exceed the
bound, the promised fraction, and the probability of as many or more violations if exactly that fraction were true.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from lvq import GLVQ, LVQ1, RejectClassifier
from lvq.rejection import GuaranteeError
from lvq.rejection.guarantee import CertifiedPoint
from lvq.solvers.online import Online

RESULT = pathlib.Path(__file__).parent / "results" / "guarantees.json"
MAX_ERROR, CONFIDENCE = 0.1, 0.9
N_SAMPLES, N_TEST = 400, 3000
FEW_SAMPLES = 25  # too few for any test of the bound to pass
POPULATIONS = ("hard", "honest", "inverted", "one class")
PROCEDURES: dict[str, dict[str, object]] = {
    "global threshold": {},
    "optimal": {"thresholds": "optimal"},
    "greedy, distance": {"thresholds": "greedy", "measure": "distance"},
    "several bounds": {"max_error": [MAX_ERROR, 0.15, 0.2, 0.3, 0.5]},
    "several bounds, few samples": {"max_error": [MAX_ERROR, 0.15, 0.2, 0.3, 0.5]},
    "foreign inputs too": {"measure": "combined"},
    "held-out part": {"cv": 0.5},
}


class Truth(NamedTuple):
    """The model that gives the labels, and how often they are flipped."""

    labels: BaseEstimator
    population: str

    def eta(self, X: np.ndarray) -> np.ndarray:
        """The probability that the label of x is not the model's."""
        certainty = np.abs(self.labels.decision_function(X))
        if self.population == "hard":
            return np.full(len(X), MAX_ERROR + 1e-4)
        if self.population == "honest":
            return 0.5 * np.exp(-4 * certainty)
        if self.population == "inverted":
            return np.minimum(0.02 + 0.3 * certainty, 0.5)
        return np.where(self.labels.predict(X) == 1, 0.3, 0.05)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples and labels."""
        X = rng.normal(size=(size, 2)) + [1.0, 0.0] * rng.integers(0, 2, (size, 1)) * 2
        flipped = rng.random(size) < self.eta(X)
        return X, self.labels.predict(X) ^ flipped

    def errors(self, model: RejectClassifier, X: np.ndarray) -> np.ndarray:
        """The probabilities that the predictions for accepted samples are wrong."""
        accepted = X[model.accept(X)]
        if not len(accepted):
            return np.empty(0)
        eta = self.eta(accepted)
        return np.where(model.predict(accepted) == self.labels.predict(accepted), eta, 1 - eta)


def truth(population: str) -> Truth:
    """Two classes around two centres."""
    model = GLVQ(init=[[0.0, 0.0], [2.0, 0.0]], solver=Online(learning_rate=0.0), max_iter=1)
    return Truth(model.fit([[0.0, 0.0], [2.0, 0.0]], [0, 1]), population)


def violated(model: RejectClassifier, known: Truth, X: np.ndarray) -> bool | None:
    """Whether the true error exceeds the bound; None where nothing is accepted."""
    errors = known.errors(model, X)
    bound = model.point_.max_error if isinstance(model.point_, CertifiedPoint) else MAX_ERROR
    return bool(errors.mean() > bound) if len(errors) else None


def simulate(procedure: str, population: str, calibrations: int, seed: int = 0) -> dict[str, object]:
    """Counts of one procedure on one population."""
    known, rng = truth(population), np.random.default_rng([seed, len(procedure), len(population)])
    options: dict[str, Any] = {"cv": "prefit", "max_error": MAX_ERROR, "confidence": CONFIDENCE} | PROCEDURES[procedure]
    inner = known.labels if options["cv"] == "prefit" else LVQ1(max_iter=1, random_state=0)
    test = known.draw(rng, N_TEST)[0]
    outcomes: list[bool | None] = []
    size = FEW_SAMPLES if procedure.endswith("few samples") else N_SAMPLES * (1 if options["cv"] == "prefit" else 2)
    for _ in range(calibrations):
        try:
            model = RejectClassifier(inner, **options).fit(*known.draw(rng, size))
        except GuaranteeError:
            outcomes.append(None)
            continue
        outcomes.append(violated(model, known, test))
    wrong = sum(outcome is True for outcome in outcomes)
    return {
        "procedure": procedure,
        "population": population,
        "calibrations": calibrations,
        "certified": sum(outcome is not None for outcome in outcomes),
        "violated": wrong,
        "promised": round((1 - CONFIDENCE) * calibrations),
        "p_value": float(binom.sf(wrong - 1, calibrations, 1 - CONFIDENCE)),
    }


def main(arguments: list[str] | None = None) -> None:
    """Every procedure on every population; rows are written as they are finished, and finished ones are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calibrations", type=int, default=2000)
    parser.add_argument("--populations", nargs="*", default=list(POPULATIONS), choices=POPULATIONS)
    chosen = parser.parse_args(arguments)
    rows = json.loads(RESULT.read_text()) if RESULT.exists() else []
    done = {(row["procedure"], row["population"]) for row in rows if row["calibrations"] >= chosen.calibrations}
    for population in chosen.populations:
        for procedure in PROCEDURES:
            if (procedure, population) in done:
                continue
            with threadpool_limits(1):
                rows.append(simulate(procedure, population, chosen.calibrations))
            print(*rows[-1].values(), flush=True)
            RESULT.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
