"""Texts of trees: ``golden.txt`` has the expected ones.

``python tests/describe/test_golden.py`` writes them again.
"""

from pathlib import Path

import numpy as np
import pytest

from lhtree import CompactLHTClassifier, LHTClassifier, export_text
from support.boosted import fit_boosted
from support.golden import read_texts, write_texts
from support.regressions import fit_regression
from support.shop import make_table

GOLDEN = Path(__file__).with_name("golden.txt")


def fit_by_hand():
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 3.0], [3.0, 0.0]]
    return LHTClassifier(gamma=1, normalize=None).fit(X, [0, 0, 1, 1])


def fit_deeper():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [4.0, 0.0], [5.0, 1.0]])
    return LHTClassifier(gamma=1, normalize=None).fit(X, ["no", "no", "yes", "no", "yes", "yes"])


def fit_grid():
    X = np.array([[x, y] for x in range(10) for y in range(10)], dtype=float)
    return CompactLHTClassifier().fit(X, X[:, 0] + X[:, 1] > 9)


def fit_shop():
    frame = make_table(120)
    X, y = frame.drop(columns="y"), np.where(frame["weight"] > 8, "heavy", frame["y"])
    return CompactLHTClassifier(penalty=0.1, max_leaf_nodes=5, missing_indicator=True).fit(X, y)


TEXTS = {
    "tree": lambda: export_text(fit_by_hand()),
    "tree with its branches": lambda: export_text(fit_deeper()),
    "tree folded at the root": lambda: export_text(fit_deeper(), max_depth=0),
    "tree without weights": lambda: export_text(fit_deeper(), n_features=0),
    "round of boosting": lambda: export_text(fit_boosted("adult")[0], tree=2),
    "round with linear leaves": lambda: export_text(fit_boosted("adult linear")[0], tree=1, n_features=2),
    "regression tree": lambda: export_text(fit_regression("tree")[0]),
    "compact tree": lambda: export_text(fit_grid()),
    "rules": lambda: str(fit_grid().rules()),
    "Python": lambda: fit_grid().rules().to_python(),
    "spreadsheet": lambda: fit_grid().rules().to_excel(),
    "compact tree with categories": lambda: export_text(fit_shop()),
    "rules with categories": lambda: str(fit_shop().rules()),
    "Python with categories": lambda: fit_shop().rules().to_python(),
    "spreadsheet with categories": lambda: fit_shop().rules().to_excel(),
}


@pytest.mark.parametrize("title", TEXTS)
def test_text(title):
    assert TEXTS[title]() == read_texts(GOLDEN)[title]


def test_golden_file_has_no_other_texts():
    assert list(read_texts(GOLDEN)) == list(TEXTS)


if __name__ == "__main__":
    write_texts(GOLDEN, TEXTS)
