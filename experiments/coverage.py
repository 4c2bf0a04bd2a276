"""Realised coverage of new rows beside the requested one: discrete tables, saturated certainties, continuous sets.

`python -m experiments.coverage [--runs 200] [--sets NAME ...] [--designs NAME ...] [--out FILE] [--again]` needs
`LVQ_DATA`. Results are written after each set and design, to coverage.json and as a table to coverage.md; what is in
the file is not run again, unless `--again` is given.

In each run a set (of at most 1,200 rows) is split at random, three quarters for `RejectClassifier.fit` and one quarter
as new rows; a generated table is drawn anew. Two designs: one threshold as `lvq fit` has it (cross-fitted in 5 folds,
with an outlier test) and as `RejectClassifier` has it by default (30 % of the rows held out).

A run is within binomial error if the number of accepted new rows lies in the central 99 % of its distribution under an
exact threshold, on both sides: with n calibration rows and m new rows, and k = (1 - c)(n + 1), the coverage itself is
Beta(n + 1 - k, k), and the number of accepted rows is beta-binomial. The goal is 95 % of the runs. Rows of equal
certainty are accepted or rejected together, so a table with few distinct rows, such as titanic, misses it. Also stored:
the fraction of the runs in the central 95 %, and in the 99 % interval of the m new rows alone, as if the threshold were
known exactly.
"""

import argparse
import json
import os
import pathlib
import warnings
from typing import Any, ClassVar, Self

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from scipy.stats import betabinom, binom
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import pool_rows
from lvq import LVQClassifier
from lvq.rejection import RejectClassifier
from lvq.rejection.path import ThresholdPath

COVERAGES = (0.95, 0.9, 0.8, 0.5)
POOL = ("titanic", "led7digit", "mammographic", "diabetes", "vehicle", "wdbc", "banana", "sonar", "german", "heart")
DESIGNS: dict[str, dict[str, Any]] = {
    "held out": {},
    "cross-fitted, with outlier test": {"cv": 5, "measure": "combined"},
}
Results = dict[str, dict[str, list[dict[str, float]]]]
N_ROWS = 1200  # of a generated table
RESULT = pathlib.Path(__file__).parent / "results" / "coverage.json"


class Remembered(LVQClassifier):
    """The default fit, computed once for the same samples: it does not depend on the requested coverage."""

    fits: ClassVar[dict[int, dict[str, Any]]] = {}

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:  # type: ignore[override]
        """Fit, or take over an earlier fit to the same samples."""
        key = hash((X.tobytes(), y.tobytes()))
        if key not in self.fits:
            super().fit(X, y)
            self.fits[key] = dict(vars(self))
        self.__dict__.update(self.fits[key])
        return self


def passengers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table like that of Titanic's passengers: three classes, sex, age in years, number of relatives."""
    grade, sex = rng.choice(3, N_ROWS, p=(0.25, 0.2, 0.55)), rng.random(N_ROWS) < 0.35
    age, relatives = np.clip(rng.normal(30, 13, N_ROWS).round(), 1, 75), rng.poisson(0.6, N_ROWS)
    score = 2.6 * sex - 0.9 * grade - 0.03 * (age - 30) - 0.2 * relatives - 0.2
    X = np.column_stack((np.eye(3)[grade], sex, age, relatives))
    return X, (rng.random(N_ROWS) < 1 / (1 + np.exp(-score))).astype(np.intp)


