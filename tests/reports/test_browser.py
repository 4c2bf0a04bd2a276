"""The report in a browser, opened from disk: charts, sliders, tooltips, layout, print, and no requests."""

import re
import shutil

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the report needs lvq[report]")
playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="browser tests need Chromium on the path")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip
DESK = {"width": 1280, "height": 900}
PRINT = {"width": 700, "height": 1030}  # A4 without its margins


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def folder(html, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    for name, text in html.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def problems():
    """Errors, warnings, dialogs and requests of all pages since the last test."""
    return []


@pytest.fixture(scope="module")
def new_page(browser, folder, problems):
    contexts = []

    def open_report(name, viewport=DESK, **context):
        contexts.append(browser.new_context(viewport=viewport, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else problems.append(sent.url))
        page.goto((folder / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready=true]", timeout=15_000)
        return page

    yield open_report
    for context in contexts:
        context.close()


@pytest.fixture
def opened(new_page, problems):
    """Opens a new page; the test fails if a page logs an error, sends a request or opens a dialog."""
    yield new_page
    found = problems.copy()
    problems.clear()
    assert found == []


@pytest.fixture
def written(opened, folder):
    """Writes the page of a report and opens it."""

    def open_report(report, width=1280):
        report.write(folder / "written.html")
        return opened("written", {"width": width, "height": 900})

    return open_report


@pytest.fixture(scope="module")
def pages():
    return {}


@pytest.fixture
def shared(opened, pages):
    """The page of a case that several tests use; each sets the state that it reads."""

    def page_of(name):
        if name not in pages:
            pages[name] = opened(name)
        pages[name].emulate_media(media="screen", color_scheme="light")
        pages[name].set_viewport_size(DESK)
        return pages[name]

    return page_of


def move_to(page, position):
    page.locator("#position").evaluate(
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", position
    )


def numbers(page):
    return {name: page.locator(f"#{name}").inner_text() for name in ("coverage", "accuracy", "n-rejected", "n-errors")}


def cells(page):
    rows = page.locator("#confusion tbody tr").all()
    return [[int(text) for text in row.locator("td").all_inner_texts()] for row in rows]


@pytest.mark.parametrize("name", ["wdbc", "digits", "hostile", "many_classes"])
def test_draws_all_charts_and_prints(name, shared, cases):
    page = shared(name)
    points = cases[name].summary["map"]["points"]
    for label in set(points["true"]):
        assert page.locator(f"#samples{label} use").count() == points["true"].count(label)
    assert page.locator("#map use[data-key]").count() == len(points["true"]) + len(
        cases[name].summary["prototypes"]["label"]
    )
    assert page.locator(".drawing svg").count() == page.locator(".drawing").count() > 0
    assert page.locator("h1").count() == 1
    check_print(page)


def test_the_map_shows_each_sample_where_it_is(shared, wdbc):
    """The order of the marks along the horizontal axis is that of the samples' coordinates."""
    x = wdbc.summary["map"]["points"]["x"]
    drawn = shared("wdbc").evaluate(
        "count => Array.from({length: count}, (_, k) => Number("
        "document.querySelector(`#map use[data-key=s${k}]`).getAttribute('x')))",
        len(x),
    )
    assert np.corrcoef(x, drawn)[0, 1] > 1 - 1e-9


def test_the_slider_shows_the_counts_of_the_model(shared, wdbc):
    page = shared("wdbc")
    values, predicted, labels = wdbc.model.certainty(wdbc.X), wdbc.model.predict(wdbc.X), np.unique(wdbc.y)
    correct, rejection = predicted == wdbc.y, wdbc.summary["rejection"]
    for fraction in (0.0, 0.2, 0.6, 0.9):
        point = int(fraction * (len(rejection["coverage"]) - 1))
        threshold = rejection["threshold"][point]
        move_to(page, point)
        accepted = np.ones(len(values), dtype=bool) if threshold is None else values >= threshold
        shown, rejected = numbers(page), ~accepted
        assert shown["coverage"] == f"{100 * accepted.mean():.1f} %"
        assert shown["accuracy"] == f"{100 * correct[accepted].mean():.1f} %"
        assert shown["n-rejected"] == str(rejected.sum())
        assert shown["n-errors"] == f"{(accepted & ~correct).sum()} wrong"
        for row, true in zip(cells(page), labels):
            same = wdbc.y == true
            found = [(accepted & same & (predicted == label)).sum() for label in labels]
            assert row == [*found, (rejected & same).sum()]
        assert page.locator("#map use.rejected").count() == rejected.sum()  # drawn hollow
        assert (threshold is None) == (page.locator("#threshold").inner_text() == "")


def test_the_slider_by_keyboard(shared, iris):
    page = shared("iris")
    slider = page.locator("#position")
    slider.focus()
    page.keyboard.press("End")
    last = len(iris.summary["rejection"]["coverage"]) - 1
    assert slider.input_value() == str(last)
    assert numbers(page)["coverage"] == f"{100 * iris.summary['rejection']['coverage'][last]:.1f} %"
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() == str(last - 1)
    status = page.locator("#status").inner_text()
    assert status == slider.get_attribute("aria-valuetext")
    assert str(iris.summary["rejection"]["n_accepted"][last - 1]) in status
    assert page.locator("#status").get_attribute("role") == "status"


def test_all_controls_are_reached_by_keyboard(opened):
    page = opened("wdbc")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box["x"] >= 0
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert {"theme", "position", "only", "sample", "As fitted"} <= reached
    page.locator("#position").focus()
    page.keyboard.press("Home")
    assert "none" not in page.locator("#position").evaluate("element => getComputedStyle(element).outlineStyle")


def test_the_buttons_accept_all_and_as_fitted(shared, wdbc):
    page = shared("wdbc")
    page.get_by_role("button", name="Accept all").click()
    assert numbers(page)["coverage"] == "100.0 %"
    page.get_by_role("button", name="As fitted").click()
    assert numbers(page)["coverage"] == f"{100 * wdbc.report.coverage.value:.1f} %"


def test_the_tooltip_shows_winner_and_rival(shared, wdbc):
    page = shared("wdbc")
    k = int(np.argmax(wdbc.summary["map"]["points"]["x"]))  # at the edge, so that nothing overlaps it
    page.locator(f"#map use[data-key=s{k}]").hover()
    text = page.locator("#tooltip").inner_text()
    label = wdbc.model.predict(wdbc.X.iloc[[k]])[0]
    found = wdbc.model.estimator_[-1].explain(wdbc.model.estimator_[0].transform(wdbc.X.iloc[[k]]))
    assert f"Sample {k}: {label}" in text
    assert f"nearest prototype of this class P{found.winner[0] + 1} ({label}" in text
    assert f"nearest of another class P{found.rival[0] + 1}" in text
    page.mouse.move(2, 2)
    assert page.locator("#tooltip").is_hidden()


def test_samples_are_selected_by_number(shared, wdbc):
    page = shared("wdbc")
    page.locator("#sample").fill("1")
    least = int(np.argmin(wdbc.model.certainty(wdbc.X)))
    assert f"Sample {least}:" in page.locator("#detail").inner_text()
    assert page.locator("#detail").get_attribute("role") == "status"
    page.keyboard.press("ArrowUp")
    assert f"Sample {least}:" not in page.locator("#detail").inner_text()


def test_only_one_class_is_shown(shared, iris):
    page = shared("iris")
    page.locator("#only").select_option("1")
    assert page.locator("#map use.faded").count() == (iris.y != 1).sum()


OVERFLOWS = """() => [...document.querySelectorAll('body *')].filter(e => {
    if (e.closest('.hidden, .skip, svg') || !e.clientWidth) return false;
    const {display, overflowY} = getComputedStyle(e), wide = e.scrollWidth > e.clientWidth + 1;
    const high = e.scrollHeight > e.clientHeight + 2 && overflowY !== 'visible';
    return ((wide || high) && display !== 'inline') || e.getBoundingClientRect().right > innerWidth + 1;
}).map(e => `${e.outerHTML.slice(0, 80)}: ${e.scrollWidth} > ${e.clientWidth}`)"""
CUT = """() => [...document.querySelectorAll('.drawing svg text')].filter(text => {
    const own = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
    return own.width && (own.left < frame.left - 1 || own.right > frame.right + 1 || own.top < frame.top - 1 ||
        own.bottom > frame.bottom + 1);
}).map(text => text.textContent)"""
BROKEN = """() => [...document.querySelectorAll('td:not(.category), thead th')].filter(cell =>
    cell.offsetWidth && /^[-+−–\\w.%]+$/.test(cell.innerText) && cell.innerText.length < 12 &&
    cell.getClientRects().length && [...cell.childNodes].some(node => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
    })).map(cell => cell.innerText)"""


@pytest.mark.parametrize("name", ["wdbc", "digits", "hostile", "many_classes"])
def test_nothing_is_clipped_and_nothing_scrolls_sideways(name, opened):
    """At four widths, with the collapsed parts closed and open."""
    page = opened(name)
    for opening in ("false", "true"):
        page.evaluate(f"document.querySelectorAll('details').forEach(each => {{ each.open = {opening}; }})")
        for width in (360, 768, 1200, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            for found in (OVERFLOWS, CUT, BROKEN):
                assert page.evaluate(found) == [], width
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def luminance(colour):
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page, selector, colour="color", behind="body"):
    """Contrast of the colour of a text, or the fill of a text in a chart, with its background."""
    front = page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{colour}")
    back = page.locator(behind).first.evaluate("element => getComputedStyle(element).backgroundColor")
    first, second = sorted((luminance(front), luminance(back)))
    return (second + 0.05) / (first + 0.05)


def test_text_has_enough_contrast_in_light_and_dark(shared):
    page = shared("wdbc")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1) == (scheme == "dark")
        for selector in ("h1", ".muted", "figcaption", ".positive", ".negative", "summary", ".banner p"):
            assert contrast(page, selector) > 4.5, (scheme, selector)
        for selector in (".card .positive", ".card .negative", ".card .muted"):
            assert contrast(page, selector, behind=".card") > 4.5, (scheme, selector)
        assert contrast(page, ".drawing text", "fill") > 4.5


def test_the_button_changes_the_theme(shared):
    page = shared("iris")
    button = page.locator("#theme")
    assert button.inner_text() == "Dark"
    button.click()
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1
    assert button.inner_text() == "Light"
    page.emulate_media(media="print")
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9


def check_print(page):
    page.emulate_media(media="print")
    page.set_viewport_size(PRINT)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("button, #position, #only, #sample").filter(visible=True).count() == 0
    assert page.locator("#map svg use").first.is_visible()
    assert page.locator("#by-class").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PRINT["width"]
    assert page.locator("main details:not([open])").filter(visible=True).count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_no_page_break_between_heading_and_content(shared):
    """Headings and introductions stay with their content, which is not broken where it fits on a page."""
    page = shared("wdbc")
    page.emulate_media(media="print")
    style = "(elements, name) => elements.map(element => getComputedStyle(element)[name])"
    assert set(page.locator("h2, h3, h4, h2 + p").evaluate_all(style, "breakAfter")) == {"avoid"}
    kept = page.locator("h1, h2, h3, figure, .card, tr")
    assert set(kept.evaluate_all(style, "breakInside")) == {"avoid"}
    # browsers break grids, but not inline blocks, between a heading and the first row
    assert set(page.locator(".cards").evaluate_all(style, "display")) == {"block"}


def test_tables_are_complete_without_javascript(browser, folder, wdbc):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "wdbc.html").as_uri())
    rejection = wdbc.summary["rejection"]
    assert cells(page) == rejection["confusion"][rejection["fitted"]]
    assert numbers(page)["coverage"] == f"{100 * wdbc.report.coverage.value:.1f} %"
    context.close()


