"""Examples in the README print the output shown there."""

import re
import shlex
from pathlib import Path

import pytest

from support.pages import ROOT, find_blocks, run_examples
from support.shop import make_table, run

README = ROOT / "README.md"


def test_examples() -> None:
    run_examples(README)


def test_commands_of_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = make_table(200).rename(columns={"y": "repaid"})
    table.to_csv("loans.csv", index=False)
    table.drop(columns="repaid").to_csv("new.csv", index=False)
    (commands,) = (block for block in find_blocks(README, "sh") if block.startswith("lhtree fit"))
    for command in commands.splitlines():
        assert run(capsys, *shlex.split(command, comments=True)[1:]).code == 0
    assert (tmp_path / "decisions.csv").read_text().count("\n") == 201


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "index.md"], ids=["README", "index"])
def test_results_are_those_of_the_measurement(page: Path) -> None:
    measured = (ROOT / "docs" / "benchmarks" / "time.md").read_text(encoding="utf-8")
    told = re.findall(
        r"^\| (\w+) \| boosted trees \| (\d+) % lower", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(told) == 4
    for peer, percent in told:
        (exact,) = re.findall(rf"^\| {peer}, [^|]*\| -([\d.]+)%", measured, re.MULTILINE)
        assert percent == f"{float(exact):.0f}"


def test_readme_is_short_and_starts_with_boosting() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    assert text.count("![") == 1
    assert text.index("LHBoostClassifier") < text.index("CompactLHTClassifier")
