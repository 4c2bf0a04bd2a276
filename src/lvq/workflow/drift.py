"""Drift: how columns and certainties of a new table differ from those at the fit.

At the fit only counts in bins are stored, never rows: ten bins of a column of numbers, each category of the others, and
the missing values. A column has drifted where two things hold: the counts differ by more than chance (chi-squared test,
adjusted for the number of columns by Holm's procedure, at 1 %), and the difference is not tiny (population stability
index of 0.1 or more).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lvq.evaluation import holm
from lvq.tables import iso_date, kind_of
from lvq.typing import JSONValue

N_BINS = 10
LEVEL, SMALLEST_INDEX = 0.01, 0.1  # of the test, and of a stability index that counts
MISSING, OTHER = "(missing)", "(other)"
MAX_CATEGORIES = 100


def reference_of(X: pd.DataFrame, certainty: NDArray[np.float64], dates: Collection[str] = ()) -> dict[str, JSONValue]:
    """Counts in bins of the training rows' columns, and of the certainties of held-out rows.

    Of a stream the rows held out for the thresholds are given in place of the training rows: both are drawn at random.
    Certainties of training rows are higher than those of new rows, so that they are no reference. Columns of `dates`
    hold days, which are shown as dates.

    Examples
    --------
    >>> reference = reference_of(pd.DataFrame({"size": np.arange(100.0)}), np.linspace(0, 1, 50))
    >>> reference["columns"][0]["counts"], len(reference["certainty"]["edges"])
    ([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0], 9)
    """
    columns = [_column_reference(X[name]) | ({"dated": True} if name in dates else {}) for name in X]
    return {"columns": columns, "certainty": _number_reference("certainty", certainty)}


def _column_reference(column: pd.Series) -> dict[str, JSONValue]:
    if kind_of(column) == "number":
        return _number_reference(str(column.name), column.to_numpy(dtype=np.float64))
    counts = column.astype(str).value_counts()
    bins = [str(name) for name in counts.index[:MAX_CATEGORIES]]
    found: dict[str, JSONValue] = {"name": str(column.name), "kind": "category", "bins": bins}
    return found | {"counts": [int(counts[name]) for name in bins] + [int(counts.iloc[MAX_CATEGORIES:].sum())]}


def _number_reference(name: str, values: NDArray[np.float64]) -> dict[str, JSONValue]:
    known = values[np.isfinite(values)]
    edges = np.unique(np.quantile(known, np.arange(1, N_BINS) / N_BINS)) if len(known) else np.array([])
    if len(edges) and edges[0] == known.min():
        edges = edges[1:]  # no value is below the smallest
    mean, deviation = (float(known.mean()), float(known.std())) if len(known) else (None, None)
    found: dict[str, JSONValue] = {"name": name, "kind": "number", "edges": edges.tolist()}
    return found | {"counts": bin_counts(values, edges).tolist(), "mean": mean, "standard_deviation": deviation}


def bin_counts(values: NDArray[np.float64], edges: Sequence[float] | NDArray[np.float64]) -> NDArray[np.intp]:
    """Number of values between edges, and in the last place that of missing ones.

    Examples
    --------
    >>> bin_counts(np.array([0.0, 1.0, 5.0, np.nan]), [1.0, 2.0]).tolist()
    [1, 1, 1, 1]
    """
    missing = np.isnan(values)
    counts = np.bincount(np.searchsorted(edges, values[~missing], side="right"), minlength=len(edges) + 1)
    return np.append(counts, missing.sum())


class TableCounts:
    """Counts of a table in the bins of a reference, collected part by part."""

    def __init__(self, reference: Mapping[str, JSONValue]) -> None:
        self.columns = list(reference["columns"])
        self.certainty = reference["certainty"]
        self.counts = [np.zeros(len(column["counts"]), dtype=np.intp) for column in self.columns]
        self.sums = np.zeros((len(self.columns), 2))
        self.sum_of_certainty = np.zeros(2)  # sum, and number of rows that have one
        self.of_certainty = np.zeros(len(self.certainty["counts"]), dtype=np.intp)

    def add(self, X: pd.DataFrame, certainty: NDArray[np.float64]) -> None:
        """Count the rows of a part."""
        for place, column in enumerate(self.columns):
            values = X[column["name"]]
            if column["kind"] == "number":
                numbers = values.to_numpy(dtype=np.float64)
                self.counts[place] += bin_counts(numbers, column["edges"])
                self.sums[place] += _sum_and_count(numbers)
            else:
                bins = {name: index for index, name in enumerate(column["bins"])}
                codes = values.astype(str).map(bins).fillna(len(bins)).astype(int).to_numpy()
                self.counts[place] += np.bincount(codes, minlength=len(bins) + 1)
        self.sum_of_certainty += _sum_and_count(certainty)
        self.of_certainty += bin_counts(certainty, self.certainty["edges"])

    def drift(self) -> dict[str, JSONValue]:
        """The drift of each column, the largest first, and that of the certainty."""
        rows = []
        for column, counts, (total, n_known) in zip(self.columns, self.counts, self.sums):
            rows.append(_compared(column, counts) | _mean_and_shift(column, total, n_known))
        for row, p_value in zip(rows, holm([row["p_value"] for row in rows])):
            _judge(row, float(p_value))
        rows.sort(key=lambda row: (not row["drifted"], -row["index"]))
        certainty = _compared(self.certainty, self.of_certainty)
        certainty |= _mean_and_shift(self.certainty, *self.sum_of_certainty.tolist())
        _judge(certainty, certainty["p_value"])
        return {"columns": rows, "n_drifted": sum(row["drifted"] for row in rows), "certainty": certainty}


def _sum_and_count(numbers: NDArray[np.float64]) -> tuple[float, int]:
    return float(np.nansum(numbers)), int(np.isfinite(numbers).sum())


def _mean_and_shift(column: Mapping[str, JSONValue], total: float, n_known: float) -> dict[str, JSONValue]:
    """The mean of a table's numbers, and its difference from that at the fit in standard deviations."""
    if column["kind"] != "number" or not n_known:
        return {}
    mean, deviation = float(total / n_known), column["standard_deviation"]
    return {"mean": _shown(mean, column), "shift": (mean - column["mean"]) / deviation if deviation else None}


