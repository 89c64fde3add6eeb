"""``lhtree serve`` and ``lhtree replay`` as commands; tests/serve has the service itself."""

import json
import socket

import pytest
import uvicorn

import lhtree
from lhtree.serve.service import DecisionLog, Limits, Service
from support.shop import fail, run, shop, succeed  # noqa: F401

pytestmark = pytest.mark.usefixtures("shop")


@pytest.fixture
def quick(monkeypatch):
    """Servers stop at once."""
    ran = []
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, sockets: ran.append((server, sockets[0].getsockname()))
    )
    return ran


def write_log(path="decisions.jsonl"):
    """Record two decisions of the model of the shop."""
    log = DecisionLog(path)
    service = Service("model.lht", log=log)
    service.answer("predict", {"rows": [service.loaded.example]}, "first")
    service.answer("explain", {"row": service.loaded.example, "reasons": 1}, "second")
    log.close()


def test_the_address_is_printed(capsys, quick):
    ran = succeed(capsys, "serve", "model.lht", "--port", 0, "--log", "log.jsonl")
    _, (host, port) = quick[0]
    sha256 = lhtree.inspect("model.lht")["sha256"]
    assert (ran.out, ran.err) == ("", f"model.lht ({sha256[:12]}) is served at http://{host}:{port}\n")
    assert succeed(capsys, "serve", "model.lht", "--port", 0, "--quiet").err == ""


def test_options_reach_the_service(capsys, quick, monkeypatch):
    built = []
    monkeypatch.setattr("lhtree.serve.app.build_app", built.append)
    succeed(capsys, "serve", "model.lht", "--port", 0, "--strict", "--max-rows", 7, "--max-bytes", 99)
    assert (built[0].limits, built[0].loaded.is_strict) == ((99, 7), True)


def test_bad_usage(capsys, quick):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = fail(capsys, "serve", "model.lht", "--port", port)
        assert f"--port {port}: " in ran.err
        assert ran.err.endswith("pass another port, or 0 for a free one\n")
    assert "none.lht" in fail(capsys, "serve", "none.lht").err
    assert "data.csv" in fail(capsys, "serve", "data.csv").err
    assert (
        "--log none/log.jsonl"
        in fail(capsys, "serve", "model.lht", "--port", 0, "--log", "none/log.jsonl").err
    )
    assert "none.jsonl" in fail(capsys, "replay", "none.jsonl", "model.lht").err
    assert "line 1 is not a decision" in fail(capsys, "replay", "data.csv", "model.lht").err


def test_decisions_on_many_rows_are_replayed(capsys):
    log = DecisionLog("decisions.jsonl")
    service = Service("model.lht", Limits(n_rows=2000), log=log)
    service.answer("predict", {"rows": [service.loaded.example] * 1500}, "first")
    log.close()
    found = succeed(capsys, "replay", "decisions.jsonl", "model.lht").out
    assert found == "1 decisions, 1 with the same answer\n"


def test_decisions_are_replayed(capsys):
    write_log()
    assert (
        succeed(capsys, "replay", "decisions.jsonl", "model.lht").out
        == "2 decisions, 2 with the same answer\n"
    )
    ran = run(capsys, "replay", "decisions.jsonl", "boosted.lht")
    assert ran.code == 1
    assert ran.out == "2 decisions, 0 with the same answer\n2 were made by another model file\n"
    assert ran.err.splitlines()[0] == "request first (predict) has another answer"
    ran = run(capsys, "replay", "decisions.jsonl", "boosted.lht", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["n_decisions"], found["n_other_model"]) == (1, 2, 2)
    assert [one["request_id"] for one in found["differing"]] == ["first", "second"]
    assert found["differing"][0]["before"] != found["differing"][0]["after"]
