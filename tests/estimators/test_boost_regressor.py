"""LHBoostRegressor: losses, units of the response, hostile responses, warm starts, copies, errors."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import lhtree
from lhtree import LHBoostRegressor
from support import bridge

LOSSES = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
FIXED = {"max_iter": 12, "learning_rate": 0.2, "min_samples_leaf": 5, "random_state": 3}


def make_rows(n=400, seed=0):
    """A positive response with a wave, a product and noise of its own size, some values missing."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5))
    y = np.exp(0.5 * np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1] * X[:, 2]) * generator.gamma(8.0, 0.125, n)
    X[generator.random(X.shape) < 0.05] = np.nan
    return X, y


def make_model(loss, **settings):
    return LHBoostRegressor(loss, quantile=0.8 if loss == "quantile" else None, **FIXED | settings)


def assert_same_model(first, second, X):
    bridge.assert_same_trees(first, second)
    assert first.predict(X).tobytes() == second.predict(X).tobytes()


@pytest.mark.parametrize("loss", LOSSES)
def test_models_learn_with_every_loss(loss):
    X, y = make_rows(900)
    settings = {"max_iter": 100, "learning_rate": 0.1}
    model = make_model(loss, **settings, early_stopping=True, validation_fraction=None).fit(X[:600], y[:600])
    assert (np.diff(model.train_score_) > 0.0).mean() > 0.9

    def mean_loss(own):
        residual = y[600:] - own
        if loss == "quantile":
            return np.maximum(0.8 * residual, -0.2 * residual).mean()
        if loss == "poisson":
            return (own - y[600:] * np.log(own / y[600:]) - y[600:]).mean()
        if loss == "gamma":
            return (y[600:] / own - np.log(y[600:] / own) - 1.0).mean()
        return (residual**2 if loss == "squared_error" else np.abs(residual)).mean()

    constant = np.full(300, np.quantile(y[:600], 0.8) if loss == "quantile" else y[:600].mean())
    least = 0.8 if loss in ("absolute_error", "quantile") else 0.62  # the rest is noise
    assert mean_loss(model.predict(X[600:])) < least * mean_loss(constant)
    assert model._model.link == ("log" if loss in ("poisson", "gamma") else "identity")
    assert (len(model._model.trees.membership_slope) > 0) == (loss not in ("absolute_error", "quantile"))
    stages = list(model.staged_predict(X[600:]))
    assert len(stages) == model.n_iter_
    assert stages[-1].tobytes() == model.predict(X[600:]).tobytes()
    assert model.feature_importances_.argmax() in (0, 1, 2)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_linear_leaves_fit_a_linear_function():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 4))
    y = X @ [3.0, -2.0, 1.0, 0.0] + 0.1 * generator.normal(size=600)
    scores = [
        make_model("squared_error", leaf=leaf, max_iter=60).fit(X[:400], y[:400]).score(X[400:], y[400:])
        for leaf in ("constant", "linear")
    ]
    assert 1.0 - scores[1] < 0.4 * (1.0 - scores[0])
    assert scores[1] > 0.98 * LinearRegression().fit(X[:400], y[:400]).score(X[400:], y[400:])
    auto, linear = (make_model("squared_error", leaf=leaf).fit(X, y) for leaf in ("auto", "linear"))
    assert_same_model(auto, linear, X)


