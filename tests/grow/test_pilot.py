"""``min_samples_leaf="auto"``: a pilot on held-out rows chooses the leaf size, and leaves are smoothed."""

import numpy as np
import pytest
from sklearn.base import clone

import lhtree
from lhtree import LHForestClassifier, LHTClassifier
from lhtree.grow import automatic
from lhtree.grow.forest import smooth_leaves
from support.clouds import make_clouds


def make_rows(n_rows=500, noise=0.0, n_classes=2):
    X, y = make_clouds(n_rows, 5, n_classes)
    is_noise = np.random.default_rng(1).random(n_rows) < noise
    return X, np.where(is_noise, np.random.default_rng(2).integers(n_classes, size=n_rows), y)


def forest(**params):
    return LHForestClassifier(**({"n_estimators": 10, "direction": "mixed", "random_state": 0} | params))


def test_noise_needs_larger_leaves():
    X, _ = make_rows()
    clean = forest().fit(X, (X[:, 0] * X[:, 1] > 0.0) ^ (X[:, 0] > 1.0))
    noisy = forest().fit(*make_rows(noise=0.7))
    assert clean.min_samples_leaf_ in (1, 5)
    assert noisy.min_samples_leaf_ in (20, 50)
    assert LHTClassifier(direction="mixed").fit(*make_rows(noise=0.7)).min_samples_leaf_ >= 20


@pytest.mark.parametrize("model", [forest(), LHTClassifier(direction="fisher")], ids=["forest", "tree"])
def test_the_model_is_that_of_the_size_chosen(model):
    X, y = make_rows(noise=0.4, n_classes=3)
    chosen = clone(model).fit(X, y)
    given = clone(model).set_params(min_samples_leaf=chosen.min_samples_leaf_, smoothing=0.1).fit(X, y)
    np.testing.assert_array_equal(chosen.predict_proba(X), given.predict_proba(X))
    assert given.min_samples_leaf_ == chosen.min_samples_leaf_


def test_the_least_loss_decides():
    """The slow twin: the losses of all sizes on the rows held out."""
    X, y = make_rows(noise=0.5)
    weight = np.random.default_rng(3).integers(1, 3, len(X)).astype(float)
    losses = {}

    class Watched(automatic.Pilot):
        def choose(self, settled, build, progress, n_threads, deadline):
            for size in self.sizes:
                model = build(self.training, settled.with_leaf_size(size), self.growth, None)
                total = 0.0
                for proba, code, w in zip(
                    model.scorer.proba(self.held.X.load().expand()),
                    self.held.codes,
                    self.held.weight,
                    strict=True,
                ):
                    total -= w * np.log((proba[code] + 0.01) / (1 + 0.01 * len(proba)))
                losses[size] = total / self.held.weight.sum()
            assert len(self.held.X) == 125
            assert abs(self.held.codes.mean() - y.mean()) < 0.02
            return super().choose(settled, build, progress, n_threads, deadline)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lhtree.estimators.tree.Pilot", Watched)
        model = forest().fit(X, y, sample_weight=weight)
    assert list(losses) == [1, 5, 20, 50]
    assert model.min_samples_leaf_ == min(losses, key=losses.get)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "noise", "n_trees", "tried"),
    [(600, 3, 0.7, 90, [5, 20, 50]), (600, 2, 0.0, 30, [5, 20, 1]), (3001, 2, 0.2, 10, [5, 20, 50])],
)
def test_a_forest_follows_the_falling_loss_with_few_trees(
    n_rows, n_classes, noise, n_trees, tried, monkeypatch
):
    """On large tables, pilots of 30 trees and four sizes made forests slower than RandomForest."""
    grown = []
    own = automatic.Pilot.choose

    def choose(self, settled, build, progress, n_threads, deadline):
        def build_watched(training, settled, growth, progress):
            model = build(training, settled, growth, progress)
            grown.append((settled.min_samples_leaf, model.trees.n_trees))
            return model

        size = own(self, settled, build_watched, progress, n_threads, deadline)
        assert sum(n for _, n in grown) == self.n_trees
        return size

    monkeypatch.setattr(automatic.Pilot, "choose", choose)
    X, y = make_rows(n_rows, noise, n_classes)
    model = forest(n_estimators=40).fit(X, y if noise else (X[:, 0] * X[:, 1] > 0.0) ^ (X[:, 0] > 1.0))
    assert grown == [(size, n_trees) for size in tried]
    assert model.min_samples_leaf_ in tried


