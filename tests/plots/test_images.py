"""Features that are pixels, and many small images in one array."""

import numpy as np
import pytest

from lvq.plots.images import image_grid, image_side, square_side


def test_square_side():
    assert [square_side(count) for count in (1, 4, 36, 63, 64, 65, 256, 784, 1000)] == [
        None, None, None, None, 8, None, 16, 28, None,
    ]  # fmt: skip


def test_names_of_pixels():
    assert image_side([f"pixel_{row}_{column}" for row in range(8) for column in range(8)]) == 8
    assert image_side([f"feature {k}" for k in range(784)]) == 28
    assert image_side(["age", "height"] + [f"v{k}" for k in range(62)]) is None
    assert image_side([f"v{k}" for k in range(30)]) is None
    assert image_side([str(k) for k in range(256)]) == 16
    assert image_side([f"r{row}c{column}" for row in range(8) for column in range(8)]) == 8
    assert image_side([f"abs_{k:03}" for k in range(100)]) is None  # a spectrum


@pytest.mark.parametrize("classes", [[0], [0, 0, 0, 1], list(range(40)), [0, 0, 1, 1, 2, 2], [0] * 130])
def test_image_grid(classes):
    images = np.arange(len(classes))[:, None] + np.zeros(6)
    grid = image_grid(images, classes, (2, 3))
    for value, (x, y) in zip(range(len(classes)), grid.labels):
        top = int(y + 1.5)
        assert (grid.pixels[top : top + 2, int(x) - 1 : int(x) + 2] == value).all()
