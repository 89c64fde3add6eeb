"""The paper's data sets: formats, folders and downloads."""

import gzip
import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from benchmarks.common import uci

NAMES = list(uci.SOURCES)
DATA = os.environ.get("LHTREE_DATA")
HEADERS = {
    "rice": "% Rice\r\n\r\n@RELATION rice\r\n@ATTRIBUTE Area\tINTEGER\r\n@DATA\r\n",
    "eeg_eye_state": "@RELATION EEG_DATA\r\n\r\n@ATTRIBUTE AF3 NUMERIC\r\n@DATA\r\n",
}


def make_table(name, n_rows=12):
    X = np.random.default_rng(len(name)).normal(size=(n_rows, 4)).round(4)
    X[0, 0] = 0.0
    return uci.Table(X, np.array(["a", "b", "c"])[np.arange(n_rows) % 3])


def write_lines(table, delimiter):
    rows = zip(table.X.tolist(), table.labels, strict=True)
    return [delimiter.join([*map(repr, row), label]) for row, label in rows]


def write_csv(table, name):
    return gzip.compress("\n".join(["p,q,r,s,class", *write_lines(table, ","), ""]).encode())


def write_raw(name, lines):
    """The file inside UCI's archive."""
    return (HEADERS.get(name, "") + "\r\n".join([*lines, ""])).encode()


def write_archive(table, name):
    """UCI's zip file with its other members."""
    source = uci.SOURCES[name]
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
    """Small tables instead of the published ones, and an empty cache."""
    tables = {name: make_table(name) for name in NAMES}
    for name, table in tables.items():
        monkeypatch.setitem(uci.SOURCES, name, uci.SOURCES[name]._replace(digest=uci.digest(table)))
    monkeypatch.delenv("LHTREE_DATA", raising=False)
    monkeypatch.setenv("LHTREE_CACHE", str(tmp_path / "cache"))
    return tables


@pytest.fixture
def server(small, monkeypatch):
    """Responses of UCI (archives or errors) and the requested addresses."""
    answers, urls = [], []

    def answer(request, timeout):
        urls.append(request.full_url)
        if isinstance(answers[0], Exception):
            raise answers.pop(0)
        return io.BytesIO(answers.pop(0))

    monkeypatch.setattr(uci, "urlopen", answer)
    return answers, urls


@pytest.mark.parametrize("name", NAMES)
def test_downloads_are_cached(name, server, small):
    answers, urls = server
    answers.append(write_archive(small[name], name))
    for _ in range(2):
        np.testing.assert_array_equal(uci.load(name)[0], small[name].X)
    source = uci.SOURCES[name]
    assert urls == [f"{uci._URL}/{source.number}/{source.archive}"]  # the second time from the cache


def test_failed_downloads_name_the_remedy_and_leave_no_file(server, small, rejects):
    answers, _ = server
    table = small["spambase"]
    archive = write_archive(table, "spambase")
    other = write_archive(table._replace(X=table.X + 1.0), "spambase")
    answers += [TimeoutError("timed out"), other, archive[:99], zip_files({"other.data": b""})]
    while answers:
        rejects(uci.load, "spambase")
    assert not Path(os.environ["LHTREE_CACHE"]).exists()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("write", [write_csv, write_archive])
@pytest.mark.parametrize("variable", ["LHTREE_DATA", "LHTREE_CACHE"])
def test_both_formats_are_read_from_both_folders(name, write, variable, small, tmp_path, monkeypatch):
    path = f"{name}.csv.gz" if write is write_csv else uci.SOURCES[name].archive
    (tmp_path / path).write_bytes(write(small[name], name))
    monkeypatch.setenv(variable, str(tmp_path))
    X, y = uci.load(name)
    np.testing.assert_array_equal(X, small[name].X)
    assert (X.dtype, X.flags.c_contiguous, y.dtype) == (np.float64, True, np.int64)
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[y], small[name].labels)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: gzip.compress(gzip.decompress(content)[:-1] + b"9\n"),
        lambda content: gzip.compress(gzip.decompress(content).splitlines()[0]),
    ],
    ids=["cut", "values", "empty"],
)
def test_error_names_an_invalid_file(small, damage, tmp_path, monkeypatch, rejects):
    (tmp_path / "seeds.csv.gz").write_bytes(damage(write_csv(small["seeds"], "seeds")))
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    rejects(uci.load, "seeds")


def test_digest_depends_on_values_only():
    table = uci.Table(np.array([[0.0, 1.5]]), np.array(["a"]))
    assert uci.digest(uci.parse_rows("-0, 1.50e0, 'a'\r\n", ",")) == uci.digest(table)
    for other in ("0,1.5000000000000002,a", "0,1.5,b", "0,1.5,a\n0,1.5,a"):
        assert uci.digest(uci.parse_rows(other, ",")) != uci.digest(table)


# Published sha256 of files inside UCI's archives.
RAW = {
    "banknote": "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9",
    "spambase": "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    "skin": "e30c0a845385dcc95a45c45ed263465674a49638e98ef740afd520769c7714a4",
}


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", NAMES)
def test_published_tables_pass_the_check_in_both_formats(name, monkeypatch):
    monkeypatch.setenv("LHTREE_DATA", DATA)
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    source, lines = uci.SOURCES[name], gzip.decompress(content).decode().splitlines()[1:]
    X, y = uci.load(name)
    assert len(X) == len(y) == len(lines)
    raw = write_raw(name, [line.replace(",", source.delimiter or "\t") for line in lines])
    if name in RAW:
        assert RAW[name] in [hashlib.sha256(one).hexdigest() for one in (raw, raw.removesuffix(b"\r\n"))]
    np.testing.assert_array_equal(uci.read_archive(zip_files({source.member: raw}), source).X, X)


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_tables_of_scikit_learn_are_the_published_ones(name):
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    table, (X, y) = uci.parse_rows(gzip.decompress(content).decode().partition("\n")[2], ","), uci.load(name)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(np.unique(table.labels)[y], table.labels)
