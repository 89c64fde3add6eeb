"""The service over HTTP: answers, errors, limits, ids, the log and the schema."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest
import schemathesis

from lhtree.serve import Limits, Service, build_app
from lhtree.serve.service import DecisionLog, load_model, replay
from support.serving import ROW, ask, ask_json, save_dated, save_model, serving
from support.waiting import wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def service(folder):
    log = DecisionLog(folder / "decisions.jsonl")
    yield Service(save_model("boost", folder), Limits(n_bytes=20_000, n_rows=100), log=log)
    log.close()


@pytest.fixture(scope="module")
def address(service):
    with serving(build_app(service)) as address:
        yield address


class TestAnswers:
    def test_predictions(self, service, address):
        status, answer = ask_json(f"{address}/predict", {"rows": [ROW, ROW]})
        assert status == 200
        request_id = answer.pop("request_id")
        assert len(request_id) == 32
        assert answer == service.loaded.predict({"rows": [ROW, ROW]})

    def test_many_rows_get_the_same_answers(self, service, address):
        status, answer = ask_json(f"{address}/predict", {"rows": [ROW] * 90})
        assert status == 200
        assert answer["predictions"] == service.loaded.predict({"rows": [ROW]})["predictions"] * 90

    def test_explanations_as_json_and_text(self, service, address):
        request = {"row": ROW, "reasons": 2, "counterfactuals": 1}
        status, answer = ask_json(f"{address}/explain", request)
        assert status == 200
        assert answer == {"request_id": answer["request_id"], **service.loaded.explain(request)}
        status, headers, text = ask(f"{address}/explain", request, {"Accept": "text/plain"})
        assert (status, headers.get_content_type()) == (200, "text/plain")
        assert text == f"{answer['text']}\n"

    def test_health_and_model(self, service, address):
        status, answer = ask_json(f"{address}/health")
        assert (status, answer["status"], answer["model"]) == (200, "ok", service.loaded.sha256)
        assert ask_json(f"{address}/model") == (200, service.loaded.facts)

    def test_the_caller_may_choose_the_id(self, address):
        for given, is_kept in (("loan-17", True), ("x" * 129, False), ("a b", False)):
            _, headers, body = ask(f"{address}/predict", {"rows": [ROW]}, {"X-Request-ID": given})
            assert headers["X-Request-ID"] == json.loads(body)["request_id"]
            assert (headers["X-Request-ID"] == given) is is_kept

    def test_scripts_of_others_are_forbidden(self, address):
        _, headers, _ = ask(f"{address}/")
        assert "script-src 'self'" in headers["Content-Security-Policy"]


class TestErrors:
    @pytest.mark.parametrize(
        ("body", "status", "message"),
        [
            (b"", 400, "the body is not valid JSON"),
            (b"{", 400, "the body is not valid JSON"),
            (b"\xff\xfe\xfd", 400, "the body is not valid JSON"),
            (b"[" * 19_000, 400, "the body is not valid JSON"),
            (b'{"rows": [{"age": NaN}]}', 400, "NaN is not JSON"),
            (b"[]", 422, "pass an object with the field 'rows'"),
            (b" " * 20_001, 413, "larger than 20,000 bytes"),
            (json.dumps({"rows": [{}] * 101}).encode(), 422, "has 101 rows"),
            (json.dumps({"rows": [ROW | {"age": "\ud800"}]}).encode(), 422, "pass a number"),
            (
                json.dumps({"rows": [ROW | {"age": 1e308 * 10}]}).encode().replace(b"Infinity", b"1e999"),
                422,
                "too large",
            ),
        ],
        ids=["nothing", "cut", "not text", "deep", "NaN", "list", "bytes", "rows", "surrogate", "infinity"],
    )
    def test_bad_bodies(self, address, body, status, message):
        found, answer = ask_json(f"{address}/predict", body)
        assert found == status
        assert message in answer["detail"][0]["message"]

    def test_a_body_of_unknown_length_is_limited(self, address):
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)
        connection.request(
            "POST",
            "/predict",
            iter([b" " * 1000] * 30),
            encode_chunked=True,
            headers={"Transfer-Encoding": "chunked"},
        )
        assert connection.getresponse().status == 413
        connection.close()

    def test_findings_are_listed(self, address):
        status, answer = ask_json(f"{address}/predict", {"rows": [ROW, {"age": 1}]})
        assert status == 422
        assert [(one["row"], one["field"], one["kind"]) for one in answer["detail"]] == [
            (1, name, "missing_field") for name in ("income", "purpose", "town", "owns home")
        ]

    def test_other_methods_and_pages(self, address):
        assert ask(f"{address}/predict")[0] == 405
        assert ask(f"{address}/nothing")[0] == 404


class TestLog:
    def test_decisions_can_be_replayed(self, service, address, folder):
        _, answer = ask_json(f"{address}/predict", {"rows": [ROW | {"note": 1}]})
        ask_json(f"{address}/explain", {"row": ROW, "counterfactuals": 1})
        ask_json(f"{address}/predict", {"rows": [{}]})  # no decision
        lines = [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]
        assert [line["action"] for line in lines[-2:]] == ["predict", "explain"]
        entry = lines[-2]
        assert entry["request_id"] == answer.pop("request_id")
        assert entry["model"] == service.loaded.sha256
        assert (entry["request"], entry["answer"]) == ({"rows": [ROW | {"note": 1}]}, answer)
        replayed = list(replay(folder / "decisions.jsonl", load_model(folder / "loans.lht")))
        assert len(replayed) == len(lines)
        assert all(one.is_same and one.is_same_model for one in replayed)

    def test_another_model_is_noticed(self, folder, tmp_path):
        ask_row = {"rows": [ROW]}
        path = tmp_path / "log.jsonl"
        log = DecisionLog(path)
        first = Service(save_model("boost", tmp_path), log=log)
        first.answer("predict", ask_row, "one")
        first.answer("predict", {"rows": [ROW | {"town": "elsewhere"}]}, "two")
        log.close()
        other = list(replay(path, load_model(save_model("tree", tmp_path), is_strict=True)))
        assert [(one.request_id, one.is_same, one.is_same_model) for one in other] == [
            ("one", False, False),
            ("two", False, False),
        ]
        assert other[1].after["detail"][0]["kind"] == "unseen_category"

    def test_other_files_are_rejected(self, service, tmp_path, rejects):
        for content in ("{", "[]", '{"action": "delete"}'):
            (tmp_path / "log.jsonl").write_text(content)
            rejects(list, replay(tmp_path / "log.jsonl", service.loaded))

    def test_a_moved_log_is_opened_anew(self, tmp_path):
        path = tmp_path / "log.jsonl"
        log = DecisionLog(path)
        service = Service(save_model("tree", tmp_path), log=log)
        service.answer("predict", {"rows": [ROW]}, "one")
        path.rename(tmp_path / "old.jsonl")
        service.reload()
        service.answer("predict", {"rows": [ROW]}, "two")
        log.close()
        assert [json.loads(line)["request_id"] for line in path.read_text().splitlines()] == ["two"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
def test_a_reload_drops_no_request(tmp_path):
    path = save_model("tree", tmp_path)
    code = "from lhtree.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(path), "--port", "0", "--log", str(tmp_path / "log.jsonl")],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        first = process.stderr.readline()
        address = first.split()[-1]
        assert address.startswith("http://127.0.0.1:")
        statuses, models, is_done = [], set(), threading.Event()

        def ask_often():
            while not is_done.is_set():
                status, answer = ask_json(f"{address}/predict", {"rows": [ROW]})
                statuses.append(status)
                models.add(answer.get("model"))

        askers = [threading.Thread(target=ask_often) for _ in range(2)]
        for asker in askers:
            asker.start()
        assert wait_until(lambda: len(models) == 1 and len(statuses) > 5)
        save_model("boost", tmp_path)
        os.kill(process.pid, signal.SIGHUP)
        assert "was reloaded" in process.stderr.readline()
        assert wait_until(lambda: len(models) == 2)
        path.write_bytes(b"damaged")
        os.kill(process.pid, signal.SIGHUP)
        assert "the model was not reloaded" in process.stderr.readline()
        n_asked = len(statuses)
        assert wait_until(lambda: len(statuses) > n_asked + 5)
        is_done.set()
        for asker in askers:
            asker.join()
        assert set(statuses) == {200}
        assert len(models) == 2
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 0
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == len(statuses)


@pytest.mark.parametrize("kind", ["boost", "quantiles", "responses", "dated"])
@pytest.mark.parametrize("is_strict", [False, True])
def test_the_schema_holds_for_generated_requests(tmp_path, kind, is_strict):
    """Schemathesis sends valid and invalid requests, and compares status codes and answers with the schema."""
    from hypothesis import HealthCheck, Phase, assume, given, settings
    from hypothesis import strategies as st

    path = save_dated(tmp_path) if kind == "dated" else save_model(kind, tmp_path)
    app = build_app(Service(path, Limits(n_rows=3), is_strict=is_strict))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [operation.ok() for operation in schema.get_all_operations()]
    cases = [
        operation.as_strategy(generation_mode=mode)
        for operation in operations
        for mode in schemathesis.GenerationMode
        if operation.method == "post" or mode == schemathesis.GenerationMode.POSITIVE
    ]
    checked = []

    @settings(
        max_examples=120,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
    )
    @given(st.one_of(cases))
    def run(case):
        to = case.body.get("to") if isinstance(case.body, dict) else None
        is_range = isinstance(to, list) and len(to) == 2 and all(type(end) in (int, float) for end in to)
        assume(not is_range or to[0] <= to[1])  # JSON Schema cannot compare numbers
        response = case.call()
        case.validate_response(response)
        checked.append((case.path, response.status_code))

    run()
    assert {("/predict", 200), ("/predict", 422), ("/explain", 200), ("/explain", 422)} <= set(checked)
