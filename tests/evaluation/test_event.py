"""The positive class: scores of the event compared with scikit-learn and SciPy, costs, saved declarations."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ks_2samp
from sklearn.metrics import roc_auc_score

import lhtree
from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, choose_threshold, evaluate
from lhtree.evaluation.event import EventScores, find_bands
from support.clouds import make_clouds

PROBABILITIES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0]), st.booleans()), min_size=2, max_size=60
)


@given(PROBABILITIES)
def test_gini_and_ks_are_those_of_scikit_learn_and_scipy(rows):
    score, is_event = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    is_event[:2] = True, False
    found = EventScores.of("yes", score, is_event, None, is_declared=True)
    assert found.gini == pytest.approx(2 * roc_auc_score(is_event, score) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about p values, which are not used
        expected = ks_2samp(score[is_event], score[~is_event]).statistic
    assert found.ks == pytest.approx(expected)
    reached = np.mean(score[is_event] >= found.ks_threshold) - np.mean(score[~is_event] >= found.ks_threshold)
    assert abs(reached) == pytest.approx(found.ks)


@given(PROBABILITIES)
def test_bands_cover_all_rows_and_keep_equal_probabilities_together(rows):
    score, is_event = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    bands = find_bands(score, is_event, None)
    assert sum(band.n_rows for band in bands) == len(rows)
    assert len(bands) <= 10
    for above, below in pairwise(bands):
        assert above.low > below.high
    n_events = 0
    for band in bands:
        own = (score >= band.low) & (score <= band.high)
        assert band.n_rows == own.sum()
        assert band.probability == pytest.approx(score[own].mean())
        interval = binomtest(int(is_event[own].sum()), int(own.sum())).proportion_ci(method="wilson")
        assert (band.rate, band.rate_low, band.rate_high) == pytest.approx(
            (is_event[own].mean(), *interval), abs=1e-6
        )
        n_events += is_event[own].sum()
        if is_event.any():
            assert band.gain == pytest.approx(n_events / is_event.sum())
            assert band.lift == pytest.approx(is_event[own].mean() / is_event.mean())


def test_weighted_rows_equal_repeated_rows():
    generator = np.random.default_rng(0)
    score, is_event = generator.random(200), generator.random(200) < 0.3
    weight = generator.integers(1, 4, 200)
    whole = EventScores.of(1, np.repeat(score, weight), np.repeat(is_event, weight), None, is_declared=True)
    found = EventScores.of(1, score, is_event, weight.astype(float), is_declared=True)
    for name in ("rate", "probability", "gini", "ks", "ks_threshold"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name))
    assert [band.rate for band in found.bands] == pytest.approx([band.rate for band in whole.bands])


def test_declared_class_is_saved_and_used(tmp_path):
    X, y = make_clouds(200, 3, 2, seed=0)
    named = np.where(y == 0, "default", "repaid")
    for kind in (
        LHBoostClassifier(20, random_state=0, positive="default"),
        LHTClassifier(positive="default"),
    ):
        model = kind.fit(X, named)
        lhtree.save(model, tmp_path / "model.lht")
        for one in (model, lhtree.load(tmp_path / "model.lht"), lhtree.load_scorer(tmp_path / "model.lht")):
            measured = evaluate(one, X, named)
            assert measured.event.positive == "default"
            assert measured.average_precision == measured.classes[0].average_precision
            assert one.explain(X[0]).target == "default"
            assert one.explain(X[0], target="repaid").target == "repaid"
        assert lhtree.inspect(tmp_path / "model.lht")["positive"] == "default"
    assert evaluate(model, X, named, positive="repaid").event.positive == "repaid"


def test_constraints_follow_the_positive_class(rejects):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 2))
    y = (X[:, 0] + generator.normal(size=400) > 0).astype(int)
    plain = LHBoostClassifier(20, random_state=0, monotonic_cst=[1, 0]).fit(X, y)
    first = LHBoostClassifier(20, random_state=0, positive=0, monotonic_cst=[-1, 0]).fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X), first.predict_proba(X))
    with rejects.warning():
        LHBoostClassifier(5, random_state=0, positive=0, monotonic_cst=[1, 0]).fit(X, y)


def test_explained_class_of_joint_trees_has_its_own_counts():
    X, y = make_clouds(150, 3, 3, seed=2)
    forest = LHForestClassifier(1, direction="mixed", multi_class="one_tree", random_state=0).fit(X, y)
    (path,) = forest.explain(X[0], target=2).paths
    assert path.target == 2
    assert path.steps[0].n_target == (y == 2).sum()


@given(PROBABILITIES, st.lists(st.integers(0, 5), min_size=4, max_size=4), st.booleans())
def test_no_threshold_costs_less(rows, costs, is_first):
    score, y = np.array([row[0] for row in rows]), np.array([int(row[1]) for row in rows])
    y[:2] = 0, 1
    matrix = np.array(costs).reshape(2, 2) + np.array([[0, 5], [5, 0]])

    class Fixed:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.column_stack([1.0 - score, score])

    def find_cost(threshold):
        predicted = np.where(1 - score >= threshold, 0, 1) if is_first else (score >= threshold).astype(int)
        return matrix[y, predicted].sum()

    found = choose_threshold(Fixed(), y, y, costs=matrix, positive=0 if is_first else 1)
    assert find_cost(found) == min(find_cost(one) for one in [0.0, *score, *(1.0 - score), 1.1])


def test_bad_arguments_name_the_remedy(rejects):
    X, y = make_clouds(60, 2, 2, seed=3)
    for arguments in ({"positive": 7}, {"threshold": 1.5}):
        rejects(evaluate, LHTClassifier().fit(X, y), X, y, **arguments)
    rejects(LHTClassifier(positive="default").fit, X, y)
    rejects(choose_threshold, LHTClassifier().fit(X, y), X, y, costs=[[1, 0], [0, 1]])
