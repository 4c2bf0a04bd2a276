"""Which measure of certainty rejects errors best: the default MCE beside LOGM, on sets of the development pool.

`python -m experiments.certainty_measures [--folds 3]` needs `LVQ_DATA`. Outer folds are the
first of five. For each model and measure: accuracy at coverages of 0.9, 0.8 and 0.5, and the area under the
accuracy-reject curve from coverage 0.1 on, all on the test part of a fold. Writes `results/certainty_measures.json`.
"""

import argparse
import json
import pathlib
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.data import pool_rows
from experiments.averages import accuracy_at
from lvq import LVQClassifier
from lvq.model.costs import Cost, LOGMCost, MCECost
from lvq.model.scores import relative_similarity
from lvq.rejection.curves import accuracy_reject_curve, area_under_curve
from lvq.rejection.scores import Predictions, certainty_of
from lvq.rejection.validation import FloatArray

SETS = (
    "wdbc", "diabetes", "heart", "ionosphere", "sonar", "vehicle", "segment", "australian", "banana", "contraceptive",
    "german", "led7digit", "mammographic", "phoneme",
)  # fmt: skip
COSTS: dict[str, Cost] = {"mce": MCECost(alpha=0.03, xi=3.0), "logm": LOGMCost(alpha=0.03, xi=3.0)}
FOLDS = 5
COVERAGES = (0.9, 0.8, 0.5)
MIN_COVERAGE = 0.1
RESULT = pathlib.Path(__file__).parent / "results" / "certainty_measures.json"


def split(dataset: str, fold: int) -> tuple[np.ndarray, ...]:
    """Training and test part of an outer fold, scaled on the first."""
    X, y = pool_rows(dataset)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[fold]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def certainties(predictions: Predictions) -> dict[str, FloatArray]:
    """Every measure that a model with local matrices has, and two that are no parameter."""
    found = predictions.nearest
    named = {name: certainty_of(predictions, name) for name in ("relsim", "probability", "margin", "distance")}
    plain = relative_similarity(found.winner_distance, found.rival_distance)
    return named | {"relsim without kernel": plain, "difference": found.rival_distance - found.winner_distance}


def measure(dataset: str, fold: int, cost: str) -> dict[str, list[float]]:
    """Area and accuracies at the coverages for each measure, after one fit."""
    X, y, X_test, y_test = split(dataset, fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default is taken as it is
        model = LVQClassifier(cost=COSTS[cost], random_state=0).fit(X, y)
    predictions = Predictions(model, X_test)
    correct = predictions.predicted == y_test
    result = {}
    for name, values in certainties(predictions).items():
        curve = accuracy_reject_curve(values, correct)
        area = area_under_curve(curve, min_coverage=MIN_COVERAGE)
        # below the last point samples are rejected at random, so the accuracy is constant
        below = np.nan_to_num(accuracy_at(curve, COVERAGES), nan=curve.accuracy[-1])
        result[name] = [area, *below.tolist()]
    result["accuracy"] = [float(correct.mean())] * (1 + len(COVERAGES))
    return result


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=3)
    folds = parser.parse_args().folds
    cells = {cost: {name: [measure(name, fold, cost) for fold in range(folds)] for name in SETS} for cost in COSTS}
    names = list(cells["mce"][SETS[0]][0])
    sets = {
        cost: {
            name: {key: np.mean([run[key] for run in runs], axis=0).round(4).tolist() for key in names}
            for name, runs in found.items()
        }
        for cost, found in cells.items()
    }
    mean = {
        cost: {key: np.mean([found[key] for found in by_set.values()], axis=0).round(4).tolist() for key in names}
        for cost, by_set in sets.items()
    }
    columns = ["area", *map(str, COVERAGES)]
    RESULT.write_text(json.dumps({"folds": folds, "columns": columns, "mean": mean, "sets": sets}, indent=1) + "\n")
    for cost, found in mean.items():
        for key, row in found.items():
            print(cost, f"{key:24s}", row)


if __name__ == "__main__":
    main()
