"""Models of the nine data sets stay the same to the bit: hashes of their arrays and scores, committed.

``LHTREE_DATA=folder python tests/core/test_hashes.py`` writes them anew, for a change that is meant to change models.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

from lhtree import AdditiveLHTClassifier, LHBoostClassifier, LHForestClassifier, LHTClassifier

HASHES = Path(__file__).parents[1] / "models" / "hashes.json"
DATA = os.environ.get("LHTREE_DATA", "")
SETS = ("wine", "seeds", "wdbc", "banknote", "rice", "spambase", "eeg_eye_state", "magic", "skin")
BUNDLED = {"wine": datasets.load_wine, "wdbc": datasets.load_breast_cancer}  # with scikit-learn
DIRECTIONS = ("mean_difference", "fisher", "mixed")
# Arrays that all trees have; the others have a default.
ARRAYS = (
    *("target", "block_ptr", "left", "n_samples", "weight", "n_target", "offset", "intercept"),
    *("hyperplane_ptr", "hyperplane_feature", "hyperplane_weight"),
    *("membership_ptr", "membership_feature", "membership_slope"),
)
VALUES = ("value_ptr", "value_class", "value")  # of trees of all classes
SCORES = ("predict_proba", "predict_wolf", "predict_membership", "predict_confidence", "apply")
BOOSTED_SCORES = ("predict_proba", "decision_function", "apply")


def digest(arrays):
    sha256 = hashlib.sha256()
    for values in arrays:
        sha256.update(str((values.dtype.str, values.shape)).encode())
        sha256.update(np.ascontiguousarray(values).tobytes())
    return sha256.hexdigest()[:32]


def fit_models(X, y):
    """A tree and a small forest in every direction, and one of each with other memberships, weights and gaps."""
    few = 2 if len(X) > 100_000 else 5
    for direction in DIRECTIONS:
        leaf = {} if direction == "mean_difference" else {"min_samples_leaf": 1}
        yield f"tree {direction}", LHTClassifier(direction=direction, **leaf).fit(X, y)
        forest = LHForestClassifier(
            few, direction=direction, random_state=7, multi_class="one_per_class", **leaf
        )
        yield f"forest {direction}", forest.fit(X, y)
    weight, gaps = np.arange(len(X)) % 4, X.copy()
    gaps[::7, 0] = np.nan
    if len(set(y)) > 2:
        forest = LHForestClassifier(
            few, direction="mixed", multi_class="one_tree", missing_indicator=False, random_state=7
        )
        yield "forest of all classes", forest.fit(X, y)
        forest.set_params(bootstrap=True, confidence="last", class_weight="balanced_subsample")
        yield "forest of all classes weighted", forest.fit(gaps, y, sample_weight=weight)
    tree = LHTClassifier(gamma=20, membership="least_squares", confidence="path", class_weight="balanced")
    yield "tree weighted", tree.fit(gaps, y, sample_weight=weight)
    settings = {"direction": "fisher", "bootstrap": True, "confidence": "last", "min_samples_leaf": 1}
    settings["missing_indicator"] = False
    forest = LHForestClassifier(3, random_state=3, **settings)
    yield "forest weighted", forest.fit(gaps, y, sample_weight=weight)
    yield "tree chosen", LHTClassifier(direction="mixed").fit(X, y)
    yield (
        "forest chosen",
        LHForestClassifier(few, direction="mixed", random_state=7).fit(gaps, y, sample_weight=weight),
    )
    for growth, title in (("free", "boosted"), ("symmetric", "boosted symmetric")):
        kinds = {"": "one_per_class"} | ({" of all classes": "one_tree"} if len(set(y)) > 2 else {})
        for kind, how in kinds.items():
            boosted = LHBoostClassifier(2 * few, growth=growth, multi_class=how, random_state=7)
            yield f"{title}{kind}", boosted.fit(X, y)
            boosted.set_params(max_iter=few, random_state=3, class_weight="balanced")
            yield f"{title}{kind} weighted", boosted.fit(gaps, y, sample_weight=weight)
        boosted = LHBoostClassifier(few, growth=growth, leaf="linear", random_state=5)
        yield f"{title} linear", boosted.fit(gaps, y)
    additive = AdditiveLHTClassifier(6, max_iter=4 * few, n_bags=3, random_state=7)
    yield "additive", additive.fit(X, y)
    yield "additive weighted", additive.set_params(max_steps=8).fit(gaps, y, sample_weight=weight)
    if len(X) < 5_000:
        yield "boosted raced", LHBoostClassifier(40, random_state=7).fit(gaps, y, sample_weight=weight)


def load(name):
    """Features and classes of a data set: from scikit-learn, or a CSV whose last column has the class."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    cells = np.loadtxt(Path(DATA) / f"{name}.csv.gz", dtype=str, delimiter=",", skiprows=1)
    return cells[:, :-1].astype(np.float64), np.unique(cells[:, -1], return_inverse=True)[1]


def hash_models(name):
    X, y = load(name)
    hashes = {}
    for title, model in fit_models(X, y):
        hashes[title] = {
            "arrays": digest(
                getattr(model._model.trees, array)
                for array in ARRAYS + (VALUES if model._model.head.shares_classes else ())
            ),
            "scores": digest(
                getattr(model, score)(X)
                for score in (BOOSTED_SCORES if model._model.head.adds_rounds else SCORES)
            ),
        }
    return hashes


@pytest.mark.parametrize("name", SETS)
def test_models_are_the_same_to_the_bit(name):
    if not DATA and name not in BUNDLED:
        pytest.skip("LHTREE_DATA names no folder")
    assert hash_models(name) == json.loads(HASHES.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    HASHES.write_text(
        json.dumps({name: hash_models(name) for name in SETS}, indent=1) + "\n", encoding="utf-8"
    )
