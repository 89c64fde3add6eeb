"""Writes are atomic: after any failure the old file or the new one exists, and it is complete."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from lhtree import LHTClassifier, load, save


@pytest.fixture
def model(two):
    return LHTClassifier(gamma=3).fit(*two)


@pytest.fixture
def path(tmp_path):
    """An old file."""
    (tmp_path / "model.lht").write_bytes(b"old")
    return tmp_path / "model.lht"


class FullDisk:
    """A file on a disk that is full after some bytes."""

    def __init__(self, path, mode):
        self._file = open(path, mode)  # noqa: SIM115  # closed by __exit__
        self.name, self.fileno = self._file.name, self._file.fileno

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def write(self, data):
        self._file.write(data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")


def fail(*arguments):
    raise OSError(errno.EIO, "Input/output error")


def interrupt(*arguments):
    raise KeyboardInterrupt


def assert_old(path):
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["model.lht"]


def test_full_disk_keeps_the_old_file(model, path, monkeypatch):
    monkeypatch.setattr("lhtree._write.open", FullDisk, raising=False)
    with pytest.raises(OSError, match="No space left"):
        save(model, path)
    assert_old(path)


@pytest.mark.parametrize("function", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize(("failure", "error"), [(fail, OSError), (interrupt, KeyboardInterrupt)])
def test_failing_system_calls_keep_the_old_file(model, path, monkeypatch, function, failure, error):
    monkeypatch.setattr(f"lhtree._write.os.{function}", failure)
    with pytest.raises(error):
        save(model, path)
    assert_old(path)


def test_missing_folders_are_named(model, tmp_path, rejects):
    rejects(save, model, tmp_path / "nowhere" / "model.lht")


@pytest.mark.parametrize("name", ["木" * 80, "m" * 250, b"bytes.lht"], ids=["wide", "long", "bytes"])
def test_long_and_wide_file_names_work(model, tmp_path, name):
    """The name of the temporary file does not depend on the name of the file."""
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    for given in (path, os.fsdecode(path)):
        save(model, given)
        assert load(given).n_features_in_ == 5
    assert os.listdir(os.fsencode(tmp_path)) == [os.fsencode(name)]


ENDS = {
    "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))": 1,  # the system ends the writing in the middle
    "os.fsync = lambda file: os._exit(9)": 9,  # the process dies before the file is whole
    "os.replace = lambda *names: os._exit(9)": 9,
}
SAVE = """
import os, resource, sys
from lhtree import LHTClassifier, save
model = LHTClassifier().fit([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1])
for end in sys.argv[2:]:
    child = os.fork()
    if not child:
        exec(end)
        save(model, sys.argv[1])
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), open(sys.argv[1], "rb").read(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_killed_processes_keep_the_old_file(path):
    command = [sys.executable, "-c", SAVE, path, *ENDS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.splitlines() == [f"{code} b'old'" for code in ENDS.values()], done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_permissions_and_links_are_preserved(model, path, tmp_path):
    path.chmod(0o640)
    link = tmp_path / "link.lht"
    link.symlink_to(path)
    save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert load(path).n_features_in_ == 5
    umask = os.umask(0o027)
    try:
        save(model, tmp_path / "new.lht")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.lht").stat().st_mode) == 0o640


def test_only_regular_files_are_replaced(model, tmp_path, rejects):
    (tmp_path / "folder").mkdir()
    rejects(save, model, tmp_path / "folder")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        rejects(save, model, tmp_path / "pipe")


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_circular_symlinks_are_rejected(tmp_path, three):
    (tmp_path / "a.lht").symlink_to(tmp_path / "b.lht")
    (tmp_path / "b.lht").symlink_to(tmp_path / "a.lht")
    with pytest.raises(OSError, match="symbolic links"):
        save(LHTClassifier().fit(*three), tmp_path / "a.lht")
    assert (tmp_path / "a.lht").is_symlink()
