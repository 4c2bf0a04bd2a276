"""Dates in a summary: days since 1970, which the model reads, as texts such as 2024-03-01, which people read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from lvq.tables import iso_date
from lvq.typing import JSONValue


def show_dates(summary: dict[str, JSONValue], X: pd.DataFrame, dates: Collection[str]) -> None:
    """Replace days by dates wherever the summary holds values of some columns, in place.

    Parameters
    ----------
    summary : dict
        Result of `lvq.report.summarize`; values must be in the units of the data.
    X : DataFrame
        The held-out samples of the summary.
    dates : collection of str
        Columns of days.
    """
    shown = [name for name in dates if name in X]
    if not shown or not summary["prototypes"]["in_units"]:
        return
    prototypes = summary["prototypes"]
    for place, name in enumerate(prototypes["features"]):
        if name in shown:
            for row in (*prototypes["values"], prototypes["low"], prototypes["high"]):
                row[place] = _date(row[place])
    timed = {name: has_times(X[name].to_numpy()) for name in shown}
    names, points = summary["data"]["variables"], summary["map"]["points"]
    for row, contributions in zip(points["index"], points["contributions"]):
        for entry in contributions:
            if names[entry[0]] in shown:
                entry[2] = _date(X[names[entry[0]]].iloc[row], timed[names[entry[0]]])
                entry[3:] = [_date(filled) for filled in entry[3:]]
    for explanation in (*summary["explanations"]["wrong"], *summary["explanations"]["least_certain"]):
        for feature in explanation["features"]:
            if feature["name"] in shown:
                column = X[feature["name"]]
                feature["value"] = _date(column.iloc[explanation["sample"]], timed[feature["name"]])
                for kind in ("filled", "winner", "rival"):
                    feature[kind] = _date(feature[kind])


def time_texts(times: Sequence[float] | np.ndarray, dated: bool) -> list[str]:
    """Times as texts: dates, with the time of the day where one has it, or numbers.

    Examples
    --------
    >>> time_texts([19783.0, 19784.0], dated=True), time_texts([2019.0, 2020.5], dated=False)
    (['2024-03-01', '2024-03-02'], ['2019', '2020.5'])
    """
    timed = has_times(np.asarray(times, dtype=np.float64))
    return [iso_date(float(time), timed) if dated else f"{time:.15g}" for time in times]


def has_times(days: np.ndarray) -> bool:
    """Whether some days have a fraction."""
    known = days[np.isfinite(days)]
    return bool((known != np.round(known)).any())


def _date(days: JSONValue, with_time: bool = False) -> JSONValue:
    """A date; other values, such as None for a missing one, as they are."""
    return iso_date(days, with_time) if isinstance(days, float | int) and np.isfinite(days) else days
