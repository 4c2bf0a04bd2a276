"""How much of a row is known: certainty falls with what is missing, and rows with too little known are rejected.

The known fraction of a row is the number of its columns with a value, divided by the number that a training row has on
the mean: a value that is usually missing is no loss. Certainties are multiplied by it (at most by 1), and a row below
one half is rejected.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lvq.rejection import RejectClassifier
from lvq.workflow.model_columns import ModelColumns
from lvq.workflow.preparation import MISSING_TEXT

TOO_LITTLE = "too little known"  # the reason for rejection
SMALLEST_FRACTION = 0.5


def store_missing_rates(classifier: RejectClassifier, X: pd.DataFrame) -> None:
    """Store how often each number is missing in training: a model that ignores missing values does not know it."""
    rates = X.select_dtypes("number").isna().mean()
    vars(classifier)["missing_rates_"] = {str(name): float(rate) for name, rate in rates.items() if rate > 0}


def known_fraction(X: pd.DataFrame, columns: ModelColumns) -> NDArray[np.float64]:
    """The known fraction of each row, at most 1.

    Parameters
    ----------
    X : DataFrame
        Features as the model reads them: NaN for missing numbers, "(missing)" for missing texts.
    columns : ModelColumns
        Of `expected_columns`, with the fraction of missing values at the fit.

    Returns
    -------
    fraction : ndarray of shape (n_rows,)

    Examples
    --------
    >>> columns = ModelColumns(["a", "b"], {"b": {"x", "(missing)"}}, {"a"}, {"a": 0.5})
    >>> known_fraction(pd.DataFrame({"a": [np.nan, 1.0], "b": ["x", "x"]}), columns).round(2)
    array([0.67, 1.  ])
    """
    known = np.zeros(len(X))
    for name in columns.names:
        values = X[name]
        there = (values != MISSING_TEXT) if name in columns.categories else values.notna()
        known += there.to_numpy()
    usual = len(columns.names) - sum(columns.missing_rates.values())
    return np.minimum(1.0, known / max(usual, 1.0))
