"""Docstrings as reStructuredText: marks that it would read as markup, and methods that scikit-learn documents."""

import re

from sphinx.application import Sphinx


def escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Bars, as in |x - w|, and fitted attributes, as in n_iter_; not in code."""
    literal: int | None = None  # indentation of the line before a literal block
    code = False
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if not code and literal is None:
            parts = re.split(r"(``.*?``|`[^`]*`_?)", line)
            parts[::2] = [re.sub(r"(?<![\w\\])([A-Za-z]\w*)_(?!\w)", r"\1\\_", part) for part in parts[::2]]
            parts[::2] = [re.sub(r"(?<!\\)\|", r"\\|", part) for part in parts[::2]]
            lines[number] = "".join(parts)
            if line.rstrip().endswith("::") or line.strip().startswith(".. "):
                literal = indent


def skip(app: Sphinx, what: str, name: str, obj: object, skipped: bool, options: object) -> bool | None:
    """Leave out what scikit-learn adds: its own documentation describes it."""
    inherited = str(getattr(obj, "__module__", "")).startswith("sklearn")
    request = name.startswith("set_") and name.endswith("_request")
    return True if inherited or request else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
