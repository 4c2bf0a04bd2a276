"""Fit, predict, validate and compare on tables, as plain functions; each command of ``lvq`` calls one of them.

A table is a data frame or a file.
"""

from lvq.workflow.comparing import (
    Comparison,
    RankedModel,
    TableComparison,
    compare,
    compare_models,
    corrected_t_test,
    holm,
)
from lvq.workflow.demo import run_demo
from lvq.workflow.fitting import Run, fit
from lvq.workflow.pipeline import make_model
from lvq.workflow.predicting import PredictResult, predict
from lvq.workflow.runs import export_run, load_model
from lvq.workflow.study import TableOptions
from lvq.workflow.validating import Validation, validate

__all__ = [
    "Comparison",
    "PredictResult",
    "RankedModel",
    "Run",
    "TableComparison",
    "TableOptions",
    "Validation",
    "compare",
    "compare_models",
    "corrected_t_test",
    "export_run",
    "fit",
    "holm",
    "load_model",
    "make_model",
    "predict",
    "run_demo",
    "validate",
]
