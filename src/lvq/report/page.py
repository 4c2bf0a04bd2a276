"""From the summary to one self-contained page: templates, escaped data, and the drawing library inside.

Rules kept here:
- nothing is loaded from anywhere: the page holds its styles, its script and the drawing library, and forbids the rest;
- whatever comes from the data is text: escaped by the templates, and in the page's JSON free of "<", ">" and "&".
"""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from lvq.report import charts, images, map_chart, words
from lvq.report.plain import FORMAT

INSTALL = 'pip install "lvq[report]"'


def render(summary: dict[str, Any]) -> str:
    """The report as one HTML document that needs nothing else.

    Parameters
    ----------
    summary : dict
        From `summarize`, or read back from its JSON.

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
    if not isinstance(summary, dict) or summary.get("format") != FORMAT:
        raise ValueError(
            f"summary of render must be a dictionary from summarize of format {FORMAT}, got "
            f"{summary.get('format', 'none') if isinstance(summary, dict) else type(summary).__name__!r}; make it anew."
        )
    template = _environment().get_template("report.html")
    return template.render(
        s=summary,
        style=_asset("report.css"),
        script=_asset("report.js"),
        library=_library(),
        data=json_for_html(_for_the_page(summary)),
        charts=json_for_html(charts.specifications(summary)),
        picture=images.data_uri,
        shares_picture=images.signed_data_uri,
        symbol=map_chart.symbol,
        words=words,
    )


def write(summary: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Render a summary into a file; nothing is left half-written.

    Parameters
    ----------
    summary : dict
        From `summarize`.
    path : path-like
        The file, which is replaced if it exists.

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
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(target.parent)!r} for the report does not exist; make it first.")
    page = render(summary)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # temporary files are private, a report is as any other file
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def json_for_html(value: Any) -> str:
    """JSON that can stand in a <script> element: no text in it can end the element or open a comment.

    Examples
    --------
    >>> json_for_html({"</script>": "a & b"})
    '{"\\\\u003c/script\\\\u003e":"a \\\\u0026 b"}'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _for_the_page(summary: dict[str, Any]) -> dict[str, Any]:
    """The parts that the page's script looks things up in."""
    return {
        "rejection": summary["rejection"],
        "points": summary["map"]["points"],
        "prototypes": summary["map"]["prototypes"] | {"won": None},
        "classes": summary["data"]["classes"],
        "features": summary["data"]["features"],
        "n_samples": summary["data"]["n_samples"],
    }


def _asset(name: str) -> str:
    return files("lvq.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise ImportError(f"The report needs Jinja2, which is not installed. Install it with: {INSTALL}") from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= words.FILTERS
    return environment


@cache
def _library() -> str:
    """Vega and Vega-Lite in one script, out of the installed package."""
    try:
        import vl_convert
    except ImportError:
        raise ImportError(
            f"The report needs vl-convert-python, which is not installed. Install it with: {INSTALL}"
        ) from None
    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
