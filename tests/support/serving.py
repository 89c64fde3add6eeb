"""Services for tests: models of all kinds, a server on a free port, and requests."""

import json
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from functools import cache

import numpy as np
import pandas as pd
import uvicorn

import lhtree


@cache
def make_loans(n_rows=300):
    """A table of loans, which of them were repaid, and by how much income exceeds them."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, n_rows),
            "income": random.lognormal(10, 0.5, n_rows).round(-2),
            "purpose": random.choice(["car", "house", "education"], n_rows),
            "town": [f"town {number}" for number in random.integers(0, 30, n_rows)],
            "owns home": random.random(n_rows) > 0.5,
        }
    )
    table["income"] = table["income"].where(random.random(n_rows) > 0.1)
    amount = table["income"].fillna(20_000) / 10_000 + (table["purpose"] == "car")
    return table, np.where(amount > 2.8, "repaid", "default"), amount.to_numpy()


MODELS = {
    "tree": lambda: lhtree.LHTClassifier(),
    "forest": lambda: lhtree.LHForestClassifier(5, random_state=0, calibrate="sigmoid"),
    "boost": lambda: lhtree.LHBoostClassifier(max_iter=15, positive="default", random_state=0),
    "compact": lambda: lhtree.CompactLHTClassifier(random_state=0),
    "additive": lambda: lhtree.AdditiveLHTClassifier(random_state=0),
    "ensemble": lambda: lhtree.LHEnsembleClassifier(15, n_estimators=10, cv=2, random_state=0),
    "tree of numbers": lambda: lhtree.LHTRegressor(),
    "forest of numbers": lambda: lhtree.LHForestRegressor(5, random_state=0),
    "boost of numbers": lambda: lhtree.LHBoostRegressor(max_iter=15, random_state=0),
    "compact of numbers": lambda: lhtree.CompactLHTRegressor(random_state=0),
    "additive of numbers": lambda: lhtree.AdditiveLHTRegressor(random_state=0),
    "ensemble of numbers": lambda: lhtree.LHEnsembleRegressor(15, n_estimators=10, cv=2, random_state=0),
    "quantiles": lambda: lhtree.LHBoostRegressor(
        loss="quantile", quantile=[0.1, 0.5, 0.9], max_iter=15, random_state=0
    ),
    "responses": lambda: lhtree.LHBoostRegressor(max_iter=15, random_state=0),
}


@cache
def fit_model(kind):
    table, labels, amount = make_loans()
    if kind == "responses":
        labels = pd.DataFrame({"amount": amount, "rate": 10 / (1 + amount)})
    elif kind == "quantiles" or kind.endswith("of numbers"):
        labels = amount
    return MODELS[kind]().fit(table, labels)


def save_model(kind, folder):
    path = folder / "loans.lht"
    lhtree.save(fit_model(kind), path, metadata={"data": "loans"})
    return path


def save_dated(folder):
    """Save a model with a column of dates that decides."""
    random = np.random.default_rng(0)
    days = random.integers(18336, 19457, 300)
    table = pd.DataFrame(
        {"opened": days.astype("M8[D]").astype("M8[s]"), "income": random.normal(30, 8, 300)}
    )
    path = folder / "dated.lht"
    lhtree.save(
        lhtree.LHBoostClassifier(15, random_state=0).fit(table, np.where(days > 18800, "new", "old")), path
    )
    return path


ROW = {"age": 44, "income": 21900.0, "purpose": "car", "town": "town 3", "owns home": True}


@contextmanager
def serving(app):
    """A server of an application on a free port; returns its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def ask(address, content=None, headers=None):
    """Send JSON, text or bytes, or get a page; return status, headers and body."""
    body = content
    if content is not None and not isinstance(content, bytes):
        body = (content if isinstance(content, str) else json.dumps(content)).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"} | (headers or {}))
    try:
        answer = urllib.request.urlopen(request, timeout=600)
    except urllib.error.HTTPError as error:  # is an answer, too
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read().decode()


def ask_json(address, content=None):
    """Send JSON; return status and parsed answer."""
    status, _, body = ask(address, content)
    return status, json.loads(body)
