"""Models compared on a table by repeated cross-validation on the same splits, with a corrected t-test.

Scores of repeated cross-validation are not independent, because the training sets overlap. An uncorrected t-test
reports too many differences. Nadeau and Bengio correct the variance of the mean of J differences by the ratio
n_test/n_train: ``t = mean / sqrt((1/J + n_test/n_train) variance)``, with J - 1 degrees of freedom. All models are
tested against the one with the best mean; Holm's procedure controls the family-wise error rate of these tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_validate

from lvq.estimators.find_model import find_model
from lvq.estimators.registry import ESTIMATORS, short_name
from lvq.tables.header import TableError
from lvq.typing import Floats, Fold, Labels
from lvq.workflow.columns import TableOptions
from lvq.workflow.design import Design, inner_folds
from lvq.workflow.pipeline import make_model, make_pipeline_for
from lvq.workflow.study import TableLike, make_study

Progress = Callable[[str, int, int], None]  # (current step, number of steps done, number of steps)

#: Models that are compared by default: every estimator but the search.
COMPARED = tuple(short_name(name) for name in ESTIMATORS if name != "LVQClassifierCV")
MAX_SVM_ROWS = 10_000  # its time grows with the square of the rows
LEVEL = 0.05
FEW_SPLITS = 10  # with fewer the test finds large differences only


def quiet(what: str, done: int, total: int) -> None:
    """Show no progress."""


def corrected_t_test(differences: ArrayLike, n_train: int, n_test: int) -> float:
    """P-value of the hypothesis that two models are equally good, from their scores on the same splits.

    C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003. Two-sided; 1 where all
    differences are 0.

    Examples
    --------
    >>> round(corrected_t_test([0.02, 0.01, 0.03, 0.02, 0.02], n_train=80, n_test=20), 4)
    0.0135
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=np.float64)
    mean = float(values.mean())
    spread = np.sqrt((1 / len(values) + n_test / n_train) * values.var(ddof=1))
    if spread <= 1e-12 * max(abs(mean), 1e-300):  # the same difference in every split
        return 1.0 if mean == 0 else 0.0
    return float(2 * t.sf(abs(mean) / spread, df=len(values) - 1))


def holm(p_values: ArrayLike) -> Floats:
    """P-values adjusted for multiple tests by the step-down procedure of S. Holm, Scand. J. Statistics 6, 1979.

    Values below a level are significant at that family-wise error rate.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    ranking : DataFrame
        A row for each model, by decreasing mean accuracy, then by number of prototypes. The columns are:

        - name: name of the model;
        - accuracy, standard_deviation: mean and standard deviation of the accuracy over all splits;
        - n_prototypes: mean number of prototypes; NaN for a model without prototypes;
        - seconds: median time of a fit over the splits, so the compilation in the first fit of a kind does not count;
        - p_value: of the test against the model with the best mean, adjusted by Holm; 1 for that model itself.
    scores : dict from str to ndarray of shape (n_splits,)
        Accuracies of each model, on the same splits.
    failures : dict from str to str
        Error messages of models that could not be fitted.
    X, y : DataFrame, ndarray
        The features and the classes.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    design : str
        How the rows were split.
    """

    ranking: pd.DataFrame
    scores: dict[str, Floats]
    failures: dict[str, str]
    X: pd.DataFrame
    y: Labels
    notes: tuple[str, ...]
    design: str

    @property
    def verdict(self) -> str:
        """Which models are worse than the best, and whether there are enough splits to say so.

        Examples
        --------
        >>> ranking = pd.DataFrame({"name": ["a", "b"], "p_value": [1.0, 0.001]})
        >>> Comparison(ranking, {"a": np.zeros(15)}, {}, pd.DataFrame(), np.zeros(0), (), "").verdict[:22]
        'Worse than the best: b'
        """
        if self.ranking.empty:
            return "No model could be fitted."
        if len(self.ranking) == 1:
            return "There is no other model to compare with."
        n_splits = len(next(iter(self.scores.values())))
        if n_splits < FEW_SPLITS:
            few = f"{n_splits} splits are too few to show differences from the best model"
            return f"{few}: use {FEW_SPLITS} or more, by --folds or, without --time, by --repeats."
        worse = self.ranking["name"][self.ranking["p_value"] < LEVEL].tolist()
        found = f"Worse than the best: {', '.join(worse)}" if worse else "No model is shown to be worse than the best"
        return f"{found} (corrected resampled t-test, adjusted by Holm, at {LEVEL:g})."


