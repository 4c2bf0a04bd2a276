"""The report: a fitted model, its evaluation and its limits, as data classes and as one HTML page.

`report` writes the page of a model; `Report.of` gives the numbers on it.
"""

from lvq.reports.data import Context
from lvq.reports.folds import Folds
from lvq.reports.page import render
from lvq.reports.summary import Report, report

__all__ = ["Context", "Folds", "Report", "render", "report"]
