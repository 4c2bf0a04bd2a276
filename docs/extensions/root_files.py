"""Files outside of docs/ as pages: a page of these names holds what its file holds, and examples are in the gallery.

So pages have links that work where they are read as files, too.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

FILES = {
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "releasing": "RELEASING.md",
}

EXAMPLE = re.compile(r"\]\(\.\./((?:\.\./)*)examples/(plot_\w+)\.py\)")


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the source of such a page by its file, with links from docs/; and links to examples by their pages."""
    source[0] = EXAMPLE.sub(r"](\1gallery/\2.rst)", source[0]).replace("](../examples)", "](gallery/index.rst)")
    if page not in FILES:
        return
    path = Path(app.srcdir).parent / FILES[page]
    app.env.note_dependency(str(path))
    text = path.read_text(encoding="utf-8").replace("](docs/", "](")
    for name, file in FILES.items():
        text = re.sub(rf"\]\({re.escape(file)}", f"]({name}.md", text)
    source[0] = text


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
