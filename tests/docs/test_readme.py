"""What the README shows is what the code prints."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from lhtree.cli.demo import demo
from support.pages import Trimmed
from support.shop import make_table, run

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_examples() -> None:
    pytest.importorskip("pandas")
    examples = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    assert len(test.examples) > 5
    failures: list[str] = []
    doctest.DocTestRunner(Trimmed()).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_demo(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (shown,) = (block for block in blocks("text") if block.startswith("wine:"))
    demo()
    assert capsys.readouterr().out.startswith(shown)  # the tree and the report follow
    assert [path.name for path in tmp_path.iterdir()] == ["wine_report.html"]


def test_commands_of_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    table = make_table(200).rename(columns={"y": "repaid"})
    table.to_csv("loans.csv", index=False)
    table.drop(columns="repaid").to_csv("new.csv", index=False)
    (commands,) = (block for block in blocks("sh") if block.startswith("lhtree fit"))
    for command in commands.splitlines():
        assert run(capsys, *shlex.split(command, comments=True)[1:]).code == 0
    assert (tmp_path / "decisions.csv").read_text().count("\n") == 201


def test_length() -> None:
    assert 100 <= len(README.splitlines()) <= 150
