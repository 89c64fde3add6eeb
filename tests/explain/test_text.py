"""Texts of explanations: ``golden.txt`` has the expected ones.

``python tests/explain/test_text.py`` writes them again.
"""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lhtree
from lhtree.explain import Counterfactual
from support.boosted import fit_boosted
from support.golden import read_texts, write_texts
from support.regressions import KINDS, fit_regression

GOLDEN = Path(__file__).with_name("golden.txt")


def fit_by_hand():
    """Return a tree on one feature, minmax: centre 5, scale 5. The only cut is midway between 4 and 6, at z = 0."""
    X = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]])
    return lhtree.LHTClassifier(gamma=1, normalize="minmax").fit(X, ["a", "a", "a", "b", "b", "b"])


def explain_wine(model, row=0):
    X, y = load_wine(return_X_y=True)
    return model.fit(X, y).explain(X[row] if isinstance(row, int) else row)


def explain_root():
    return lhtree.LHTClassifier().fit([[1.0], [1.0], [1.0]], [0, 0, 1]).explain([1.0])


def explain_deep():
    X = np.arange(300.0)[:, None]
    y = np.random.default_rng(0).integers(0, 2, 300)
    model = lhtree.LHTClassifier(gamma=1, offset="gini").fit(X, y)
    return max(map(model.explain, X), key=lambda one: len(one.paths[0].steps))


def explain_undecided():
    X, y = load_wine(return_X_y=True)
    model = lhtree.LHTClassifier(gamma=30).fit(X[::2], y[::2])
    return model.explain(X[(model.predict_wolf(X) == 0).all(axis=1)][0])


def explain_sizes():
    X = np.array([[1.5e-7, 10.0, 28_600.0, 3e12], [1.5e-7, 20.0, 99_999.0, 4e12]]).repeat(5, axis=0)
    return lhtree.LHTClassifier(gamma=1, normalize="minmax").fit(X, [0] * 5 + [1] * 5).explain(X[0])


def explain_flag():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.random(200) < 0.3, generator.normal(size=200)])
    return lhtree.LHTClassifier().fit(X, X[:, 0] + X[:, 1] > 0.5).explain([1.0, 3.0])


def explain_boosted(kind, row, tree=None):
    model, X, _ = fit_boosted(kind)
    explanation = model.explain(X.iloc[row] if hasattr(X, "iloc") else X[row])
    return explanation if tree is None else explanation.tree(tree)


def explain_number(kind, tree=None):
    model, X, _ = fit_regression(kind)
    explanation = model.explain(X.iloc[int(np.argmax(X["living area"]))])
    return explanation if tree is None else explanation.tree(tree)


def change_number():
    explanation = explain_number("tree")
    return explanation.counterfactuals(n=1, to=(None, 0.8 * explanation.prediction))[0]


EXPLAINED = {
    "tree": lambda: fit_by_hand().explain([8.0]),
    "value outside of the training range": lambda: fit_by_hand().explain([17.0]),
    "class that is not the target": lambda: fit_by_hand().explain([4.4]),
    "missing value": lambda: fit_by_hand().explain([np.nan]),
    "root without splits": explain_root,
    "deep path": explain_deep,
    "WOLF values of 0": explain_undecided,
    "forest": lambda: explain_wine(lhtree.LHForestClassifier(random_state=0), 70),
    "weighted rows": lambda: explain_wine(lhtree.LHTClassifier(class_weight="balanced")),
    "values without normalisation": lambda: explain_wine(lhtree.LHTClassifier(normalize=None)),
    "only missing values": lambda: explain_wine(lhtree.LHTClassifier(), np.full(13, np.nan)),
    "neighbours": lambda: explain_wine(lhtree.LHTClassifier(keep_prototypes=True)),
    "small and large values": explain_sizes,
    "flags": explain_flag,
    "boosted": lambda: explain_boosted("adult", 3),
    "boosted, three classes": lambda: explain_boosted("clouds", 0),
    "boosted, linear leaves": lambda: explain_boosted("clouds linear", 0),
    "round of boosting": lambda: explain_boosted("adult", 0, 1),
    "round with a linear leaf": lambda: explain_boosted("clouds linear", 0, 1),
    **{f"regression, {kind}": lambda kind=kind: explain_number(kind) for kind in KINDS},
    "tree of a regression forest": lambda: explain_number("forest", 0),
    "round of a boosted regression": lambda: explain_number("gamma", 0),
    "counterfactual of a number": change_number,
    "counterfactual of names": lambda: Counterfactual({"a": 1.0}, {"a": (0.5, 1.0)}, 0.25, "yes", "no"),
    "counterfactual of classes": lambda: Counterfactual({"a": 1.0}, {"a": (0.5, 1.0)}, 0.25, 0, 1),
}
TEXTS = {title: lambda make=make: f"{make()}\n{make()!r}" for title, make in EXPLAINED.items()}


