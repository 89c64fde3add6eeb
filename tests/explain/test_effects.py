"""Effects are means of contributions over the rows with a value."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lhtree
from support.adult import make_adult

MODELS = [
    lhtree.LHTClassifier(),
    lhtree.LHForestClassifier(4, random_state=0),
    lhtree.LHForestClassifier(4, direction="mixed", multi_class="one_tree", random_state=0),
    lhtree.LHBoostClassifier(6, random_state=0),
]


def make_wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X[["alcohol", "hue", "proline", "ash"]].copy()
    X.loc[::7, "hue"] = np.nan
    return X, y


def contributions(model, X, column):
    """Contributions of a column by row and class, from the frame of all explanations."""
    return model.explain_batch(X)[f"contribution.{column}"].to_numpy().reshape(len(X), -1)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_group_has_the_mean_and_the_middle_of_its_rows(model):
    X, y = make_wine()
    model = model.fit(X, y)
    effects = model.effects(X, n_groups=6, coverage=0.5)
    assert sorted(effect.column for effect in effects) == sorted(X.columns)
    for effect in effects:
        values, own = X[effect.column].to_numpy(), contributions(model, X, effect.column)
        n_seen = 0
        for i, label in enumerate(effect.labels):
            if label == "missing":
                rows = np.isnan(values)
            else:
                low, _, high = label.partition(" to ")
                rows = (values >= float(low)) & (values <= float(high or low))
                assert effect.value[i] == np.median(values[rows])
            assert effect.n_rows[i] == rows.sum() > 0
            np.testing.assert_allclose(effect.mean[i], own[rows].mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(effect.low[i], np.quantile(own[rows], 0.25, axis=0), atol=1e-12)
            np.testing.assert_allclose(effect.high[i], np.quantile(own[rows], 0.75, axis=0), atol=1e-12)
            n_seen += rows.sum()
        assert n_seen == len(X)
        assert effect.density.sum() == (~np.isnan(values)).sum()
    assert "missing" in effects["hue"].labels
    sizes = [effects.importance[effect.column] for effect in effects]
    assert sizes == sorted(sizes, reverse=True)
    np.testing.assert_allclose(
        [effects.importance[name] for name in X], model.importances(X, kind="contribution").values
    )


def test_categories_by_frequency_and_the_rest_together():
    X, y = make_adult(300)
    model = lhtree.LHBoostClassifier(6, random_state=0).fit(X, y)
    effects = model.effects(X, ["work", "country"], n_groups=5)
    work, country = effects["work"], effects["country"]
    assert work.value is None
    assert work.labels[-1] == "missing"
    own = contributions(model, X, "work")
    for i, label in enumerate(work.labels[:-1]):
        np.testing.assert_allclose(
            work.mean[i], own[(X["work"] == label).to_numpy()].mean(axis=0), atol=1e-12
        )
    counts = X["country"].value_counts()
    assert country.labels[4] == f"{len(counts) - 4} more categories"
    assert country.n_rows[:4].tolist() == counts[:4].tolist()
    assert country.n_rows.sum() == len(X)
    assert (np.diff(work.n_rows[:-1]) <= 0).all()


@pytest.mark.parametrize(
    "model", [lhtree.LHForestRegressor(4, random_state=0), lhtree.LHBoostRegressor(max_iter=5)], ids=str
)
def test_regressions_have_one_effect(model):
    X, y = make_wine()
    model = model.fit(X[["alcohol", "proline"]], y.astype(float))
    frame = model.effects(X[["alcohol", "proline"]]).to_frame()
    assert list(frame) == ["column", "value", "n_rows", "mean", "low", "high"]
    own = contributions(model, X[["alcohol", "proline"]], "alcohol")
    some = frame[frame["column"] == "alcohol"]
    assert (some["mean"] * some["n_rows"]).sum() == pytest.approx(own.sum())


def test_columns_without_values_and_with_one():
    X, y = make_wine()
    X["gone"], X["same"] = np.nan, 3.0
    effects = lhtree.LHTClassifier().fit(X, y).effects(X)
    assert effects["gone"].labels == ["missing"]
    assert effects["same"].labels == ["3"]
    assert effects["same"].density.sum() == len(X)
    assert effects["gone"].density.sum() == 0
    assert len(effects[:2]) == 2
    assert repr(effects) == "Effects(6 columns, 178 rows)"


def test_invalid_arguments_are_refused(rejects):
    X, y = make_wine()
    model = lhtree.LHTClassifier().fit(X, y)
    assert [effect.column for effect in model.effects(X, "ash")] == ["ash"]
    for options in (
        {"columns": "tar"},
        {"columns": [9]},
        {"n_groups": 1},
        {"coverage": 0.0},
        {"coverage": "all"},
    ):
        rejects(model.effects, X, **options)
    with rejects:
        model.effects(X)["tar"]


def test_requested_columns_keep_their_order_and_number(rejects):
    X, y = make_wine()
    model = lhtree.LHTClassifier().fit(X, y)
    for columns in (["ash", "proline", "hue", "alcohol"], ["alcohol", "ash", "alcohol"], [3, "hue", 0]):
        effects = model.effects(X, columns)
        assert [effect.column for effect in effects] == [
            c if isinstance(c, str) else X.columns[c] for c in columns
        ]
        assert list(dict.fromkeys(effects.to_frame()["column"])) == list(
            dict.fromkeys(e.column for e in effects)
        )
    rejects(model.effects, X, [])


@pytest.mark.parametrize("low", [1.0, 1e300, 5e-324, 0.0])
def test_columns_a_few_ulps_wide_have_effects(low):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    X[:, 0] = np.where(generator.random(60) < 0.5, low, np.nextafter(low, np.inf))
    for model in (
        lhtree.LHTClassifier(),
        lhtree.LHBoostClassifier(4, random_state=0),
        lhtree.LHForestClassifier(2, random_state=0),
    ):
        effect = model.fit(X, X[:, 1] > 0).effects(X, 0)[0]
        assert len(set(effect.labels)) == 2
        assert effect.density.sum() == 60
        assert effect.density[[0, -1]].tolist() == effect.n_rows.tolist()


def test_labels_have_separators_and_no_exponents():
    X = np.arange(1_000_000.0, 1_000_040.0)[:, None]
    effect = lhtree.LHTRegressor().fit(X, X[:, 0]).effects(X, n_groups=2)[0]
    assert effect.labels == ["1,000,000 to 1,000,019", "1,000,020 to 1,000,039"]
