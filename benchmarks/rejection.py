"""Rejection: speed of the thresholds, and coverage at equal guarantee next to MAPIE's controller.

Run ``python -m benchmarks.rejection`` in an environment that has the package mapie; LVQ_DATA names the folder of data.

Part 1: seconds for "optimal" thresholds of 100,000 samples, 200 cells and 10,000 errors, and for "hull" of a million.

Part 2: the guarantee P(error | accepted) <= max_error with confidence 0.95, by this library and by MAPIE's
`MultiClassificationLTTController` with selective accuracy as its risk (correct among the accepted) and the abstention
rate as its criterion. Both use the same fitted model, the same calibration and test samples, and, except in the
columns named RelSim, the same score: the largest probability. The result is the coverage on the test samples; 0 where
nothing can be guaranteed. Writes `results/rejection.json` and `results/rejection.md`.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import json
import pathlib
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import LOGM
from lvq.datasets import load_dataset
from lvq.rejection import Combination, RejectClassifier, local_thresholds
from lvq.rejection.calibration import Data, ScoredSamples, Settings, cross_fitted, fit_thresholds, score
from lvq.rejection.corrections import Guarantee

Samples = tuple[np.ndarray, np.ndarray]
RESULTS = pathlib.Path(__file__).parent / "results"
DATASETS = ("segment", "vehicle", "satimage", "letter", "digits", "usps", "diabetes", "wdbc")
MAX_SAMPLES = 6000
LEVELS = (0.01, 0.02, 0.05, 0.1)
CONFIDENCE = 0.95
N_SEEDS = 5

# A quarter of the calibration samples fits the path, the rest tests it.
OURS: dict[str, dict[str, str]] = {
    "global": {"measure": "probability", "thresholds": "global"},
    "global, Bonferroni": {"measure": "probability", "thresholds": "global", "correction": "bonferroni"},
    "local": {"measure": "probability"},
    "RelSim, global": {"measure": "relsim", "thresholds": "global"},
    "RelSim, local": {"measure": "relsim"},
}
# Cross-fitted training samples fit the path, all calibration samples test it.
CROSSED: dict[str, dict[str, str]] = {
    "cross-fitted, global": {"measure": "probability", "thresholds": "global"},
    "cross-fitted, local": {"measure": "probability"},
    "cross-fitted, RelSim, local": {"measure": "relsim"},
}
# As it comes; and with what it does not do by itself: thresholds where the scores are, and a first one that accepts
# enough samples to be tested, from the same quarter of the samples that ours has for its path.
MAPIE: dict[str, tuple[str, bool]] = {
    "MAPIE default": ("bonferroni_holm", False),
    "MAPIE Bonferroni": ("bonferroni", False),
    "MAPIE split fixed sequence": ("split_fixed_sequence", False),
    "MAPIE Holm, our grid": ("bonferroni_holm", True),
    "MAPIE fixed sequence, our grid": ("fixed_sequence", True),
}


EXPLANATION = f"""P(error | accepted) <= max_error with confidence {CONFIDENCE}; coverage on the test samples, mean of
{N_SEEDS} splits (40 % train, 30 % calibration, 30 % test, at most {MAX_SAMPLES} samples); 0 without a guarantee.
All except the RelSim columns threshold the same score, the largest probability.

- "local": the optimal thresholds of cells of 10 samples or more. Fixed sequences unless Bonferroni is named.
- "cross-fitted": the path comes from the training samples, and all calibration samples are for the tests, as
  `RejectClassifier(cv=3, max_error=...)` has it; else a quarter of the calibration samples is for the path.
- "MAPIE default": Bonferroni-Holm over 100 thresholds from 0 to 0.99. The p-value of a threshold that accepts no sample
  is NaN there, at which Holm and fixed sequences stop: hence the zeros where no probability reaches 0.99.
