"""Settings and tables of the compact tree's ablation; nothing is measured."""

from benchmarks.compact import BY_KEY

from lhtree import CompactLHTClassifier


def test_every_setting_can_be_fitted(two):
    X, y = two
    for params in BY_KEY.values():
        assert CompactLHTClassifier(**params).fit(X[:60], y[:60]).n_leaves_ >= 1
