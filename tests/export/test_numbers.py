"""Exported regressions predict what the model predicts, to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from lhtree import LHBoostRegressor, LHForestRegressor, LHTRegressor
from lhtree.model.heads import NUMBER_LINKS
from support.boosted import boosted_model, boosted_rows
from support.clouds import make_clouds
from support.exported import check, one_to_one, spoil, wrap

pytest.importorskip("onnxruntime")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("server")


@pytest.mark.parametrize(
    "model",
    [
        LHTRegressor(min_samples_leaf=5, pruning=0),
        LHTRegressor(direction="fisher", membership="marginal"),
        LHForestRegressor(7, random_state=0),
        LHForestRegressor(4, membership="constant", min_samples_leaf=2, random_state=0),
        LHBoostRegressor(max_iter=12, min_samples_leaf=5, random_state=0),
        LHBoostRegressor("poisson", max_iter=12, min_samples_leaf=5, random_state=0),
    ],
    ids=["tree", "fisher", "forest", "constant", "boosted", "poisson"],
)
def test_regressions(model, tmp_path):
    X, _ = make_clouds(150, 5, 3)
    y = np.abs(X[:, 0] * 3e5 + np.where(X[:, 1] > 0, X[:, 2], -X[:, 2]) * 1e5)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    check(clone(model).fit(X, y), spoil(X), tmp_path)


@pytest.mark.parametrize("n_slopes", [0, 3])
@pytest.mark.parametrize("link", NUMBER_LINKS)
def test_random_regressions(n_slopes, link, tmp_path):
    rng = np.random.default_rng(n_slopes)
    model = boosted_model(rng, 11, 0, 6, 4, max_terms=10, n_slopes=n_slopes, link=link)
    check(wrap(model), boosted_rows(rng, model, 200), tmp_path)


def test_powers_of_any_size(tmp_path):
    """From the least exponential that is not 0 to the largest that is finite."""
    model = boosted_model(np.random.default_rng(0), 1, 0, 1, 1, n_slopes=1, clip=1e30, link="log")
    trees, n_blocks = model.trees, model.trees.n_blocks
    ends = {"low": np.full(n_blocks, -1e4), "high": np.full(n_blocks, 709.7)}
    trees = replace(trees, intercept=np.zeros(n_blocks), membership_slope=np.ones(2), **ends)
    model = replace(model, trees=trees, base=np.zeros(1), normalisation=one_to_one(1))
    x = np.concatenate(
        [np.linspace(-760.0, 720.0, 500), np.linspace(-746, -700, 300), np.linspace(-2, 2, 300)]
    )
    check(wrap(model), x[:, None], tmp_path)
