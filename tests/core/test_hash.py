"""The hash of training rows equals a slow reference on every machine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import _core

MASK = 2**64 - 1


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def derive(key, value):
    return mix((key + 0x9E3779B97F4A7C15 * (value + 1)) & MASK)


def hash_slowly(arrays):
    """Return the halves of the hash of some bytes, in plain loops."""
    lanes = [mix(lane + 1) for lane in range(8)]
    for content in arrays:
        padded = content + bytes(64 - len(content) % 64)
        for first in range(0, len(padded), 8):
            lane = first // 8 % 8
            total = lanes[lane] + int.from_bytes(padded[first : first + 8], "little") * 0xC2B2AE3D27D4EB4F
            turned = (total << 31 | (total & MASK) >> 33) & MASK
            lanes[lane] = turned * 0x9E3779B185EBCA87 & MASK
        lanes[0] = derive(lanes[0], len(content))
    first, second = 1, 2
    for lane in lanes:
        first, second = derive(first, lane), derive(lane, second)
    return first, second


@given(st.lists(st.binary(max_size=200), max_size=4))
def test_hash_equals_the_reference(arrays):
    hashed = _core.Hash()
    for content in arrays:
        hashed.add(np.frombuffer(content, np.uint8))
    assert hashed.finish() == hash_slowly(arrays)


def test_hash_takes_arrays_of_any_type():
    values = np.arange(12.0).reshape(3, 4)
    hashed = _core.Hash()
    hashed.add(values)
    assert hashed.finish() == hash_slowly([values.tobytes()])
    with pytest.raises(TypeError):
        hashed.add("text")
