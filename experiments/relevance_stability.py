"""Do two models fitted to disjoint halves of a data set find the same features important, and give the same reasons?

    python -m experiments.relevance_stability [--splits N]

Each of five data sets is divided into stratified halves, N times (10 by default). On each half a StandardScaler and a
model are fitted, and the importances of the two halves are compared: Spearman's rank correlation over all features, and
the fraction of the first five of one half that are among the first five of the other. Definitions are compared on
LVQClassifier with two prototypes per class and a matrix for each; `feature_importances_` is also that of
LVQClassifier(), which may choose a simpler form. Writes mean and standard deviation over the splits, for each
definition of importance, to `experiments/results/relevance_stability.json` and `.md`. `LVQ_DATA` names the folder of
data sets.

For the evidence of single cases a quarter of the samples is held out, and the rest is divided into halves. Each case
for which both models have the same label and rival is explained by both, and the two lists of evidence are compared:
Spearman's and Pearson's correlation over the features, averaged over the cases.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.datasets import load_dataset
from lvq import LVQClassifier, explain
from lvq.plots import relevance_profile

SETS = ("wdbc", "wine", "vehicle", "ionosphere", "heart")
FIRST = 5
RESULT = pathlib.Path(__file__).parent / "results" / "relevance_stability"
DEFAULT = "feature_importances_ of LVQClassifier()"
Profiles = dict[str, np.ndarray]
EXPLAINED = {
    "LVQClassifier()": LVQClassifier(random_state=0),
    "additive, one prototype per class": LVQClassifier(form="additive", n_prototypes=1, random_state=0),
}


def covariance_with_directions(model: LVQClassifier, X: np.ndarray) -> np.ndarray:
    """The diagonal of C Lambda C of each local matrix, of sum one; their mean."""
    C = np.cov(X.T)
    diagonals = np.array([np.diag(C @ one @ C) for one in model.lambda_])
    return (diagonals / diagonals.sum(axis=1, keepdims=True)).mean(axis=0)


def squared_gradients(model: LVQClassifier, X: np.ndarray) -> np.ndarray:
    """Mean square of C g, with g the gradient of the difference of the distances to rival and winner."""
    found, C = model.explain(X), np.cov(X.T)
    lambdas, W = model.lambda_[model.model_.group], model.prototypes_
    gradient = [
        lambdas[k] @ (x - W[k]) - lambdas[j] @ (x - W[j]) for x, j, k in zip(X, found.winner, found.rival, strict=True)
    ]
    return np.square(np.array(gradient) @ C).mean(axis=0)


def correlation_with_probabilities(model: LVQClassifier, X: np.ndarray) -> np.ndarray:
    """Squared covariance of each standardised feature with the class probabilities, summed over the classes."""
    P = model.predict_proba(X)
    return np.square((X - X.mean(axis=0)).T @ (P - P.mean(axis=0))).sum(axis=1)


def forest_profiles(X: np.ndarray, y: np.ndarray) -> Profiles:
    """Impurity and permutation importance of a random forest."""
    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    moved = permutation_importance(forest, X, y, n_repeats=3, random_state=0).importances_mean
    return {"random forest, impurity": forest.feature_importances_, "random forest, permutation": moved}


LVQ_PROFILES: dict[str, Callable[[LVQClassifier, np.ndarray], np.ndarray]] = {
    "diag(Lambda)": lambda model, _: relevance_profile(model, values="lambda"),
    "diag(C Lambda C)": covariance_with_directions,
    "squared gradients": squared_gradients,
    "correlation with probabilities": correlation_with_probabilities,
    "feature_importances_": lambda model, _: model.feature_importances_,
}


def profiles(X: np.ndarray, y: np.ndarray) -> tuple[Profiles, LVQClassifier]:
    """Importances by every definition, and the model with two prototypes per class."""
    model = LVQClassifier(relevance="local_matrix", n_prototypes=2, random_state=0).fit(X, y)
    found = {name: of(model, X) for name, of in LVQ_PROFILES.items()}
    moved = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean
    return found | {"permutation": moved} | forest_profiles(X, y), model


def default_profile(X: np.ndarray, y: np.ndarray) -> tuple[Profiles, LVQClassifier]:
    """Importances of the default, and the fitted model."""
    model = LVQClassifier(random_state=0).fit(X, y)
    return {DEFAULT: model.feature_importances_}, model


def agreement(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Rank correlation, and overlap of the first five.

    Examples
    --------
    >>> agreement(np.arange(6.0), np.arange(6.0))
    (1.0, 1.0)
    """
    first = [set(np.argsort(-profile, kind="stable")[:FIRST].tolist()) for profile in (one, other)]
    return float(spearmanr(one, other)[0]), len(first[0] & first[1]) / FIRST


