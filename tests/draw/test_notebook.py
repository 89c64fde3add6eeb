"""HTML of models and trees in notebooks."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator

import lhtree
from support.clouds import make_clouds
from support.fresh import loaded_after
from support.reports import HOSTILE

MODELS = [
    lhtree.LHTClassifier(),
    lhtree.LHForestClassifier(3, random_state=0),
    lhtree.LHForestClassifier(3, direction="mixed", multi_class="one_tree", random_state=0),
    lhtree.LHBoostClassifier(3, random_state=0),
    lhtree.LHTRegressor(min_samples_leaf=20),
    lhtree.LHForestRegressor(3, random_state=0),
    lhtree.LHBoostRegressor(max_iter=3, random_state=0),
]


def read_pictures(page):
    """The SVG pictures of some HTML, which are valid XML."""
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg xmlns.*?</svg>", page, re.DOTALL)]


def texts(picture):
    return ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_fitted_model_has_a_drawing(model):
    X, y = make_clouds(200, 4, 3)
    model = sklearn.clone(model).fit(X, y.astype(float) if model._is_regressor else y)
    diagram = BaseEstimator._repr_mimebundle_(model)["text/html"]
    page = model._repr_mimebundle_()["text/html"]
    strip = re.compile(r"sk-(container|estimator)-id-\d+|-id-\d+")
    assert strip.sub("", page).startswith(strip.sub("", diagram)[:2000])
    assert "lhtree-model" in model._repr_html_()
    (first, *_) = read_pictures(page)
    view = model.trees_[0]
    told = texts(first)
    first = "level 1" if model.trees_[0].levels and view.round is not None else "block 0"
    assert {"leaf 0" if view.n_blocks == 1 else first} <= set(told)
    if view.depth.max() <= 1:
        assert {
            f"{'leaf' if view.is_leaf[block] else 'block'} {block}" for block in range(view.n_blocks)
        } <= set(told)
    assert len(page) - len(diagram) < 60_000


def test_unfitted_model_has_scikit_learns_diagram():
    page = lhtree.LHTClassifier()._repr_mimebundle_()["text/html"]
    assert "sk-container" in page
    assert "lhtree" not in page.replace("lhtree.tree", "")
    with sklearn.config_context(display="text"):
        assert not hasattr(lhtree.LHTClassifier(), "_repr_html_")
        assert "text/html" not in lhtree.LHTClassifier()._repr_mimebundle_()


def test_blocks_have_counts_and_conditions():
    X, y = make_clouds(300, 3, 2)
    model = lhtree.LHTClassifier(max_depth=2).fit(X, y)
    view = model.trees_[0]
    (picture,) = read_pictures(view._repr_html_())
    told = texts(picture)
    for block in range(view.n_blocks):
        assert f"{view.n_target[block]:g} of {view.weight[block]:g}" in told
        if not view.is_leaf[block]:
            conditions = view.conditions(block)
            assert conditions.left.replace("-", "−") in told
            assert conditions.right.replace("-", "−") in told
            for weight in view.weights(block).values():
                assert f"{weight:+.2f}".replace("-", "−") in told
    width, height = (float(part) for part in picture.get("viewBox").split()[2:])
    for box in picture.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x")) + float(box.get("width")) <= width + 0.1
        assert float(box.get("y")) + float(box.get("height")) <= height + 0.1


def test_large_trees_are_folded_and_many_trees_counted():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(500, 5)), generator.integers(0, 4, 500)
    model = lhtree.LHTClassifier(gamma=1).fit(X, y)
    (picture,) = read_pictures(model.trees_[0]._repr_html_())
    assert any(re.fullmatch(r"… \d+ below", text) for text in texts(picture))
    assert float(picture.get("viewBox").split()[2]) < 1000
    assert len(read_pictures(model.trees_._repr_html_())) == 3
    assert "1 more tree<" in model.trees_._repr_html_()


def test_hostile_names_are_escaped():
    X, y = make_clouds(200, len(HOSTILE), 3)
    frame = pd.DataFrame(X, columns=pd.Index(HOSTILE, dtype=object))
    labels = np.array(["<b>bold</b>", "'quoted' & \"more\"", "\ud800"], dtype=object)[y]
    page = lhtree.LHTClassifier().fit(frame, labels).trees_._repr_html_()
    page.encode()
    assert len(read_pictures(page)) == 3
    assert "<script" not in page
    assert "<b>" not in page
    assert "onerror" not in page.replace("onerror=alert(2)&gt;", "")


def test_scorer_has_a_drawing(tmp_path):
    lhtree.save(lhtree.LHTClassifier().fit(*make_clouds(100, 3, 2)), tmp_path / "model.lht")
    (picture,) = read_pictures(lhtree.load_scorer(tmp_path / "model.lht")._repr_html_())
    assert "block 0" in texts(picture)


def test_drawing_needs_no_matplotlib():
    code = "import numpy, lhtree; X = numpy.eye(20); lhtree.LHTClassifier().fit(X, range(20))._repr_html_()"
    assert "matplotlib" not in loaded_after(code)
