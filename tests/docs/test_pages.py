"""Examples on the pages of the documentation print the output shown there."""

from pathlib import Path

import pytest

import lhtree
from support.pages import run_examples

DOCS = Path(__file__).parents[2] / "docs"
# The tutorial mixes Python with commands: test_tutorial.py follows it.
PAGES = [
    page
    for page in sorted(DOCS.glob("*.md"))
    if page.stem != "tutorial" and "\n>>> " in page.read_text(encoding="utf-8")
]


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for what examples save
    run_examples(page)


def test_there_are_pages() -> None:
    assert "explaining.md" in [page.name for page in PAGES]


ESTIMATORS = [name for name in lhtree.__all__ if name.endswith(("Classifier", "Regressor"))]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_listed(name: str) -> None:
    page = (DOCS / "parameters.md").read_text(encoding="utf-8")
    assert not [each for each in getattr(lhtree, name)().get_params() if f"`{each}`" not in page]
