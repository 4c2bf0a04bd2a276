"""From the summary to one self-contained page.

- Nothing is loaded: the page holds its styles, its script and the drawing library, and forbids everything else.
- Everything that comes from the data is text: escaped by the template, and without "<", ">" and "&" in the page's JSON.
"""

from __future__ import annotations

import json
import os

from lvq._files import write_atomically
from lvq.report import assets, charts, formatting, map_chart
from lvq.report.prototype_ranges import outside_sentence
from lvq.report.terms import terms
from lvq.typing import JSONValue


def render(summary: dict[str, JSONValue]) -> str:
    """The report as one self-contained HTML document.

    Parameters
    ----------
    summary : dict
        From `summarize`, or read from its JSON.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.report import render, summarize
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render(summarize(GMLVQ(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 5e6
    (True, True)
    """
    if not isinstance(summary, dict) or summary.get("format") != formatting.SUMMARY_FORMAT:
        found = summary.get("format", "none") if isinstance(summary, dict) else type(summary).__name__
        raise ValueError(
            f"summary of render must be a dictionary from summarize of format {formatting.SUMMARY_FORMAT}, got "
            f"{found!r}; call summarize again."
        )
    # the parts that the page's script reads
    data = {name: summary["data"][name] for name in ("classes", "variables", "n_samples")}
    data |= {"rejection": summary["rejection"], "decisions": summary["metrics"]["decisions"]} | {
        name: summary["map"][name] for name in ("points", "prototypes")
    }
    return assets.environment().get_template("report.html").render(
        s=summary,
        style=assets.asset("report.css"),
        script=assets.asset("report.js") + assets.asset("decisions.js"),
        library=assets.drawing_library(),
        data=json_for_html(data),
        charts=json_for_html(charts.specifications(summary)),
        image_uri=assets.image_uri,
        signed_image_uri=assets.signed_image_uri,
        symbol=map_chart.symbol,
        colour=map_chart.colour,
        terms=terms(summary),
        outside=outside_sentence,
        text=formatting,
    )  # fmt: skip


def write(summary: dict[str, JSONValue], path: str | os.PathLike[str]) -> None:
    """Render a summary to a file, which appears complete or not at all.

    Parameters
    ----------
    summary : dict
        From `summarize`.
    path : path-like
        The file; an existing one is replaced.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> from lvq.report import summarize, write
    >>> X, y = load_iris(return_X_y=True)
    >>> summary = summarize(GLVQ(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(summary, pathlib.Path(folder, "report.html"))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['report.html']
    """
    with write_atomically(path) as file:
        file.write(render(summary).encode())


def json_for_html(value: JSONValue) -> str:
    """JSON for a <script> element: no text in it can end the element or open a comment.

    Examples
    --------
    >>> json_for_html({"</script>": "a & b"})
    '{"\\\\u003c/script\\\\u003e":"a \\\\u0026 b"}'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
