"""Hypothesis profiles and small data sets. `LHTREE_PROFILE=thorough` tries more, and new cases every time."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from lhtree import LHTClassifier
from support.adult import make_adult
from support.browser import browser, open_page, open_report  # noqa: F401
from support.clouds import make_clouds
from support.golden import rejects, renew  # noqa: F401
from support.postgresql import postgresql, postgresql_or_none  # noqa: F401

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # shap would compile for longer than its tests run

slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "default", derandomize=True, deadline=None, max_examples=100, suppress_health_check=slow_is_fine
)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=slow_is_fine)
settings.load_profile(os.environ.get("LHTREE_PROFILE", "default"))
if settings().derandomize:
    # Hypothesis also tries constants of the modules imported so far, which depend on the tests that ran before.
    providers.is_local_module_file = lambda path: False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Models without a random state draw the same numbers in every run and in every order of tests."""
    if settings().derandomize:
        np.random.seed(0)  # noqa: NPY002  # the generator that scikit-learn uses


def pytest_sessionfinish():
    renew()


@pytest.fixture
def two():
    """Two classes, 5 features."""
    return make_clouds(200, 5, 2)


@pytest.fixture
def three():
    """Three classes, 5 features."""
    return make_clouds(240, 5, 3)


@pytest.fixture(scope="module")
def wine_model():
    X, y = make_clouds(240, 13, 3)
    X = pd.DataFrame(10 + 3 * X, columns=[f"feature {i}" for i in range(13)])
    y = np.array(["red", "green", "blue"])[y]
    return LHTClassifier(beta=0.25).fit(X, y), X, y


@pytest.fixture(scope="module")
def adult():
    return make_adult(800)


@pytest.fixture
def colours():
    """A table of a number and a category, both missing here and there."""
    X = pd.DataFrame({"size": [1.0, 2.0, np.nan, 4.0] * 5, "colour": ["red", "blue", None, "red"] * 5})
    return X, np.array(["yes", "no"] * 10)


@pytest.fixture
def closing():
    """Close the figures of a test."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
