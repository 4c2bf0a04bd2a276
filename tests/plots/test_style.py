"""Colours and markers that distinguish classes, and texts of limited length."""

import re
from itertools import pairwise

import pytest

from lvq.plots.style import (
    class_colours,
    class_markers,
    short_name,
    short_names,
)


@pytest.mark.parametrize("count", [2, 8, 9, 30])
def test_classes_differ(count):
    assert len(set(class_colours(count))) == count
    assert len(set(zip(class_colours(count), class_markers(count)))) == count
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in class_colours(count))


def test_neighbours_differ_without_colour():
    markers = class_markers(60)
    assert all(here != there for here, there in pairwise(markers))


def luminance(colour):
    """Relative luminance of a colour, by the sRGB weights."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def test_repeated_colours_are_lighter_or_darker():
    colours = class_colours(30)
    for first in range(8):
        same = [luminance(colours[k]) for k in range(first, 30, 8)]
        same.sort()
        assert all(after - before > 0.02 for before, after in pairwise(same))


def test_short_name():
    assert short_name("x" * 100, 21) == "x" * 10 + "…" + "x" * 10
    assert short_name("two\nlines") == "two lines"
    assert short_name("a $ sign") == r"a \$ sign"
    assert short_name("_private") == " _private"


@pytest.mark.parametrize("length", [6, 12, 24])
def test_short_names_differ(length):
    alike = [f"class number {k} of the thirty classes" for k in range(30)]
    shown = short_names(alike, length)
    assert len(set(shown)) == 30
    assert all(len(name) <= length for name in shown)
    assert short_names(["a", "a", "b"]) == ["a", "a", "b"]  # the same name is the same name
    long = ["x" * 50 + middle + "y" * 50 for middle in ("a" * 40, "a" * 19 + "b" + "a" * 20)]
    assert len(set(short_names(long, 12))) == 2