def test_only_sizes_below_an_eighth_are_tried():
    for n_rows, largest in ((40, 1), (200, 5), (400, 20)):
        X, y = make_rows(n_rows, noise=1.0)
        assert forest().fit(X, y).min_samples_leaf_ <= largest


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(automatic, "_MOST_ROWS", 200)
    seen = []
    own = automatic.Pilot.__init__

    def init(self, *arguments, **options):
        own(self, *arguments, **options)
        seen.append((len(self.training.X), len(self.held.X), set(self.training.codes.tolist())))

    monkeypatch.setattr(automatic.Pilot, "__init__", init)
    X, y = make_rows(600)
    y[:3] = 2  # a rare class has a row to train on
    forest(max_samples=300).fit(X, y)
    n_rows, n_held, classes = seen[0]
    assert abs(n_rows + n_held - 200) <= 1
    assert (n_held in (49, 50), classes) == (True, {0, 1, 2})


def test_the_paper_and_numbers_need_no_pilot(monkeypatch):
    monkeypatch.setattr("lhtree.estimators.tree.Pilot", None)
    X, y = make_rows(200)
    for params in ({"direction": "mean_difference"}, {"min_samples_leaf": 3}, {"min_samples_leaf": 0.1}):
        model = forest(**params).fit(X, y)
        assert model.min_samples_leaf_ == params.get("min_samples_leaf", 1)
        assert "low" not in model._model.trees.arrays()


def test_files_and_warm_starts_keep_the_leaf_size(tmp_path):
    X, y = make_rows(noise=0.4)
    model = forest(warm_start=True).fit(X, y)
    lhtree.save(model, tmp_path / "model.lht")
    loaded = lhtree.load(tmp_path / "model.lht")
    assert loaded.min_samples_leaf_ == lhtree.inspect(tmp_path / "model.lht")["min_samples_leaf"]
    assert loaded.min_samples_leaf_ == model.min_samples_leaf_
    X, y = make_rows(noise=0.0)  # for which a pilot would choose another
    for one in (model, loaded):
        size = one.min_samples_leaf_
        one.set_params(n_estimators=12).fit(X, y)
        assert one.min_samples_leaf_ == size
        assert one.estimators_[11].get_params()["min_samples_leaf"] == size


def test_a_forest_that_goes_on_is_that_of_one_fit():
    """One tree alone would want larger leaves than the many that it will belong to."""
    X, _ = make_rows()
    y = (X[:, 0] * X[:, 1] > 0.0) ^ (np.random.default_rng(0).random(len(X)) < 0.06)
    whole = forest(n_estimators=40).fit(X, y)
    alone = forest(n_estimators=1).fit(X, y)
    assert alone.min_samples_leaf_ > whole.min_samples_leaf_
    growing = forest(n_estimators=1, warm_start=True).fit(X, y)
    growing.set_params(n_estimators=40).fit(X, y)
    np.testing.assert_array_equal(growing.predict_proba(X), whole.predict_proba(X))


def test_leaves_are_clipped_to_smoothed_shares():
    X, y = make_rows(100, n_classes=3)
    trees = forest(min_samples_leaf=1).fit(X, y)._model.trees
    prior = np.array([0.2, 0.3, 0.5])
    smoothed = smooth_leaves(trees, prior, 0.4)
    assert smooth_leaves(trees, prior, 0.0) is trees
    for tree in range(trees.n_trees):
        p = prior[trees.target[tree]]
        for block in range(trees.block_ptr[tree], trees.block_ptr[tree + 1]):
            n = trees.weight[block]
            expected = (
                (0.4 * p / (n + 0.4), (n + 0.4 * p) / (n + 0.4)) if trees.left[block] < 0 else (0.0, 1.0)
            )
            assert (smoothed.low[block], smoothed.high[block]) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("smoothing", ["auto", 2.0])
def test_probabilities_are_never_certain_and_add_up(smoothing):
    X, y = make_rows(300, noise=0.1)
    model = forest(smoothing=smoothing).fit(X, y)
    assert 0.0 < model.predict_proba(X).min() < model.predict_proba(X).max() < 1.0
    table = model.explain_batch(X[:20])
    contributions = table.filter(like="contribution.").sum(axis=1)
    np.testing.assert_allclose(table["base"] + contributions, table["membership"], atol=1e-12)
    explanation = model.explain(X[0])
    for label, total in explanation.membership.items():
        parts = explanation.base[label] + sum(explanation.contributions[label].values())
        assert parts == pytest.approx(total, abs=1e-12)
