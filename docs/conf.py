"""Configuration of the documentation site; `make docs` builds it.

With the environment variable LVQ_DOCS=quick the examples are listed but not run, so their pictures are missing.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
sys.path.insert(0, str(Path(__file__).parents[1]))  # an example uses data of the experiments

from two_themes import Order, scraper

import lvq

QUICK = os.environ.get("LVQ_DOCS") == "quick"

project = "lvq"
author = "The lvq developers"
project_copyright = author
version = release = lvq.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "docstrings",
    "mathml",
    "pictures",
    "root_files",
]
exclude_patterns = ["_build", "gallery/README.rst"]
default_role = "literal"  # single backticks in docstrings are code
# pictures of examples that were not run
suppress_warnings = ["config.cache", *(["image.not_readable"] if QUICK else [])]

# -- Markdown ----------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# -- reference ---------------------------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have the types
numpydoc_show_class_members = False
templates_path = ["_templates"]

# -- gallery -----------------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"^(?!plot_)",
    "plot_gallery": not QUICK,
    "abort_on_example_error": True,
    "image_scrapers": (scraper,),
    "within_subsection_order": Order,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "doc_module": ("lvq",),
    "reference_url": {"lvq": None},
    "backreferences_dir": "api/backreferences",
    "prefer_full_module": {r"lvq\.(plots|rejection)"},
    "matplotlib_animations": False,
    "write_computation_times": False,
}

# -- pages -------------------------------------------------------------------------------------------------------------

html_show_search_summary = False  # pages that are opened from a folder cannot be fetched
html_theme = "pydata_sphinx_theme"
html_title = f"lvq {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"  # computed here: no script from the network
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "lvq"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "which-model": [], "cite": [], "changelog": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# -- links -------------------------------------------------------------------------------------------------------------

linkcheck_timeout = 20
