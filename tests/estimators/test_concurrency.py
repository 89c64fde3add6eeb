"""Threads, forked and spawned processes, Ctrl-C, and the GIL."""

import multiprocessing
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from lhtree import LHBoostClassifier, LHTClassifier, _core
from support import bridge
from support.children import work
from support.clouds import make_clouds
from support.fresh import run

TIMEOUT = 600
NAMES = (np.array(["a", "b"]), np.array(["d", "c"]))  # the second in another order


@pytest.fixture(scope="module")
def fitted():
    X, y = make_clouds(5000, 8, 3)
    return LHTClassifier(gamma=3, n_jobs=2).fit(X, y), X


def test_eight_threads_predict_the_same(fitted):
    model, X = fitted
    expected = {method: getattr(model, method)(X) for method in bridge.MODEL_METHODS}
    start = threading.Barrier(8)

    def predict(number):
        start.wait(TIMEOUT)
        for turn in range(5):
            for method, values in expected.items():
                some = slice(number, None, 1 + turn)  # different rows in every thread
                if not np.array_equal(getattr(model, method)(X[some]), values[some]):
                    return method
                if not np.array_equal(
                    getattr(model, method)(X[number : number + 1]), values[number : number + 1]
                ):
                    return method
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(predict, range(8))) == [None] * 8


@pytest.mark.parametrize("model", [LHTClassifier(), LHBoostClassifier(2, random_state=0)])
def test_predictions_during_a_refit_use_one_model(model):
    X, y = make_clouds(60, 3, 2)
    answers = [clone(model).fit(X, names[y]).predict(X) for names in NAMES]
    model = clone(model).fit(X, NAMES[0][y])
    done = threading.Event()

    def predict():
        while not done.is_set():
            given = model.predict(X)
            if not any(np.array_equal(given, answer) for answer in answers):
                return given
        return None

    with ThreadPoolExecutor(2) as pool:
        watchers = [pool.submit(predict) for _ in range(2)]
        for turn in range(200):
            model.fit(X, NAMES[turn % 2][y])
        done.set()
        assert [watcher.result() for watcher in watchers] == [None, None]


def test_fits_in_threads_give_the_same_bits():
    data = [make_clouds(600, 6, 3, seed=seed) for seed in range(6)]

    def fit(problem):
        return bridge.arrays_of(
            LHTClassifier(direction="mixed", max_features=2, random_state=1).fit(*problem)
        )

    with ThreadPoolExecutor(6) as pool:
        for parallel, alone in zip(pool.map(fit, data), map(fit, data), strict=True):
            bridge.assert_same_bits(alone, parallel)


def run_children(method, model, X, n_children=2):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    children = [context.Process(target=work, args=(model, X, results)) for _ in range(n_children)]
    for child in children:
        child.start()
    try:
        answers = [results.get(timeout=TIMEOUT) for _ in children]
        for child in children:
            child.join(TIMEOUT)
        assert [child.exitcode for child in children] == [0] * n_children
    finally:
        for child in children:
            child.kill()
    return answers


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # other tests may have left threads
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_predict_the_same(fitted, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    model, X = fitted
    proba = model.predict_proba(X)  # with threads, before the fork
    again = LHTClassifier(**model.get_params()).fit(X, model.predict(X)).predict_proba(X)
    for answer in run_children(method, model, X):
        assert answer == (proba.tobytes(), again.tobytes())


INTERRUPTED = """
import signal
import numpy as np
from lhtree import {kind}, _core
n_rows, n_features, n_classes = {shape}
generator = np.random.default_rng(0)
X = generator.standard_normal((n_rows, n_features), dtype=np.float32)
y = generator.integers(0, n_classes, n_rows)
model = {kind}().fit(X[:100], y[:100])
before = model.predict_proba(X[:100])
model.set_params(**{setting!r})
grow = _core.{grow}
def interrupted(*arguments, **keywords):
    signal.setitimer(signal.ITIMER_PROF, 0.3)
    return grow(*arguments, **keywords)
_core.{grow} = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it
signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
try:
    model.fit(X, y)
except KeyboardInterrupt:
    assert np.array_equal(model.predict_proba(X[:100]), before)
    print("interrupted")
else:
    print("finished")
"""
PLAIN = {"normalize": None, "min_samples_leaf": 1}
LONG_FITS = {
    "fisher": ((200_000, 60, 4), PLAIN | {"direction": "fisher"}),
    "wide": ((3_000, 3_000, 4), PLAIN | {"direction": "fisher", "membership": "constant"}),
    "mixed": ((400_000, 160, 2), PLAIN | {"direction": "mixed", "beta": 0.99, "membership": "constant"}),
    "boost": ((100_000, 30, 4), {"max_iter": 4000}),
}


needs_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no interval timers"
)


@needs_timers
@pytest.mark.parametrize(
    ("name", "n_jobs"), [("fisher", 2), ("wide", 1), ("mixed", 2), ("boost", 1), ("boost", 2)]
)
def test_fits_can_be_interrupted(name, n_jobs):
    """After 0.3 seconds of CPU time, which do not depend on the load of the machine."""
    shape, setting = LONG_FITS[name]
    kind, grow = ("LHBoostClassifier", "boost_rows") if name == "boost" else ("LHTClassifier", "grow_forest")
    code = INTERRUPTED.format(shape=shape, setting={**setting, "n_jobs": n_jobs}, kind=kind, grow=grow)
    assert run(code) == "interrupted"


def test_other_threads_run_during_a_fit(monkeypatch):
    """This thread takes many steps while a tree grows, because the core releases the GIL."""
    X, y = make_clouds(60_000, 30, 3)
    grow, is_growing = _core.grow_forest, threading.Event()

    def announced(*arguments, **keywords):
        is_growing.set()
        try:
            return grow(*arguments, **keywords)
        finally:
            is_growing.clear()

    def count_steps():
        model, n_steps = LHTClassifier(direction="fisher", max_depth=8), 0
        thread = threading.Thread(target=model.fit, args=(X, y))
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
            n_steps += is_growing.is_set()
        return n_steps

    monkeypatch.setattr(_core, "grow_forest", announced)
    assert any(count_steps() >= 50 for _ in range(20))  # a busy machine may stop this thread during some fits


SCORED_BY_HANDLER = """
import signal, numpy as np
from lhtree import LHBoostClassifier, LHTClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 8))
model = LHTClassifier().fit(X, X[:, 0] + X[:, 1] * X[:, 2] > 0)
rows = np.tile(X, (250, 1))
expected = model.predict_proba(rows)
n_heard = 0
def score(*_):
    global n_heard
    n_heard += 1
    model.predict_proba(5 * X)
    signal.setitimer(signal.ITIMER_REAL, 0.005)  # not before: handlers of a slow machine would interrupt each other
signal.signal(signal.SIGALRM, score)
signal.setitimer(signal.ITIMER_REAL, 0.005)
for _ in range(5):
    assert np.array_equal(model.predict_proba(rows), expected)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
assert n_heard > 1
"""


@needs_timers
def test_signal_handlers_may_score():
    run(SCORED_BY_HANDLER)