def _judge(row: dict[str, JSONValue], p_value: float) -> None:
    row["p_value"] = p_value
    row["drifted"] = bool(p_value < LEVEL and row["index"] >= SMALLEST_INDEX)


def _compared(column: Mapping[str, JSONValue], counts: NDArray[np.intp]) -> dict[str, JSONValue]:
    expected = np.asarray(column["counts"], dtype=np.float64)
    index, p_value = stability_index(expected, counts), homogeneity(expected, counts)
    names = _bin_names(column)
    return {
        "name": column["name"], "kind": column["kind"], "index": index, "p_value": p_value, "bins": names,
        "reference": (expected / max(expected.sum(), 1)).tolist(), "table": (counts / max(counts.sum(), 1)).tolist(),
        "reference_mean": _shown(column.get("mean"), column), "mean": None, "shift": None,
    }  # fmt: skip


def _shown(mean: float | None, column: Mapping[str, JSONValue]) -> float | str | None:
    """A mean, as a date where the column holds dates."""
    return iso_date(mean) if mean is not None and column.get("dated") else mean


def _bin_names(column: Mapping[str, JSONValue]) -> list[str]:
    if column["kind"] == "category":
        return [*column["bins"], OTHER]
    edges = [iso_date(edge) if column.get("dated") else f"{edge:.4g}" for edge in column["edges"]]
    if not edges:
        return ["all", MISSING]
    inner = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *inner, f"{edges[-1]} and above", MISSING]


def stability_index(expected: NDArray[np.float64], counts: NDArray[np.intp]) -> float:
    """Population stability index of two histograms, with half a count added to each bin that either has.

    Examples
    --------
    >>> stability_index(np.array([50.0, 50.0]), np.array([50, 50]))
    0.0
    >>> round(stability_index(np.array([500.0, 500.0]), np.array([250, 750])), 2)
    0.27
    """
    used = (expected > 0) | (counts > 0)
    p, q = expected[used] + 0.5, counts[used] + 0.5
    p, q = p / p.sum(), q / q.sum()
    return float(((p - q) * np.log(p / q)).sum())


def homogeneity(expected: NDArray[np.float64], counts: NDArray[np.intp]) -> float:
    """P-value of the hypothesis that both histograms are of one distribution; 1 where there is nothing to compare."""
    from scipy.stats import chi2_contingency

    used = expected + counts > 0
    if used.sum() < 2 or not counts.sum() or not expected.sum():
        return 1.0
    return float(chi2_contingency(np.stack([expected[used], counts[used]]), correction=False).pvalue)
