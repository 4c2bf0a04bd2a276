"""The report: one HTML file that shows a fitted model, its evaluation and its limits.

`summarize` collects everything in a dictionary, `render` makes a page of it, `write` writes the page to a file.
"""

from lvq.report.cross_validation import FoldResult, evaluate_folds
from lvq.report.metrics import classification_metrics
from lvq.report.page import render, write
from lvq.report.summary import summarize

__all__ = ["FoldResult", "classification_metrics", "evaluate_folds", "render", "summarize", "write"]
