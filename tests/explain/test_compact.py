"""Explanations of compact trees: in normalised units, on the way that the rounded numbers send a row."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from lhtree import CompactLHTClassifier, CompactLHTRegressor, weight_table
from lhtree.evaluation.decisions import decide
from lhtree.scorer import Scorer


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_paths_sides_and_contributions(load):
    X, y = load(return_X_y=True, as_frame=True)
    model = CompactLHTClassifier().fit(X, y)
    trees = model._model.trees
    for row in range(0, len(X), 40):
        one = X.iloc[[row]]
        told = model.explain(one)
        (path,) = told.paths
        assert path.leaf.block == model.apply(one)[0, 0]
        assert path.leaf.n_target == round(path.leaf.n_target)
        for step in path.steps:
            assert step.side == ("left" if step.y < 0.0 else "right")
            assert sum(term.term for term in step.terms) - step.offset == pytest.approx(step.y, abs=1e-5)
            some = slice(*trees.hyperplane_ptr[step.block : step.block + 2])
            assert {term.unit_weight for term in step.terms} == set(trees.unit_weight[some].tolist())
        label = model.predict(one)[0]
        total = told.base[label] + sum(told.contributions[label].values())
        assert total == pytest.approx(model.predict_proba(one).max())


def test_numbers_add_up():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = CompactLHTRegressor(membership="linear").fit(X, y)
    batch = model.explain_batch(X.iloc[:30])
    np.testing.assert_array_equal(batch["prediction"], model.predict(X.iloc[:30]))
    np.testing.assert_allclose(batch.drop(columns="prediction").sum(axis=1), batch["prediction"], rtol=1e-5)


def test_the_table_of_weights_has_those_that_predict():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = CompactLHTClassifier().fit(X, y)
    table, trees = weight_table(model), model._model.trees
    branching = trees.left >= 0
    np.testing.assert_array_equal(table.unit_offset, trees.unit_offset[branching])
    assert set(table.unit_weights[table.unit_weights != 0.0]) == set(trees.unit_weight)


def test_a_compact_tree_abstains_by_probability():
    X, y = load_wine(return_X_y=True)
    model = CompactLHTClassifier(max_leaf_nodes=4).fit(X[::2], y[::2])
    by_scorer, own = (str(decide(one, X[1::2], threshold=0.999)) for one in (Scorer(model._model), model))
    assert by_scorer == own
    assert "have a probability below" in own