# -- other data --------------------------------------------------------------------------------------------------------


def test_the_summary_prints_on_one_page(written, wdbc, many_classes):
    """With the verdict, a picture and metrics by class."""
    for report in (wdbc.report, many_classes.report):
        page = written(report)
        page.evaluate("window.print = () => { window.printed = document.documentElement.dataset.print; }")
        page.get_by_role("button", name="Print summary").click()
        assert page.evaluate("window.printed") == "summary"
        assert page.evaluate("document.documentElement.dataset.print") is None  # the whole page prints as before
        page.evaluate("document.documentElement.dataset.print = 'summary'")
        page.emulate_media(media="print")
        assert page.locator("#decides, #technical, #confusion, footer").filter(visible=True).count() == 0
        text = page.locator("main").inner_text()
        assert all(answer.text in text for answer in report.verdict)
        assert page.locator("#map-chart svg").is_visible()
        found = [row.sensitivity.value for row in report.metrics.by_class]
        worst = [f"{100 * value:.1f} %" for value in sorted(found)[:8]]
        shown = page.locator("td[data-label=sensitivity]").filter(visible=True).all_inner_texts()
        assert [text.split("\n")[0].strip() for text in shown] == (worst if len(found) > 8 else [
            f"{100 * value:.1f} %" for value in found
        ])  # fmt: skip
        document = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page[^s]", document)) == 1
