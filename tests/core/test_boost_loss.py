"""Losses of boosting, their derivatives, and the best constants."""

import numpy as np
import pytest

from lhtree import LHBoostRegressor, _core, _pieces
from reference.boost import Options
from support import boosting


def make_scores(n_scores, spread, n=200):
    generator = np.random.default_rng(n_scores)
    raw = generator.normal(size=(n, n_scores)) * spread
    return raw, generator.integers(0, max(n_scores, 2), n).astype(np.int32)


def differentiate(raw, classes):
    return _pieces.differentiate(raw, "logistic" if raw.shape[1] == 1 else "softmax", classes)


def losses_of(raw, classes):
    if raw.shape[1] == 1:
        return np.logaddexp(0.0, np.where(classes == 1, -raw[:, 0], raw[:, 0]))
    return np.logaddexp.reduce(raw, axis=1) - raw[np.arange(len(raw)), classes]


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("n_scores", [1, 3, 7])
def test_losses(n_scores, spread):
    raw, classes = make_scores(n_scores, spread)
    found, gradient, hessian = differentiate(raw, classes)
    np.testing.assert_allclose(found, np.minimum(losses_of(raw, classes), 1000.0), 1e-15, 2.0**-33)
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient) <= 1.0).all()
    assert (hessian >= 0.0).all()


@pytest.mark.parametrize("n_scores", [1, 3, 7])
def test_derivatives_are_those_of_the_loss(n_scores):
    raw, classes = make_scores(n_scores, 2.0)
    _, gradient, hessian = differentiate(raw, classes)
    upper = n_scores / (n_scores - 1) if n_scores > 1 else 1.0  # bounds the diagonal of softmax's hessian
    for score in range(n_scores):
        step = np.eye(1, n_scores, score) * 1e-2
        low, middle, high = (differentiate(raw + step * k, classes)[0] for k in (-1, 0, 1))
        numbers = slice(score * len(raw), (score + 1) * len(raw))
        np.testing.assert_allclose(gradient[numbers], (high - low) / 2e-2, atol=1e-5)
        np.testing.assert_allclose(hessian[numbers] / upper, (high - 2 * middle + low) / 1e-4, atol=2e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_first_scores_are_the_best_constants(n_classes):
    generator = np.random.default_rng(n_classes)
    y = generator.choice(n_classes, 300, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    X, weight = generator.normal(size=(300, 1)), generator.gamma(1.0, 1.0, 300)
    given = {"weight": weight, "n_rounds": 0, "patience": 1}
    best = boosting.boost(X, y, **given)
    shares = np.bincount(y, weight) / weight.sum()
    expected = np.log(shares) if n_classes > 2 else [np.log(shares[1] / shares[0])]
    np.testing.assert_allclose(best["first"], expected, 1e-8)
    np.testing.assert_allclose(best["training_loss"], -(shares * np.log(shares)).sum(), 1e-8)
    for score in range(len(best["first"])):
        for step in (-1e-3, 1e-3):
            moved = best["first"] + np.eye(1, len(best["first"]), score)[0] * step
            assert boosting.boost(X, y, first=moved, **given)["training_loss"] > best["training_loss"]


def test_a_class_that_weighs_nothing():
    weight = np.where(np.arange(60) % 3 == 2, 0.0, 1.0)
    boosted = boosting.boost(np.arange(60.0)[:, None] / 9, np.arange(60) % 3, weight=weight)
    np.testing.assert_allclose(boosted["first"], np.log([0.5, 0.5, 1e-15]), 1e-12)
    assert np.isfinite(boosted["trees"]["intercept"]).all()


def test_steps_far_out_stay_finite():
    # Without regularisation every round takes a full step, until derivatives leave the range of float32.
    options = Options(learning_rate=1.0, l2_regularization=0.0, max_depth=0)
    weight = np.array([1.0, 0.0, 1.0])
    boosted = boosting.boost(np.zeros((3, 1)), [0, 1, 0], options, weight=weight, n_rounds=150, patience=200)
    assert (np.diff(boosted["training_loss"]) <= 0.0).all()
    assert (boosted["trees"]["intercept"] <= 0.0).all()
    assert boosted["trees"]["intercept"].sum() < -40.0


def test_losses_have_links_and_descriptions():
    for name, loss in _core.LOSSES.items():
        assert loss.name == name
        assert loss.link in _core.LINKS
        assert loss.description
        assert (loss.responses is None) == loss.is_of_classes
    assert {name for name, loss in _core.LOSSES.items() if loss.parameter} == {"quantile"}


def test_docstring_lists_all_losses_of_numbers():
    names = ", ".join(f'"{name}"' for name, loss in _core.LOSSES.items() if not loss.is_of_classes)
    assert f"loss : {{{names}}}" in LHBoostRegressor.__doc__


@pytest.mark.parametrize("name", [name for name, loss in _core.LOSSES.items() if not loss.is_of_classes])
def test_loss_of_numbers_is_zero_at_the_response_and_convex(name):
    loss, response = _core.LOSSES[name], np.linspace(0.5, 4.0, 50)
    best = np.log(response) if loss.link == "log" else response
    steps = [
        _core.loss(name, (best + step)[:, None], response=response, quantile=0.3) for step in (-0.2, 0, 0.2)
    ]
    np.testing.assert_allclose(steps[1], 0.0, atol=1e-15)
    assert (steps[0] > 0.0).all()
    assert (steps[2] > 0.0).all()


def test_loss_checks_its_arguments(rejects):
    raw = np.zeros((3, 1))
    rejects(_core.loss, "huber", raw, response=np.zeros(3))
    rejects(_core.loss, "gamma", raw)
    rejects(_core.loss, "logistic", raw, response=np.zeros(3))
    rejects(_core.loss, "logistic", raw, classes=np.array([0, 1, 2], dtype=np.int32))
    rejects(_core.loss, "poisson", np.zeros((3, 2)), response=np.ones(3))
