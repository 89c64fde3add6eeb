"""Columns of many categories: target statistics, cross-fitted in fit, and columns that name rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.preprocessing import TargetEncoder

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier
from lhtree.tables.encoders import UNSEEN_LEVEL
from lhtree.tables.statistics import LevelMoments, Moments, draw_folds, part_values

MODELS = [
    LHTClassifier(),
    LHForestClassifier(5, direction="mixed", min_samples_leaf=5, keep_prototypes=True, random_state=0),
    LHBoostClassifier(20, random_state=0),
]


def make_flights(n_rows=1200, n_levels=60, n_classes=2, seed=0):
    """Carriers of which each has its own delay; some are missing."""
    generator = np.random.default_rng(seed)
    carrier = generator.integers(0, n_levels, n_rows)
    wind = generator.normal(size=n_rows)
    delay = np.random.default_rng(1).normal(size=n_levels)[carrier] * 2.0 + wind
    cuts = np.quantile(delay, np.arange(1, n_classes) / n_classes)
    y = np.array(["early", "late", "on time"])[np.digitize(delay, cuts)]
    X = pd.DataFrame({"carrier": [f"C{i:03d}" for i in carrier], "wind": wind})
    X.loc[::40, "carrier"] = None
    return X, y


@pytest.fixture(scope="module")
def flights():
    return make_flights()


def learn_statistics(codes, responses, weight, fold, n_levels):
    """Statistics of all rows at once."""
    cells = LevelMoments([Moments(response, weight) for response in responses], n_levels)
    cells.add(codes, fold, slice(None))
    return cells.learn()


class TestStatistics:
    def test_values_are_those_of_scikit_learn(self, flights):
        X, y = flights
        known = X["carrier"].notna().to_numpy()
        codes, levels = X["carrier"].factorize(sort=True)
        learned = learn_statistics(
            codes[known], (y == "late")[None, known], None, draw_folds(known.sum()), len(levels)
        )
        encoder = TargetEncoder(smooth="auto", target_type="binary").fit(
            X.loc[known, ["carrier"]], y[known] == "late"
        )
        np.testing.assert_allclose(learned.values[0, :-1], encoder.encodings_[0], atol=1e-12)
        np.testing.assert_allclose(learned.values[0, -1], encoder.target_mean_, rtol=1e-12)

    def test_rows_get_the_value_of_the_other_folds(self):
        """The slow twin, in plain loops, with weights and real responses."""
        generator = np.random.default_rng(0)
        codes, r = generator.integers(-1, 9, 300), generator.normal(5.0, 2.0, 300)
        weight, fold = generator.uniform(0.1, 3.0, 300), draw_folds(300)
        learned = learn_statistics(codes, r[None], weight, fold, 9)
        features = learned.place(codes, fold)
        prior = np.average(r, weights=weight)
        variance = np.average((r - prior) ** 2, weights=weight)
        for row in range(300):
            own = [i for i in range(300) if codes[i] == codes[row] and fold[i] != fold[row]]
            if codes[row] < 0:
                assert np.isnan(features[row, 0])
                continue
            n, mean = weight[own].sum(), np.average(r[own], weights=weight[own])
            within = np.average((r[own] - mean) ** 2, weights=weight[own])
            share = n * variance / (n * variance + within)
            assert features[row, 0] == pytest.approx(share * mean + (1 - share) * prior, rel=1e-9)
        assert np.bincount(fold).min() > 40

    def test_the_order_of_rows_does_not_matter(self):
        generator = np.random.default_rng(0)
        codes, responses = generator.integers(0, 9, 500), generator.normal(size=(2, 500))
        weight, fold = generator.lognormal(size=500), draw_folds(500)
        order = generator.permutation(500)
        one = learn_statistics(codes, responses, weight, fold, 9)
        other = learn_statistics(codes[order], responses[:, order], weight[order], fold[order], 9)
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.place(codes, fold)[order], other.place(codes[order], fold[order]))

    def test_sums_of_parts_of_the_rows(self):
        generator = np.random.default_rng(1)
        codes, responses = generator.integers(-1, 10, 500), generator.normal(size=(2, 500))
        weight, fold = generator.lognormal(size=500), draw_folds(500)
        targets = [Moments(response, weight) for response in responses]
        cells = LevelMoments(targets, 9)
        for first in (300, 0, 77):
            rows = slice(first, {300: 500, 0: 77, 77: 300}[first])
            cells.add(codes[rows], draw_folds(rows.stop - first, first), rows)
        whole, parts = learn_statistics(codes, responses, weight, fold, 9), cells.learn()
        np.testing.assert_array_equal(whole.values, parts.values)
        np.testing.assert_array_equal(whole.others, parts.others)
        there = np.zeros((9, 5), dtype=bool)
        known = (codes >= 0) & (codes < 9)
        there[codes[known], fold[known]] = True
        np.testing.assert_array_equal(parts.is_there, there)

    @pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
    def test_equal_values_get_distinct_values(self, scale):
        values = np.repeat([0.0, 1.0, -2.5, 0.3], 1000) * scale
        parted = part_values(values)
        assert len(np.unique(parted)) == len(values)
        np.testing.assert_allclose(parted, values, atol=1e-10 * scale)

    def test_one_class_of_responses(self):
        codes, fold = np.array([0, 1, 0]), np.arange(3)
        learned = learn_statistics(codes, np.ones((1, 3)), None, fold, 2)
        np.testing.assert_allclose(learned.values, 1.0)
        np.testing.assert_allclose(learned.place(codes, fold), 1.0)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
class TestModels:
    def test_a_column_of_many_categories(self, model, flights):
        X, y = flights
        new, truth = make_flights(seed=1)
        own = clone(model).fit(X, y)
        assert own._model.feature_names == ["carrier", "wind"]
        assert own.score(new, truth) > 0.75
        encoding = own._model.encoding
        decoded = [encoding.decode(x)["carrier"] for x in encoding.encode(X)]
        assert decoded == [name if isinstance(name, str) else None for name in X["carrier"]]

    def test_categories_of_every_library_give_the_same_model(self, model, flights):
        X, y = flights
        own = clone(model).fit(X, y)
        as_category = X.assign(carrier=X["carrier"].astype("category"))
        other = clone(model).fit(as_category, y)
        np.testing.assert_array_equal(own.predict_proba(X), other.predict_proba(as_category))
        np.testing.assert_array_equal(own.predict_proba(pl.from_pandas(X)), other.predict_proba(X))

    def test_an_unseen_category_is_the_prior(self, model, flights, rejects):
        X, y = flights
        own = clone(model).fit(X, y)
        new = X[:5].assign(carrier="nobody")
        prior = own._model.encoding.encoders[0].values[0, -1]
        assert prior == pytest.approx((y == "late").mean(), rel=1e-9)
        np.testing.assert_array_equal(own._model.encoding.encode(new)[:, 0], prior)
        assert own._model.encoding.decode(own._model.encoding.encode(new)[0])["carrier"] == UNSEEN_LEVEL
        rejects(own.set_params(unseen="error").predict, new)

    def test_rows_of_weight_0_do_not_count(self, model, flights):
        X, y = flights
        weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
        kept = weight > 0
        own = clone(model).fit(X, y, sample_weight=weight)
        other = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept])
        np.testing.assert_array_equal(own.predict_proba(X), other.predict_proba(X))

    def test_more_classes(self, model):
        X, y = make_flights(n_classes=3)
        own = clone(model).fit(X, y)
        assert own._model.feature_names[:3] == ["carrier → early", "carrier → late", "carrier → on time"]
        assert own._model.encoding.decode(own._model.encoding.encode(X[1:2])[0])["carrier"] == X["carrier"][1]
        new, truth = make_flights(n_classes=3, seed=1)
        assert own.score(new, truth) > 0.6

    def test_explanations_name_the_category(self, model, flights):
        X, y = flights
        own = clone(model).fit(X, y)
        row = dict(X.iloc[1])
        explanation = own.explain(row)
        assert explanation.row["carrier"] == row["carrier"]
        assert f"carrier = {row['carrier']}" in str(explanation)
        found = explanation.counterfactuals("carrier", n=1)
        for other in found:
            assert other.changes["carrier"][0] == row["carrier"]
            assert other.row["carrier"] in set(X["carrier"])
            assert own.predict(pd.DataFrame([other.row]))[0] == other.prediction != explanation.prediction
        if explanation.paths[0].leaf and getattr(explanation.paths[0].leaf, "neighbours", ()):
            near = explanation.paths[0].leaf.neighbours[0]
            given = X["carrier"][near.given]
            assert near.row["carrier"] == (given if isinstance(given, str) else None)

    def test_noise_is_not_learned(self, model):
        """Random labels and 1,000 categories in 2,000 rows: chance on new rows, and no importance."""
        generator = np.random.default_rng(0)
        X = pd.DataFrame(
            {"name": generator.integers(0, 1000, 4000).astype(str), "x": generator.normal(size=4000)}
        )
        y = generator.integers(0, 2, 4000)
        own = (
            clone(model).set_params(keep_prototypes=False)
            if hasattr(model, "keep_prototypes")
            else clone(model)
        )
        own.fit(X[:2000], y[:2000])
        assert abs(own.score(X[2000:], y[2000:]) - 0.5) < 0.04
        crossed = own._model.encoding.encode(X[:2000])[:, 0]
        assert (
            abs(np.corrcoef(crossed, y[:2000])[0, 1]) > 0.3
        )  # a model without folds would learn this correlation
        if not isinstance(model, LHBoostClassifier):
            assert own.feature_importances_[0] < 0.6


def test_max_one_hot(flights, rejects):
    X, y = flights
    model = LHTClassifier(max_one_hot=255).fit(X, y)
    assert model._model.n_features == 61
    assert LHTClassifier(max_one_hot=59).fit(X, y)._model.n_features == 2
    for max_one_hot, n_features in ((255, model._model.n_features), (59, 2)):
        boosted = lhtree.LHBoostRegressor(max_iter=2, max_one_hot=max_one_hot).fit(X, np.arange(len(y)) * 1.0)
        assert boosted._model.n_features == n_features
    rejects(LHTClassifier(max_one_hot=-1).fit, X, y)


def test_a_warm_start_keeps_the_statistics(flights):
    X, y = flights
    whole = LHBoostClassifier(10, learning_rate=0.1, random_state=0).fit(X, y)
    parts = LHBoostClassifier(5, learning_rate=0.1, random_state=0, warm_start=True).fit(X, y)
    parts.set_params(max_iter=10).fit(X, y)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    new = X.assign(carrier=X["carrier"].replace("C001", "nobody"))
    parts.set_params(max_iter=11).fit(new, y)
    assert parts._model.encoding == whole._model.encoding


def test_a_column_that_names_rows_is_dropped(flights, tmp_path, rejects):
    X, y = flights
    named = X.assign(id=[f"row {i}" for i in range(len(X))])
    with rejects.warning():
        model = LHTClassifier().fit(named, y)
    np.testing.assert_array_equal(model.predict_proba(named), LHTClassifier().fit(X, y).predict_proba(X))
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_[2] == 0.0
    lhtree.save(model, tmp_path / "model.lht")
    np.testing.assert_array_equal(
        lhtree.load(tmp_path / "model.lht").predict_proba(named), model.predict_proba(named)
    )
    assert "carrier" in str(model.explain(dict(named.iloc[0])))


def test_very_many_categories_are_saved(tmp_path):
    n = 60_000
    X = pd.DataFrame({"who": [f"user {i % (n // 2)}" for i in range(n)], "x": np.arange(n) % 7})
    y = np.arange(n) % (n // 2) % 2
    model = LHTClassifier(max_depth=2).fit(X, y)
    lhtree.save(model, tmp_path / "model.lht")
    assert (tmp_path / "model.lht").stat().st_size < 1_500_000
    again = lhtree.load(tmp_path / "model.lht")
    np.testing.assert_array_equal(again.predict(X[:100]), model.predict(X[:100]))


def test_a_regression_has_mean_responses():
    X, _ = make_flights(400)
    response = X["carrier"].fillna("C000").str[1:].astype(float).to_numpy() * 10.0
    model = lhtree.LHBoostRegressor(max_iter=20, random_state=0).fit(X, response)
    assert model._model.feature_names == ["carrier", "wind"]
    assert model._model.encoding.encoders[0].values[0, -1] == pytest.approx(response.mean(), rel=1e-9)
    assert model.score(X, response) > 0.8