class TestUnits:
    @pytest.mark.parametrize("exponent", [-900, -3, 10, 900])
    @pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
    def test_a_power_of_two_is_exact(self, loss, exponent):
        X, y = make_rows()
        model, scaled = (
            make_model(loss, early_stopping=True, n_iter_no_change=3, max_iter=30).fit(X, response)
            for response in (y, np.ldexp(y, exponent))
        )
        assert scaled.n_iter_ == model.n_iter_
        assert np.ldexp(model.predict(X), exponent).tobytes() == scaled.predict(X).tobytes()
        if abs(exponent) < 100:
            factor = 2.0 ** (exponent * (2 if loss == "squared_error" else 1))
            np.testing.assert_array_equal(model.validation_score_ * factor, scaled.validation_score_)
        np.testing.assert_array_equal(model.feature_importances_, scaled.feature_importances_)

    def test_counts_times_a_power_of_two_are_regularised_less(self):
        """The penalties of Poisson are compared with sums of counts; without them, predictions scale."""
        X, _ = make_rows()
        counts = np.random.default_rng(0).poisson(2.0 + (X[:, 0] > 0)).astype(float)
        fixed = {
            "max_iter": 10,
            "learning_rate": 0.1,
            "random_state": 0,
            "direction": "single",
            "leaf": "constant",
        }
        for l2 in (0.0, 1.0):
            model, scaled = (
                LHBoostRegressor("poisson", l2_regularization=l2, **fixed).fit(X, response).predict(X)
                for response in (counts, counts * 8.0)
            )
            assert (np.abs(scaled / 8.0 / model - 1.0).max() < 1e-9) == (l2 == 0.0)

    @pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
    @pytest.mark.parametrize("shift", [-7.3, 1234.5])
    def test_a_shift_shifts_predictions(self, loss, shift):
        X, y = make_rows()
        model, shifted = (make_model(loss).fit(X, response) for response in (y, y + shift))
        np.testing.assert_allclose(shifted.predict(X) - shift, model.predict(X), rtol=0, atol=1e-9)

    def test_means_with_a_log_link_scale_too(self):
        X, y = make_rows()
        model, scaled = (make_model("gamma").fit(X, response) for response in (y, y * 1e200))
        np.testing.assert_allclose(scaled.predict(X) / 1e200, model.predict(X), 1e-9)


RESPONSES = {
    "constant": np.full(60, 3.25),
    "zeros": np.zeros(60),
    "two values": np.repeat([0.0, 1.0], 30),
    "huge": np.linspace(-1e300, 1e300, 60),
    "tiny": np.linspace(1e-300, 9e-300, 60),
    "subnormal": np.linspace(1e-315, 9e-315, 60),
    "one far away": np.append(np.zeros(59), 1e300),
    "wide": 10.0 ** np.linspace(-300, 300, 60),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", RESPONSES)
def test_extreme_responses_give_finite_predictions(name, loss, tmp_path):
    y = np.abs(RESPONSES[name]) + (1e-310 if loss == "gamma" else 0.0)
    if loss == "poisson" and name == "zeros":
        pytest.skip("refused")
    if loss not in ("poisson", "gamma"):
        y = RESPONSES[name]
    X = np.stack([np.arange(60.0), np.arange(60) % 7], axis=1)
    model = make_model(loss, early_stopping=True, validation_fraction=None).fit(X, y)
    predicted = model.predict(X)
    assert np.isfinite(predicted).all()
    assert np.isfinite(model.train_score_).all()
    if name in ("constant", "zeros"):
        np.testing.assert_allclose(predicted, y, 1e-9, 1e-300)
    if loss not in ("poisson", "gamma"):
        slack = 0.1 * (y.max() - y.min())
        assert predicted.min() >= y.min() - slack
        assert predicted.max() <= y.max() + slack
    lhtree.save(model, tmp_path / "model.lht")
    assert lhtree.load(tmp_path / "model.lht").predict(X).tobytes() == predicted.tobytes()


@pytest.mark.parametrize("n_rows", [1, 2, 30])
@pytest.mark.parametrize("loss", LOSSES)
def test_equal_rows_give_the_optimal_constant(loss, n_rows):
    X, y = np.zeros((n_rows, 2)), np.linspace(1.0, 2.0, n_rows)
    model = make_model(loss, subsample=1.0).fit(X, y)
    expected = np.quantile(y, {"absolute_error": 0.5, "quantile": 0.8}.get(loss, 0.5), method="inverted_cdf")
    if loss not in ("absolute_error", "quantile"):
        expected = y.mean()
    np.testing.assert_allclose(model.predict(X), expected, 1e-6)
