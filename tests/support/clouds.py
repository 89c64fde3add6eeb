"""Overlapping clouds of rows."""

from dataclasses import replace

import numpy as np
import pandas

import lhtree


def make_clouds(n_rows, n_features, n_classes, seed=0):
    """Return overlapping clouds: X (n, m) float64, y (n,) of 0 to K - 1, each present."""
    generator = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    centres = generator.normal(size=(n_classes, n_features))
    return centres[y] + generator.normal(size=(n_rows, n_features)), y


def with_bounds(learned):
    """Return a model whose leaves clip their estimates to random bounds."""
    generator = np.random.default_rng(0)
    low = generator.uniform(0.0, 0.4, learned.trees.n_blocks)
    return replace(learned, trees=replace(learned.trees, low=low, high=low + 0.3))


def fit_named(names, labels=(0, 1)):
    """Return a tree of features and classes with these names."""
    X, y = make_clouds(40, len(names), len(labels))
    return lhtree.LHTClassifier().fit(
        pandas.DataFrame(X, columns=pandas.Index(names, dtype=object)), np.array(labels)[y]
    )
