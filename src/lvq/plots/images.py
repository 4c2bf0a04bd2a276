"""Prototypes as images: whether the features are pixels, and many small images in one array."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.input_columns import default_names
from lvq.original_features import Floats


def square_side(n_features: int) -> int | None:
    """Side of the square that the features fill as pixels; None for other counts, or fewer than 64 features.

    Examples
    --------
    >>> square_side(784), square_side(64), square_side(36), square_side(30)
    (28, 8, None, None)
    """
    side = int(np.sqrt(n_features) + 0.5)
    return side if side >= 8 and side * side == n_features else None


def image_side(names: Iterable[str]) -> int | None:
    """`square_side`, but None where the names of the features are not those of pixels.

    Pixels are features without names, features with "pixel" in their names, or features numbered by row and column.
    Other numbered features, such as the bands of a spectrum, are not.

    Examples
    --------
    >>> image_side([f"pixel_{k}" for k in range(64)]), image_side([f"band_{k}" for k in range(64)])
    (8, None)
    """
    names = list(names)
    without_numbers = {re.sub(r"\d+", "#", name.lower()) for name in names}
    if len(without_numbers) != 1:
        return None
    (form,) = without_numbers
    unnamed = form in ("#", default_names(1)[0].replace("0", "#"))
    return square_side(len(names)) if unnamed or "pix" in form or "px" in form or form.count("#") == 2 else None


class ImageGrid(NamedTuple):
    """Pixels of all images, NaN between them; the place of each label as (x, y) in pixels; images per row."""

    pixels: Floats
    labels: list[tuple[float, float]]
    columns: int


def image_grid(values: ArrayLike, classes: ArrayLike, shape: tuple[int, int] | None = None) -> ImageGrid:
    """Rows of values as images: one column for each class where that fits, else row by row.

    Parameters
    ----------
    values : array-like of shape (n_images, n_pixels)
        The images, row by row of pixels.
    classes : array-like of shape (n_images,)
        Class index of each image, ascending.
    shape : tuple of int, optional
        Height and width; by default a square.

    Returns
    -------
    grid : ImageGrid

    Examples
    --------
    >>> grid = image_grid(np.ones((2, 6)), [0, 1], shape=(2, 3))
    >>> grid.pixels.shape, grid.columns
    ((3, 7), 2)
    """
    images = np.asarray(values, dtype=np.float64)
    height, width = _image_shape(images.shape[1], shape)
    places, rows, columns = _places(np.asarray(classes))
    above, beside = max(1, round(0.3 * height)), max(1, round(0.12 * width))
    pixels = np.full((rows * (height + above), columns * (width + beside) - beside), np.nan)
    labels = []
    for image, (row, column) in zip(images, places):
        top, left = row * (height + above) + above, column * (width + beside)
        pixels[top : top + height, left : left + width] = image.reshape(height, width)
        labels.append((left + (width - 1) / 2, top - 0.5 - 0.5 * above))
    return ImageGrid(pixels, labels, columns)


def _image_shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of an image of so many pixels: the shape given, or a square."""
    side = square_side(count)
    if shape is None and side is None:
        raise ValueError(
            f"kind='image' of PrototypeDisplay needs features that fill a square of 8 x 8 or more, got {count}; give "
            "image_shape=(height, width), or use kind='table'."
        )
    height, width = shape if shape is not None else (side or 0, side or 0)
    if height * width != count:
        raise ValueError(
            f"image_shape of PrototypeDisplay must have a product of {count}, the number of features, got "
            f"{height} x {width}."
        )
    return int(height), int(width)


def _places(classes: NDArray[np.intp]) -> tuple[list[tuple[int, int]], int, int]:
    """Row and column of each image, and the number of rows and columns."""
    present, counts = np.unique(classes, return_counts=True)
    if len(set(counts.tolist())) == 1 and 1 < counts[0] <= 10 and len(present) <= 15:
        column = np.searchsorted(present, classes)
        row = np.arange(len(classes)) - np.searchsorted(classes, classes)
        return list(zip(row.tolist(), column.tolist())), int(counts[0]), len(present)
    columns = len(classes) if len(classes) <= 6 else int(np.ceil(np.sqrt(1.6 * len(classes))))
    return [divmod(k, columns) for k in range(len(classes))], -(-len(classes) // columns), columns
