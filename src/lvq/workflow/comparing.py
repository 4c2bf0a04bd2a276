"""Which model suits a table: all of them by repeated cross-validation, on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lvq.evaluation import Comparison, compare_models
from lvq.tables import read_table
from lvq.workflow.assembly import make_model, make_pipeline_for
from lvq.workflow.fitting import Progress
from lvq.workflow.preparation import prepare

#: Models that are compared unless others are asked for: every estimator once.
COMPARED = (
    "lvq", "lvq1", "olvq1", "lvq2.1", "lvq3", "rlvq", "glvq", "grlvq", "gmlvq", "lgmlvq", "mce", "logm", "snpc",
    "rslvq",
)  # fmt: skip


@dataclass(frozen=True)
class TableComparison:
    """What `compare_table` found.

    Attributes
    ----------
    comparison : Comparison
        Scores and ranking; a model with two prototypes a class is called "glvq, 2".
    largest_class : float
        Share of the rows that the most frequent class has, and so the accuracy of always answering with it.
    n_samples, n_classes, n_features : int
        Of the table.
    notes : tuple of str
        What was left out of the table, in sentences.
    """

    comparison: Comparison
    largest_class: float
    n_samples: int
    n_classes: int
    n_features: int
    notes: tuple[str, ...]


def compare_table(
    table: str | Path,
    target: str,
    *,
    models: Sequence[str] = COMPARED,
    prototypes: Sequence[int] = (1, 3),
    folds: int = 5,
    repeats: int = 3,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> TableComparison:
    """Compare models on a table by repeated cross-validation.

    Parameters
    ----------
    table : path
        A CSV (also gzipped), Parquet, Arrow or ARFF file.
    target : str
        The column of classes.
    models : sequence of str
        Names that `make_model` knows; by default every estimator once.
    prototypes : sequence of int, default=(1, 3)
        Numbers of prototypes for each class; every model is tried with each.
    folds, repeats : int, default=5 and 3
        Folds, and how often they are drawn anew.
    drop, categorical : sequence of str, default=()
        Columns that are no features, and columns of numbers that are names of categories.
    seed : int, default=0
        Behind everything that is drawn.
    progress : callable, optional
        Called with (model, fits done, fits in all).

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
    ...     found = compare_table(path, "target", models=["glvq", "gmlvq"], prototypes=[1], folds=3, repeats=1)
    >>> sorted(model.name for model in found.comparison.ranking)
    ['glvq, 1', 'gmlvq, 1']
    """
    if folds < 2 or repeats < 1:
        raise ValueError(f"folds must be 2 or more and repeats 1 or more, got {folds} and {repeats}.")
    named = {
        f"{name}, {count}": make_model(name, prototypes=count, seed=seed) for name in models for count in prototypes
    }
    content, source = read_table(table, codes={target, *categorical}), str(table)
    samples = prepare(content, target, drop=drop, categorical=categorical, source=source, fewest_rows=max(folds, 2))
    pipelines = {name: make_pipeline_for(samples, model) for name, model in named.items()}
    told = None if progress is None else lambda done, total, name: progress(name, done, total)
    comparison = compare_models(pipelines, samples.X, samples.y, folds=folds, repeats=repeats, seed=seed, progress=told)
    counts = np.unique(samples.y, return_counts=True)[1]
    return TableComparison(
        comparison,
        float(counts.max() / counts.sum()),
        len(samples.y),
        len(counts),
        samples.X.shape[1],
        samples.notes,
    )
