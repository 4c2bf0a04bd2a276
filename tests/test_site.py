"""The documentation site: its reference is complete, its links lead somewhere, and a browser shows its pages.

The reference is compared with the exports in every run. The other tests need a built site, which the environment
variable LVQ_SITE names; `make docs` and `make docs-quick` set it.
"""

import importlib
import os
import pkgutil
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import lvq

ROOT = Path(__file__).parents[1]
PACKAGES = ("inspection", "onnx", "persistence", "plots", "preprocessing", "rejection", "reports", "torch", "workflow")
SITE = Path(os.environ.get("LVQ_SITE", "")).resolve()
NOT_MADE = "sphx_glr_plot" if os.environ.get("LVQ_DOCS") == "quick" else "\0"  # in the names of pictures of examples

built = pytest.mark.skipif("LVQ_SITE" not in os.environ, reason="no site: make docs builds it and runs this test")
in_browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")

# -- the reference -----------------------------------------------------------------------------------------------------


def documented():
    """Every name that the pages of the reference list, with its module."""
    names = set()
    for page in (ROOT / "docs/api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\{eval-rst\}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
            module = re.search(r"currentmodule:: (\S+)", block).group(1)
            names |= {f"{module}.{name}" for name in re.findall(r"^   ([\w.]+)$", block, flags=re.MULTILINE)}
    return names


def exported():
    """Every public name; where a package exports a name of `lvq`, the latter is its place."""
    pytest.importorskip("torch")
    names = {f"lvq.{name}" for name in lvq.__all__}
    for package in PACKAGES:
        module = importlib.import_module(f"lvq.{package}")
        own = [name for name, part in vars(module).items() if getattr(part, "__module__", "") == module.__name__]
        public = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
        names |= {f"lvq.{package}.{name}" for name in public if name not in lvq.__all__}
    return names


def test_the_reference_has_every_public_name():
    assert sorted(exported() - documented()) == []


def test_every_name_of_the_reference_exists():
    for dotted in sorted(documented()):
        part = lvq
        for name in dotted.split(".")[1:]:
            if not hasattr(part, name):
                importlib.import_module(f"{part.__name__}.{name}")
            part = getattr(part, name)
    inner = ("lvq.model.", "lvq.solvers.", "lvq.estimators.")  # parts of models
    assert {name for name in documented() if not name.startswith(inner)} == exported()


def test_every_package_is_in_the_reference():
    """Packages without a page have no public names of their own, or are the inside of the library."""
    inside = {"counterfactuals", "estimators", "model", "solvers", "streaming", "tables"}
    names = {module.name for module in pkgutil.iter_modules(lvq.__path__) if not module.name.startswith("_")}
    assert names - inside - {"cli", "typing", "versions"} == set(PACKAGES)


# -- the built pages ---------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Anchors, links and sources of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


@built
def test_links_of_the_site_lead_somewhere():
    pages = {path: Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 50
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or NOT_MADE in link or (path.name == "search.html" and not parts.path):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(SITE)} -> {link}")
    assert sorted(broken) == []


@built
def test_pages_need_no_network():
    """No script, style, picture or font comes from elsewhere; links may lead there."""
    loads = re.compile(r"<(?:script|img|link)\b[^>]*\b(?:src|href)=[\"'](https?:)?//[^\"']+[\"'][^>]*>")
    for path in set(SITE.rglob("*.html")) - set((SITE / "_static").rglob("*")):
        found = [match.group(0) for match in loads.finditer(path.read_text(encoding="utf-8"))]
        assert [tag for tag in found if 'rel="canonical"' not in tag] == [], path


SHOWN = [
    "index", "start", "guide/reject", "studies/index", "studies/clinical", "studies/spectra", "studies/business",
    "gallery/index", "gallery/plot_voronoi", "api/generated/lvq.GMLVQ", "models",
]  # fmt: skip


@built
@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_in_a_browser(scheme):
    """Each page loads without an error, fits into its window and follows the scheme; the search finds a name."""
    playwright = pytest.importorskip("playwright.sync_api")
    problems = []
    with playwright.sync_playwright() as program:
        browser = program.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width in (1280, 390):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("requestfailed", lambda request: NOT_MADE in request.url or problems.append(request.url))
            for name in SHOWN:
                page.goto((SITE / f"{name}.html").as_uri())
                assert page.locator("h1").first.inner_text().strip()
                assert page.evaluate("document.documentElement.dataset.theme") == scheme
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 1, (name, width, wide)
                pictures = "[...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetParent)"
                missing = page.evaluate(f"{pictures}.map(i => i.src)")
                assert [source for source in missing if NOT_MADE not in source] == [], name
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=certified_radius")
        page.wait_for_selector("ul.search li a", timeout=20_000)
        assert "certified_radius" in page.locator("ul.search").inner_text()
        browser.close()
    assert problems == []
