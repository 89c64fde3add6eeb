"""The paper's data sets: formats, folders, and downloads from a local server that fails in many ways."""

import errno
import gzip
import hashlib
import io
import os
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from benchmarks.common import uci

from support.waiting import wait_until

ZIP = "spambase.zip"
NAMES = list(uci.SOURCES)
DATA = os.environ.get("LHTREE_DATA")
HEADERS = {
    "rice": "% Rice\r\n\r\n@RELATION rice\r\n@ATTRIBUTE Area\tINTEGER\r\n@DATA\r\n",
    "eeg_eye_state": "@RELATION EEG_DATA\r\n\r\n@ATTRIBUTE AF3 NUMERIC\r\n@DATA\r\n",
}


def make_table(name, n_rows=12):
    X = np.random.default_rng(len(name)).normal(size=(n_rows, 4)).round(4)
    X[0, 0] = 0.0
    return uci.Table(X, np.array(["a", "b", "c"])[np.arange(n_rows) % 3])


def write_lines(table, delimiter):
    rows = zip(table.X.tolist(), table.labels, strict=True)
    return [delimiter.join([*map(repr, row), label]) for row, label in rows]


def write_csv(table, name):
    return gzip.compress("\n".join(["p,q,r,s,class", *write_lines(table, ","), ""]).encode())


def write_raw(name, lines):
    """The file inside UCI's archive."""
    return (HEADERS.get(name, "") + "\r\n".join([*lines, ""])).encode()


def write_archive(table, name):
    """UCI's zip file with its other members."""
    source = uci.SOURCES[name]
    lines = write_lines(table, source.delimiter or "\t")
    if name == "seeds":  # as published: some tabs are doubled
        lines[1] = lines[1].replace("\t", "\t\t", 2)
    return zip_files({f"{name}.names": b"| notes", source.member: write_raw(name, lines)})


def zip_files(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Small tables instead of the published ones, an empty cache, and no server."""
    tables = {name: make_table(name) for name in NAMES}
    for name, table in tables.items():
        monkeypatch.setitem(uci.SOURCES, name, uci.SOURCES[name]._replace(digest=uci.digest(table)))
    monkeypatch.delenv("LHTREE_DATA", raising=False)
    monkeypatch.setenv("LHTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(uci, "_URL", "http://127.0.0.1:9")  # the port that discards
    monkeypatch.setattr(uci, "_WAITS", (0.0, 0.0, 0.0))
    return tables


class Server(ThreadingHTTPServer):
    """Answers each request with the next of ``answers``; the last answer is repeated."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.paths, self.closing = [], [], threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.paths.append(self.path)
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, *_):
        pass


def send(content, *, status=200, length=None, stall=False):
    """Return an answer with this content; ``length`` is the announced length, 0 announces none."""

    def answer(handler):
        handler.send_response(status)
        if length != 0:
            handler.send_header("Content-Length", str(len(content) if length is None else length))
        handler.end_headers()
        handler.wfile.write(content)
        if stall:
            handler.wfile.flush()
            handler.server.closing.wait(600)

    return answer


@pytest.fixture
def server(small, monkeypatch):
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(uci, "_URL", server.url)
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def archive(small):
    return write_archive(small["spambase"], "spambase")


def list_cache():
    folder = Path(os.environ["LHTREE_CACHE"])
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def load():
    return uci.load("spambase")[0]


@pytest.mark.parametrize("name", NAMES)
def test_downloads_are_cached(name, server, small):
    server.answers = [send(write_archive(small[name], name))]
    for _ in range(2):
        np.testing.assert_array_equal(uci.load(name)[0], small[name].X)
    source = uci.SOURCES[name]
    assert server.paths == [f"/{source.number}/{source.archive}"]  # the second time from the cache
    assert list_cache() == [source.archive]


def test_lhtree_data_precedes_downloads(server, small, archive, tmp_path, monkeypatch):
    server.answers = [send(b"", status=500)]
    (tmp_path / ZIP).write_bytes(archive)
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    np.testing.assert_array_equal(load(), small["spambase"].X)
    assert not server.paths
    assert not list_cache()


