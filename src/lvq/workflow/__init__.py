"""Fit, predict and compare on tables on disk, as plain functions; each command of ``lvq`` calls one of them."""

from lvq.workflow.comparison import TableComparison, compare_table
from lvq.workflow.demo import DemoResult, run_demo
from lvq.workflow.fit_result import FitResult
from lvq.workflow.fitting import fit_table
from lvq.workflow.pipelines import make_model, make_pipeline_for, make_reject_classifier
from lvq.workflow.predicting import PredictResult, predict_table
from lvq.workflow.preparation import Samples, prepare
from lvq.workflow.runs import export_run, load_model, report_run, write_run
from lvq.workflow.validating import ValidationResult, validate_table

__all__ = [
    "DemoResult",
    "FitResult",
    "PredictResult",
    "Samples",
    "TableComparison",
    "ValidationResult",
    "compare_table",
    "export_run",
    "fit_table",
    "load_model",
    "make_model",
    "make_pipeline_for",
    "make_reject_classifier",
    "predict_table",
    "prepare",
    "report_run",
    "run_demo",
    "validate_table",
    "write_run",
]
