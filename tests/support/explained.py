"""Fitted models of every kind with rows to explain."""

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from lhtree import LHForestClassifier, LHTClassifier
from support import strategies

LABELS = {
    "int": lambda y: y * 7 - 3,
    "str": lambda y: np.array([f"<b>{code}</b> & 'é' 🍷" for code in y]),
    "bool": lambda y: y == 1,
    "float": lambda y: y * 1.0,
}


@st.composite
def fitted_models(draw, max_classes=4):
    """A fitted model of any kind and rows to explain, some with missing values."""
    problem = draw(strategies.problems(max_rows=40, max_classes=max_classes))
    assume(problem.weight.max() >= 1)
    n_classes = problem.y.max() + 1
    kind = draw(st.sampled_from(["int", "str", "float", *(["bool"] if n_classes == 2 else [])]))
    arguments = draw(strategies.estimator_arguments(problem.X.shape[1]))
    if draw(st.booleans()):
        arguments["keep_prototypes"] = draw(st.sampled_from([True, 6]))
    if draw(st.booleans()):
        arguments["n_estimators"] = 3
    maker = LHForestClassifier if "n_estimators" in arguments else LHTClassifier
    model = maker(**arguments, random_state=draw(st.integers(0, 99)))
    model.fit(problem.X, LABELS[kind](problem.y), problem.weight)
    rows = problem.X[draw(st.lists(st.integers(0, len(problem.X) - 1), min_size=1, max_size=3))]
    is_missing = draw(strategies.indices(rows.size, 4)).reshape(rows.shape) == 0
    return model, np.where(is_missing, np.nan, rows)


def near(value, terms=()):
    """Within 1e-9 of a value, or of the largest term where terms are huge."""
    largest = max([1.0, abs(value), *(abs(term) for term in terms)])
    return pytest.approx(value, abs=1e-9 * largest, rel=0)