def compare(
    table: TableLike,
    target: str,
    *,
    group: str | None = None,
    time: str | None = None,
    models: Sequence[str] | Mapping[str, BaseEstimator] = COMPARED,
    folds: int = 5,
    repeats: int | None = None,
    others: bool = True,
    options: TableOptions | None = None,
    seed: int = 0,
    progress: Progress = quiet,
) -> Comparison:
    """Compare models on a table by repeated stratified cross-validation, all on the same splits.

    Parameters
    ----------
    table : DataFrame or path
        As in `lvq.workflow.fit`.
    target : str
        The column of classes.
    group : str, optional
        A column of groups, such as patients, that no fold splits. It is not a feature.
    time : str, optional
        A column of dates or numbers. Each fold is tested on rows later than those it was trained on; as there is only
        one order of time, folds are not repeated. It is not a feature.
    models : sequence of str, or mapping from str to estimator
        Names that `make_model` accepts, by default every estimator once; or any classifiers by name.
    folds : int, default=5
        Number of folds.
    repeats : int, optional
        Number of repetitions with different folds; by default 3, or 1 with `time`.
    others : bool, default=True
        Whether logistic regression, a random forest and a support vector machine of scikit-learn are compared too.
    options : TableOptions, optional
        Which columns are features, categories or dates, and which values are missing.
    seed : int, default=0
        Seed of all random numbers.
    progress : callable, optional
        Called with (model, number of models done, number of models) before each model and at the end.

    Returns
    -------
    found : Comparison
        A model that raises a ValueError in a split is in `failures` and not in the ranking.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> models = {f"{k} prototypes": make_model("glvq", prototypes=k) for k in (1, 3)}
    >>> found = compare(frame, "target", models=models, folds=3, repeats=1, others=False)
    >>> found.ranking.set_index("name")["n_prototypes"].sort_index().to_dict()
    {'1 prototypes': 3.0, '3 prototypes': 9.0}
    """
    repeats = (3 if time is None else 1) if repeats is None else repeats
    if folds < 2 or repeats < 1:
        raise ValueError(f"folds must be 2 or more and repeats 1 or more, got {folds} and {repeats}.")
    if time is not None and repeats > 1:
        raise ValueError(
            f"repeats (--repeats) must be 1 with time (--time), got {repeats}: there is only one order of time, so "
            "folds cannot be drawn again; raise folds (--folds) for more splits."
        )
    named = dict(models) if isinstance(models, Mapping) else {name: make_model(name, seed=seed) for name in models}
    if not named:
        raise ValueError("models must have the name of a model, or an estimator by its name, got none.")
    study = make_study(table, target, options, group=group, time=time, min_class_rows=max(folds, 2))
    samples = study.samples
    named |= _scikit_learn(len(samples.y), seed) if others else {}
    splits, design = _splits(samples.y, study.design, folds, repeats, seed)
    pipelines = {name: make_pipeline_for(samples, model) for name, model in named.items()}
    ranking, scores, failures = compare_models(pipelines, samples.X, samples.y, splits, progress)
    return Comparison(ranking, scores, failures, samples.X, samples.y, samples.notes, design)


def _scikit_learn(n_rows: int, seed: int) -> dict[str, BaseEstimator]:
    """Well-known classifiers with their defaults."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    found = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(random_state=seed),
    }
    return found | ({"RBF-SVM": SVC()} if n_rows <= MAX_SVM_ROWS else {})


def _splits(y: Labels, design: Design, folds: int, repeats: int, seed: int) -> tuple[list[Fold], str]:
    """The splits, and how the rows were split."""
    generator = np.random.RandomState(seed)
    splits = [split for _ in range(repeats) for split in inner_folds(y, design, folds, generator)]
    if design.times is None:
        whole = "" if design.groups is None else " of whole groups"
        again = "" if repeats == 1 else f", repeated {repeats} times"
        return splits, f"{folds} folds{whole}{again}"
    if len(splits) < 2:
        raise TableError(
            f"Only one of {folds} splits in the order of time leaves two rows or more of each class to train on; raise "
            "--folds, or choose a time column in which the classes alternate."
        )
    apart = "" if design.groups is None else "; training rows of a group that is tested are left out"
    return splits, f"{len(splits)} splits, each tested on later rows than those it was trained on{apart}"


def compare_models(
    models: Mapping[str, BaseEstimator],
    X: pd.DataFrame,
    y: Labels,
    splits: Sequence[Fold],
    progress: Progress,
) -> tuple[pd.DataFrame, dict[str, Floats], dict[str, str]]:
    """Ranking, scores and failures of models on two splits or more, see `Comparison`."""
    scores: dict[str, Floats] = {}
    failures: dict[str, str] = {}
    rows = []
    for done, (name, model) in enumerate(models.items()):
        progress(name, done, len(models))
        try:
            with warnings.catch_warnings():  # a model that has not converged counts too
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.filterwarnings("ignore", message="Found unknown categories")
                found = cross_validate(model, X, y, cv=splits, error_score="raise", return_estimator=True)
        except ValueError as error:  # incompatible parameters, or too few samples for the prototypes
            failures[name] = str(error)
            continue
        scores[name] = found["test_score"]
        models_found = [find_model(fitted) for fitted in found["estimator"]]
        prototypes = [np.nan if each is None else len(each.model.prototypes) for each in models_found]
        rows.append(
            {
                "name": name,
                "accuracy": scores[name].mean(),
                "standard_deviation": scores[name].std(ddof=1),
                "n_prototypes": np.mean(prototypes),
                "seconds": np.median(found["fit_time"]),
            }
        )
    progress("", len(models), len(models))
    return _ranking(pd.DataFrame(rows), scores, splits), scores, failures


def _ranking(models: pd.DataFrame, scores: Mapping[str, Floats], splits: Sequence[Fold]) -> pd.DataFrame:
    if models.empty:
        return models
    ranked = models.sort_values(["accuracy", "n_prototypes"], ascending=[False, True], ignore_index=True)
    n_train, n_test = (max(1, int(np.mean([len(rows) for rows in parts]))) for parts in zip(*splits))
    best, *others = (scores[name] for name in ranked["name"])
    return ranked.assign(p_value=[1.0, *holm([corrected_t_test(best - each, n_train, n_test) for each in others])])
