"""Number formats."""

import numpy as np
import pytest

from lhtree.model.numbers import NumberFormat


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
