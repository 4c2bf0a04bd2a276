"""From the report to one self-contained page.

- Nothing is loaded: the page holds its styles, its script and its charts, and forbids everything else.
- Everything that comes from the data is text: escaped by the template, and without "<", ">" and "&" in the page's JSON.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from lvq._files import write_atomically
from lvq.inspection.explain import odds_text
from lvq.reports import charts, text
from lvq.reports.summary import Report
from lvq.versions import need

if TYPE_CHECKING:
    from jinja2 import Environment


def render(report: Report) -> str:
    """The report as one self-contained HTML document.

    Parameters
    ----------
    report : Report
        From `Report.of`.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.reports import Report, render
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render(Report.of(GMLVQ(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 5e6
    (True, True)
    """
    need("matplotlib", "report", "The report")  # of the charts
    data, prototypes = report.data, report.prototypes
    read_by_script = {
        "classes": data.classes, "n_samples": data.n_samples, "points": report.map.points,
        "rejection": report.rejection, "prototypes": {"label": prototypes.label, "name": prototypes.name},
    }  # fmt: skip
    return environment().get_template("report.html").render(
        s=report, style=_asset("report.css"), script=_asset("report.js"), data=text.to_json(read_by_script),
        drawings=charts.drawings(report), image_uri=image_uri,
        colours=[charts.on_any_background(colour) for colour in charts.class_colours(len(data.classes))],
        symbol=charts.symbol, odds_text=odds_text, text=text,
    )  # fmt: skip


def write_page(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, which appears complete or not at all."""
    with write_atomically(path) as file:
        file.write(render(report).encode())


def _asset(name: str) -> str:
    return files("lvq.reports").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Jinja's environment: everything is escaped, and an unknown name is an error."""
    jinja2 = need("jinja2", "report", "The report")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= text.FILTERS
    return made


def image_uri(values: Sequence[float], side: int, ends: tuple[float, float], colours: str = "gray_r") -> str:
    """A square image as a data URI: by default white at the lower end of the range and below, black at the upper end.

    Examples
    --------
    >>> image_uri([0.0, 1.0, 2.0, 3.0], 2, (0.0, 3.0))[:22]
    'data:image/png;base64,'
    """
    from matplotlib.image import imsave

    file = BytesIO()
    imsave(file, np.reshape(values, (side, side)), vmin=ends[0], vmax=ends[1], cmap=colours, format="png")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
