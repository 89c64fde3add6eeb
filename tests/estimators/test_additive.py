"""Additive models: curves, surfaces, bags, constraints, edits and points."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

import lhtree
from lhtree import AdditiveLHTClassifier, AdditiveLHTRegressor
from lhtree.grow.additive import bags, pairs
from lhtree.grow.additive.bags import Bags
from lhtree.grow.additive.pairs import purify

FAST = {"n_bags": 3, "max_iter": 60, "n_iter_no_change": 10, "random_state": 0}


def make_loans(n=400, seed=0):
    """Return loans with gaps, a category and an interaction, and whether they failed."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, n).astype(float)
    income = random.lognormal(3.0, 1.0, n)
    town = random.choice(["north", "south", "west"], n)
    log_odds = (50 - age) / 12 + (town == "south") + 3.0 * ((age > 40) ^ (income > 20)) - 1.5
    y = (random.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)
    income[random.random(n) < 0.1] = np.nan
    town = pd.Categorical(np.where(random.random(n) < 0.05, None, town))
    return pd.DataFrame({"age": age, "income": income, "town": town}), y


def find_steps(curve, column):
    """Return the step of every row on a curve."""
    if curve.categories is not None:
        known = list(curve.categories)
        return np.array([known.index(value) if value in known else -1 for value in column])
    step = np.searchsorted(curve.edges, column, side="right")
    return np.where(np.isnan(column), -1, step)


def test_contributions_are_values_of_curves_to_the_bit():
    X, y = make_loans()
    model = AdditiveLHTClassifier(0, **FAST).fit(X, y)
    told = model.explain_batch(X).xs(1, level="class")
    total = np.full(len(X), model.intercept_[0])
    for curve in model.curves_:
        values = curve.values[
            find_steps(curve, X[curve.name].tolist() if curve.categories else X[curve.name])
        ]
        np.testing.assert_array_equal(told[f"contribution.{curve.name}"].to_numpy(), values)
        total += values
    np.testing.assert_array_equal(model.decision_function(X), total)


def test_a_surface_is_divided_equally_between_its_columns():
    X, y = make_loans()
    model = AdditiveLHTClassifier([("age", "income")], max_steps=None, **FAST).fit(X, y)
    plain = {curve.name: curve for curve in model.curves_}
    (surface,) = model.surfaces_
    assert surface.names == ("age", "income")
    told = model.explain_batch(X).xs(1, level="class")
    rest = {
        name: told[f"contribution.{name}"] - plain[name].values[find_steps(plain[name], X[name])]
        for name in surface.names
    }
    np.testing.assert_allclose(rest["age"], rest["income"], atol=1e-12)
    assert np.abs(rest["age"]).max() > 0.05
    assert len(surface.to_frame()) == surface.values.size


def test_the_model_is_the_mean_of_its_bags(monkeypatch):
    X, y = make_loans()
    kept = {}
    original = Bags.boost_curves

    def boost_curves(self, terms):
        found = original(self, terms)
        kept["bags"], kept["terms"] = self, found[0]
        return found

    monkeypatch.setattr(Bags, "boost_curves", boost_curves)
    model = AdditiveLHTClassifier(0, max_steps=None, **FAST).fit(X, y)
    bags = kept["bags"]
    scores = []
    for bag in range(bags.n_bags):
        terms = [
            term._replace(values=np.repeat(term.values[[bag]], bags.n_bags, axis=0)) for term in kept["terms"]
        ]
        scores.append(bags.score(terms))
    np.testing.assert_allclose(model.decision_function(X), np.mean(scores, axis=0), atol=1e-12)


def test_sharper_cycles_follow_smooth_ones_and_lower_the_held_out_loss(monkeypatch):
    X, y = make_loans()
    found = []
    original = Bags._boost

    def boost(self, terms, is_active, step, n_cycles, patience):
        terms, n_used = original(self, terms, is_active, step, n_cycles, patience)
        found.append((n_cycles, n_used, self.average(self.losses(self.score(terms)), self.is_held)[0]))
        return terms, n_used

    monkeypatch.setattr(Bags, "_boost", boost)
    options = {"l2_regularization": 1.0, "n_bags": 3, "random_state": 0}
    model = AdditiveLHTClassifier(0, max_iter=400, **options).fit(X, y)
    (most, n_smooth, smooth), (n_left, n_sharp, sharp) = found
    assert (most, n_left) == (200, 400 - n_smooth)
    assert model.n_iter_ == n_smooth + n_sharp
    assert sharp <= smooth
    assert AdditiveLHTClassifier(0, max_iter=1, **options).fit(X, y).n_iter_ == 1


