"""Files that are damaged or hostile are refused with one error, whatever is wrong with them."""

import os
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from lhtree import ModelFileError, inspect, load
from lhtree.files.container import parse
from support import sealing


@pytest.fixture
def forest():
    return sealing.small_forest()


@pytest.fixture
def tree():
    return sealing.small_tree()


def test_sealing_changes_nothing(forest, tree, tmp_path):
    for content in (forest, tree):
        assert sealing.join(*sealing.split(content)) == content
        (tmp_path / "same.lht").write_bytes(sealing.edit(content, lambda header: None))
        assert load(tmp_path / "same.lht").classes_.size


def test_every_truncation(tree):
    for length in [*range(120), *range(120, len(tree), 37), len(tree) - 1]:
        with pytest.raises(ModelFileError):
            parse(np.frombuffer(tree[:length], np.uint8))


def test_every_flipped_bit(tree):
    whole = np.frombuffer(tree, np.uint8)
    for place in [*range(200), *range(200, len(tree), 61)]:
        for bit in (1, 8, 128):
            damaged = whole.copy()
            damaged[place] ^= bit
            with pytest.raises(ModelFileError):
                parse(damaged)


def test_damage_is_named(tree, refused):
    assert "checksum mismatch" in refused(tree[:-1] + bytes([tree[-1] ^ 1]))
    assert f"{len(tree) + 1} bytes, but its header describes {len(tree)}" in refused(tree + b"\0")
    assert f"{len(tree) - 1} bytes, but its header describes {len(tree)}" in refused(tree[:-1])
    assert "too short" in refused(b"")
    assert "not written by lhtree" in refused(b"\x80\x04\x95" + tree)
    assert "header is longer than 16777216 bytes" in refused(b"\xff" * 8 + tree[8:])
    assert "truncated: its header is longer than the file" in refused(tree[:200])


def test_what_is_no_file(tmp_path, tree):
    for read in sealing.READERS:
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nothing.lht")
        with pytest.raises(ModelFileError, match="not a regular file"):
            read(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="not a regular file"):
            load(tmp_path / "pipe")


def test_over_long(tree, refused):
    assert "its header describes" in refused(sealing.seal(tree + b"\0" * 8))


