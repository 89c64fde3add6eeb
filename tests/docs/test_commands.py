"""Commands on the page of the command line print the output shown there."""

import doctest
import math
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from lhtree.selection import tuning
from support.pages import call, find_blocks, settle, split_commands
from support.serving import ask_json
from support.shop import make_table

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"


def find_commands() -> list[tuple[str, str]]:
    """Every command of the page's console blocks, and its output."""
    return [found for block in find_blocks(PAGE, "console") for found in split_commands(block)]


def serve_briefly(run: Callable[..., None], server: Any, sockets: list[socket.socket]) -> None:
    """Stop the server of a command after two requests."""
    thread = threading.Thread(target=run, args=(server, sockets))
    thread.start()
    address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    row = {"size": 48.5, "weight": 2.5, "colour": "red", "shop": "north"}
    try:
        for path, request in (("predict", {"rows": [row]}), ("explain", {"row": row})):
            status, answer = ask_json(f"{address}/{path}", request)
            assert status == 200, answer
    finally:
        server.should_exit = True
        thread.join()


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = make_table(400)
    table[:300].to_csv("data.csv", index=False)
    table[300:].to_csv("test.csv", index=False)
    table[300:].drop(columns="y").to_csv("new.csv", index=False)
    run = tuning.Search.run
    monkeypatch.setattr(  # without a time limit, which a busy machine might reach
        tuning.Search,
        "run",
        lambda search, settings, seconds, report: run(search, settings, math.inf, report),
    )
    monkeypatch.setattr("lhtree.cli.serve._listen", lambda host, port: socket.create_server((host, 0)))
    run_server = uvicorn.Server.run
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, sockets: serve_briefly(run_server, server, sockets)
    )
    checker = doctest.OutputChecker()
    for command, expected in find_commands():
        shown = call(command, capsys)
        assert checker.check_output(settle(expected), settle(shown), doctest.ELLIPSIS), (
            f"$ {command}\n{shown}"
        )


def test_there_is_a_command_of_every_kind() -> None:
    from lhtree.cli import COMMANDS

    shown = {command.split()[1] for command, _ in find_commands() if command.startswith("lhtree ")}
    assert shown >= set(COMMANDS)
