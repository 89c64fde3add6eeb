"""Whatever fits can be saved and loaded: random small tables with weights, gaps and categories, every estimator."""

import pickle

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import lhtree
from lhtree._parameters import REGRESSION_LOSSES
from support.bridge import assert_same_model

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # about columns and leaf sizes

COMPACT = {
    "max_leaf_nodes": [2, 16],
    "max_passes": [0, 3],
    "membership": ["constant", "linear"],
    "penalty": [0.0, 0.1, "auto"],
    "digits": [1, 3, None],
    "min_samples_leaf": [1, 5],
}
CLASSIFIERS = {
    "LHTClassifier": {
        "direction": ["mean_difference", "fisher", "mixed"],
        "membership": ["marginal", "least_squares", "constant"],
        "calibrate": [None, "sigmoid", "isotonic"],
        "class_weight": [None, "balanced"],
        "min_samples_leaf": ["auto", 1],
    },
    "LHForestClassifier": {
        "n_estimators": [1, 2, 5],
        "direction": ["mean_difference", "fisher", "mixed"],
        "bootstrap": [False, True],
        "oob_score": [False, True],
        "calibrate": [None, "sigmoid", "isotonic"],
        "class_weight": [None, "balanced"],
        "keep_prototypes": [False, 3],
    },
    "LHBoostClassifier": {
        "max_iter": [1, 5],
        "leaf": ["constant", "linear"],
        "min_samples_leaf": [1, 5],
        "calibrate": [None, "sigmoid", "isotonic"],
        "class_weight": [None, "balanced"],
        "subsample": [1.0, 0.5],
    },
    "CompactLHTClassifier": COMPACT | {"class_weight": [None, "balanced"]},
}
REGRESSORS = {
    "LHTRegressor": {
        "direction": ["mean_difference", "mixed"],
        "membership": ["constant", "least_squares"],
        "pruning": [0.0, 1.0],
        "min_samples_leaf": [1, 5],
    },
    "LHForestRegressor": {
        "n_estimators": [1, 2, 5],
        "min_samples_leaf": [1, 5],
        "bootstrap": [False, True],
        "oob_score": [False, True],
        "keep_prototypes": [False, 3],
    },
    "LHBoostRegressor": {
        "loss": REGRESSION_LOSSES,
        "max_iter": [1, 5],
        "leaf": ["constant", "linear"],
        "min_samples_leaf": [1, 5],
    },
    "CompactLHTRegressor": COMPACT,
}


def draw_settings(options):
    """Some of the parameters, each with one of its values."""
    drawn = {name: st.sampled_from(values) for name, values in options.items()}
    return st.fixed_dictionaries({}, optional=drawn).map(leave_rows_out)


def leave_rows_out(options):
    """Add what out-of-bag scores of very few rows need."""
    return options | {"bootstrap": True} if options.get("oob_score") else options


def make_column(random, kind, n_rows):
    if kind == "category":
        return random.choice(["a", "b", "c d", None], n_rows, p=[0.5, 0.3, 0.1, 0.1])
    if kind == "two":
        return random.choice(["no", "yes"], n_rows)
    if kind == "gaps":
        return np.where(random.random(n_rows) < 0.3, np.nan, random.normal(size=n_rows))
    if kind == "grid":
        return random.integers(0, 3, n_rows).astype(np.float64)
    return np.full(n_rows, 7.0) if kind == "constant" else random.normal(size=n_rows)


def make_weights(random, kind, n_rows):
    """Weights that are above 0 in the first three rows."""
    if kind is None:
        return None
    weight = random.uniform(0.1, 3.0, n_rows)
    if kind == "integers":
        weight = random.integers(0, 4, n_rows).astype(np.float64)
    if kind == "any size":
        weight *= 10.0 ** random.integers(-9, 9, n_rows)
    weight[:3] += weight[:3] == 0.0
    return weight


@st.composite
def tables(draw, least_rows):
    """A frame of 1 to 60 rows, weights, and a number between -1 and 1 that its first column explains well or not."""
    n_rows, random = draw(st.integers(least_rows, 60)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(
        st.lists(
            st.sampled_from(["number", "grid", "gaps", "constant", "category", "two"]), min_size=1, max_size=4
        )
    )
    frame = pd.DataFrame({f"{kind} {i}": make_column(random, kind, n_rows) for i, kind in enumerate(kinds)})
    signal = np.nan_to_num(pd.factorize(frame.iloc[:, 0])[0].astype(np.float64) / n_rows)
    noise = draw(st.sampled_from([0.0, 0.3, 10.0]))
    weight = make_weights(random, draw(st.sampled_from([None, "floats", "integers", "any size"])), n_rows)
    return frame, weight, np.tanh(signal + noise * random.normal(size=n_rows))


def check_saved(model, frame, folder, scores):
    """A saved or pickled model has the same attributes and predicts the same finite numbers."""
    path = folder / "model.lht"
    lhtree.save(model, path)
    copies = lhtree.load(path), pickle.loads(pickle.dumps(model))
    for again in copies:
        assert_same_model(model, again)
    for again in (*copies, lhtree.load_scorer(path)):
        for name in scores:
            expected = getattr(model, name)(frame)
            np.testing.assert_array_equal(getattr(again, name)(frame), expected)
            assert np.isfinite(expected).all() if expected.dtype.kind == "f" else len(expected)


@pytest.mark.parametrize("name", CLASSIFIERS)
@given(data=st.data(), n_classes=st.sampled_from([2, 2, 3]))
def test_every_classifier_that_fits_can_be_saved(name, data, n_classes, tmp_path_factory):
    frame, weight, level = data.draw(tables(least_rows=3))
    options = data.draw(draw_settings(CLASSIFIERS[name]))
    y = np.digitize(level, np.quantile(level, np.arange(1, n_classes) / n_classes))
    y[:n_classes] = range(n_classes)  # all classes have weight
    if n_classes > 2 and options.get("membership") == "linear":
        del options["membership"]
    if np.bincount(y[slice(None) if weight is None else weight > 0.0]).min() < 2:
        options.pop("calibrate", None)  # needs two rows of every class
    model = getattr(lhtree, name)(random_state=0, n_jobs=1, **options).fit(frame, y, sample_weight=weight)
    check_saved(model, frame, tmp_path_factory.mktemp("fit"), ["predict", "predict_proba"])


@pytest.mark.parametrize("name", REGRESSORS)
@given(data=st.data(), kind=st.sampled_from(["real", "zero or one", "constant", "counts", "huge"]))
def test_every_regressor_that_fits_can_be_saved(name, data, kind, tmp_path_factory):
    frame, weight, level = data.draw(tables(least_rows=1))
    options = data.draw(draw_settings(REGRESSORS[name]))
    y = {
        "real": level,
        "zero or one": (level > np.median(level)).astype(np.float64),
        "constant": np.full(len(level), 3.7),
        "counts": np.floor(5.0 * np.abs(level)),
        "huge": 1e200 * level,
    }[kind]
    if options.get("loss") in ("poisson", "gamma"):
        y = np.abs(level) + 0.01
    if options.get("loss") in ("absolute_error", "quantile"):
        options.pop("leaf", None)  # their leaves are constant
    if options.get("loss") == "quantile":
        options["quantile"] = 0.3
    model = getattr(lhtree, name)(random_state=0, n_jobs=1, **options).fit(frame, y, sample_weight=weight)
    check_saved(model, frame, tmp_path_factory.mktemp("fit"), ["predict"])
    response = model._model.response
    event(f"has intervals: {response.residual is not None}")
    if response.residual is not None:
        assert np.isfinite(model.predict_interval(frame, coverage=1e-3)).all()
