"""The report: one HTML file that shows a model, what it knows, and when not to trust it.

`summarize` gathers everything in a plain dictionary, `render` makes a page of it, `write` puts the page on disk.
"""

from lvq.report.folds import FoldResult, cross_validate
from lvq.report.page import render, write
from lvq.report.summary import summarize

__all__ = ["FoldResult", "cross_validate", "render", "summarize", "write"]
