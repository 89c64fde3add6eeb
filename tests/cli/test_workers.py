"""``lhtree predict`` with several processes and with folders: the same rows in the same order, whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lhtree.cli import _output
from support.fresh import HEARING
from support.shop import fail, fit_models, make_table, shop, succeed  # noqa: F401
from support.waiting import wait_until

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("shop")

N_ROWS = 300


@pytest.fixture
def table():
    """The table as Parquet in five row groups, and as a folder of three files."""
    frame = make_table(N_ROWS).reset_index(names="id")
    frame.to_parquet("data.parquet", row_group_size=70, index=False)
    os.mkdir("data")
    for number, (first, last) in enumerate([(0, 10), (10, 10), (10, N_ROWS)]):
        frame[first:last].to_parquet(f"data/part-{number}.parquet", row_group_size=100, index=False)
    Path("data/_SUCCESS").touch()
    return frame


def predict(capsys, *arguments):
    return succeed(capsys, "predict", "model.lht", *arguments, "--keep", "id", "--proba").out


def read_folder(path):
    assert all(name.startswith("part-") for name in os.listdir(path))
    return pd.concat([pd.read_parquet(f"{path}/{name}") for name in sorted(os.listdir(path))])


def check_nothing_left(*names):
    assert not [name for name in os.listdir() if name in names or ".part" in name]


def test_workers_and_folders_change_nothing(capsys, table):
    alone = predict(capsys, "data.parquet")
    assert alone.count("\n") == N_ROWS + 1
    assert predict(capsys, "data.parquet", "--workers", 2) == alone
    assert predict(capsys, "data") == alone
    assert predict(capsys, "data", "--batch-rows", 7) == alone


def test_a_folder_is_written_whole(capsys, table, monkeypatch):
    monkeypatch.setattr(_output, "_PART_BYTES", 2000)
    succeed(capsys, "predict", "model.lht", "data", "--keep-all", "--batch-rows", 50, "--out", "out/")
    assert len(os.listdir("out")) > 1
    out = read_folder("out")
    assert out["id"].tolist() == list(range(N_ROWS))
    assert out["prediction"].tolist() == fit_models()[0].predict(make_table().drop(columns="y")).tolist()
    check_nothing_left()
    os.mkdir("empty")
    succeed(capsys, "predict", "model.lht", "out", "--keep", "id", "--out", "empty/")
    assert read_folder("empty")["id"].tolist() == list(range(N_ROWS))


@pytest.mark.parametrize(
    ("data", "out", "options", "code", "told"),
    [
        ("data", "data/", (), 4, "cannot write data/: it is not empty"),
        ("data", "data/out.parquet", (), 4, "it is in the input folder"),
        ("data", "new/", ("--out-format", "csv"), 2, "files of a folder are Parquet"),
        ("data", "nowhere/new/", (), 4, "the directory nowhere does not exist"),
        ("data.csv", "out.csv", ("--workers", "2"), 2, "data.csv is not a Parquet file or folder"),
        ("data.parquet", "out.csv", ("--workers", "0"), 2, "--workers 0 is too small"),
        ("nowhere.parquet", "out.csv", ("--workers", "2"), 3, "cannot read nowhere.parquet"),
        ("data", "out.csv", ("--format", "csv"), 2, "of folders, Parquet files are read only"),
    ],
)
def test_refusals(capsys, table, data, out, options, code, told):
    before = sorted(os.listdir()), sorted(os.listdir("data"))
    ran = fail(capsys, "predict", "model.lht", data, *options, "--out", out)
    assert ran.code == code
    assert told in ran.err
    assert (sorted(os.listdir()), sorted(os.listdir("data"))) == before


def test_files_of_a_folder_that_differ(capsys, table):
    table.drop(columns="size").to_parquet("data/other.parquet")
    assert "data/other.parquet has no column 'size'" in fail(capsys, "predict", "model.lht", "data").err
    table.assign(size="large").to_parquet("data/other.parquet")
    assert "different types in different files" in fail(capsys, "predict", "model.lht", "data").err
    table.assign(size=range(N_ROWS)).to_parquet("data/other.parquet")  # integers among floats
    assert predict(capsys, "data").count("\n") == 2 * N_ROWS + 1
    Path("data/other.parquet").write_bytes(b"PAR1 but not really")
    ran = fail(capsys, "predict", "model.lht", "data")
    assert ran.code == 3
    assert "data/other.parquet is damaged" in ran.err or "not a folder of Parquet files" in ran.err


def test_folders_that_name_a_column(capsys, table):
    for colour, rows in table.groupby("colour", sort=True):
        os.makedirs(f"by/colour={colour}")
        rows.drop(columns="colour").to_parquet(f"by/colour={colour}/0.parquet", index=False)
    given = table.dropna(subset="colour").sort_values("colour", kind="stable")
    out = succeed(capsys, "predict", "model.lht", "by", "--workers", 2).out
    assert (
        out.split("\n")[1:-1] == fit_models()[0].predict(given[["size", "weight", "colour", "shop"]]).tolist()
    )


def test_errors_of_workers_name_the_row(capsys, table):
    table.loc[250, "shop"] = "west"
    table.to_parquet("data.parquet", row_group_size=70, index=False)
    table[120:].to_parquet("data/part-2.parquet", index=False, row_group_size=100)
    table[10:120].to_parquet("data/part-1.parquet", index=False)
    ran = fail(capsys, "predict", "model.lht", "data.parquet", "--out", "out.csv")
    assert ran.err.startswith("lhtree: data.parquet, row 251: column 'shop' is 'west'")
    for n_workers in (1, 2):
        ran = fail(capsys, "predict", "model.lht", "data", "--workers", n_workers, "--out", "out/")
        assert ran.err.startswith("lhtree: data, part-2.parquet, row 131: column 'shop' is 'west'")
    ran = succeed(capsys, "predict", "model.lht", "data", "--workers", 2, "--unseen", "missing")
    assert ran.err == "lhtree: categories not seen in training are treated as missing: 1 of column 'shop'\n"
    check_nothing_left("out", "out.csv")


HELD = f"""{HEARING}
import itertools, multiprocessing, time
from lhtree.cli import _workers, main
receive, numbers = _workers._receive, itertools.count()
def hold(connection, worker):
    if next(numbers) == 20:
        print("held", flush=True)
        while len(multiprocessing.active_children()) == 2:
            time.sleep(0.01)
    return receive(connection, worker)
