"""Features that are pixels, and many small images in one array."""

import numpy as np
import pytest

from lvq.plots.images import image_grid, image_side, pixel_places, square_side


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


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("kind", ["pairs", "numbers"])
def test_places_of_pixels_where_some_are_left_out(first, kind):
    """Constant pixels at the edges and inside; the others are at their places."""
    kept = np.setdiff1d(np.arange(64), [0, 7, 20])
    if kind == "pairs":
        names = [f"pixel_{k // 8 + first}_{k % 8 + first}" for k in kept]
    else:
        names = [f"pixel{k + first}" for k in kept]
    found = pixel_places(names)
    assert found.side == 8
    assert found.places.tolist() == kept.tolist()
    image = found.whole(np.ones((1, len(kept))))
    assert np.flatnonzero(image[0]).tolist() == kept.tolist()


def test_no_places_for_other_features():
    assert pixel_places([f"band_{k}" for k in range(60)]) is None
    assert pixel_places([f"channel {k // 6} band {k % 6}" for k in range(60)]) is None  # far from a square
    assert pixel_places([f"pixel_{k}" for k in range(0, 600, 10)]) is None  # most pixels are missing
    assert pixel_places(["width", "height"]) is None
