"""scikit-learn 1.9 calls callbacks for fits and rounds of boosted models."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import lhtree
from support.clouds import make_clouds

callback = pytest.importorskip("sklearn.callback")
X, Y = make_clouds(200, 4, 2)


class Recorder:
    """A callback that records tasks and may end the fit."""

    def __init__(self, last=None):
        self.events, self.last = [], last

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.events.append(f"begin {context.task_name} {context.task_id} of {len(X)} rows")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name} {context.task_id}")
        return context.task_id == self.last


@pytest.mark.parametrize("kind", [lhtree.LHBoostClassifier, lhtree.LHBoostRegressor])
def test_rounds_are_tasks(kind):
    recorder = Recorder()
    model = kind(max_iter=3, random_state=0).set_callbacks(recorder).fit(X, Y)
    rounds = [event for i in range(3) for event in (f"begin round {i} of 200 rows", f"end round {i}")]
    assert recorder.events == ["setup", "begin fit 0 of 200 rows", *rounds, "end fit 0", "teardown"]
    plain = kind(max_iter=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_callbacks_end_a_fit():
    settings = {
        "learning_rate": 0.1,
        "max_depth": 4,
        "subsample": 1.0,
        "max_features": 1.0,
    }  # so that none races
    model = lhtree.LHBoostClassifier(50, random_state=0, **settings)
    stopped = clone(model).set_callbacks(Recorder(last=6)).fit(X, Y)
    assert stopped.n_iter_ == 7
    np.testing.assert_array_equal(
        stopped.predict_proba(X), model.set_params(max_iter=7).fit(X, Y).predict_proba(X)
    )


def test_callbacks_end_with_a_failing_fit(rejects):
    recorder = Recorder()
    rejects(lhtree.LHBoostClassifier(5, max_depth=-1).set_callbacks(recorder).fit, X, Y)
    assert not recorder.events or recorder.events[-1] == "teardown"


def test_progress_bars_and_searches(capsys):
    search = GridSearchCV(lhtree.LHBoostClassifier(3), {"max_depth": [2, 3]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert search.best_estimator_.n_iter_ == 3
    assert "GridSearchCV" in capsys.readouterr().out
