"""Workers that die or leave, interruptions, lost rows: a fit gives the same model or ends with an error."""

import concurrent.futures
import pickle
import signal
import threading
import time
import types

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from hypothesis import settings

import lhtree
from lhtree import dask as lhdask
from lhtree.dask import _client, _exchange, _rows
from support.cluster import assert_same, draw_rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
SETTINGS = {"max_iter": 2, "max_depth": 2, "min_samples_leaf": 5, "random_state": 0}


def make_table():
    X, y, _ = draw_rows()
    return X, (y > 0), da.from_array(X, chunks=(80, 4)), da.from_array(y > 0, chunks=80)


def at_message(monkeypatch, actions):
    """Perform actions after given numbers of messages of the client; return a list that counts messages."""
    counts = []
    ask = _exchange.Exchange._ask

    def counted(self, requests):
        counts.append(self._number)
        if len(counts) in actions:
            actions[len(counts)](self)
        return ask(self, requests)

    monkeypatch.setattr(_exchange.Exchange, "_ask", counted)
    return counts


def fit_and_compare(cluster, folder, monkeypatch, actions):
    """Fit while something happens at some messages; the model is that of one machine, and workers forget the fit."""
    X, y, given, labels = make_table()
    counts = at_message(monkeypatch, actions)
    fitted = lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels, client=cluster.client)
    assert len(counts) > max(actions)
    assert_same(fitted, lhtree.LHBoostClassifier(**SETTINGS).fit(X, y), folder)
    assert not cluster.find_left()


def test_a_worker_that_is_killed_and_one_that_joins(cluster, tmp_path, monkeypatch):
    cluster.use(2)
    actions = {
        5: lambda exchange: cluster.kill(exchange._held[-1].address),
        10: lambda exchange: cluster.use(2),
    }
    fit_and_compare(cluster, tmp_path, monkeypatch, actions)


def test_workers_that_are_retired(cluster, tmp_path, monkeypatch):
    """By the thread of the fit, and by another one."""
    cluster.use(3)
    retired = []

    def retire(exchange):
        retired.append(cluster.client.retire_workers([exchange._held[-1].address]))

    other = []

    def retire_elsewhere(exchange):
        other.append(threading.Thread(target=retire, args=(exchange,), daemon=True))
        other[0].start()

    fit_and_compare(cluster, tmp_path, monkeypatch, {4: retire, 8: retire_elsewhere})
    other[0].join()
    assert all(retired)
    assert len(retired) == 2


def test_a_worker_that_is_stopped_for_a_while(cluster, tmp_path, monkeypatch):
    cluster.use(2)
    actions = {5: lambda exchange: cluster.stop(exchange._held[-1].address, seconds=1.0)}
    fit_and_compare(cluster, tmp_path, monkeypatch, actions)


def test_a_worker_that_is_stopped_for_longer_than_the_time_limit(cluster, tmp_path, monkeypatch):
    """Dask declares the worker dead and starts a replacement."""
    cluster.use(2)
    actions = {5: lambda exchange: cluster.give_up(exchange._held[-1].address)}
    fit_and_compare(cluster, tmp_path, monkeypatch, actions)


@pytest.mark.parametrize("message", [5] if settings().derandomize else [5, 9])
def test_a_worker_that_is_killed_and_another_that_leaves(cluster, tmp_path, monkeypatch, message):
    cluster.use(3)

    def close(exchange):
        address = exchange._held[0].address
        cluster.client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.close_worker(address))

    actions = {4: lambda exchange: cluster.kill(exchange._held[-1].address), message: close}
    fit_and_compare(cluster, tmp_path, monkeypatch, actions)


def test_holders_that_dask_copies(cluster, tmp_path, monkeypatch):
    """A copy holds no rows; they are placed on a worker again."""
    cluster.use(2)
    fit_and_compare(
        cluster,
        tmp_path,
        monkeypatch,
        {
            5: lambda exchange: cluster.client.replicate([held.future for held in exchange._held]),
            9: lambda exchange: cluster.client.rebalance(),
        },
    )


class SlowRows:
    """Rows that count requests."""

    n_asked = 0

    def answer(self, request):
        self.n_asked += 1
        time.sleep(0.1)
        return request


def test_repeated_requests_are_answered_once(monkeypatch):
    """Requests after missed changes are rejected."""
    given = types.SimpleNamespace(make_bins=lambda: None)
    worker = types.SimpleNamespace(state=types.SimpleNamespace(nthreads=1))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    monkeypatch.setattr(_exchange, "merge", lambda answers: answers[0])
    holder, rows = _exchange.Holder([], given, []), SlowRows()
    holder._parts = [rows]
    monkeypatch.setattr(_exchange._core, "changes_rows", lambda request: True)
    change = b"a request"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: holder.answer(1, 0, [change]), range(2)))
    assert answers == [[change]] * 2
    assert rows.n_asked == 1
    assert holder.answer(2, 0, [change]) is None
    assert holder.answer(2, 1, [change]) == [change]
    assert pickle.loads(pickle.dumps(holder)).answer(3, 2, [change]) is None


