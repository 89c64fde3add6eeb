from pathlib import Path

import pytest

from lhtree.cli import demo
from support.shop import fail, shop  # noqa: F401


def test_demo_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "N_SPLITS", 2)
    monkeypatch.chdir(tmp_path)
    demo.demo()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.lstrip().startswith(tuple(f"{beta:g} " for beta in demo.BETAS)) for line in lines) == 5
    assert any(line.startswith("tree for class class_0") for line in lines)
    assert "open wine_report.html" in lines[-1]
    assert "Wine: from which cultivar?" in (tmp_path / "wine_report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("shop")
def test_a_report_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / demo.REPORT).mkdir()
    ran = fail(capsys, "demo")
    assert (ran.code, ran.err) == (4, f"lhtree: cannot write {demo.REPORT}: it is not a regular file\n")
