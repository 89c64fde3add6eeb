"""Model files changed at will and sealed again with a valid digest, so that the checks behind it are met."""

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

import lhtree
from lhtree.files.container import ModelFileError, parse
from lhtree.files.model_file import check_file, pack
from lhtree.model.records import Drawn, ForestRecord, Prototypes, ResponseRecord
from support.boosted import boosted_model
from support.calibrations import make_calibration
from support.clouds import make_clouds

READERS = (lhtree.load, lhtree.load_scorer, lhtree.inspect)
REGRESSION_HEADER = {"estimator": "LHForestRegressor", "parameters": {}, "metadata": None}
DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1"}
# Finite numbers whose sums, products or quotients are not.
EXTREMES = (
    *(0.0, 5e-324, 2.3e-308, 1e-300, 1e-30, 0.5, 1.0, 700.0),
    *(1e30, 3e38, 1e150, 1e300, 1.7976931348623157e308),
)
PREFIX = 8 + len(b'{"__metadata__":{"sha256":"')


def seal(content):
    """Return the bytes with a valid digest."""
    content = bytearray(content)
    content[PREFIX : PREFIX + 64] = b"0" * 64
    content[PREFIX : PREFIX + 64] = hashlib.sha256(content).hexdigest().encode()
    return bytes(content)


def split(content):
    """Header as a dict, and the data behind it."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join(header, data):
    """A sealed file; a header that is not a dict goes in as it is."""
    head = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return seal(len(head).to_bytes(8, "little") + head + data)


def edit(content, change):
    """Change the entries of the header (arrays and ``__metadata__``)."""
    header, data = split(content)
    change(header)
    return join(header, data)


def edit_model(content, change):
    """Change the model section of the header."""

    def change_text(header):
        model = json.loads(header["__metadata__"]["model"])
        change(model)
        header["__metadata__"]["model"] = json.dumps(model)

    return edit(content, change_text)


def edit_array(content, name, place, value):
    """Change one number of an array."""
    header, data = split(content)
    entry = header[name]
    dtype = DTYPES[entry["dtype"]]
    begin, end = entry["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype).copy()
    values[place] = value
    return join(header, data[:begin] + values.tobytes() + data[end:])


def exaggerate(content, random):
    """Change some numbers of the arrays, and now and then of the header, to extreme ones."""
    entries = split(content)[0]
    arrays = [
        name
        for name, entry in entries.items()
        if entry.get("dtype") in ("F64", "F32") and np.prod(entry["shape"])
    ]
    for name in random.choice(arrays, random.integers(1, 5)):
        begin, end = entries[name]["data_offsets"]
        dtype = np.dtype(DTYPES[entries[name]["dtype"]])
        place = slice(None) if random.random() < 0.5 else random.integers((end - begin) // dtype.itemsize)
        value = random.choice([-1.0, 1.0]) * min(random.choice(EXTREMES), float(np.finfo(dtype).max))
        content = edit_array(content, name, place, value)
    if random.random() < 0.75:
        return content

    def change(model):
        model["clip"] = float(random.choice(EXTREMES))
        if model.get("response"):
            ends = np.sort(random.choice(EXTREMES, 3) * random.choice([-1.0, 1.0], 3)).tolist()
            model["response"] = dict(zip(("low", "mean", "high"), ends, strict=True))

    return edit_model(content, change)


def check_sealed(content):
    """Assert that a file is rejected, or that all predictions of ordinary rows are finite."""
    try:
        file = check_file(parse(np.frombuffer(content, np.uint8)))
    except ModelFileError:
        return
    check_scores(file.model)


def check_scores(model):
    """Assert that all predictions of ordinary rows are finite."""
    rows = np.random.default_rng(0).normal(size=(20, model.n_features))
    rows[0], rows[1], rows[2], rows[3, 0] = 0.0, 1e9, -1e9, np.nan
    head = model.head
    prediction = "values" if head.names else "value"
    for score in {*head.scores, "proba" if head.labels else prediction}:
        found = getattr(model.scorer, score)(rows)
        assert np.isfinite(found).all(), score
    if head.labels:
        codes = model.scorer.predict(rows)
        assert ((codes >= 0) & (codes < model.n_classes)).all()
        np.testing.assert_allclose(model.scorer.proba(rows).sum(axis=1), 1.0, atol=1e-9)
    elif model.response.residual is not None:
        coverage = 0.5 * len(model.response.residual) / (len(model.response.residual) + 1)
        assert np.isfinite(model.interval(getattr(model.scorer, prediction)(rows), coverage)).all()


def saved(model, **keywords):
    """The bytes that ``save`` writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.lht"
        lhtree.save(model, path, **keywords)
        return path.read_bytes()