def of_set(name: str, splits: int, of: Callable[..., tuple[Profiles, LVQClassifier]]) -> dict[str, Any]:
    """Mean and standard deviation of rank correlation and overlap by definition; accuracy on the other half."""
    X, y = (np.asarray(part) for part in load_dataset(name, return_X_y=True))
    X = X[:, X.std(axis=0) > 0].astype(float)
    values: dict[str, list[tuple[float, float]]] = {}
    accuracies = []
    for seed in range(splits):
        halves = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
        found = []
        for train, test in (halves, halves[::-1]):
            scaler = StandardScaler().fit(X[train])
            profile, model = of(scaler.transform(X[train]), y[train])
            accuracies.append(model.score(scaler.transform(X[test]), y[test]))
            found.append(profile)
        for key in found[0]:
            values.setdefault(key, []).append(agreement(found[0][key], found[1][key]))
    rows = {}
    for key, pairs in values.items():
        mean, spread = np.mean(pairs, axis=0), np.std(pairs, axis=0, ddof=min(1, splits - 1))
        rows[key] = {
            "rank_correlation": round(float(mean[0]), 3),
            "rank_correlation_sd": round(float(spread[0]), 3),
            "overlap": round(float(mean[1]), 3),
            "overlap_sd": round(float(spread[1]), 3),
        }
    return {"dataset": name, "splits": splits, "accuracy": round(float(np.mean(accuracies)), 4), "importances": rows}


def evidence_of_set(name: str, splits: int) -> dict[str, dict[str, float]]:
    """Mean rank correlation and correlation of the evidence of one case by the models of two halves."""
    X, y = (np.asarray(part) for part in load_dataset(name, return_X_y=True))
    X = X[:, X.std(axis=0) > 0].astype(float)
    found = {}
    for key, model in EXPLAINED.items():
        cases: list[tuple[float, float]] = []
        for seed in range(splits):
            train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
            halves = train_test_split(train, test_size=0.5, stratify=y[train], random_state=seed)
            one, other = (
                explain(make_pipeline(StandardScaler(), model).fit(X[half], y[half]), X[test]) for half in halves
            )
            same = (one.label == other.label) & (one.rival_label == other.rival_label)
            pairs = zip(one.evidence[same], other.evidence[same])  # type: ignore[index]
            cases += [(float(spearmanr(*pair)[0]), float(np.corrcoef(*pair)[0, 1])) for pair in pairs]
        rank, linear = np.mean(cases, axis=0)
        found[key] = {"rank_correlation": round(float(rank), 3), "correlation": round(float(linear), 3)}
    return found


def with_default(result: dict[str, Any]) -> dict[str, Any]:
    """The result of a set, with the importances of the default."""
    default = of_set(result["dataset"], result["splits"], default_profile)
    importances = result["importances"] | default["importances"]
    evidence = evidence_of_set(result["dataset"], result["splits"])
    return result | {"importances": importances, "default_accuracy": default["accuracy"], "evidence": evidence}


def table(results: list[dict]) -> str:
    """The results as a table: rank correlation (overlap of the first five), and below it the deviation over splits."""
    lines = [
        "# Importances of two halves",
        "",
        f"Spearman's rank correlation of the importances found on disjoint halves, with its standard deviation over "
        f"{results[0]['splits']} splits; in brackets the overlap of the first {FIRST}. All but the forests are of "
        "LVQClassifier on standardised features, with two prototypes per class where nothing else is said.",
        "",
        "| importance | " + " | ".join(str(result["dataset"]) for result in results) + " | mean |",
        "|---|" + "---|" * (len(results) + 1),
    ]
    for key in results[0]["importances"]:
        rows = [result["importances"][key] for result in results]
        cells = [
            f"{row['rank_correlation']:.2f} ± {row['rank_correlation_sd']:.2f} ({row['overlap']:.2f})" for row in rows
        ]
        mean = [np.mean([row[name] for row in rows]) for name in ("rank_correlation", "overlap")]
        lines.append(f"| {key} | " + " | ".join(cells) + f" | {mean[0]:.3f} ({mean[1]:.3f}) |")
    for key, title in (("accuracy", "two prototypes per class"), ("default_accuracy", "LVQClassifier()")):
        accuracies = [float(result[key]) for result in results]
        cells = [f"{100 * value:.1f}" for value in [*accuracies, float(np.mean(accuracies))]]
        lines += ["", f"Accuracy on the other half, {title}, %: {', '.join(cells[:-1])}; mean {cells[-1]}."]
    lines += [
        "",
        "Evidence of one case by the models of two halves: Spearman's and Pearson's correlation over the features, "
        "averaged over the held-out cases with the same label and rival.",
        "",
        "| model | " + " | ".join(str(result["dataset"]) for result in results) + " | mean |",
        "|---|" + "---|" * (len(results) + 1),
    ]
    for key in EXPLAINED:
        pairs = [[result["evidence"][key][name] for name in ("rank_correlation", "correlation")] for result in results]
        cells = [f"{rank:.2f}, {linear:.2f}" for rank, linear in [*pairs, np.mean(pairs, axis=0)]]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all and write the results."""
    parser = argparse.ArgumentParser(description="Importances of two halves of a data set.")
    parser.add_argument("--splits", type=int, default=10)
    splits = parser.parse_args().splits
    results = []
    for name in SETS:
        results.append(with_default(of_set(name, splits, profiles)))
        print(name, results[-1]["accuracy"], flush=True)
    RESULT.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    RESULT.with_suffix(".md").write_text(table(results), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        main()
