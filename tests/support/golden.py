"""Golden files of texts. ``messages.txt`` of a folder has lines of code, each followed by its expected message in an
indented line, and names of tests, followed by their expected errors.
"""

import os
from contextlib import contextmanager

import pytest

RENEWED = {}  # errors by golden file, test and parameters


def read_lines(path):
    """Return the indented lines of a golden file by the line above them."""
    found, key = {}, None
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("    "):
            found[key].append(line[4:])
        else:
            key = line
            found[key] = []
    return found


def write_lines(path, found):
    written = (f"{key}\n" + "".join(f"    {line}\n" for line in lines) for key, lines in found.items())
    path.write_text("".join(written), encoding="utf-8")


def read_cases(path):
    """Return the messages by line of code."""
    return {code: lines[0] for code, lines in read_lines(path).items() if not code.startswith("test_")}


def write_cases(path, find_message):
    """Write the messages that ``find_message`` returns for the lines of code in the file."""
    write_lines(path, read_lines(path) | {code: [find_message(code)] for code in read_cases(path)})


class Rejects:
    """A context of an expected error; the different errors of a test are listed in the golden file of its folder."""

    def __init__(self):
        self.errors = []

    def __call__(self, function, /, *arguments, **options):
        """Expect an error of a call."""
        with self:
            function(*arguments, **options)

    def __enter__(self):
        self._raises = pytest.raises((Exception, SystemExit))  # the golden file has its type
        return self._raises.__enter__()

    def __exit__(self, kind, error, traceback):
        is_caught = self._raises.__exit__(kind, error, traceback)
        message = str(error).replace("\n", "\\n")
        self.errors.append(f"{kind.__name__}: {message}")
        return is_caught

    @contextmanager
    def warning(self):
        """Expect warnings instead of an error; the golden file lists them likewise."""
        with pytest.warns(Warning) as caught:  # noqa: PT030  # the golden file has its type
            yield
        self.errors += [f"{one.category.__name__}: {one.message}" for one in caught]


@pytest.fixture
def rejects(request, tmp_path):
    """``rejects(function, *arguments)`` or ``with rejects:`` expect an error.

    ``LHTREE_RENEW=1 pytest`` on whole files writes the golden file.
    """
    context = Rejects()
    yield context
    found = list(dict.fromkeys(error.replace(str(tmp_path), "<folder>") for error in context.errors))
    path, case = request.path.with_name("messages.txt"), request.node.nodeid.rpartition("/")[2]
    test = case.partition("[")[0]
    if "LHTREE_RENEW" in os.environ:
        RENEWED.setdefault(path, {}).setdefault(test, {})[case] = found
    else:
        golden = read_lines(path)
        assert found == golden.get(case, golden.get(test))


def renew():
    """Write the errors of the tests that ran, once per test if they do not depend on its parameters."""
    for path, tests in RENEWED.items():
        files = {test.partition("::")[0] for test in tests}
        lines = {key: value for key, value in read_lines(path).items() if key.partition("::")[0] not in files}
        for test, cases in tests.items():
            first = next(iter(cases.values()))
            lines |= {test: first} if all(found == first for found in cases.values()) else cases
        in_order = sorted(
            lines, key=lambda key: key if key.startswith("test_") else ""
        )  # lines of code first
        write_lines(path, {key: lines[key] for key in in_order})


def read_texts(path):
    """Return the texts of a golden file by their titles, the lines that start with "##"."""
    sections = path.read_text(encoding="utf-8").removeprefix("## ").split("\n\n## ")
    titles_and_texts = (section.partition("\n") for section in sections)
    return {title: text.removesuffix("\n") for title, _, text in titles_and_texts}


def write_texts(path, texts):
    """Write a golden file from functions that return texts, by their titles."""
    written = "\n\n".join(f"## {title}\n{find_text()}" for title, find_text in texts.items())
    path.write_text(f"{written}\n", encoding="utf-8")