@cache
def small_forest():
    """The bytes of a forest with all that a file can hold."""
    X, y = make_clouds(60, 3, 3)
    model = lhtree.LHForestClassifier(
        2, beta=0.1, oob_score=True, keep_prototypes=9, class_weight={0: 2.0}, random_state=1
    )
    return saved(model.fit(X, y), metadata={"note": "ä"})


@cache
def small_shares():
    """Return the bytes of a forest of trees of all classes, with smoothed leaves."""
    settings = {"direction": "mixed", "multi_class": "one_tree", "smoothing": 0.3, "min_samples_leaf": 3}
    return saved(lhtree.LHForestClassifier(2, **settings, random_state=0).fit(*make_clouds(60, 3, 3)))


@cache
def small_smoothed():
    """Return the bytes of a forest of two classes whose leaves have ranges."""
    settings = {"direction": "mixed", "smoothing": 0.3, "min_samples_leaf": 3}
    return saved(lhtree.LHForestClassifier(2, **settings, random_state=0).fit(*make_clouds(60, 3, 2)))


@cache
def small_calibrated(kind, n_classes=3):
    """Return the bytes of a boosted model with a calibration."""
    model = boosted_model(np.random.default_rng(0), 3, n_classes, 2, 2)
    model = replace(model, calibration=make_calibration(kind, model.n_targets))
    return pack(model, {"estimator": "LHBoostClassifier", "parameters": {}, "metadata": None}).tobytes()


@cache
def small_table():
    """The bytes of a tree for tables with categories."""
    X, y = make_clouds(40, 2, 2)
    table = np.column_stack(
        [X.astype(object), np.array(["red", "green", None], dtype=object)[np.arange(40) % 3]]
    )
    return saved(lhtree.LHTClassifier(gamma=3, categorical_features=[2], keep_prototypes=5).fit(table, y))


@cache
def small_tree():
    """The bytes of a tree."""
    X, y = make_clouds(40, 2, 2)
    return saved(lhtree.LHTClassifier(gamma=3).fit(X, np.array(["no", "yes"])[y]))


@cache
def small_boosted():
    """The bytes of a boosted model."""
    model = boosted_model(np.random.default_rng(0), 3, 3, 2, 2)
    return pack(model, {"estimator": "LHBoostClassifier", "parameters": {}, "metadata": None}).tobytes()


@cache
def small_symmetric():
    """Return the bytes of a boosted model of symmetric trees with linear leaves."""
    model = boosted_model(np.random.default_rng(0), 3, 2, 2, 2, n_slopes=2, is_symmetric=True)
    return pack(model, {"estimator": "LHBoostClassifier", "parameters": {}, "metadata": None}).tobytes()


@cache
def small_compact():
    """Return the bytes of a compact tree with linear leaves."""
    model = lhtree.CompactLHTClassifier(max_passes=1, membership="linear", penalty=0.1)
    return saved(model.fit(*load_breast_cancer(return_X_y=True)))


@cache
def small_compact_regression():
    """Return the bytes of a compact tree that predicts a number, with linear leaves."""
    model = lhtree.CompactLHTRegressor(max_passes=1, membership="linear", max_leaf_nodes=4)
    return saved(model.fit(*load_diabetes(return_X_y=True)))


def make_regression(link):
    """Return a random model of a regression with all optional contents."""
    return replace(
        boosted_model(np.random.default_rng(0), 3, 0, 4, 3, n_slopes=2, link=link),
        forest=ForestRecord(
            np.zeros(4), {}, np.array([9]), (Drawn(4, np.array([7]), False),), -0.5, None, np.arange(9.0)
        ),
        prototypes=Prototypes(np.ones((2, 3)), np.zeros(2, np.int32), np.arange(2), np.array([1.5, -1.0])),
        response=ResponseRecord(-1.0, 2.0, 0.25, np.array([0.0, 0.5, 0.5]), np.array([1.0, 2.0, 0.5])),
    )


@cache
def small_regression(link="mean"):
    """Return the bytes of a regression."""
    return pack(make_regression(link), REGRESSION_HEADER).tobytes()
