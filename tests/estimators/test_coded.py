"""Categories kept as codes give, to the bit, the models of the same table with a feature of 0 and 1 per category."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier

TREE = {"max_one_hot": 300, "missing_indicator": False}  # else columns of 0 and 1 with gaps would get one
SMALL = {"max_one_hot": 300, "max_iter": 8, "max_depth": 4, "min_samples_leaf": 3}
MODELS = [
    (LHTClassifier, TREE),
    (LHTClassifier, TREE | {"direction": "fisher", "membership": "least_squares", "normalize": "standard"}),
    (LHTClassifier, TREE | {"direction": "mixed", "alpha": 0.01, "normalize": "minmax"}),
    (LHForestClassifier, TREE | {"n_estimators": 4, "oob_score": True}),
    (
        LHForestClassifier,
        TREE | {"n_estimators": 3, "direction": "mixed", "bootstrap": True, "oob_score": True},
    ),
    (
        LHForestClassifier,
        TREE | {"n_estimators": 3, "direction": "mixed", "max_features": 2, "normalize": None},
    ),
    (LHBoostClassifier, SMALL),
    (LHBoostClassifier, SMALL | {"early_stopping": True, "max_bins": 7, "n_directed": 6}),
]


def make_table(seed, n_rows, n_levels, n_classes, missing):
    """A table of numbers and categories, and the same with a column of numbers per category."""
    generator = np.random.default_rng(seed)
    frame, wide = pd.DataFrame(index=range(n_rows)), {}
    signal = np.zeros(n_rows)
    for place, n in enumerate(n_levels):
        if n == 0:
            values = generator.normal(size=n_rows).round(1)
            signal += values
            values[generator.random(n_rows) < missing] = np.nan
            frame[f"c{place}"] = wide[f"c{place}"] = values
            continue
        codes = np.minimum(generator.geometric(min(1.0, 2.0 / n), n_rows) - 1, n - 1)
        codes[:n] = np.arange(n)[: len(codes)]
        signal += generator.normal(size=n)[codes]
        codes[n:][generator.random(n_rows - n) < missing] = -1
        frame[f"c{place}"] = pd.Categorical.from_codes(codes, [f"{level:04}" for level in range(n)])
        for level in range(n):
            wide[f"c{place} = {level:04}"] = np.where(codes < 0, np.nan, codes == level)
    noisy = signal + 0.5 * generator.normal(size=n_rows)
    y = np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)
    return frame, pd.DataFrame(wide), y


def assert_same(coded, plain):
    """Two models are equal to the bit, but for their encoding."""
    one, other = coded._model, plain._model
    for name, array in one.trees.arrays().items():
        assert array.tobytes() == other.trees.arrays()[name].tobytes(), name
    for first, second in zip(
        (*one.normalisation, *one.span), (*other.normalisation, *other.span), strict=True
    ):
        assert first.tobytes() == second.tobytes()
    if one.boost is not None:
        assert one.base.tobytes() == other.base.tobytes()
        assert one.boost.train_score.tobytes() == other.boost.train_score.tobytes()
        assert one.boost.validation_score.tobytes() == other.boost.validation_score.tobytes()
        for name, array in vars(one.boost.bins).items():
            assert array.tobytes() == vars(other.boost.bins)[name].tobytes(), name
    if getattr(coded, "oob_score", False):
        np.testing.assert_array_equal(coded.oob_decision_function_, plain.oob_decision_function_)


def assert_same_answers(coded, plain, frame, wide):
    """Two models give the same rows the same predictions."""
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(coded, method)(frame), getattr(plain, method)(wide))
    ours, theirs = coded.decision_path(frame)[0], plain.decision_path(wide)[0]
    assert (ours != theirs).nnz == 0


@pytest.mark.parametrize(("estimator", "parameters"), MODELS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_levels=st.lists(st.sampled_from([0, 1, 2, 3, 9]), min_size=1, max_size=4),
    n_classes=st.integers(2, 3),
    missing=st.sampled_from([0.0, 0.0, 0.1, 0.5]),
    weighting=st.sampled_from(["none", "none", "integers", "floats"]),
)
@settings(max_examples=12)
def test_models_are_those_of_a_feature_per_category(
    estimator, parameters, seed, n_levels, n_classes, missing, weighting
):
    frame, wide, y = make_table(seed, 120, n_levels, n_classes, missing)
    generator = np.random.default_rng(seed)
    weight = {
        "none": None,
        "integers": generator.integers(0, 4, len(y)) + (np.arange(len(y)) < 20),
        "floats": generator.random(len(y)) + 0.01,
    }[weighting]
    coded, plain = (estimator(random_state=seed % 7, **parameters) for _ in range(2))
    coded.fit(frame, y, weight)
    plain.fit(wide, y, weight)
    assert_same(coded, plain)
    assert_same_answers(coded, plain, frame, wide)


@pytest.mark.parametrize("estimator", [LHTClassifier, LHForestClassifier, LHBoostClassifier])
def test_many_levels_and_threads(estimator):
    """More levels than fit a byte, several chunks of rows, and as many threads."""
    few = {
        LHTClassifier: TREE | {"max_depth": 6},
        LHForestClassifier: TREE | {"n_estimators": 2, "max_depth": 6},
    }
    parameters = few.get(
        estimator, {"max_one_hot": 300, "max_iter": 4, "leaf": "linear", "min_samples_leaf": 2}
    )
    frame, wide, y = make_table(3, 9000, [255, 0, 7], 2, 0.02)
    plain = estimator(random_state=1, **parameters).fit(wide, y)
    for n_jobs in (1, 3):
        coded = estimator(random_state=1, n_jobs=n_jobs, **parameters).fit(frame, y)
        assert_same(coded, plain)
    assert_same_answers(coded, plain, frame, wide)


@pytest.mark.parametrize("estimator", [LHForestClassifier, LHBoostClassifier])
def test_warm_starts_go_on_from_codes(estimator):
    frame, wide, y = make_table(4, 300, [4, 0, 12], 3, 0.1)
    name, common = (
        ("n_estimators", TREE | {"beta": 0.0}) if estimator is LHForestClassifier else ("max_iter", SMALL)
    )
    coded, plain = (estimator(random_state=2, warm_start=True, **common | {name: 2}) for _ in range(2))
    for n_trees, rows in ((2, slice(0, 200)), (5, slice(100, 300))):
        coded.set_params(**{name: n_trees}).fit(frame[rows], y[rows])
        plain.set_params(**{name: n_trees}).fit(wide[rows], y[rows])
        assert_same(coded, plain)


def test_a_validation_set_is_coded_too():
    frame, wide, y = make_table(5, 400, [6, 0], 2, 0.1)
    held = frame[300:].assign(c0=frame.c0[300:].cat.add_categories(["new"]).where(np.arange(100) > 3, "new"))
    wide_held = wide[300:].copy()
    wide_held.iloc[:4, :6] = np.nan
    coded, plain = (LHBoostClassifier(**SMALL, random_state=0) for _ in range(2))
    coded.fit(frame[:300], y[:300], X_val=held, y_val=y[300:])
    plain.fit(wide[:300], y[:300], X_val=wide_held, y_val=y[300:])
    assert_same(coded, plain)
    assert len(plain.validation_score_) > 1


@pytest.mark.parametrize("keep", [True, 40])
def test_prototypes_are_features(keep):
    frame, wide, y = make_table(6, 150, [5, 0], 2, 0.1)
    coded = LHTClassifier(keep_prototypes=keep, random_state=0).fit(frame, y)
    plain = LHTClassifier(keep_prototypes=keep, random_state=0).fit(wide, y)
    np.testing.assert_array_equal(coded._model.prototypes.X, plain._model.prototypes.X)
    np.testing.assert_array_equal(coded._model.prototypes.given, plain._model.prototypes.given)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", [(5, 30, 0, 25, 7), (30, 5), (4, 40, 3)])
def test_codes_stand_beside_target_statistics(n_classes, order):
    """Columns of few and of many categories in one table: rows are what predictions encode."""
    frame, _, y = make_table(7, 400, order, n_classes, 0.1)
    model = LHForestClassifier(2, direction="mixed", keep_prototypes=True, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model._model.prototypes.X, model._model.encode(frame))
    assert model.score(frame, y) > 0.7
    assert LHBoostClassifier(max_iter=5, random_state=0).fit(frame, y).score(frame, y) > 0.6
