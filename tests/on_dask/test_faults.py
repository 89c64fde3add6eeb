"""Workers that die or leave, interruptions, lost rows: a fit gives the same model or ends with an error."""

import signal
import threading
import time

import numpy as np
import pytest

import lhtree
from support.cluster import assert_same, draw_rows, start_cluster

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from lhtree import dask as lhdask  # noqa: E402
from lhtree.dask import _client, _exchange, _forest  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
SETTINGS = {"max_iter": 2, "max_depth": 2, "min_samples_leaf": 5, "random_state": 0}


@pytest.fixture(scope="module")
def cluster():
    """A cluster of its own: its workers are killed."""
    with start_cluster() as started:
        yield started


def make_table():
    X, y, _ = draw_rows()
    return X, (y > 0), da.from_array(X, chunks=(80, 4)), da.from_array(y > 0, chunks=80)


def at_message(monkeypatch, actions):
    """Do something when the client has handed out so many messages; counts them."""
    counts = []
    ask = _exchange.Exchange._ask

    def counted(self, requests):
        counts.append(self._number)
        if len(counts) in actions:
            actions[len(counts)](self)
        return ask(self, requests)

    monkeypatch.setattr(_exchange.Exchange, "_ask", counted)
    return counts


def test_a_worker_that_is_killed_and_one_that_joins(cluster, tmp_path, monkeypatch):
    n_workers = len(cluster.use(2))
    X, y, given, labels = make_table()
    at_message(
        monkeypatch,
        {
            9: lambda exchange: cluster.kill(exchange._held[-1].address),
            20: lambda exchange: cluster.use(n_workers),
        },
    )
    fitted = lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels)
    assert_same(fitted, lhtree.LHBoostClassifier(**SETTINGS).fit(X, y), tmp_path)
    cluster.use(2)
    assert not cluster.find_left()


def test_a_worker_that_is_killed_while_it_grows_trees(cluster, tmp_path, monkeypatch):
    cluster.use(2)
    X, y, given, labels = make_table()
    grow = _forest.grow_on_workers

    def grow_and_kill(rows, *arguments):
        address = cluster.client.who_has(rows.parts[:1])[rows.parts[0].key][0]
        cluster.kill(address)
        return grow(rows, *arguments)

    monkeypatch.setattr(_forest, "grow_on_workers", grow_and_kill)
    fitted = lhdask.DaskLHForestClassifier(3, random_state=0).fit(given, labels)
    assert_same(fitted, lhtree.LHForestClassifier(3, random_state=0).fit(X, y), tmp_path)
    cluster.use(2)


def test_rows_that_are_gone(cluster, monkeypatch):
    """Scattered rows cannot be computed again."""
    addresses = cluster.use(2)
    X, _, _, labels = make_table()
    parts = [
        cluster.client.scatter(X[first : first + 80], workers=[addresses[number % 2]])
        for number, first in enumerate((0, 80, 160))
    ]
    given = da.concatenate([da.from_delayed(dask.delayed(part), (80, 4), float) for part in parts])

    def kill_all(exchange):
        for address in cluster.client.who_has(parts[:1])[parts[0].key]:
            cluster.kill(address)

    at_message(monkeypatch, {9: kill_all})
    with pytest.raises(RuntimeError, match="cannot compute it again"):
        lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels)
    for part in parts:
        part.release()
    cluster.use(2)
    assert not cluster.find_left()


def test_ctrl_c(cluster, monkeypatch):
    _, _, given, labels = make_table()
    at_message(monkeypatch, {9: lambda exchange: signal.raise_signal(signal.SIGINT)})
    model = lhdask.DaskLHBoostClassifier(**SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        model.fit(given, labels)
    assert not hasattr(model, "classes_")
    assert not cluster.find_left()


def test_a_client_that_is_closed(cluster, monkeypatch):
    _, _, given, labels = make_table()
    client = distributed.Client(cluster.client.scheduler.address, set_as_default=False)
    at_message(monkeypatch, {9: lambda exchange: client.close()})
    with pytest.raises((RuntimeError, distributed.CancelledError)):
        lhdask.DaskLHBoostClassifier(**SETTINGS).fit(given, labels, client=client)
    assert not cluster.find_left()


def test_a_client_that_is_closed_while_it_waits(cluster):
    client = distributed.Client(cluster.client.scheduler.address, set_as_default=False)
    with _client.Session(client) as session:
        future = session.submit(time.sleep, 600)
        threading.Timer(0.5, client.close).start()
        with pytest.raises((RuntimeError, distributed.CancelledError)):
            _client.fetch(client, [future])


class Nobody:
    """A client whose workers are all gone."""

    status = "running"

    def scheduler_info(self, n_workers):
        return {"workers": {}}


def test_no_worker_is_left(monkeypatch):
    now = np.array(0.0)
    monkeypatch.setattr(_client.time, "monotonic", lambda: float(now))
    patience = _client.Patience(Nobody())
    now += 29.0
    assert patience.look() == set()
    now += 2.0
    with pytest.raises(RuntimeError, match="no Dask worker has been there for 30 seconds"):
        patience.look()


def test_there_is_no_client(monkeypatch):
    def find_none():
        raise ValueError("no client")

    monkeypatch.setattr(distributed, "get_client", find_none)
    with pytest.raises(ValueError, match="there is no Dask client"):
        _client.find_client(None)
