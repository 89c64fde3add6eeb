"""Random changes of model files with a valid digest: the file is rejected with one error, or it predicts.

`cpp/fuzz` does the same with the core alone, guided by coverage.
"""

import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import ModelFileError, load
from lhtree.files.container import parse
from lhtree.files.model_file import check_file
from lhtree.model.heads import NUMBER_LINKS
from lhtree.model.records import CALIBRATORS
from support import sealing


def harm_text(draw, content):
    """Return a file with changes in the text of its header."""
    length = int.from_bytes(content[:8], "little")
    text = bytearray(content[8 : 8 + length])
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(sealing.PREFIX + 58, len(text) - 1))
        some = draw(
            st.sampled_from([b"0", b"-1", b"9" * 20, b"[", b"}", b'"', b"null", b"true", b"1e308", b""])
        )
        text[place : place + draw(st.integers(0, 3))] = some
    return sealing.join(bytes(text), content[8 + length :])


def harm_data(draw, content):
    """Return a file with changes in its arrays."""
    length = int.from_bytes(content[:8], "little")
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = 8 + length + 4 * draw(st.integers(0, (len(content) - length - 8) // 4 - 1))
        content[place : place + 4] = draw(st.binary(min_size=4, max_size=4))
    return sealing.seal(content)


def harm_model(draw, content):
    """Return a file with another value in its header."""
    anything = st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    )

    def change(model):
        place = model
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]
            if not isinstance(inner, (dict, list)) or not inner or draw(st.booleans()):
                place[key] = draw(anything)
                return
            place = inner

    return sealing.edit_model(content, change)


EVERY_KIND = [
    *(sealing.small_forest, sealing.small_tree, sealing.small_table, sealing.small_boosted),
    *(
        sealing.small_shares,
        sealing.small_smoothed,
        sealing.small_symmetric,
        sealing.small_compact,
        sealing.small_compact_regression,
    ),
    *(partial(sealing.small_calibrated, method, n) for method in CALIBRATORS for n in (2, 3)),
    *(partial(sealing.small_regression, link) for link in NUMBER_LINKS),
]


@settings(max_examples=2 * settings().max_examples)
@given(st.integers(0, 2**32 - 1), st.sampled_from(EVERY_KIND))
def test_files_of_extreme_numbers_are_rejected_or_predict_finite_numbers(seed, make):
    sealing.check_sealed(sealing.exaggerate(make(), np.random.default_rng(seed)))


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), st.sampled_from([harm_text, harm_data, harm_model]), st.sampled_from(EVERY_KIND))
def test_changed_files_are_rejected_or_predict(tmp_path_factory, data, harm, make):
    content = harm(data.draw, make())
    try:
        file = check_file(parse(np.frombuffer(content, np.uint8)))
    except ModelFileError:
        return
    sealing.check_scores(file.model)
    json.dumps(file.header)
    path = tmp_path_factory.getbasetemp() / "harmed.lht"
    path.write_bytes(content)
    try:
        model = load(path)
    except ModelFileError:
        return
    assert model._model.n_features == file.model.n_features
    assert repr(model.trees_)


@given(st.binary(max_size=400))
def test_random_bytes_are_rejected(content):
    with pytest.raises(ModelFileError):
        parse(np.frombuffer(content, np.uint8))