@pytest.mark.parametrize("length", [None, 0], ids=["known length", "unknown length"])
def test_temporary_failures_are_retried(server, small, archive, length):
    half = archive[: len(archive) // 2]
    server.answers = [
        send(b"busy", status=503),
        send(half, length=len(archive)),  # the connection breaks
        send(half, length=length),  # a proxy cached half a file
        send(archive, length=length),
    ]
    np.testing.assert_array_equal(load(), small["spambase"].X)
    assert len(server.paths) == 4
    assert list_cache() == [ZIP]


@pytest.mark.parametrize(
    ("answer", "n_tries", "reason"),
    [
        (lambda content: send(b"", status=404), 1, "HTTP Error 404"),
        (lambda content: send(b"", status=429), 4, "HTTP Error 429"),
        (lambda content: send(b"", status=500), 4, "HTTP Error 500"),
        (lambda content: send(content[:99], length=len(content)), 4, "99"),
        (lambda content: send(content[:99], length=0), 4, "not a complete zip file"),
        (lambda content: send(content[:99] + b"?" + content[100:]), 4, "not a complete zip file"),
        (lambda content: send(b"<html>Please log in</html>"), 4, "not a complete zip file"),
        (lambda content: lambda handler: handler.wfile.write(b"gibberish\r\n\r\n"), 4, "gibberish"),
    ],
    ids=["404", "429", "500", "truncated", "cut", "flipped byte", "web page", "not HTTP"],
)
def test_permanent_failures_raise_and_leave_no_file(server, archive, answer, n_tries, reason):
    server.answers = [answer(archive)]
    with pytest.raises(FileNotFoundError, match=reason) as caught:
        load()
    assert f"save it as {ZIP} in {os.environ['LHTREE_CACHE']}" in str(caught.value)
    assert len(server.paths) == n_tries
    assert not list_cache()


@pytest.mark.parametrize("n_sent", [0, 99])
def test_stalled_connections_time_out(server, archive, n_sent, monkeypatch):
    monkeypatch.setattr(uci, "_TIMEOUT", 0.2)
    server.answers = [send(archive[:n_sent], length=len(archive), stall=True)]
    with pytest.raises(FileNotFoundError, match="timed out"):
        load()
    assert wait_until(
        lambda: len(server.paths) == 4
    )  # the server may read a request after the client's timeout
    assert not list_cache()


def test_other_content_is_rejected_without_retry(server, small):
    table = small["spambase"]
    server.answers = [send(write_archive(table._replace(X=table.X + 1.0), "spambase"))]
    with pytest.raises(ValueError, match=r"spambase\.zip has changed: its 12 rows of 4 features differ"):
        load()
    server.answers = [send(zip_files({"other.data": b""}))]
    with pytest.raises(ValueError, match=r"it contains no spambase\.data"):
        load()
    assert len(server.paths) == 2
    assert not list_cache()


def test_too_large_files_are_rejected(server, archive, monkeypatch):
    monkeypatch.setattr(uci, "_MOST_BYTES", 100)
    server.answers = [send(archive)]
    with pytest.raises(ValueError, match="more than 100 bytes"):
        load()
    assert not list_cache()


@pytest.mark.usefixtures("small")
def test_error_without_network_names_file_and_folder():
    with pytest.raises(FileNotFoundError, match="eeg_eye_state was not found on this computer") as caught:
        uci.load("eeg_eye_state")
    for text in ("/264/eeg+eye+state.zip", "eeg_eye_state.csv.gz", "LHTREE_DATA", os.environ["LHTREE_CACHE"]):
        assert text in str(caught.value)


def test_damaged_cache_is_replaced(server, small, archive):
    cached = Path(os.environ["LHTREE_CACHE"]) / ZIP
    cached.parent.mkdir()
    cached.write_bytes(archive[:-50])
    server.answers = [send(b"", status=404), send(archive)]
    with pytest.raises(FileNotFoundError, match=r"spambase\.zip cannot be used: it is not a complete zip"):
        load()
    np.testing.assert_array_equal(load(), small["spambase"].X)
    assert cached.read_bytes() == archive


def test_failed_writes_leave_no_file(server, small, archive, monkeypatch):
    errors = [KeyboardInterrupt(), OSError(errno.ENOSPC, "no space left")]

    def fail(*_):
        raise errors.pop(0)

    server.answers = [send(archive)]
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        load()
    assert not list_cache()
    with pytest.warns(UserWarning, match="could not be stored"):
        np.testing.assert_array_equal(load(), small["spambase"].X)
    assert not list_cache()


def test_two_processes_can_download_at_once(server, archive):
    code = f"""
from benchmarks.common import uci
uci._TIMEOUT, uci._URL = 600.0, {server.url!r}
uci.SOURCES["spambase"] = uci.SOURCES["spambase"]._replace(digest={uci.SOURCES["spambase"].digest!r})
print(uci.load("spambase")[0].shape)
"""
    both = threading.Barrier(2, timeout=600)

    def answer(handler):
        both.wait()  # neither finds the other's file
        send(archive)(handler)

    server.answers = [answer]
    root = Path(__file__).parents[2]
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=600)[0] for process in started] == ["(12, 4)\n"] * 2
    assert len(server.paths) == 2
    assert list_cache() == [ZIP]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("write", [write_csv, write_archive])