_workers._receive = hold
main()
"""  # waits in the middle of its work until one of its workers ends; both have sent something by then


def find_workers(pid):
    """Processes that wait for parts; Python also starts one that tracks resources."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while its file is read
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("name", "to", "code", "told"),
    [
        ("SIGINT", "group", 130, "lhtree: interrupted\n"),
        ("SIGKILL", "command", -9, ""),
        (
            "SIGKILL",
            "worker",
            1,
            "lhtree: a worker process was killed by signal 9: if memory ran out, pass fewer --workers or write smaller "
            "row groups\n",
        ),
    ],
)
def test_signals_leave_nothing(capsys, table, name, to, code, told):
    pd.concat([table] * 300).to_parquet("long.parquet", row_group_size=300, index=False)
    options = ["predict", "model.lht", "long.parquet", "--workers", "2", "--keep-all", "--out", "out/"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HELD, *options], **pipes, start_new_session=True) as child:
        assert child.stdout.readline() == "held\n"
        workers, number = find_workers(child.pid), getattr(signal, name)
        assert len(workers) == 2
        if to == "group":
            os.killpg(child.pid, number)
        else:
            os.kill(child.pid if to == "command" else workers[0], number)
        assert child.wait(120) == code
        assert child.stderr.read() == told
        assert wait_until(lambda: not any(map(is_running, workers)))
    assert not os.path.exists("out")
    if to == "command":  # it could not remove its part; the next one does
        succeed(capsys, "predict", "model.lht", "data.parquet", "--out", "other.csv")
    check_nothing_left()
