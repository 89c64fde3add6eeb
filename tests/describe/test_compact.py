"""What fitted compact trees print predicts, too."""

import numpy as np
import pytest

import lhtree
from support.shop import make_table

pytest.importorskip("pandas")


def fit(kind, **options):
    frame = make_table(120)
    X, y = frame.drop(columns="y"), frame["y"]
    if kind == "number":
        y = X["weight"] + np.where(X["colour"] == "red", 3.0, 0.0)
        X = X.drop(columns="weight")
        return lhtree.CompactLHTRegressor(penalty=0.1, max_leaf_nodes=5, **options).fit(X, y), X
    if kind == "three":
        y = np.where(X["weight"] > 8, "heavy", y)
    return lhtree.CompactLHTClassifier(penalty=0.1, max_leaf_nodes=5, **options).fit(X, y), X


def evaluate(rules, X):
    names = {}
    exec(rules.to_python(), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    return [names["predict"](row) for row in rows]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", {}),
        ("two", {"membership": "linear"}),
        ("two", {"digits": None}),
        ("three", {}),
        ("three", {"missing_indicator": True}),
        ("number", {}),
        ("number", {"membership": "linear"}),
    ],
)
def test_formulas_of_fitted_trees(kind, options):
    model, X = fit(kind, **options)
    assert model.n_leaves_ > 1
    assert evaluate(model.rules(), X) == model.predict(X).tolist()


def test_the_text_of_a_fitted_tree_is_stable():
    """What people read: the terms as they are, the answers, the shares, and what missing values count as."""
    X = np.array([[x, y] for x in range(10) for y in range(10)], dtype=float)
    model = lhtree.CompactLHTClassifier().fit(X, X[:, 0] + X[:, 1] > 9)
    assert lhtree.export_text(model) == (
        "compact tree: 3 blocks, 2 leaves, 2 terms\n"
        "block 0: x0 + x1 < 10\n"
        "  yes: leaf 1: class False  (probability 0.99, True 0.01; 55 rows)\n"
        "  no: leaf 2: class True  (probability 0.99, False 0.01; 45 rows)\n"
        "missing numbers count as: x0 4, x1 4"
    )
    assert [str(rule) for rule in model.rules()] == [
        "If x0 + x1 is below 10: class False (probability 0.99, 55 rows).",
        "If x0 + x1 is at least 10: class True (probability 0.99, 45 rows).",
    ]
    assert model.rules().to_excel() == '=IF(IF(A2="",4,A2)+IF(B2="",4,B2)<10,FALSE,TRUE)'


def test_statistics_of_many_categories_have_no_formula():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    shop = random.integers(0, 40, 400)
    X = pandas.DataFrame({"shop": [f"shop {n}" for n in shop]})
    model = lhtree.CompactLHTClassifier(random_state=0).fit(X, shop % 3 == 0)
    assert "mean target of shop" in lhtree.export_text(model)
    for write in (model.rules().to_python, model.rules().to_excel):
        with pytest.raises(ValueError, match="learned from the categories of 'shop', too many for a formula"):
            write()
