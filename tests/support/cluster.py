"""A cluster of processes for the tests of lhtree.dask, and models compared by the bytes of their files."""

import contextlib
import copy
import multiprocessing.forkserver
import os
import signal
import threading
from dataclasses import replace

import dask
import distributed
import numpy as np
import pytest

import lhtree
from support.waiting import wait_until


class Cluster:
    """Workers of one thread each, as many as a test asks for."""

    def __init__(self, cluster, client):
        self._cluster, self.client = cluster, client

    def use(self, n_workers):
        """Start or stop workers until there are ``n_workers``; return their addresses.

        The nanny of a worker that was killed starts it again. That of one that was retired is closed, but the cluster
        counts it for another 15 seconds, in which it starts no worker of the same name. None is about to come or to
        go when this returns.
        """

        def are_there():
            for name, nanny in list(self._cluster.workers.items()):
                if nanny.status.name in ("closed", "failed"):
                    self._cluster.worker_spec.pop(name, None)
                    self._cluster.workers.pop(name, None)
            self._cluster.scale(n_workers)
            nannies = list(self._cluster.workers.values())
            known = sorted(str(nanny.worker_address) for nanny in nannies)
            return len(nannies) == n_workers and known == self.addresses()

        assert wait_until(are_there), "workers did not start"
        return self.addresses()

    def addresses(self):
        return sorted(self.client.nthreads())

    def kill(self, address):
        """Kill a worker's process, so that it cannot say good-bye; returns when Dask knows."""
        os.kill(self.client.run(os.getpid, workers=[address])[address], 9)
        assert wait_until(lambda: address not in self.addresses()), "a killed worker is still there"

    def retire(self, address):
        """Have a worker hand its results to others and leave."""
        assert self.client.retire_workers([address])

    def stop(self, address, seconds):
        """Stop the process of a worker for some seconds."""
        number = self._stop(address)
        threading.Timer(seconds, os.kill, (number, signal.SIGCONT)).start()

    def give_up(self, address):
        """Stop the process of a worker until Dask takes it for dead; no test waits for the five minutes it allows."""
        self._stop(address)

        async def expire(dask_scheduler):
            dask_scheduler.workers[address].last_seen -= 2 * dask_scheduler.worker_ttl
            await dask_scheduler.check_worker_ttl()

        self.client.run_on_scheduler(expire)
        assert address not in self.addresses(), "a stopped worker is still there"

    def _stop(self, address):
        number = self.client.run(os.getpid, workers=[address])[address]
        os.kill(number, signal.SIGSTOP)
        return number

    def find_left(self):
        """Results that workers still have."""
        left = {}

        def is_empty():
            found = self.client.has_what()
            left.clear()
            left.update({address: keys for address, keys in found.items() if keys})
            return not left

        wait_until(is_empty)
        return left


@contextlib.contextmanager
def start_cluster():
    """A cluster of one worker, which ends with the block."""
    options = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
    if "forkserver" in multiprocessing.get_all_start_methods():  # workers start with the imported modules
        options["distributed.worker.multiprocessing-method"] = "forkserver"
        modules = ["distributed", "dask.array", "pandas", "sklearn", "lhtree.dask", "lhtree.estimators.boost"]
        multiprocessing.forkserver.set_forkserver_preload(modules)
        multiprocessing.forkserver.ensure_running()
    with dask.config.set(options):
        local = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=50,
        )
        with local, distributed.Client(local) as client:
            yield Cluster(local, client)


@pytest.fixture(scope="session")
def cluster():
    with start_cluster() as started:
        yield started


def save(model, folder):
    path = os.path.join(folder, "model.lht")
    lhtree.save(model, path)
    with open(path, "rb") as file:
        return file.read()


def assert_same(fitted, local, folder):
    """The models are the same, to the last bit of their files."""
    assert type(fitted.to_local()) is type(local)
    models = [copy.copy(fitted.to_local()), copy.copy(local)]
    for model in models:  # the hash of the rows is known only if they were in memory
        model._model = replace(model._model, provenance=None)
    assert save(models[0], folder) == save(models[1], folder)


def draw_rows(n_rows=240, n_columns=4, seed=0):
    """Numbers with gaps, two of three classes and a response that depend on them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_columns))
    X[random.random(X.shape) < 0.05] = np.nan
    raw = np.nansum(X[:, :2], axis=1) + random.normal(0, 0.3, n_rows)
    return X, np.digitize(raw, [-0.7, 0.7]), raw


def cut(n_rows, n_parts):
    """Sizes of parts."""
    return tuple(len(part) for part in np.array_split(np.arange(n_rows), n_parts))
