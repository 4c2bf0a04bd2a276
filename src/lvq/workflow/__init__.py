"""Fit, predict, validate and compare on tables, as plain functions; each command of ``lvq`` calls one of them.

A table is a data frame or a file.
"""

try:
    import pandas as _pandas  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f'lvq.workflow needs {error.name}, which is not installed: pip install "lvq[cli]".', name=error.name
    ) from error

from lvq.tables.header import Reading, TableError
from lvq.workflow.columns import TableOptions
from lvq.workflow.comparing import Comparison, compare
from lvq.workflow.fitting import Run, fit
from lvq.workflow.pipeline import make_model
from lvq.workflow.predicting import PredictResult, predict
from lvq.workflow.runs import export_run, load_model
from lvq.workflow.validating import Validation, validate

__all__ = [
    "Comparison",
    "PredictResult",
    "Reading",
    "Run",
    "TableError",
    "TableOptions",
    "Validation",
    "compare",
    "export_run",
    "fit",
    "load_model",
    "make_model",
    "predict",
    "validate",
]
