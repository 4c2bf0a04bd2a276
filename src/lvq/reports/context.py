"""What a study knows beside model and samples."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from lvq.inspection.importance import VariableImportances
from lvq.reports.folds import Folds


@dataclass(frozen=True)
class Context:
    """What a study knows beside model and samples.

    Attributes
    ----------
    title : str, optional
        Name of the model on the page; by default its class.
    data_name, target : str
        Names of the data and of the column of classes.
    row_names : str, optional
        How samples are named, as a sentence.
    protocol : str
        How the data were split and prepared.
    notes : sequence of str
        What was left out, and warnings.
    seed : int, optional
        Of split and model.
    dates : collection of str
        Columns of days since 1970.
    marks : dict
        Strings that mean a missing value, by column.
    groups : ndarray, optional
        Groups of the held-out samples, which are not independent inside a group.
    folds : Folds, optional
        From a cross-validation among the training samples.
    importances : VariableImportances, optional
        Importances of the columns with their intervals; computed without intervals otherwise.
    """

    title: str | None = None
    data_name: str = "data"
    target: str | None = None
    row_names: str | None = None
    protocol: str | None = None
    notes: Sequence[str] = ()
    seed: int | None = None
    dates: Collection[str] = ()
    marks: dict[str, list[str]] = field(default_factory=dict)
    groups: np.ndarray | None = None
    folds: Folds | None = None
    importances: VariableImportances | None = None
