"""Commands as processes: pipes, signals, limits, closed streams."""

import gzip
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from support.fresh import HEARING
from support.pages import SHELL
from support.shop import fit_models, make_table, shop  # noqa: F401

pytestmark = pytest.mark.usefixtures("shop")

LHTREE = [sys.executable, "-c", "from lhtree.cli import main; main()"]


def test_pipes():
    with open("data.csv", "rb") as file:
        packed = gzip.compress(file.read())
    done = subprocess.run(
        [*LHTREE, "predict", "model.lht", "-"], input=packed, capture_output=True, check=True
    )
    assert (
        done.stdout.decode().split("\n")[1:-1]
        == fit_models()[0].predict(make_table().drop(columns="y")).tolist()
    )
    assert done.stderr == b""


def test_prediction_needs_no_scikit_learn():
    code = (
        "import sys; from lhtree.cli import main\n"
        "sys.argv[1:] = ['predict', 'model.lht', 'data.csv', '--out', 'o.csv']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('sklearn', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_closed_pipe_ends_the_command():
    pd.concat([make_table()] * 1000).to_csv("long.csv", index=False)
    child = subprocess.Popen(
        [*LHTREE, "predict", "model.lht", "long.csv", "--keep-all"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with child:
        assert child.stdout.readline() == b"size,weight,colour,shop,y,prediction\n"
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 4


signals = pytest.mark.parametrize(
    ("name", "code", "message"),
    [("SIGINT", 130, "lhtree: interrupted\n"), ("SIGTERM", 143, ""), ("SIGHUP", 129, "")],
)
needs_signals = pytest.mark.skipif(os.name == "nt", reason="needs signals")


def check_interrupted(child, code, message):
    """Check the exit code and the message of a process, and that it leaves no partial file."""
    assert child.wait(120) == code
    assert child.stderr.read() == message
    assert not [name for name in os.listdir() if name == "out.csv" or name.endswith(".part")]


@needs_signals
@signals
def test_signal_while_waiting_for_rows_ends_the_command(name, code, message):
    os.mkfifo("endless.csv")
    start = [sys.executable, "-c", HEARING + LHTREE[-1]]
    command = [*start, "predict", "model.lht", "endless.csv", "--out", "out.csv"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with child, open("endless.csv", "w", encoding="utf-8") as pipe:
        pipe.write("size,weight,colour,shop\n" + "1,2,red,north\n" * 400_000)
        pipe.flush()  # the pipe holds far less, so most rows have been read
        child.send_signal(getattr(signal, name))
        check_interrupted(child, code, message)


@needs_signals
def test_signal_during_imports_ends_the_command():
    start = "import lhtree.cli as cli; install = cli.handle_signals\n"
    start += "cli.handle_signals = lambda: (install(), print('started', flush=True))\ncli.main()"
    command = [sys.executable, "-c", HEARING + start, "predict", "model.lht", "-", "--out", "out.csv"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True) as child:
        assert child.stdout.readline() == "started\n"
        child.send_signal(signal.SIGTERM)
        check_interrupted(child, 143, "")


@needs_signals
def test_signal_in_a_finalizer_ends_the_command():
    """Exceptions in a finalizer are lost; the command still ends before it writes its file."""
    code_of_child = f"""{HEARING}
import os, signal, sys
from lhtree.cli import main, predict
class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(10))
make_batch = predict._make_batch
predict._make_batch = lambda *given: (Last(), make_batch(*given))[1]
main()
"""
    command = [sys.executable, "-c", code_of_child, "predict", "model.lht", "data.csv", "--out", "out.csv"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        check_interrupted(child, 130, "lhtree: interrupted\n")


# Every batch is written at once.
SMALL_GROUPS = "from lhtree.cli import main, predict\npredict._GROUP_BYTES = 1\n"


@pytest.mark.parametrize("ending", ["parquet", "csv.gz"])
def test_error_in_a_late_row_is_one_line(ending):
    table = make_table()
    table.loc[299, "shop"] = "west"
    table.to_csv("late.csv", index=False)
    command = ["predict", "model.lht", "late.csv", "--batch-rows", "50", "--out", f"out.{ending}"]
    done = subprocess.run(
        [sys.executable, "-c", SMALL_GROUPS + "main()", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("lhtree: late.csv, line 301: column 'shop' is 'west'")
    assert done.stderr.count("\n") == 1
    assert not [name for name in os.listdir() if name.startswith("out.") or name.endswith(".part")]


@needs_signals
@pytest.mark.parametrize("out", ["out.arrow", "out/"])
def test_interrupt_after_written_rows_is_one_line(out):
    code = f"""{HEARING}{SMALL_GROUPS}predict._PART_BYTES = 1
import os, signal
n_batches, make_batch = 0, predict._make_batch
def interrupt(*given):
    global n_batches
    n_batches += 1
    if n_batches == 4:
        os.kill(os.getpid(), signal.SIGINT)
    return make_batch(*given)
predict._make_batch = interrupt
main()
"""
    command = ["predict", "model.lht", "data.csv", "--batch-rows", "50", "--out", out]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "lhtree: interrupted\n")
    assert not [name for name in os.listdir() if name.startswith("out") or name.endswith(".part")]


@pytest.mark.skipif(os.name == "nt", reason="needs limits")
@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
def test_full_disk(name):
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    code += SMALL_GROUPS + "main()"
    command = [sys.executable, "-c", code, "predict", "model.lht", "data.csv", "--keep-all", "--out", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f"lhtree: cannot write {name}: File too large\n"
    assert not [found for found in os.listdir() if found == name or found.endswith(".part")]


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize(
    ("rest", "code", "out", "err"),
    [
        ("inspect model.lht --json >&-", 0, "", ""),
        ("predict model.lht data.csv >&-", 0, "", ""),
        ("predict model.lht nowhere.csv >&-", 3, "", "lhtree: cannot read nowhere.csv: No such file"),
        ("predict model.lht nowhere.csv 2>&-", 3, "", ""),
        ("predict model.lht - <&-", 3, "", "lhtree: standard input is empty"),
    ],
)
def test_closed_streams(rest, code, out, err):
    done = subprocess.run(
        ["sh", "-c", SHELL + f"lhtree {rest}"],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.startswith(err)
    assert done.stderr.count("\n") == bool(err)


def test_debug_shows_the_traceback():
    for way in ({"args": ["--debug"], "env": {}}, {"args": [], "env": {"LHTREE_DEBUG": "1"}}):
        done = subprocess.run(
            [*LHTREE, *way["args"], "predict", "model.lht", "nowhere.csv"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | way["env"],
        )
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        assert "nowhere.csv" in done.stderr
