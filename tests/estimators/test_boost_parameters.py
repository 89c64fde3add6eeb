"""Every parameter of LHBoostClassifier: what it takes, what it refuses, what it does."""

import inspect

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import lhtree
from lhtree import LHBoostClassifier
from support import bridge
from support.clouds import make_clouds
from support.parameters import BAD as BAD_OF_TREES

BAD = {
    "max_iter": [0, -1, 1.5, "auto", None, True],
    "learning_rate": [0.0, -0.1, 1.5, np.nan, "fast", None, True],
    "max_depth": [0, -1, 1.5, "auto", None, True],
    "min_samples_leaf": [0, -3, 2.5, 0.1, "auto", None, True],
    "l2_regularization": [-1e-9, np.nan, np.inf, "auto", None, True],
    "subsample": [0.0, -0.1, 1.5, np.nan, "auto", None, True],
    "max_features": [0.0, -0.1, 1.5, 2, np.nan, "sqrt", None, True],
    "n_directed": [-1, 1.5, "auto", None, True],
    "direction": ["fisher", "", None, 1],
    "shrinkage": [-1e-9, np.nan, np.inf, "auto", None, True],
    "max_bins": [0, 1, 256, 2.5, "auto", None, True],
    "early_stopping": ["yes", None, 1, 0.5],
    "validation_fraction": [0.0, 1.0, -0.1, 0, -1, np.nan, "auto", True],
    "n_iter_no_change": [0, -1, 1.5, None, True],
    "tol": [-1e-9, np.nan, np.inf, "auto", None, True],
    "leaf": ["fisher", None, 1],
    "monotonic_cst": [1, "increase", [1], [[0] * 5], [0, 0, 0, 0, 2], [0.5] * 5, {"age": 1}, {"x0": True}],
    "class_weight": ["balanced_subsample", *BAD_OF_TREES["class_weight"]],
    "calibrate": BAD_OF_TREES["calibrate"],
    "categorical_features": BAD_OF_TREES["categorical_features"],
    "max_one_hot": BAD_OF_TREES["max_one_hot"],
    "unseen": BAD_OF_TREES["unseen"],
    "warm_start": ["yes", None, 2],
    "verbose": [-1, 0.5, "yes", None],
    "n_jobs": BAD_OF_TREES["n_jobs"],
    "random_state": BAD_OF_TREES["random_state"],
}
CASES = [(name, value) for name, values in BAD.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{n}-{str(v)[:12]}" for n, v in CASES])
def test_invalid_values_are_refused_by_name_value_and_remedy(two, name, value):
    model = LHBoostClassifier(**{"max_iter": 2, name: value})
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=rf"(?s)^{name}=.*is not valid: pass ") as caught:
        model.fit(*two)
    assert repr(value) in str(caught.value)
    assert model.__dict__ == before


def test_every_parameter_is_refused_something():
    assert list(BAD) == list(inspect.signature(LHBoostClassifier).parameters)


def test_names_are_those_of_scikit_learn():
    """A parameter of HistGradientBoosting that is not here is a decision: docs/coming_from.md tells it."""
    ours, theirs = set(LHBoostClassifier().get_params()), set(HistGradientBoostingClassifier().get_params())
    assert theirs - ours == {"loss", "max_leaf_nodes", "interaction_cst", "scoring"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"direction": "single"}, {"n_directed": 0}),
        ({"direction": "single"}, {"n_directed": 1}),
        ({"n_directed": 10**400}, {"n_directed": 5}),
        ({"max_depth": 10**400, "min_samples_leaf": 40}, {"max_depth": 9, "min_samples_leaf": 40}),
        ({"n_iter_no_change": 10**400, "early_stopping": True, "tol": 0}, {"early_stopping": True}),
        (
            {"learning_rate": np.float64(0.25), "max_iter": np.int64(3)},
            {"learning_rate": 0.25, "max_iter": 3},
        ),
        ({"monotonic_cst": [0] * 5}, {}),
        ({"monotonic_cst": {"x1": -1}}, {"monotonic_cst": np.array([0.0, -1.0, 0.0, 0.0, 0.0])}),
        ({"random_state": np.random.RandomState(5)}, {"random_state": 5}),
        ({"leaf": "constant", "verbose": True}, {"leaf": "auto"}),
        ({"class_weight": "balanced"}, {"class_weight": {0: 200 / 180, 1: 200 / 220}}),
    ],
)
def test_values_that_mean_the_same(given, meant):
    X, y = make_clouds(200, 5, 2)
    y[:] = 1
    y[:90] = 0
    own = {"max_iter": 4, "random_state": 0}
    models = [LHBoostClassifier(**own | some).fit(X, y) for some in (given, meant)]
    bridge.assert_same_bits(*map(bridge.arrays_of, models))


