"""Damaged and hostile files are rejected: ``messages.txt`` has lines of code that make a file, and the error messages.

``python tests/files/test_hostile.py`` writes the messages anew.
"""

import os
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest

from lhtree import LHTClassifier, ModelFileError, inspect, load, load_scorer, save
from lhtree.files.arrays import check_trees
from lhtree.files.container import parse
from lhtree.files.model_file import pack
from support import sealing
from support.golden import read_cases, write_cases

MESSAGES = Path(__file__).with_name("messages.txt")
CASES = read_cases(MESSAGES)
# Parts of messages that depend on versions: sizes of files, errors of the JSON parser, the version of lhtree.
VARYING = re.compile(
    r"(?<=it has )\d+(?= bytes)|(?<=header describes )\d+|(?<=valid JSON \().*(?=\)\.)|(?<=by lhtree )[\d.]+(?=\))"
)
TREE, FOREST, BOOSTED = sealing.small_tree, sealing.small_forest, sealing.small_boosted
SYMMETRIC = sealing.small_symmetric
COMPACT, REGRESSION, SHARES = sealing.small_compact, sealing.small_regression, sealing.small_shares
SMOOTHED, CALIBRATED = sealing.small_smoothed, sealing.small_calibrated
NUMBERS = {"kind": "numbers"}


def edit_text(end):
    """Change the end of the header's JSON."""
    content = TREE()
    length = int.from_bytes(content[:8], "little")
    return sealing.join(content[8 : 8 + length].rstrip()[:-1] + end, content[8 + length :])


def edit_metadata(**change):
    return sealing.edit(TREE(), lambda header: header["__metadata__"].update(change))


def edit_entry(make, name, **change):
    return sealing.edit(make(), lambda header: header[name].update(change))


def describe(make, **change):
    """Change the description of the model."""
    return sealing.edit_model(make(), lambda model: model.update(change))


def edit_forest(**change):
    return sealing.edit_model(FOREST(), lambda model: model["forest"].update(change))


def rename(make, **names):
    header, data = sealing.split(make())
    return sealing.join({names.get(name, name): entry for name, entry in header.items()}, data)


def renew(requires):
    """Write a tree as a later lhtree would: with a field and an array that are unknown."""
    header, data = sealing.split(TREE())
    header["__metadata__"]["version"] = "2.7"
    header["more"] = {"dtype": "I8", "shape": [4], "data_offsets": [len(data), len(data) + 4]}
    renewed = sealing.join(header, data + b"\0" * 4)
    return sealing.edit_model(renewed, lambda model: model.update(later={"a": 1}, requires=requires))


def lengthen_header():
    header, data = sealing.split(TREE())
    header["__metadata__"]["model"] += " " * (1 << 24)
    return sealing.join(header, data)


def add_probabilities():
    model = sealing.make_regression("mean")
    forest = replace(model.forest, oob_decision_function=np.empty((9, 0)))
    return pack(replace(model, forest=forest), sealing.REGRESSION_HEADER).tobytes()


def one_hot(*categories):
    return {"kind": "one_hot", "categories": list(categories)}


def encode(names, columns):
    return {"encoding": {"names": names, "has_names": True, "columns": columns}}


def classes(dtype, *values):
    return {"classes": {"dtype": dtype, "values": list(values)}}


def reject(path, code, read):
    """Return the message with which a reader rejects the file that the code makes, without its path."""
    path.write_bytes(eval(code, vars(sealing) | {"nan": np.nan, "inf": np.inf} | globals()))
    with pytest.raises(ModelFileError) as caught:
        read(path)
    start = f"path={str(path)!r} is not a valid lhtree model file: "
    assert str(caught.value).startswith(start)
    return VARYING.sub("…", str(caught.value).removeprefix(start))


@pytest.mark.parametrize("code", CASES)
def test_readers_reject_hostile_files(code, tmp_path):
    readers = (
        [load] if "unknown" in CASES[code] or "does not match its trees" in CASES[code] else sealing.READERS
    )
    for read in readers:  # only load knows the estimators
        assert reject(tmp_path / "hostile.lht", code, read) == CASES[code]


def test_sealing_changes_nothing(tmp_path):
    for content in (FOREST(), TREE()):
        assert sealing.join(*sealing.split(content)) == content
        (tmp_path / "same.lht").write_bytes(sealing.edit(content, lambda header: None))
        assert load(tmp_path / "same.lht").classes_.size


def test_truncated_files_are_rejected():
    tree = TREE()
    for length in [*range(120), *range(120, len(tree), 37), len(tree) - 1]:
        with pytest.raises(ModelFileError):
            parse(np.frombuffer(tree[:length], np.uint8))


