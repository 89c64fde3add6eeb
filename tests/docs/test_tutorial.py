"""The tutorial, from its table to the served model: every snippet and command prints the output shown there."""

import doctest
import json
import re
import shlex
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.pages import call, load_example, settle, split_commands

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
)


def run_python(code, names):
    test = doctest.DocTestParser().get_doctest(code, names, PAGE.name, str(PAGE), 0)
    failures = []
    doctest.DocTestRunner().run(test, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)
    names.update(test.globs)


@contextmanager
def serving(app):
    """A server of the app on a free port."""
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def ask(port, command):
    """Send the request of a curl command to the test's port."""
    _, place, flag, content = shlex.split(command)
    assert flag == "--json"
    request = urllib.request.Request(
        f"http://{place}".replace("localhost:8000", f"127.0.0.1:{port}"),
        content.encode(),
        {"Content-Type": "application/json"},
    )
    try:
        answer = urllib.request.urlopen(request, timeout=600)
    except urllib.error.HTTPError as error:  # is an answer, too
        answer = error
    with answer:
        assert answer.status in (200, 422)
        return json.load(answer)


def test_tutorial(tmp_path, monkeypatch, capsys):
    for module in ("typer", "rich", "pandas", "pyarrow", "onnx", "fastapi"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LHTREE_MODEL", "loans.lht")
    names, kinds, asked = {}, [], []
    for language, code in BLOCKS:
        kinds.append(language)
        if language == "python":
            run_python(code, names)
        elif language == "console":
            for command, expected in split_commands(code):
                assert settle(call(command, capsys)) == settle(expected), command
        elif code.startswith("curl "):
            asked.append(code)
        elif language == "json":
            with serving(load_example("serve").app) as port:
                assert ask(port, asked.pop()) == json.loads(code)
        else:
            assert code == "LHTREE_MODEL=loans.lht uvicorn --app-dir examples serve:app\n"
    assert {"python", "console", "sh", "json"} == set(kinds)
    assert not asked


def test_service_rejects_unknown_columns(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    pd = pytest.importorskip("pandas")
    import lhtree

    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": list("rgrg")})
    lhtree.save(lhtree.LHTClassifier(gamma=1).fit(table, [0, 0, 1, 1]), tmp_path / "model.lht")
    monkeypatch.setenv("LHTREE_MODEL", str(tmp_path / "model.lht"))
    with serving(load_example("serve").app) as port:
        place = f"curl 127.0.0.1:{port}"
        assert ask(port, f"""{place}/predict --json '[{{"colour": "r", "size": null}}]'""")[0].keys() == {
            "0",
            "1",
        }
        lacks = "columns are missing from the rows: colour. Pass every column (null for a missing value)."
        assert ask(port, f"""{place}/predict --json '[{{"size": 1}}]'""")["detail"] == lacks
        assert "size, colour" in ask(port, f"{place}/predict --json '[]'")["detail"]
        assert "no value for 'size'" in ask(port, f"""{place}/explain --json '{{"colour": "r"}}'""")["detail"]
        assert ask(port, f"""{place}/predict --json '{{"size": 1}}'""")["detail"][0]["type"] == "list_type"
