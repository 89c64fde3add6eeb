"""The count of numbers that a person has to read, by hand for small models."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.readable import Size, _count_curves, _count_figs, count_numbers
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from lhtree import CompactLHTClassifier, LHTClassifier


@pytest.fixture(scope="module")
def grid():
    X = np.array([[x, y] for x in range(10) for y in range(10)], dtype=float)
    return X, (X[:, 0] + X[:, 1] > 9).astype(int)


def test_one_hyperplane_and_two_leaves(grid):
    model = CompactLHTClassifier().fit(*grid)
    # Two weights and an offset; a share per leaf.
    assert count_numbers("compact", model, 2) == Size(2, 3 + 2)


def test_a_tree_of_single_features(grid):
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(*grid)
    assert count_numbers("cart_16", tree, 2) == Size(4, 3 + 4)
    assert count_numbers("cart_16", tree, 3) == Size(4, 3 + 8)


def test_slopes_of_leaves_count(grid):
    model = LHTClassifier(membership="least_squares").fit(*grid)
    view = model.trees_[0]
    expected = sum(
        len(view.slopes(block)) + 1 if view.is_leaf[block] else max(len(view.weights(block)) + 1, 1)
        for block in range(view.n_blocks)
    )
    assert count_numbers("readable_tree", model, 2) == Size(view.n_leaves, expected)


def test_a_line(grid):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(*grid)
    assert count_numbers("logistic", model, 2) == Size(None, 3)


def test_sums_of_trees():
    class Node:
        def __init__(self, left=None, right=None):
            self.left, self.right = left, right

    trees = [Node(Node(), Node(Node(), Node())), Node(Node(), Node())]
    assert _count_figs(trees) == (5, 2)


def test_curves_and_surfaces():
    # The ends of every axis are for missing and unknown values; two neighbours of one height are one step.
    model = SimpleNamespace(
        intercept_=np.zeros(1),
        term_features_=[(0,), (0, 1)],
        term_scores_=[np.array([9.0, 1.0, 1.0, 2.0, 9.0]), np.arange(20.0).reshape(5, 4)],
    )

    # An intercept; two steps and a bound; a surface of 3 × 2 with 2 + 1 bounds.
    assert _count_curves(model) == 1 + 3 + 6 + 3