def test_flipped_bits_are_rejected():
    whole = np.frombuffer(TREE(), np.uint8)
    for place in [*range(200), *range(200, len(whole), 61)]:
        for bit in (1, 8, 128):
            damaged = whole.copy()
            damaged[place] ^= bit
            with pytest.raises(ModelFileError):
                parse(damaged)


def test_missing_and_irregular_files_are_rejected(tmp_path, rejects):
    for read in sealing.READERS:
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nothing.lht")
        for other in (tmp_path, LHTClassifier(), 0):
            rejects(read, other)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        rejects(load, tmp_path / "pipe")


def test_no_memory_beyond_the_size_in_the_header(tmp_path):
    """Three sparse gigabytes after a small model are rejected when the header has been read."""
    path = tmp_path / "sparse.lht"
    path.write_bytes(TREE())
    os.truncate(path, 3 << 30)
    for read in sealing.READERS:
        tracemalloc.start()
        with pytest.raises(ModelFileError, match="3221225472 bytes, but its header describes"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(TREE()) + (1 << 20)
        tracemalloc.stop()


def test_files_larger_than_memory_are_rejected(tmp_path, monkeypatch, rejects):
    header, data = sealing.split(TREE())
    size = 1 << 50
    header["more"] = {"dtype": "F64", "shape": [size // 8], "data_offsets": [len(data), len(data) + size]}
    path = tmp_path / "huge.lht"
    path.write_bytes(sealing.join(header, data))
    seen = path.stat().st_size + size
    monkeypatch.setattr(os, "fstat", lambda descriptor: SimpleNamespace(st_size=seen))
    rejects(load, path)


def test_files_of_a_newer_minor_version_load(tmp_path):
    path = tmp_path / "newer.lht"
    path.write_bytes(renew({}))
    (tmp_path / "tree.lht").write_bytes(TREE())
    expected = load(tmp_path / "tree.lht").predict_proba(np.zeros((3, 2)))
    np.testing.assert_array_equal(load(path).predict_proba(np.zeros((3, 2))), expected)
    assert inspect(path)["format_version"] == "2.7"


def test_shares_are_rejected_in_trees_of_one_class(tmp_path, rejects):
    (tmp_path / "forest.lht").write_bytes(FOREST())
    trees = load(tmp_path / "forest.lht")._model.trees
    arrays = trees.arrays() | {"prior": np.ones(3) / 3, "prior_share": np.zeros(trees.n_blocks)}
    rejects(check_trees, arrays, 3)


def test_missing_parameters_have_their_defaults(tmp_path):
    path = tmp_path / "older.lht"
    path.write_bytes(sealing.edit_model(FOREST(), lambda model: model["parameters"].pop("verbose")))
    assert load(path).verbose == 0


def test_labels_are_as_wide_as_their_values(tmp_path):
    """A prediction takes the width of the labels: 32 MB each if the file could choose it."""
    path = tmp_path / "wide.lht"
    path.write_bytes(describe(TREE, **classes("<U8388607", "no", "yes")))
    for read in (load, load_scorer):
        model = read(path)
        assert model.classes_.dtype == np.dtype("<U3")
        assert model.predict(np.zeros((300, 2))).nbytes == 300 * 12
    X, y = np.arange(8.0)[:, None], np.array(["no", "yes"] * 4, dtype="<U1000000")
    save(LHTClassifier().fit(X, y), path)
    assert inspect(path)["classes"] == ["no", "yes"]
    assert load(path).classes_.dtype == np.dtype("<U3")


def test_feature_names_are_built_when_they_are_needed(tmp_path):
    """The name of a column is repeated for each of its categories."""
    names = ["n" * 9_000]
    table = np.array([f"c{i % 1_000}" for i in range(3_000)], dtype=object)[:, None]
    model = LHTClassifier(max_depth=1, max_one_hot=1_000, categorical_features=[0])
    path = tmp_path / "names.lht"
    save(model.fit(table, np.arange(3_000) % 2), path)
    path.write_bytes(
        sealing.edit_model(path.read_bytes(), lambda model: model["encoding"].update(names=names))
    )
    for read in sealing.READERS:
        tracemalloc.start()
        loaded = read(path)
        assert tracemalloc.get_traced_memory()[1] < 5e6
        tracemalloc.stop()
    assert len(load_scorer(path).feature_names[-1]) > 9_000
    assert loaded["n_features"] == 1_000


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        write_cases(MESSAGES, lambda code: reject(Path(folder) / "hostile.lht", code, load))
