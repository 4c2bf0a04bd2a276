"""Annotations: `Any` has a name and a reason, in `lvq.typing`, and is used nowhere else in the package."""

import ast
import re
from contextlib import suppress
from pathlib import Path

import pytest

import lvq

PACKAGE = Path(lvq.__file__).parent
ALIASES = PACKAGE / "typing.py"
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != ALIASES)
EXCUSED = re.compile(r"# noqa: ANN401 - \S+ \S+")  # with a reason; ruff finds those that excuse nothing


def quoted(tree):
    """Annotations that are strings, as expressions at the lines of the strings; other texts in them are left out."""
    parts = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    for node in (node for part in parts if part is not None for node in ast.walk(part)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            with suppress(SyntaxError):
                yield ast.increment_lineno(ast.parse(node.value), node.lineno - 1)


def uses_of_any(source):
    """Lines that use `Any`, in annotations or elsewhere; its imports do not count."""
    tree = ast.parse(source)
    nodes = [node for part in (tree, *quoted(tree)) for node in ast.walk(part)]
    names = [(getattr(node, "id", getattr(node, "attr", "")), node) for node in nodes]
    return sorted({node.lineno for name, node in names if name == "Any"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_any_has_a_name(path):
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    found = [f"{path.name}:{line}: {lines[line - 1].strip()}" for line in uses_of_any(source)]
    found = [text for text in found if not EXCUSED.search(text)]
    assert not found, "\n".join(["give the type, or a name of lvq.typing that says why there is none:", *found])


def test_every_alias_says_why():
    """An assignment with a type, then its description, then the next; each is used by the package."""
    body = ast.parse(ALIASES.read_text(encoding="utf-8")).body
    start = next(index for index, node in enumerate(body) if isinstance(node, ast.AnnAssign))
    aliases, descriptions = body[start::2], body[start + 1 :: 2]
    assert all(isinstance(alias, ast.AnnAssign) and alias.annotation.id == "TypeAlias" for alias in aliases)
    assert len(descriptions) == len(aliases)
    assert all(len(description.value.value) > 20 for description in descriptions)
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    unused = [alias.target.id for alias in aliases if not re.search(rf"(: |[|\[] ?|-> ){alias.target.id}\b", text)]
    assert unused == []


def test_what_counts_as_a_use():
    """The rule itself: a rule that finds nothing would pass every module."""
    source = """
import typing
from typing import Any
"Any text"
def function(a: dict[str, Any], *b: typing.Any, c: "list[Any]" = ()) -> int: ...
def other() -> "Any": ...
value: list[int] = [
    Any,
]
Alias = tuple[Any, ...]
"""
    assert uses_of_any(source) == [5, 6, 8, 10]
    assert EXCUSED.search("def f() -> Any:  # noqa: ANN401 - known only there")
    assert not EXCUSED.search("def f() -> Any:  # noqa: ANN401")
