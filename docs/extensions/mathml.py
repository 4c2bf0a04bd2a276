"""Formulas as MathML, which browsers draw themselves: the pages need no script from the network."""

from docutils.nodes import Element, SkipNode
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(translator: HTML5Translator, node: Element) -> None:
    translator.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def block(translator: HTML5Translator, node: Element) -> None:
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
