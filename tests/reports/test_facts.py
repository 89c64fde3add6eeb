"""The facts of a report are the model's own numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score, roc_auc_score

from lhtree import LHForestClassifier, LHTClassifier, evaluate
from lhtree.reports import _figures, _trees
from lhtree.reports._figures import ReportRows, choose_samples
from lhtree.tables.encoding import Encoding
from support.adult import make_adult
from support.clouds import make_clouds
from support.reports import make_summary


def kinds(facts):
    return {warning["kind"] for warning in facts["warnings"]}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def test_figures_are_those_of_the_model_on_the_rows_held_out(wine):
    X, y, X_test, y_test = wine
    model = LHTClassifier().fit(X, y)
    facts = make_summary(model, X, y, (X_test, y_test))
    assert facts["given"]["accuracy"] == model.score(X, y)
    measured = evaluate(model, X_test, y_test).to_dict()
    names = [one.pop("class") for one in facts["test"]["classes"]]
    assert names == [f"class {one.pop('class')}" for one in measured["classes"]]
    assert facts["test"] == measured
    assert facts["features"]["importance"] == model.feature_importances_.tolist()
    assert facts["data"] == {"n_rows": len(X), "counts": y.value_counts(sort=False).sort_index().tolist()}
    assert "not-held-out" not in kinds(facts)


def test_missing_held_out_rows_are_a_warning(two):
    model = LHTClassifier().fit(*two)
    facts = make_summary(model, *two)
    assert facts["test"] is None
    assert facts["given"]["accuracy"] == model.score(*two)
    assert "not-held-out" in kinds(facts)
    assert not facts["samples"]["is_test"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_and_class_mix(n_classes):
    X, y = make_clouds(300, 6, n_classes)
    model = LHForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    forest = model._model.trees
    trees = make_summary(model, X, y)["trees"]
    arrays = trees["arrays"]
    assert trees["n_shown"] == 4
    assert np.array_equal(arrays["left"], np.maximum(forest.left, 0))
    names = ("target", "weight", "n_target", "offset", "intercept", "hyperplane_weight", "membership_slope")
    for name in names:
        assert np.array_equal(arrays[name], getattr(forest, name)), name
    assert np.array_equal(np.cumsum(arrays["n_weights"]), forest.hyperplane_ptr[1:])
    assert np.array_equal(np.cumsum(arrays["n_slopes"]), forest.membership_ptr[1:])
    leaves = model.apply(X)
    first = 0
    for tree, view in enumerate(model.trees_):
        for block in np.flatnonzero(view.is_leaf):
            counts = np.bincount(y[leaves[:, tree] == block], minlength=n_classes)
            assert arrays["leaf_mix"][first].tolist() == counts.tolist()
            first += 1
    assert first == len(arrays["leaf_mix"])


def test_labels_and_whether_rows_were_counted(two):
    X, y = two
    facts = make_summary(LHTClassifier().fit(X, y), X, y)
    assert (facts["classes"], facts["labels"]) == (["class 0", "class 1"], ["0", "1"])
    assert facts["model"]["is_counted"]
    named = np.array(["a", "class b"])[y]
    facts = make_summary(LHTClassifier().fit(X, named), X, named)
    assert facts["classes"] == facts["labels"] == ["a", "class b"]
    for model in (LHTClassifier(class_weight="balanced"), LHTClassifier(class_weight="balanced", gamma=1000)):
        assert not make_summary(model.fit(X, y), X, y)["model"]["is_counted"]
    weighted = LHTClassifier().fit(X, y, sample_weight=1.0 + y)
    assert not make_summary(weighted, X, y)["model"]["is_counted"]


def test_samples_are_rows_of_the_data_with_the_predictions_of_the_model(wine):
    X, y, X_test, y_test = wine
    model = LHTClassifier(beta=0.5).fit(X, y)
    samples = make_summary(model, X, y, (X_test, y_test))["samples"]
    row = samples["row"]
    assert sorted(row) == list(range(len(X_test)))  # few enough for all
    assert np.array_equal(samples["X"], X_test.to_numpy()[row])
    assert np.array_equal(samples["proba"], model.predict_proba(X_test)[row])
    assert samples["codes"] == y_test.to_numpy()[row].tolist()
    n_wrong = samples["groups"]["wrong"]
    is_right = model.predict(X_test.iloc[row]) == y_test.iloc[row].to_numpy()
    assert n_wrong > 0
    assert not is_right[:n_wrong].any()
    assert is_right[n_wrong:].all()


def test_many_rows_and_features_give_few_samples():
    generator = np.random.default_rng(0)
    proba = generator.dirichlet([1, 1], size=5000)
    for n_features, most in ((2, 200), (10_000, 10)):
        groups = choose_samples(
            ReportRows(np.zeros((5000, n_features), dtype=np.int8), proba.argmax(axis=1)), proba
        )
        chosen = np.concatenate(list(groups.values()))
        assert 0 < len(chosen) <= most
        assert len(set(chosen)) == len(chosen)


def test_tables_are_encoded_once_and_models_are_not_fitted(monkeypatch):
    X, y = make_adult(300)
    model = LHTClassifier(gamma=40).fit(X[:200], y[:200])
    calls = []
    encode = Encoding.code
    monkeypatch.setattr(
        Encoding, "code", lambda *given, **options: calls.append(1) or encode(*given, **options)
    )
    monkeypatch.setattr(LHTClassifier, "fit", None)
    make_summary(model, X[:200], y[:200], (X[200:], y[200:]))
    assert len(calls) == 2


def test_the_name_of_the_target(two):
    X, y = two
    model = LHTClassifier().fit(X, y)
    facts = make_summary(model, X, pd.Series(y, name="kept"))
    assert facts["target"] == "kept"
    assert facts["title"] == "LHTClassifier for kept (class 0 or class 1)"
    for given, shown in (("bought", "bought"), ("\u202eturned", "turned"), ("", None)):
        assert make_summary(model, X, pd.Series(y, name="kept"), target_name=given)["target"] == shown
    facts = make_summary(model, X, y)
    assert facts["target"] is None
    assert facts["title"] == "LHTClassifier for class 0 or class 1"


def test_titles_of_three_classes_and_of_long_names(three):
    X, y = three
    names = np.array(["red", "green", "blue"])
    title = make_summary(LHTClassifier().fit(X, names[y]), X, names[y])["title"]
    assert title == "LHTClassifier for blue, green or red"
    names = np.array([f"a name of thirty letters, the {n}" for n in range(3)])
    title = make_summary(LHTClassifier().fit(X, names[y]), X, names[y], target_name="kind")["title"]
    assert title == "LHTClassifier for kind (3 classes)"


class TestThresholds:
    def test_counts_and_areas(self, two):
        X, y = two
        model = LHForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
        facts = make_summary(model, X, y)["thresholds"]
        assert facts["first"] == int((y == 1).sum() <= (y == 0).sum())
        for cls, curve in enumerate(facts["classes"]):
            proba, is_own = model.predict_proba(X)[:, cls], y == cls
            for threshold, right, wrong in zip(
                *(curve[name] for name in ("threshold", "right", "wrong")), strict=True
            ):
                assert right == (is_own & (proba >= threshold)).sum()
                assert wrong == (~is_own & (proba >= threshold)).sum()
            assert curve["threshold"][curve["half"]] == 0.5
            assert curve["roc_auc"] == pytest.approx(roc_auc_score(is_own, proba))
            assert curve["average_precision"] == pytest.approx(average_precision_score(is_own, proba))
            shares = np.array(curve["right"]) / curve["n_own"], np.array(curve["wrong"]) / curve["n_others"]
            assert (shares[0] - shares[1]).argmax() == curve["balanced"]
            best = curve["threshold"][curve["f1"]]
            scores = [f1_score(is_own, proba >= one) for one in curve["threshold"]]
            assert f1_score(is_own, proba >= best) == max(scores)

    def test_many_probabilities_are_thinned(self):
        generator = np.random.default_rng(0)
        is_own = generator.random(5000) < 0.1
        curve = _figures._follow(np.where(is_own, 0.4, 0.2) * generator.random(5000), is_own)
        assert len(curve["threshold"]) <= 203
        assert (curve["right"][-1], curve["wrong"][-1]) == (is_own.sum(), (~is_own).sum())
        assert curve["right"][0] <= 1

    def test_only_two_classes_have_thresholds(self, three, two):
        assert make_summary(LHTClassifier().fit(*three), *three)["thresholds"] is None
        X, y = two
        model = LHTClassifier().fit(X, y)
        assert make_summary(model, X, y, (X[y == 0], y[y == 0]))["thresholds"] is None


def test_many_classes_have_their_confusions_instead_of_a_matrix():
    X, y = make_clouds(390, 4, 13)
    model = LHTClassifier(max_depth=1).fit(X, y)
    facts = make_summary(model, X, y)
    assert facts["given"]["confusion"] is None
    matrix = confusion_matrix(y, model.predict(X))
    np.fill_diagonal(matrix, 0)
    found = facts["confusions"]
    assert (found["n_wrong"], found["n_pairs"]) == (matrix.sum(), (matrix > 0).sum())
    counts = [pair["n_rows"] for pair in found["pairs"]]
    assert counts == [matrix[pair["true"], pair["predicted"]] for pair in found["pairs"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == matrix.max()
    few = make_clouds(60, 4, 12)
    assert make_summary(LHTClassifier().fit(*few), *few)["confusions"] is None


class TestEffects:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_effects_are_those_of_the_model(self, n_classes):
        X, y = make_clouds(120, 4, n_classes)
        model = LHForestClassifier(3, random_state=0).fit(X, y)
        facts = make_summary(model, X, y)["effects"]
        effects = model.effects(X)
        assert [one["name"] for one in facts["columns"]] == [effect.column for effect in effects]
        for one, effect in zip(facts["columns"], effects, strict=True):
            assert one["labels"] == effect.labels
            wanted = effect.mean[:, 1:] if n_classes == 2 else effect.mean
            np.testing.assert_allclose(one["mean"], wanted, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(facts["importance"], model.importances(X, kind="contribution").values)

    def test_large_forests_and_tables_are_cut(self, two, monkeypatch):
        X, y = two
        model = LHForestClassifier(20, random_state=0).fit(X, y)
        n_blocks = model._model.trees.block_ptr
        monkeypatch.setattr(_trees, "_MOST_BLOCKS", int(n_blocks[7]))
        monkeypatch.setattr(_trees, "_MOST_NUMBERS", 3 * 20 * 2)
        monkeypatch.setattr(_trees, "_MOST_ROWS", 150)
        facts = make_summary(model, X, y)["effects"]
        assert (facts["n_estimators"], facts["n_rows"], len(facts["columns"])) == (7, 150, 2)
        assert len(facts["importance"]) == 5
        monkeypatch.setattr(_trees, "_MOST_BLOCKS", 1)
        assert make_summary(model, X, y)["effects"]["n_estimators"] == 1


def test_shares_of_missing_values(two):
    X, y = two
    X = np.column_stack([X, np.full(len(X), np.nan)])
    X[::10, 0] = np.nan
    facts = make_summary(LHTClassifier().fit(X, y), X, y)
    assert facts["features"]["missing"] == pytest.approx([0.1, 0, 0, 0, 0, 1])
