"""Classes in natural order: class 2 before class 10, in all sections of the summary at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lvq.typing import JSONValue


def natural_key(name: str) -> list[tuple[int, float, str]]:
    """A key that sorts numbers in names by their size.

    Examples
    --------
    >>> sorted(["10", "9", "1", "b2", "b10", "-1", "0.5"], key=natural_key)
    ['-1', '0.5', '1', '9', '10', 'b2', 'b10']
    """
    try:
        return [(0, float(name), "")]
    except ValueError:
        parts = re.split(r"(\d+)", name.casefold())
        return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in parts if part]


def in_natural_order(summary: dict[str, JSONValue], n_known: int) -> dict[str, JSONValue]:
    """The same summary with the classes in natural order; indices of classes are changed wherever they are.

    Classes that the model was not fitted to, behind the first `n_known`, stay behind the others.
    """
    classes = summary["data"]["classes"]
    order = sorted(range(len(classes)), key=lambda code: (code >= n_known, natural_key(classes[code]), code))
    if order == list(range(len(classes))):
        return summary
    new = {old: place for place, old in enumerate(order)}
    for name in ("classes", "class_counts", "train_counts"):
        if summary["data"][name] is not None:
            summary["data"][name] = [summary["data"][name][old] for old in order]
    for table, name in _columns_of_codes(summary):
        table[name] = [new[code] for code in table[name]]
    _reorder_prototypes(summary["prototypes"])
    explained = summary["explanations"]
    for one in (*explained["wrong"], *explained["least_certain"]):
        one["true"], one["predicted"] = new[one["true"]], new[one["predicted"]]
    _reorder_counts(summary["rejection"], order, new)
    _reorder_metrics(summary["metrics"], order, new)
    return summary


def _columns_of_codes(summary: dict[str, JSONValue]) -> list[tuple[dict[str, JSONValue], str]]:
    """Lists of class indices, by the table that they are in and their name."""
    view = summary["map"]
    found = [(view["points"], "true"), (view["points"], "predicted"), (view["prototypes"], "label")]
    found += [(view["regions"], "label"), (summary["prototypes"], "label")]
    return found + ([(summary["curves"], "label")] if summary["curves"] else [])


def _reorder_prototypes(prototypes: dict[str, JSONValue]) -> None:
    """Prototypes that are shown by class; their numbers stay."""
    order = sorted(range(len(prototypes["label"])), key=lambda place: (prototypes["label"][place], place))
    for name in ("index", "label", "name", "n_won", "values", "fractions", "notes", "details", "images", "exemplars"):
        if prototypes[name] is not None:
            prototypes[name] = [prototypes[name][place] for place in order]


def _reorder_counts(rejection: dict[str, JSONValue], order: Sequence[int], new: dict[int, int]) -> None:
    """Confusion matrices, whose last column is the rejected samples; or rows by class."""
    if rejection["confusion"] is not None:
        columns = [*order, len(order)]
        rejection["confusion"] = [
            [[table[row][k] for k in columns] for row in order] for table in rejection["confusion"]
        ]
    for row in rejection["by_class"] or ():
        for name in ("label", "most_frequent_error"):
            row[name] = None if row[name] is None else new[row[name]]
    if rejection["by_class"]:  # as before by errors of all predictions, then by class; the sum of the others stays last
        rejection["by_class"].sort(key=lambda row: (row["label"] is None, -row["counts"][0][1], row["label"]))


def _reorder_metrics(metrics: dict[str, JSONValue], order: Sequence[int], new: dict[int, int]) -> None:
    """Metrics by class, prices, and the decisions by other prices, whose lists have an entry for each moved class."""
    metrics["by_class"] = [metrics["by_class"][old] for old in order]
    if metrics["prices"] is not None:
        known = [old for old in order if old < len(metrics["prices"])]
        metrics["prices"] = [[metrics["prices"][row][column] for column in known] for row in known]
    decisions = metrics["decisions"]
    if decisions is None:
        return
    for name in ("correct", "called"):
        decisions[name] = [[[step[old] for old in order] for step in moved] for moved in decisions[name]]
    decisions["totals"] = [decisions["totals"][old] for old in order]
    moved = sorted(range(len(decisions["classes"])), key=lambda place: new[decisions["classes"][place]])
    for name in ("classes", "correct", "called", "price"):
        if decisions[name] is not None:
            decisions[name] = [decisions[name][place] for place in moved]
    decisions["classes"] = [new[code] for code in decisions["classes"]]
