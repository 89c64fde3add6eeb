"""``lhtree fit`` fits the same model as the library."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lhtree
from support.shop import make_table, shop, succeed  # noqa: F401

FOREST = ("--model", "forest", "--trees", 5)


@pytest.mark.usefixtures("shop")
class TestModels:
    @pytest.mark.parametrize(
        ("options", "estimator"),
        [
            ("", lhtree.LHBoostClassifier()),
            ("--model forest", lhtree.LHForestClassifier()),
            ("--model forest --trees 7 --seed 3", lhtree.LHForestClassifier(7, random_state=3)),
            ("--model forest --direction mixed --trees 5", lhtree.LHForestClassifier(5, direction="mixed")),
            ("--model tree --beta 0.25 --gamma 0.05", lhtree.LHTClassifier(beta=0.25, gamma=0.05)),
            (
                "--model forest --trees 3 --gamma 20 --beta schedule",
                lhtree.LHForestClassifier(3, gamma=20, beta="schedule"),
            ),
            (
                "--model forest --trees 3 --min-samples-leaf 20 --class-weight balanced --threads 2",
                lhtree.LHForestClassifier(3, min_samples_leaf=20, class_weight="balanced"),
            ),
            (
                "--model tree --membership least_squares --max-depth 3",
                lhtree.LHTClassifier(membership="least_squares", max_depth=3),
            ),
            ("--rounds 9 --seed 3", lhtree.LHBoostClassifier(9, random_state=3)),
            (
                "--model compact --leaves 4 --terms 2 --penalty 0.5 --membership linear",
                lhtree.CompactLHTClassifier(max_leaf_nodes=4, max_terms=2, penalty=0.5, membership="linear"),
            ),
            ("--model compact --penalty auto", lhtree.CompactLHTClassifier(penalty="auto")),
            (
                "--model additive --interactions 1 --steps 3 --smoothing 2 --rounds 9",
                lhtree.AdditiveLHTClassifier(1, max_steps=3, smoothing=2.0, max_iter=9),
            ),
            (
                "--model boost --rounds 8 --learning-rate 0.2 --direction single --max-depth 3 --threads 2",
                lhtree.LHBoostClassifier(8, learning_rate=0.2, direction="single", max_depth=3),
            ),
            (
                "--model boost --rounds 30 --learning-rate auto --early-stopping --min-samples-leaf 5 "
                "--increasing size --decreasing weight --l2-regularization 3 --n-directed 2",
                lhtree.LHBoostClassifier(
                    30,
                    early_stopping=True,
                    min_samples_leaf=5,
                    monotonic_cst={"size": 1, "weight": -1},
                    l2_regularization=3.0,
                    n_directed=2,
                ),
            ),
        ],
    )
    def test_model_equals_that_of_the_library(self, capsys, options, estimator):
        estimator = clone(estimator).set_params(random_state=estimator.random_state or 0)
        succeed(capsys, "fit", "data.csv", "--target", "y", "--out", "new.lht", *options.split())
        model, frame = lhtree.load("new.lht"), make_table()
        X = frame.drop(columns="y")
        assert str(model) == str(estimator)
        expected = estimator.fit(X, frame["y"])
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        assert model.feature_names_in_.tolist() == ["size", "weight", "colour", "shop"]

    @pytest.mark.parametrize("direction", ["fisher", "mixed"])
    @pytest.mark.parametrize("kind", ["tree", "forest"])
    def test_gamma_without_effect_is_noted(self, capsys, direction, kind):
        arguments = ("--target", "y", "--model", kind, "--direction", direction)
        ran = succeed(capsys, "fit", "data.csv", *arguments, "--out", "new.lht", "--gamma", 50)
        assert (
            ran.err
            == f"lhtree: --gamma has no effect with --direction {direction}: use --min-samples-leaf instead\n"
        )
        assert succeed(capsys, "fit", "data.csv", *arguments, "--out", "old.lht").err == ""
        X = make_table().drop(columns="y")
        old, new = (lhtree.load(name).predict_proba(X) for name in ("old.lht", "new.lht"))
        np.testing.assert_array_equal(old, new)

    def test_output_of_rounds(self, capsys):
        asked = ("fit", "data.csv", "-t", "y", "-o", "new.lht", "--rounds", 5)
        assert "\n5 trees of 5 rounds fitted on all rows in " in succeed(capsys, *asked).out
        shown = succeed(capsys, *asked, "--early-stopping").out
        assert "rounds fitted on all rows but a tenth, held out for early stopping, in " in shown
        model = json.loads(succeed(capsys, *asked, "--json").out)["model"]
        assert (model["n_trees"], model["n_rounds"]) == (5, 5)

    def test_output_of_one_term_is_singular(self, capsys):
        asked = ("fit", "data.csv", "-t", "y", "-o", "new.lht", "--model", "compact")
        ran = succeed(capsys, *asked, "--leaves", 2, "--terms", 1)
        assert "\n1 tree of 2 leaves and 1 term fitted on all rows in " in ran.out

    def test_constant_predictions_are_noted(self, capsys):
        make_table()[:30].to_csv("few.csv", index=False)
        asked = ("fit", "few.csv", "-t", "y", "-o", "new.lht", "--rounds", 9, "--min-samples-leaf", 20)
        told = "every prediction is the same: a small table needs a smaller --min-samples-leaf than 20\n"
        assert succeed(capsys, *asked).err.endswith(told)
        assert succeed(capsys, *asked[:-2]).err == ""

    def test_identifier_columns_are_noted(self, capsys):
        make_table().assign(order=[f"no. {n}" for n in range(300)]).to_csv("orders.csv", index=False)
        ran = succeed(capsys, "fit", "orders.csv", "-t", "y", "-o", "new.lht", "--rounds", 2)
        assert ran.err.startswith("lhtree: column 'order' has 300 categories in 300 rows, so it names rows")

    def test_json(self, capsys):
        ran = succeed(
            capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", *FOREST, "--holdout", 0.25, "--json"
        )
        facts = json.loads(ran.out)
        assert facts["table"]["numbers"] == ["size", "weight"]
        assert facts["table"]["categories"] == {
            "colour": ["blue", "green", "red"],
            "shop": ["north", "south"],
        }
        assert facts["table"]["missing"] == {"size": 10, "colour": 15}
        assert facts["table"]["classes"][0] == {"class": "kept", "n_rows": 163}
        assert facts["holdout"]["n_rows"] == 75
        assert facts["model"]["n_bytes"] == os.path.getsize("new.lht")
        assert facts["model"]["n_trees"] == 5

    def test_holdout_is_stratified_and_the_model_uses_all_rows(self, capsys):
        from sklearn.model_selection import train_test_split

        frame = make_table()
        X, y = frame.drop(columns="y"), frame["y"]
        ran = succeed(
            capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", *FOREST, "--holdout", 0.2, "--json"
        )
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
        model = lhtree.LHForestClassifier(5, random_state=0).fit(X_train, y_train)
        assert json.loads(ran.out)["holdout"]["accuracy"] == pytest.approx(model.score(X_test, y_test))
        ran = succeed(capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", *FOREST, "--holdout", 0.2)
        assert "Hold-out results" in ran.out
        assert lhtree.inspect("new.lht")["n_samples"] == 300

    def test_metadata(self, capsys):
        given = ["--metadata", "by=Ada", "--metadata", "rule=a=b"]
        succeed(capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", "--rounds", 2, *given)
        assert lhtree.load_scorer("new.lht").metadata == {"by": "Ada", "rule": "a=b"}

    def test_columns(self, capsys):
        frame = make_table().assign(id=range(300), code=np.arange(300) % 3)
        frame.to_csv("codes.csv", index=False)
        options = ["--id", "id", "--drop", "shop", "--categorical", "code"]
        succeed(capsys, "fit", "codes.csv", "-t", "y", "-o", "new.lht", "--rounds", 2, *options)
        encoding = lhtree.inspect("new.lht")["encoding"]
        assert encoding["names"] == ["size", "weight", "colour", "code"]
        assert encoding["columns"][3]["categories"] == ["0", "1", "2"]
        ran = succeed(capsys, "predict", "new.lht", "codes.csv", "--out", "out.csv")
        assert ran.err == ""

    def test_rows_without_a_class_can_be_dropped(self, capsys):
        frame = make_table()
        frame.loc[:9, ["y", "shop"]] = [None, "west"]
        frame.to_csv("some.csv", index=False)
        ran = succeed(
            capsys, "fit", "some.csv", "-t", "y", "-o", "new.lht", "--rounds", 2, "--drop-missing-target"
        )
        assert "290 rows, 10 without a target dropped" in ran.out
        assert "shop (2)" in ran.out  # as in the model: west was dropped

    def test_long_lists_of_columns_are_shortened(self, capsys):
        wide = pd.DataFrame(
            np.random.default_rng(0).normal(size=(20, 30)), columns=[f"f{i}" for i in range(30)]
        )
        wide.assign(y=["a", "b"] * 10).to_csv("wide.csv", index=False)
        ran = succeed(capsys, "fit", "wide.csv", "-t", "y", "-o", "new.lht", "--rounds", 2)
        assert "f10, f11 and 18 more\n" in ran.out
