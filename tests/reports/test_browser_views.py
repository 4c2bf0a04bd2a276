"""New views in a browser: curves, categories, many classes, left-out pixels, the printed summary."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, LVQClassifier
from lvq.model.relevance import Matrix
from lvq.reports import Context, Report
from lvq.solvers.lbfgs import LBFGS

pytest.importorskip("vl_convert", reason="the report needs lvq[report]")
pytest.importorskip("jinja2", reason="the report needs lvq[report]")
playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="browser tests need Chromium on the path")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a report; the test fails if the page logs an error."""
    problems, contexts = [], []

    def open_report(report, width=1280):
        report.write(tmp_path / "page.html")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}))
        page = contexts[-1].new_page()
        page.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_selector("html[data-ready=true]", timeout=15_000)
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert problems == []


def test_spectra_are_curves(opened):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = np.cumsum(rng.normal(size=(90, 120)), axis=1) + 3.0 * y[:, None]
    names = [f"{850 + 2 * k} nm" for k in range(120)]
    model = make_pipeline(
        StandardScaler(), GMLVQ(relevance=Matrix(rank=2), n_prototypes=2, solver=LBFGS(tol=1e-2), random_state=0)
    ).fit(X, y)
    report = Report.of(model, X, y, feature_names=names)
    page = opened(report)
    assert page.locator("[data-chart=relevance], [data-chart=matrix]").count() == 0
    assert page.locator("[data-chart=importance-curve] .mark-area path").count() >= 1
    assert page.locator("[data-chart=prototype-curves] .mark-line path").count() == 4
    assert page.locator("[data-chart=matrix-curve] .mark-rect path").count() == 60 * 60
    assert "nm" in page.locator("[data-chart=importance-curve] .role-axis-title text").all_text_contents()
    phone = opened(report, 360)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360


def test_fifty_classes_have_different_marks_and_natural_order(opened):
    X, codes = make_blobs(600, 4, centers=50, cluster_std=1, random_state=0)
    y = np.array([f"class {code + 1}" for code in codes])
    model = GLVQ(solver=LBFGS(tol=1e-1), random_state=0).fit(X, y)
    page = opened(Report.of(model, X, y))
    page.locator("details.legend").evaluate("element => { element.open = true; }")
    names = page.locator("details.legend li").all_inner_texts()
    assert [name.strip() for name in names] == [f"class {k}" for k in range(1, 51)]
    marks = page.locator("details.legend li path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d') + getComputedStyle(path).fill)"
    )
    assert len(set(marks)) == 50
    options = page.locator("#only option").all_inner_texts()[1:]
    assert [option.strip() for option in options] == [f"class {k}" for k in range(1, 51)]


def test_the_decision_slider_of_fifty_classes(opened):
    X, codes = make_blobs(600, 4, centers=50, cluster_std=3, random_state=0)
    y = np.array([f"class {code + 1}" for code in codes])
    report = Report.of(
        LVQClassifier(n_prototypes=1, relevance=None, solver=LBFGS(tol=1e-1), random_state=0).fit(X, y), X, y
    )
    summary, page = report.to_json(), opened(report)
    steps = summary["decisions"]
    assert len(steps["factors"]) == 13
    assert steps["factors"][steps["in_use"]] == 1
    page.select_option("#decision-class", label="class 7")
    page.evaluate("s => { s.value = s.max; s.dispatchEvent(new Event('input')); }", page.query_selector("#decision"))
    moved = summary["data"]["classes"].index("class 7")
    correct, total = steps["correct"][steps["classes"].index(moved)][-1][moved], steps["totals"][moved]
    cell = page.inner_text(f'#by-decision td[data-metric="sensitivity"][data-class="{moved}"]')
    assert f"{correct} of {total}" in cell
    assert correct > steps["correct"][0][steps["in_use"]][moved]
    assert page.inner_text("#decision-step") == "64 times"


def test_pictures_where_pixels_were_left_out(opened):
    X, y = load_digits(return_X_y=True, as_frame=True)
    X = X.loc[:, X.nunique() > 1]
    model = make_pipeline(StandardScaler(), GLVQ(solver=LBFGS(tol=0.5), random_state=0)).fit(X, y)
    page = opened(Report.of(model, X, y))
    images = page.locator("#prototypes .images img")
    assert images.count() == 10
    assert set(images.evaluate_all("images => images.map(image => image.naturalWidth)")) == {8}


def test_the_summary_prints_on_one_page(opened, wdbc, many_classes):
    for report in (wdbc.report, many_classes.report):
        page = opened(report)
        assert not page.locator("#one-page").is_visible()
        page.evaluate("window.print = () => { window.printed = document.documentElement.dataset.print; }")
        page.get_by_role("button", name="Print summary").click()
        assert page.evaluate("window.printed") == "summary"
        assert page.evaluate("document.documentElement.dataset.print") is None  # the whole page prints as before
        page.evaluate("document.documentElement.dataset.print = 'summary'")
        page.emulate_media(media="print")
        assert page.locator("#one-page").is_visible()
        assert page.locator("#rejection, #card, footer").filter(visible=True).count() == 0
        text = page.locator("#one-page").inner_text()
        assert f"{100 * report.metrics.accuracy.value:.1f} %" in text
        assert "Limits" in text
        document = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page[^s]", document)) == 1


def test_terms_are_on_the_page(opened, iris):
    page = opened(iris.report)
    page.get_by_role("link", name="About", exact=True).click()
    shown = page.locator("#about dt").all_inner_texts()
    assert {"Accuracy", "Prototype", "Certainty", "Coverage", "Importance", "Lambda"} <= set(shown)
    assert len(shown) == page.locator("#about dd").count()


def test_rows_as_a_spreadsheet_counts_them(opened):
    X, y = make_blobs(60, 3, centers=2, cluster_std=4, random_state=0)
    model = GLVQ(random_state=0).fit(X, y)
    rows = pd.DataFrame(X, index=range(2, len(X) + 2))
    page = opened(Report.of(model, rows, y, context=Context(row_names="The header is row 1.")))
    least = int(np.argmin(model.explain(X).certainty))
    page.locator("#sample").fill("1")
    assert f"Sample {least + 2}:" in page.locator("#detail").inner_text()
    assert "header is row 1" in page.locator("#explanations").inner_text()


def test_categories_are_one_row_with_their_fractions(opened):
    rng = np.random.default_rng(0)
    y = rng.choice(["gull", "tern"], 90)
    X = pd.DataFrame(
        {
            "island": np.where(rng.random(90) < 0.7, np.where(y == "gull", "North", "South"), "East"),
            "bill": 30 + 5 * (y == "gull") + rng.normal(size=90),
        }
    )
    steps = make_column_transformer((StandardScaler(), ["bill"]), (OneHotEncoder(sparse_output=False), ["island"]))
    model = make_pipeline(steps, GMLVQ(solver=LBFGS(tol=1e-2), random_state=0)).fit(X, y)
    report = Report.of(model, X, y)
    summary, page = report.to_json(), opened(report)
    table = page.get_by_role("region", name="Table of prototypes")
    assert table.locator("tbody th .name").all_text_contents() == summary["prototypes"]["features"]
    island = table.locator("tr", has=page.locator(".name", has_text="island")).locator(".bar")
    assert [island.nth(k).inner_text().split()[0] for k in range(2)] == ["North", "South"]
    assert re.search(r"North \d+\s%", island.first.get_attribute("title"))
    page.locator("#sample").fill("1")
    page.locator("#sample").press("Enter")
    assert re.search(r"island = (North|South|East): ", page.locator("#detail").inner_text())
    phone = opened(report, 360)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
