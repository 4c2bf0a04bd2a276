"""Missing values on the command line: filled, ignored, or what `lvq fit --missing auto` chooses on its folds.

    python -m experiments.missing_choice

The tables are those of `missing_values`. In each of three outer folds both ways are compared on five inner folds of the
training part, as `lvq fit` does it, and both models are tested on the outer fold. Writes the accuracies and how often
each way was chosen to `experiments/results/missing_choice.json`. `LVQ_DATA` names the folder of data sets.
"""

from __future__ import annotations

import json
import pathlib
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from experiments.datasets import load_dataset
from experiments.missing_values import FRACTIONS, SETS, removed
from lvq import LVQClassifier
from lvq.workflow.design import Design
from lvq.workflow.missing_values import candidates, choose
from lvq.workflow.pipelines import make_pipeline_for, make_reject_classifier
from lvq.workflow.preparation import Samples
from lvq.workflow.training import cross_validate

FOLDS, INNER_FOLDS = 3, 5
RESULT = pathlib.Path(__file__).parent / "results" / "missing_choice.json"


def compared(samples: Samples) -> list[dict[str, object]]:
    """For each outer fold the accuracies of both ways, and which one was chosen."""
    rows = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(samples.X, samples.y):
        X, y = samples.X.iloc[train], samples.y[train]
        found = candidates("auto", LVQClassifier(random_state=0), X, samples, folds=INNER_FOLDS, guarantee=False)
        pipelines = {way: make_pipeline_for(samples, each) for way, each in found.estimators.items()}
        tried = {}
        for way, pipeline in pipelines.items():
            classifier = make_reject_classifier(pipeline, n_samples=len(y))
            tried[way] = cross_validate(classifier, X, y, Design(), INNER_FOLDS, 0, lambda done, total: None)
        choice = choose("auto", found, tried, X, y, samples)
        scores = {
            way: round(float(pipeline.fit(X, y).score(samples.X.iloc[test], samples.y[test])), 4)
            for way, pipeline in pipelines.items()
        }
        rows.append({"chosen": choice.way, **scores})
    return rows


def main() -> None:
    """Run all and write the result."""
    rows = []
    for name in SETS:
        X, y = load_dataset(name, return_X_y=True)
        for fraction in FRACTIONS[1:]:
            for at_random in (True, False):
                table = pd.DataFrame(removed(np.asarray(X, dtype=float), fraction, at_random, seed=0))
                table = table.rename(columns=lambda number: f"x{number}")
                gaps = tuple(str(column) for column in table if table[column].isna().any())
                found = compared(Samples(table, np.asarray(y).astype(str), gaps, (), ()))
                rows.append({"dataset": name, "fraction": fraction, "at_random": at_random, "folds": found})
                print(rows[-1], flush=True)
    RESULT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        main()
