"""Models compared on a table by repeated cross-validation, on the same splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.registry import ESTIMATORS, short_name
from lvq.evaluation import Comparison, compare_models
from lvq.tables import TableError
from lvq.typing import Fold, JSONValue
from lvq.workflow.design import Design, inner_folds
from lvq.workflow.fit_result import Progress
from lvq.workflow.missing_values import candidates, check_way, choose_each
from lvq.workflow.pipelines import NAMES, can_ignore, make_model, make_pipeline_for
from lvq.workflow.rivals import comparison_sentence, make_rivals
from lvq.workflow.study import Paths, read_study
from lvq.workflow.thread_limit import limited_threads

#: Models that are compared by default: every estimator but the search.
COMPARED = tuple(short_name(name) for name in ESTIMATORS if name != "LVQClassifierCV")
#: Numbers of prototypes of models that do not choose it themselves.
PROTOTYPES = (1, 3)


@dataclass(frozen=True)
class TableComparison:
    """Result of `compare_table`.

    Attributes
    ----------
    comparison : Comparison
        Scores and ranking; GLVQ with two prototypes per class is named "glvq, 2", and "glvq, 2, ignore" where it
        ignores missing numbers. A model that chooses the number of prototypes itself is named "lvq".
    largest_class : float
        Fraction of the rows in the most frequent class: the accuracy of always predicting it.
    n_samples, n_classes, n_features : int
        Size of the table.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    sentence : str or None
        What the best model of this library gains and loses against the best of the others.
    design : str
        How the rows were split.
    missing : dict, optional
        What became of missing numbers, for each model, and why; None where none is missing.
    """

    comparison: Comparison
    largest_class: float
    n_samples: int
    n_classes: int
    n_features: int
    notes: tuple[str, ...]
    sentence: str | None
    design: str
    missing: dict[str, JSONValue] | None


@limited_threads
def compare_table(
    table: Paths,
    target: str,
    *,
    group: str | None = None,
    time: str | None = None,
    models: Sequence[str] = COMPARED,
    prototypes: Sequence[int] | None = None,
    folds: int = 5,
    repeats: int | None = None,
    rivals: bool = True,
    missing: str = "auto",
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    missing_marks: Sequence[str] = (),
    encoding: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TableComparison:
    """Compare models on a table by repeated cross-validation.

    Parameters
    ----------
    table : path or sequence of path
        A CSV (also gzipped), Parquet, Arrow or Excel file, or several with the same columns.
    target : str
        The column of classes.
    group : str, optional
        A column of groups, such as patients, that no fold splits. It is not a feature.
    time : str, optional
        A column of dates or numbers. Each fold is tested on rows later than those it was trained on; as there is one
        order of time, folds are not repeated. It is not a feature.
    models : sequence of str
        Names that `make_model` accepts; by default every estimator once.
    prototypes : sequence of int, optional
        Numbers of prototypes for each class; every model is fitted with each. By default these are 1 and 3, but "lvq"
        and "lvq-cv" are as `lvq.workflow.fit_table` fits them: they choose the number themselves.
    folds : int, default=5
        Number of folds.
    repeats : int, optional
        Number of repetitions with other folds: 3, or 1 with `time`.
    rivals : bool, default=True
        Whether logistic regression, a random forest and a support vector machine are compared too.
    missing : {"auto", "impute", "ignore"}, default="auto"
        Missing numbers, as in `lvq.workflow.fit_table`: "auto" compares both ways for each model on the same splits and
        ignores where that is better by more than a standard error. With "ignore" models that cannot ignore them are
        left out, with a note. The numbers of rivals are always filled.
    features, drop, categorical, dates : sequence of str, default=()
        Columns that are features, or not, or categories, or dates; as in `lvq.workflow.fit_table`.
    missing_marks : sequence of str, default=()
        Texts and numbers that mean a missing value beside the usual ones: "n.d." in all features, "glucose=0" in one.
    encoding : str, optional
        That of CSV files; by default it is found from their bytes.
    seed : int, default=0
        Seed of all random numbers.
    threads : int, optional
        Number of threads, at most.
    progress : callable, optional
        Called with (model, number of fits done, number of fits).

    Returns
    -------
    found : TableComparison

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.csv")
    ...     load_iris(as_frame=True).frame.to_csv(path, index=False)
    ...     found = compare_table(path, "target", models=["glvq", "gmlvq"], prototypes=[1], folds=3, repeats=1,
    ...                           rivals=False)
    >>> sorted(model.name for model in found.comparison.ranking)
    ['glvq, 1', 'gmlvq, 1']
    """
    repeats = (3 if time is None else 1) if repeats is None else repeats
    if folds < 2 or repeats < 1:
        raise ValueError(f"folds must be 2 or more and repeats 1 or more, got {folds} and {repeats}.")
    if time is not None and repeats > 1:
        raise ValueError(
            f"repeats (--repeats) must be 1 with time (--time), got {repeats}: there is one order of time, so folds "
            "cannot be drawn again; raise folds (--folds) for more splits."
        )
    check_way(missing, sample_prototypes=False)
    way = "ignore" if missing == "ignore" else "raise"
    unable = [name for name in models if way == "ignore" and not _ignores(name)]
    models = [name for name in models if name not in unable] or models  # of none `make_model` tells why
    named = {
        name if count is None else f"{name}, {count}": make_model(name, prototypes=count, seed=seed, missing=way)
        for name in models
        for count in _numbers_of_prototypes(name, prototypes)
    }
    study = read_study(
        table, target, group=group, time=time, features=features, drop=drop, categorical=categorical, dates=dates,
        missing_marks=missing_marks, encoding=encoding, min_class_rows=max(folds, 2),
    )  # fmt: skip
    samples, others = study.samples, make_rivals(study.samples, seed=seed) if rivals else {}
    ways: dict[str, dict[str, str]] = {}
    pipelines: dict[str, BaseEstimator] = {}
    for name, model in named.items():
        found = candidates(missing, model, samples.X, samples, folds=folds, guarantee=False).estimators
        ways[name] = {way: f"{name}, ignore" if way == "ignore" else name for way in found}
        pipelines |= {ways[name][way]: make_pipeline_for(samples, each) for way, each in found.items()}
    pipelines |= others
    report = None if progress is None else lambda done, total, name: progress(name, done, total)
    splits, design = _splits(samples.y, study.design, folds, repeats, seed)
    sections: list[dict[str, JSONValue] | None] = []

    def keep(scores: Mapping[str, np.ndarray]) -> list[str]:
        names, section = choose_each(missing, ways, scores, samples)
        sections.append(section)
        return [*names, *others]

    comparison = compare_models(
        pipelines, samples.X, samples.y, folds=folds, repeats=repeats, seed=seed, groups=study.design.groups,
        splits=splits, keep=keep, progress=report,
    )  # fmt: skip
    notes, section = [*samples.notes], sections[0]
    if unable:
        notes.append(f"Left out, as they cannot ignore missing values (--missing ignore): {', '.join(unable)}.")
    if section is not None:
        notes.append(str(section["sentence"]))
    counts = np.unique(samples.y, return_counts=True)[1]
    sizes = len(samples.y), len(counts), samples.X.shape[1]
    sentence = comparison_sentence(comparison, list(others))
    largest = float(counts.max() / counts.sum())
    return TableComparison(comparison, largest, *sizes, tuple(notes), sentence, design, section)


def _numbers_of_prototypes(name: str, given: Sequence[int] | None) -> Sequence[int | None]:
    """Numbers of prototypes with which a model is fitted; None for that of `fit_table`, where the model chooses it."""
    if given is not None:
        return given
    chooses = name.lower() in NAMES and NAMES[name.lower()]().get_params().get("n_prototypes") is None
    return (None,) if chooses else PROTOTYPES


def _ignores(name: str) -> bool:
    """Whether the model of a name can ignore missing values; an unknown name is an error of `make_model`."""
    return name.lower() not in NAMES or name.lower() == "lvq-cv" or can_ignore(NAMES[name.lower()]().get_params())


def _splits(y: np.ndarray, design: Design, folds: int, repeats: int, seed: int) -> tuple[list[Fold] | None, str]:
    """Splits in the order of time, or None where `compare_models` makes them; and how the rows were split."""
    times = "" if repeats == 1 else f", repeated {repeats} times"
    if design.times is None:
        whole = "" if design.groups is None else " of whole groups"
        return None, f"{folds} folds{whole}{times}"
    splits = inner_folds(y, design, folds, seed)
    if len(splits) < 2:
        raise TableError(
            f"Only one of {folds} splits in the order of time leaves two rows or more of each class to train on; raise "
            "--folds, or choose a time column in which the classes alternate."
        )
    apart = "" if design.groups is None else "; training rows of a group that is tested are left out"
    few = f"; {folds - len(splits)} more have too few rows of a class to train on" if len(splits) < folds else ""
    return splits, f"{len(splits)} splits, each tested on later rows than those it was trained on{apart}{few}"
