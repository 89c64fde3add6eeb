"""Progress bars, threads and joblib."""

import os
import subprocess
import sys
from types import SimpleNamespace

import joblib
import pytest

from lhtree import LHBoostClassifier, LHForestClassifier
from support import bridge
from support.clouds import make_clouds
from support.fresh import run

FIT = """
from sklearn.datasets import load_wine
from lhtree import LHForestClassifier
LHForestClassifier(200, direction="mixed", verbose=1, random_state=0).fit(*load_wine(return_X_y=True))
"""
TIMEOUT = 600


def test_no_bar_without_a_terminal():
    answer = subprocess.run([sys.executable, "-c", FIT], capture_output=True, timeout=TIMEOUT, check=True)
    assert (answer.stdout, answer.stderr) == (b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_bar_in_a_terminal():
    import pty

    reader, writer = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    child = subprocess.Popen(
        [sys.executable, "-c", FIT], stdout=subprocess.PIPE, stderr=writer, env=environment
    )
    os.close(writer)
    shown = b""
    try:
        while more := os.read(reader, 4096):
            shown += more
    except OSError:  # the other end is closed
        pass
    try:
        assert child.communicate(timeout=TIMEOUT)[0] == b""
    finally:
        child.kill()
        os.close(reader)
    assert child.returncode == 0
    assert b"growing trees" in shown
    assert b"100%" in shown


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [LHForestClassifier, LHBoostClassifier])
def test_bar_does_not_change_the_model(monkeypatch, capsys, kind, n_jobs):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
    X, y = make_clouds(4000, 8, 3)
    model = kind(8, direction="mixed", verbose=1, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert "growing trees" in capsys.readouterr().err
    silent = kind(8, direction="mixed", random_state=0).fit(X, y)
    bridge.assert_same_trees(silent, model)
    assert capsys.readouterr() == ("", "")


def test_missing_rich_is_named(monkeypatch, two, rejects):
    def find_spec(name, *_):
        if name.partition(".")[0] == "rich":
            raise ModuleNotFoundError("No module named 'rich'", name="rich")

    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=find_spec), *sys.meta_path])
    model = LHForestClassifier(2, verbose=1)
    rejects(model.fit, *two)
    assert not hasattr(model, "classes_")
    assert hasattr(LHForestClassifier(2).fit(*two), "classes_")  # without a bar, rich is not needed


OUTLIVED = """
import os, threading
import numpy as np
from lhtree import LHForestClassifier

def is_alive(number):
    # Linux may list a thread for a while that has ended and was joined; the third bit says that it is on its way out.
    try:
        with open(f"/proc/self/task/{{number}}/stat") as file:
            return not int(file.read().rpartition(")")[2].split()[6]) & 4
    except (FileNotFoundError, ProcessLookupError):
        return False

def find_threads():
    return set(filter(is_alive, os.listdir("/proc/self/task"))), threading.active_count()

X = np.random.default_rng(0).normal(size=(4000, 6))
y = X[:, 0] + X[:, 1] * X[:, 2] > 0
model = LHForestClassifier(20, n_jobs=2, random_state=0)
model.fit(X, y)  # joblib has now started whatever it starts once
before = find_threads()
model.fit(X, y)
assert find_threads() == before
for method in {methods}:
    getattr(model, method)(X)
    assert find_threads() == before
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="reads /proc")
def test_threads_end_with_their_call():
    """In a fresh interpreter, which has no other threads."""
    run(OUTLIVED.format(methods=bridge.MODEL_METHODS))


def test_small_batches_do_not_count_threads(monkeypatch, two):
    model = LHForestClassifier(100, n_jobs=2, random_state=0).fit(*two)
    monkeypatch.setattr("lhtree.estimators.base.count_threads", None)
    model.predict(two[0][:63])
    with pytest.raises(TypeError, match="not callable"):
        model.predict(two[0][:64])


def test_joblib_contexts_do_not_change_the_model(three):
    X, y = three
    alone = LHForestClassifier(6, random_state=0).fit(X, y)
    for backend in ("loky", "threading"):
        with joblib.parallel_config(backend, n_jobs=2):
            model = LHForestClassifier(6, random_state=0).fit(X, y)
            assert model.predict_proba(X).tobytes() == alone.predict_proba(X).tobytes()
        bridge.assert_same_trees(alone, model)
