"""The page predicts as the model does."""

import numpy as np
import pytest

from lhtree import CompactLHTClassifier, LHBoostClassifier, LHForestClassifier, LHTClassifier
from support.browser import PREDICT, as_json, make_rows
from support.clouds import make_clouds

MODELS = {
    "paper tree": LHTClassifier(),
    "small gamma": LHTClassifier(gamma=1, beta=0.4),
    "mixed tree": LHTClassifier(direction="mixed"),
    "fisher, path": LHTClassifier(direction="fisher", confidence="path", membership="least_squares"),
    "no confidence": LHTClassifier(confidence=None, membership="least_squares", gamma=40),
    "minmax": LHTClassifier(normalize="minmax", class_weight="balanced"),
    "as it is": LHTClassifier(normalize=None, membership="constant"),
    "a leaf": LHTClassifier(gamma=1000),
    "compact": CompactLHTClassifier(penalty=0.3),
    "paper forest": LHForestClassifier(n_estimators=20, random_state=0),
    "boosted": LHBoostClassifier(15, learning_rate=0.3, min_samples_leaf=5, random_state=0),
    "boosted, single": LHBoostClassifier(8, direction="single", class_weight="balanced", random_state=0),
    "sigmoid": LHBoostClassifier(8, calibrate="sigmoid", random_state=0),
    "isotonic": LHForestClassifier(
        5, direction="mixed", calibrate="isotonic", missing_indicator=False, random_state=0
    ),
    "boosted, linear": LHBoostClassifier(
        8, learning_rate=0.3, min_samples_leaf=5, leaf="linear", random_state=0
    ),
    "mixed forest": LHForestClassifier(n_estimators=20, direction="mixed", confidence="path", random_state=0),
}
CONTRIBUTE = """([row, cls]) => {
    const { base, byFeature, clipped = 0 } = lhtree.contributions(row, cls);
    return [base, ...byFeature, clipped];
}"""


class TestPrediction:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("name", MODELS)
    def test_the_page_predicts_as_the_model_does(self, open_report, name, n_classes):
        X, y = make_clouds(200, 11, n_classes)
        X[::9, 3] = np.nan
        model = MODELS[name].fit(X, y)
        page = open_report(model, X, y)
        rows = make_rows(X)
        found = page.evaluate(PREDICT, as_json(model._read().encode(rows)))  # with indicators of gaps
        is_boosted = isinstance(model, LHBoostClassifier)
        own = ("wolf", "membership", "confidence") if hasattr(model, "predict_wolf") else ()
        for method in ("proba", *own):
            said = np.array([each[method] for each in found])
            assert np.abs(said - getattr(model, f"predict_{method}")(rows)).max() <= 1e-12, method
        if is_boosted:
            raw = np.array([each["rawScore"] for each in found])
            assert (
                np.abs((raw[:, 1] if n_classes == 2 else raw) - model.decision_function(rows)).max() <= 1e-12
            )
        assert [each["prediction"] for each in found] == model.predict(rows).tolist()
        assert float(page.locator("#agreement").get_attribute("data-largest")) <= 1e-12

    def test_rows_without_any_score_fall_back(self, open_report):
        X, y = make_clouds(300, 4, 3, seed=3)
        model = LHTClassifier(gamma=1).fit(X, y)
        rows = np.random.default_rng(0).normal(scale=3.0, size=(3000, 4))
        is_zero = ~model.predict_wolf(rows).any(axis=1)
        assert is_zero.any()
        page = open_report(model, X, y)
        found = page.evaluate(PREDICT, as_json(rows[is_zero]))
        assert all(each["fallback"] for each in found)
        assert np.abs([each["proba"] for each in found] - model.predict_proba(rows[is_zero])).max() <= 1e-12

    @pytest.mark.parametrize(
        ("name", "n_classes"),
        [
            ("compact", 2),  # of more classes, the page shows the tree once for each
            *(
                (name, n_classes)
                for name in ("paper tree", "mixed tree", "paper forest", "boosted", "boosted, linear")
                for n_classes in (2, 3)
            ),
        ],
    )
    def test_contributions_and_ways_are_those_of_the_explanation(self, open_report, name, n_classes):
        X, y = make_clouds(200, 5, n_classes)
        model = MODELS[name].fit(X, y)
        page = open_report(model, X, y)
        for row in make_rows(X)[[0, 7, 120, 200]]:
            explanation = model.explain(row)
            walks = page.evaluate("row => lhtree.predict(row).walks", as_json([row])[0])
            for walk, path in zip(walks, explanation.paths, strict=True):
                assert [step["block"] for step in walk["steps"]] == [step.block for step in path.steps]
                assert [step["side"] for step in walk["steps"]] == [step.side for step in path.steps]
                assert [step["y"] for step in walk["steps"]] == pytest.approx([step.y for step in path.steps])
                assert walk["leaf"] == path.leaf.block
                if name.startswith("boosted"):
                    assert walk["membership"] == pytest.approx(path.leaf.added, abs=1e-12)
                    continue
                assert walk["estimate"] == pytest.approx(path.leaf.estimate, abs=1e-9)
                assert walk["confidence"] == pytest.approx(path.leaf.confidence, abs=1e-12)
            for cls, label in enumerate(model.classes_):
                found = page.evaluate(
                    CONTRIBUTE,
                    [as_json([row])[0], cls],
                )
                clipped = explanation.clipped[label] if name.startswith("boosted") else 0.0
                wanted = [explanation.base[label], *explanation.contributions[label].values(), clipped]
                assert found == pytest.approx(wanted, abs=1e-9)
