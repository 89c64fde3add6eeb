"""Small tables in the formats of UCI's files, and a server that answers as told."""

import gzip
import io
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import lhtree.datasets
from lhtree.datasets import _fetch, _find, _sets
from lhtree.datasets._tables import Table, digest

NAMES = list(_sets.SOURCES)


def about_of(name):
    return getattr(_sets, name.upper())


def make_table(name, n_rows=12):
    """Random numbers with the features and classes of a data set."""
    about = about_of(name)
    generator = np.random.default_rng(len(name))
    X = generator.normal(size=(n_rows, len(about.features))).round(4)
    X[0, 0] = 0.0
    return Table(X, np.array(list(about.classes))[np.arange(n_rows) % len(about.classes)])


def write_lines(table, delimiter):
    return [
        delimiter.join([*map(repr, row), label])
        for row, label in zip(table.X.tolist(), table.labels, strict=True)
    ]


def write_csv(table, name):
    """The layout of the folder LHTREE_DATA."""
    lines = [",".join([*about_of(name).features, "class"]), *write_lines(table, ",")]
    return gzip.compress("\n".join([*lines, ""]).encode())


def write_raw(name, lines):
    """UCI's file: what stands around the rows, and Windows' line ends."""
    header = {
        "rice": [
            "% Rice",
            "",
            "@RELATION rice",
            "@ATTRIBUTE Area\tINTEGER",
            "@ATTRIBUTE Class {Cammeo, Osmancik}",
        ],
        "eeg_eye_state": [
            "@RELATION EEG_DATA",
            "",
            "@ATTRIBUTE AF3 NUMERIC",
            "@ATTRIBUTE eyeDetection {0,1}",
            "",
        ],
    }.get(name)
    return "\r\n".join([*header, "@DATA", *lines] if header else lines).encode() + b"\r\n"


def write_archive(table, name):
    """UCI's zip file, with what else is in it."""
    source = _sets.SOURCES[name]
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
    """Small tables in place of the published ones, an empty cache, and nobody to ask."""
    tables = {name: make_table(name) for name in NAMES}
    for name, table in tables.items():
        monkeypatch.setitem(_sets.SOURCES, name, replace(_sets.SOURCES[name], digest=digest(table)))
    monkeypatch.delenv("LHTREE_DATA", raising=False)
    monkeypatch.setenv("LHTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(_find, "_UCI", "http://127.0.0.1:9")  # the port that discards
    monkeypatch.setattr(_fetch, "_WAITS", (0.0, 0.0, 0.0))
    return tables


class Server(ThreadingHTTPServer):
    """Answers each request with the next of `answers`, the last one again and again."""

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
    """Answer with content; `length` is what is announced, 0 nothing."""

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
        monkeypatch.setattr(_find, "_UCI", server.url)
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


def load(name, **options):
    return getattr(lhtree.datasets, f"load_{name}")(**options)
