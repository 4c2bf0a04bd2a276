"""Well known classifiers beside a model of this library, on the same folds, and what is gained and lost.

The rivals are scikit-learn's logistic regression, random forest and support vector machine with a Gaussian kernel, with
their defaults, after the same preprocessing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from lvq.evaluation import Comparison, corrected_t_test, holm
from lvq.rejection.costs import CostClassifier, cost_matrix
from lvq.typing import ClassWeight, JSONValue
from lvq.workflow.pipelines import make_pipeline_for
from lvq.workflow.preparation import Samples

MAX_SVM_ROWS = 10_000  # its time grows with the square of the rows
LEVEL = 0.05
Score = Callable[[np.ndarray, np.ndarray], float]


def make_rivals(
    samples: Samples,
    classes: ArrayLike | None = None,
    *,
    class_weight: ClassWeight = None,
    prices: Mapping[str, float] | None = None,
    seed: int | None = 0,
) -> dict[str, BaseEstimator]:
    """The rivals by name, after the preprocessing of `make_pipeline_for`.

    Parameters
    ----------
    samples : Samples
        Samples, whose columns determine the preprocessing.
    classes : array-like of str, optional
        The classes, by default those of the samples. With weights or prices the rivals are to be fitted to their
        indices, as `rival_section` does: scikit-learn looks for the weight of the class "1" as that of the number 1.
    class_weight : dict or "balanced", optional
        Weights of the classes, by their names.
    prices : mapping, optional
        Prices of mistakes; the rivals then predict the class with the least expected price too.
    seed : int, optional
        Random state.

    Returns
    -------
    rivals : dict from str to estimator

    Examples
    --------
    >>> samples = Samples(pd.DataFrame({"size": [1.0, 2.0]}), np.array(["a", "b"]), (), (), ())
    >>> list(make_rivals(samples))
    ['logistic regression', 'random forest', 'RBF-SVM']
    """
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    classes = np.unique(samples.y if classes is None else classes)
    if isinstance(class_weight, dict):
        class_weight = {index: class_weight.get(name, 1.0) for index, name in enumerate(classes.tolist())}
    matrix = None if prices is None else cost_matrix(prices, classes)
    rivals: dict[str, BaseEstimator] = {
        "logistic regression": LogisticRegression(max_iter=1000, class_weight=class_weight),
        "random forest": RandomForestClassifier(class_weight=class_weight, random_state=seed),
    }
    if len(samples.y) <= MAX_SVM_ROWS:
        machine = SVC(class_weight=class_weight)
        rivals["RBF-SVM"] = machine if matrix is None else CalibratedClassifierCV(machine, cv=3, ensemble=False)
    made = {name: make_pipeline_for(samples, model) for name, model in rivals.items()}
    return made if matrix is None else {name: CostClassifier(model, matrix) for name, model in made.items()}


def rival_section(
    name: str,
    predicted: Sequence[np.ndarray],
    rivals: Mapping[str, BaseEstimator],
    X: pd.DataFrame,
    y: np.ndarray,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    prices: Mapping[str, float] | None,
    n_prototypes: int,
) -> tuple[dict[str, JSONValue] | None, list[str]]:
    """Scores of a model and its rivals on the same folds, and a sentence on what is gained and lost; and notes.

    A rival that cannot be fitted is left out with a note; where none can be, the scores are None.

    Parameters
    ----------
    name : str
        Name of the model.
    predicted : sequence of ndarray
        Its predictions of the test part of each fold.
    rivals : mapping from str to estimator
        They are fitted in each fold, to the indices of the classes.
    X : DataFrame
        Samples.
    y : ndarray
        Their classes.
    splits : sequence of (train, test)
        The folds.
    prices : mapping or None
        With prices the score is minus the mean price, else the accuracy.
    n_prototypes : int
        Prototypes of the model.
    """
    score = scorer(y, prices)
    classes, index = np.unique(y, return_inverse=True)
    table = {name: np.array([score(y[test], found) for (_, test), found in zip(splits, predicted)])}
    notes = []
    for rival, model in rivals.items():
        by_fold = ((test, classes[_predicted(model, X, index, train, test)]) for train, test in splits)
        try:
            table[rival] = np.array([score(y[test], labels) for test, labels in by_fold])
        except ValueError as error:  # such as too few rows of a class in a fold; the model itself can have them
            notes.append(f"Left out {rival} beside {name}, as it could not be fitted on the folds: {error}")
    others = [rival for rival in table if rival != name]
    p_values = {}
    if len(splits) > 1 and others:
        n_test = len(splits[0][1])
        tests = [corrected_t_test(table[name] - table[rival], len(splits[0][0]), n_test) for rival in others]
        p_values = dict(zip(others, holm(tests)))
    sign = 1.0 if prices is None else -1.0
    rows: list[dict[str, JSONValue]] = [
        {"name": each, "own": each == name, "score": sign * float(scores.mean()),
         "standard_deviation": float(scores.std(ddof=1)) if len(scores) > 1 else None,
         "p_value": None if each == name or not p_values else float(p_values[each])}
        for each, scores in table.items()
    ]  # fmt: skip
    rows.sort(key=lambda row: -sign * row["score"])
    kind = "accuracy" if prices is None else "price"
    if not others:
        return None, notes
    section = {"score": kind, "n_folds": len(splits), "models": rows, "sentence": _sentence(rows, kind, n_prototypes)}
    return section, notes


def scorer(y: np.ndarray, prices: Mapping[str, float] | None) -> Score:
    """A function of true and predicted classes: the accuracy, or minus the mean price."""
    if prices is None:
        return lambda true, predicted: float(np.mean(true == predicted))
    classes = np.unique(y)
    matrix = cost_matrix(prices, classes)
    return lambda true, predicted: (
        -float(matrix[np.searchsorted(classes, true), np.searchsorted(classes, predicted)].mean())
    )


def _predicted(
    model: BaseEstimator, X: pd.DataFrame, y: np.ndarray, train: NDArray[np.intp], test: NDArray[np.intp]
) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Found unknown categories")
        fitted = clone(model).fit(X.iloc[train], y[train])
        return np.asarray(fitted.predict(X.iloc[test]))


def _sentence(rows: list[dict[str, JSONValue]], kind: str, n_prototypes: int) -> str:
    own = next(row for row in rows if row["own"])
    rival = next(row for row in rows if not row["own"])
    sure = rival["p_value"] is not None and rival["p_value"] < LEVEL
    gap = own["score"] - rival["score"]
    if kind == "accuracy":
        size, better = f"{abs(100 * gap):.1f} points", "more" if gap > 0 else "less"
        compared = f"{size} {better} accurate than" if abs(gap) >= 5e-4 else "as accurate as"
    else:
        size, better = f"{abs(gap):.3g} for each row", "cheaper" if gap < 0 else "more expensive"
        compared = f"{better} by {size} than" if abs(gap) > 1e-12 else "as cheap as"
    chance = " (more than chance explains)" if sure else " (a difference that these folds cannot tell from chance)"
    chance = "" if compared.startswith("as ") else chance
    return (
        f"{own['name']} is {compared} the best rival, {rival['name']}{chance}; what is gained are predictions that "
        f"can be traced to {n_prototypes} prototypes, and a reject option of its own."
    )


def comparison_sentence(comparison: Comparison, rivals: Sequence[str]) -> str | None:
    """What the best model of this library gains and loses against the best rival; None where either is missing."""
    own = next((row for row in comparison.ranking if row.name not in rivals), None)
    other = next((row for row in comparison.ranking if row.name in rivals), None)
    if own is None or other is None:
        return None
    p_value = min(own.p_value, other.p_value)  # one of the two is the best of all, against which the other was tested
    rows: list[dict[str, JSONValue]] = [
        {"name": row.name, "own": row is own, "score": row.accuracy, "p_value": p_value} for row in (own, other)
    ]
    return _sentence(rows, "accuracy", round(own.n_prototypes))
