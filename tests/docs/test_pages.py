"""What the pages of the documentation show is what the code prints."""

import doctest
import re
from pathlib import Path

import pytest

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from support.pages import Trimmed

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
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)  # for what examples save
    blocks = re.findall(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    # Within a block an empty line is one that the code prints.
    examples = "\n".join(
        re.sub(r"^$(?=.)", "<BLANKLINE>", block, flags=re.MULTILINE | re.DOTALL) for block in blocks
    )
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    assert len(test.examples) > 3
    failures: list[str] = []
    doctest.DocTestRunner(Trimmed()).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_there_are_pages() -> None:
    assert "explaining.md" in [page.name for page in PAGES]


@pytest.mark.parametrize("estimator", [LHTClassifier(), LHForestClassifier(), LHBoostClassifier()])
def test_parameters_are_listed(estimator: LHTClassifier | LHForestClassifier | LHBoostClassifier) -> None:
    page = (DOCS / "parameters.md").read_text(encoding="utf-8")
    assert not [name for name in estimator.get_params() if f"`{name}`" not in page]
