"""Reports of tables with numbers near the ends of the range of floats: every figure and every chart is finite."""

import base64

import numpy as np
import pytest

import lhtree
from support.reports import read_facts

MODELS = [
    lhtree.LHTRegressor(),
    lhtree.LHBoostRegressor(max_iter=5, random_state=0),
    lhtree.CompactLHTRegressor(penalty=1.0, random_state=0),
]


def list_numbers(facts):
    """Return all numbers of the facts, including packed arrays."""
    if isinstance(facts, dict) and "base64" in facts:
        return np.frombuffer(base64.b64decode(facts["base64"]), facts["dtype"]).astype(float).tolist()
    if isinstance(facts, (dict, list)):
        parts = facts.values() if isinstance(facts, dict) else facts
        return [number for part in parts for number in list_numbers(part)]
    return [facts] if isinstance(facts, float) else []


def make_rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    return X, np.abs(X[:, 0] + generator.normal(0, 0.3, 60)) + 0.1


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e39, 1e299])
def test_responses_of_any_size(model, unit, tmp_path):
    X, y = make_rows()
    y = y * unit
    facts = read_facts(lhtree.report(model.fit(X, y), X, y, tmp_path / "report.html"))
    assert np.isfinite(list_numbers(facts)).all()
    assert str(model.explain(X[0]))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_values_near_the_largest_float(model, tmp_path, rejects):
    X, y = make_rows()
    X[:, 0] = np.where(X[:, 0] > 0, 1.79e308, -1.79e308)
    facts = read_facts(lhtree.report(model.fit(X, y), X, y, tmp_path / "report.html"))
    assert np.isfinite(list_numbers(facts)).all()
    lhtree.save(model, tmp_path / "model.lht")
    np.testing.assert_array_equal(lhtree.load(tmp_path / "model.lht").predict(X), model.predict(X))
    for plot in (
        lambda: lhtree.plot_effects(model, X, columns=[0]),
        lambda: lhtree.plot_membership(model, features=0),
    ):
        rejects(plot)
