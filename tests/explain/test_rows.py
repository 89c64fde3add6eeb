"""Rows in any form are explained; invalid rows and models are refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

import lhtree
from lhtree.model.model import read


def test_a_row_may_have_any_form():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = lhtree.LHTClassifier().fit(X, y)
    values = X.iloc[5].to_numpy()
    expected = model.explain(values).to_dict()
    shuffled = X.iloc[5].sample(frac=1.0, random_state=0)
    forms = [
        values.tolist(),
        values[None],
        X.iloc[[5]],
        X.iloc[5],
        shuffled,
        X.iloc[5].to_dict(),
        [X.iloc[5].to_dict()],
        pd.Series(values),
    ]
    for row in forms:
        assert model.explain(row).to_dict() == expected
    none = X.iloc[5].to_dict() | {"ash": None}
    assert math.isnan(model.explain(none).row["ash"])


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.iloc[:2],
        lambda X: X.iloc[:2].to_dict("records"),
        lambda X: X.to_numpy()[0, :12],
        lambda X: X.iloc[0].drop("ash"),
        lambda X: ["a"] * 13,
        lambda X: [np.inf] * 13,
        lambda X: X.iloc[[0]].rename(columns={"ash": "acid"}),
        lambda X: 5.0,
    ],
)
def test_rows_that_are_refused(change, rejects):
    X, y = load_wine(return_X_y=True, as_frame=True)
    rejects(lhtree.LHTClassifier().fit(X, y).explain, change(X))


HOSTILE = [
    "<script>alert('1')</script>",
    'a "quoted" name',
    "🍷 \n new\tline \x1b[31m",
    "x" * 300,
    "</td>&amp;",
    "{0} %s",
]


def test_hostile_names_are_harmless():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(60, 6)), columns=HOSTILE)
    y = np.where(X.sum(axis=1) > 0, "<img src=x onerror=alert(1)>", "fine & well")
    explanation = lhtree.LHTClassifier(keep_prototypes=True).fit(X, y).explain(X.iloc[0])
    page, text = explanation._repr_html_(), str(explanation)
    assert not [bad for bad in ("<script", "<img", "</td>&amp;", "x" * 61) if bad in page]
    assert "&lt;script&gt;" in page
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 600
    assert list(explanation.row) == HOSTILE
    json.dumps(explanation.to_dict())


def test_only_fitted_models_are_read(rejects):
    rejects(read, {})
    with pytest.raises(NotFittedError):
        lhtree.LHTClassifier().explain([1.0])
    with pytest.raises(NotFittedError):
        lhtree.LHForestClassifier().explain_batch([[1.0]])


def test_a_deep_tree_is_explained_without_recursion():
    # Every cut takes one row off: the classes alternate along the only feature, ever wider apart.
    X = 1.02 ** np.arange(1200.0)[:, None]
    model = lhtree.LHTClassifier(gamma=1, min_samples_split=2, normalize=None).fit(X, np.arange(1200) % 2)
    row = X[model.decision_path(X)[0].sum(axis=1).argmax()]
    explanation = model.explain(row)
    assert len(explanation.paths[0].steps) > 200
    assert explanation.to_dict()
    assert explanation._repr_html_()


def test_dates_as_classes_are_fit_for_json():
    X, y = load_wine(return_X_y=True)
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[D]")[y]
    explanation = lhtree.LHTClassifier(keep_prototypes=True).fit(X, days).explain(X[0])
    facts = json.loads(json.dumps(explanation.to_dict()))
    assert facts["prediction"] == "2020-01-01"
    assert list(facts["proba"]) == facts["classes"] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert json.loads(json.dumps(explanation.counterfactuals(n=1)[0].to_dict()))["before"] == "2020-01-01"


@pytest.mark.parametrize("index", ["a", 1.0, None, True])
def test_a_tree_of_a_forest_has_a_number(index, rejects):
    X, y = load_wine(return_X_y=True)
    rejects(lhtree.LHForestClassifier(2).fit(X, y).explain(X[0]).tree, index)


def test_rounding_takes_no_value_out_of_the_training_range():
    X = np.array([[0.1], [0.3], [0.7], [0.9]], dtype=np.float32)
    model = lhtree.LHTClassifier(gamma=1).fit(X, [0, 0, 1, 1])
    assert not any("outside" in str(model.explain([value])) for value in (0.1, 0.9))
    assert "outside the training range" in str(model.explain([0.91]))


def test_the_shape_of_refused_rows_is_that_of_the_table(rejects):
    X = pd.DataFrame({"colour": ["red", "green", "blue"] * 10, "size": np.arange(30.0)})
    model = lhtree.LHTClassifier().fit(X, np.arange(30) % 2)
    rejects(model.explain, X.iloc[:3])


@pytest.mark.parametrize("kind", ["missing in all rows", "rows without weight", "constant"])
@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHTClassifier(),
        lhtree.LHForestClassifier(3, random_state=0),
        lhtree.LHBoostClassifier(3),
        lhtree.CompactLHTClassifier(),
        lhtree.LHTRegressor(),
        lhtree.LHBoostRegressor(max_iter=3),
        lhtree.CompactLHTRegressor(),
        lhtree.AdditiveLHTClassifier(max_iter=3, n_bags=2),
        lhtree.LHEnsembleRegressor(max_iter=3, random_state=0),
    ],
    ids=str,
)
def test_columns_without_a_known_category_are_explained(model, kind):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": generator.normal(size=40), "c": pd.Categorical([None] * 40, categories=["u", "v"])}
    )
    weight = np.ones(40)
    if kind == "rows without weight":
        X.loc[:3, "c"], weight[:4] = "u", 0.0
    if kind == "constant":
        X["c"] = "u"
    model = model.fit(X, (X["a"] > 0).astype(int), weight)
    explanation = model.explain(X.iloc[0])
    assert explanation.row["c"] == ("u" if kind == "constant" else None)
    assert str(explanation)
    assert explanation._repr_html_()
    explanation.counterfactuals(to=None if explanation.classes else (None, explanation.prediction - 1e-3))
    assert (model.explain_batch(X)["contribution.c"] == 0.0).all()
    assert [effect.column for effect in model.effects(X)] == (["a", "c"] if kind == "constant" else ["a"])
