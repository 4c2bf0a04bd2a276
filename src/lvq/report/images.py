"""Small pictures as data addresses: PNG files in grey, or red and blue for signed values, without any library."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

AGAINST, FOR = (213, 94, 0), (0, 114, 178)  # the ends of the signed scale; told apart by colour-blind readers


def data_uri(values: Sequence[float], side: int, span: Sequence[float]) -> str:
    """A square of pixels, white at the lower end of the span and below, black at the upper end and above.

    Examples
    --------
    >>> data_uri([0.0, 1.0, 2.0, 3.0], 2, (0.0, 3.0))[:22]
    'data:image/png;base64,'
    """
    low, high = span
    inked = (np.clip(np.asarray(values, dtype=np.float64), low, high) - low) / ((high - low) or 1.0)
    grey = 255 - np.round(255 * inked).astype(np.uint8)
    return _png(np.repeat(grey[:, None], 3, axis=1).reshape(side, side, 3))


def signed_data_uri(values: Sequence[float], side: int) -> str:
    """A square of pixels between -1 (orange) and 1 (blue), with 0 white."""
    pixels = np.clip(np.asarray(values, dtype=np.float64), -1, 1)[:, None]
    end = np.where(pixels < 0, np.array(AGAINST), np.array(FOR))
    colours = 255 + (end - 255) * np.abs(pixels)
    return _png(np.round(colours).astype(np.uint8).reshape(side, side, 3))


def _png(pixels: np.ndarray) -> str:
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # each row begins with its filter, none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    chunks = (struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
              for kind, body in parts)  # fmt: skip
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode("ascii")
