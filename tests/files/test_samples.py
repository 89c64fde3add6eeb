"""Sample files keep loading and predict the same to the bit.

``python tests/files/test_samples.py`` writes the samples that do not exist.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import lhtree
from lhtree import inspect, load, load_scorer, save

MODELS = Path(__file__).parents[1] / "models"
WOLF = ("predict_proba", "predict_wolf", "predict_membership", "predict_confidence", "apply", "predict")
METHODS = {
    "boosted": ("predict_proba", "decision_function", "predict"),
    "compact": ("predict_proba", "apply", "predict"),
    "regression": ("predict", "apply"),
}
FILES = sorted(MODELS.glob("*.lht"))


def make_rows():
    """Return numbers that do not depend on a random generator, one of them missing."""
    X = np.array([[(7 * i * i + 3 * i * j + j) % 23 / 4 for j in range(4)] for i in range(60)])
    X[5, 1] = np.nan
    return X


def make_table(X, name):
    """Return the rows as the model takes them: with a categorical column, or unchanged."""
    if name != "categories":
        return X
    table = X.astype(object)
    table[:, 3] = np.array(["red", "green", "blue"], dtype=object)[np.arange(len(X)) % 3]
    table[7, 3] = None
    return table


def predict(model, X, methods):
    """Return predictions in a form that JSON stores without loss."""
    return {
        method: [
            value.hex() if isinstance(value, float) else value
            for value in getattr(model, method)(X).ravel().tolist()
        ]
        for method in methods
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_samples_predict_the_same_bits(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = load(path)
    X = make_table(make_rows(), path.stem)
    answers = expected["answers"]
    assert predict(model, X, answers) == predict(load_scorer(path), X, answers) == answers
    assert type(model).__name__ == expected["estimator"] == inspect(path)["estimator"]
    assert list(getattr(model, "classes_", ())) == expected["classes"]
    assert len(model.explain(X[3]).to_dict()) > 3


def test_all_samples_exist():
    names = {"tree", "forest", "pair", "categories", "boosted", "compact", "regression"}
    assert {path.stem for path in FILES} == names


def write():
    """Write the samples."""
    X = make_rows()
    response = np.nan_to_num(X).sum(axis=1)
    y = response.astype(int) % 3
    words = np.array(["lëft", "middle", "right"])[y]
    table = make_table(X, "categories")
    forest = lhtree.LHForestClassifier(
        3, direction="mixed", max_samples=0.7, oob_score=True, class_weight={0: 2.0}, random_state=0
    )
    boosted = lhtree.LHBoostClassifier(4, min_samples_leaf=5, early_stopping=True, random_state=0)
    tree = lhtree.LHTClassifier(gamma=3, categorical_features=[3], random_state=0)
    models = {
        "tree": lhtree.LHTClassifier(gamma=3, keep_prototypes=9, random_state=0).fit(X, words),
        "forest": forest.fit(X, y),
        "pair": lhtree.LHForestClassifier(3, random_state=0).fit(X, y > 0),
        "categories": tree.fit(table, words),
        "boosted": boosted.fit(X, words),
        "compact": lhtree.CompactLHTClassifier(random_state=0).fit(X, words),
        "regression": lhtree.LHForestRegressor(3, oob_score=True, random_state=0).fit(X, response),
    }
    for name, model in models.items():
        path = MODELS / f"{name}.lht"
        if path.exists():
            continue
        save(model, path, metadata={"written by": "tests/files/test_samples.py"})
        facts = {
            "estimator": type(model).__name__,
            "classes": getattr(model, "classes_", np.array([])).tolist(),
            "answers": predict(model, make_table(X, name), METHODS.get(name, WOLF)),
        }
        path.with_suffix(".json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    write()
