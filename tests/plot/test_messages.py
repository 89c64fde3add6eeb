"""Rejected arguments of plots: ``messages.txt`` has lines of code and their error messages.

``python tests/plot/test_messages.py`` writes the messages anew.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import lhtree
from lhtree.model.model import read
from lhtree.scorer import Scorer
from support import pictures
from support.boosted import fit_boosted
from support.golden import read_cases, write_cases
from support.regressions import fit_regression

pytestmark = pytest.mark.usefixtures("closing")

MESSAGES = Path(__file__).with_name("messages.txt")
CASES = read_cases(MESSAGES)
NAMES = {name: getattr(lhtree, name) for name in lhtree.__all__ if name.startswith("plot_")}
NAMES |= {name: cache(getattr(pictures, name)) for name in ("wine", "iris", "clouds")}
NAMES |= {"boosted": fit_boosted, "houses": fit_regression, "Scorer": Scorer, "read": read, "np": np}


def find_message(code):
    with pytest.raises((TypeError, ValueError)) as caught:
        eval(code, NAMES)
    return str(caught.value)


@pytest.mark.parametrize("code", CASES)
def test_invalid_arguments_are_rejected_with_a_remedy(code):
    assert find_message(code) == CASES[code]


if __name__ == "__main__":
    write_cases(MESSAGES, find_message)
