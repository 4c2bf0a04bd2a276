"""Images as data URIs, and messages about packages that are not installed."""

import base64
import io
import sys

import numpy as np
import pytest

from lvq.report import assets

CALLS = {
    "jinja2": ("Jinja2", assets.environment),
    "vl_convert": ("vl-convert-python", assets.drawing_library),
    "PIL.Image": ("Pillow", lambda: assets.image_uri([0.0], 1, (0.0, 1.0))),
}


def decoded(uri):
    """The pixels of a data URI."""
    image = pytest.importorskip("PIL.Image", reason="the report needs lvq[report]")
    return np.asarray(image.open(io.BytesIO(base64.b64decode(uri.removeprefix("data:image/png;base64,")))))


def test_grey_images_go_from_white_to_black():
    assert decoded(assets.image_uri([-1.0, 1.0, 2.0, 4.0], 2, (0.0, 4.0))).tolist() == [[255, 191], [127, 0]]
    assert decoded(assets.image_uri([3.0] * 4, 2, (3.0, 3.0))).tolist() == [[255, 255], [255, 255]]


def test_signed_images_go_from_orange_to_blue():
    pixels = decoded(assets.signed_image_uri([-1.0, 0.0, 0.0, 1.0], 2))
    assert pixels[0, 0].tolist() == list(assets.NEGATIVE)
    assert pixels[0, 1].tolist() == [255, 255, 255]
    assert pixels[1, 1].tolist() == list(assets.POSITIVE)


@pytest.mark.parametrize("module", CALLS)
def test_missing_packages_are_named(module, monkeypatch):
    package, call = CALLS[module]
    assets.environment.cache_clear()
    assets.drawing_library.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {package}, which is not installed. Install it with: pip install"):
        call()
