import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from lhtree import LHForestClassifier, LHTClassifier, export_text, weight_table

X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [4.0, 0.0], [5.0, 1.0]])
y = np.array(["no", "no", "yes", "no", "yes", "yes"])


@pytest.fixture
def model() -> LHTClassifier:
    return LHTClassifier(gamma=1, normalize=None).fit(X, y)


def test_heaviest_features_come_first() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    model = LHTClassifier(max_depth=1).fit(X, X @ [1.0, -3.0, 0.5, 2.0, 0.0, 0.0] > 0.0)
    root = export_text(model, n_features=2).splitlines()[1]
    weights = model.trees_[0].weights(0)
    first, second, *_ = sorted(weights, key=lambda name: -abs(weights[name]))
    assert root.endswith(f"{first} {weights[first]:+.2f}, {second} {weights[second]:+.2f}, 4 more")


def test_all_trees_or_one() -> None:
    X, y = np.arange(30.0).reshape(-1, 1), np.repeat(["a", "b", "c"], 10)
    model = LHTClassifier().fit(X, y)
    texts = [export_text(model, tree=tree) for tree in range(3)]
    assert export_text(model) == "\n\n".join(texts)
    assert texts[2].startswith("tree for class c:")


def test_deep_trees_need_no_recursion() -> None:
    X = np.arange(3000.0).reshape(-1, 1)
    model = LHTClassifier(gamma=1).fit(X, np.arange(3000) % 2)
    text = export_text(model, max_depth=100_000)
    assert text.count("leaf") == model.n_leaves_


@pytest.mark.parametrize(
    ("argument", "value"),
    [("tree", 1), ("tree", "yes"), ("tree", -2), ("n_features", -1), ("max_depth", 1.5), ("max_depth", True)],
)
def test_arguments_that_make_no_sense(model: LHTClassifier, argument: str, value: object, rejects) -> None:
    rejects(export_text, model, **{argument: value})


def test_trees_of_a_forest() -> None:
    model = LHForestClassifier(3, gamma=1, random_state=0).fit(X, y)
    assert export_text(model).count("tree for class yes") == 3
    assert export_text(model, tree=-1) == export_text(model.estimators_[2])


@pytest.mark.parametrize("export", [export_text, weight_table])
@pytest.mark.parametrize("make", [make_pipeline, type, str])
def test_only_models_of_lhtree_are_shown(export, make, rejects):
    model = LHTClassifier().fit(*load_wine(return_X_y=True))
    rejects(export, make(model))


@pytest.mark.parametrize("export", [export_text, weight_table])
@pytest.mark.parametrize("tree", [3, -4, 1.0, "a", True])
def test_a_tree_is_chosen_by_its_number(export, tree, rejects):
    model = LHTClassifier().fit(*load_wine(return_X_y=True))
    rejects(export, model, tree=tree)
