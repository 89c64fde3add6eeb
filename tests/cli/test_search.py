"""The parts of ``lhtree tune`` and ``lhtree bench`` that print nothing: folds, search and comparison."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, log_loss

from lhtree.cli import _compare, _search
from lhtree.cli._compare import PEERS, Peer
from lhtree.cli._errors import Problem
from lhtree.cli._folds import Measure, measure, split_folds, summarise
from lhtree.cli._metrics import find_interval
from lhtree.cli._search import Candidate, Setting, Task, draw_settings, find_best, search
from support.clouds import make_clouds
from support.shop import make_table

pd = pytest.importorskip("pandas")


class TestFolds:
    @given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 2**32 - 1))
    def test_every_row_is_tested_once_and_classes_are_spread(self, y, n_folds, seed):
        y = np.array(y)
        sizes = sorted(np.bincount(y))
        if sizes[-2:][0] < 2 or len(sizes) < 2 or len(y) < n_folds:
            with pytest.raises(Problem):
                split_folds(y, n_folds, seed)
            return
        splits = split_folds(y, n_folds, seed)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(y)))
        counts = np.array([np.bincount(y[test], minlength=4) for _, test in splits])
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(counts.sum(axis=1)) <= 1
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(len(y)))
            assert len(np.unique(y[train])) >= 2

    def test_folds_depend_on_the_seed_alone(self):
        y = np.arange(30) % 3
        for first, again, other in zip(
            split_folds(y, 5, 0), split_folds(y, 5, 0), split_folds(y, 5, 1), strict=True
        ):
            assert (first[1] == again[1]).all()
            assert (first[1] != other[1]).any()

    def test_measures_are_those_of_scikit_learn(self):
        generator = np.random.default_rng(0)
        classes = np.array(["a", "b", "d"], dtype=object)
        proba = generator.dirichlet(np.ones(3), 50)
        y = generator.choice(classes, 50)
        found = measure(proba, classes, y)
        assert found.accuracy == accuracy_score(y, classes[proba.argmax(axis=1)])
        assert found.log_loss == pytest.approx(log_loss(y, proba))

    def test_classes_that_were_not_trained_on(self):
        proba = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
        found = measure(proba, np.array(["b", "c"]), np.array(["c", "a", "d"]))
        assert found[:2] == (3, 1)
        assert found.log_loss == pytest.approx(2 / 3 * -math.log(np.finfo(float).eps))

    def test_interval(self):
        assert find_interval(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)  # Wilson's, by hand
        assert find_interval(0, 7)[0] == 0.0
        assert find_interval(7, 7)[1] == 1.0

    def test_summary(self):
        found = summarise([Measure(10, 9, 0.2), Measure(10, 7, 0.6)])
        assert found[:3] == pytest.approx((0.8, math.sqrt(0.02), 0.4))
        assert found[3:] == find_interval(16, 20)
        assert summarise([Measure(10, 9, 0.2)]).spread == 0.0


class TestSettings:
    @pytest.mark.parametrize("kind", ["tree", "forest"])
    def test_defaults_come_first_and_nothing_twice(self, kind):
        found = list(draw_settings(kind, 1000, 30, 0))
        assert len(found) == len(set(found)) == 30
        assert found == list(draw_settings(kind, 1000, 30, 0))
        assert found[2:] != list(draw_settings(kind, 1000, 30, 1))[2:]
        assert [setting.direction for setting in found[:2]] == ["mean_difference", "mixed"]
        paper, mixed = (setting.build(0) for setting in found[:2])
        assert paper.get_params() == type(paper)(random_state=0).get_params()
        assert mixed.get_params() == type(paper)(direction="mixed", random_state=0).get_params()
        for setting in found:
            assert (setting.gamma is None) == (setting.direction != "mean_difference")
            assert (setting.trees is None) == (kind == "tree")
            assert setting.beta == "auto" or 0 < setting.beta < 1

    @pytest.mark.parametrize(
        ("setting", "options"),
        [
            (Setting("mean_difference", 100, gamma=10), "--direction mean_difference"),
            (Setting("mixed", 400, 0.25), "--direction mixed --trees 400 --beta 0.25"),
            (
                Setting("mean_difference", None, 0.5, 3),
                "--direction mean_difference --model tree --beta 0.5 --gamma 3",
            ),
        ],
    )
    def test_options(self, setting, options):
        assert " ".join(setting.options()) == options

    def test_few_and_too_many_are_asked_for(self):
        assert len(list(draw_settings("tree", 10, 1, 0))) == 1
        assert 50 < len(list(draw_settings("tree", 10, 5000, 0))) < 5000


def make_task(n_folds=3, **more):
    frame = make_table(150)
    y = frame["y"].to_numpy(dtype=object)
    return Task(frame.drop(columns="y"), y, split_folds(y, n_folds, 0), **more)


def told(found):
    return [(candidate.setting, candidate.folds, candidate.is_behind) for candidate in found]


class TestSearch:
    def test_the_same_for_a_seed(self):
        task = make_task()
        found, again = (search(task, draw_settings("tree", 150, 8, 0), math.inf) for _ in range(2))
        assert told(found) == told(again)
        assert len(found) == 8
        assert [len(candidate.folds) for candidate in found[:2]] == [3, 3]

    def test_folds_are_measured_as_by_hand(self):
        task = make_task()
        setting = Setting("mixed", 5, beta=0.2)
        (found,) = search(task, iter([setting]), math.inf)
        for (train, test), fold, seconds in zip(task.splits, found.folds, found.seconds, strict=True):
            model = setting.build(task.seed).fit(task.X.iloc[train], task.y[train])
            assert fold == measure(model.predict_proba(task.X.iloc[test]), model.classes_, task.y[test])
            assert seconds > 0

    def test_who_is_behind_is_left(self):
        task = make_task(5)
        useless = Setting("mean_difference", None, gamma=1000)
        best, default, behind = search(task, iter([Setting("mixed", 20), useless, useless]), math.inf)
        assert [len(candidate.folds) for candidate in (best, default)] == [5, 5]
        assert [candidate.is_behind for candidate in (best, default, behind)] == [False, False, True]
        assert len(behind.folds) < 5
        assert find_best([behind, default, best]) is best

    def test_of_equals_the_one_of_less_log_loss_is_best(self):
        candidates = [Candidate(Setting("mixed", 1), [Measure(10, 8, loss)]) for loss in (0.3, 0.2, 0.4)]
        assert find_best(candidates) is candidates[1]

    def test_without_time_there_is_a_result_still(self):
        heard = []
        found = search(make_task(), draw_settings("tree", 150, 8, 0), 0.0, lambda now: heard.append(len(now)))
        assert [len(candidate.folds) for candidate in found] == [1]
        assert heard == [1]

    @pytest.mark.parametrize(
        ("seconds", "n_folds"),
        [(0, [1]), (1, [1]), (2, [1, 1]), (3, [1, 1]), (5, [2, 2]), (6, [3, 3]), (8, [3, 3, 2])],
    )
    def test_the_defaults_take_turns(self, monkeypatch, seconds, n_folds):
        n_done = 0

        def tell(found):
            nonlocal n_done
            n_done += 1

        monkeypatch.setattr(_search.time, "monotonic", lambda: float(n_done))  # a fold takes a second
        settings = iter([Setting("mean_difference", None), Setting("mixed", None), Setting("mixed", 5)])
        found = search(make_task(), settings, seconds, tell)
        assert [len(candidate.folds) for candidate in found] == n_folds
        assert [len(candidate.seconds) for candidate in found] == n_folds
        assert len(find_best(found).folds) == max(n_folds)

    def test_time_that_runs_out_ends_the_fit(self):
        X, y = make_clouds(4000, 8, 3)
        model = _search._make_stoppable(Setting("mixed", 400).build(0), -math.inf)
        with pytest.raises(_search.OutOfTimeError):
            model.fit(X, y)
        patient = _search._make_stoppable(Setting("mixed", 4).build(0), math.inf).fit(X, y)
        assert (patient.predict_proba(X) == Setting("mixed", 4).build(0).fit(X, y).predict_proba(X)).all()


class TestCompare:
    def test_ours_are_measured_on_the_table_itself(self):
        task = make_task()
        heard = []
        results = _compare.compare(
            ["tree", "cart"], task.X, task.y, task.splits, 0, lambda *news: heard.append(news)
        )
        assert [result.name for result in results] == ["tree", "cart"]
        assert heard[:4] == [("lhtree: tree", 0), ("lhtree: tree", 1), ("lhtree: tree", 2), ("CART", 3)]
        by_hand = []
        for train, test in task.splits:
            model = PEERS["tree"].build(0).fit(task.X.iloc[train], task.y[train])
            by_hand.append(measure(model.predict_proba(task.X.iloc[test]), model.classes_, task.y[test]))
        assert results[0].score == summarise(by_hand)
        assert all(result.fit_seconds > 0 and result.row_seconds > 0 for result in results)

    def test_features(self):
        frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
        assert np.array_equal(_compare.encode(frame), [[1.0, 1.0], [np.nan, np.nan]], equal_nan=True)
        assert np.array_equal(_compare.encode(frame[["a"]]), [[1.0], [np.nan]], equal_nan=True)

    def test_what_fails_is_told_and_the_others_go_on(self, monkeypatch):
        def build(seed):
            raise ValueError("no such luck\nat all")

        monkeypatch.setitem(PEERS, "unlucky", Peer("unlucky", "sklearn", build))
        task = make_task()
        unlucky, tree = _compare.compare(["unlucky", "tree"], task.X, task.y, task.splits, 0)
        assert (unlucky.score, unlucky.failure) == (None, "no such luck")
        assert tree.score is not None

    def test_errors_of_other_libraries_are_told_too(self, monkeypatch):
        catboost = pytest.importorskip("catboost")
        peer = PEERS["catboost"]
        monkeypatch.setitem(
            PEERS, "catboost", peer._replace(build=lambda seed: peer.build(seed).set_params(depth=99))
        )
        task = make_task()
        (result,) = _compare.compare(["catboost"], task.X, task.y, task.splits, 0)
        assert catboost.CatBoostError in peer.errors()
        assert "depth" in result.failure

    @pytest.mark.parametrize("name", [name for name in PEERS if PEERS[name].is_there])
    def test_every_model_takes_categories_missing_values_and_rare_classes(self, name, monkeypatch):
        monkeypatch.setattr(_compare, "_ROW_SECONDS", 0.0)
        frame = make_table(90)
        y = frame.pop("y").to_numpy(dtype=object)
        y[0] = "lost"  # in one fold only: it was not trained on there
        if name == "catboost":
            peer = PEERS[name]
            monkeypatch.setitem(
                PEERS, name, peer._replace(build=lambda seed: peer.build(seed).set_params(iterations=5))
            )
        (result,) = _compare.compare([name], frame, y, split_folds(y, 3, 0), 0)
        assert result.failure is None
        assert result.score.accuracy > 0.5
