"""The documentation site: ``make docs`` builds it into build/site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

import lhtree

project = "lhtree"
author = "The lhtree developers"
project_copyright = author
version = release = lhtree.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/**/*.py.md5", "gallery/*.ipynb"]
templates_path = ["_templates"]
nitpicky = True

# Markdown: the marks of generated parts are comments, headings are targets as on GitHub.
myst_enable_extensions = ["attrs_block", "colon_fence"]
myst_heading_anchors = 4

# Docstrings
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(demo|serve)\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "subsection_order": [f"../examples/{name}" for name in ("models", "reading", "decisions", "use")],
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("lhtree",),
    "reference_url": {"lhtree": None},
    "download_all_examples": False,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "image_scrapers": ("matplotlib",),
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "lhtree"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which a browser refuses for pages on disk
html_theme_options = {
    "logo": {"text": "lhtree", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "getting_started")}


def write_live_report(app: Any, exception: Exception | None) -> None:
    """Write the report that the page ``report`` embeds."""
    if exception is not None:
        return
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = lhtree.LHBoostClassifier(random_state=0).fit(X, y)
    path = Path(app.outdir) / "live_report.html"
    lhtree.report(model, X, y, path, X_test=X_test, y_test=y_test, title="Breast cancer: benign or malignant")


def mark_cells(app: Any, doctree: nodes.document) -> None:
    """Mark wide tables, and cells as short or long, whose sizes differ (site.css); break long words of headings."""
    for group in doctree.findall(nodes.tgroup):
        if group["cols"] >= 8:
            group.parent["classes"].append("wide")
    for cell in doctree.findall(nodes.entry):
        n_characters = len(cell.astext())
        if n_characters <= 16:
            cell["classes"].append("short")
        elif n_characters > 40:
            cell["classes"].append("long")
    for head in doctree.findall(nodes.thead):
        for text in list(head.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(_allow_breaks(text)))


def _allow_breaks(text: str) -> str:
    """Return a heading whose long words may be broken before a capital: HistGradient, Boosting."""
    words = [
        re.sub("(?<=[a-z])(?=[A-Z])", "\u200b", word) if len(word) > 11 else word for word in text.split(" ")
    ]
    return " ".join(words)


def setup(app: Any) -> None:
    """Mark cells in the pages, and write the live report after them."""
    app.connect("doctree-read", mark_cells)
    app.connect("build-finished", write_live_report)
