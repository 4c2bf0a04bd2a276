"""Missing values: distances over observed features beside imputation and histogram boosting.

    python -m experiments.missing_values

Values of four data sets are removed, from training and test samples alike: at random, each with the same probability,
or not at random, with a probability that grows with the rank of the value among those of its feature (twice the
fraction times the rank, from 0 to 1). Stratified 3-fold cross-validation, the same folds and the same missing values
for all methods; features are scaled to unit variance in the fold. Writes accuracies, one for each fold, to
`experiments/results/missing_values.json`. `LVQ_DATA` names the folder of data sets.
"""

from __future__ import annotations

import json
import pathlib
import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.datasets import load_dataset
from lvq import LVQClassifier

SETS = ("wdbc", "heart", "ionosphere", "vehicle")
FRACTIONS = (0.0, 0.1, 0.3, 0.5)
FOLDS = 3
RESULT = pathlib.Path(__file__).parent / "results" / "missing_values.json"


def methods() -> dict[str, BaseEstimator]:
    """Name -> pipeline; the third is what the command line does."""
    model = LVQClassifier(random_state=0)
    return {
        "LVQClassifier(missing='ignore')": make_pipeline(StandardScaler(), clone(model).set_params(missing="ignore")),
        "mean imputation": make_pipeline(SimpleImputer(), StandardScaler(), model),
        "median imputation, indicators": make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), StandardScaler(), model
        ),
        "iterative imputation": make_pipeline(
            StandardScaler(), IterativeImputer(max_iter=10, random_state=0), StandardScaler(), model
        ),
        "histogram boosting": HistGradientBoostingClassifier(random_state=0),
    }


def removed(X: np.ndarray, fraction: float, at_random: bool, seed: int) -> np.ndarray:
    """The samples without a fraction of their values.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(1000.0)[:, None]
    >>> missing = np.isnan(removed(X, 0.5, False, 0)).ravel()
    >>> bool(missing[:500].mean() < 0.3 and missing[500:].mean() > 0.7)
    True
    """
    rank = (rankdata(X, axis=0) - 0.5) / len(X)
    probability = np.full(X.shape, fraction) if at_random else 2 * fraction * rank
    return np.where(np.random.default_rng(seed).random(X.shape) < probability, np.nan, X)


def accuracies(X: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    """Accuracy of each method in each fold."""
    found: dict[str, list[float]] = {name: [] for name in methods()}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        for name, method in methods().items():
            found[name].append(round(float(clone(method).fit(X[train], y[train]).score(X[test], y[test])), 4))
    return found


def main() -> None:
    """Run all and write the result."""
    rows = []
    for name in SETS:
        X, y = load_dataset(name, return_X_y=True)
        for fraction in FRACTIONS:
            for at_random in (True, False) if fraction else (True,):
                found = accuracies(removed(np.asarray(X, dtype=float), fraction, at_random, seed=0), np.asarray(y))
                row = {"dataset": name, "fraction": fraction, "at_random": at_random, "accuracy": found}
                rows.append(row)
                print(name, fraction, at_random, {key: round(float(np.mean(v)), 3) for key, v in found.items()})
    RESULT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        main()
