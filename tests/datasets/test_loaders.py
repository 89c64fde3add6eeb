"""Loaders, the places they look into, and the formats they read."""

import gzip
import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets as bundled
from sklearn.utils import Bunch

import lhtree.datasets
from lhtree.datasets import _find, _sets, _tables
from support.uci import NAMES, about_of, load, make_table, write_archive, write_csv, write_raw, zip_files

DATA = os.environ.get("LHTREE_DATA")


def test_every_set_has_a_loader():
    assert sorted(f"load_{name}" for name in [*NAMES, "wine", "wdbc"]) == lhtree.datasets.__all__


@pytest.mark.parametrize(
    ("name", "twin"), [("wine", bundled.load_wine), ("wdbc", bundled.load_breast_cancer)]
)
def test_sets_that_come_with_scikit_learn_need_nothing(name, twin, monkeypatch):
    monkeypatch.setattr(_find, "find_table", None)
    mine, theirs = load(name, as_frame=False), twin()
    np.testing.assert_array_equal(mine.data, theirs.data)
    np.testing.assert_array_equal(mine.target, theirs.target)
    spaced = [feature.replace("_", " ") for feature in mine.feature_names]
    assert spaced == [feature.replace("_", " ") for feature in theirs.feature_names]
    assert len(mine.target_names) == len(theirs.target_names)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["csv", "archive"])
@pytest.mark.parametrize("variable", ["LHTREE_DATA", "LHTREE_CACHE"])
def test_files_of_both_forms_in_both_folders(name, form, variable, tmp_path, monkeypatch):
    table, source = make_table(name), _sets.SOURCES[name]
    path, write = {"csv": (f"{name}.csv.gz", write_csv), "archive": (source.archive, write_archive)}[form]
    (tmp_path / path).write_bytes(write(table, name))
    monkeypatch.setenv(variable, str(tmp_path))
    X, y = load(name, return_X_y=True, as_frame=False)
    np.testing.assert_array_equal(X, table.X)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.dtype == np.int64
    np.testing.assert_array_equal(np.array(list(about_of(name).classes))[y], table.labels)


def test_a_bunch_of_frames(small, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "magic.csv.gz").write_bytes(write_csv(small["magic"], "magic"))
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    bunch = load("magic")
    assert isinstance(bunch, Bunch)
    assert list(bunch.frame) == [*bunch.feature_names, "target"]
    pandas.testing.assert_frame_equal(bunch.data, bunch.frame[bunch.feature_names])
    assert bunch.target.tolist() == [0, 1] * 6
    assert bunch.target_names.tolist() == ["gamma", "hadron"]
    assert "0 gamma ('g': 6 rows), 1 hadron ('h': 6 rows)" in bunch.DESCR
    for text in ("CC BY 4.0", bunch.licence, bunch.citation, bunch.url, "fM3Trans"):
        assert text in bunch.DESCR
    X, y = load("magic", return_X_y=True)
    pandas.testing.assert_frame_equal(X, bunch.data)
    pandas.testing.assert_series_equal(y, bunch.target)


def test_arrays_need_no_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load("wine", as_frame=False).frame is None
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'lhtree\[pandas\]'"):
        load("wine")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "not a complete gzip file"),
        (lambda content: b"no gzip", "not a complete gzip file"),
        (lambda content: gzip.compress(b"a,b,class\n1,2,3\n"), "its first row should be area,perimeter"),
        (lambda content: gzip.compress(gzip.decompress(content)[:-1] + b"9\n"), "differ from"),
        (lambda content: gzip.compress(gzip.decompress(content).splitlines()[0]), "it has no rows"),
        (lambda content: gzip.compress(gzip.decompress(content) + b"1,2\n"), "number of columns changed"),
    ],
    ids=["cut", "not gzip", "names", "values", "empty", "ragged"],
)
def test_a_wrong_file_of_the_users_is_named(small, damage, message, tmp_path, monkeypatch):
    path = tmp_path / "seeds.csv.gz"
    path.write_bytes(damage(write_csv(small["seeds"], "seeds")))
    monkeypatch.setenv("LHTREE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=message) as caught:
        load("seeds", as_frame=False)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"readme.txt": b""}, "it contains no Rice_Cammeo_Osmancik.arff"),
        ({"Rice_Cammeo_Osmancik.arff": b"1,2,3"}, "it has no @data line"),
        ({"Rice_Cammeo_Osmancik.arff": b"0" * 1000}, "has 1000 bytes, far more than expected"),
    ],
)
def test_archives_of_something_else(files, message, monkeypatch):
    monkeypatch.setattr(_tables, "_MOST_BYTES", 999)
    with pytest.raises(ValueError, match=message):
        _tables.read_archive(zip_files(files), _sets.RICE, _sets.SOURCES["rice"])