def birds(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table like that of the penguins: 344 rows, three species that four measures and the island tell apart."""
    y = rng.choice(3, 344, p=(0.44, 0.2, 0.36))
    means = np.array([[38.8, 18.3, 190, 3.7], [48.8, 18.4, 196, 3.7], [47.5, 15.0, 217, 5.1]])
    measures = means[y] + rng.normal(size=(344, 4)) * [2.7, 1.1, 6.5, 0.45]
    island = np.where(y == 1, 1, np.where(y == 2, 0, rng.choice(3, 344)))
    return np.column_stack((measures.round(1), np.eye(3)[island])), y


GENERATED = {"passengers (generated)": passengers, "birds (generated)": birds}


def rows(name: str, seed: int) -> list[np.ndarray]:
    """Training rows, new rows, and their classes."""
    X, y = GENERATED[name](np.random.default_rng(seed)) if name in GENERATED else pool_rows(name)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def accepted(name: str, seed: int, design: str) -> list[tuple[int, int, int]]:
    """For each coverage: calibration rows, new rows, and accepted new rows."""
    X, X_new, y, _ = rows(name, seed)
    model = make_pipeline(StandardScaler(), Remembered(random_state=0))
    Remembered.fits.clear()
    result = []
    for coverage in COVERAGES:
        reject = RejectClassifier(model, min_coverage=coverage, random_state=seed, **DESIGNS[design])
        reject.fit(X, y)
        assert isinstance(reject.path_, ThresholdPath)
        n_calibration = reject.path_.n_samples if isinstance(reject.cv, float) else len(y)
        result.append((n_calibration, len(X_new), int(reject.accept(X_new).sum())))
    return result


def judged(counts: np.ndarray, coverage: float) -> dict[str, float]:
    """What fraction of the runs is within binomial error; rows of calibration rows, new rows, accepted ones."""
    n, m, found = counts.T
    k = (1 - coverage) * (n + 1)

    def within(distribution: Any, mass: float, *parameters: np.ndarray) -> float:
        low, high = distribution.interval(mass, m, *parameters)
        return float(np.mean((found >= low) & (found <= high)))

    return {
        "requested": coverage,
        "mean": float(np.mean(found / m).round(4)),
        "standard deviation": float(np.std(found / m).round(4)),
        "expected standard deviation": float(np.mean(betabinom.std(m, n + 1 - k, k) / m).round(4)),
        "within 99 %": within(betabinom, 0.99, n + 1 - k, k),
        "within 95 %": within(betabinom, 0.95, n + 1 - k, k),
        "within 99 % of the new rows alone": within(binom, 0.99, np.full(len(m), coverage)),
    }


def as_table(runs: int, results: Results) -> str:
    """The results as Markdown: a line for each set and design."""
    requested = "".join(f" {coverage:g} |" for coverage in COVERAGES)
    lines = [
        "# Realised coverage of new rows",
        "",
        f"Written by `python -m experiments.coverage`, {runs} runs each. In a cell: the mean realised coverage, and",
        "the fraction of the runs in which the number of accepted rows is in the central 99 % (the central 95 %) of",
        "its beta-binomial distribution, which has the error of the calibration rows and of the new rows.",
        "",
        f"| set | thresholds |{requested}",
        "|---|---|" + "---|" * len(COVERAGES),
    ]
    for name, designs in results.items():
        for design, rows in designs.items():
            cells = (f"{row['mean']:.3f}: {row['within 99 %']:.3f} ({row['within 95 %']:.3f})" for row in rows)
            lines.append(f"| {name} | {design} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sets", nargs="+", default=[*GENERATED, *POOL])
    parser.add_argument("--designs", nargs="+", default=[*DESIGNS], choices=[*DESIGNS])
    parser.add_argument("--out", type=pathlib.Path, default=RESULT)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of small classes, and of fits that stop early
    stored = json.loads(given.out.read_text()) if given.out.exists() and not given.again else {}
    results: Results = stored.get("sets", {}) if stored.get("runs") == given.runs else {}
    for design in given.designs:
        for name in given.sets:
            if design in results.get(name, {}):
                continue
            counts = np.array([accepted(name, seed, design) for seed in range(given.runs)])
            table = [judged(counts[:, index], coverage) for index, coverage in enumerate(COVERAGES)]
            results.setdefault(name, {})[design] = table
            print(name, design, *(tuple(row.values()) for row in table), sep="\n  ", flush=True)
            given.out.write_text(json.dumps({"runs": given.runs, "sets": results}, indent=1) + "\n")
            given.out.with_suffix(".md").write_text(as_table(given.runs, results))


if __name__ == "__main__":
    main()