def test_workers_that_lose_their_rows_again_and_again(cluster, monkeypatch, rejects):
    _, _, given, labels = make_table()
    monkeypatch.setattr(_exchange.Exchange, "_ask", lambda exchange, requests: None)
    rejects(lhdask.DaskLHBoostClassifier(**SETTINGS).fit, given, labels)
    assert not cluster.find_left()


@pytest.mark.parametrize("how", ["kill", "retire", "give_up"])
def test_a_worker_that_is_lost_while_it_grows_trees(cluster, tmp_path, monkeypatch, how):
    cluster.use(2)
    X, y, given, labels = make_table()
    grow = _rows.WorkerRows.grow

    def lose_and_grow(rows, *arguments, **options):
        address = cluster.client.who_has(rows.parts[:1])[rows.parts[0].key][0]
        getattr(cluster, how)(address)
        return grow(rows, *arguments, **options)

    monkeypatch.setattr(_rows.WorkerRows, "grow", lose_and_grow)
    fitted = lhdask.DaskLHForestClassifier(3, random_state=0).fit(given, labels)
    assert_same(fitted, lhtree.LHForestClassifier(3, random_state=0).fit(X, y), tmp_path)


def test_rows_that_are_gone(cluster, monkeypatch, rejects):
    """Scattered rows, and results computed from them, cannot be computed again once all workers are lost."""
    addresses = cluster.use(2)
    monkeypatch.setattr(_client, "_PATIENCE", 600.0)  # nannies of a busy machine need long to start others
    X, _, _, labels = make_table()
    parts = [
        cluster.client.scatter(X[first : first + 80], workers=[addresses[number % 2]])
        for number, first in enumerate((0, 80, 160))
    ]
    given = da.concatenate([da.from_delayed(dask.delayed(part), (80, 4), float) for part in parts])

    def kill_all(exchange):
        for address in addresses:
            cluster.kill(address)

    at_message(monkeypatch, {5: kill_all})
    rejects(lhdask.DaskLHBoostClassifier(**SETTINGS).fit, given, labels)
    for part in parts:
        part.release()
    assert not cluster.find_left()


def test_ctrl_c(cluster, monkeypatch):
    _, _, given, labels = make_table()
    at_message(monkeypatch, {5: lambda exchange: signal.raise_signal(signal.SIGINT)})
    model = lhdask.DaskLHBoostClassifier(**SETTINGS)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it
    with pytest.raises(KeyboardInterrupt):
        model.fit(given, labels)
    signal.signal(signal.SIGINT, before)
    assert not hasattr(model, "classes_")
    assert not cluster.find_left()


def test_a_client_that_is_closed(cluster, monkeypatch):
    _, _, given, labels = make_table()
    client = distributed.Client(cluster.client.scheduler.address, set_as_default=False)
    at_message(monkeypatch, {5: lambda exchange: client.close()})
    with pytest.raises((RuntimeError, distributed.CancelledError)):
        lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels, client=client)
    assert not cluster.find_left()


def test_a_client_that_is_closed_while_it_waits(cluster):
    client = distributed.Client(cluster.client.scheduler.address, set_as_default=False)
    with _client.Session(client) as session:
        assert distributed.default_client() is client  # whose waits are meant
        future = session.submit(abs, -1, workers=["tcp://127.0.0.1:1"])  # which is not there
        threading.Timer(0.5, client.close).start()
        with pytest.raises((RuntimeError, distributed.CancelledError)):
            _client.fetch(session, [future])


class Nobody:
    """A client whose workers are all gone."""

    status = "running"

    def scheduler_info(self, n_workers):
        return {"workers": {"tcp://127.0.0.1:1": {"status": "closing_gracefully"}}}


def test_no_worker_is_left(monkeypatch, rejects):
    now = np.array(0.0)
    monkeypatch.setattr(_client.time, "monotonic", lambda: float(now))
    patience = _client.Patience(Nobody())
    for seconds in (100.0, 29.0):  # the first look after a pause of the client starts the count
        now += seconds
        assert patience.look() == set()
    now += 2.0
    rejects(patience.look)


def test_there_is_no_client(monkeypatch, rejects):
    def find_none():
        raise ValueError("no client")

    monkeypatch.setattr(distributed, "get_client", find_none)
    rejects(_client.find_client, None)
