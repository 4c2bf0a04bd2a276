"""The page of a validation: one self-contained HTML document without a script."""

from __future__ import annotations

from lvq.report import assets, formatting
from lvq.typing import JSONValue

MAX_COLUMNS = 30  # of the table of drift

VERDICTS = {
    "kept": "Kept: also the upper bound of the error rate among accepted predictions is below the guaranteed one.",
    "broken": "Broken: the error rate among accepted predictions is above the guaranteed one by more than chance. The "
    "rows are not from the same source as the calibration samples.",
    "not contradicted": "Not contradicted, but not shown either: the accepted rows are too few to tell.",
}


def render_validation(summary: dict[str, JSONValue]) -> str:
    """The page of a validation.

    Parameters
    ----------
    summary : dict
        `summary` of the result of `lvq.workflow.validate_table`.

    Returns
    -------
    html : str
    """
    return (
        assets.environment()
        .get_template("validation.html")
        .render(
            s=summary,
            style=assets.asset("report.css"),
            text=formatting,
            verdicts=VERDICTS,
            max_columns=MAX_COLUMNS,
        )
    )
