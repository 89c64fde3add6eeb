"""The site has every page, every public name and every example, and links between pages are valid."""

import importlib
import re
from pathlib import Path

import pytest

import lhtree
from lhtree import AdditiveLHTClassifier, LHBoostClassifier, LHBoostRegressor, LHForestClassifier, dask
from support.pages import ROOT

DOCS = ROOT / "docs"
WRITTEN = [page for page in DOCS.rglob("*.md") if "gallery" not in page.relative_to(DOCS).parts]
READ_ON_GITHUB = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))


def find_entries(page: Path) -> list[Path]:
    """Return the entries of the tables of contents of a page; a generated page has no suffix."""
    text = page.read_text(encoding="utf-8")
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    names = [line for table in tables for line in table.splitlines() if line and not line.startswith(":")]
    return [(page.parent / name).resolve() for name in names]


def find_anchors(page: Path) -> set[str]:
    """The names of a page's headings in links, as GitHub and MyST write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def exists(target: Path) -> bool:
    """Whether a file exists, or an example of the gallery from which the site generates it."""
    if (DOCS / "gallery") not in target.parents:
        return target.exists()
    name = target.stem.removeprefix("sphx_glr_")
    return name == "index" or any(name.startswith(example.stem) for example in EXAMPLES)


def test_every_page_is_in_one_table_of_contents():
    listed = [entry for page in WRITTEN for entry in find_entries(page)]
    pages = {page.resolve().with_suffix("") for page in WRITTEN} | {DOCS / "api"}
    assert set(listed) == pages - {DOCS / "index"} | {DOCS / "gallery" / "index"}
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("page", [*WRITTEN, *READ_ON_GITHUB], ids=lambda page: page.name)
def test_links_are_valid(page):
    code_left_out = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for link in re.findall(r"\]\(([^)\s]+)\)", code_left_out):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert exists(target), link
        assert not anchor or anchor in find_anchors(target), link


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    public = {name for name in lhtree.__all__ if name != "__version__"}
    assert public == {name for name in listed if "." not in name}
    assert {f"dask.{name}" for name in dask.__all__} <= set(listed)
    for name in listed:
        module, _, attribute = f"lhtree.{name}".rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_parameters_of_other_libraries_are_mapped_to_ours():
    """The third cell of a row names parameters or methods that exist."""
    page = (DOCS / "coming_from.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line.startswith("| ")]
    models = (LHBoostClassifier(), LHBoostRegressor(), LHForestClassifier(), AdditiveLHTClassifier())
    known = (
        {name for model in models for name in model.get_params()}
        | set(dir(LHBoostClassifier))
        | set(dir(AdditiveLHTClassifier))
        | set(lhtree.__all__)
    )
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[2])}
    assert len(named) > 30
    assert named <= known
