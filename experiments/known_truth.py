"""Importances and their intervals on data of which the relevant features are known.

    python -m experiments.known_truth [--sets N]

Of each kind of data N sets are drawn (20 by default), and `lvq.variable_importances` with `n_resamples` is applied to a
StandardScaler and an LVQClassifier with its defaults:

- "planted": two shifted features, a noisy copy of each, twenty noise features; 200 samples;
- "multimodal": the simulated set of Ridge et al. (2012) with 180 samples: x1 and x2, four copies of x1 with growing
  noise, of which the last two count as neither relevant nor noise here, four noise features;
- "madelon": clusters on the corners of a cube in five dimensions, two for each of two classes, five linear mixtures of
  these five, and twenty noise features; 400 samples;
- "xor": the class is the sign of a product of two features, eight noise features; 400 samples.

Written to `experiments/results/known_truth.json` and `.md`: the fraction of relevant features among the first (as many
as there are), also for a random forest's impurity importance; the fraction of relevant and of noise features that are
named as important; how often the 90 % intervals hold the expected importance (a mean over as many other sets of the
same size); and the number of sets with any important feature after the labels were permuted.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lvq import LVQClassifier, variable_importances
from lvq.datasets import make_multimodal

RESULT = pathlib.Path(__file__).parent / "results" / "known_truth"


class Known(NamedTuple):
    """Samples, classes, and which features are relevant (or copies of relevant ones) and which are noise."""

    X: np.ndarray
    y: np.ndarray
    relevant: list[int]
    noise: list[int]


def planted(seed: int) -> Known:
    """Two shifted features, a noisy copy of each, twenty noise features."""
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 24))
    X[:, :2] += 1.5 * y[:, None]
    X[:, 2:4] = X[:, :2] + 0.5 * rng.normal(size=(200, 2))
    return Known(X, y, [0, 1, 2, 3], list(range(4, 24)))


def multimodal(seed: int) -> Known:
    """Ridge's simulated set."""
    X, y = make_multimodal(30, random_state=seed)
    return Known(X, y, [0, 1, 2, 3], [6, 7, 8, 9])


def madelon(seed: int) -> Known:
    """Clusters on corners of a cube, mixtures of their features, and noise."""
    X, y = make_classification(
        400, 30, n_informative=5, n_redundant=5, n_clusters_per_class=2, class_sep=1.5, flip_y=0.01, shuffle=False,
        random_state=seed,
    )  # fmt: skip
    return Known(X, y, list(range(10)), list(range(10, 30)))


def xor(seed: int) -> Known:
    """The sign of a product."""
    X = np.random.default_rng(seed).normal(size=(400, 10))
    return Known(X, (X[:, 0] * X[:, 1] > 0).astype(int), [0, 1], list(range(2, 10)))


KINDS: dict[str, Callable[[int], Known]] = {f.__name__: f for f in (planted, multimodal, madelon, xor)}


def make_model() -> BaseEstimator:
    """The model of all experiments."""
    return make_pipeline(StandardScaler(), LVQClassifier(random_state=0))


def among_first(importances: np.ndarray, relevant: list[int]) -> float:
    """Fraction of the relevant features among as many first ones.

    Examples
    --------
    >>> among_first(np.array([0.5, 0.1, 0.3]), [0, 1])
    0.5
    """
    first = np.argsort(-importances, kind="stable")[: len(relevant)]
    return len(set(first.tolist()) & set(relevant)) / len(relevant)


def expected_importances(draw: Callable[[int], Known], sets: int) -> np.ndarray | None:
    """Mean over other sets; None where each set has other informative directions, so that there is none."""
    if draw is madelon:
        return None
    drawn = [draw(10_000 + seed) for seed in range(sets)]
    return np.mean([variable_importances(make_model().fit(d.X, d.y), d.X).importances for d in drawn], axis=0)


def of_kind(draw: Callable[[int], Known], sets: int) -> dict[str, object]:
    """All measures of one kind of data."""
    expected, rows = expected_importances(draw, 2 * sets), []
    for seed in range(sets):
        X, y, relevant, noise = draw(seed)
        found = variable_importances(make_model(), X, y, n_resamples=40)
        permuted = np.random.default_rng(seed).permutation(y)
        forest = RandomForestClassifier(200, random_state=0).fit(X, y)
        rows.append(
            {
                "first": among_first(found.importances, relevant),
                "first_forest": among_first(forest.feature_importances_, relevant),
                "named_relevant": float(found.important[relevant].mean()),
                "named_noise": float(found.important[noise].mean()),
                "held": None
                if expected is None
                else float(np.mean((found.lower <= expected) & (expected <= found.upper))),
                "permuted": bool(variable_importances(make_model(), X, permuted, n_resamples=10).important.any()),
            }
        )
    result: dict[str, object] = {"data": draw.__name__, "sets": sets}
    for key in rows[0]:
        values = [float(value) for row in rows if (value := row[key]) is not None]
        result[key] = round(sum(values) / (1 if key == "permuted" else sets), 3) if values else None
    return result


def table(results: list[dict[str, object]]) -> str:
    """The results as a table."""
    titles = {
        "first": "relevant among the first",
        "first_forest": "the same, random forest",
        "named_relevant": "relevant named important",
        "named_noise": "noise named important",
        "held": "90 % intervals hold",
        "permuted": "sets with a named feature, permuted labels",
    }
    lines = ["# Importances where the truth is known", "", f"Means over {results[0]['sets']} sets of each kind.", ""]
    lines += ["| data | " + " | ".join(titles.values()) + " |", "|---|" + "---|" * len(titles)]
    for row in results:
        cells = ["-" if row[key] is None else f"{row[key]:g}" for key in titles]
        lines.append(f"| {row['data']} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all and write the results."""
    parser = argparse.ArgumentParser(description="Importances where the truth is known.")
    parser.add_argument("--sets", type=int, default=20)
    sets, results = parser.parse_args().sets, []
    for draw in KINDS.values():
        results.append(of_kind(draw, sets))
        print(results[-1], flush=True)
    RESULT.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    RESULT.with_suffix(".md").write_text(table(results), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        main()
