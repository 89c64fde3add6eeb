"""Rows per second and latency of ``lhtree serve``, over the loopback interface."""

import http.client
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lhtree import LHBoostClassifier, save

from .common.pages import Docs, Figure, figure_table, markdown_table
from .runner import Args, Parts, Tell

_ROWS = (1, 10, 100)  # per request
_RATE = 100.0  # requests per second
_N_CONNECTIONS = 8
_LHTREE = "from lhtree.cli import main; main()"


def make_model(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file of a boosted model of numbers and text, and a row."""
    import pandas as pd

    random = np.random.default_rng(0)
    table = pd.DataFrame({f"number {i}": random.normal(size=4000).round(4) for i in range(8)})
    for number in range(6):
        table[f"text {number}"] = random.choice([f"level {k}" for k in range(3 + number)], 4000)
    target = np.where(table["number 0"] + (table["text 3"] == "level 2") > 0.5, "yes", "no")
    save(LHBoostClassifier(random_state=0).fit(table, target), folder / "model.lht")
    return folder / "model.lht", json.loads(table.iloc[0].to_json())


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """Run the service in a process of its own; return host and port."""
    command = [sys.executable, "-c", _LHTREE, "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        try:
            yield address.removeprefix("http://")
        finally:
            process.terminate()


def send(connection: http.client.HTTPConnection, body: bytes) -> None:
    """Send one request, and check the answer."""
    connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    if response.status != 200:
        raise RuntimeError(content.decode())


def measure_cpu(model: Path, body: bytes, n_requests: int) -> float:
    """Return the processor time of a service that answers some requests, with its start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with serving(model) as address:
        connection = http.client.HTTPConnection(address)
        for _ in range(n_requests):
            send(connection, body)
        connection.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_throughput(tell: Tell, args: Args) -> list[dict[str, float]]:
    """Processor time of the service per row; the time of its start is taken away."""
    n_requests = 100 if args.quick else 500
    found = []
    with tempfile.TemporaryDirectory() as folder:
        model, row = make_model(Path(folder))
        for n_rows in _ROWS:
            tell(f"{n_rows} rows per request")
            body = json.dumps({"rows": [row] * n_rows}).encode()
            start = measure_cpu(model, body, 1)
            seconds = measure_cpu(model, body, n_requests + 1) - start
            found.append({"n_rows": n_rows, "seconds": seconds / n_requests})
    return found


def measure_latency(tell: Tell, args: Args) -> dict[str, float]:
    """Time from when a request is due to its answer, at a fixed rate of requests of one row."""
    n_requests = 300 if args.quick else 1000
    seconds = np.zeros(n_requests)
    with tempfile.TemporaryDirectory() as folder:
        model, row = make_model(Path(folder))
        body = json.dumps({"rows": [row]}).encode()
        with serving(model) as address:
            begin = time.perf_counter() + 0.5

            def ask(first: int) -> None:
                connection = http.client.HTTPConnection(address)
                send(connection, body)
                for number in range(first, n_requests, _N_CONNECTIONS):
                    due = begin + number / _RATE
                    time.sleep(max(0.0, due - time.perf_counter()))
                    send(connection, body)
                    seconds[number] = time.perf_counter() - due
                connection.close()

            threads = [threading.Thread(target=ask, args=(first,)) for first in range(_N_CONNECTIONS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    middle, late = np.quantile(seconds, [0.5, 0.99])
    return {"n_requests": n_requests, "p50": float(middle), "p99": float(late), "most": float(seconds.max())}


class Serve(Parts):
    """The question."""

    name = "serve"
    fills = "benchmarks/serve.md"
    quick = "fewer requests"
    parts: ClassVar = {"throughput": measure_throughput, "latency": measure_latency}

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        throughput, latency = results["throughput"], results["latency"]
        rows = [
            [f"{one['n_rows']:,}", f"{1e6 * one['seconds']:,.0f}", f"{one['n_rows'] / one['seconds']:,.0f}"]
            for one in throughput
        ]
        titles = ["rows per request", "CPU µs per request", "rows per second and core"]
        single = throughput[0]["n_rows"] / throughput[0]["seconds"]
        late = 1000 * latency["p99"]
        figures = [
            Figure("rows per second and core, one row per request", single, 1000, "rows"),
            Figure("99 % of the answers at 100 requests per second take", late, 10, "ms", is_floor=False),
            Figure("half of them take", 1000 * latency["p50"], None, "ms"),
        ]
        return {"throughput": markdown_table(titles, rows), "figures": figure_table(figures)}


QUESTION = Serve()
