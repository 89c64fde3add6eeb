"""Errors of the command line: one line, a documented exit code, no traceback.

``LHTREE_RENEW=1 pytest tests/cli/test_errors.py -k messages`` writes ``messages.txt``.
"""

import errno
import gzip
import os
import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lhtree
from lhtree import cli
from lhtree.cli._errors import ExitCode, Guard, Problem, reading, writing
from support.golden import read_cases, write_cases
from support.shop import make_table, run, shop, write_files  # noqa: F401

DOCUMENTED = {code.value for code in ExitCode}


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (Problem("no rows", ExitCode.DATA), 1, "no rows"),
        (Problem("two\n lines", ExitCode.WRITE), 4, "two lines"),
        (ValueError("X is odd"), 1, "X is odd"),
        (TypeError(), 1, "TypeError"),
        (lhtree.ModelFileError("not sound"), 3, "not sound"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.csv"), 3, "a.csv: No such file"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a\n\x1b.csv"), 3, r"a \x1b.csv: No such file"),
        (OSError(errno.ENOSPC, "No space left on device"), 4, "No space left on device"),
        (OSError("odd"), 3, "odd"),
        (MemoryError(), 1, "not enough memory: use fewer rows or columns (--drop NAME), or a smaller model"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ModuleNotFoundError("rich is not installed"), 1, "rich is not installed"),
        (Problem("a \x1b[31mred\x07 name"), 1, r"a \x1b[31mred\x07 name"),
    ],
)
def test_exceptions_are_printed_in_one_line(capsys, error, code, message):
    def command():
        raise error

    with pytest.raises(SystemExit) as stop:
        Guard().wrap(command)()
    assert stop.value.code == code
    assert capsys.readouterr() == ("", f"lhtree: {message}\n")
    guard = Guard()
    guard.is_debug = True
    with pytest.raises(type(error)):
        guard.wrap(command)()


def test_unexpected_exceptions_are_raised():
    def command():
        raise AssertionError("a defect of ours")

    with pytest.raises(AssertionError):
        Guard().wrap(command)()


