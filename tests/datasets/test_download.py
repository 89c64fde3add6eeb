"""Downloads from a server that misbehaves: whole data or an error, and never a half-written cache."""

import errno
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lhtree.datasets import _fetch, _find, _sets, load_eeg_eye_state, load_seeds, load_spambase
from support.uci import NAMES, load, send, write_archive, zip_files
from support.waiting import wait_until

ZIP = "spambase.zip"


@pytest.fixture
def archive(small):
    return write_archive(small["spambase"], "spambase")


def in_cache():
    folder = Path(os.environ["LHTREE_CACHE"])
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def fetch():
    return load_spambase(return_X_y=True, as_frame=False)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_download_is_kept(name, server, small):
    server.answers = [send(write_archive(small[name], name))]
    for _ in range(2):
        np.testing.assert_array_equal(load(name, return_X_y=True, as_frame=False)[0], small[name].X)
    source = _sets.SOURCES[name]
    assert server.paths == [f"/{source.number}/{source.archive}"]  # the second time from the cache
    assert in_cache() == [source.archive]


def test_the_users_folder_comes_first(server, small, archive, tmp_path, monkeypatch):
    server.answers = [send(b"", status=500)]
    (tmp_path / ZIP).write_bytes(archive)
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    np.testing.assert_array_equal(fetch(), small["spambase"].X)
    assert not server.paths
    assert not in_cache()


@pytest.mark.parametrize("length", [None, 0], ids=["known length", "unknown length"])
def test_passing_faults_are_tried_again(server, small, archive, length):
    half = archive[: len(archive) // 2]
    server.answers = [
        send(b"busy", status=503),
        send(half, length=len(archive)),  # the connection breaks
        send(half, length=length),  # a proxy kept half a file
        send(archive, length=length),
    ]
    np.testing.assert_array_equal(fetch(), small["spambase"].X)
    assert len(server.paths) == 4
    assert in_cache() == [ZIP]


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
def test_faults_that_stay(server, archive, answer, n_tries, reason):
    server.answers = [answer(archive)]
    with pytest.raises(FileNotFoundError, match=reason) as caught:
        fetch()
    assert f"save it as {ZIP} in {os.environ['LHTREE_CACHE']}" in str(caught.value)
    assert len(server.paths) == n_tries
    assert not in_cache()


@pytest.mark.parametrize("n_sent", [0, 500])
def test_a_stalled_connection(server, archive, n_sent, monkeypatch):
    monkeypatch.setattr(_fetch, "_TIMEOUT", 0.2)
    server.answers = [send(archive[:n_sent], length=len(archive), stall=True)]
    with pytest.raises(FileNotFoundError, match="timed out"):
        fetch()
    assert wait_until(
        lambda: len(server.paths) == 4
    )  # a busy server may read a request after its sender has gone
    assert not in_cache()


def test_other_content_is_refused_at_once(server, small):
    table = small["spambase"]
    server.answers = [send(write_archive(table._replace(X=table.X + 1.0), "spambase"))]
    with pytest.raises(ValueError, match=r"spambase\.zip has changed: its 12 rows of 57 features differ"):
        fetch()
    server.answers = [send(zip_files({"other.data": b""}))]
    with pytest.raises(ValueError, match=r"it contains no spambase\.data"):
        fetch()
    assert len(server.paths) == 2
    assert not in_cache()


def test_too_much_content_is_refused(server, archive, monkeypatch):
    monkeypatch.setattr(_fetch, "_MOST_BYTES", 100)
    server.answers = [send(archive)]
    with pytest.raises(ValueError, match="more than 100 bytes"):
        fetch()
    assert not in_cache()


def test_offline(small):
    with pytest.raises(FileNotFoundError, match="EEG Eye State was not found on this computer") as caught:
        load_eeg_eye_state()
    for text in ("/264/eeg+eye+state.zip", "eeg_eye_state.csv.gz", "LHTREE_DATA", os.environ["LHTREE_CACHE"]):
        assert text in str(caught.value)


def test_no_download_where_none_is_wanted(server):
    server.answers = [send(b"", status=500)]
    with pytest.raises(FileNotFoundError, match="download_if_missing is False"):
        load_seeds(download_if_missing=False)
    assert not server.paths


def test_a_damaged_cache_is_replaced(server, small, archive):
    kept = Path(os.environ["LHTREE_CACHE"]) / ZIP
    kept.parent.mkdir()
    kept.write_bytes(archive[:-50])
    server.answers = [send(b"", status=404), send(archive)]
    with pytest.raises(
        FileNotFoundError, match=r"spambase\.zip cannot be used: it is not a complete zip file"
    ):
        fetch()
    np.testing.assert_array_equal(fetch(), small["spambase"].X)
    assert kept.read_bytes() == archive


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_nothing(server, small, archive, step, monkeypatch):
    errors = [KeyboardInterrupt(), OSError(errno.ENOSPC, "no space left")]

    def fail(*_):
        raise errors.pop(0)

    server.answers = [send(archive)]
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(KeyboardInterrupt):
        fetch()
    assert not in_cache()
    with pytest.warns(UserWarning, match="could not be stored") as caught:  # the data are there all the same
        np.testing.assert_array_equal(fetch(), small["spambase"].X)
    assert caught[0].filename == __file__
    assert not in_cache()


def start(server, death=""):
    """Another process that loads spambase."""
    code = f"""
from dataclasses import replace
from lhtree.datasets import _fetch, _find, _sets, load_spambase
_fetch._TIMEOUT = 600.0
_find._UCI = {server.url!r}
_sets.SOURCES["spambase"] = replace(_sets.SOURCES["spambase"], digest={_sets.SOURCES["spambase"].digest!r})
{death}
print(load_spambase(as_frame=False).data.shape)
"""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once(server, archive):
    both = threading.Barrier(2, timeout=600)

    def answer(handler):
        both.wait()  # neither found the other's file
        send(archive)(handler)

    server.answers = [answer]
    with start(server) as one, start(server) as other:
        outputs = [process.communicate(timeout=600)[0] for process in (one, other)]
    assert outputs == ["(12, 57)\n"] * 2
    assert len(server.paths) == 2
    assert in_cache() == [ZIP]


def test_the_bar_moves(server, archive, monkeypatch):
    seen = []

    @contextmanager
    def show(n_bytes, what):
        seen.append((n_bytes, what))
        yield seen.append

    monkeypatch.setattr(_fetch, "show_progress", show)
    monkeypatch.setattr(_fetch, "_PART", 1000)
    server.answers = [send(archive)]
    fetch()
    assert seen == [
        (len(archive), "downloading spambase.zip"),
        *range(1000, len(archive), 1000),
        len(archive),
    ]


def test_downloads_need_no_rich(server, small, archive, monkeypatch):
    monkeypatch.setattr(_fetch, "find_spec", lambda _: None)
    server.answers = [send(archive)]
    np.testing.assert_array_equal(fetch(), small["spambase"].X)


def test_the_addresses():
    urls = [f"{_find._UCI}/{source.number}/{source.archive}" for source in _sets.SOURCES.values()]
    assert urls == [
        f"https://archive.ics.uci.edu/static/public/{path}"
        for path in (
            "236/seeds.zip",
            "267/banknote+authentication.zip",
            "545/rice+cammeo+and+osmancik.zip",
            "94/spambase.zip",
            "264/eeg+eye+state.zip",
            "159/magic+gamma+telescope.zip",
            "229/skin+segmentation.zip",
        )
    ]
