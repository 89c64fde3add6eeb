"""Settings and learning rate of boosted models: a race on held-out rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lhtree
import reference.race
from lhtree import LHBoostClassifier, LHBoostRegressor
from lhtree.grow import race
from lhtree.grow.holdout import hold_out, mark_rows
from support.clouds import make_clouds

FIXED = {"max_depth": 3, "min_samples_leaf": 5, "subsample": 0.8, "max_features": 0.5, "leaf": "constant"}


def make_rows(n_rows, noise, seed=0):
    """Rows whose class or response is that of a line, more or less; all values are bins of their own."""
    generator = np.random.default_rng(seed)
    X = np.clip(np.round(2.0 * generator.normal(size=(n_rows, 4))), -3, 3)
    return X, X[:, 0] - X[:, 1] + noise * generator.normal(size=n_rows)


def by_rows(n_rows, max_iter=400):
    """The rate by the number of rows."""
    return min(1.0, 0.08 * min(1.0, n_rows / 8000) ** 0.35 * (400 / max_iter) ** 0.8)


@st.composite
def draw_races(draw):
    """Losses of held-out rows by fold, setting and round, weights, depths, leaf, rate, rounds, and numbers of rows."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    max_iter, n_folds = draw(st.sampled_from([40, 87, 160])), draw(st.sampled_from([1, 2]))
    depths = draw(st.lists(st.sampled_from([3, 4, 6, 8]), max_size=4))
    way = np.arange(max_iter // 4 * 2 + 1)
    noise = draw(st.sampled_from([1e-6, 0.01, 1.0]))  # without any, rounds would tie
    folds, weights = [], []
    for _ in range(n_folds):
        n_rows = draw(st.integers(2, 9))
        curves = []
        for _ in (0, *depths):
            best, height = generator.uniform(0, 1.5 * len(way)), generator.uniform(0.9, 1.1)
            bend = height + np.abs(way - best) / len(way)
            curves.append(bend[:, None] + noise * generator.normal(size=(len(way), n_rows)))
        folds.append(curves)
        weights.append(generator.integers(1, 4, n_rows).astype(float))
    n_rows = draw(st.sampled_from([(100, 100), (3000, 9000), (50_000, 60_000)]))
    leaf = draw(st.sampled_from(["constant", "linear"]))
    return folds, weights, depths, leaf, draw(st.floats(0.001, 1.0)), max_iter, n_rows


@given(draw_races())
def test_a_race_equals_its_reference(given):
    folds, weights, depths, leaf, rate, max_iter, n_rows = given
    rivals = [{"max_depth": depth, "number": number} for number, depth in enumerate(depths, 1)]
    no_trees = LHBoostClassifier(1, max_depth=1).fit([[0.0], [1.0]], [0, 1])._model.trees.arrays()

    def make_fold(curves, weight):
        def grow(changes, rate, n_rounds, patience, earlier):
            """Losses of the next rounds, until they have not improved for a while."""
            curve = curves[changes.get("number", 0)]
            begin = 0 if earlier is None else int(earlier.first[0])
            losses = [reference.race.mean(rows, weight) for rows in curve[begin : begin + n_rounds + 1]]
            last = reference.race.walk(losses, 0, n_rounds, patience)[0]
            best = int(np.argmin(losses[: last + 1]))
            return {
                "validation_loss": np.array(losses[: last + 1]),
                "row_losses": curve[begin + best],
                "trees": no_trees,
                "first": np.array([begin + last]),
            }

        return race.Fold(grow, weight)

    defaults = {"max_depth": 6, "leaf": leaf}
    own = race.Race(list(map(make_fold, folds, weights)), defaults, rate, max_iter)
    winner, runs = own.run(rivals)
    paces = [1.0, *(np.sqrt(6 / depth) for depth in depths)]
    expected, best, factor = reference.race.race(folds, weights, paces, leaf, rate, max_iter, *n_rows)
    assert runs.index(winner) == expected
    assert [run.best for run in runs] == best
    assert own.find_factor(winner, *n_rows) == pytest.approx(factor)


@pytest.mark.parametrize(("estimator", "noise"), [(LHBoostClassifier, 0.5), (LHBoostRegressor, 3.0)])
def test_runs_of_a_race_are_fits_that_stop_early(estimator, noise):
    X, response = make_rows(1000, noise)
    y = response > 0.0 if estimator is LHBoostClassifier else response
    model = estimator(max_iter=80, random_state=3).fit(X, y)
    rate = by_rows(1000, 80)
    assert len(model.chosen_["race"]) == (4 if estimator is LHBoostClassifier else 5)
    for run in model.chosen_["race"]:
        own = rate * np.sqrt(6 / run["settings"]["max_depth"])
        raced = estimator(
            max_iter=max(run["n_rounds"], 1),
            learning_rate=float(f"{min(max(own, 0.3), 2 * own):.4g}"),
            early_stopping=True,
            validation_fraction=0.25,
            n_iter_no_change=100,
            random_state=3,
            **run["settings"],
        ).fit(X, y)
        assert run["loss"] == -raced.validation_score_.max()
        assert run["n_rounds"] == raced.validation_score_.argmax()
    assert model.chosen_["settings"] in [run["settings"] for run in model.chosen_["race"]]
    refitted = estimator(
        max_iter=80, learning_rate=model.learning_rate_, random_state=3, **model.chosen_["settings"]
    )
    assert (refitted.fit(X, y).predict(X) == model.predict(X)).all()


def test_given_parameters_stay():
    X, response = make_rows(1000, 1.0)
    for name, value in FIXED.items():
        model = LHBoostRegressor(max_iter=40, random_state=0, **{name: value}).fit(X, response)
        assert all(run["settings"][name] == value for run in model.chosen_["race"])
    fixed = LHBoostRegressor(max_iter=40, random_state=0, **FIXED).fit(X, response)
    assert [run["settings"] for run in fixed.chosen_["race"]] == [FIXED]
    assert LHBoostRegressor(max_iter=40, learning_rate=0.1, **FIXED).fit(X, response).chosen_ == {
        "settings": FIXED,
        "race": [],
    }
    assert (
        LHBoostRegressor(max_iter=40, learning_rate=0.1, random_state=0).fit(X, response).learning_rate_
        == 0.1
    )


def test_quantiles_have_no_rivals_and_a_rate_that_is_at_most_that_by_rows():
    X, response = make_rows(1000, 0.0)
    for objective in ({"loss": "absolute_error"}, {"loss": "quantile", "quantile": 0.9}):
        model = LHBoostRegressor(**objective, max_iter=80, random_state=0).fit(X, response)
        (run,) = model.chosen_["race"]
        by_number = 5 / 8 * by_rows(1000, 80)  # of free trees
        way = float(f"{2 * by_number:.4g}") * run["n_rounds"] / (by_number * 80)
        assert model.learning_rate_ == float(f"{by_number * min(1.0, way):.4g}")


def test_deep_rules_need_deep_trees():
    X = np.random.default_rng(0).integers(0, 2, (3000, 8)).astype(float)
    model = LHBoostClassifier(40, random_state=0).fit(X, X.sum(axis=1) % 2)
    assert model.chosen_["settings"]["max_depth"] == 8


@pytest.mark.parametrize(
    ("n_rows", "max_iter", "rate"), [(60, 400, 0.01443), (60, 100, 0.04375), (900, 1, 1.0)]
)
def test_few_rows_or_rounds_have_no_race(n_rows, max_iter, rate):
    X, y = make_clouds(n_rows, 1, 2)
    model = LHBoostClassifier(max_iter).fit(X, y)
    assert model.learning_rate_ == rate
    assert not model.chosen_["race"]


def test_below_1000_rows_rivals_are_shallow():
    X, response = make_rows(999, 1.0)
    model = LHBoostRegressor(max_iter=40, random_state=0).fit(X, response)
    runs = [run["settings"] for run in model.chosen_["race"]]
    assert [(run["max_depth"], run["subsample"]) for run in runs] == [(6, 1.0), (3, 1.0), (4, 1.0), (4, 0.8)]
    assert model.chosen_["settings"]["max_depth"] < 6  # of a response that is linear
    free = LHBoostRegressor(max_iter=40, growth="free").fit(X, response).chosen_["race"]
    assert [run["settings"]["max_depth"] for run in free] == [5, 3]


@pytest.mark.parametrize("n_rows", [100, 400, 999])
def test_four_turns_hold_out_almost_every_row_once(n_rows):
    codes = np.sort(np.random.default_rng(0).integers(0, 3, n_rows)).astype(np.int32)
    stream = lhtree._core.Stream.validation_rows
    n_held = sum(mark_rows(codes, 3, round(n_rows / 4), 0, stream, turn).astype(int) for turn in range(4))
    assert abs(n_held - 1).sum() <= (0 if n_rows % 4 == 0 else 4)


@pytest.mark.parametrize("rivals", ["few_rows", "many_rows"])
@pytest.mark.parametrize("best", [0, 1, 2, 3])
def test_a_race_takes_about_as_long_as_a_fit_with_the_defaults_at_most(rivals, best):
    """By its count of rounds, rows and levels, also if all settings improve in every round."""
    settings = ({}, *getattr(race.CAPACITIES["symmetric"].rivals, rivals))
    weight, runs = np.ones(2), []
    no_trees = vars(LHBoostClassifier(1, max_depth=1).fit([[0.0], [1.0]], [0, 1])._model.trees.part(0, 0))

    def grow(changes, rate, n_rounds, patience, earlier):
        """Losses that fall in every round, most with the best setting."""
        begin = 0 if earlier is None else int(earlier.first[0])
        runs.append((changes, n_rounds))
        slope = 2.0 if changes == settings[best] else 1.0
        losses = 1000.0 - slope * np.arange(begin, begin + n_rounds + 1)
        row_losses = losses[-1] + np.array([0.0, 1e-6])
        end = np.array([begin + n_rounds])
        return {"validation_loss": losses, "row_losses": row_losses, "trees": no_trees, "first": end}

    def cost(changes):
        return 2.0 ** ((changes.get("max_depth", 6) - 6) / 2) * changes.get("subsample", 1.0)

    folds = [race.Fold(grow, weight)] * (2 if rivals == "few_rows" else 1)
    winner, _ = race.Race(folds, {"max_depth": 6, "leaf": "constant"}, 0.08, 400).run(settings[1:])
    assert winner.changes == settings[best]
    assert len(winner.losses) - 1 == 200
    raced = 0.75 * sum(n_rounds * cost(changes) for changes, n_rounds in runs)
    assert 100 < raced < 405 * max(1.0, cost(winner.changes))


def test_few_rows_are_judged_on_two_folds(monkeypatch):
    """The loss of two folds is at least the mean of the least losses of each, and at most a little more."""
    X, response = make_rows(600, 1.0)
    run = LHBoostRegressor(max_iter=80, random_state=0).fit(X, response).chosen_["race"][0]
    monkeypatch.setattr(race, "_N_FOLDS", 1)
    least = []
    for turn in range(2):
        monkeypatch.setattr(race, "hold_out", lambda *args, turn=turn: hold_out(*args[:3], turn))
        single = LHBoostRegressor(max_iter=80, random_state=0).fit(X, response).chosen_["race"][0]
        least.append(single["loss"])
    assert len(set(least)) == 2
    assert np.mean(least) <= run["loss"] < 1.05 * np.mean(least)


def test_trees_of_all_classes_have_one_and_a_half_times_the_rate():
    X, y = make_clouds(60, 2, 3)
    one, each = (
        LHBoostClassifier(multi_class=how, max_depth=1).fit(X, y).learning_rate_
        for how in ("one_tree", "one_per_class")
    )
    assert one == pytest.approx(1.5 * each, rel=1e-3)


def test_random_labels_leave_little_more_than_the_base():
    X = np.random.default_rng(0).normal(size=(1500, 4))
    y = np.random.default_rng(1).integers(0, 2, len(X))
    losses = []
    for rate in ("auto", by_rows(1000)):
        model = LHBoostClassifier(learning_rate=rate, random_state=0).fit(X[:1000], y[:1000])
        losses.append(-np.log(model.predict_proba(X[1000:])[np.arange(500), y[1000:]]).mean())
    assert losses[0] < 0.7  # ln 2 = 0.693
    assert losses[1] > 0.72


def test_early_stopping_keeps_the_rate_by_rows_and_its_rows_do_not_race():
    X, response = make_rows(1200, 1e6)
    y = response > 0.0
    held = LHBoostClassifier(40, early_stopping=True, random_state=0).fit(X, y)
    assert held.learning_rate_ == float(f"{by_rows(1080, 40):.4g}")
    assert len(held.chosen_["race"]) == 4
    judged = LHBoostClassifier(40, random_state=0).fit(X, y, X_val=X[:100], y_val=y[:100])
    assert judged.learning_rate_ == float(f"{by_rows(1200, 40):.4g}")


def test_of_many_rows_a_sample_races(monkeypatch):
    X, response = make_rows(1100, 1.0)
    whole = LHBoostRegressor(max_iter=40, random_state=0).fit(X, response)
    monkeypatch.setattr(race, "MOST_RACED", 1000)
    sampled = LHBoostRegressor(max_iter=40, random_state=0).fit(X, response)
    assert sampled.chosen_["race"][0]["loss"] != whole.chosen_["race"][0]["loss"]
    assert sampled.chosen_["race"][0]["loss"] == pytest.approx(whole.chosen_["race"][0]["loss"], rel=0.5)


def test_a_race_does_not_depend_on_threads_or_batches():
    X, response = make_rows(1000, 1.0)
    chosen = LHBoostRegressor(max_iter=40, random_state=0).fit(X, response).chosen_
    assert LHBoostRegressor(max_iter=40, random_state=0, n_jobs=3).fit(X, response).chosen_ == chosen
    batches = lambda: [(X[:99], response[:99]), (X[99:], response[99:])]  # noqa: E731
    assert LHBoostRegressor(max_iter=40, random_state=0).fit_batches(batches).chosen_ == chosen


def test_files_and_warm_starts_keep_the_choice(tmp_path):
    X, response = make_rows(1000, 1e6)
    model = LHBoostClassifier(40, warm_start=True, random_state=0).fit(X, response > 0.0)
    rate, chosen = model.learning_rate_, model.chosen_
    assert rate < by_rows(1000, 40)
    assert model.set_params(max_iter=80).fit(X, response > 0.0).learning_rate_ == rate
    assert model.chosen_ == chosen
    lhtree.save(model, tmp_path / "model.lht")
    assert lhtree.load(tmp_path / "model.lht").chosen_ == chosen
    assert lhtree.inspect(tmp_path / "model.lht")["boost"]["settings"] == chosen["settings"]


def test_counts_that_are_mostly_zero_are_fitted():
    X, _ = make_rows(200, 0.0)
    y = np.zeros(200)
    for place in range(0, 200, 9):  # one of them is held out if it is the only one
        y[:], y[place] = 0.0, 3.0
        assert LHBoostRegressor("poisson", max_iter=40, random_state=0).fit(X, y).predict(X).mean() < 1.0


def test_a_class_without_rows_marks_none():
    is_marked = mark_rows(
        np.array([0, 0, 2, 2], dtype=np.int32), 4, 2, 0, lhtree._core.Stream.validation_rows
    )
    assert is_marked.sum() == 2
