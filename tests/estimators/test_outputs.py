"""Boosted regressors with several outputs: several quantiles, or several responses, and their intervals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_pinball_loss, r2_score

from lhtree import LHBoostRegressor, evaluate, load, load_scorer, save

QUANTILES = [0.1, 0.5, 0.9]
KINDS = ["one_tree", "one_per_output"]


def make_rows(n=300, seed=0):
    """Rows whose response spreads more where a column is far from 0."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + generator.normal(size=n) * (0.2 + np.abs(X[:, 2]))
    return X, y


def make_responses(seed=0):
    X, y = make_rows(seed=seed)
    return X, pd.DataFrame({"price": 1e6 * y, "ratio": 1e-6 * X[:, 3] ** 2, "constant": np.full(len(y), 7.0)})


def fit_quantiles(X, y, **options):
    given = {"max_iter": 40, "random_state": 0} | options
    return LHBoostRegressor("quantile", quantile=QUANTILES, **given).fit(X, y)


@pytest.mark.parametrize("multi_output", KINDS)
def test_quantiles_never_cross(multi_output):
    X, y = make_rows()
    model = fit_quantiles(X, y, multi_output=multi_output, learning_rate=0.5, subsample=0.3)
    raw, predicted = model._model.scorer.raw_score(X), model.predict(X)
    assert (np.diff(raw, axis=1) < 0.0).any()
    np.testing.assert_array_equal(predicted, np.sort(raw, axis=1))
    losses = [
        sum(mean_pinball_loss(y, values[:, i], alpha=q) for i, q in enumerate(QUANTILES))
        for values in (raw, predicted)
    ]
    assert losses[1] < losses[0]


@pytest.mark.parametrize("multi_output", KINDS)
def test_quantiles_are_near_their_shares(multi_output):
    (X, y), (X_test, y_test) = make_rows(2000), make_rows(4000, 1)
    model = fit_quantiles(X, y, multi_output=multi_output, max_iter=100)
    shares = (y_test[:, None] <= model.predict(X_test)).mean(axis=0)
    np.testing.assert_allclose(shares, QUANTILES, atol=0.04)


def test_trees_of_one_output_each_are_those_of_single_models():
    X, y = make_rows()
    options = {
        "max_iter": 5,
        "learning_rate": 0.1,
        "subsample": 1.0,
        "max_features": 1.0,
        "direction": "single",
    }
    both = fit_quantiles(X, y, multi_output="one_per_output", **options)
    for place, quantile in enumerate(QUANTILES):
        single = LHBoostRegressor("quantile", quantile=quantile, random_state=0, **options).fit(X, y)
        np.testing.assert_array_equal(both._model.scorer.raw_score(X)[:, place], single.predict(X))


@pytest.mark.parametrize("multi_output", KINDS)
def test_responses_of_any_size(multi_output):
    X, Y = make_responses()
    model = LHBoostRegressor(max_iter=60, learning_rate=0.2, multi_output=multi_output, random_state=0).fit(
        X, Y
    )
    predicted = model.predict(X)
    assert predicted.shape == (300, 3)
    assert (predicted[:, 2] == 7.0).all()
    assert min(r2_score(Y, predicted, multioutput="raw_values")[:2]) > 0.8
    # Only predictions of a response multiplied by a power of two change.
    scaled = LHBoostRegressor(max_iter=60, learning_rate=0.2, multi_output=multi_output, random_state=0)
    np.testing.assert_array_equal(
        scaled.fit(X, Y * [2.0**40, 1.0, 1.0]).predict(X), predicted * [2.0**40, 1.0, 1.0]
    )


@pytest.mark.parametrize("multi_output", KINDS)
@pytest.mark.parametrize("loss", ["quantile", "squared_error"])
def test_models_are_the_same_everywhere(loss, multi_output, tmp_path):
    X, Y = make_responses()
    frame = pd.DataFrame(X, columns=list("abcde"))
    y = Y["price"].to_numpy() if loss == "quantile" else Y
    quantile = QUANTILES if loss == "quantile" else None
    settings = {"quantile": quantile, "multi_output": multi_output, "random_state": 0, "learning_rate": 0.2}
    model = LHBoostRegressor(loss, max_iter=6, **settings).fit(frame, y)
    expected = model.predict(frame)
    stages = list(model.staged_predict(frame))
    np.testing.assert_array_equal(stages[-1], expected)
    # Threads, batches, files and warm starts
    threads = LHBoostRegressor(loss, max_iter=6, n_jobs=2, **settings).fit(frame, y)
    np.testing.assert_array_equal(threads.predict(frame), expected)
    parts = [slice(0, 70), slice(70, 300)]
    batched = LHBoostRegressor(loss, max_iter=6, **settings).fit_batches(
        lambda: ((frame[part], y[part]) for part in parts)
    )
    np.testing.assert_array_equal(batched.predict(frame), expected)
    begun = LHBoostRegressor(loss, max_iter=2, warm_start=True, **settings).fit(frame, y)
    np.testing.assert_array_equal(begun.predict(frame), stages[1])
    np.testing.assert_array_equal(begun.set_params(max_iter=6).fit(frame, y).predict(frame), expected)
    save(model, tmp_path / "model.lht")
    scorer = load_scorer(tmp_path / "model.lht")
    np.testing.assert_array_equal(scorer.predict(frame), expected)
    np.testing.assert_array_equal(load(tmp_path / "model.lht").predict(frame), expected)
    names = ["0.1", "0.5", "0.9"] if loss == "quantile" else ["price", "ratio", "constant"]
    assert [output.name for output in scorer._model.outputs] == names


