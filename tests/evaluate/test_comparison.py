"""The comparison of ``lhtree bench``."""

import numpy as np
import pytest

from lhtree.evaluation import evaluate
from lhtree.selection.comparison import PEERS, Peer, compare, encode
from lhtree.selection.folds import split_folds
from support.fresh import run
from support.shop import make_table

pd = pytest.importorskip("pandas")


@pytest.fixture
def task():
    frame = make_table(150)
    y = frame.pop("y").to_numpy(dtype=object)
    return frame, y, split_folds(y, 3, 0)


def test_models_are_measured_on_the_rows_of_all_folds(task):
    X, y, splits = task
    heard = []
    results = compare(["tree", "cart"], *task, 0, lambda *news: heard.append(news))
    assert [result.name for result in results] == ["tree", "cart"]
    assert heard[:4] == [("lhtree: tree", 0), ("lhtree: tree", 1), ("lhtree: tree", 2), ("CART", 3)]
    n_right = losses = 0.0
    for train, test in splits:
        model = PEERS["tree"].build(0).fit(X.iloc[train], y[train])
        by_hand = evaluate(model, X.iloc[test], y[test])
        n_right, losses = n_right + by_hand.confusion.trace(), losses + len(test) * by_hand.log_loss
    assert results[0].measured.n_rows == 150
    assert results[0].measured.accuracy == pytest.approx(n_right / 150)
    assert results[0].measured.log_loss == pytest.approx(losses / 150)
    assert all(result.fit_seconds > 0 and result.row_seconds > 0 for result in results)


def test_features():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    assert np.array_equal(encode(frame), [[1.0, 1.0], [np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(encode(frame[["a"]]), [[1.0], [np.nan]], equal_nan=True)


def test_a_failure_is_reported_and_the_others_go_on(task, monkeypatch):
    def build(seed):
        raise ValueError("no such luck\nat all")

    monkeypatch.setitem(PEERS, "unlucky", Peer("unlucky", "sklearn", build))
    unlucky, tree = compare(["unlucky", "tree"], *task, 0)
    assert (unlucky.measured, unlucky.failure) == (None, "no such luck")
    assert tree.measured is not None


def test_errors_of_other_libraries_are_reported_too(task, monkeypatch):
    catboost = pytest.importorskip("catboost")
    peer = PEERS["catboost"]
    wrong = peer._replace(build=lambda seed: peer.build(seed).set_params(depth=99))
    monkeypatch.setitem(PEERS, "catboost", wrong)
    (result,) = compare(["catboost"], *task, 0)
    assert catboost.CatBoostError in peer.errors()
    assert "depth" in result.failure


@pytest.mark.parametrize("name", [name for name in PEERS if PEERS[name].is_there])
def test_every_model_takes_categories_missing_values_and_rare_classes(name, monkeypatch):
    monkeypatch.setattr("lhtree.selection.comparison._ROW_SECONDS", 0.0)
    frame = make_table(90)
    y = frame.pop("y").to_numpy(dtype=object)
    y[0] = "lost"  # in one fold only: it was not trained on there
    if name == "catboost":
        peer = PEERS[name]
        monkeypatch.setitem(
            PEERS, name, peer._replace(build=lambda seed: peer.build(seed).set_params(iterations=5))
        )
    (result,) = compare([name], frame, y, split_folds(y, 3, 0), 0)
    assert result.failure is None
    assert result.measured.accuracy > 0.5


def test_one_thread_although_a_model_brings_its_own():
    """In a fresh interpreter, where the package of the model and its threads are loaded by the comparison."""
    code = """
import numpy as np, threadpoolctl
from lhtree.selection import comparison
from lhtree.selection.folds import split_folds

seen = []
peer = comparison.PEERS["hist_gb"]

def build(seed):
    model = peer.build(seed)
    class Watched(type(model)):
        def fit(self, X, y):
            seen.extend((pool["internal_api"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info())
            return super().fit(X, y)
    return Watched(max_iter=2)

import pandas as pd
comparison.PEERS["hist_gb"] = peer._replace(build=build)
y = np.arange(60) % 2
(result,) = comparison.compare(["hist_gb"], pd.DataFrame({"a": np.arange(60.0)}), y, split_folds(y, 2, 0), 0)
assert result.failure is None, result.failure
print(*sorted({n for api, n in seen if api == "openmp"}))
"""
    assert run(f"import os; os.environ['OMP_NUM_THREADS'] = '2'\n{code}") == "1"