@pytest.mark.parametrize(("noise", "penalty"), [(0.0, 0.1), (2.0, 1.0)])
def test_curves_have_the_penalty_of_the_lower_held_out_loss(noise, penalty):
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 6))
    y = X[:, 0] + noise * random.normal(size=150) > 0.0
    options = {"max_iter": 100, "random_state": 0}
    chosen = AdditiveLHTClassifier(0, **options).fit(X, y)
    fixed = AdditiveLHTClassifier(0, l2_regularization=penalty, **options).fit(X, y)
    np.testing.assert_array_equal(chosen.decision_function(X), fixed.decision_function(X))


def test_pairs_are_chosen_on_some_rows_of_every_fold_and_class(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 5))
    y = X[:, 1] * X[:, 3] + 0.3 * random.normal(size=3000) > 0.0
    found = []
    original = Bags.thin

    def thin(self, n_most):
        few = original(self, n_most)
        found.append((few.fold, self.training.codes))
        return few

    monkeypatch.setattr(Bags, "thin", thin)
    monkeypatch.setattr(pairs, "_SEARCH_ROWS", 500)
    model = AdditiveLHTClassifier(random_state=0, n_bags=3).fit(X, y)
    assert model.surfaces_[0].names == ("x1", "x3")
    ((fold, codes),) = found
    assert 490 <= (fold >= 0).sum() <= 510
    for code in (0, 1):
        counts = np.bincount(fold[(fold >= 0) & (codes == code)])
        assert len(counts) == 8
        assert counts.max() - counts.min() <= 1


def test_surfaces_of_more_rows_have_finer_cells():
    random = np.random.default_rng(0)
    X = random.uniform(-1.0, 1.0, size=(4000, 2))
    y = X[:, 0] * X[:, 1]
    for n_rows, n_cells in ((399, 9), (400, 17), (3999, 17), (4000, 33)):
        model = AdditiveLHTRegressor(interactions=1, max_steps=None, n_bags=1, max_iter=4, random_state=0)
        assert model.fit(X[:n_rows], y[:n_rows]).surfaces_[0].values.shape[:2] == (n_cells, n_cells)


def test_many_pairs_are_tried_where_fewer_gain(monkeypatch):
    monkeypatch.setattr(pairs, "_PAIR_COUNTS", (1, 2, 6))
    random = np.random.default_rng(0)
    X = random.choice([-1.0, 1.0], size=(600, 4))
    products = X[:, 0] * X[:, 1], X[:, 2] * X[:, 3], X[:, 0] * X[:, 3]
    options = {"n_bags": 3, "max_iter": 100, "random_state": 0}
    y = X[:, 1] + sum(products) + random.normal(0, 0.2, len(X))
    assert len(AdditiveLHTRegressor(**options).fit(X, y).surfaces_) == 6


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shape=st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_purified_surfaces_have_no_main_effect_and_predict_the_same(seed, shape):
    random = np.random.default_rng(seed)
    weight = random.integers(0, 4, shape).astype(float)
    values = random.normal(size=(2, *shape, 3))
    rest, (first, second) = purify(values, weight)
    np.testing.assert_allclose(rest + first[:, :, None] + second[:, None], values, atol=1e-12)
    for axis in (0, 1):
        sums = (rest * weight[..., None]).sum(axis=1 + axis)
        np.testing.assert_allclose(sums, 0.0, atol=1e-10)


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 1000), sign=st.sampled_from([-1, 1]), steps=st.sampled_from(["auto", 4, None]))
def test_monotonic_columns_have_no_violation(seed, sign, steps):
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 2))
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.sin(3.0 * np.nan_to_num(X[:, 0])) + random.normal(0, 0.3, 150)
    model = AdditiveLHTRegressor(
        monotonic_cst=[sign, 0], max_steps=steps, min_samples_leaf=2, interactions=1, **FAST
    ).fit(X, y)
    grid = np.sort(
        np.concatenate([X[:, 0][~np.isnan(X[:, 0])], np.linspace(-4, 4, 301), model.curves_[0].edges])
    )
    for other in (0.3, np.nan):
        predicted = model.predict(np.column_stack([grid, np.full(len(grid), other)]))
        assert (sign * np.diff(predicted) >= 0.0).all()
    assert not any("x0" in surface.names for surface in model.surfaces_)


def test_threads_and_batches_give_the_same_bits():
    X, y = make_loans()
    one = AdditiveLHTClassifier(**FAST).fit(X, y)
    two = AdditiveLHTClassifier(**FAST, n_jobs=2).fit(X, y)
    batched = AdditiveLHTClassifier(**FAST).fit_batches(
        lambda: iter([(X[:150], y[:150]), (X[150:], y[150:])])
    )
    for other in (two, batched):
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))


