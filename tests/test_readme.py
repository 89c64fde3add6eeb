"""What the README shows is what the code prints."""

import doctest
import re
from pathlib import Path

import pytest

from lhtree.cli.demo import demo

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


class Trimmed(doctest.OutputChecker):
    """pandas pads its lines; the README does not."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        got = "".join(f"{line.rstrip()}\n" for line in got.splitlines())
        return super().check_output(want, got, optionflags)


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
    assert capsys.readouterr().out == shown
    assert [path.name for path in tmp_path.iterdir()] == ["wine_report.html"]


def test_length() -> None:
    assert 100 <= len(README.splitlines()) <= 150
