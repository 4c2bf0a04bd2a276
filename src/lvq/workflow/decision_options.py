"""Prices of mistakes and class weights, as a file or a short text."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lvq.rejection.costs import cost_matrix
from lvq.table_headers import is_number, listed
from lvq.typing import ClassWeight


def read_prices(given: Mapping[str, float] | str | Path) -> dict[str, float]:
    """Prices by "true:predicted": of a mapping, a short text or a file.

    Parameters
    ----------
    given : mapping, str or path
        A text such as "bad:good=5,good:bad=1": predicting good for a row of bad costs 5. Or a CSV file whose first line
        names the predicted classes and whose first column the true ones.

    Returns
    -------
    prices : dict

    Examples
    --------
    >>> read_prices("bad:good=5, good:bad=1")
    {'bad:good': 5.0, 'good:bad': 1.0}
    """
    if isinstance(given, Mapping):
        return {str(key): float(price) for key, price in given.items()}
    if Path(given).is_file():
        return _of_file(Path(given))
    prices = _pairs(str(given), "prices (--prices)", "bad:good=5,good:bad=1, or the name of a file")
    bad = next((key for key in prices if key.count(":") != 1), None)
    if bad is not None:
        raise ValueError(
            f"prices (--prices) must name two classes, true:predicted, such as bad:good=5, got {bad!r}; for classes "
            "with a colon use a file."
        )
    return prices


def _of_file(path: Path) -> dict[str, float]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        start = file.readline()
        file.seek(0)
        rows = [row for row in csv.reader(file, delimiter=";" if ";" in start else ",") if any(row)]
    header, *lines = [[cell.strip() for cell in row] for row in rows] or [[]]
    if len(header) < 3 or any(len(line) != len(header) for line in lines):
        raise ValueError(
            f"{path} must be a table of prices: the first line names the predicted classes, the first column the true "
            "ones, and each cell is a price."
        )
    cells = {(line[0], name): value for line in lines for name, value in zip(header[1:], line[1:])}
    if len(cells) < len(lines) * (len(header) - 1):
        raise ValueError(f"{path} must name each class once in the first line and once in the first column.")
    bad = next((value for value in cells.values() if not is_number(value)), None)
    if bad is not None:
        raise ValueError(f"{path} holds {bad!r}, which is not a price; write numbers with a decimal point.")
    return {f"{true}:{predicted}": float(value) for (true, predicted), value in cells.items()}


def read_class_weight(given: Mapping[str, float] | str | None) -> ClassWeight:
    """Class weights: "balanced", a mapping, or a short text such as "bad=5,good=1".

    Examples
    --------
    >>> read_class_weight("balanced"), read_class_weight("bad=5,good=1")
    ('balanced', {'bad': 5.0, 'good': 1.0})
    """
    if given is None:
        return None
    if given == "balanced":
        return "balanced"
    if isinstance(given, Mapping):
        return {str(key): float(weight) for key, weight in given.items()}
    return _pairs(given, "class_weight (--class-weight)", "balanced, or bad=5,good=1")


def _pairs(text: str, option: str, form: str) -> dict[str, float]:
    found = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        if not equals or not name.strip() or not is_number(number.strip()):
            raise ValueError(f"{option} must be like {form}; got {text!r}.")
        if name.strip() in found:
            raise ValueError(
                f"{option} must name each pair or class once, got {name.strip()!r} twice in {text!r}; leave one out."
            )
        found[name.strip()] = float(number)
    return found


def check_classes(
    prices: Mapping[str, float] | None, class_weight: ClassWeight, y: np.ndarray, everyone: np.ndarray
) -> list[str]:
    """Raise a ValueError for prices or weights of classes that no training row has; notes on a doubtful choice.

    `y` are the classes of the training rows, `everyone` those of all rows.
    """
    names = [str(name) for name in np.unique(everyone)]
    absent = sorted(set(names) - {str(name) for name in np.unique(y)})
    if prices is not None:
        cost_matrix(prices, names)
        pairs = {f"{true}:{other}" for one in absent for name in names for true, other in ((one, name), (name, one))}
        _need_rows(pairs.intersection(prices), absent, "prices (--prices)")
    if isinstance(class_weight, dict):
        for name, weight in class_weight.items():
            if name not in names:
                close = difflib.get_close_matches(str(name), names, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(
                    f"class_weight (--class-weight) must be of the classes {listed(names)}, got {name!r}.{hint}"
                )
            if not weight > 0:
                raise ValueError(f"class_weight (--class-weight) must be above 0, got {weight:g} for {name!r}.")
        _need_rows(set(absent).intersection(class_weight), absent, "class_weight (--class-weight)")
    if prices is None or class_weight is None:
        return []
    return [
        "Class weights change the probabilities, so that prices in addition count twice what is rare or expensive; one "
        "of the two is enough."
    ]


def _need_rows(given: set[str], absent: list[str], option: str) -> None:
    if given:
        raise ValueError(
            f"No training row has the class {listed(absent)}, so {option} must not name it, got {sorted(given)[0]!r}; "
            "leave it out, or choose other test rows."
        )
