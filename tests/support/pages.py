"""Commands and examples of the pages, run."""

import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.shop import run

ROOT = Path(__file__).parents[2]
SHELL = 'lhtree() { "$PYTHON" -c "from lhtree.cli import main; main()" "$@"; }\n'


VARYING = {
    r"\d+(\.\d+)? (µs|ms|s)\b": "TIME",
    r"\b[0-9a-f]{64}\b|\([0-9a-f]{12}\)": "SHA256",
    r"127\.0\.0\.1:\d+": "ADDRESS",
    r"(lhtree|numpy|python) \d[\w.]*": "VERSION",
    r"\d+(\.\d+)? (bytes|kB|MB)\b": "SIZE",
    r"(?m)^CART .*": "CART",  # as it may be in other versions
    r"(?m)^Not installed: .*\n": "",
    r"[ ─]+(?=\n|$)|─+": "",
    r" +": " ",
}


def split_commands(block: str) -> list[tuple[str, str]]:
    """Return every command of a console block with its output."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def settle(shown: str) -> str:
    """Replace text that varies between runs: times, sizes, versions, and widths that follow from them."""
    for pattern, instead in VARYING.items():
        shown = re.sub(pattern, instead, shown)
    return shown


def call(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    if command.startswith("lhtree ") and not set("|<>*") & set(command):
        ran = run(capsys, *shlex.split(command)[1:])
        return ran.out + ran.err
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(
        ["sh", "-c", SHELL + command], env=environment, capture_output=True, text=True, timeout=600
    )
    return done.stdout + done.stderr


class Trimmed(doctest.OutputChecker):
    """pandas pads its lines; the pages do not."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        got = "".join(f"{line.rstrip()}\n" for line in got.splitlines())
        return super().check_output(want, got, optionflags)


def find_blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_examples(page: Path) -> None:
    """Run the Python examples of a page in order and compare their output with the page."""
    # Within a block an empty line is one that the code prints.
    examples = "\n".join(
        re.sub(r"^$(?=.)", "<BLANKLINE>", block, flags=re.MULTILINE | re.DOTALL)
        for block in find_blocks(page, "python")
    )
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    assert len(test.examples) > 3
    failures: list[str] = []
    doctest.DocTestRunner(Trimmed()).run(test, out=failures.append)
    assert not failures, "".join(failures)


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
