"""Number formats."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree.model.numbers import (
    ALL_DIGITS,
    NumberFormat,
    write_probability,
    write_share,
    write_shares,
    write_value,
)


@pytest.mark.parametrize(
    ("low", "high", "value", "written", "signed"),
    [
        (0, 500_000, 214_321.0, "214,000", "+214,000"),
        (0, 320, 151.6, "152", "+152"),
        (0, 5, 2.126, "2.13", "+2.13"),
        (0, 1e-9, 5.4321e-10, "5.432e-10", "+5.43e-10"),
        (0, 1e30, 5.4321e29, "5.432e+29", "+5.43e+29"),
        (7, 7, -0.0004, "0.00", "+0.00"),
    ],
)
def test_digits_depend_on_the_range(low, high, value, written, signed):
    numbers = NumberFormat.over(low, high)
    assert (numbers.write(value), numbers.sign(value)) == (written, signed)
    assert numbers.is_seen(value) == (value > 0)


def test_logarithms_are_formatted_as_factors():
    numbers = NumberFormat.over(0, 500_000, is_log=True)
    assert numbers.write(np.log(214_321.0)) == "214,000"
    assert [numbers.sign(np.log(factor)) for factor in (1.123, 0.9, 0.0123)] == ["×1.12", "×0.90", "×0.0123"]
    assert numbers.plain().write(214_321.0) == "214,000"


def test_changes_rounded_to_zero_have_a_plus():
    signed = [NumberFormat().sign(change) for change in (-0.004, 0.004, -0.006, -10.001)]
    assert signed == ["+0.00", "+0.00", "-0.01", "-10.00"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (66008.0, "66,008"),
        (-1234567.5, "-1,234,567.5"),
        (2014.0, "2014"),
        (0.1, "0.1"),
        (float(np.float32(0.1)), "0.1"),
        (1 / 3, "0.333333"),
        (100_000 + 1 / 3, "100,000.333"),
        (123_456_789_012_345.0, "123,456,789,012,345"),
        (2e-7, "2e-7"),
        (1e300, "1e+300"),
        (-0.0, "0"),
    ],
)
def test_values_of_rows_are_written_as_they_are(value, written):
    assert write_value(value) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_all_digits_are_read_as_the_value(value):
    assert float(write_value(value, longest=ALL_DIGITS).replace(",", "")) == value


@given(st.integers(-3, 4), st.floats(-1e4, 1e4), st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8))
def test_parts_add_up_as_printed(decimals, start, parts):
    numbers = NumberFormat(decimals)
    end = start + sum(parts)
    rounded = numbers.add_up(start, parts, end)
    first, last, *printed = (
        Decimal(text.replace(",", ""))
        for text in (numbers.write(start), numbers.write(end), *map(numbers.sign, rounded))
    )
    assert first + sum(printed) == last
    assert max(abs(a - b) for a, b in zip(rounded, parts, strict=True)) <= (1.0 + 1e-9) * 10.0**-decimals


@pytest.mark.parametrize(
    ("share", "written", "whole", "probability"),
    [
        (0.995, "99.5 %", ">99 %", "0.99"),
        (0.9999, ">99.9 %", ">99 %", ">0.99"),
        (1.0, "100.0 %", "100 %", "1.00"),
        (0.0, "0.0 %", "0 %", "0.00"),
        (1e-9, "<0.1 %", "<1 %", "<0.01"),
        (0.25, "25.0 %", "25 %", "0.25"),
    ],
)
def test_shares_are_never_rounded_to_all_or_nothing(share, written, whole, probability):
    assert (write_share(share), write_share(share, 0), write_probability(share)) == (
        written,
        whole,
        probability,
    )
    assert write_shares(0.0, share) == f"0.0 to {written.removesuffix(' %')}"
