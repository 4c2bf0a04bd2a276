"""The page: one file that loads nothing, text from the data is escaped, files are written atomically."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from lvq.inspection.importance import VariableImportances
from lvq.reports import Report, render
from lvq.reports import page as assets
from lvq.reports.charts import drawings

pytest.importorskip("jinja2", reason="the report needs lvq[report]")

NAMES = ("wdbc", "digits", "iris", "hostile")
VOID = {"meta", "input", "img", "br", "path", "wbr", "use", "image", "rect"}


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
def pages(html):
    return {name: Page(html[name]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_page_is_well_formed_small_and_loads_nothing(name, html, pages):
    assert html[name].lstrip().startswith("<!DOCTYPE html>")
    assert len(html[name].encode()) < 5e6
    assert pages[name].open == []
    for tag, attributes in pages[name].elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for attribute in ("src", "href", "action", "srcset", "xlink:href"):
            value = attributes.get(attribute)
            assert value is None or value.startswith(("#", "data:image/png;base64,")), (tag, attribute, value)
    styles = " ".join(str(attributes.get("style", "")) for _, attributes in pages[name].elements)
    assert re.findall(r"url\((?!#)|@import", assets._asset("report.css") + styles) == []
    (policy,) = [a["content"] for _, a in pages[name].elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


@pytest.mark.parametrize("name", NAMES)
def test_sections_landmarks_and_labels(name, pages):
    elements = pages[name].elements
    ids = [a["id"] for _, a in elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {"main", "map", "prototypes", "robustness", "training", "card"} <= set(ids)
    sections = [a["id"] for tag, a in elements if tag == "section"]
    assert sections == ["verdict", "decides", "sure", "data-section", "technical"]
    assert {"header", "main", "footer"} <= {tag for tag, _ in elements}
    for tag, attributes in elements:
        if tag == "img":
            assert attributes["alt"]
        for attribute in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(attribute) is None or attributes[attribute] in ids


def test_names_from_the_data_are_text(hostile, html, pages):
    html, shown = html["hostile"], pages["hostile"]
    name = hostile.report.context.title  # in notes too
    assert "<img src=x" not in html
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    assert [tag for tag, _ in shown.elements].count("script") == 2
    assert shown.text.count(name) >= 5  # heading, data, protocol, features, classes: complete and unchanged
    assert "{{ 7 * 7 }}" in shown.text  # the template does not evaluate the data


def test_the_verdict_comes_first(cases, pages):
    for name in NAMES:
        text, verdict = pages[name].text, cases[name].report.verdict
        places = [text.index(answer.text) for answer in verdict]
        assert places == sorted(places)
        assert places[-1] < text.index("How it decides")


def test_a_no_is_red(wdbc):
    bad = replace(wdbc.report, metrics=replace(wdbc.report.metrics, majority=0.99))
    classes = [a.get("class") for _, a in Page(render(bad)).elements]
    assert "banner bad" in classes
    assert "banner good" in [a.get("class") for _, a in Page(render(wdbc.report)).elements]


def test_only_features_that_the_intervals_support_are_named_as_important(wdbc):
    """By hand: the first two are supported, then none."""
    names = [f"feature {k}" for k in range(10)]
    supported, equal = np.array([0.4, 0.4, *[0.025] * 8]), np.full(10, 0.1)

    def changed(importances):
        resampled = np.repeat(importances[None], 20, axis=0)
        found = VariableImportances(np.array(names), importances, importances, 0.9, resampled)
        return replace(wdbc.report, relevance=found)

    text = Page(render(changed(supported))).text
    assert "90\xa0% intervals from 20 refits." in text
    assert "More important than the average, by more than chance: feature 0, feature 1." in text
    assert "No feature is more important than the average by more than chance" in Page(render(changed(equal))).text


def test_json_in_the_page_equals_the_summary(hostile, pages):
    data = json.loads(pages["hostile"].scripts["data"])
    assert data["classes"] == hostile.summary["data"]["classes"]
    assert data["rejection"] == hostile.summary["rejection"]


@pytest.mark.parametrize("name", NAMES)
def test_drawings_have_the_colours_of_the_page(name, cases):
    """Variables instead of colours, except for classes and pixels; nothing is loaded, no id is there twice."""
    found = drawings(cases[name].report)
    matrix = set() if cases[name].report.relevance is None else {"relevance", "matrix"}
    assert {"map", "curve", "calibration", "roc", "precision"} | matrix <= set(found)
    every = []
    for key, text in found.items():
        root = ElementTree.fromstring(text.replace("xlink:href", "href"))
        assert re.search(r"fill: var\(--(text|muted)\)", text)
        assert re.findall("(?:fill|stroke): (#16191d|#5a636d|#d6dce2|#000000)", text) == []
        assert key in ("map", "roc", "precision") or re.findall("(?:fill|stroke): #[0-9a-f]", text) == []
        links = [element.get("href") for element in root.iter() if element.get("href")]
        assert all(link.startswith(("#", "data:image/png")) for link in links)
        every += re.findall(' id="([^"]*)"', text)
    assert len(every) == len(set(every))


def test_the_rule_of_prediction_is_named(iris, pages):
    assert "The class of the nearest prototype is predicted." in pages["iris"].text
    posterior = replace(iris.report, model=replace(iris.report.model, by_posterior=True))
    assert "largest posterior over all prototypes is predicted" in Page(render(posterior)).text


def test_a_failed_write_keeps_the_old_file(iris, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(KeyboardInterrupt):
        iris.report.write(target)
    assert target.read_text() == "old"
    monkeypatch.undo()
    iris.report.write(target)
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_errors(iris, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        iris.report.write(tmp_path / "nowhere" / "report.html")
    with pytest.raises(ValueError, match="needs held-out samples, got none"):
        Report.of(iris.model, iris.X[:0], iris.y[:0])
