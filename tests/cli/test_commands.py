import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer.testing as typer_testing

import lhtree
from lhtree import cli


def run(*arguments: str) -> str:
    result = typer_testing.CliRunner().invoke(cli.build_app(), arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", [[], *([name] for name in cli.COMMANDS)])
def test_help_shows_flags_without_a_type(command: list[str]) -> None:
    shown = run(*command, "--help")
    assert "--help " in shown
    assert "bool" not in shown.lower()


def test_main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["lhtree", "--version"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"lhtree {lhtree.__version__}\n"


@pytest.mark.parametrize(
    ("module", "arguments"), [("typer", []), ("pyarrow", ["bench", __file__, "-t", "y"])]
)
def test_missing_extra_is_one_line(
    module: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "argv", ["lhtree", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == f"lhtree: {module} is not installed: pip install 'lhtree[cli]'\n"


def test_signs_that_the_terminal_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "model.lht"
    lhtree.save(lhtree.LHTClassifier().fit([[0.0], [1.0]] * 9, ["größer", "名"] * 9), path)
    ran = subprocess.run(
        [sys.executable, "-c", "from lhtree.cli import main; main()", "inspect", str(path)],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert r"gr\xf6\xdfer" in ran.stdout


def test_help_is_quick() -> None:
    code = "import sys; from lhtree.cli import main; sys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass\n"
    code += "print([name for name in ('sklearn', 'scipy', 'pandas', 'pyarrow', 'matplotlib') if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lhtree ex", ["explain", "export"]),
        ("lhtree export --t", ["--to", "--table"]),
        ("lhtree export --to o", ["onnx"]),
    ],
)
def test_completion(words: str, expected: list[str]) -> None:
    asked = {"_LHTREE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = subprocess.run(
        [sys.executable, "-c", "from lhtree.cli import main; main()"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.stdout.split() == expected
