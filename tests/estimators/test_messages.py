"""Rejected fits: ``messages.txt`` has lines of code and their error messages.

``python tests/estimators/test_messages.py`` writes the messages anew.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import lhtree
from support.clouds import make_clouds
from support.golden import read_cases, write_cases
from support.shop import make_table

MESSAGES = Path(__file__).with_name("messages.txt")
CASES = read_cases(MESSAGES)
TWO, THREE = make_clouds(200, 5, 2), make_clouds(200, 5, 3)
TABLE = make_table(100)


def warm(model, data=TWO, **changes):
    """Return a fitted model with other parameters for its next fit."""
    return model.set_params(warm_start=True).fit(*data).set_params(**changes)


NAMES = {name: getattr(lhtree, name) for name in lhtree.__all__ if name.endswith(("Classifier", "Regressor"))}
NAMES |= {
    "np": np,
    "pd": pd,
    "warm": warm,
    "TWO": TWO,
    "THREE": THREE,
    "WINE": load_wine(return_X_y=True),
    "INFINITE": np.where(TWO[0] == TWO[0][3, 2], np.inf, TWO[0]),
    "RARE": np.where(np.arange(60) == 7, 1, 0),  # one row of class 1
    "SHOP": (TABLE.drop(columns="y"), TABLE["y"]),
    "TABLE": pd.DataFrame(TWO[0][:, :4], columns=list("abcd")).assign(e=np.array(["u", "v"])[TWO[1]]),
    "VALIDATION": {"X_val": np.zeros((2, 5)), "y_val": [0, 1]},
    "X40": np.arange(40.0)[:, None],
    "POSITIVE": np.linspace(1.0, 2.0, 40),
    "NEGATIVE": np.linspace(-1.0, 1.0, 40),
    "FIXED": {"beta": 0.0, "max_samples": 0.6, "random_state": 0},
    "ONE_TREE": {"direction": "mixed", "multi_class": "one_tree"},
}


def split(code):
    """Return the model before its last fit, and a function that fits it."""
    model, _, arguments = code.partition(".fit(")
    model = eval(model, NAMES)
    return model, lambda: eval(f"model.fit({arguments}", NAMES | {"model": model})


def find_message(code):
    """Return the message with which the fit is rejected; the model must not change."""
    model, fit = split(code)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError)) as caught:  # the caller compares the message
        fit()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert vars(model).keys() == before.keys()
    return str(caught.value)


@pytest.mark.parametrize("code", CASES)
def test_rejected_fits_name_the_remedy_and_change_nothing(code):
    assert find_message(code) == CASES[code]


@pytest.mark.parametrize(
    "code", [code for code in CASES if code.startswith("warm") and "oob_score" not in code]
)
def test_rejected_warm_starts_fit_from_scratch(code):
    model, fit = split(code)
    model.set_params(warm_start=False)
    assert fit()._model.n_estimators == model.get_params().get(
        "n_estimators", getattr(model, "max_iter", None)
    )


if __name__ == "__main__":
    write_cases(MESSAGES, find_message)
