"""Exports of random models with hostile names, classes, weights, gaps, categories and magnitudes."""

import warnings

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from support.exports import SERVER
from support.hostile import CLASSIFIERS, REGRESSORS, check, make_case

pytestmark = pytest.mark.usefixtures("server")


@settings(max_examples=settings().max_examples // 4)
@given(kind=st.sampled_from([*CLASSIFIERS, *REGRESSORS]), seed=st.integers(0, 2**32 - 1))
def test_exports_of_any_model_predict_the_same(kind, seed, tmp_path_factory):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            case = make_case(kind, seed)
    except ValueError:
        reject()  # a table that cannot be learned from, for example one of a single class
    dialects = ["sqlite", "duckdb", "postgresql"] if SERVER else ["sqlite", "duckdb"]
    check(case, tmp_path_factory.mktemp("export"), dialects, *SERVER)
