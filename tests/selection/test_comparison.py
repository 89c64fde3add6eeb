"""The comparison of ``lhtree bench``."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lhtree.evaluation import evaluate
from lhtree.selection.comparison import PEERS, Peer, compare_learners, encode
from lhtree.selection.folds import make_target
from support.fresh import run
from support.shop import make_table


@pytest.fixture
def task():
    frame = make_table(150)
    y = frame.pop("y").to_numpy(dtype=object)
    return frame, y, 3


def test_models_are_measured_on_the_rows_of_all_folds(task):
    X, y, n_folds = task
    seen = []
    results = compare_learners(["tree", "cart"], *task, 0, lambda *news: seen.append(news))
    assert [result.name for result in results] == ["tree", "cart"]
    assert seen[:4] == [("lhtree: tree", 0), ("lhtree: tree", 1), ("lhtree: tree", 2), ("CART", 3)]
    n_right = losses = 0.0
    for train, test in make_target(y).split(n_folds, 0):
        model = PEERS["tree"].build("Classifier", 0).fit(X.iloc[train], y[train])
        by_hand = evaluate(model, X.iloc[test], y[test])
        n_right, losses = n_right + by_hand.confusion.trace(), losses + len(test) * by_hand.log_loss
    assert results[0].measured.n_rows == 150
    assert results[0].measured.accuracy == pytest.approx(n_right / 150)
    assert results[0].measured.log_loss == pytest.approx(losses / 150)
    assert all(result.fit_seconds > 0 and result.row_seconds > 0 for result in results)


def test_encoding_of_features():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    assert np.array_equal(encode(frame), [[1.0, 1.0], [np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(encode(frame[["a"]]), [[1.0], [np.nan]], equal_nan=True)


def test_failure_is_reported_and_others_are_compared(task, monkeypatch):
    class Unlucky(Peer):
        def build(self, ending, seed, **others):
            raise ValueError("no such luck\nat all")

    monkeypatch.setitem(PEERS, "unlucky", Unlucky("unlucky", "sklearn"))
    unlucky, tree = compare_learners(["unlucky", "tree"], *task, 0)
    assert (unlucky.measured, unlucky.failure) == (None, "no such luck")
    assert tree.measured is not None


def test_errors_of_other_libraries_are_reported(task, monkeypatch):
    catboost = pytest.importorskip("catboost")
    peer = PEERS["catboost"]
    wrong = replace(peer, parameters=peer.parameters | {"depth": 99})
    monkeypatch.setitem(PEERS, "catboost", wrong)
    (result,) = compare_learners(["catboost"], *task, 0)
    assert catboost.CatBoostError in peer.errors()
    assert "depth" in result.failure


@pytest.mark.parametrize("name", [name for name in PEERS if PEERS[name].is_installed])
def test_every_model_accepts_categories_missing_values_and_rare_classes(name, monkeypatch):
    monkeypatch.setattr("lhtree.selection.comparison._ROW_SECONDS", 0.0)
    frame = make_table(90)
    y = frame.pop("y").to_numpy(dtype=object)
    y[0] = "lost"  # in one fold only: it was not trained on there
    if name == "catboost":
        peer = PEERS[name]
        monkeypatch.setitem(PEERS, name, replace(peer, parameters=peer.parameters | {"iterations": 5}))
    (result,) = compare_learners([name], frame, y, 3, 0)
    assert result.failure is None
    assert result.measured.accuracy > 0.5


def test_models_are_limited_to_one_thread():
    """In a fresh interpreter, where the package of the model and its threads are loaded by the comparison."""
    code = """
import numpy as np, threadpoolctl
from lhtree.selection import comparison

seen = []
peer = comparison.PEERS["hist_gb"]

class WatchedPeer(comparison.Peer):
    def build(self, ending, seed, **others):
        model = super().build(ending, seed, **others)
        class Watched(type(model)):
            def fit(self, X, y):
                seen.extend((pool["internal_api"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info())
                return super().fit(X, y)
        return Watched(max_iter=2)

import pandas as pd
comparison.PEERS["hist_gb"] = WatchedPeer(peer.title, peer.path)
y = np.arange(60) % 2
(result,) = comparison.compare_learners(["hist_gb"], pd.DataFrame({"a": np.arange(60.0)}), y, 2, 0)
assert result.failure is None, result.failure
print(*sorted({n for api, n in seen if api == "openmp"}))
"""
    assert run(f"import os; os.environ['OMP_NUM_THREADS'] = '2'\n{code}") == "1"
