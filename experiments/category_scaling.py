"""Scales of one-hot encoded categories beside standardised numbers, for the pipeline of `lvq fit`.

    python -m experiments.category_scaling [--seeds 2] [--ways NAME ...]

The tables of the pool with categories, read as `lvq fit --categorical` reads them, at most 1,200 rows, in ten folds for
each seed. `LVQClassifier` as it is. Of a category with the frequency p and a column with L categories, the 0/1 column
is divided by

- codes: 1;
- standardised: sqrt(p (1 - p)), so that each 0/1 column has the variance 1;
- one_column: the same, but a column of two categories has one 0/1 column;
- inertia: sqrt(p), as in multiple correspondence analysis: all 0/1 columns together have the variance L - 1;
- whole: sqrt(sum p (1 - p)): all 0/1 columns together have the variance 1, as a number has;
- whole_levels: the same, times 1/sqrt(L): together they have the variance L, as if standardised.

The stored results are two seeds of all ways, and four of codes, standardised and inertia.
Finished cells are stored at once in `experiments/results/category_scaling.json`, and a stopped run goes on. Prints
the mean accuracies, and that of the way that is best on the other sets. `LVQ_DATA` names the folder of data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.data import POOL_ROWS
from lvq import LVQClassifier
from lvq.inspection.steps import adapter
from lvq.workflow.preparation import Samples
from lvq.workflow.study import read_study

#: Columns of categories that are stored as numbers; texts are categories anyway. Ordered codes stay numbers.
CATEGORICAL = {
    "heart_statlog": ("sex", "chest", "fasting_blood_sugar", "resting_electrocardiographic_results",
                      "exercise_induced_angina", "thal"),
    "hayes_roth": ("x1", "x2", "x3", "x4"),
    "tae": ("x1", "x2", "x3", "x4"),
    "breast": (),
    "mammographic": ("x3", "x4"),
    "titanic": ("x1", "x2", "x3"),
    "australian": ("x1", "x4", "x5", "x6", "x8", "x9", "x11", "x12"),
    "contraceptive": ("x5", "x6", "x7", "x9"),
    "german": (),
}  # fmt: skip
WAYS = ("codes", "standardised", "one_column", "inertia", "whole", "whole_levels")
FOLDS = 10
RESULT = pathlib.Path(__file__).parent / "results" / "category_scaling.json"


class Categories(TransformerMixin, BaseEstimator):
    """One-hot encoding of the columns of a table, scaled in one of `WAYS`."""

    def __init__(self, way: str = "codes") -> None:
        self.way = way

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Learn categories and scales."""
        drop = "if_binary" if self.way == "one_column" else None
        self.encoder_ = OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop=drop)
        p, source = self.encoder_.fit_transform(X).mean(axis=0), adapter(self.encoder_).sources(self.encoder_)
        assert source is not None
        levels, total = np.bincount(source)[source], np.bincount(source, p * (1 - p))[source]
        scale = {
            "codes": np.ones_like(p),
            "inertia": np.sqrt(p),
            "whole": np.sqrt(total),
            "whole_levels": np.sqrt(total / levels),
        }.get(self.way, np.sqrt(p * (1 - p)))
        self.scale_ = np.where(scale > 0, scale, 1.0)
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Scaled codes."""
        return self.encoder_.transform(X) / self.scale_


def pipeline(samples: Samples, way: str, seed: int) -> Pipeline:
    """As `make_pipeline_for`, with categories in one of `WAYS`."""
    texts, numbers = list(samples.texts), [name for name in samples.X if name not in samples.texts]
    parts = [("numbers", StandardScaler(), numbers), ("texts", Categories(way), texts)]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]]), LVQClassifier(random_state=seed))


def table(name: str) -> Samples:
    """A set as the command line reads it, at most `POOL_ROWS` rows."""
    path = pathlib.Path(os.environ["LVQ_DATA"]) / f"{name}.csv.gz"
    found = read_study(path, "target", categorical=CATEGORICAL[name]).samples
    kept = np.sort(np.random.RandomState(0).permutation(len(found.y))[:POOL_ROWS])
    assert not found.gaps
    return Samples(found.X.iloc[kept], found.y[kept], (), found.texts, ())


def accuracies(samples: Samples, way: str, seed: int) -> list[float]:
    """Test accuracy in each fold."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(samples.X, samples.y)
    X, y = samples.X, samples.y
    scores = [pipeline(samples, way, seed).fit(X.iloc[a], y[a]).score(X.iloc[b], y[b]) for a, b in folds]
    return [round(float(score), 4) for score in scores]


def main(n_seeds: int, ways: Sequence[str]) -> None:
    """Run what is not stored, and print the means."""
    stored = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    for seed in range(n_seeds):
        for name in CATEGORICAL:
            samples = table(name)
            for way in ways:
                if f"{name} {way} {seed}" not in stored:
                    stored[f"{name} {way} {seed}"] = accuracies(samples, way, seed)
                    lines = [f"{json.dumps(key)}: {json.dumps(values)}" for key, values in stored.items()]
                    RESULT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    means = pd.DataFrame(
        {way: {name: 100 * np.mean([stored[f"{name} {way} {seed}"] for seed in range(n_seeds)]) for name in CATEGORICAL}
         for way in ways}
    )  # fmt: skip
    print(means.round(1).to_string(), means.mean().round(2).to_string(), sep="\n\n")
    chosen = {name: means.drop(name).mean().idxmax() for name in CATEGORICAL}
    left_out = float(np.mean([means.loc[name, way] for name, way in chosen.items()]))
    print(f"\nbest on the other sets: {left_out:.2f}, {chosen}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    given = parser.parse_args()
    for kind in (ConvergenceWarning, UserWarning):  # unknown categories of a fold are zeros
        warnings.simplefilter("ignore", kind)
    with threadpool_limits(1):
        main(given.seeds, given.ways)