def test_bags_learn_from_many_rows_in_parts(monkeypatch):
    X, y = make_loans(1500)
    whole = AdditiveLHTClassifier(0, **FAST).fit(X, y)
    monkeypatch.setattr(bags, "_PART_ROWS", 400)
    one = AdditiveLHTClassifier(0, **FAST).fit(X, y)
    two = AdditiveLHTClassifier(0, **FAST, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.decision_function(X), one.decision_function(X))
    assert not np.array_equal(one.decision_function(X), whole.decision_function(X))
    others, labels = make_loans(4000, seed=1)
    loss, of_whole = (log_loss(labels, model.predict_proba(others)) for model in (one, whole))
    assert abs(loss / of_whole - 1.0) < 0.03


def test_pairs_are_found_by_held_out_rows():
    X, y = make_loans(1500)
    model = AdditiveLHTClassifier(random_state=0, max_iter=200).fit(X, y)
    assert ("age", "income") in {surface.names for surface in model.surfaces_}
    n_found = 0
    for seed in range(1, 11):
        random = np.random.default_rng(seed)
        noise = pd.DataFrame(random.normal(size=(600, 4)), columns=list("abcd"))
        y = noise["a"] + random.normal(size=600)
        n_found += bool(AdditiveLHTRegressor(random_state=0, max_iter=200).fit(noise, y).surfaces_)
    assert n_found <= 1  # a gain above one standard error may be chance


def test_curves_of_classes_are_centred_and_few_steps_are_kept():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = AdditiveLHTClassifier(0, max_steps=3, **FAST).fit(X, y)
    for curve in model.curves_:
        assert curve.n_steps <= 3
        assert curve.values.shape == (curve.n_steps + 1, 3)
        np.testing.assert_allclose(curve.values.sum(axis=1), 0.0, atol=1e-12)
        np.testing.assert_allclose(curve.weight @ curve.values, 0.0, atol=1e-9)
    assert model.score(X, y) > 0.95
    many = AdditiveLHTClassifier(0, max_steps=None, **FAST).fit(X, y)
    assert sum(curve.n_steps for curve in many.curves_) > 10 * sum(curve.n_steps for curve in model.curves_)


def test_missing_values_without_training_rows_have_no_effect():
    X, y = make_loans()
    model = AdditiveLHTClassifier(2, **FAST).fit(X, y)
    row = X.iloc[[0]].assign(age=np.nan)
    assert model.explain_batch(row)["contribution.age"].abs().max() == 0.0


@pytest.mark.parametrize("size", [1e-300, 1e30, 1e39, 1e300])
def test_tiny_and_huge_weights(size):
    X, y = make_loans()
    weight = size * (1.0 + np.arange(len(X)) % 2)
    for model, response in ((AdditiveLHTClassifier(1, **FAST), y), (AdditiveLHTRegressor(**FAST), X["age"])):
        assert model.fit(X, response, weight).score(X, response) > 0.75


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"])
def test_losses_beat_a_constant(loss):
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (400, 2))
    y = np.exp(3.0 * X[:, 0]) * random.gamma(4.0, 0.25, 400)
    quantile = 0.8 if loss == "quantile" else None
    model = AdditiveLHTRegressor(loss, quantile=quantile, **FAST).fit(X[:300], y[:300])
    predicted = model.predict(X[300:])
    assert np.corrcoef(predicted, np.exp(3.0 * X[300:, 0]))[0, 1] > 0.95
    if loss == "quantile":
        assert 0.7 < (y[300:] <= predicted).mean() < 0.9


