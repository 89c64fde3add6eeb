"""Explanations of every estimator on small tables of odd columns: they exist, and they add up."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lhtree.model.model import read
from lhtree.reports import report
from support.odd_tables import odd_tables

pytestmark = pytest.mark.filterwarnings("ignore::lhtree.tables.errors.TableWarning")


def fit(table):
    try:
        return table.model.fit(table.X, table.y, table.weight)
    except ValueError as error:
        assume("ensemble" not in str(error))  # it needs rows to hold out
        raise


def check_sums(explanation):
    """Check that base, contributions and clipped add up to the total of every class."""
    for label in explanation.classes or [None]:
        base, contributions, clipped, total = explanation.account(label)
        size = max(map(abs, (base, clipped, total, *contributions.values())))
        assert base + sum(contributions.values()) + clipped == pytest.approx(total, rel=1e-6, abs=1e-6 * size)


def find_goals(explanation):
    """Return goals of counterfactuals: any other class, or larger and smaller numbers."""
    if explanation.classes:
        return [None]
    predicted = explanation.prediction
    step = 0.1 * abs(predicted) or 0.1
    if explanation._fitted.link == "log":
        return [(predicted * 1.1 + 1e-9, None)]
    return [(predicted + step, None), (None, predicted - step)]


def check_counterfactuals(model, explanation, columns):
    fitted = read(model, takes_numbers=True)
    for to in find_goals(explanation):
        for one in explanation.counterfactuals(to=to):
            predicted = model.predict(pd.DataFrame([one.row])[columns])[0]
            assert predicted == one.prediction
            if to is None:
                assert predicted != one.before
            else:
                low, high = to
                assert low is None or predicted >= low
                assert high is None or predicted <= high
            for name, (_, after) in one.changes.items():
                own = fitted.encoding.features_of(columns.index(name))
                if (
                    fitted.encoding.categories[columns.index(name)] is None
                    and fitted.span.is_whole[own.start]
                ):
                    assert after == np.floor(after)
            assert np.isfinite(one.distance)
            assert str(one)
            json.dumps(one.to_dict(), allow_nan=False, default=str)


@settings(max_examples=settings().max_examples // 2)
@given(odd_tables(), st.integers(0, 59))
def test_rows_are_explained_and_counterfactuals_hold(table, number):
    model, row = fit(table), table.X.iloc[number % len(table.X)]
    explanation = model.explain(row)
    check_sums(explanation)
    assert str(explanation)
    assert explanation._repr_html_()
    json.dumps(explanation.to_dict(), allow_nan=False, default=str)
    check_counterfactuals(model, explanation, list(table.X))


@settings(max_examples=settings().max_examples // 4)
@given(odd_tables())
def test_columns_are_explained(table):
    model, X = fit(table), table.X
    frame = model.explain_batch(X)
    own = frame[[name for name in frame if name.startswith("contribution.")]]
    total = next((frame[name] for name in ("membership", "raw_score") if name in frame), frame["prediction"])
    added = frame["base"] + own.sum(axis=1) + frame.get("clipped", 0.0)
    size = max(own.abs().to_numpy().max(), frame["base"].abs().max())
    np.testing.assert_allclose(added.astype(float), total.astype(float), rtol=1e-6, atol=1e-6 * size)
    assert len(model.explain_batch(X, terms=True))
    for kind in ("gain", "contribution", "permutation"):
        found = model.importances(X, table.y, kind=kind, n_repeats=1)
        assert np.isfinite(found.values).all()
        assert repr(found)
    effects = model.effects(X)
    for effect in effects:
        assert effect.n_rows.sum() == len(X)
        assert np.isfinite(effect.mean).all()
        assert len(set(effect.labels)) == len(effect.labels)
    assert len(effects.to_frame())


@settings(max_examples=settings().max_examples // 10)
@given(odd_tables())
def test_reports_are_written(table):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report(fit(table), table.X, table.y, path)
        assert path.stat().st_size > 10_000