- "our grid": quantiles of the score on a quarter of the calibration samples, the strictest where ours begins."""


def best_time(call: Callable[[], object], repeats: int) -> float:
    """Shortest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def speeds() -> dict[str, float]:
    """Seconds of the threshold searches."""
    rng = np.random.default_rng(0)
    certainty, cell = rng.random(100_000), rng.integers(0, 200, 100_000)
    correct = np.ones(100_000, dtype=bool)
    correct[np.argsort(certainty + rng.normal(scale=0.5, size=100_000))[:10_000]] = False  # errors at low certainty
    million, cells = rng.random(1_000_000), rng.integers(0, 200, 1_000_000)
    right = rng.random(1_000_000) < 0.7 + 0.3 * million
    return {
        "optimal: 100,000 samples, 200 cells, 10,000 errors": best_time(
            lambda: local_thresholds(certainty, correct, cell), 5
        ),
        "hull: 1,000,000 samples, 200 cells": best_time(
            lambda: local_thresholds(million, right, cells, method="hull"), 3
        ),
    }


def models(name: str, seed: int) -> dict[str, object]:
    """A prototype model and, as an example of any other classifier, a forest."""
    n_prototypes = 5 if name == "letter" else 3
    prototypes = LOGM(n_prototypes=n_prototypes, relevance="matrix", kernel="gaussian", max_iter=50, random_state=seed)
    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    return {"LOGM": make_pipeline(StandardScaler(), prototypes), "forest": forest}


def by_us(model: object, calibration: Samples, X_test: np.ndarray, level: float, settings: dict) -> np.ndarray:
    """Which test samples are accepted."""
    safe = RejectClassifier(
        FrozenEstimator(model), max_error=level, confidence=CONFIDENCE, on_failure="reject", **settings
    )
    return safe.fit(*calibration).accept(X_test)


def by_us_crossed(
    settings: Settings, fitting: ScoredSamples, testing: ScoredSamples, test: ScoredSamples, level: float
) -> np.ndarray:
    """Which test samples are accepted by what `RejectClassifier(cv=3).fit` does, on the split that the others have."""
    settings = replace(settings, guarantee=Guarantee(level, 1 - CONFIDENCE), on_failure="reject")
    _, point, _ = fit_thresholds(settings, fitting, testing, len(testing.correct))
    return np.zeros(len(test.cell), dtype=bool) if point is None else point.accept(test.certainty, test.cell)


def crossed_samples(
    model: object, training: Samples, calibration: Samples, test: Samples, given: dict
) -> tuple[Settings, ScoredSamples, ScoredSamples, ScoredSamples]:
    """Out-of-fold scores of the training samples, for the path, and the model's own scores of the others."""
    measure = Combination(given["measure"], None)
    settings = Settings(model, measure=measure, thresholds=given.get("thresholds", "optimal"), cv=3)
    parts = [Data(X, y, np.ones(len(y), dtype=bool), {}, {}) for X, y in (training, calibration, test)]
    return settings, cross_fitted(settings, model, parts[0]), *(score(settings, model, part) for part in parts[1:])


def by_mapie(
    model: object, calibration: Samples, X_test: np.ndarray, level: float, how: tuple[str, bool]
) -> np.ndarray:
    """Which test samples are accepted."""
    from mapie.risk_control import MultiClassificationLTTController
    from mapie.risk_control.risks import BinaryRisk, abstention_rate

    method, our_grid = how
    (X, y), grid = calibration, np.linspace(0, 0.99, 100)
    if our_grid or method == "split_fixed_sequence":
        X_first, X, y_first, y = train_test_split(X, y, train_size=0.25, random_state=0)
    if our_grid:
        needed = np.log(1 - CONFIDENCE) / np.log(1 - level)
        least = min(1.0, min(3 * needed, np.sqrt(needed * len(y))) / len(y))
        grid = np.unique(np.quantile(model.predict_proba(X_first).max(axis=1), np.linspace(0, 1 - least, 100)))
    controller = MultiClassificationLTTController(
        model.predict_proba,
        risks=[
            BinaryRisk(
                risk_occurrence=lambda y_true, y_pred: y_pred == y_true,
                risk_condition=lambda y_true, y_pred: ~np.isnan(y_pred),
                higher_is_better=True,
            )
        ],
        target_level=[1 - level],
        confidence_level=CONFIDENCE,
        best_predict_param_choice=abstention_rate,
        list_predict_params=grid,
        classes=model.classes_,
        fwer_method=method,
    )
    if method == "split_fixed_sequence":
        controller.learn_fixed_sequence_order(X_first, y_first, binary=True)
    controller.calibrate(X, y)
    if controller.best_predict_param is None:
        return np.zeros(len(X_test), dtype=bool)
    # the threshold itself, as the split method keeps it as an object that `predict` cannot compare
    return model.predict_proba(X_test).max(axis=1) >= float(controller.best_predict_param)