@pytest.mark.parametrize("title", EXPLAINED)
def test_text(title):
    assert TEXTS[title]() == read_texts(GOLDEN)[title]


def test_golden_file_has_no_other_texts():
    assert list(read_texts(GOLDEN)) == list(EXPLAINED)


@pytest.mark.parametrize("title", [title for title in EXPLAINED if "counterfactual" not in title])
def test_html_has_the_sentences_of_the_text(title):
    explanation = EXPLAINED[title]()
    page = explanation._repr_html_().replace("&#x27;", "'").replace("&gt;", ">").replace("&lt;", "<")
    for line in filter(None, str(explanation).splitlines()[:3]):
        assert line.strip().partition(": ")[0] in page


def test_a_row_explained_by_hand():
    explanation = fit_by_hand().explain([8.0])
    (path,) = explanation.paths
    (step,) = path.steps
    assert (path.target, step.side, step.offset, step.share) == ("b", "right", 0.0, 0.5)
    assert step.terms[0].term == step.y == pytest.approx(0.6)
    assert step.terms[0].unit_weight == pytest.approx(0.2)
    assert (path.leaf.estimate, path.leaf.n_samples) == (1.0, 3)
    assert explanation.wolf == pytest.approx({"a": 0.0, "b": 0.6})
    assert explanation.base == {"a": 0.5, "b": 0.5}
    assert explanation.contributions == {"a": {"x0": -0.5}, "b": {"x0": 0.5}}


def test_root_without_splits_has_no_steps():
    explanation = explain_root()
    assert explanation.paths[0].steps == ()
    assert explanation.paths[0].leaf.confidence == 1.0
    assert explanation.contributions[0] == {"x0": 0.0}


def test_deep_path_has_six_blocks_and_counts_the_others():
    explanation = explain_deep()
    lines = str(explanation).splitlines()
    assert sum(line.startswith("  block") for line in lines) == 6
    n_more = [int(line.split()[1]) for line in lines if line.startswith("  …")]
    assert sum(n_more) == len(explanation.paths[0].steps) - 6 > 2


def read_number(text):
    return Decimal(text.replace(",", "").replace(" ", ""))


def read_sum(explanation):
    """Return start, end and listed contributions of a text, as printed."""
    lines = str(explanation).splitlines()
    course = lines.index("") + 1
    listed = [line.rpartition(": ")[2] for line in lines[course + 1 :]]
    listed = listed[: listed.index("") if "" in listed else None]
    sentence = lines[course]
    if found := re.search(r"is (\S+) = base (\S+) ([+-] \S+) from", sentence):
        end, start, change = map(read_number, found.groups())
        assert start + change == end
    elif found := re.search(r"rows is (\S+)\. The values of this row change it by (\S+):", sentence):
        start, change = map(read_number, found.groups())
        end = read_number(re.match(r"Prediction: (\S+?)[.,]?( |$)", lines[0])[1])
    else:
        start, end = map(read_number, re.search(r"membership from (\S+) to ([\d.]+)", sentence).groups())
    return start, end, [read_number(each) for each in listed]


@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHTRegressor(),
        lhtree.LHForestRegressor(5, random_state=0),
        lhtree.LHBoostRegressor(max_iter=9, random_state=0),
        lhtree.LHBoostRegressor(max_iter=9, leaf="linear", random_state=0),
        lhtree.LHTClassifier(),
        lhtree.LHForestClassifier(5, random_state=0),
        lhtree.LHBoostClassifier(9, random_state=0),
    ],
    ids=str,
)
def test_sums_add_up_as_printed(model):
    X, y = load_wine(return_X_y=True)
    model = model.fit(X, y if hasattr(model, "predict_proba") else 7.7 * X[:, 12] + y)
    for row in X[::5]:
        start, end, listed = read_sum(model.explain(row))
        assert start + sum(listed) == end


def test_probabilities_are_never_rounded_to_one():
    X = np.arange(2000.0)[:, None]
    explanation = (
        lhtree.LHBoostClassifier(300, learning_rate=0.3, random_state=0)
        .fit(X, X[:, 0] > 999)
        .explain([1999.0])
    )
    assert 0.9995 < explanation.proba[True] < 1.0
    assert "probability over 99.9 % (class False under 0.1 %)" in str(explanation)
    assert float(repr(explanation).rpartition("proba=")[2].rstrip(")")) < 1.0


if __name__ == "__main__":
    write_texts(GOLDEN, TEXTS)