def test_errors_name_the_file(rejects):
    with rejects as caught, reading("a.csv"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert caught.value.code == ExitCode.READ
    with rejects as caught, writing("a.csv"):
        raise OSError("odd")
    assert caught.value.code == ExitCode.WRITE


MESSAGES = Path(__file__).parent / "messages.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with valid and invalid tables."""
    folder = tmp_path_factory.mktemp("shop")
    write_files(folder)
    table = make_table()
    (folder / "folder.csv").mkdir()
    table[:0].to_csv(folder / "none.csv", index=False)
    table[:3].assign(y=["a", "b", "b"]).to_csv(folder / "few.csv", index=False)
    table.assign(y=table["y"].where(table.index > 9)).to_csv(folder / "missing.csv", index=False)
    table.assign(shop="west").to_csv(folder / "west.csv", index=False)
    table.assign(prediction=1).to_csv(folder / "again.csv", index=False)
    table.assign(tags=[["a"]] * 300).to_parquet(folder / "lists.parquet")
    table.rename(columns={"weight": "Weigth"}).to_csv(folder / "renamed.csv", index=False)
    X, weight = table.drop(columns=["y", "weight"]), table["weight"]
    lhtree.save(lhtree.LHForestRegressor(20, random_state=0).fit(X, weight), folder / "weights.lht")
    upper = lhtree.LHBoostRegressor("quantile", quantile=0.8, max_iter=5, random_state=0)
    lhtree.save(upper.fit(X, weight), folder / "upper.lht")
    return folder


def find_message(capsys, command):
    """Return the exit code and the message of a command; it must leave files as they are."""
    before = {path.name: path.stat().st_mtime_ns for path in Path().iterdir()}
    ran = run(capsys, *shlex.split(command)[1:])
    assert {path.name: path.stat().st_mtime_ns for path in Path().iterdir()} == before
    assert (ran.out, ran.err[:8], ran.err.count("\n")) == ("", "lhtree: ", 1), command
    return f"{ran.code} {ran.err[8:-1]}"


def test_messages(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    if "LHTREE_RENEW" in os.environ:
        write_cases(MESSAGES, lambda command: find_message(capsys, command))
    cases = read_cases(MESSAGES)
    assert {command: find_message(capsys, command) for command in cases} == cases


@pytest.mark.usefixtures("shop")
class TestUsage:
    @pytest.mark.parametrize("command", cli.COMMANDS)
    def test_unknown_options(self, capsys, command):
        ran = run(capsys, command, "--no-such-option")
        assert ran == (2, "", f"lhtree: no such option: --no-such-option (see lhtree {command} --help)\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            *("fitt", "fit data.csv", "predict a b c", "explain a --row x"),
            *(f"fit data.csv -t y -o new.lht {option}" for option in ("--task full", "--model bush")),
        ],
    )
    def test_invalid_usage_is_one_line(self, capsys, arguments):
        ran = run(capsys, *arguments.split())
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.startswith("lhtree: ")
        assert ran.err.endswith(" --help)\n")

    @pytest.mark.parametrize("arguments", [(), ("fit",)])
    def test_command_without_arguments_shows_help(self, capsys, arguments):
        ran = run(capsys, *arguments)
        assert (ran.code, ran.err) == (2, "")
        assert ran.out.count("Usage: lhtree") == 1

    @pytest.mark.parametrize("code", sorted(DOCUMENTED))
    def test_exit_codes_are_documented(self, capsys, code):
        assert f" {code} " in run(capsys, "--help").out


# Cells of tables, valid and invalid.
CELLS = st.sampled_from(
    [
        *"1?-,;\t\r\0 '\"é😀",
        "",
        "a\nb",
        *["2.5", "NA", "red", '""', '"a', "inf", "1e999", "2024-01-01", "1,5", "#1"],
    ]
)
ROWS = st.lists(st.lists(CELLS, min_size=0, max_size=6).map(",".join), max_size=12)
NAMES = "size,weight,colour,shop,y"
HEADERS = st.sampled_from(
    [NAMES, "y,size", "size,size,y", ",size,y", "y", "", '"size,y', "size;y", "\ufeffsize,y"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.builds(lambda header, rows, end: end.join([header, *rows]), HEADERS, ROWS, ENDS)


SOUND = st.tuples(
    st.sampled_from(["1.5", "2", "", "NA"]),
    st.sampled_from(["7", "8", "?"]),
    st.sampled_from(["red", "blue", '"green"', ""]),
    st.sampled_from(["north", "south"]),
    st.sampled_from(["kept", "sold"]),
).map(",".join)
TABLES = st.lists(SOUND, max_size=12).map(lambda rows: "\n".join([NAMES, *rows]))


@st.composite
def damaged(draw):
    """Bytes of a table, some of them wrong."""
    content = draw(st.one_of(TABLES, TEXTS)).encode(
        draw(st.sampled_from(["utf-8", "utf-16", "latin-1", "cp1252"])), "replace"
    )
    if draw(st.booleans()):
        content = gzip.compress(content)
    content = bytearray(content)
    for place, value in draw(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4)):
        if place < len(content):
            content[place] = value
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


@settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples // 2,
)
@given(content=st.one_of(damaged(), st.binary(max_size=300)))
def test_damaged_tables(folder, capsys, content):
    path, out = folder / "odd.csv", folder / "out"
    path.write_bytes(content)
    commands = [
        ("fit", path, "--target", "y", "--rounds", 2, "--quiet", "--out", out),
        ("predict", folder / "model.lht", path, "--out", out, "--out-format", "csv", "--keep-all"),
        ("evaluate", folder / "model.lht", path, "--target", "y"),
    ]
    for command in commands:
        out.unlink(missing_ok=True)
        ran = run(capsys, *command)
        assert ran.code in DOCUMENTED, ran
        assert ran.err.count("\n") == (0 if ran.code == 0 else 1), ran
        assert ran.code == 0 or ran.err.startswith("lhtree: ")
        assert ran.code == 0 or not out.exists()
        assert [name for name in os.listdir(folder) if name.endswith(".part")] == []
