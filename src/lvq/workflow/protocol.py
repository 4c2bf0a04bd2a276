"""How the data were prepared and split, as a text of the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lvq.rejection import RejectClassifier
from lvq.tables.header import listed
from lvq.typing import JSONValue
from lvq.workflow.date_values import time_texts
from lvq.workflow.design import Design
from lvq.workflow.pipelines import held_out_fraction
from lvq.workflow.preparation import Samples


def protocol(
    samples: Samples,
    train: np.ndarray,
    test: np.ndarray,
    design: Design,
    folds: int,
    classifier: RejectClassifier,
    missing: str,
    *,
    marks: Sequence[str] = (),
    split: dict[str, str] | None = None,
) -> str:
    """How the data were prepared and split.

    `missing` is a sentence on missing numbers, `marks` are values that were named as missing, and `split` is that of
    `time_split`.
    """
    parts = [
        _test_part(train, test, design, split),
        _folds_part(design, folds),
        _rows_of_folds(design, folds, classifier, len(train)),
        "Numbers were standardised.",
        "Texts were one-hot encoded." if samples.texts else "",
        f"Values that were named as missing: {listed(list(marks))}." if marks else "",
        missing,
        _thresholds_part(design, classifier, len(train)),
    ]
    return " ".join(part for part in parts if part)


def published_rows(summary: dict[str, JSONValue]) -> str:
    """A note that model and report contain rows, and which."""
    rows = [names[0] for names in summary["prototypes"]["exemplars"]]
    return (
        f"Every prototype is a training row: {listed(rows)}. Model and report contain the values of these rows; where "
        "rows are people, give them only to those who may see the data."
    )


def time_split(
    design: Design, train: np.ndarray, test: np.ndarray, column: str | None, dated: bool
) -> dict[str, str] | None:
    """The last time of the training rows and the first of the test; None where time does not divide them."""
    if column is None or design.times is None or design.tested is not None:
        return None
    until, since = time_texts([design.times[train].max(), design.times[test].min()], dated)
    return {"column": column, "train_until": until, "test_from": since}


def _test_part(train: np.ndarray, test: np.ndarray, design: Design, split: dict[str, str] | None) -> str:
    count = f"{len(test)} of {len(train) + len(test)} rows"
    if design.tested is not None:
        how = f"The {len(test)} rows of a table given for it were the test"
    elif split is not None:
        how = f"The latest {count} were held out for the test, those from {split['test_from']} on ({split['column']}); "
        return f"{how}the model was fitted to rows until {split['train_until']}."
    elif design.groups is not None:
        n_groups = len(np.unique(design.groups[test]))
        how = f"{count}, all of {n_groups} groups, stratified by class as far as possible, were held out for the test"
    else:
        how = f"{len(test) / (len(train) + len(test)):.0%} of {len(train) + len(test)} rows, stratified by class, were "
        how += "held out for the test"
    return f"{how}; the model was fitted to the others."


def _folds_part(design: Design, folds: int) -> str:
    if not folds:
        return ""
    if design.times is not None:
        return f"Cross-validation among these in up to {folds} steps, each tested on later rows than it was trained on."
    return (
        f"{folds}-fold cross-validation among these{', in folds of whole groups' if design.groups is not None else ''}."
    )


def _rows_of_folds(design: Design, folds: int, classifier: RejectClassifier, n_train: int) -> str:
    """That the models of the folds have more training rows than that of the run, some of whose rows are held out."""
    holds_out = isinstance(classifier.cv, float | str)
    own = 1 - _held_out(classifier, n_train)
    if not folds or design.times is not None or not holds_out or own >= 1 - 1 / folds:
        return ""
    what = "test the guarantee" if classifier.max_error is not None else "set the thresholds"
    return (
        f"Models of the folds were fitted to {1 - 1 / folds:.0%} of the training rows, the model of this run to "
        f"{own:.0%}, as the others {what}; it may be less accurate than they are."
    )


def _held_out(classifier: RejectClassifier, n_train: int) -> float:
    """Fraction of the training rows that set the thresholds or test the guarantee, where not all do."""
    if isinstance(classifier.cv, float):
        return classifier.cv
    max_error = None if classifier.max_error is None else float(np.min(classifier.max_error))
    return held_out_fraction(max_error, classifier.confidence, n_train)


def _thresholds_part(design: Design, classifier: RejectClassifier, n_train: int) -> str:
    fraction, crossed = _held_out(classifier, n_train), not isinstance(classifier.cv, float | str)
    if not design.is_plain and not crossed:
        which = "the latest training rows" if design.times is not None else "whole groups of the training rows"
        one = ", one row of each group," if design.groups is not None and classifier.max_error is not None else ""
        held_out = f"{fraction:.0%} of the training data, {which}{one or ','}"
        held_out += " were held out for the thresholds."
        if classifier.max_error is None or design.times is None:
            return held_out
        return f"{held_out} They tested the guarantee too. It holds for later rows as far as they are like these."
    kept = f"{fraction:.0%} of the training rows were held out"
    where = " in blocks of time" if design.times is not None and design.groups is None else ""
    thresholds = f"Thresholds were cross-fitted{where}." if crossed else f"{kept} to set the thresholds."
    if classifier.max_error is not None:
        thresholds = f"{kept} to test the guarantee."
    return thresholds
