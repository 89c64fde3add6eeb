"""The tutorial, from its table to the served model: every snippet and command prints the output shown there."""

import doctest
import json
import re
import shlex
from pathlib import Path

from support.pages import call, settle, split_commands
from support.serving import ask_json, serving

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


def ask_as_curl(address, command):
    """Send the request of a curl command to the test's server; drop what differs from run to run."""
    _, place, flag, content = shlex.split(command)
    assert flag == "--json"
    answer = ask_json(place.replace("localhost:8000", address), json.loads(content))[1]
    return {name: value for name, value in answer.items() if name not in ("request_id", "model")}


def test_tutorial(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    from lhtree.serve import Service, build_app

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
            expected = json.loads(code)
            with serving(build_app(Service("loans.lht"))) as address:
                found = ask_as_curl(address, asked.pop())
            assert found == {name: expected[name] for name in found}
        else:
            assert code == "lhtree serve loans.lht\n"
    assert {"python", "console", "sh", "json"} == set(kinds)
    assert not asked
