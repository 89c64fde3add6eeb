"""What the pages show of the command line is what the commands print."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from shop import make_table, run
from test_cli_examples import SHELL

PAGE = Path(__file__).parents[1] / "docs" / "command_line.md"
VARYING = {
    r"\d+(\.\d+)? (µs|ms|s)\b": "TIME",
    r"\b[0-9a-f]{64}\b": "SHA256",
    r"(lhtree|numpy|python) \d[\w.]*": "VERSION",
    r"\d+(\.\d+)? (bytes|kB|MB)\b": "SIZE",
    r"(?m)^CART .*": "CART",  # as it may be in other versions
    r"(?m)^Not installed: .*\n": "",
    r"[ ─]+(?=\n|$)|─+": "",
    r" +": " ",
}


def find_commands() -> list[tuple[str, str]]:
    """Every command of the page's console blocks, and what it shows below."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [found for block in blocks for found in split_commands(block)]


def split_commands(block: str) -> list[tuple[str, str]]:
    """Every command of a console block, and what it shows below."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def settle(shown: str) -> str:
    """The same without what differs between two runs: times, sizes, versions, and widths that follow from them."""
    for pattern, instead in VARYING.items():
        shown = re.sub(pattern, instead, shown)
    return shown


def call(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    if command.startswith("lhtree ") and not set("|<>*") & set(command):
        ran = run(capsys, *shlex.split(command)[1:])
        return ran.out + ran.err
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(
        ["sh", "-c", SHELL + command], env=environment, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("typer", "rich", "pandas", "pyarrow", "matplotlib", "onnx"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    table = make_table(400)
    table[:300].to_csv("data.csv", index=False)
    table[300:].to_csv("test.csv", index=False)
    table[300:].drop(columns="y").to_csv("new.csv", index=False)
    checker = doctest.OutputChecker()
    for command, expected in find_commands():
        shown = call(command, capsys)
        assert checker.check_output(settle(expected), settle(shown), doctest.ELLIPSIS), (
            f"$ {command}\n{shown}"
        )


def test_there_is_a_command_of_every_kind() -> None:
    from lhtree.cli import COMMANDS

    shown = {command.split()[1] for command, _ in find_commands() if command.startswith("lhtree ")}
    assert shown >= set(COMMANDS) - {"demo"}
