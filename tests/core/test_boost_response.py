"""Boosting a response: derivatives, first scores, values by selection, and the same bits everywhere."""

import numpy as np
import pytest

from lhtree import _pieces
from reference.boost import Options, boost_aim
from reference.responses import Response, Several
from support import boosting

LOSSES = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
SMOOTH = ("squared_error", "poisson", "gamma")


def make_rows(loss, n=300, n_features=5, seed=0):
    """Rows of values with few digits, some missing, and a response that suits the loss."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(n, n_features)), 2)
    mean = 0.3 * X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    y = mean + 0.2 * generator.normal(size=n)
    if loss == "poisson":
        y = generator.poisson(np.exp(mean + 1.0)).astype(float)
    elif loss == "gamma":
        y = np.exp(mean) * generator.gamma(2.0, 1.0, n)
    else:
        y = np.clip(y, -2.0, 2.0)
    X[generator.random(X.shape) < 0.05] = np.nan
    return X, y


def choose_options(loss, **options):
    return Options(leaf="linear" if loss in SMOOTH else "constant", **options)


def boost(X, y, loss, options=None, **given):
    return boosting.boost(X, y, options or choose_options(loss), loss=loss, quantile=0.7, **given)


def losses_of(y, raw, loss):
    """Return the losses of scikit-learn, with half the deviance for log links."""
    if loss == "squared_error":
        return 0.5 * (y - raw) ** 2
    if loss == "absolute_error":
        return np.abs(y - raw)
    if loss == "quantile":
        return np.maximum(0.7 * (y - raw), -0.3 * (y - raw))
    if loss == "poisson":
        return np.exp(raw) - y + y * (np.log(np.maximum(y, 1e-300)) - raw)
    return y * np.exp(-raw) - 1.0 - np.log(y) + raw


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loss", LOSSES)
def test_trees_are_the_references(loss, seed):
    generator = np.random.default_rng(seed)
    X, y = make_rows(loss, 70, seed=seed)
    X = X.astype(np.float32)
    y = np.round(y, 1) + (0.1 if loss == "gamma" else 0.0) if seed % 2 else y
    held = generator.random(70) < (0.3 if seed % 3 == 0 else 0.0)
    weight = [np.ones(70), generator.integers(0, 4, 70), 10.0 ** generator.uniform(-9, 9, 70)][seed % 3]
    options = choose_options(
        loss,
        max_depth=int(generator.integers(1, 5)),
        min_samples_leaf=float(generator.integers(1, 6)),
        subsample=generator.choice([0.7, 1.0]),
        n_directed=int(generator.integers(0, 5)),
        learning_rate=generator.choice([0.1, 1.0]),
        monotonic=(1, 0, -1, 0, 1) if seed % 4 == 1 else None,
    )
    given = {"weight": weight.astype(float), "held": held.astype(np.uint8)}
    grown = boost(X, y, loss, options, n_rounds=3, seed=seed, patience=9, **given)
    aim = Response(loss, y, 0.7)
    twin = boost_aim(X, aim, weight.tolist(), held, options, 3, seed, takes_losses=True)
    boosting.assert_as_reference(grown, twin, options)
    np.testing.assert_array_equal([grown["training_loss"], grown["validation_loss"]], np.array(twin.losses).T)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_trees_of_several_outputs_are_the_references(loss, seed):
    generator = np.random.default_rng(seed)
    X, y = make_rows(loss, 50, seed=seed)
    quantiles = (0.1, 0.5, 0.85)
    if loss == "squared_error":  # of different sizes, one of them constant
        y = np.stack([y, 1e-9 * np.round(y * X[:, 0], 1), np.full(50, 0.25)], axis=1)[:, : 2 + seed % 2]
        y = np.nan_to_num(y)
        aim = Several([Response(loss, one) for one in y.T])
    else:
        aim = Several([Response(loss, y, one) for one in quantiles])
    held = generator.random(50) < (0.3 if seed % 3 == 0 else 0.0)
    weight = [np.ones(50), generator.integers(0, 4, 50), 10.0 ** generator.uniform(-9, 9, 50)][seed % 3]
    is_joint = seed % 4 != 1
    options = Options(
        leaf="linear" if loss == "squared_error" and not is_joint else "constant",
        is_joint=is_joint,
        growth=["free", "symmetric"][seed % 2],
        n_directions=2,
        max_depth=int(generator.integers(1, 5)),
        min_samples_leaf=float(generator.integers(1, 6)),
        subsample=generator.choice([0.7, 1.0]),
        learning_rate=generator.choice([0.1, 1.0]),
    )
    given = {
        "weight": weight.astype(float),
        "held": held.astype(np.uint8),
        "loss": loss,
        "quantile": quantiles,
    }
    X = X.astype(np.float32)
    grown = boosting.boost(X, y, options, n_rounds=2, seed=seed, patience=9, **given)
    twin = boost_aim(X, aim, weight.tolist(), held, options, 2, seed, takes_losses=True)
    boosting.assert_as_reference(grown, twin, options)
    np.testing.assert_array_equal([grown["training_loss"], grown["validation_loss"]], np.array(twin.losses).T)


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_those_of_the_loss(loss):
    y = make_rows(loss)[1]
    raw = np.random.default_rng(1).normal(size=(len(y), 1))

    def differentiate(step):
        return _pieces.differentiate(raw + step, loss, response=y, quantile=0.7)

    losses, gradient, hessian = differentiate(0.0)
    np.testing.assert_allclose(losses, np.minimum(losses_of(y, raw[:, 0], loss), 64.0), 1e-10, 1e-10)
    low, high = (differentiate(step)[0] for step in (-1e-4, 1e-4))
    smooth = np.abs(y - raw[:, 0]) > 1e-3 if loss not in SMOOTH else losses < 50.0
    np.testing.assert_allclose(gradient[smooth], ((high - low) / 2e-4)[smooth], 1e-5, 1e-5)
    if loss in ("poisson", "gamma"):  # the step of a row is near its best, log ρ, and bounded
        mean = np.exp(raw[:, 0])
        np.testing.assert_allclose(-gradient / hessian, 2.0 * (y - mean) / (y + mean), 1e-5, 1e-6)
    else:
        assert (hessian == 1.0).all()


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_scores_far_out_stay_finite(loss):
    raw = np.array([[-1e4], [-700.0], [0.0], [700.0], [1e4]])
    for y in (1e-300, 1e9, 1e300 if loss == "gamma" else 2.0**60):
        _, gradient, hessian = _pieces.differentiate(raw, loss, response=np.full(5, y))
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_first_scores_are_the_best_constants(loss, is_weighted):
    X, y = make_rows(loss)
    weight = np.random.default_rng(2).gamma(1.0, 1.0, len(y)) if is_weighted else None
    given = {"weight": weight, "n_rounds": 0, "patience": 1}
    best = boost(X, y, loss, **given)
    expected = np.average(y, weights=weight)
    if loss in ("poisson", "gamma"):
        expected = np.log(expected)
    elif loss != "squared_error":
        share = 0.7 if loss == "quantile" else 0.5
        expected = np.quantile(y, share, method="inverted_cdf", weights=weight)
    np.testing.assert_allclose(best["first"], expected, 1e-8)
    reported = np.average(losses_of(y, best["first"][0], loss), weights=weight)
    np.testing.assert_allclose(best["training_loss"], reported, 1e-8)
    for step in (-0.05, 0.05):
        moved = boost(X, y, loss, first=best["first"] + step, **given)
        assert moved["training_loss"] > best["training_loss"]


@pytest.mark.parametrize(
    ("loss", "is_weighted"), [("squared_error", True), ("quantile", True), ("poisson", False)]
)
def test_threads_and_chunks_make_no_difference(loss, is_weighted):
    X, y = make_rows(loss, 70_000)
    held = (np.arange(len(y)) % 10 == 0).astype(np.uint8)
    weight = np.random.default_rng(1).gamma(1.0, 1.0, len(y)) if is_weighted else None
    options = choose_options(loss, max_depth=4, subsample=0.7, max_features=0.5)
    one, *others = (
        boost(X, y, loss, options, n_rounds=2, weight=weight, held=held, patience=5, n_threads=n_threads)
        for n_threads in (1, 2, 7)
    )
    assert one["trees"]["left"].max() > 20
    for other in others:
        boosting.assert_same_model(one, other)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("squared_error", [0.0, np.nan, 1.0]),
        ("squared_error", [0.0, 3.0, 1.0]),
        ("poisson", [0.0, -1.0, 1.0]),
        ("poisson", [0.0, 0.0, 0.0]),
        ("gamma", [0.0, 1.0, 1.0]),
        ("huber", [0.0, 1.0, 1.0]),
    ],
)
def test_responses_that_are_refused(loss, y, rejects):
    rejects(boost, np.zeros((3, 1)), y, loss, Options())


def test_selected_values_need_constant_leaves(rejects):
    rejects(boost, np.zeros((3, 1)), [0.0, 1.0, 1.0], "absolute_error", Options(leaf="linear"))
