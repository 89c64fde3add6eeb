"""The examples at the end of every help text work."""

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import uvicorn

from lhtree import cli
from support.pages import SHELL
from support.shop import make_table, run, shop, succeed  # noqa: F401


def find_examples(capsys: pytest.CaptureFixture[str], command: str) -> list[str]:
    """The lines below "Examples:" of a help text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        shown = succeed(capsys, command, "--help").out
    lines = [line.strip() for line in shown.partition("Examples:")[2].splitlines()]
    return [line for line in lines if line]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_examples(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "serve":
        monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: None)
        monkeypatch.setattr("lhtree.cli.serve._listen", lambda host, port: socket.create_server((host, 0)))
    if command == "replay":
        Path("decisions.jsonl").touch()
    if command in ("bench", "tune"):  # which fit many models
        make_table(60).to_csv("data.csv", index=False)
        monkeypatch.setattr("lhtree.selection.comparison._ROW_SECONDS", 0.0)
    examples = find_examples(capsys, command)
    assert examples
    for example in examples:
        assert f"lhtree {command}" in example
        if "|" in example:
            run_in_shell(example)
        else:
            ran = run(capsys, *shlex.split(example)[1:])
            assert (ran.code, example) == (0, example), ran.err


def run_in_shell(example: str) -> None:
    environment = os.environ | {"PYTHON": sys.executable}
    ran = subprocess.run(
        ["sh", "-c", SHELL + example], env=environment, capture_output=True, text=True, timeout=600
    )
    assert (ran.returncode, ran.stderr) == (0, ""), example


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_no_option_is_cut_in_a_narrow_terminal(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "…" not in succeed(capsys, command, "--help").out