def test_a_file_may_lie_in_a_folder_of_the_archive(small):
    source = _sets.SOURCES["magic"]
    content = zip_files({f"magic/{source.member.upper()}": write_raw("magic", ["1,2,g"])})
    assert _tables.unpack(content, source.member) == "1,2,g\r\n"


def test_the_digest_is_of_values():
    table = _tables.Table(np.array([[0.0, 1.5]]), np.array(["a"]))
    written = _tables.parse_rows("-0, 1.50e0, 'a'\r\n", ",")
    assert _tables.digest(written) == _tables.digest(table)
    for other in ("0,1.5000000000000002,a", "0,1.5,b", "0,1.5,a\n0,1.5,a"):
        assert _tables.digest(_tables.parse_rows(other, ",")) != _tables.digest(table)


def test_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("LHTREE_DATA", "")
    monkeypatch.setenv("LHTREE_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("LOCALAPPDATA", "")
    assert _find.data_folder() is None
    for platform, parts in {
        "linux": ".cache/lhtree",
        "darwin": "Library/Caches/lhtree",
        "win32": "AppData/Local/lhtree/Cache",
    }.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert _find.cache_folder() == tmp_path / parts
    monkeypatch.setenv("LHTREE_DATA", "~/data")
    monkeypatch.setenv("LHTREE_CACHE", "~/cache")
    assert _find.data_folder() == tmp_path / "data"
    assert _find.cache_folder() == tmp_path / "cache"


# What others give as sha256 of the files inside UCI's archives.
RAW = {
    "banknote": "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9",
    "spambase": "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    "skin": "e30c0a845385dcc95a45c45ed263465674a49638e98ef740afd520769c7714a4",
}


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", NAMES)
def test_the_published_tables(name, monkeypatch):
    """The folder's file passes the check, and so does the same table in UCI's format."""
    monkeypatch.setenv("LHTREE_DATA", DATA)
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    source, lines = _sets.SOURCES[name], gzip.decompress(content).decode().splitlines()[1:]
    X, y = load(name, return_X_y=True, as_frame=False)
    assert X.shape == (len(lines), len(about_of(name).features))
    assert set(y.tolist()) == set(range(len(about_of(name).classes)))
    raw = write_raw(name, [line.replace(",", source.delimiter or "\t") for line in lines])
    if name in RAW:
        ends = raw, raw.removesuffix(b"\r\n")
        assert RAW[name] in [hashlib.sha256(end).hexdigest() for end in ends]
    table = _tables.read_archive(zip_files({source.member: raw}), about_of(name), source)
    np.testing.assert_array_equal(table.X, X)


@pytest.mark.skipif(not DATA, reason="LHTREE_DATA names no folder")
@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_scikit_learns_copies_are_the_published_tables(name):
    content = (Path(DATA) / f"{name}.csv.gz").read_bytes()
    header, _, rows = gzip.decompress(content).decode().partition("\n")
    table, bunch = _tables.parse_rows(rows, ","), load(name, as_frame=False)
    assert header.split(",") == [*bunch.feature_names, "class"]
    np.testing.assert_array_equal(table.X, bunch.data)
    np.testing.assert_array_equal(np.array(list(about_of(name).classes))[bunch.target], table.labels)
