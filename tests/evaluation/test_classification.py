"""``lhtree.evaluate`` against scikit-learn's metrics."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import lhtree
from lhtree import LHForestClassifier, LHTClassifier, coverage_curve, evaluate
from lhtree.evaluation import Evaluation
from lhtree.evaluation.classification import judge
from lhtree.evaluation.measures import find_interval, rank
from lhtree.tables.labels import encode_known
from support.clouds import make_clouds
from support.fresh import loaded_after


def make_problem(n_classes, is_weighted):
    """A model that errs, rows it has not seen, and their weights, a few of which are 0."""
    generator = np.random.default_rng(0)
    X, y = make_clouds(600, 4, n_classes)
    y = np.where(generator.random(600) < 0.2, 0, y)
    names = np.array(["no", "maybe", "yes"])[-n_classes:] if n_classes < 4 else np.arange(n_classes)
    weight = np.round(generator.gamma(1.0, 2.0, 300), 1) if is_weighted else None
    model = LHForestClassifier(7, random_state=0).fit(X[:300], names[y[:300]])
    return model, X[300:], names[y[300:]], weight


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
class TestMeasures:
    @pytest.fixture
    def problem(self, n_classes, is_weighted):
        return make_problem(n_classes, is_weighted)

    def test_predicted_classes(self, problem):
        model, X, y, weight = problem
        found, labels, guess = evaluate(model, X, y, sample_weight=weight), model.classes_, model.predict(X)
        options = {"sample_weight": weight}
        assert found.n_rows == (300 if weight is None else (weight > 0).sum())
        assert found.accuracy == pytest.approx(metrics.accuracy_score(y, guess, **options))
        assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, guess, **options))
        confusion = metrics.confusion_matrix(y, guess, labels=labels, **options)
        np.testing.assert_allclose(found.confusion, confusion)
        assert found.most_frequent == pytest.approx(confusion.sum(axis=1).max() / confusion.sum())
        wanted = metrics.precision_recall_fscore_support(y, guess, labels=labels, **options)
        assert [one.precision for one in found.classes] == pytest.approx(wanted[0])
        assert [one.recall for one in found.classes] == pytest.approx(wanted[1])
        counted = slice(None) if weight is None else weight > 0
        assert [one.n_rows for one in found.classes] == [(y[counted] == label).sum() for label in labels]
        assert [one.n_predicted for one in found.classes] == [
            (guess[counted] == label).sum() for label in labels
        ]

    def test_probabilities(self, problem):
        model, X, y, weight = problem
        found, proba = evaluate(model, X, y, sample_weight=weight), model.predict_proba(X)
        options = {"sample_weight": weight}
        assert found.log_loss == pytest.approx(metrics.log_loss(y, proba, **options))
        is_class = y[:, None] == model.classes_
        pairs = list(zip(is_class.T, proba.T, strict=True))
        areas = [metrics.roc_auc_score(*pair, **options) for pair in pairs]
        precisions = [metrics.average_precision_score(*pair, **options) for pair in pairs]
        assert [one.roc_auc for one in found.classes] == pytest.approx(areas)
        assert [one.average_precision for one in found.classes] == pytest.approx(precisions)
        if len(areas) == 2:
            brier = metrics.brier_score_loss(is_class[:, 1], proba[:, 1], **options)
            rarer = np.bincount(is_class[:, 1], weight).argmin()
            assert found.roc_auc == pytest.approx(areas[1])
            assert found.average_precision == pytest.approx(precisions[rarer])
            assert f"(class {model.classes_[rarer]})" in str(found)
        else:
            brier = np.average(((proba - is_class) ** 2).sum(axis=1), weights=weight)
            area = metrics.roc_auc_score(y, proba, multi_class="ovr", average="macro", **options)
            assert found.roc_auc == pytest.approx(area)
            assert found.average_precision == pytest.approx(np.mean(precisions))
        assert found.brier == pytest.approx(brier)

    def test_calibration_and_coverage(self, problem):
        model, X, y, weight = problem
        found, proba, guess = (
            evaluate(model, X, y, sample_weight=weight),
            model.predict_proba(X),
            model.predict(X),
        )
        weight = np.ones(300) if weight is None else weight
        promised = proba[np.arange(300), np.searchsorted(model.classes_, guess)]
        for one in found.calibration:
            low = min(math.floor(one.probability * 10), 9) / 10
            mine = (promised >= low) & (promised < low + 0.1 + (low == 0.9)) & (weight > 0)
            assert one.n_rows == mine.sum()
            assert one.probability == pytest.approx(np.average(promised[mine], weights=weight[mine]))
            assert one.accuracy == pytest.approx(np.average((y == guess)[mine], weights=weight[mine]))
        assert sum(one.n_rows for one in found.calibration) == found.n_rows
        wolf, curve = model.predict_wolf(X).max(axis=1), found.coverage
        for threshold, coverage, accuracy in zip(
            curve.threshold, curve.coverage, curve.accuracy, strict=True
        ):
            is_decided = (wolf >= threshold) & (weight > 0)
            assert coverage == pytest.approx(weight[is_decided].sum() / weight.sum())
            assert accuracy == pytest.approx(np.average((y == guess)[is_decided], weights=weight[is_decided]))

    def test_parts_make_up_the_whole(self, problem):
        model, X, y, weight = problem
        codes = encode_known(y, model.classes_, len(y), is_strict=True)
        cuts = [slice(0, 100), slice(100, 101), slice(101, 300)]
        parts = [judge(model, X[cut], codes[cut], None if weight is None else weight[cut]) for cut in cuts]
        labels = model.classes_.tolist()
        whole = evaluate(model, X, y, sample_weight=weight)
        assert Evaluation.from_parts(parts, labels).to_dict() == whole.to_dict()


class TestModels:
    def test_a_scorer_measures_as_its_model(self, tmp_path):
        model, X, y, _ = make_problem(3, False)
        lhtree.save(model, tmp_path / "model.lht")
        scorer = lhtree.load_scorer(tmp_path / "model.lht")
        assert evaluate(scorer, X, y).to_dict() == evaluate(model, X, y).to_dict()

    def test_a_classifier_of_scikit_learn(self):
        _, X, y, _ = make_problem(3, False)
        model = LogisticRegression().fit(X, y)
        found, proba = evaluate(model, X, y), model.predict_proba(X)
        assert found.log_loss == pytest.approx(metrics.log_loss(y, proba))
        assert set(found.coverage.threshold) <= set(proba.max(axis=1))

    def test_scikit_learn_is_not_needed(self, tmp_path, two):
        lhtree.save(LHTClassifier().fit(*two), tmp_path / "model.lht")
        code = (
            f"import lhtree; model = lhtree.load_scorer({str(tmp_path / 'model.lht')!r})\n"
            "print(lhtree.evaluate(model, [[0.0] * 5] * 2, [0, 1]), file=__import__('sys').stderr)"
        )
        assert loaded_after(code) == []

    def test_labels_of_any_type(self, two):
        X, codes = two
        days = np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]")
        for labels, asked in (
            (np.array([False, True]), np.array([False, True])),
            (days, days.astype("M8[s]")),
            (np.array([1.0, 2.0]), [1, 2]),
        ):
            model = LHTClassifier().fit(X, labels[codes])
            found = evaluate(model, X, np.asarray(asked)[codes])
            assert found.accuracy == model.score(X, labels[codes])
            json.dumps(found.to_dict(), allow_nan=False)


class TestAbsentClasses:
    def test_a_class_without_rows(self):
        model, X, y, _ = make_problem(3, False)
        found = evaluate(model, X[y != "maybe"], y[y != "maybe"])
        absent = found.classes[0]
        assert (absent.label, absent.n_rows) == ("maybe", 0)
        assert (absent.recall, absent.roc_auc, absent.average_precision) == (None, None, None)
        assert (found.roc_auc, found.average_precision) == (None, None)
        assert found.balanced_accuracy == pytest.approx(np.mean([one.recall for one in found.classes[1:]]))
        assert "–" in str(found)
        assert "ROC AUC" not in str(found)

    def test_one_class_alone(self):
        model, X, y, _ = make_problem(2, False)
        found = evaluate(model, X[y == "yes"], y[y == "yes"])
        assert (found.roc_auc, found.average_precision) == (None, None)
        assert found.classes[1].average_precision == 1.0
        json.dumps(found.to_dict(), allow_nan=False)


class TestRefusals:
    @pytest.mark.parametrize(
        ("y", "options"),
        [
            (["yes"] * 299 + ["lost"], {}),
            (["yes"] * 299, {}),
            ([["yes"]] * 300, {}),
            ([], {}),
            (["yes"] * 300, {"sample_weight": [1.0]}),
            (["yes"] * 300, {"sample_weight": [-1.0] * 300}),
            (["yes"] * 300, {"sample_weight": [0.0] * 300}),
            (["yes"] * 300, {"sample_weight": [math.nan] * 300}),
        ],
    )
    def test_rows(self, y, options, rejects):
        model, X, _, _ = make_problem(2, False)
        rejects(evaluate, model, X, y, **options)

    def test_models(self, two, rejects):
        rejects(evaluate, LinearSVC().fit(*two), *two)
        rejects(evaluate, LHTClassifier(), *two)


class TestShown:
    def test_many_classes_are_shown_in_short(self):
        X, y = make_clouds(300, 4, 25)
        text = str(evaluate(LHTClassifier().fit(X, y), X, y))
        assert text.splitlines()[-1] == "… and 5 more classes"

    def test_frame_and_dictionary(self):
        model, X, y, _ = make_problem(3, False)
        found = evaluate(model, X, y)
        frame, told = found.to_frame(), found.to_dict()
        assert frame.index.tolist() == [one["class"] for one in told["classes"]] == ["maybe", "no", "yes"]
        for name in ("n_rows", "n_predicted", "recall", "precision", "roc_auc", "average_precision"):
            assert frame[name].tolist() == [one[name] for one in told["classes"]]
        assert json.loads(json.dumps(told, allow_nan=False)) == told


scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)), min_size=2
)


@given(scores)
def test_ranks_are_those_of_all_pairs(rows):
    score, is_class, weight = (np.array(column) for column in zip(*rows, strict=True))
    area, precision = rank(score, is_class, weight.astype(float))
    ahead = np.sign(score[is_class][:, None] - score[~is_class]) / 2 + 0.5
    pairs = weight[is_class][:, None] * weight[~is_class]
    assert area == (pytest.approx((ahead * pairs).sum() / pairs.sum()) if pairs.size else None)
    assert (precision is None) == (not is_class.any())
    repeated = rank(np.repeat(score, weight), np.repeat(is_class, weight), None)
    assert repeated == (
        area if area is None else pytest.approx(area),
        precision if precision is None else pytest.approx(precision),
    )


def test_interval():
    assert find_interval(0.8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)  # Wilson's, by hand
    assert find_interval(0.0, 7)[0] == 0.0
    assert all(find_interval(1.0, n)[1] == 1.0 for n in range(1, 1000))


def test_equal_weights_change_no_interval():
    model, X, y, _ = make_problem(2, False)
    plain, weighted = evaluate(model, X, y), evaluate(model, X, y, sample_weight=np.full(300, 1e200))
    assert weighted.accuracy_low == pytest.approx(plain.accuracy_low)
    half = evaluate(model, X, y, sample_weight=np.arange(300) % 2)
    every = evaluate(model, X[1::2], y[1::2])
    assert (half.n_rows, half.accuracy_high) == (150, pytest.approx(every.accuracy_high))


def test_thinned_coverage_keeps_the_accuracy_at_each_coverage(rejects):
    X, y = make_clouds(3000, 4, 2)
    model = LHForestClassifier(5, random_state=0).fit(X[:1500], y[:1500])
    whole, thin = coverage_curve(model, X, y), evaluate(model, X, y).coverage
    assert len(thin.coverage) <= 200 < len(whole.coverage)
    for coverage in np.arange(1, 201) / 200:
        assert thin.at(coverage) == whole.at(coverage)
    assert whole.at(1.0)["accuracy"] == model.score(X, y)
    rejects(whole.at, 1.5)
