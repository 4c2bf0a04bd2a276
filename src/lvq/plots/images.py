"""Prototypes as images: whether the features are pixels, and many small images in one array."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.inspection.steps import Floats, default_names


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


class PixelPlaces(NamedTuple):
    """Side of a square image, and the place of each feature in it, counted row by row."""

    side: int
    places: NDArray[np.intp]

    def whole(self, values: Floats, missing: float = 0.0) -> Floats:
        """Whole images of the features, with a given value for pixels that are no features."""
        images = np.full((len(values), self.side**2), missing)
        images[:, self.places] = values
        return images


def pixel_places(names: Iterable[str]) -> PixelPlaces | None:
    """Where the features are in an image of which some pixels may be left out, as constant ones are; else None.

    Names have the row and column of a pixel, or "pixel" and its number. At least half of the pixels must be there.

    Examples
    --------
    >>> pixel_places([f"pixel_{k // 8}_{k % 8}" for k in range(1, 64)]).places[:3].tolist()
    [1, 2, 3]
    """
    names = list(names)
    side = image_side(names)
    if side is not None:
        return PixelPlaces(side, np.arange(len(names)))
    forms = {re.sub(r"\d+", "#", name.lower()) for name in names}
    form = forms.pop() if len(forms) == 1 else ""
    pairs = form.count("#") == 2
    if not pairs and not (form.count("#") == 1 and ("pix" in form or "px" in form)):
        return None
    numbers = np.array([[int(number) for number in re.findall(r"\d+", name)] for name in names])
    if pairs:
        numbers -= 0 if (numbers == 0).any() else 1  # rows and columns are counted from 0 or from 1
        side = int(numbers.max()) + 1
        places = numbers[:, 0] * side + numbers[:, 1]
        square = abs(int(numbers[:, 0].max()) - int(numbers[:, 1].max())) <= 2
    else:
        last = int(numbers.max())
        side = int(np.ceil(np.sqrt(last)))
        places = numbers[:, 0] - (1 if last == side**2 else 0)  # counted from 1 where the last number shows it
        square = True
    if not square or side < 8 or 2 * len(names) < side**2 or len(np.unique(places)) < len(names):
        return None
    return PixelPlaces(side, places)


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
