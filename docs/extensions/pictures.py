"""The directive `picture`: a picture of an example, for light and for dark pages, with a link to its code.

    ```{picture} reject 1
    What it shows.
    ```

is the first picture of `examples/plot_reject.py`.
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
        images = []
        for end, kind in ("", "only-light"), ("_dark", "only-dark"):
            place = f"/gallery/images/sphx_glr_{example}_{number:03d}{end}.png"
            images.append(nodes.image(uri=place, alt=text, classes=["example-picture", kind]))
        caption = nodes.paragraph(classes=["picture-caption"])
        link = addnodes.pending_xref(
            refdomain="std", reftype="doc", reftarget=f"/gallery/{example}", refexplicit=True, refwarn=True
        )
        link["refdoc"] = self.env.docname
        link += nodes.inline("", "Code of the picture")
        caption += [nodes.Text(f"{text} " if text else ""), link]
        return [*images, caption]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
