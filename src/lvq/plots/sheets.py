"""Many small images on one sheet, with room for a label above each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lvq.plots.models import square_side
from lvq.robustness import Floats


class Sheet(NamedTuple):
    """Pixels, NaN between the images; where labels go, as (x, y) in pixels; and how many images stand side by side."""

    pixels: Floats
    labels: list[tuple[float, float]]
    columns: int


def contact_sheet(values: Any, classes: Any, shape: tuple[int, int] | None = None) -> Sheet:
    """Rows of values as images: a column for each class where that fits, else line by line.

    Parameters
    ----------
    values : array-like of shape (n_images, n_pixels)
        The images, row by row of pixels.
    classes : array-like of shape (n_images,)
        Class index of each image; ascends.
    shape : tuple of int, optional
        Height and width; by default a square.

    Returns
    -------
    sheet : Sheet

    Examples
    --------
    >>> page = contact_sheet(np.ones((2, 6)), [0, 1], shape=(2, 3))
    >>> page.pixels.shape, page.columns
    ((3, 7), 2)
    """
    images = np.asarray(values, dtype=np.float64)
    height, width = image_shape(images.shape[1], shape)
    places, rows, columns = _places(np.asarray(classes))
    above, beside = max(1, round(0.3 * height)), max(1, round(0.12 * width))
    pixels = np.full((rows * (height + above), columns * (width + beside) - beside), np.nan)
    labels = []
    for image, (row, column) in zip(images, places):
        top, left = row * (height + above) + above, column * (width + beside)
        pixels[top : top + height, left : left + width] = image.reshape(height, width)
        labels.append((left + (width - 1) / 2, top - 0.5 - 0.5 * above))
    return Sheet(pixels, labels, columns)


def image_shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of an image of so many pixels: a square, or the shape given."""
    side = square_side(count)
    if shape is None and side is None:
        raise ValueError(
            f"images need features that make a square of 8 x 8 or more, got {count}; give "
            "image_shape=(height, width), or take kind='table'."
        )
    height, width = shape if shape is not None else (side or 0, side or 0)
    if height * width != count:
        raise ValueError(f"image_shape must make {count} features, got {height} x {width}.")
    return int(height), int(width)


def _places(classes: Any) -> tuple[list[tuple[int, int]], int, int]:
    """Row and column of each image, and how many there are of either."""
    present, counts = np.unique(classes, return_counts=True)
    if len(set(counts.tolist())) == 1 and 1 < counts[0] <= 10 and len(present) <= 15:
        column = np.searchsorted(present, classes)
        row = np.arange(len(classes)) - np.searchsorted(classes, classes)
        return list(zip(row.tolist(), column.tolist())), int(counts[0]), len(present)
    columns = len(classes) if len(classes) <= 6 else int(np.ceil(np.sqrt(1.6 * len(classes))))
    return [divmod(k, columns) for k in range(len(classes))], -(-len(classes) // columns), columns
