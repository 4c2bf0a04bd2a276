"""Smooth matrices for spectra: Tecator with and without a penalty of differences between neighbouring wavelengths.

    python -m experiments.smooth_spectra

The 193 different spectra of Tecator (22 of its 215 rows are repeats), classes divided at the median of the fat content.
Stratified 5-fold cross-validation, ten times, the same folds for all settings; features are scaled to unit variance in
the fold. The roughness of a model is the sum of the squared first differences of neighbours in the rows of Lambda (its
slope) or of the second differences (its bends), divided by the sum of its squared entries; for local matrices, of their
mean, each divided by its trace. Writes accuracies and both, one for each fold, to
`experiments/results/smooth_spectra.json`. `LVQ_DATA` names the folder of data sets.
"""

from __future__ import annotations

import json
import pathlib
import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.datasets import load_dataset
from lvq import GMLVQ, LVQClassifier

SMOOTHNESS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)
REPEATS = 10
RESULT = pathlib.Path(__file__).parent / "results" / "smooth_spectra.json"


def models() -> dict[str, BaseEstimator]:
    """Name -> model."""
    return {"LVQClassifier": LVQClassifier(calibration=None, random_state=0), "GMLVQ": GMLVQ(random_state=0)}


def roughness(omega: np.ndarray, order: int) -> float:
    """Of the rows of Lambda, or of the mean of several, by differences of an order.

    Examples
    --------
    >>> bool(roughness(np.ones((1, 9)), 1) == 0 < roughness(np.eye(9), 1))
    True
    """
    matrices = [part.T @ part / np.square(part).sum() for part in np.array(omega, ndmin=3)]
    mean = np.mean(matrices, axis=0)
    return float(np.square(np.diff(mean, order, axis=1)).sum() / np.square(mean).sum())


def spectra() -> tuple[np.ndarray, np.ndarray]:
    """Each spectrum once."""
    X, y = load_dataset("tecator", return_X_y=True)
    X, first = np.unique(np.asarray(X, dtype=float), axis=0, return_index=True)
    return X, np.asarray(y)[first]


def main() -> None:
    """Run all and write the result."""
    X, y = spectra()
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=REPEATS, random_state=0).split(X, y))
    rows = []
    for name, model in models().items():
        for smoothness in SMOOTHNESS:
            row: dict[str, list[float]] = {"accuracy": [], "slope": [], "bends": []}
            for train, test in folds:
                scaler = StandardScaler().fit(X[train])
                fitted = clone(model).set_params(relevance__smoothness=smoothness)
                fitted.fit(scaler.transform(X[train]), y[train])
                row["accuracy"].append(round(float(fitted.score(scaler.transform(X[test]), y[test])), 4))
                row["slope"].append(round(roughness(fitted.omega_, 1), 6))
                row["bends"].append(round(roughness(fitted.omega_, 2), 7))
            rows.append({"model": name, "smoothness": smoothness, **row})
            print(name, smoothness, {key: round(float(np.mean(values)), 5) for key, values in row.items()}, flush=True)
    RESULT.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        main()
