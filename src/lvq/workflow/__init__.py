"""The whole job from a table on disk, as plain functions; each command of ``lvq`` is one call of one of these."""

from lvq.workflow.assembly import make_model, make_pipeline_for, make_rejecting
from lvq.workflow.comparing import TableComparison, compare_table
from lvq.workflow.fitting import FitResult, fit_table, write_run
from lvq.workflow.predicting import Predictions, load_model, predict_table
from lvq.workflow.preparation import Samples, prepare
from lvq.workflow.running import Demonstration, demonstrate, export_run, report_run, reproduce

__all__ = [
    "Demonstration",
    "FitResult",
    "Predictions",
    "Samples",
    "TableComparison",
    "compare_table",
    "demonstrate",
    "export_run",
    "fit_table",
    "load_model",
    "make_model",
    "make_pipeline_for",
    "make_rejecting",
    "predict_table",
    "prepare",
    "report_run",
    "reproduce",
    "write_run",
]