def test_no_memory_beyond_what_the_header_describes(tree, tmp_path):
    """Three sparse gigabytes behind a small model are refused after reading the header."""
    path = tmp_path / "sparse.lht"
    path.write_bytes(tree)
    os.truncate(path, 3 << 30)
    for read in sealing.READERS:
        tracemalloc.start()
        with pytest.raises(ModelFileError, match="its header describes"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(tree) + (1 << 20)
        tracemalloc.stop()


def test_more_than_there_is_memory(tree, tmp_path, monkeypatch):
    header, data = sealing.split(tree)
    size = 1 << 50
    header["more"] = {"dtype": "F64", "shape": [size // 8], "data_offsets": [len(data), len(data) + size]}
    path = tmp_path / "huge.lht"
    path.write_bytes(sealing.join(header, data))
    seen = path.stat().st_size + size
    monkeypatch.setattr(os, "fstat", lambda descriptor: SimpleNamespace(st_size=seen))
    with pytest.raises(ModelFileError, match="more than the available memory"):
        load(path)


def test_integers_of_one_hash(tree, refused):
    """Integers that all have one hash would take a set minutes."""
    many = [(2**61 - 1) * i for i in range(50_000)]
    change = encode(["a"], [categories(*many)])
    assert "integer of more than 64 bits" in refused(
        sealing.edit_model(tree, lambda model: model.update(change))
    )


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("version", "3.1", "format version is 3.1, but this lhtree reads version 2: update lhtree"),
        ("version", "1.0", "format version is 1.0, but this lhtree reads version 2"),
        ("version", "1" * 100, "format version '1111"),
        ("version", "2", "'2' is not a version"),
        ("version", "two", "'two' is not a version"),
        ("format", "pt", "another library"),
        ("model", "[]", "not a JSON object"),
        ("model", "{}", "header has no estimator"),
        ("model", "{", "not valid JSON"),
        ("model", 5, "values that are not text"),
    ],
)
def test_metadata_of_the_container(tree, refused, key, value, expected):
    assert expected in refused(sealing.edit(tree, lambda header: header["__metadata__"].update({key: value})))


def test_a_file_without_its_texts(tree, refused):
    assert "needs all of" in refused(sealing.edit(tree, lambda header: header["__metadata__"].pop("version")))


def renew(content, requires):
    """The same model written by a later lhtree, with a field and an array that this one does not know."""
    header, data = sealing.split(content)
    header["__metadata__"]["version"] = "2.7"
    header["more"] = {"dtype": "I8", "shape": [4], "data_offsets": [len(data), len(data) + 4]}
    renewed = sealing.join(header, data + b"\0" * 4)
    return sealing.edit_model(renewed, lambda model: model.update(later={"a": 1}, requires=requires))


def test_a_newer_minor_version(tree, refused, tmp_path):
    path = tmp_path / "newer.lht"
    path.write_bytes(renew(tree, {}))
    rows = np.zeros((3, 2))
    (tmp_path / "tree.lht").write_bytes(tree)
    same = load(tmp_path / "tree.lht").predict_proba(rows)
    np.testing.assert_array_equal(load(path).predict_proba(rows), same)
    assert inspect(path)["format_version"] == "2.7"
    needs = {"value": "0.2.0", "more": "0.9.0", "later": "0.10.0"}
    message = refused(renew(tree, needs))
    assert "uses later, more and needs lhtree 0.10.0 or newer" in message
    assert "requires must map" in refused(renew(tree, {"more": 1}))


HEADERS = {
    "twice": (b',"a":1,"a":2}', "a duplicate key"),
    "NaN": (b',"a":NaN}', "contains NaN"),
    "infinite": (b',"a":1e999}', "not finite"),
    "deep": (b',"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper than 32"),
    "deep objects": (b',"a":' + b'{"a":' * 1000 + b"1" + b"}" * 1001, "nested deeper than 32"),
    "unclosed": (b',"a":' + b"[" * 50_000, "nested deeper than 32"),
    "wide": (b',"a":[' + b"[]," * 200_000 + b"[]]}", "more than 100000 lists"),
    "digits": (b',"a":' + b"9" * 5000 + b"}", "more than 64 bits"),
    "no UTF-8": (b',"\xff":1}', "not valid JSON"),
    "cut": (b',"a"', "not valid JSON"),
    "more behind": (b"} {}", "not valid JSON"),
    "number": (b',"a":1}', "array 'a' is not described"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_hostile_json(tree, refused, case):
    end, expected = HEADERS[case]
    text = tree[8 : 8 + int.from_bytes(tree[:8], "little")].rstrip()
    data = tree[8 + int.from_bytes(tree[:8], "little") :]
    assert expected in refused(sealing.join(text[:-1] + end, data))


def test_a_header_that_is_too_long(tree, refused):
    header, data = sealing.split(tree)
    header["__metadata__"]["model"] += " " * (1 << 24)
    assert "header is longer than 16777216 bytes" in refused(sealing.join(header, data))


ENTRIES = {
    "dtype": ({"dtype": "F16"}, "unsupported dtype"),
    "dtype list": ({"dtype": []}, "unsupported dtype"),
    "negative": ({"shape": [-1]}, "invalid shape"),
    "gigantic": ({"shape": [2**62]}, "is not at its expected offset"),
    "gigantic product": ({"shape": [2**10, 2**10]}, "is not at its expected offset"),
    "more axes": ({"shape": [1, 1, 1]}, "invalid shape"),
    "truth": ({"shape": [True]}, "invalid shape"),
    "text": ({"shape": "1"}, "invalid shape"),
    "fraction": ({"shape": [1.0]}, "invalid shape"),
    "overlap": ({"data_offsets": [0, 8]}, "is not at its expected offset"),
    "backwards": ({"data_offsets": [8, 0]}, "is not at its expected offset"),
    "negative place": ({"data_offsets": [-8, 0]}, "invalid shape"),
    "more keys": ({"more": 1}, "not described by"),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_hostile_arrays(forest, refused, case):
    change, expected = ENTRIES[case]
    assert expected in refused(sealing.edit(forest, lambda header: header["left"].update(change)))


def test_arrays_that_are_not_those_of_a_model(forest, refused):
    def rename(header):
        header["right"] = header.pop("target")

    assert "has no arrays target" in refused(sealing.edit(forest, rename))
    header, data = sealing.split(forest)
    header["scale"]["shape"] = [1, header["scale"]["shape"][0]]
    assert "scale has shape (1, 3) instead of (3,)" in refused(sealing.join(header, data))
    swapped = {"n_target": "left", "left": "n_target"}
    header, data = sealing.split(forest)
    header = {swapped.get(name, name): entry for name, entry in header.items()}
    assert "not of type" in refused(sealing.join(header, data))


VALUES = [
    ("left", 0, 0, "breadth-first"),  # a block that is its own child
    ("left", 0, -2, "breadth-first"),
    ("left", 0, 2**31 - 1, "breadth-first"),
    ("left", -1, 1, "breadth-first"),  # a cycle
    ("block_ptr", 1, -1, "not the arrays of a model"),
    ("block_ptr", -1, 2**62, "not the arrays of a model"),
    ("target", 0, 7, "target is out of range"),
    ("target", 0, 1, "not in the order of the classes"),
    ("hyperplane_ptr", 1, 2**62, "hyperplane_ptr falls"),
    ("hyperplane_feature", 0, 3, "out of order or range"),
    ("hyperplane_feature", 0, -1, "out of order or range"),
    ("hyperplane_weight", 0, np.nan, "not finite"),
    ("membership_ptr", -1, 0, "does not span"),
    ("membership_feature", 0, 2**31 - 1, "out of order or range"),
    ("membership_slope", 0, np.inf, "not finite"),
    ("offset", 0, -np.inf, "not finite"),
    ("intercept", 0, np.nan, "not finite"),
    ("centre", 0, np.nan, "centre"),
    ("scale", 0, 0.0, "scale"),
    ("scale", 0, -1.0, "scale"),
    ("feature_low", 0, np.inf, "feature_low contains infinity"),
    ("prior", 0, np.nan, "prior"),
    ("prior", 0, 0.9, "prior"),
    ("n_samples", 0, 0, "n_samples"),
    ("weight", 0, np.inf, "weight"),
    ("n_target", 0, 1e9, "n_target"),
    ("prototypes_X", 0, np.inf, "infinity"),
    ("prototypes_codes", 0, 3, "classes that are out of range"),
    ("prototypes_given", 0, -1, "negative row numbers"),
]


@pytest.mark.parametrize(("name", "place", "value", "expected"), VALUES)
def test_hostile_values(forest, refused, name, place, value, expected):
    assert expected in refused(sealing.edit_array(forest, name, place, value))


NUMBERS = {"kind": "numbers"}


def categories(*some):
    return {"kind": "one_hot", "categories": list(some)}


def encode(names, columns):
    return {"encoding": {"names": names, "has_names": True, "columns": columns}}


MODELS = {
    "no estimator": ({"estimator": 5}, "estimator is not the name"),
    "classes": ({"classes": []}, "classes is not dtype and values"),
    "wide classes": ({"classes": {"dtype": "<U9999999", "values": ["a"] * 3}}, "too wide"),
    "code": ({"classes": {"dtype": "O", "values": [0, 1, 2]}}, "not described by a dtype"),
    "twice": ({"classes": {"dtype": "<i8", "values": [0, 0, 1]}}, "a duplicate class"),
    "type": ({"classes": {"dtype": "<i8", "values": [0, "1", 2]}}, "not of their type"),
    "fit": ({"classes": {"dtype": "|i1", "values": [0, 1, 300]}}, "do not fit"),
    "cut": ({"classes": {"dtype": "<U1", "values": ["a", "b", "long"]}}, "do not fit"),
    "few": ({"classes": {"dtype": "<i8", "values": [0, 1]}}, "one value per share"),
    "encoding": ({"encoding": {"names": []}}, "encoding is not names"),
    "few names": (encode(["a"], [NUMBERS] * 3), "encoding is not names"),
    "names of numbers": (encode([1, 2, 3], [NUMBERS] * 3), "encoding is not names"),
    "few encoded": (encode(["a"], [categories("x")]), "differ in the number of features"),
    "two alike": (encode(["a"], [categories("x", "x", "y")]), "encoding is not names"),
    "nested": (encode(["a"], [categories([], "x", "y")]), "encoding is not names"),
    "unknown kind": (encode(["a"], [{"kind": "magic"}]), "encoding is not names"),
    "unseen": ({"parameters": {"unseen": "ignore"}}, "unseen is not one of missing"),
    "confidence": ({"confidence": "most"}, "confidence is not one of"),
    "confidences": ({"confidence": ["last"]}, "confidence is not one of"),
    "seed": ({"seed": -1}, "seed"),
    "versions": ({"written_by": {"lhtree": 1}}, "written_by"),
    "parameters": ({"parameters": {"alpha": [[]]}}, "parameters is not plain"),
    "weights": ({"parameters": {"class_weight": {"labels": [1], "weights": []}}}, "parameters is not plain"),
    "threads": ({"parameters": {"n_jobs": 10**9}}, "n_jobs"),
    "metadata": ({"metadata": []}, "metadata"),
    "a tree": ({"forest": None}, "a single tree has more than one estimator"),
    "link": ({"link": "magic"}, "link is not one of wolf"),
    "clip": ({"clip": -1.0}, "clip is not a positive"),
    "unknown version": ({"requires": []}, "requires"),
}


@pytest.mark.parametrize("case", MODELS)
def test_hostile_models(forest, refused, case):
    change, expected = MODELS[case]
    assert expected in refused(sealing.edit_model(forest, lambda model: model.update(change)))


FORESTS = {
    "betas": ({"betas": [0.0]}, "betas must have one value per"),
    "beta": ({"betas": [0.0, 1.0]}, "forest is not betas"),
    "sizes": ({"sizes": [20, 20, -20]}, "forest is not betas"),
    "draws": (
        {"draws": [{"n_estimators": 2**30, "counts": None, "bootstrap": False}]},
        "draws do not match",
    ),
    "counts": (
        {"draws": [{"n_estimators": 2, "counts": [21, 1, 1], "bootstrap": False}]},
        "forest is not betas",
    ),
    "no draws": ({"draws": [5]}, "forest is not betas"),
    "score": ({"oob_score": 2.0}, "forest is not betas"),
    "parameters": ({"tree_parameters": {"a": []}}, "forest is not betas"),
    "more": ({"more": 1}, "forest is not betas"),
}


@pytest.mark.parametrize("case", FORESTS)
def test_hostile_forests(forest, refused, case):
    change, expected = FORESTS[case]
    assert expected in refused(sealing.edit_model(forest, lambda model: model["forest"].update(change)))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda model: model.update(estimator="os.system"), "unknown estimator"),
        (lambda model: model.update(estimator="LHTClassifier"), "does not match its trees"),
        (
            lambda model: model["parameters"].update(depth=1),
            "unknown parameters depth: update lhtree",
        ),
        (
            lambda model: model["forest"]["tree_parameters"].update(depth=1),
            "unknown tree_parameters depth",
        ),
    ],
)
def test_what_only_the_estimators_know(forest, tmp_path, change, expected):
    (tmp_path / "hostile.lht").write_bytes(sealing.edit_model(forest, change))
    with pytest.raises(ModelFileError, match=expected):
        load(tmp_path / "hostile.lht")


def test_a_file_of_an_lhtree_with_fewer_parameters(forest, tmp_path):
    path = tmp_path / "older.lht"
    path.write_bytes(sealing.edit_model(forest, lambda model: model["parameters"].pop("verbose")))
    assert load(path).verbose == 0
