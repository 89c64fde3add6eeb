"""Warnings of reports; warnings.json has their exact texts (``python tests/reports/test_warnings.py`` writes it)."""

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

GOLDEN = Path(__file__).with_name("warnings.json")
sys.path.insert(0, str(Path(__file__).parents[1]))

import lhtree  # noqa: E402
from lhtree.reports import _warnings  # noqa: E402
from lhtree.reports._warnings import correlate, is_numbering  # noqa: E402
from support.clouds import make_clouds  # noqa: E402
from support.reports import HOSTILE, make_summary  # noqa: E402


def draw():
    return np.random.default_rng(0)


def plain():
    X, y = make_clouds(400, 4, 2, seed=1)
    model = lhtree.LHTClassifier(gamma=50, min_samples_leaf=10).fit(X[:200], y[:200])
    return model, X[:200], y[:200], (X[200:], y[200:])


def few_rows():
    X, y = make_clouds(99, 4, 2)
    y = np.where(np.arange(99) < 5, 2, y)
    return lhtree.LHTClassifier().fit(X, y), X, y


def imbalance():
    X, y = make_clouds(1000, 3, 10)
    y = (y == 0).astype(int)
    return lhtree.LHTClassifier().fit(X, y), X, y


def constant_and_missing():
    X, y = make_clouds(200, 5, 2)
    X = np.column_stack([X, np.ones(len(X)), np.full(len(X), np.nan), X[:, 0]])
    X[::10, 0] = np.nan
    return lhtree.LHTClassifier().fit(X, y), X, y


def ids():
    X, y = make_clouds(200, 5, 2)
    frame, generator = pd.DataFrame(X), draw()
    frame["number"] = generator.permutation(len(X)) * 3
    frame["order"] = np.arange(len(X)) ** 3
    frame["year"] = generator.integers(1900, 2020, len(X))
    frame["amount"] = np.round(1e6 * generator.random(len(X)))
    frame["code"] = [f"{i:04x}" for i in range(len(X))]
    frame.columns = frame.columns.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model ignores the column "code"
        return lhtree.LHTClassifier().fit(frame, y), frame, y


def leak():
    X, y = make_clouds(200, 5, 3)
    X = np.column_stack([X, (y != 1) + 0.1 * draw().random(len(y))])
    return lhtree.LHTClassifier().fit(X, y), X, y


def tiny_leaves():
    X, y = make_clouds(200, 5, 2)
    return lhtree.LHTClassifier(gamma=1).fit(X, y), X, y


def forest_with_tiny_leaves():
    X, y = make_clouds(200, 5, 2)
    return lhtree.LHForestClassifier(n_estimators=3, gamma=1, random_state=0).fit(X, y), X, y


def noise(model, n_copies=0):
    generator = draw()
    X, y = generator.normal(size=(200, 3)), generator.integers(0, 2, 200)
    fresh = generator.normal(size=(200, 3)), generator.integers(0, 2, 200)
    held_out = (np.vstack([X[:n_copies], fresh[0]]), np.append(y[:n_copies], fresh[1]))
    return model.fit(X, y), X, y, held_out


def one_class_held_out():
    X, y = make_clouds(200, 3, 2)
    shifted = X[y == 0] + 50 * (X[y == 1] - X[y == 0])
    return lhtree.LHTClassifier().fit(X, y), X, y, (shifted, y[y == 0])


def hostile_names():
    X, y = make_clouds(200, 12, 2)
    X[:] = 1.0
    X[:, 11] = y
    frame = pd.DataFrame(X, columns=[*HOSTILE[:-2], "ten", "eleven"])
    return lhtree.LHTClassifier().fit(frame, y), frame, y


def long_names():
    X, y = make_clouds(200, 5, 3)
    X = np.column_stack([X, 10.0 * (y == 1)])
    X[::3, 0] = np.nan
    frame = pd.DataFrame(X, columns=[f"{'long ' * 12}{n}" for n in range(X.shape[1])])
    y = np.array([f"{'class ' * 10}{code}" for code in y])
    return lhtree.LHTClassifier().fit(frame, y), frame, y


def boosted():
    X, _ = make_clouds(200, 5, 2)
    X[::5, 1] = np.nan
    y = (np.arange(200) % 11 == 0).astype(int)
    return lhtree.LHBoostClassifier(3, random_state=0).fit(X, y), X, y


def additive():
    X, y = make_clouds(200, 3, 2)
    X[::5, 1] = np.nan
    return lhtree.AdditiveLHTClassifier(0, n_bags=2, max_iter=20, random_state=0).fit(X, y), X, y


def regression(model):
    X, _ = make_clouds(200, 3, 2)
    y = np.maximum(50.0 + 10.0 * X[:, 0] - 6.0 * np.abs(X[:, 1]), 1.0)
    X = np.column_stack([X, y**3])
    return model.fit(X, y), X, y, (X, np.random.default_rng(1).permutation(y))


SCENARIOS = {
    "plain": plain,
    "few rows": few_rows,
    "imbalance": imbalance,
    "constant and missing": constant_and_missing,
    "ids": ids,
    "leak": leak,
    "tiny leaves": tiny_leaves,
    "forest with tiny leaves": forest_with_tiny_leaves,
    "gap": lambda: noise(lhtree.LHTClassifier(gamma=1)),
    "gap of a compact tree": lambda: noise(lhtree.CompactLHTClassifier(penalty=0.01)),
    "gap of a boosted model": lambda: noise(lhtree.LHBoostClassifier(50, learning_rate=0.5, random_state=0)),
    "copies": lambda: noise(lhtree.LHTClassifier(gamma=1), 7),
    "one copy": lambda: noise(lhtree.LHTClassifier(gamma=1), 1),
    "one class held out": one_class_held_out,
    "hostile names": hostile_names,
    "long names": long_names,
    "boosted": boosted,
    "additive": additive,
    "regression": lambda: regression(lhtree.LHForestRegressor(10, random_state=0)),
    "quantile": lambda: regression(
        lhtree.LHBoostRegressor("quantile", quantile=0.9, max_iter=30, random_state=0)
    ),
}


def collect(name):
    """Return the texts of a scenario by kind."""
    return {one["kind"]: one["text"] for one in make_summary(*SCENARIOS[name]())["warnings"]}


@pytest.mark.parametrize("name", SCENARIOS)
def test_texts_are_those_of_the_golden_file(name):
    assert collect(name) == json.loads(GOLDEN.read_text(encoding="utf-8"))[name]


def test_golden_file_has_every_kind():
    kinds = {kind for texts in json.loads(GOLDEN.read_text(encoding="utf-8")).values() for kind in texts}
    source = Path(_warnings.__file__).read_text(encoding="utf-8")
    assert kinds == set(re.findall(r'yield _warn\(\s*"([a-z-]+)"', source))


def test_few_values_are_no_numbering():
    assert not is_numbering(np.arange(20.0))
    assert is_numbering(np.arange(40.0))


def test_rank_correlation():
    X = draw().normal(size=(50, 3))
    X[0, 2] = np.nan
    found = correlate(X, np.exp(-X[:, 0]))
    assert found[0] == pytest.approx(-1.0)
    assert abs(found[1]) < 0.5
    assert found[2] == 0.0


if __name__ == "__main__":
    texts = {name: collect(name) for name in SCENARIOS}
    GOLDEN.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
