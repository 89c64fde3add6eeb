"""``lhtree.tune``: folds, settings, the search and its result."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import lhtree
from lhtree.grow import boosting
from lhtree.selection import tuning
from lhtree.selection.folds import ClassTarget, make_target, take_rows
from lhtree.selection.settings import draw_settings
from lhtree.selection.tuning import METRICS, Candidate, OutOfTimeError, Search
from support.clouds import make_clouds
from support.shop import make_table


class TestFolds:
    @given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 2**32 - 1))
    def test_folds_are_stratified_and_test_every_row_once(self, y, n_folds, seed):
        y = np.array(y)
        sizes = sorted(np.bincount(y))
        if sizes[-2:][0] < 2 or len(sizes) < 2 or len(y) < n_folds:
            with pytest.raises(
                ValueError, match=r"two classes of at least two rows|cannot be split into \d folds"
            ):
                make_target(y).split(n_folds, seed)
            return
        splits = make_target(y).split(n_folds, seed)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(y)))
        counts = np.array([np.bincount(y[test], minlength=4) for _, test in splits])
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(counts.sum(axis=1)) <= 1
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(len(y)))
            assert len(np.unique(y[train])) >= 2

    def test_classes_without_training_rows_have_probability_0(self):
        proba = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
        target = ClassTarget(np.array(list("abcd")), np.array([2, 0, 3]))
        measured = target.measure([target.join(proba, np.array([1, 2]), np.arange(3))])
        assert measured.confusion.trace() == 1
        assert measured.log_loss == pytest.approx(2 / 3 * -math.log(np.finfo(float).eps))

    def test_rows_are_taken_from_any_table(self):
        rows, frame = np.array([2, 0]), pd.DataFrame({"a": [1, 2, 3]})
        assert take_rows(frame, rows)["a"].tolist() == [3, 1]
        assert take_rows(polars.DataFrame(frame.to_dict("list")), rows)["a"].to_list() == [3, 1]
        assert take_rows(frame.to_numpy(), rows).tolist() == [[3], [1]]
        assert take_rows([[1], [2], [3]], rows) == [[3], [1]]


class TestSettings:
    @pytest.mark.parametrize(
        "estimator", [lhtree.LHTClassifier(), lhtree.LHForestClassifier(max_depth=4, gamma=7)]
    )
    def test_defaults_come_first_and_settings_are_distinct(self, estimator):
        params = estimator.get_params()
        found = list(draw_settings(params, 1000, 40, 0))
        assert found == list(draw_settings(params, 1000, 40, 0))
        assert found[2:] != list(draw_settings(params, 1000, 40, 1))[2:]
        assert len(found) == len({str(setting) for setting in found}) == 40
        assert found[0].items() <= params.items()
        assert found[1] == found[0] | {"direction": "mixed"}
        assert all(set(setting) == set(found[0]) for setting in found)
        assert ("n_estimators" in found[0]) == isinstance(estimator, lhtree.LHForestClassifier)
        leaves = [setting["min_samples_leaf"] for setting in found[2:]]  # the defaults are "auto"
        assert {1, 5, 20, 50} <= set(leaves)
        assert all(1 <= leaf <= 100 for leaf in leaves)
        assert {setting["membership"] for setting in found} == {"marginal", "least_squares", "constant"}
        assert len({setting["max_depth"] for setting in found}) > 3
        for setting in found:
            assert setting["direction"] == "mean_difference" or setting["gamma"] == params["gamma"]
            assert setting["beta"] == "auto" or 0 < setting["beta"] < 1
            type(estimator)(**setting)

    @pytest.mark.parametrize(
        ("params", "second"), [({"direction": "mixed"}, "mean_difference"), ({"offset": "gini"}, "mixed")]
    )
    def test_second_setting_has_another_direction(self, params, second):
        params = lhtree.LHTClassifier(**params).get_params()
        found = list(draw_settings(params, 1000, 30, 0))
        assert found[1]["direction"] == second
        if params["offset"] == "gini":  # where gamma has no effect
            assert {setting["gamma"] for setting in found} == {10}

    @pytest.mark.parametrize(("direction", "second"), [("mixed", "single"), ("single", "mixed")])
    def test_boosted_trees(self, direction, second):
        params = lhtree.LHBoostClassifier(max_depth=7, direction=direction, n_directed=5).get_params()
        found = list(draw_settings(params, 300, 60, 0))
        assert found[0] == {name: params[name] for name in found[0]}
        assert found[1] == found[0] | {"direction": second}
        assert len(found) == 60
        assert all(one not in found[:number] for number, one in enumerate(found))
        for name in ("max_iter", "max_depth", "min_samples_leaf", "l2_regularization", "n_directed"):
            assert len({setting[name] for setting in found}) > 3
        assert {setting["direction"] for setting in found} == {"mixed", "single"}
        for setting in found[2:]:
            assert 1 <= setting["min_samples_leaf"] <= 30
            assert setting["learning_rate"] == "auto" or 0.01 <= setting["learning_rate"] <= 0.3
            assert setting["direction"] == "mixed" or setting["n_directed"] == 5
            lhtree.LHBoostClassifier(**setting)

    def test_mixed_needs_gini_cuts(self):
        found = list(draw_settings(lhtree.LHTClassifier(offset="purity").get_params(), 1000, 30, 0))
        assert {setting["direction"] for setting in found} == {"mean_difference", "fisher"}


def make_search(n_folds=3, metric="accuracy"):
    frame = make_table(150)
    target = make_target(frame.pop("y").to_numpy())
    return Search(build, frame, target, target.split(n_folds, 0), metric)


def build(setting):
    kind = lhtree.LHForestClassifier if "n_estimators" in setting else lhtree.LHTClassifier
    return kind(**setting, random_state=0)


class TestSearch:
    @pytest.mark.parametrize("metric", METRICS)
    def test_scores_equal_those_of_evaluate(self, metric):
        search = make_search(metric=metric)
        setting = {"direction": "mixed", "n_estimators": 5, "beta": 0.2}
        (found,) = search.run(iter([setting]), math.inf)
        y = search.target.take(np.arange(150))
        for (train, test), score, seconds in zip(search.splits, found.scores, found.seconds, strict=True):
            model = build(setting).fit(search.X.iloc[train], y[train])
            measured = lhtree.evaluate(model, search.X.iloc[test], y[test])
            assert score == pytest.approx(getattr(measured, metric))
            assert seconds > 0

    def test_average_precision_is_of_the_class_rarer_in_all_rows(self):
        search = make_search(metric="average_precision")
        codes = search.target.codes
        rarer = int(np.bincount(codes).argmin())
        rows = np.concatenate([np.flatnonzero(codes == rarer)[:30], np.flatnonzero(codes == 1 - rarer)[:9]])
        others = np.setdiff1d(np.arange(150), rows)
        (found,) = search._replace(splits=[(others, rows)]).run(iter([{"n_estimators": 3}]), math.inf)
        assert found.scores[0] == found.evaluations[0].classes[rarer].average_precision
        assert found.scores[0] != found.evaluations[0].average_precision

    def test_worse_settings_are_abandoned_early(self):
        useless = {"gamma": 1000}
        settings = [{"direction": "mixed", "n_estimators": 20}, useless, useless]
        best, default, behind = found = make_search(5).run(iter(settings), math.inf)
        assert [len(candidate.scores) for candidate in (best, default)] == [5, 5]
        assert [candidate.is_behind for candidate in (best, default, behind)] == [False, False, True]
        assert len(behind.scores) < 5
        assert min(found, key=lambda one: one.rank("accuracy")) is best

    @pytest.mark.parametrize(("metric", "best"), [("accuracy", 0.9), ("log_loss", 0.1)])
    def test_ranks(self, metric, best):
        def make(score, loss):
            evaluation = lhtree.evaluate(
                lhtree.LHTClassifier().fit([[0.0], [1.0]], [0, 1]), [[0.0], [1.0]], [0, 1]
            )
            object.__setattr__(evaluation, "log_loss", loss)
            return Candidate({}, [score], [evaluation])

        candidates = [make(0.1, 0.5), make(best, 0.3), make(best, 0.2), make(0.5, 0.1)]
        assert min(candidates, key=lambda one: one.rank(metric)) is candidates[2]

    @pytest.mark.parametrize(
        ("seconds", "n_folds"),
        [(0, [1]), (1, [1]), (2, [1, 1]), (3, [1, 1]), (5, [2, 2]), (6, [3, 3]), (8, [3, 3, 2])],
    )
    def test_defaults_take_turns(self, monkeypatch, seconds, n_folds):
        n_done = 0

        def count(found):
            nonlocal n_done
            n_done += 1

        monkeypatch.setattr(tuning.time, "monotonic", lambda: float(n_done))  # a fold takes a second
        settings = iter([{"direction": "mean_difference"}, {"direction": "mixed"}, {"n_estimators": 5}])
        found = make_search().run(settings, seconds, count)
        assert [len(candidate.scores) for candidate in found] == n_folds
        assert [len(candidate.seconds) for candidate in found] == n_folds
        assert [len(candidate.evaluations) for candidate in found] == n_folds

    @pytest.mark.parametrize(
        ("kind", "size"),
        [(lhtree.LHForestClassifier, "n_estimators"), (lhtree.LHBoostClassifier, "max_iter")],
    )
    def test_time_limit_stops_the_fit(self, kind, size):
        X, y = make_clouds(4000, 8, 3)
        model = kind(400, direction="mixed", random_state=0)
        with pytest.raises(OutOfTimeError):
            tuning._make_stoppable(model, lambda: True).fit(X, y)
        model.set_params(**{size: 4})
        patient = tuning._make_stoppable(model, lambda: False).fit(X, y)
        assert (patient.predict_proba(X) == model.fit(X, y).predict_proba(X)).all()

    def test_time_limit_stops_the_race(self, monkeypatch):
        X, y = make_clouds(1200, 4, 2)
        model = lhtree.LHBoostClassifier(40, random_state=0)
        original, n_grown = boosting._grow, 0

        def grow(*arguments, **options):
            nonlocal n_grown
            found = original(*arguments, **options)
            n_grown += 1
            options["progress"](1)  # as the core does now and then
            return found

        monkeypatch.setattr(boosting, "_grow", grow)
        patient = tuning._make_stoppable(model, lambda: False).fit(X, y)
        assert patient._model.boost.race
        assert n_grown > 4
        n_grown = 0
        with pytest.raises(OutOfTimeError):
            tuning._make_stoppable(model, lambda: n_grown >= 2).fit(X, y)
        assert n_grown <= 3  # the race ends, and so does the fit after it


def make_noisy():
    """Three classes, of which every fifth row has a wrong one."""
    X, y = make_clouds(240, 5, 3)
    return X, np.where(np.arange(240) % 5 == 0, (y + 1) % 3, y)


@pytest.fixture
def row_clock(monkeypatch):
    """A clock by which a fit takes a second per row, or ``find_step(number of the fit, rows)`` seconds."""
    clock = SimpleNamespace(now=0, n_fits=0, find_step=lambda n_fits, n_rows: 1)
    original = lhtree.LHTClassifier.fit

    def fit(self, X, y):
        clock.n_fits += 1
        with self._progress(len(X)) as check:
            for _ in X:
                clock.now += clock.find_step(clock.n_fits, len(X))
                if check is not None:
                    check(1)
        return original(self, X, y)

    monkeypatch.setattr(lhtree.LHTClassifier, "fit", fit)
    monkeypatch.setattr(tuning.time, "monotonic", lambda: float(clock.now))
    return clock


class TestTune:
    def test_best_setting_is_fitted_on_all_rows(self):
        X, y = make_noisy()
        names = np.array(["a", "b", "c"])[y]
        tuned = lhtree.tune("forest", X, names, n_candidates=4, cv=3, seconds=600, random_state=5)
        best = tuned.candidates[0]
        assert (tuned.best_params_, tuned.best_score_) == (best.params, best.score)
        assert best.score == max(one.score for one in tuned.candidates if len(one.scores) == 3)
        expected = lhtree.LHForestClassifier(**best.params, random_state=5).fit(X, names)
        assert tuned.best_estimator_.get_params() == expected.get_params()
        assert (tuned.best_estimator_.predict_proba(X) == expected.predict_proba(X)).all()

    @pytest.mark.parametrize("seconds", [400, 1999, 2000, 5000])
    @pytest.mark.parametrize("refit", [True, False])
    def test_time_limit_includes_the_last_fit(self, row_clock, seconds, refit):
        tuned = lhtree.tune("tree", *make_noisy(), n_candidates=200, cv=3, seconds=seconds, refit=refit)
        assert row_clock.now == seconds
        assert (tuned.best_estimator_ is None) != refit

    def test_time_of_the_last_fit_is_that_of_the_longest_fold(self, row_clock):
        """On a busy machine, some fits take longer than others."""
        row_clock.find_step = lambda n_fits, n_rows: 4 if n_fits % 3 == 1 or n_rows == 240 else 1
        lhtree.tune("tree", *make_noisy(), n_candidates=200, cv=3, seconds=20_000)
        assert 19_000 < row_clock.now <= 20_004

    @pytest.mark.parametrize("metric", ["log_loss", "roc_auc"])
    def test_boosted_trees(self, metric, monkeypatch):
        monkeypatch.setattr("lhtree.selection.settings._BOOST_ROUNDS", (5, 10))
        X, y = make_noisy()
        given = lhtree.LHBoostClassifier(8, class_weight="balanced", subsample=0.9)
        tuned = lhtree.tune(given, X, y, metric=metric, n_candidates=4, cv=3, seconds=600, random_state=5)
        assert {"learning_rate", "max_iter", "l2_regularization", "n_directed"} < set(tuned.best_params_)
        best = clone(given).set_params(**tuned.best_params_, random_state=5)
        assert tuned.best_estimator_.get_params() == best.get_params()
        assert (tuned.best_estimator_.predict_proba(X) == best.fit(X, y).predict_proba(X)).all()
        first = next(one for one in tuned.candidates if one.params["max_iter"] == 8)
        assert (first.score - tuned.best_score_) * METRICS[metric] <= 0

    def test_other_parameters_are_kept(self):
        X, y = make_noisy()
        model = lhtree.LHTClassifier(class_weight="balanced", normalize="standard", random_state=3)
        tuned = lhtree.tune(model, X, y, n_candidates=3, cv=2, seconds=600, random_state=1, n_jobs=1)
        kept = tuned.best_estimator_.get_params()
        assert (kept["class_weight"], kept["normalize"]) == ("balanced", "standard")
        assert (kept["random_state"], kept["n_jobs"]) == (1, None)
        assert model.random_state == 3

    def test_folds_of_scikit_learn(self):
        X, y = make_noisy()
        splitter = StratifiedKFold(3, shuffle=True, random_state=0)
        splits = list(splitter.split(X, y))
        for cv in (splitter, splits):
            tuned = lhtree.tune("tree", X, y, n_candidates=1, cv=cv, seconds=600)
            model = lhtree.LHTClassifier(random_state=0)
            by_hand = [model.fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
            assert tuned.candidates[0].scores == pytest.approx(by_hand)

    def test_callback_and_progress_bar(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
        seen = []
        asked = {"n_candidates": 3, "cv": 2, "seconds": 600}
        tuned = lhtree.tune("tree", *make_noisy(), **asked, callback=seen.append, verbose=1)
        assert [one.n_done for one in seen[:4]] == [0.5, 1.0, 1.5, 2.0]
        assert seen[-1].n_done == tuned.n_done == 3.0
        assert seen[-1].best_params_ == tuned.best_params_
        assert "tuning" in capsys.readouterr().err

    def test_frame_and_dictionary(self):
        tuned = lhtree.tune("tree", *make_noisy(), n_candidates=8, cv=3, seconds=600, refit=False)
        frame, told = tuned.to_frame(), json.loads(json.dumps(tuned.to_dict(), allow_nan=False))
        assert frame["score"].tolist() == [one["score"] for one in told["candidates"]]
        assert frame["n_folds"].tolist() == [len(one["folds"]) for one in told["candidates"]]
        assert (frame["state"] == "behind").any()
        assert set(tuned.best_params_) < set(frame.columns)
        assert told["best"] == tuned.best_params_
        ended = lhtree.tune("tree", *make_noisy(), seconds=0)
        assert ended.to_frame()["state"].tolist() == ["stopped"]

    @pytest.mark.parametrize(
        "options",
        [
            {"estimator": "bush"},
            {"metric": "luck"},
            {"seconds": -1},
            {"seconds": math.nan},
            {"n_candidates": 0},
            {"random_state": None},
            {"cv": 1},
            {"cv": 2.5},
            {"cv": []},
            {"cv": 500},
            {"y": [0, 1]},
            {"metric": "roc_auc", "y": [0] * 3 + [1] * 237},
        ],
    )
    def test_invalid_arguments_are_rejected(self, options, rejects):
        X, y = make_noisy()
        given = {"estimator": "tree", "X": X, "y": y} | options
        rejects(lhtree.tune, given.pop("estimator"), given.pop("X"), given.pop("y"), **given)


def test_compact_trees_are_tuned():
    X, y = make_clouds(120, 4, 3)
    tuned = lhtree.tune("compact", X, y, n_candidates=3, cv=2, seconds=600, random_state=0)
    assert len(tuned.candidates) == 3
    assert isinstance(tuned.best_estimator_, lhtree.CompactLHTClassifier)
    for candidate in tuned.candidates:
        assert set(candidate.params) == {"max_leaf_nodes", "max_terms", "penalty", "min_samples_leaf"}


def make_responses(n_rows):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 3))
    return X, 100 + 20 * X[:, 0] + 5 * X[:, 1] ** 2 + generator.normal(0, 4, n_rows)


@pytest.mark.parametrize(
    ("estimator", "metric", "used"),
    [
        (lhtree.LHTRegressor(), None, "r2"),
        (lhtree.LHForestRegressor(5), "mae", "mae"),
        (lhtree.LHBoostRegressor("quantile", quantile=0.9), None, "pinball"),
    ],
)
def test_tuning_a_regressor(estimator, metric, used):
    X, y = make_responses(90)
    tuned = lhtree.tune(estimator, X, y, metric=metric, n_candidates=2, cv=2, seconds=600)
    assert tuned.metric == used
    first, second = (one.score for one in tuned.candidates)
    assert first >= second if used == "r2" else first <= second
    assert type(tuned.best_estimator_) is type(estimator)
    assert str(tuned).startswith("Best")
    assert "rmse" in tuned.to_frame()


@pytest.mark.parametrize("metric", ["accuracy", "pinball", "bush"])
def test_metrics_of_classifiers_are_rejected(metric, rejects):
    rejects(lhtree.tune, lhtree.LHTRegressor(), *make_responses(20), metric=metric)


def test_settings_of_a_regression_tree():
    found = list(draw_settings(lhtree.LHTRegressor().get_params(), 1000, 20, 0))
    assert "gamma" not in found[0]
    assert len({setting["pruning"] for setting in found}) > 2
