"""Damaged and hostile files are rejected with one error, whose message is in ``messages.json``.

``python tests/files/test_hostile.py`` writes the messages anew.
"""

import json
import os
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest

from lhtree import ModelFileError, inspect, load
from lhtree.files.container import parse
from lhtree.files.model_file import pack
from support import sealing

MESSAGES = Path(__file__).with_name("messages.json")
# Parts of messages that depend on versions: sizes of files, errors of the JSON parser, the version of lhtree.
VARYING = re.compile(
    r"(?<=it has )\d+(?= bytes)|(?<=header describes )\d+|(?<=valid JSON \().*(?=\)\.)|(?<=by lhtree )[\d.]+(?=\))"
)
TREE, FOREST, BOOSTED = sealing.small_tree, sealing.small_forest, sealing.small_boosted
COMPACT, REGRESSION = sealing.small_compact, sealing.small_regression


def edit_text(end):
    """Change the end of the header's JSON."""
    content = TREE()
    length = int.from_bytes(content[:8], "little")
    return sealing.join(content[8 : 8 + length].rstrip()[:-1] + end, content[8 + length :])


def edit_metadata(key, value):
    return sealing.edit(TREE(), lambda header: header["__metadata__"].update({key: value}))


def edit_entry(make, name, change):
    return sealing.edit(make(), lambda header: header[name].update(change))


def edit_model(make, change):
    return sealing.edit_model(make(), lambda model: model.update(change))


def edit_forest(change):
    return sealing.edit_model(FOREST(), lambda model: model["forest"].update(change))


def rename(make, names):
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


NUMBERS = {"kind": "numbers"}


def one_hot(*categories):
    return {"kind": "one_hot", "categories": list(categories)}


def encode(names, columns):
    return {"encoding": {"names": names, "has_names": True, "columns": columns}}


def classes(dtype, *values):
    return {"classes": {"dtype": dtype, "values": list(values)}}


def draw(n_estimators, counts):
    return {"draws": [{"n_estimators": n_estimators, "counts": counts, "bootstrap": False}]}