@pytest.mark.parametrize("variable", ["LHTREE_DATA", "LHTREE_CACHE"])
def test_both_formats_are_read_from_both_folders(name, write, variable, small, tmp_path, monkeypatch):
    path = f"{name}.csv.gz" if write is write_csv else uci.SOURCES[name].archive
    (tmp_path / path).write_bytes(write(small[name], name))
    monkeypatch.setenv(variable, str(tmp_path))
    X, y = uci.load(name)
    np.testing.assert_array_equal(X, small[name].X)
    assert (X.dtype, X.flags.c_contiguous, y.dtype) == (np.float64, True, np.int64)
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[y], small[name].labels)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "not a complete gzip file"),
        (lambda content: b"no gzip", "not a complete gzip file"),
        (lambda content: gzip.compress(gzip.decompress(content)[:-1] + b"9\n"), "differ from"),
        (lambda content: gzip.compress(gzip.decompress(content).splitlines()[0]), "it has no rows"),
        (lambda content: gzip.compress(gzip.decompress(content) + b"1,2\n"), "number of columns changed"),
    ],
    ids=["cut", "not gzip", "values", "empty", "ragged"],
)
def test_error_names_an_invalid_file(small, damage, message, tmp_path, monkeypatch):
    path = tmp_path / "seeds.csv.gz"
    path.write_bytes(damage(write_csv(small["seeds"], "seeds")))
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=message) as caught:
        uci.load("seeds")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "files",
    [
        {"readme.txt": b""},
        {"Rice_Cammeo_Osmancik.arff": b"1,2,3"},
        {"Rice_Cammeo_Osmancik.arff": b"0" * 1000},
    ],
)
def test_archives_with_other_content_are_rejected(files, rejects, monkeypatch):
    monkeypatch.setattr(uci, "_MOST_BYTES", 999)
    with rejects:
        uci.read_archive(zip_files(files), uci.SOURCES["rice"])


def test_archive_may_contain_folders(small):
    source = uci.SOURCES["magic"]
    content = zip_files(
        {f"magic/{source.member.upper()}": write_raw("magic", write_lines(small["magic"], ","))}
    )
    np.testing.assert_array_equal(uci.read_archive(content, source).X, small["magic"].X)


def test_digest_depends_on_values_only():
    table = uci.Table(np.array([[0.0, 1.5]]), np.array(["a"]))
    assert uci.digest(uci.parse_rows("-0, 1.50e0, 'a'\r\n", ",")) == uci.digest(table)
    for other in ("0,1.5000000000000002,a", "0,1.5,b", "0,1.5,a\n0,1.5,a"):
        assert uci.digest(uci.parse_rows(other, ",")) != uci.digest(table)


def test_cache_folder_follows_the_platform(monkeypatch, tmp_path):
    for name in ("LHTREE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for platform, parts in {
        "linux": ".cache/lhtree",
        "darwin": "Library/Caches/lhtree",
        "win32": "AppData/Local/lhtree/Cache",
    }.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert uci.cache_folder() == tmp_path / parts
    monkeypatch.setenv("LHTREE_CACHE", "~/cache")
    assert uci.cache_folder() == tmp_path / "cache"


# Published sha256 of files inside UCI's archives.
RAW = {
    "banknote": "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9",
    "spambase": "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    "skin": "e30c0a845385dcc95a45c45ed263465674a49638e98ef740afd520769c7714a4",
}


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", NAMES)
def test_published_tables_pass_the_check_in_both_formats(name, monkeypatch):
    monkeypatch.setenv("LHTREE_DATA", DATA)
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    source, lines = uci.SOURCES[name], gzip.decompress(content).decode().splitlines()[1:]
    X, y = uci.load(name)
    assert len(X) == len(y) == len(lines)
    raw = write_raw(name, [line.replace(",", source.delimiter or "\t") for line in lines])
    if name in RAW:
        assert RAW[name] in [hashlib.sha256(one).hexdigest() for one in (raw, raw.removesuffix(b"\r\n"))]
    np.testing.assert_array_equal(uci.read_archive(zip_files({source.member: raw}), source).X, X)


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_tables_of_scikit_learn_are_the_published_ones(name):
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    table, (X, y) = uci.parse_rows(gzip.decompress(content).decode().partition("\n")[2], ","), uci.load(name)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(np.unique(table.labels)[y], table.labels)