def test_parameters_do_what_they_say():
    X, y = make_clouds(400, 6, 2)
    own = {"max_iter": 6, "random_state": 0}

    def fit(**some):
        return LHBoostClassifier(**own | some).fit(X, y)._model.trees

    def n_terms(trees):
        return np.diff(trees.hyperplane_ptr)

    assert fit(max_depth=2).depths().max() == 2
    assert fit(min_samples_leaf=60, subsample=1.0).weight.min() >= 60
    assert fit(min_samples_leaf=10**400).n_blocks == 6
    assert n_terms(fit(direction="single")).max() == 1
    assert n_terms(fit()).max() == 4
    assert n_terms(fit(n_directed=2)).max() == 2
    assert np.abs(fit(l2_regularization=1e6).intercept).max() < 1e-3 < np.abs(fit().intercept).max()
    half = fit(subsample=0.5).n_samples[fit(subsample=0.5).block_ptr[:-1]]
    assert (np.abs(half - 200) < 80).all()
    roots = fit(max_features=0.01, direction="single", max_depth=1)
    assert len(set(roots.hyperplane_feature.tolist())) > 2  # a block tries one feature, another each time
    bins = LHBoostClassifier(**own, max_bins=5).fit(X, y)._model.boost.bins
    assert np.diff(bins.ptr).tolist() == [6] * 6  # and one for missing values
    assert fit(shrinkage=1e9).hyperplane_weight.tobytes() != fit().hyperplane_weight.tobytes()


def test_class_weights_and_a_rare_class():
    X, y = make_clouds(300, 3, 2)
    y = np.where(np.arange(300) % 7 == 0, y, 0)
    plain, balanced = (
        LHBoostClassifier(8, random_state=0, class_weight=weight).fit(X, y) for weight in (None, "balanced")
    )
    assert balanced.predict_proba(X)[:, 1].mean() > 2 * plain.predict_proba(X)[:, 1].mean()
    weight = np.where(y == 1, 300 / (2 * y.sum()), 300 / (2 * (300 - y.sum())))
    again = LHBoostClassifier(8, random_state=0).fit(X, y, weight)
    assert again.predict_proba(X).tobytes() == balanced.predict_proba(X).tobytes()


class TestMonotonic:
    def data(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 4))
        X[::9, 2] = np.nan
        raw = np.sin(2 * X[:, 0]) + 0.7 * X[:, 1] - np.nan_to_num(X[:, 2]) * X[:, 3]
        return X, (raw + rng.normal(0, 0.5, 600) > 0).astype(int)

    def scan(self, model, X, feature):
        """Steps of the raw score along a feature, of rows that are otherwise as they are."""
        values = np.concatenate([np.linspace(-12, 12, 80), np.sort(X[:, feature][~np.isnan(X[:, feature])])])
        rows = np.repeat(X[:25], len(values), axis=0)
        rows[:, feature] = np.tile(np.sort(values), 25)
        return np.diff(model.decision_function(rows).reshape(25, -1), axis=1)

    @pytest.mark.parametrize("direction", ["mixed", "single"])
    def test_no_violation(self, direction):
        X, y = self.data()
        signs = [1, -1, 1, 0]  # two against what the data say
        own = {"direction": direction, "learning_rate": 0.3, "min_samples_leaf": 5, "random_state": 0}
        model = LHBoostClassifier(20, **own, monotonic_cst=signs).fit(X, y)
        free = LHBoostClassifier(20, **own).fit(X, y)
        for feature, sign in enumerate(signs[:3]):
            assert (sign * self.scan(model, X, feature) >= 0.0).all()
            assert (sign * self.scan(free, X, feature) < 0.0).any()
        assert {-1.0, 1.0} < set(np.sign(self.scan(model, X, 3)).ravel().tolist())
        is_wide = np.diff(model._model.trees.hyperplane_ptr) > 1
        assert is_wide.any() == (direction == "mixed")

    def test_names_and_refusals(self, tmp_path):
        pd = pytest.importorskip("pandas")
        X, y = self.data()
        frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.array(["u", "v"])[y])
        model = LHBoostClassifier(3, monotonic_cst={"b": 1, "d": 0}, random_state=0).fit(frame, y)
        by_place = LHBoostClassifier(3, monotonic_cst=[0, 1, 0, 0, 0], random_state=0).fit(frame, y)
        bridge.assert_same_bits(bridge.arrays_of(model), bridge.arrays_of(by_place))
        for saved in (model, by_place.set_params(monotonic_cst=np.array([0, 1, 0, 0, 0]))):
            lhtree.save(saved, tmp_path / "model.lht")
            kept = lhtree.load(tmp_path / "model.lht").monotonic_cst
            assert kept == ({"b": 1, "d": 0} if saved is model else [0, 1, 0, 0, 0])
        with pytest.raises(
            ValueError, match=r"monotonic_cst=.* pass columns of X only: 'z' is not one \(available: 'a', 'b'"
        ):
            LHBoostClassifier(3, monotonic_cst={"z": 1}).fit(frame, y)
        with pytest.raises(ValueError, match=r"monotonic_cst=.* pass 0 for 'e', which is categorical"):
            LHBoostClassifier(3, monotonic_cst={"e": 1}).fit(frame, y)
        three = np.arange(600) % 3
        with pytest.raises(ValueError, match=r"monotonic_cst=.* pass None with more than two classes"):
            LHBoostClassifier(3, monotonic_cst=[1, 0, 0, 0]).fit(X, three)
        LHBoostClassifier(3, monotonic_cst=[0, 0, 0, 0]).fit(X, three)