DAMAGE = {
    "flipped bit": lambda: TREE()[:-1] + bytes([TREE()[-1] ^ 1]),
    "byte too many": lambda: TREE() + b"\0",
    "byte too few": lambda: TREE()[:-1],
    "sealed bytes too many": lambda: sealing.seal(TREE() + b"\0" * 8),
    "empty": lambda: b"",
    "pickle": lambda: b"\x80\x04\x95" + TREE(),
    "long header": lambda: b"\xff" * 8 + TREE()[8:],
    "sealed long header": lengthen_header,
    "truncated header": lambda: TREE()[:200],
    "no version": lambda: sealing.edit(TREE(), lambda header: header["__metadata__"].pop("version")),
    "unknown requirements": lambda: renew({"value": "0.2.0", "more": "0.9.0", "later": "0.10.0"}),
    "invalid requirements": lambda: renew({"more": 1}),
    "no target": lambda: rename(FOREST, {"target": "right"}),
    "swapped arrays": lambda: rename(FOREST, {"n_target": "left", "left": "n_target"}),
    "no base": lambda: rename(BOOSTED, {"base": "later"}),
    "no responses of prototypes": lambda: rename(REGRESSION, {"prototypes_response": "later"}),
    "no residual": lambda: rename(REGRESSION, {"residual": "later"}),
    "probabilities of a regression": add_probabilities,
    # Integers that all have one hash would take a set minutes.
    "integers of one hash": lambda: edit_model(
        TREE, encode(["a"], [one_hot(*((2**61 - 1) * i for i in range(50_000)))])
    ),
}
TEXTS = {
    "duplicate": b',"a":1,"a":2}',
    "NaN": b',"a":NaN}',
    "infinite": b',"a":1e999}',
    "deep": b',"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b',"a":' + b'{"a":' * 1000 + b"1" + b"}" * 1001,
    "unclosed": b',"a":' + b"[" * 50_000,
    "wide": b',"a":[' + b"[]," * 200_000 + b"[]]}",
    "digits": b',"a":' + b"9" * 5000 + b"}",
    "no UTF-8": b',"\xff":1}',
    "truncated": b',"a"',
    "two values": b"} {}",
    "number": b',"a":1}',
}
METADATA = [
    *(("version", version) for version in ("3.1", "1.0", "2", "1" * 100, "two")),
    ("format", "pt"),
    *(("model", text) for text in ("[]", "{}", "{", 5)),
]
ENTRIES = [
    *((FOREST, "left", {"dtype": dtype}) for dtype in ("F16", [])),
    *((FOREST, "left", {"shape": shape}) for shape in ([-1], [2**62], [2**10, 2**10], [1, 1, 1])),
    *((FOREST, "left", {"shape": shape}) for shape in ([True], "1", [1.0])),
    *((FOREST, "left", {"data_offsets": offsets}) for offsets in ([0, 8], [8, 0], [-8, 0])),
    (FOREST, "left", {"more": 1}),
    (FOREST, "scale", {"shape": [1, 3]}),
    (BOOSTED, "base", {"shape": [1, 3]}),
]
VALUES = [
    *((FOREST, "left", 0, value) for value in (0, -2, 2**31 - 1)),  # 0: a block that is its own child
    (FOREST, "left", -1, 1),  # a cycle
    (FOREST, "block_ptr", 1, -1),
    (FOREST, "block_ptr", -1, 2**62),
    *((FOREST, "target", 0, value) for value in (7, 1)),
    (FOREST, "hyperplane_ptr", 1, 2**62),
    *((FOREST, "hyperplane_feature", 0, value) for value in (3, -1)),
    (FOREST, "hyperplane_weight", 0, np.nan),
    (FOREST, "membership_ptr", -1, 0),
    (FOREST, "membership_feature", 0, 2**31 - 1),
    (FOREST, "membership_slope", 0, np.inf),
    (FOREST, "offset", 0, -np.inf),
    (FOREST, "intercept", 0, np.nan),
    (FOREST, "centre", 0, np.nan),
    *((FOREST, "scale", 0, value) for value in (0.0, -1.0)),
    (FOREST, "feature_low", 0, np.inf),
    *((FOREST, "prior", 0, value) for value in (np.nan, 0.9)),
    (FOREST, "n_samples", 0, 0),
    (FOREST, "weight", 0, np.inf),
    (FOREST, "n_target", 0, 1e9),
    (FOREST, "prototypes_X", 0, np.inf),
    (FOREST, "prototypes_codes", 0, 3),
    (FOREST, "prototypes_given", 0, -1),
    (BOOSTED, "base", 1, np.nan),
    (BOOSTED, "missing", 0, 2),
    (BOOSTED, "missing", -1, 1),  # a leaf
    (BOOSTED, "intercept", -1, np.inf),
    (BOOSTED, "low", -1, 1e9),
    (BOOSTED, "target", 0, 1),
    *((COMPACT, "unit_weight", 0, value) for value in (np.nan, 1e201)),
    (COMPACT, "unit_offset", 0, np.inf),
    (COMPACT, "unit_slope", 0, -np.inf),
    (COMPACT, "unit_intercept", 0, np.nan),
    (REGRESSION, "residual", 0, -1.0),
    (REGRESSION, "residual", 1, np.inf),
    (REGRESSION, "residual", 0, 0.7),
    (REGRESSION, "residual_weight", 0, 0.0),
    (REGRESSION, "prototypes_response", 0, np.nan),
    (REGRESSION, "prototypes_codes", 0, 1),
    (REGRESSION, "n_target", 0, np.inf),
    (REGRESSION, "target", 0, 1),
]
MODELS = [
    (FOREST, {"estimator": 5}),
    (FOREST, {"classes": []}),
    (FOREST, classes("<U9999999", "a", "a", "a")),
    (FOREST, classes("O", 0, 1, 2)),
    (FOREST, classes("<i8", 0, 0, 1)),
    (FOREST, classes("<i8", 0, "1", 2)),
    (FOREST, classes("|i1", 0, 1, 300)),
    (FOREST, classes("<U1", "a", "b", "long")),
    (FOREST, classes("<i8", 0, 1)),
    (FOREST, {"encoding": {"names": []}}),
    (FOREST, encode(["a"], [NUMBERS] * 3)),
    (FOREST, encode([1, 2, 3], [NUMBERS] * 3)),
    (FOREST, encode(["a"], [one_hot("x")])),
    (FOREST, encode(["a"], [one_hot("x", "x", "y")])),
    (FOREST, encode(["a"], [one_hot([], "x", "y")])),
    (FOREST, encode(["a"], [{"kind": "magic"}])),
    (FOREST, {"parameters": {"unseen": "ignore"}}),
    (FOREST, {"confidence": "most"}),
    (FOREST, {"confidence": ["last"]}),
    (FOREST, {"seed": -1}),
    (FOREST, {"written_by": {"lhtree": 1}}),
    (FOREST, {"parameters": {"alpha": [[]]}}),
    (FOREST, {"parameters": {"class_weight": {"labels": [1], "weights": []}}}),
    (FOREST, {"parameters": {"n_jobs": 10**9}}),
    (FOREST, {"metadata": []}),
    (FOREST, {"forest": None}),
    (FOREST, {"link": "magic"}),
    (FOREST, {"clip": -1.0}),
    (FOREST, {"requires": []}),
    (FOREST, {"response": {"low": 0.0, "high": 1.0, "mean": 0.5}}),
    (BOOSTED, {"link": "wolf"}),
    (BOOSTED, {"link": "logistic"}),
    (BOOSTED, {"confidence": "last"}),
    (BOOSTED, {"clip": 0.0}),
    (COMPACT, {"compact": {"penalty": 1.0}}),
    (COMPACT, {"compact": {"penalty": 1.0, "rounding_loss": 0.0, "objective": ["low"]}}),
    (COMPACT, {"confidence": "last"}),
    (REGRESSION, {"link": "wolf"}),
    (REGRESSION, {"link": "identity"}),
    (REGRESSION, {"response": None}),
    (REGRESSION, {"response": {"low": 0.0, "high": 1.0}}),
    (REGRESSION, {"response": {"low": 3.0, "high": 1.0, "mean": 2.0}}),
    (REGRESSION, classes("<i8", 0, 1)),
    (REGRESSION, {"confidence": "last"}),
]
FORESTS = [
    {"betas": [0.0]},
    {"betas": [0.0, 1.0]},
    {"sizes": [20, 20, -20]},
    draw(2**30, None),
    draw(2, [21, 1, 1]),
    {"draws": [5]},
    {"oob_score": 2.0},
    {"tree_parameters": {"a": []}},
    {"more": 1},
]
ESTIMATORS = {
    "unknown": lambda model: model.update(estimator="os.system"),
    "another": lambda model: model.update(estimator="LHTClassifier"),
    "unknown parameter": lambda model: model["parameters"].update(depth=1),
    "unknown tree parameter": lambda model: model["forest"]["tree_parameters"].update(depth=1),
}


def name(make, *parts):
    return " ".join([make.__name__.removeprefix("small_"), *map(str, parts)])


# Functions by case: each returns the bytes of a file.
CASES = (
    DAMAGE
    | {f"text {case}": lambda end=end: edit_text(end) for case, end in TEXTS.items()}
    | {
        f"metadata {key} {value}"[:60]: lambda pair=(key, value): edit_metadata(*pair)
        for key, value in METADATA
    }
    | {name(*entry): lambda entry=entry: edit_entry(*entry) for entry in ENTRIES}
    | {name(*value): lambda value=value: sealing.edit_array(value[0](), *value[1:]) for value in VALUES}
    | {name(*model): lambda model=model: edit_model(*model) for model in MODELS}
    | {f"forest record {change}": lambda change=change: edit_forest(change) for change in FORESTS}
    | {
        f"no {unit}": lambda unit=unit: rename(COMPACT, {unit: "later"})
        for unit in ("unit_weight", "unit_offset", "unit_slope", "unit_intercept")
    }
)


def reject(path, content, read):
    """Return the message with which a reader rejects a file, without its path."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        read(path)
    start = f"path={str(path)!r} is not a valid lhtree model file: "
    assert str(caught.value).startswith(start)
    return VARYING.sub("…", str(caught.value).removeprefix(start))


def read_messages():
    return json.loads(MESSAGES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_all_readers_reject_a_hostile_file(case, tmp_path):
    content = CASES[case]()
    for read in sealing.READERS:
        assert reject(tmp_path / "hostile.lht", content, read) == read_messages()[case]


@pytest.mark.parametrize("case", ESTIMATORS)
def test_load_rejects_estimators_that_do_not_match(case, tmp_path):
    content = sealing.edit_model(FOREST(), ESTIMATORS[case])
    assert reject(tmp_path / "hostile.lht", content, load) == read_messages()[f"estimator {case}"]


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


def test_missing_and_irregular_files_are_rejected(tmp_path):
    for read in sealing.READERS:
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nothing.lht")
        with pytest.raises(ModelFileError, match="not a regular file"):
            read(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="not a regular file"):
            load(tmp_path / "pipe")


def test_no_memory_beyond_the_size_in_the_header(tmp_path):
    """Three sparse gigabytes after a small model are rejected when the header has been read."""
    path = tmp_path / "sparse.lht"
    path.write_bytes(TREE())
    os.truncate(path, 3 << 30)
    for read in sealing.READERS:
        tracemalloc.start()
        with pytest.raises(ModelFileError, match="its header describes"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(TREE()) + (1 << 20)
        tracemalloc.stop()


def test_files_larger_than_memory_are_rejected(tmp_path, monkeypatch):
    header, data = sealing.split(TREE())
    size = 1 << 50
    header["more"] = {"dtype": "F64", "shape": [size // 8], "data_offsets": [len(data), len(data) + size]}
    path = tmp_path / "huge.lht"
    path.write_bytes(sealing.join(header, data))
    seen = path.stat().st_size + size
    monkeypatch.setattr(os, "fstat", lambda descriptor: SimpleNamespace(st_size=seen))
    with pytest.raises(ModelFileError, match="more than the available memory"):
        load(path)


def test_files_of_a_newer_minor_version_load(tmp_path):
    path = tmp_path / "newer.lht"
    path.write_bytes(renew({}))
    (tmp_path / "tree.lht").write_bytes(TREE())
    expected = load(tmp_path / "tree.lht").predict_proba(np.zeros((3, 2)))
    np.testing.assert_array_equal(load(path).predict_proba(np.zeros((3, 2))), expected)
    assert inspect(path)["format_version"] == "2.7"


def test_missing_parameters_have_their_defaults(tmp_path):
    path = tmp_path / "older.lht"
    path.write_bytes(sealing.edit_model(FOREST(), lambda model: model["parameters"].pop("verbose")))
    assert load(path).verbose == 0


def write():
    """Write the messages of all cases."""
    contents = {case: make() for case, make in CASES.items()}
    contents |= {
        f"estimator {case}": sealing.edit_model(FOREST(), change) for case, change in ESTIMATORS.items()
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hostile.lht"
        messages = {case: reject(path, content, load) for case, content in contents.items()}
    MESSAGES.write_text(json.dumps(messages, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
