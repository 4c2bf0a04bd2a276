"""The report in a browser: opened from disk, it draws, moves, tells and fits, and asks nobody for anything."""

import re
import shutil

import numpy as np
import pytest

from lvq.report import render, summarize, write

pytest.importorskip("vl_convert", reason="the report needs lvq[report]")
pytest.importorskip("jinja2", reason="the report needs lvq[report]")
playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="browser tests need Chromium on the path")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip
CASES = ("wdbc", "digits", "iris", "nasty", "crowd")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
PAPER = {"width": 700, "height": 1030}  # A4 within its margins


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def files(wdbc, digits, iris, nasty, crowd, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    for name, case in zip(CASES, (wdbc, digits, iris, nasty, crowd)):
        write(case.summary, folder / f"{name}.html")
    return folder


@pytest.fixture
def opened(browser, files):
    """Opens a report; at the end of the test nothing may have been logged as an error, asked for, or popped up."""
    contexts, complaints = [], []

    def open_report(name, viewport=DESK, **context):
        contexts.append(browser.new_context(viewport=viewport, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on(
            "request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complaints.append(asked.url)
        )
        page.goto((files / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready=true]", timeout=15_000)
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert complaints == []


def move_to(page, position):
    page.locator("#position").evaluate(
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", position
    )


def numbers(page):
    return {name: page.locator(f"#{name}").inner_text() for name in ("coverage", "accuracy", "n-rejected", "n-errors")}


def cells(page):
    rows = page.locator("#confusion tbody tr").all()
    return [[int(text) for text in row.locator("td").all_inner_texts()] for row in rows]


def hollow(page):
    """How many samples are drawn as held back."""
    return page.locator("[data-chart=map] .mark-symbol path[fill=transparent]").count()


@pytest.mark.parametrize("name", CASES)
def test_opens_and_draws_everything(name, opened):
    page = opened(name)
    charts = page.locator("[data-chart]")
    assert charts.count() >= 3
    for k in range(charts.count()):
        assert charts.nth(k).locator("svg").count() == 1
        assert charts.nth(k).locator("svg path").count() > 1
    assert page.locator("h1").count() == 1


def test_the_slider_tells_what_python_counts(opened, wdbc):
    page = opened("wdbc")
    for share in (0.0, 0.2, 0.6, 0.9):
        compare_at(page, share, wdbc)


def compare_at(page, share, wdbc):
    path, values, cell = wdbc.model.path_, wdbc.model.certainty(wdbc.X), wdbc.model.cell(wdbc.X)
    right = wdbc.model.predict(wdbc.X) == wdbc.y
    rejection = wdbc.summary["rejection"]
    position = int(share * (len(rejection["coverage"]) - 1))
    low, _ = rejection["threshold"][position]
    move_to(page, position)
    # the same point of the model's own path, found again by what it accepts
    masks = [path.point(index).accept(values, cell) for index in range(len(path))]
    (accepted, *_) = [mask for mask in masks if mask.mean() == rejection["coverage"][position]]
    shown = numbers(page)
    assert shown["coverage"] == f"{100 * accepted.mean():.1f} %"
    assert shown["accuracy"] == f"{100 * right[accepted].mean():.1f} %"
    assert shown["n-rejected"] == str((~accepted).sum())
    assert shown["n-errors"] == f"{(accepted & ~right).sum()} wrong"
    labels = np.unique(wdbc.y)
    for row, true in zip(cells(page), labels):
        ours = accepted & (wdbc.y == true)
        answers = wdbc.model.predict(wdbc.X)
        assert row == [*((ours & (answers == label)).sum() for label in labels), (~accepted & (wdbc.y == true)).sum()]
    assert hollow(page) == (~accepted).sum()
    assert (low is None) == ("no threshold" in page.locator("#threshold").inner_text())


def test_a_threshold_on_the_certainty(opened, digits):
    page = opened("digits")
    found = digits.model.explain(digits.X).certainty
    right = digits.model.predict(digits.X) == digits.y
    for position in (10, 60):
        move_to(page, position)
        accepted = found >= digits.summary["rejection"]["threshold"][position][0]
        assert numbers(page)["coverage"] == f"{100 * accepted.mean():.1f} %"
        assert numbers(page)["accuracy"] == f"{100 * right[accepted].mean():.1f} %"
        assert hollow(page) == (~accepted).sum()


def test_the_slider_by_keyboard(opened, iris):
    page = opened("iris")
    slider = page.locator("#position")
    slider.focus()
    page.keyboard.press("End")
    last = len(iris.summary["rejection"]["coverage"]) - 1
    assert slider.input_value() == str(last)
    assert numbers(page)["coverage"] == f"{100 * iris.summary['rejection']['coverage'][last]:.1f} %"
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() == str(last - 1)
    told = page.locator("#told").inner_text()
    assert told == slider.get_attribute("aria-valuetext")
    assert str(iris.summary["rejection"]["n_accepted"][last - 1]) in told
    assert page.locator("#told").get_attribute("role") == "status"


def test_everything_is_reached_by_keyboard_and_seen(opened):
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


def test_back_to_the_position_as_fitted(opened, wdbc):
    page = opened("wdbc")
    page.get_by_role("button", name="Answer everything").click()
    assert numbers(page)["coverage"] == "100.0 %"
    page.get_by_role("button", name="As fitted").click()
    assert numbers(page)["coverage"] == f"{100 * wdbc.summary['scores']['coverage']:.1f} %"


def test_hover_tells_the_sample_its_winner_and_why(opened, wdbc):
    page = opened("wdbc")
    page.locator("#answers").scroll_into_view_if_needed()
    k = int(np.argmax(wdbc.summary["map"]["points"]["x"]))  # far out, so that nothing lies above it
    points = page.locator("[data-chart=map] .mark-symbol.role-mark").first.locator("path")
    assert points.count() == len(wdbc.y)
    points.nth(k).hover()
    text = page.locator("#tooltip").inner_text()
    answer = wdbc.model.predict(wdbc.X[[k]])[0]
    found = wdbc.model.estimator_[-1].explain(wdbc.model.estimator_[0].transform(wdbc.X[[k]]))
    loudest = wdbc.summary["data"]["features"][int(np.abs(found.contributions[0]).argmax())]
    assert f"Sample {k}: {answer}" in text
    assert f"nearest P{found.winner[0] + 1} ({answer}" in text
    assert f"of another class P{found.rival[0] + 1}" in text
    assert f"{loudest} = " in text
    page.mouse.move(2, 2)
    assert page.locator("#tooltip").is_hidden()


def test_samples_by_number_for_those_who_cannot_hover(opened, wdbc):
    page = opened("wdbc")
    page.locator("#sample").fill("1")
    least = int(np.argmin(wdbc.model.certainty(wdbc.X)))
    assert f"Sample {least}:" in page.locator("#detail").inner_text()
    assert page.locator("#detail").get_attribute("role") == "status"
    page.keyboard.press("ArrowUp")
    assert f"Sample {least}:" not in page.locator("#detail").inner_text()


def test_one_class_alone(opened, iris):
    page = opened("iris")
    page.locator("#only").select_option("1")
    assert page.locator("[data-chart=map] path[opacity='0.06']").count() == (iris.y != 1).sum()


@pytest.mark.parametrize("name", CASES)
def test_a_phone_s_width_holds(name, opened):
    page = opened(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    outside = page.evaluate(
        "() => [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, nav, .why, svg, .hidden')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []


def luminance(colour):
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page, selector, colour="color", behind="body"):
    """Contrast of a text's colour, or a drawn text's fill, with what is behind it."""
    front = page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{colour}")
    back = page.locator(behind).first.evaluate("element => getComputedStyle(element).backgroundColor")
    first, second = sorted((luminance(front), luminance(back)))
    return (second + 0.05) / (first + 0.05)


def test_texts_stand_out_in_light_and_dark(opened):
    page = opened("wdbc")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1) == (scheme == "dark")
        for selector in ("h1", ".muted", "figcaption", ".for", ".against", "a"):
            assert contrast(page, selector) > 4.5, (scheme, selector)
        for selector in (".why .for", ".why .against", ".why .muted"):
            assert contrast(page, selector, behind=".why") > 4.5, (scheme, selector)
        assert contrast(page, "[data-chart=curve] .role-axis-label text", "fill") > 4.5


def test_the_button_turns_the_lights(opened):
    page = opened("iris", color_scheme="light")
    button = page.locator("#theme")
    assert button.inner_text() == "Dark"
    button.click()
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1
    assert button.inner_text() == "Light"
    page.emulate_media(media="print")
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9


@pytest.mark.parametrize("name", CASES)
def test_prints(name, opened):
    page = opened(name)
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("nav, button, #position, #only, #sample").filter(visible=True).count() == 0
    assert page.get_by_text("Move the slider").is_hidden()
    assert page.locator("#confusion").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
    for chart in page.locator("[data-chart] svg").all():  # as drawn, so that texts are not scaled down
        assert chart.bounding_box()["width"] == pytest.approx(float(chart.get_attribute("width")), abs=1)
    assert page.locator("main details:not([open])").filter(visible=True).count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_nothing_that_is_announced_is_torn_off_on_paper(opened):
    """Headings and the sentences behind them stay with what follows; that is kept whole where a page can hold it."""
    page = opened("wdbc")
    page.emulate_media(media="print")
    style = "(elements, name) => elements.map(element => getComputedStyle(element)[name])"
    assert set(page.locator("h2, h3, h4, h2 + p").evaluate_all(style, "breakAfter")) == {"avoid"}
    kept = page.locator("h1, h2, h3, .columns, figure, .why, #prototypes .scroll, #answers")
    assert set(kept.evaluate_all(style, "breakInside")) == {"avoid"}
    # grids are broken between a heading and their first row, lines are not
    assert set(page.locator(".cards").evaluate_all(style, "display")) == {"block"}


def test_the_printed_matrix_is_named(opened):
    page = opened("crowd")
    page.emulate_media(media="print")
    assert page.locator("#matrix").is_visible()
    assert page.locator("#matrix option:checked").text_content() == "mean over the prototypes"


def test_without_a_script_the_tables_can_be_read(browser, files, wdbc):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "wdbc.html").as_uri())
    chosen = wdbc.summary["rejection"]["confusion"][wdbc.summary["rejection"]["chosen"]]
    assert cells(page) == chosen
    assert numbers(page)["coverage"] == f"{100 * wdbc.summary['scores']['coverage']:.1f} %"
    context.close()


@pytest.mark.parametrize("n_samples", [1, 3])
def test_hardly_any_samples(n_samples, opened, files, iris):
    few = summarize(iris.model, iris.X[:n_samples], iris.y[:n_samples])
    write(few, files / "few.html")
    page = opened("few")
    assert numbers(page)["coverage"] == "100.0 %"
    assert hollow(page) == 0


def test_names_stay_text(opened, nasty):
    page = opened("nasty")
    assert page.locator("main script, main img").count() == 0
    assert nasty.summary["name"].split("\u2028")[0].strip() in page.locator("h1").inner_text()
    page.locator("#sample").fill("1")
    assert "onerror" in page.locator("body").inner_text()
    assert render(nasty.summary).count("onerror=alert(2)>") == 0
