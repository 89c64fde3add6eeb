"""The JavaScript of the page under Node gives the predictions and contributions of the library."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lhtree
from lhtree.explain import _text as words
from lhtree.model.records import CALIBRATORS
from support.browser import as_json, make_rows, plain
from support.calibrations import give_calibration
from support.clouds import make_clouds
from support.reports import make_summary

HERE = Path(__file__).parent
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
CLASSIFIERS = {
    "paper tree": lhtree.LHTClassifier(),
    "small gamma": lhtree.LHTClassifier(gamma=1, beta=0.4),
    "mixed tree": lhtree.LHTClassifier(direction="mixed"),
    "fisher, path": lhtree.LHTClassifier(direction="fisher", confidence="path", membership="least_squares"),
    "no confidence": lhtree.LHTClassifier(confidence=None, membership="least_squares", gamma=40),
    "minmax": lhtree.LHTClassifier(normalize="minmax", class_weight="balanced"),
    "as it is": lhtree.LHTClassifier(normalize=None, membership="constant"),
    "a leaf": lhtree.LHTClassifier(gamma=1000),
    "compact": lhtree.CompactLHTClassifier(penalty=0.3),
    "paper forest": lhtree.LHForestClassifier(n_estimators=20, random_state=0),
    "boosted": lhtree.LHBoostClassifier(15, learning_rate=0.3, min_samples_leaf=5, random_state=0),
    "boosted, single": lhtree.LHBoostClassifier(
        8, direction="single", class_weight="balanced", random_state=0
    ),
    "sigmoid": lhtree.LHBoostClassifier(8, random_state=0),
    "lines": lhtree.LHForestClassifier(5, direction="mixed", missing_indicator=False, random_state=0),
    "boosted, linear": lhtree.LHBoostClassifier(
        8, learning_rate=0.3, min_samples_leaf=5, leaf="linear", random_state=0
    ),
    "ensemble": lhtree.LHEnsembleClassifier(8, n_estimators=5, cv=2, missing_indicator=False, random_state=0),
    "mixed forest": lhtree.LHForestClassifier(
        n_estimators=20, direction="mixed", confidence="path", random_state=0
    ),
}
CURVES = {"interactions": [(0, 1), (1, 2)], "n_bags": 2, "max_iter": 40, "random_state": 0}
REGRESSORS = {
    "additive": lhtree.AdditiveLHTRegressor(**CURVES),
    "tree": lhtree.LHTRegressor(pruning=0.1, min_samples_leaf=20),
    "forest": lhtree.LHForestRegressor(5, random_state=0),
    "linear forest": lhtree.LHForestRegressor(3, membership="least_squares", max_depth=3, random_state=0),
    "compact": lhtree.CompactLHTRegressor(penalty=0.1),
    "boosted": lhtree.LHBoostRegressor(max_iter=8, random_state=0),
    "ensemble": lhtree.LHEnsembleRegressor(8, n_estimators=3, cv=2, random_state=0),
    "quantile": lhtree.LHBoostRegressor("quantile", quantile=0.9, max_iter=8, random_state=0),
    "poisson": lhtree.LHBoostRegressor("poisson", max_iter=8, random_state=0),
}


def evaluate(model, X, y, rows, shares=()):
    """Return scores, contributions and words of the page for some rows."""
    facts = json.loads(lhtree.reports.encode(make_summary(model, X, y)))
    given = json.dumps({"facts": facts, "rows": as_json(model._read().encode(rows)), "shares": list(shares)})
    done = subprocess.run(
        [NODE, HERE / "evaluate.js"],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, n_classes):
    X, y = make_clouds(200, 11, n_classes)
    X[::9, 3] = np.nan
    model, rows = CLASSIFIERS[name].fit(X, y), make_rows(X)
    if name in CALIBRATORS:
        give_calibration(model, name)
    found = evaluate(model, X, y, rows)["rows"]
    for method in (
        "proba",
        *(("wolf", "membership", "confidence") if hasattr(model, "predict_wolf") else ()),
    ):
        wanted = getattr(model, f"predict_{method}")(rows)
        assert np.abs([each[method] for each in found] - wanted).max() <= 1e-12, method
    if isinstance(model, lhtree.LHBoostClassifier):
        raw = np.array([each["rawScore"] for each in found])
        raw = raw[:, 1] if n_classes == 2 else raw
        assert np.abs(raw - model.decision_function(rows)).max() <= 1e-12
    assert [each["prediction"] for each in found] == model.predict(rows).tolist()


@needs_node
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    X, _ = make_clouds(200, 4, 2)
    X[::9, 3] = np.nan
    y = np.maximum(50.0 + 10.0 * X[:, 0] - 6.0 * np.abs(X[:, 1]), 1.0)
    model, rows = REGRESSORS[name].fit(X, y), make_rows(X)[::5]
    found = evaluate(model, X, y, rows)["rows"]
    np.testing.assert_allclose([each["value"] for each in found], model.predict(rows), rtol=1e-12)
    frame = model.explain_batch(rows)
    wanted = frame.filter(regex="^base$|^contribution|^clipped$").to_numpy()
    parts = np.array([each["contributions"][0] for each in found])
    if "clipped" not in frame:
        assert np.abs(parts[:, -1]).max() <= 1e-12
        parts = parts[:, :-1]
    else:
        wanted = np.column_stack([frame["base"], frame.filter(regex="^contribution"), frame["clipped"]])
    np.testing.assert_allclose(parts, wanted, rtol=1e-6, atol=1e-6)


@needs_node
def test_rows_without_any_score_fall_back():
    X, y = make_clouds(300, 4, 3, seed=3)
    model = lhtree.LHTClassifier(gamma=1).fit(X, y)
    rows = np.random.default_rng(0).normal(scale=3.0, size=(3000, 4))
    rows = rows[~model.predict_wolf(rows).any(axis=1)]
    found = evaluate(model, X, y, rows)["rows"]
    assert {each["fallback"] for each in found} == {"prior"}
    assert np.abs([each["proba"] for each in found] - model.predict_proba(rows)).max() <= 1e-12


@needs_node
@pytest.mark.parametrize(
    ("name", "n_classes"),
    [
        ("compact", 2),  # the page shows a tree of more classes once for each
        *(
            (name, n_classes)
            for name in ("paper tree", "mixed tree", "paper forest", "boosted", "boosted, linear")
            for n_classes in (2, 3)
        ),
    ],
)
def test_contributions_and_paths_are_those_of_explanations(name, n_classes):
    X, y = make_clouds(200, 5, n_classes)
    model, rows = CLASSIFIERS[name].fit(X, y), make_rows(X)[[0, 7, 120, 200]]
    is_boosted = name.startswith("boosted")
    for found, explanation in zip(evaluate(model, X, y, rows)["rows"], map(model.explain, rows), strict=True):
        walks = found["walks"]
        if model._model.head.shares_classes:  # the page shows a tree once for each class
            walks = walks[explanation.classes.index(explanation.prediction) :: n_classes]
        for walk, path in zip(walks, explanation.paths, strict=True):
            assert [(step["block"], step["side"]) for step in walk["steps"]] == [
                (step.block, step.side) for step in path.steps
            ]
            assert [float(step["y"]) for step in walk["steps"]] == pytest.approx(
                [step.y for step in path.steps]
            )
            assert walk["leaf"] == path.leaf.block
            if is_boosted:
                assert walk["membership"] == pytest.approx(path.leaf.added, abs=1e-12)
            else:
                assert walk["estimate"] == pytest.approx(path.leaf.estimate, abs=1e-9)
                assert walk["confidence"] == pytest.approx(path.leaf.confidence, abs=1e-12)
        for parts, label in zip(found["contributions"], model.classes_, strict=True):
            clipped = explanation.clipped[label] if is_boosted else 0.0
            wanted = [explanation.base[label], *explanation.contributions[label].values(), clipped]
            assert parts == pytest.approx(wanted, abs=1e-9)


@needs_node
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_of_curves_are_those_of_explanations(n_classes):
    X, y = make_clouds(200, 3, n_classes)
    model, rows = lhtree.AdditiveLHTClassifier(**CURVES).fit(X, y), make_rows(X)[[0, 7, 120, 200]]
    for found, explanation in zip(evaluate(model, X, y, rows)["rows"], map(model.explain, rows), strict=True):
        assert found["proba"] == pytest.approx(list(explanation.proba.values()), abs=1e-12)
        for parts, label in zip(found["contributions"], model.classes_, strict=True):
            wanted = [explanation.base[label], *explanation.contributions[label].values(), 0.0]
            assert parts == pytest.approx(wanted, abs=1e-9)


@needs_node
@pytest.mark.parametrize("normalize", ["robust", None])
def test_words_are_those_of_explanations(two, normalize):
    X, y = two
    model = lhtree.LHTClassifier(normalize=normalize).fit(3.0 * X, y)
    rows, generator = make_rows(3.0 * X)[::5], np.random.default_rng(0)
    shares = [0.0, 1e-9, 0.0004, 0.0005, 0.01, 0.5, 0.9994, 0.9997, 1 - 1e-12, 1.0]
    shares = [*shares, *(np.arange(801) / 800), *(np.arange(65) / 64), *generator.random(500)]
    found = evaluate(model, 3.0 * X, y, rows, map(float, shares))
    assert list(map(plain, found["shares"])) == list(map(words.percent, shares))
    # The page has a sentence of its own about values outside the training range.
    levels = [
        [level.partition("outside")[0].removesuffix(", ") for level in words.find_levels(each).values()]
        for each in map(model.explain, rows)
    ]
    assert [each["levels"] for each in found["rows"]] == levels
    assert any("typical" in row for row in levels) == (normalize == "robust")


@needs_node
def test_functions_of_the_page():
    done = subprocess.run(
        [NODE, "--test", HERE / "page.test.js"], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout


def test_page_has_every_link_of_the_core():
    table = re.search(
        r"^const LINKS = \{\n(.*?)^\};", lhtree.reports.bundle("model.js"), re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"^  (\w+):", table[1], re.MULTILINE)) == set(lhtree._core.LINKS) - {
        "sorted"
    }  # several outputs


def test_modules_become_one_script():
    script = lhtree.reports.bundle("main.js")
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    names = re.findall(r"^(?:function|class|const|let) (\w+)", script, re.MULTILINE)
    assert len(names) == len(set(names))
    for path in (Path(lhtree.reports.__file__).parent / "assets").glob("*.js"):
        assert path.read_text(encoding="utf-8").splitlines()[0] in script, path.name
