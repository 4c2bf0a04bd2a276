"""The directive `picture`: a picture of an example, for light and for dark pages, with a link to its code.

    ```{picture} reject 1
    What it shows.
    ```

is the first picture of `examples/plot_reject.py`. The directive `study-picture` takes the name of a picture of
docs/studies/images, which `python tools/studies.py --write` makes, and has no link.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Picture(SphinxDirective):
    """Two images, of which a page shows one, and a caption."""

    required_arguments = 1
    optional_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        example, number = f"plot_{self.arguments[0]}", int((*self.arguments, 1)[1])
        text = " ".join(self.content)
        images = for_two_themes(f"/gallery/images/sphx_glr_{example}_{number:03d}", "_dark", text)
        caption = nodes.paragraph(classes=["picture-caption"])
        link = addnodes.pending_xref(
            refdomain="std", reftype="doc", reftarget=f"/gallery/{example}", refexplicit=True, refwarn=True
        )
        link["refdoc"] = self.env.docname
        link += nodes.inline("", "Code of the picture")
        caption += [nodes.Text(f"{text} " if text else ""), link]
        return [*images, caption]


class StudyPicture(SphinxDirective):
    """The same for a picture of a study."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        text = " ".join(self.content)
        images = for_two_themes(f"/studies/images/{self.arguments[0]}", "-dark", text)
        return [*images, nodes.paragraph("", text, classes=["picture-caption"])]


def for_two_themes(place: str, ending: str, text: str) -> list[nodes.Node]:
    """Two images, of which a page shows one; `ending` is that of the dark one's name."""
    kinds = {"": "only-light", ending: "only-dark"}
    return [
        nodes.image(uri=f"{place}{end}.png", alt=text, classes=["example-picture", kind]) for end, kind in kinds.items()
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    app.add_directive("study-picture", StudyPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
