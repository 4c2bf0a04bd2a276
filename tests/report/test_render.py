"""The page: one file, nothing loaded, whatever comes from the data is text, and nothing half-written."""

import base64
import json
import re
import struct
import sys
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from lvq.report import images, page, render, write
from lvq.report.charts import specifications

pytest.importorskip("vl_convert", reason="the report needs lvq[report]")
pytest.importorskip("jinja2", reason="the report needs lvq[report]")

VOID = {"meta", "input", "img", "br", "path"}


class Page(HTMLParser):
    """Elements with their attributes, the text outside scripts, and the contents of scripts."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.scripts, self.open = [], "", {}, []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            self.scripts[self.open[-1][1]] = self.scripts.get(self.open[-1][1], "") + data
        elif not self.open or self.open[-1][0] != "style":
            self.text += data


@pytest.fixture(scope="module")
def pages(wdbc, digits, iris, nasty):
    return {name: Page(render(case.summary)) for name, case in
            {"wdbc": wdbc, "digits": digits, "iris": iris, "nasty": nasty}.items()}  # fmt: skip


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris", "nasty"])
def test_well_formed_and_small(case, request):
    html = render(request.getfixturevalue(case).summary)
    assert html.lstrip().startswith("<!DOCTYPE html>")
    assert len(html.encode()) < 5e6
    assert Page(html).open == []


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris", "nasty"])
def test_nothing_is_loaded(case, pages):
    for tag, attributes in pages[case].elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "action", "srcset", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/png;base64,")), (tag, name, value)
    assert re.findall(r"url\(|@import", page._asset("report.css") + styles_of(pages[case])) == []
    (policy,) = [a["content"] for t, a in pages[case].elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def styles_of(shown):
    return " ".join(str(attributes.get("style", "")) for _, attributes in shown.elements)


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris", "nasty"])
def test_sections_landmarks_and_labels(case, pages):
    elements = pages[case].elements
    ids = [a["id"] for _, a in elements if "id" in a]
    assert len(ids) == len(set(ids))
    sections = {"summary", "answers", "relevance", "prototypes", "explanations", "robustness", "training", "card"}
    assert sections <= set(ids)
    assert {"header", "nav", "main", "footer"} <= {tag for tag, _ in elements}
    links = {a["href"][1:] for tag, a in elements if tag == "a"}
    assert links <= set(ids)
    for tag, attributes in elements:
        if tag == "img":
            assert attributes["alt"]
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(name) is None or attributes[name] in ids


def test_names_from_the_data_are_text(nasty, pages):
    html, shown = render(nasty.summary), pages["nasty"]
    name = nasty.summary["name"]
    assert "<img src=x" not in html
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    assert [tag for tag, _ in shown.elements].count("script") == 4
    assert shown.text.count(name) >= 5  # heading, data, protocol, features, classes: whole and unchanged
    assert "{{ 7 * 7 }}" in shown.text  # templates do not read the data


def test_notes_on_the_table_are_told(iris):
    shown = Page(render(iris.summary | {"notes": ["7 rows repeat another one.", "<i>odd</i>"]}))
    assert "7 rows repeat another one. <i>odd</i>" in shown.text


def test_folds_without_rejection_have_no_empty_columns(wdbc):
    plain = wdbc.summary["folds"] | {"coverage": [None] * 3, "accepted_accuracy": [None] * 3}
    assert "accuracy of these" not in Page(render(wdbc.summary | {"folds": plain})).text
    known = plain | {"coverage": [None, 0.9, 0.8], "accepted_accuracy": [None, 1.0, 0.95]}
    assert "accuracy of these" in Page(render(wdbc.summary | {"folds": known})).text


def test_the_summary_tells_how_stable_its_features_are(wdbc, pages):
    count = wdbc.summary["relevance"]["in_top"][0]
    assert f"among the first five in {count} of 3 folds" in pages["wdbc"].text


def test_json_in_the_page_is_the_summary_s(nasty, pages):
    data = json.loads(pages["nasty"].scripts["data"])
    assert data["classes"] == nasty.summary["data"]["classes"]
    assert data["features"] == nasty.summary["data"]["features"]
    assert data["rejection"] == nasty.summary["rejection"]
    charts = json.loads(pages["nasty"].scripts["charts"])
    assert set(charts) == {"map", "curve", "relevance", "matrix", "certified", "history"}


def test_a_summary_read_back_from_its_json_renders_the_same(iris):
    assert render(json.loads(json.dumps(iris.summary))) == render(iris.summary)


def test_charts_are_valid_vega_lite(wdbc):
    altair = pytest.importorskip("altair")
    for spec in specifications(wdbc.summary).values():
        altair.Chart.from_dict(spec | {"$schema": "https://vega.github.io/schema/vega-lite/v6.json"}, validate=True)


def test_pictures_are_png():
    def decoded(uri):
        raw = base64.b64decode(uri.partition(",")[2])
        size = struct.unpack(">I", raw[33:37])[0]
        rows = zlib.decompress(raw[41 : 41 + size])
        return np.frombuffer(rows, dtype=np.uint8).reshape(2, 7)[:, 1:].reshape(2, 2, 3)

    grey = decoded(images.data_uri([-1.0, 1.0, 2.0, 4.0], 2, (0.0, 4.0)))
    assert grey[..., 0].tolist() == [[255, 191], [127, 0]]
    both = decoded(images.signed_data_uri([-1.0, 0.0, 0.0, 1.0], 2))
    assert both[0, 0].tolist() == list(images.AGAINST)
    assert both[0, 1].tolist() == [255, 255, 255]
    assert both[1, 1].tolist() == list(images.FOR)


def test_write_replaces_and_leaves_nothing_else(iris, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    write(iris.summary, target)
    assert target.read_text(encoding="utf-8") == render(iris.summary)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_failed_write_keeps_the_old_file(iris, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(KeyboardInterrupt):
        write(iris.summary, target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_refusals(iris, tmp_path):
    with pytest.raises(ValueError, match="must be a dictionary from summarize of format 1, got 2"):
        render(iris.summary | {"format": 2})
    with pytest.raises(ValueError, match="of format 1, got 'list'"):
        render([])
    with pytest.raises(FileNotFoundError, match="for the report does not exist; make it first"):
        write(iris.summary, tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize(("package", "told"), [("jinja2", "Jinja2"), ("vl_convert", "vl-convert-python")])
def test_missing_packages_are_named(package, told, iris, monkeypatch):
    page._environment.cache_clear()
    page._library.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {told}, which is not installed. Install it with: pip install"):
        render(iris.summary)