def run(name: str, seed: int) -> list[dict]:
    """All methods at all levels on one split: 40 % to train, 30 % to calibrate, 30 % to test."""
    X, y = load_dataset(name, return_X_y=True)
    y = np.unique(y, return_inverse=True)[1]
    rows = np.random.default_rng(seed).permutation(len(y))[:MAX_SAMPLES]
    n_train, n_calibration = round(0.4 * len(rows)), round(0.3 * len(rows))
    train, calibrate, test = np.split(rows, [n_train, n_train + n_calibration])
    return [
        {"data": name, "model": kind, "seed": seed} | row
        for kind, model in models(name, seed).items()
        for row in compare(kind, model, (X[train], y[train]), (X[calibrate], y[calibrate]), (X[test], y[test]))
    ]


def compare(kind: str, model: object, training: Samples, calibration: Samples, test: Samples) -> list[dict]:
    """All methods at all levels for one model."""
    model.fit(*training)
    wrong = model.predict(test[0]) != test[1]
    ours, crossed = (
        {label: given for label, given in methods.items() if given["measure"] != "relsim" or kind == "LOGM"}
        for methods in (OURS, CROSSED)
    )
    parts = {label: crossed_samples(model, training, calibration, test, given) for label, given in crossed.items()}
    found = []
    for level in LEVELS:
        accepted = {label: by_us(model, calibration, test[0], level, given) for label, given in ours.items()}
        accepted |= {label: by_us_crossed(*part, level) for label, part in parts.items()}
        accepted |= {label: by_mapie(model, calibration, test[0], level, how) for label, how in MAPIE.items()}
        found += [
            {
                "max_error": level,
                "method": label,
                "coverage": float(mask.mean()),
                "error": float(wrong[mask].mean()) if mask.any() else None,
                "n_accepted": int(mask.sum()),
                "base_error": float(wrong.mean()),
            }
            for label, mask in accepted.items()
        ]
    return found


def summary(runs: list[dict]) -> list[dict]:
    """Means over the seeds."""
    groups: dict[tuple, list[dict]] = {}
    for row in runs:
        groups.setdefault((row["data"], row["model"], row["max_error"], row["method"]), []).append(row)
    return [
        {
            "data": data,
            "model": model,
            "max_error": level,
            "method": method,
            "coverage": float(np.mean([row["coverage"] for row in rows])),
            "promised": sum(row["error"] is not None for row in rows),
            "runs": len(rows),
            "error": pooled_error(rows),
            "base_error": float(np.mean([row["base_error"] for row in rows])),
        }
        for (data, model, level, method), rows in groups.items()
    ]


def pooled_error(rows: list[dict]) -> float | None:
    """Errors among all accepted test samples."""
    accepted = sum(row["n_accepted"] for row in rows)
    return sum(row["n_accepted"] * (row["error"] or 0) for row in rows) / accepted if accepted else None


