"""Colours and markers that distinguish classes, and texts of limited length."""

import re

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
