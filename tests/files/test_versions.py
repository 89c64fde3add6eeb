"""Models saved in every version of the format load for ever and predict what they predicted.

``python tests/files/test_versions.py`` writes those of the present version, if they are not there.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, inspect, load, load_scorer, save
from lhtree.files.upgrades import VERSION

MODELS = Path(__file__).parents[1] / "models"
METHODS = ("predict_proba", "predict_wolf", "predict_membership", "predict_confidence", "apply", "predict")
BOOSTED = ("predict_proba", "decision_function", "predict")
FILES = sorted(MODELS.glob("*.lht"))


def rows():
    """Numbers that no change of a generator can change; a missing one among them."""
    X = np.array([[(7 * i * i + 3 * i * j + j) % 23 / 4 for j in range(4)] for i in range(60)])
    X[5, 1] = np.nan
    return X


def columns(X, is_table):
    """The rows as the model takes them: with a column of categories, or as they are."""
    if not is_table:
        return X
    table = X.astype(object)
    table[:, 3] = np.array(["red", "green", "blue"], dtype=object)[np.arange(len(X)) % 3]
    table[7, 3] = None
    return table


def asked(model, X, methods):
    """What a model says, in a form that JSON keeps to the last bit."""
    answers = {}
    for method in methods:
        values = getattr(model, method)(X)
        answers[method] = [
            value.hex() if isinstance(value, float) else value for value in values.ravel().tolist()
        ]
    return answers


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_predicts_what_it_predicted(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = load(path)
    X = columns(rows(), is_table=expected["is_table"])
    answers = expected["answers"]
    assert asked(model, X, answers) == asked(load_scorer(path), X, answers) == answers
    assert type(model).__name__ == expected["estimator"] == inspect(path)["estimator"]
    assert model.classes_.tolist() == expected["classes"]
    assert len(model.explain(X[3]).to_dict()) > 3


def test_every_version_is_there():
    versions = {int(path.name.split("-")[1]) for path in FILES}
    assert versions == set(range(1, VERSION[0] + 1))
    assert {path.stem.partition("-")[2].partition("-")[2] for path in FILES} >= {
        "tree",
        "forest",
        "categories",
        "boosted",
    }


def write():
    """Write the models of the present version."""
    X = rows()
    y = np.nan_to_num(X).sum(axis=1).astype(int) % 3
    words = np.array(["lëft", "middle", "right"])[y]
    models = {
        "tree": LHTClassifier(gamma=3, keep_prototypes=9, random_state=0).fit(X, words),
        "forest": LHForestClassifier(
            3, direction="mixed", max_samples=0.7, oob_score=True, class_weight={0: 2.0}, random_state=0
        ).fit(X, y),
        "pair": LHForestClassifier(3, random_state=0).fit(X, y > 0),
        "categories": LHTClassifier(gamma=3, categorical_features=[3]).fit(columns(X, is_table=True), words),
        "boosted": LHBoostClassifier(4, min_samples_leaf=5, early_stopping=True, random_state=0).fit(
            X, words
        ),
    }
    for name, model in models.items():
        path = MODELS / f"version-{VERSION[0]}-{name}.lht"
        if path.exists():
            continue
        save(model, path, metadata={"written by": "tests/files/test_versions.py"})
        is_table = name == "categories"
        told = {
            "estimator": type(model).__name__,
            "classes": model.classes_.tolist(),
            "is_table": is_table,
            "answers": asked(model, columns(X, is_table=is_table), BOOSTED if name == "boosted" else METHODS),
        }
        path.with_suffix(".json").write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    write()