class TestEdits:
    def edit(self):
        X, y = make_loans()
        model = AdditiveLHTClassifier([("age", "income")], **FAST).fit(X[:300], y[:300])
        return model, X, y, model.edit(X[300:], y[300:])

    def test_edits_survive_files(self, tmp_path):
        model, X, _, editor = self.edit()
        edited = (
            editor.set("age", (30, 35.5), -1.25, reason="agreed")
            .set("town", "south", 0.5)
            .set("income", "missing", 0.0)
            .flatten("income", (None, 10))
            .monotonize("age", increasing=False)
            .smooth("income", 2)
            .drop(("age", "income"), reason="too small")
            .finish()
        )
        lhtree.save(edited, tmp_path / "edited.lht")
        loaded = lhtree.load(tmp_path / "edited.lht")
        np.testing.assert_array_equal(loaded.decision_function(X), edited.decision_function(X))
        assert loaded.edits_ == edited.edits_
        assert [edit["operation"] for edit in loaded.edits_] == [
            *("set", "set", "set", "flatten", "monotonize", "smooth", "drop")
        ]
        assert model.edits_ == []
        assert len(model.surfaces_) == 1
        assert not edited.surfaces_
        curves = {curve.name: curve for curve in edited.curves_}
        assert (np.diff(curves["age"].values[:-1]) <= 0.0).all()
        assert curves["town"].values[1] == 0.5
        assert curves["income"].values[-1] == 0.0

    def test_losses_are_those_before_and_after(self):
        model, X, y, editor = self.edit()
        edited = editor.set("age", (None, 40), 1.0).drop("income").finish()
        first, second = edited.edits_

        def measure(model):
            proba = model.predict_proba(X[300:])
            return -np.log(proba[np.arange(100), y[300:]]).mean()

        np.testing.assert_allclose(first["loss_before"], measure(model))
        np.testing.assert_allclose(second["loss_after"], measure(edited))
        assert first["loss_after"] == second["loss_before"]
        assert set(X.columns) - {curve.name for curve in edited.curves_} == {"income"}

    def test_a_set_interval_has_its_ends_as_edges(self):
        _, X, _, editor = self.edit()
        edited = editor.drop(("age", "income")).set("age", (30, 40), 7.5).finish()
        rows = pd.concat([X.iloc[[0]].assign(age=age) for age in (30.0, 39.999, 40.0, 29.999)])
        values = edited.explain_batch(rows).xs(1, level="class")["contribution.age"].to_numpy()
        assert (values[:2] == 7.5).all()
        assert (values[2:] < 5.0).all()

    def test_merging_averages_raw_scores(self):
        model, X, y, editor = self.edit()
        other = AdditiveLHTClassifier(0, **FAST | {"random_state": 5}).fit(X[:300], y[:300])
        merged = editor.merge(other, 0.25).finish()
        expected = 0.75 * model.decision_function(X) + 0.25 * other.decision_function(X)
        np.testing.assert_allclose(merged.decision_function(X), expected, atol=1e-12)

    def test_unsuitable_edits_are_rejected(self, rejects):
        *_, editor = self.edit()
        for method, *arguments in (
            ("set", "size", (0, 1), 1.0),
            ("set", "age", (5, 3), 1.0),
            ("set", "age", "old", 1.0),
            ("set", "age", (0, 1), np.nan),
            ("set", "town", "east", 1.0),
            ("monotonize", "town"),
            ("smooth", "age", 0),
            ("drop", "size"),
        ):
            rejects(getattr(editor, method), *arguments)


class TestPoints:
    @pytest.mark.parametrize("good", [0, 1])
    def test_printed_points_predict(self, good):
        X, y = make_loans()
        model = AdditiveLHTClassifier([("age", "income")], max_steps=5, **FAST).fit(X, y)
        table = model.points_table(pdo=20, base=600, odds=50, good=good)
        frame = table.to_frame()
        points = np.full(len(X), frame.loc[0, "points"])
        for curve in model.curves_:
            own = frame[frame["column"] == curve.name]["points"].to_numpy()
            points += own[find_steps(curve, X[curve.name].tolist() if curve.categories else X[curve.name])]
        (surface,) = model.surfaces_
        first, second = (
            np.where(
                np.isnan(X[scale.column]), -1, np.searchsorted(scale.edges, X[scale.column], side="right")
            )
            for scale in surface.scales
        )
        own = frame[frame["column"] == "age × income"]["points"].to_numpy().reshape(surface.values.shape)
        points += own[first, second]
        np.testing.assert_array_equal(table.predict(X), points)
        odds = 50.0 * 2.0 ** ((points - 600) / 20.0)
        np.testing.assert_allclose(table.model.predict_proba(X)[:, good], odds / (1.0 + odds), rtol=1e-9)
        np.testing.assert_allclose(table.model.decision_function(X), model.decision_function(X), atol=0.08)
        page = table.to_html("Loans <A>")
        assert "Loans &lt;A&gt;" in page
        assert page.count("<tr>") == len(frame) - 1
        assert str(table).splitlines()[1].split() == ["base", str(table.base)]

    def test_unsuitable_arguments_are_rejected(self, rejects):
        X, y = make_loans()
        model = AdditiveLHTClassifier(0, **FAST).fit(X, y)
        for options in ({"pdo": 0}, {"odds": -1}, {"base": np.inf}, {"good": 7}):
            rejects(model.points_table, **options)
        wine = AdditiveLHTClassifier(0, **FAST).fit(*load_wine(return_X_y=True))
        rejects(wine.points_table)