def test_outputs_are_models():
    X, Y = make_responses()
    for multi_output in KINDS:
        model = LHBoostRegressor(max_iter=8, multi_output=multi_output, random_state=0).fit(X, Y)
        for place, name in enumerate(Y):
            np.testing.assert_array_equal(model.output(name).predict(X), model.predict(X)[:, place])
            np.testing.assert_array_equal(model.output(place).predict(X), model.predict(X)[:, place])


def test_explanations_add_up_to_sorted_quantiles():
    X, y = make_rows()
    model = fit_quantiles(X, y, learning_rate=0.5, subsample=0.3)
    raw = model._model.scorer.raw_score(X)
    crossing = np.flatnonzero((np.diff(raw, axis=1) < 0.0).any(axis=1))[:3]
    for row in [0, *crossing]:
        for place, quantile in enumerate(QUANTILES):
            explanation = model.explain(X[row], target=quantile)
            assert explanation.prediction == model.predict(X[row : row + 1])[0, place]
            total = explanation.base + sum(explanation.contributions.values())
            np.testing.assert_allclose(total, explanation.prediction)
    table = model.explain_batch(X, target="0.5")
    added = table["base"] + table.filter(like="contribution.").sum(axis=1)
    np.testing.assert_allclose(added, raw[:, 1])


def test_early_stopping_sees_all_outputs():
    X, Y = make_responses()
    model = LHBoostRegressor(max_iter=300, learning_rate=0.3, early_stopping=True, random_state=0).fit(X, Y)
    scores = model.validation_score_
    assert model.n_iter_ == scores.argmax() < 300
    # Relative to the losses of the means of the training rows, of which the constant has none.
    assert model.train_score_[0] == pytest.approx(-2 / 3)
    quantiles = fit_quantiles(X, Y["price"], max_iter=300, learning_rate=0.3, early_stopping=True)
    assert quantiles.n_iter_ == quantiles.validation_score_.argmax() < 300
    held = LHBoostRegressor(max_iter=50, random_state=0).fit(X, Y, X_val=X[:50], y_val=Y[:50])
    assert len(held.validation_score_) > 1


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"loss": "quantile", "quantile": [0.05, 0.95]},
        {"loss": "quantile", "quantile": [0.3, 0.4], "multi_output": "one_per_output"},
    ],
    ids=["mean", "quantiles", "narrow quantiles"],
)
def test_intervals_have_their_coverage(given):
    (X, y), (X_test, y_test) = make_rows(3000), make_rows(6000, 1)
    model = LHBoostRegressor(**given, max_iter=60, intervals=True, random_state=0).fit(X, y)
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(X_test, coverage).T
        assert (low <= high).all()
        assert abs(((low <= y_test) & (y_test <= high)).mean() - coverage) < 0.02
    measured = evaluate(model, X_test, y_test)
    assert abs(measured.intervals.share - 0.9) < 0.02


def test_residuals_are_those_of_held_out_rows(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = LHBoostRegressor(max_iter=30, intervals=True, random_state=0).fit(X, y)
    plain = LHBoostRegressor(max_iter=30, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    residual = model._model.response.residual
    assert len(residual) == len(y)
    assert (np.diff(residual) >= 0.0).all()
    assert np.median(residual) > np.median(np.abs(y - plain.predict(X)))
    save(model, tmp_path / "model.lht")
    scorer = load_scorer(tmp_path / "model.lht")
    np.testing.assert_array_equal(scorer.predict_interval(X[:9], 0.8), model.predict_interval(X[:9], 0.8))


def test_intervals_of_a_log_link_are_not_negative():
    X, y = make_rows()
    counts = np.random.default_rng(0).poisson(np.exp(0.5 * y.clip(-3, 3)))
    model = LHBoostRegressor("poisson", max_iter=20, intervals=True, random_state=0).fit(X, counts)
    assert model.predict_interval(X, 0.95).min() == 0.0


def test_evaluations_of_several_outputs():
    X, y = make_rows(600)
    model = fit_quantiles(X[:300], y[:300])
    measured, predicted = evaluate(model, X[300:], y[300:]), model.predict(X[300:])
    for place, (quantile, one) in enumerate(zip(QUANTILES, measured.outputs.values(), strict=True)):
        assert one.quantile.pinball == pytest.approx(
            mean_pinball_loss(y[300:], predicted[:, place], alpha=quantile)
        )
    inside = (predicted[:, 0] <= y[300:]) & (y[300:] <= predicted[:, 2])
    assert measured.intervals.share == pytest.approx(inside.mean())
    assert measured.intervals.coverage == pytest.approx(0.8)
    assert measured.to_frame().index.tolist() == ["0.1", "0.5", "0.9"]
    assert "pinball loss" in str(measured)
    Y = np.stack([y, y**2], axis=1)
    responses = LHBoostRegressor(max_iter=10, random_state=0).fit(X[:300], Y[:300])
    measured = evaluate(responses, X[300:], Y[300:])
    expected = r2_score(Y[300:], responses.predict(X[300:]), multioutput="raw_values")
    np.testing.assert_allclose([one.r2 for one in measured.outputs.values()], expected)
    assert responses.score(X[300:], Y[300:]) == pytest.approx(expected.mean())
    assert measured.to_dict()["outputs"].keys() == {"y0", "y1"}
    assert "mean R²" in str(measured)
