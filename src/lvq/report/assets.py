"""What the page embeds: templates, the drawing library, and square images as data URIs with PNG content."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from lvq.report.formatting import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment

NEGATIVE, POSITIVE = (213, 94, 0), (0, 114, 178)  # colours that colour-blind readers can distinguish


def asset(name: str) -> str:
    """The text of a file in the folder of templates."""
    return files("lvq.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Jinja's environment: everything is escaped, and an unknown name is an error."""
    jinja2 = _import("jinja2", "Jinja2")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= FILTERS
    return made


@cache
def drawing_library() -> str:
    """Vega and Vega-Lite in one script, from the installed package."""
    bundle = _import("vl_convert", "vl-convert-python").javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return str(bundle).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def image_uri(values: Sequence[float], side: int, value_range: Sequence[float]) -> str:
    """A grey image: white at the lower end of the range and below, black at the upper end and above.

    Examples
    --------
    >>> image_uri([0.0, 1.0, 2.0, 3.0], 2, (0.0, 3.0))[:22]
    'data:image/png;base64,'
    """
    low, high = value_range
    darkness = (np.clip(np.asarray(values, dtype=np.float64), low, high) - low) / ((high - low) or 1.0)
    return _png_uri(255 - np.round(255 * darkness).reshape(side, side))


def signed_image_uri(values: Sequence[float], side: int) -> str:
    """An image of values between -1 (orange) and 1 (blue), with 0 white."""
    pixels = np.clip(np.asarray(values, dtype=np.float64), -1, 1)[:, None]
    colour = np.where(pixels < 0, np.array(NEGATIVE), np.array(POSITIVE))
    return _png_uri(np.round(255 + (colour - 255) * np.abs(pixels)).reshape(side, side, 3))


def _png_uri(pixels: np.ndarray) -> str:
    file = BytesIO()
    _import("PIL.Image", "Pillow").fromarray(pixels.astype(np.uint8)).save(file, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def _import(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        message = f'The report needs {package}, which is not installed. Install it with: pip install "lvq[report]"'
        raise ImportError(message) from None
