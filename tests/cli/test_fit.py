"""``lhtree fit``: the model is the one that Python would fit."""

import json
import os

import numpy as np
import pytest
from sklearn.base import clone

import lhtree
from support.shop import fail, make_table, run, shop, succeed  # noqa: F401

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.mark.usefixtures("shop")
class TestModels:
    @pytest.mark.parametrize(
        ("options", "estimator"),
        [
            ("", lhtree.LHForestClassifier()),
            ("--trees 7 --seed 3", lhtree.LHForestClassifier(7, random_state=3)),
            ("--direction mixed --trees 5", lhtree.LHForestClassifier(5, direction="mixed")),
            ("--model tree --beta 0.25 --gamma 0.05", lhtree.LHTClassifier(beta=0.25, gamma=0.05)),
            ("--trees 3 --gamma 20 --beta schedule", lhtree.LHForestClassifier(3, gamma=20, beta="schedule")),
            (
                "--trees 3 --min-samples-leaf 20 --class-weight balanced --threads 2",
                lhtree.LHForestClassifier(3, min_samples_leaf=20, class_weight="balanced"),
            ),
            (
                "--model tree --membership least_squares --max-depth 3",
                lhtree.LHTClassifier(membership="least_squares", max_depth=3),
            ),
            ("--model boost --rounds 9 --seed 3", lhtree.LHBoostClassifier(9, random_state=3)),
            (
                "--model compact --leaves 4 --terms 2 --penalty 0.5 --digits 2 --membership linear",
                lhtree.CompactLHTClassifier(
                    max_leaf_nodes=4, max_terms=2, penalty=0.5, digits=2, membership="linear"
                ),
            ),
            ("--model compact --penalty cv", lhtree.CompactLHTClassifier(penalty="cv")),
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
    def test_it_is_the_one_of_the_library(self, capsys, options, estimator):
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

    def test_what_is_told(self, capsys):
        ran = succeed(capsys, "fit", "data.csv", "--target", "y", "--out", "new.lht", "--trees", 5)
        assert ran.err == ""
        lines = ran.out.splitlines()
        assert lines[:5] == [
            "table        data.csv: 300 rows",
            "numeric      size, weight",
            "categorical  colour (3), shop (2)",
            "missing      25 values in size, colour",
            "classes      kept (163), sold (137)",
        ]
        assert lines[6] == "LHForestClassifier(n_estimators=5, random_state=0)"
        assert lines[7].startswith("5 trees fitted on all rows in ")
        assert lines[8].startswith("new.lht written, ")

    def test_rounds_are_told(self, capsys):
        asked = ("fit", "data.csv", "-t", "y", "-o", "new.lht", "--model", "boost", "--rounds", 5)
        assert "\n5 trees of 5 rounds fitted on all rows in " in succeed(capsys, *asked).out
        shown = succeed(capsys, *asked, "--early-stopping").out
        assert "rounds fitted on all rows but a tenth, held out for early stopping, in " in shown
        model = json.loads(succeed(capsys, *asked, "--json").out)["model"]
        assert (model["n_trees"], model["n_rounds"]) == (5, 5)

    def test_one_term_is_told_in_the_singular(self, capsys):
        asked = ("fit", "data.csv", "-t", "y", "-o", "new.lht", "--model", "compact")
        ran = succeed(capsys, *asked, "--leaves", 2, "--terms", 1)
        assert "\n1 tree of 2 leaves and 1 term fitted on all rows in " in ran.out

    def test_a_column_that_names_rows_is_noted(self, capsys):
        make_table().assign(order=[f"no. {n}" for n in range(300)]).to_csv("orders.csv", index=False)
        ran = succeed(capsys, "fit", "orders.csv", "-t", "y", "-o", "new.lht", "--trees", 2)
        assert ran.err.startswith("lhtree: column 'order' has 300 categories in 300 rows, so it names rows")

    def test_json(self, capsys):
        ran = succeed(
            capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", "--trees", 5, "--holdout", 0.25, "--json"
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

    def test_rows_held_back_are_drawn_by_class_and_the_model_is_of_all(self, capsys):
        from sklearn.model_selection import train_test_split

        frame = make_table()
        X, y = frame.drop(columns="y"), frame["y"]
        ran = succeed(
            capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", "--trees", 5, "--holdout", 0.2, "--json"
        )
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
        model = lhtree.LHForestClassifier(5, random_state=0).fit(X_train, y_train)
        assert json.loads(ran.out)["holdout"]["accuracy"] == pytest.approx(model.score(X_test, y_test))
        ran = succeed(capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", "--trees", 5, "--holdout", 0.2)
        assert "Hold-out results" in ran.out
        assert lhtree.inspect("new.lht")["n_samples"] == 240  # 0.8 of all rows for every tree

    def test_metadata(self, capsys):
        given = ["--metadata", "by=Ada", "--metadata", "rule=a=b"]
        succeed(capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", "--trees", 2, *given)
        assert lhtree.load_scorer("new.lht").metadata == {"by": "Ada", "rule": "a=b"}

    def test_columns(self, capsys):
        frame = make_table().assign(id=range(300), code=np.arange(300) % 3)
        frame.to_csv("codes.csv", index=False)
        options = ["--id", "id", "--drop", "shop", "--categorical", "code"]
        succeed(capsys, "fit", "codes.csv", "-t", "y", "-o", "new.lht", "--trees", 2, *options)
        encoding = lhtree.inspect("new.lht")["encoding"]
        assert encoding["names"] == ["size", "weight", "colour", "code"]
        assert encoding["columns"][3]["categories"] == ["0", "1", "2"]
        ran = succeed(capsys, "predict", "new.lht", "codes.csv", "--out", "out.csv")
        assert ran.err == ""

    def test_rows_without_a_class(self, capsys):
        frame = make_table()
        frame.loc[:9, ["y", "shop"]] = [None, "west"]
        frame.to_csv("some.csv", index=False)
        ran = fail(capsys, "fit", "some.csv", "-t", "y", "-o", "new.lht")
        assert ran.code == 1
        assert "--target y is missing in 10 of 300 rows" in ran.err
        ran = succeed(
            capsys, "fit", "some.csv", "-t", "y", "-o", "new.lht", "--trees", 2, "--drop-missing-target"
        )
        assert "290 rows, 10 without a target dropped" in ran.out
        assert "shop (2)" in ran.out  # as in the model: west was dropped

    def test_wide_tables_are_told_in_short(self, capsys):
        wide = pd.DataFrame(
            np.random.default_rng(0).normal(size=(20, 30)), columns=[f"f{i}" for i in range(30)]
        )
        wide.assign(y=["a", "b"] * 10).to_csv("wide.csv", index=False)
        ran = succeed(capsys, "fit", "wide.csv", "-t", "y", "-o", "new.lht", "--trees", 2)
        assert "f10, f11 and 18 more\n" in ran.out


@pytest.mark.usefixtures("shop")
class TestRefusals:
    def refuse(self, capsys, *options, code, data="data.csv", target="y", out="new.lht"):
        before = sorted(os.listdir())
        ran = fail(capsys, "fit", data, "--target", target, "--out", out, *options)
        assert ran.code == code
        assert sorted(os.listdir()) == before
        return ran.err.removeprefix("lhtree: ").rstrip("\n")

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--beta", "x"], "--beta x is not valid: pass a number or auto or schedule"),
            (["--learning-rate", "x"], "--learning-rate x is not valid: pass a number or auto"),
            (["--rounds", 0], "--rounds 0 is too small: pass 1 or more"),
            (["--rounds", 5], "--rounds does not apply to --model forest: omit it, or pass --model boost"),
            (
                ["--early-stopping"],
                "--early-stopping does not apply to --model forest: omit it, or pass --model boost",
            ),
            (
                ["--model", "boost", "--gamma", 5],
                "--gamma does not apply to --model boost: omit it, or pass --model tree or forest",
            ),
            (
                ["--model", "tree", "--increasing", "size"],
                "--increasing or --decreasing does not apply to --model tree: omit it, or pass --model boost",
            ),
            (
                ["--model", "boost", "--increasing", "size", "--decreasing", "size"],
                "--increasing size contradicts --decreasing size: pass one of them",
            ),
            (
                ["--model", "boost", "--direction", "fisher"],
                "--direction fisher does not apply to --model boost: pass mixed or single",
            ),
            (
                ["--model", "tree", "--direction", "single"],
                "--direction single does not apply to --model tree: pass mean_difference or fisher or mixed",
            ),
            (
                ["--model", "boost", "--loss", "poisson", "--quantile", 0.9],
                "--quantile does not apply to --loss poisson: omit one of them, or pass --loss quantile",
            ),
            (["--gamma", "much"], "--gamma much is not valid: pass a number"),
            (["--metadata", "alone"], "--metadata alone is not valid: pass KEY=VALUE"),
            (["--metadata", "=a"], "--metadata =a is not valid: pass KEY=VALUE"),
            (
                ["--model", "tree", "--trees", 5],
                "--trees does not apply to --model tree: omit it, or pass --model forest",
            ),
            (["--holdout", 1.5], "--holdout 1.5 is not valid: pass a share between 0 and 1"),
            (["--holdout", "nan"], "--holdout nan is not valid: pass a share between 0 and 1"),
            (["--threads", 0], "--threads 0 is not valid: pass 1 or more, or -1 for all cores"),
            (["--format", "xls"], "--format xls is not valid: pass one of csv, tsv, parquet, arrow"),
        ],
    )
    def test_options(self, capsys, options, told):
        assert self.refuse(capsys, *options, code=2) == told

    @pytest.mark.parametrize("options", [["--beta", 1], ["--beta", "nan"], ["--gamma", 0], ["--gamma", -3]])
    def test_parameters(self, capsys, options):
        assert "is not valid: pass" in self.refuse(capsys, *options, code=1)

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--learning-rate", 0], "learning_rate=0 is not valid: pass 'auto' or a number in (0, 1]"),
            (
                ["--increasing", "colour"],
                "--increasing colour is categorical: constraints are for numeric columns only",
            ),
            (
                ["--decreasing", "sise"],
                "--decreasing sise is not a column of data.csv (did you mean 'size'?)",
            ),
        ],
    )
    def test_parameters_of_boosting(self, capsys, options, told):
        assert told in self.refuse(capsys, "--model", "boost", *options, code=1)

    @pytest.mark.parametrize(
        "options",
        [["--trees", 0], ["--seed", -1], ["--max-depth", 0], ["--membership", "full"], ["--model", "bush"]],
    )
    def test_what_typer_refuses(self, capsys, options):
        ran = run(capsys, "fit", "data.csv", "-t", "y", "-o", "new.lht", *options)
        assert ran.code == 2
        assert "Traceback" not in ran.err

    def test_too_few_rows_to_hold_back(self, capsys):
        make_table()[:3].assign(y=["a", "b", "b"]).to_csv("few.csv", index=False)
        told = self.refuse(capsys, "--holdout", 0.5, data="few.csv", code=1)
        assert told.startswith("--holdout 0.5 cannot be stratified: class 'a' has 1 of 3 rows")

    def test_places(self, capsys):
        assert "no/model.lht: the directory no does not exist" in self.refuse(
            capsys, out="no/model.lht", code=4
        )
        assert "it is an input file" in self.refuse(capsys, out="data.csv", code=4)
        assert "not a regular file" in self.refuse(capsys, out="/dev/null", code=4)
