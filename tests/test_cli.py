import sys
from pathlib import Path

import pytest

import lhtree
from lhtree import cli

typer_testing = pytest.importorskip("typer.testing")


def run(*arguments: str) -> str:
    result = typer_testing.CliRunner().invoke(cli.build_app(), arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_version() -> None:
    assert run("--version") == f"lhtree {lhtree.__version__}\n"


def test_help_lists_the_commands() -> None:
    assert "demo" in run("--help")


def test_main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["lhtree", "--version"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"lhtree {lhtree.__version__}\n"


@pytest.mark.parametrize(("module", "arguments"), [("typer", []), ("pandas", ["demo"])])
def test_missing_extra_is_one_line(
    module: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "argv", ["lhtree", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == f"{module} is not installed: pip install 'lhtree[cli]'"


def test_demo_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cli, "N_SPLITS", 2)
    monkeypatch.chdir(tmp_path)
    lines = run("demo").splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.lstrip().startswith(tuple(f"{beta:g} " for beta in cli.BETAS)) for line in lines) == 5
    assert any(line.startswith("tree for class class_0") for line in lines)
    assert "open wine_report.html" in lines[-1]
    assert "Wine: from which cultivar?" in (tmp_path / "wine_report.html").read_text(encoding="utf-8")


def test_table_shows_mean_spread_and_best() -> None:
    table = cli.describe_accuracies({0.25: cli.Accuracies(training=[1.0, 1.0], test=[0.9, 0.8])})
    assert table.splitlines()[-1].split() == [
        "0.25",
        "85.00",
        "±",
        "7.07",
        "90.00",
        "100.00",
        "±",
        "0.00",
        "100.00",
    ]