def table(means: list[dict], model: str) -> str:
    """Coverage by data set and level; the best of a row in bold."""
    labels = [
        label for label in (*OURS, *CROSSED, *MAPIE) if any(m["method"] == label and m["model"] == model for m in means)
    ]
    lines = ["| data (error) | max_error | " + " | ".join(labels) + " |", "|---|---|" + "---|" * len(labels)]
    for data in DATASETS:
        for level in LEVELS:
            here = {m["method"]: m for m in means if (m["data"], m["model"], m["max_error"]) == (data, model, level)}
            best = max(round(m["coverage"], 3) for m in here.values())
            cells = [f"{here[label]['coverage']:.3f}" for label in labels]
            cells = [f"**{c}**" if float(c) == best and best > 0 else c for c in cells]
            base = next(iter(here.values()))["base_error"]
            lines.append(f"| {data} ({base:.1%}) | {level} | " + " | ".join(cells) + " |")
    mean = [np.mean([m["coverage"] for m in means if (m["model"], m["method"]) == (model, label)]) for label in labels]
    lines.append("| **mean** | | " + " | ".join(f"{value:.3f}" for value in mean) + " |")
    return "\n".join(lines)


def error_ratios(means: list[dict]) -> str:
    """Test errors among the accepted samples, relative to max_error."""
    lines = [
        "| method | settings with a guarantee | pooled test error / max_error, mean | largest |",
        "|---|---|---|---|",
    ]
    for label in (*OURS, *CROSSED, *MAPIE):
        ratios = [m["error"] / m["max_error"] for m in means if m["method"] == label and m["error"] is not None]
        if ratios:
            lines.append(f"| {label} | {len(ratios)} | {np.mean(ratios):.2f} | {np.max(ratios):.2f} |")
    return "\n".join(lines)


def versus(means: list[dict], ours: str, theirs: str) -> str:
    """In how many settings the coverage is higher or lower by more than a hundredth."""
    both = {}
    for m in means:
        both.setdefault((m["data"], m["model"], m["max_error"]), {})[m["method"]] = m["coverage"]
    gaps = np.array([found[ours] - found[theirs] for found in both.values() if ours in found and theirs in found])
    more, less = int((gaps > 0.01).sum()), int((gaps < -0.01).sum())
    return f"| {ours} | {theirs} | {more} | {less} | {len(gaps) - more - less} | {gaps.mean():+.3f} |"


def report(result: dict) -> str:
    """The page of results."""
    means = result["means"]
    pairs = [(ours, theirs) for theirs in MAPIE for ours in (*OURS, *CROSSED)]
    against = [
        "| ours | theirs | higher coverage | lower | within 0.01 | mean difference |",
        "|---|---|---|---|---|---|",
    ]
    against += [versus(means, *pair) for pair in pairs]
    speed = [f"- {what}: {seconds:.2f} s" for what, seconds in result["speeds"].items()]
    return "\n\n".join(
        [
            "# Rejection: speed, and coverage at equal guarantee",
            f"By `python -m benchmarks.rejection`; {result['machine']}, {result['versions']}.",
            "## Speed, one thread",
            "\n".join(speed),
            "## Coverage at equal guarantee",
            EXPLANATION,
            "### LOGM, a matrix and a Gaussian kernel (local cells: winning prototypes)",
            table(means, "LOGM"),
            "### Random forest (local cells: predicted classes)",
            table(means, "forest"),
            "### Against each other",
            "\n".join(against),
            "### Do the guarantees hold?",
            "Above 1 the errors on the test samples, pooled over the splits, exceed max_error; with confidence "
            f"{CONFIDENCE} and finite test sets, a few settings slightly above 1 are expected.",
            error_ratios(means),
        ]
    )


def main() -> None:
    """Measure all, print, and write."""
    warnings.simplefilter("ignore")  # MAPIE's about risks that are not monotone; solvers' about their iterations
    start = time.perf_counter()
    result: dict = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "speeds": speeds(),
    }
    print(result["speeds"], flush=True)
    import mapie

    result["versions"] = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, MAPIE {mapie.__version__}"
    runs: list[dict] = []
    for name in DATASETS:
        for seed in range(N_SEEDS):
            runs += run(name, seed)
        print(name, f"{time.perf_counter() - start:.0f} s", flush=True)
    result["means"] = summary(runs)
    result["seconds"] = time.perf_counter() - start
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "rejection.json").write_text(json.dumps(result, indent=1) + "\n")
    page = report(result)
    (RESULTS / "rejection.md").write_text(page + "\n")
    print(page)


if __name__ == "__main__":
    main()
