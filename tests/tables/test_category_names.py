"""Names of categories in explanations, texts, pictures and reports."""

import json

import numpy as np
import pandas as pd
import pytest

from lhtree import LHForestClassifier, LHTClassifier, plot_membership, plot_path, report
from support.adult import make_adult
from support.reports import read_facts

CATEGORIES = ["work", "school", "country"]


@pytest.fixture(scope="module")
def table():
    X, y = make_adult(600)
    return X.drop(columns="country"), y


@pytest.fixture(scope="module")
def tree(table):
    return LHTClassifier(gamma=40, keep_prototypes=True).fit(*table)


@pytest.fixture(scope="module")
def forest(table):
    return LHForestClassifier(5, direction="mixed", random_state=0).fit(*table)


def find_row(X, **values):
    """The first row with these values."""
    return X[np.logical_and.reduce([X[name] == value for name, value in values.items()])].iloc[0]


class TestExplanation:
    def test_the_row_and_the_contributions_are_by_column(self, tree, forest, table):
        X, _ = table
        for model in (tree, forest):
            for number in range(20):
                explanation = model.explain(X.iloc[number])
                given = {name: None if pd.isna(value) else value for name, value in X.iloc[number].items()}
                for name in ("work", "school"):
                    assert explanation.row[name] == given[name]
                for label in explanation.classes:
                    parts = explanation.contributions[label]
                    assert list(parts) == X.columns.tolist()
                    end = explanation.base[label] + sum(parts.values())
                    assert end == pytest.approx(explanation.membership[label], abs=1e-9)
                json.dumps(explanation.to_dict(), allow_nan=False)

    def test_words_name_the_category(self, tree, table):
        X, _ = table
        text = str(tree.explain(find_row(X, work="private", school="master")))
        assert "school = master: " in text
        assert "school = master 1" not in text
        assert "is high: " in text or "usual" in text
        missing = str(tree.explain(X[X["school"].isna()].iloc[0]))
        assert "school is missing" in missing
        unseen = find_row(X, work="private", school="master").to_dict() | {"school": "kindergarten"}
        assert tree.explain(unseen).row["school"] is None
        assert "school = master" in tree.explain(find_row(X, school="master"))._repr_html_()

    def test_terms_name_the_category(self, tree, table):
        X, _ = table
        explanation = tree.explain(find_row(X, work="private", school="master"))
        terms = {term.feature: term for term in explanation.paths[0].steps[0].terms}
        assert terms["school = master"].what == "school = master"
        assert terms["school = master"].value == 1.0
        assert terms["school = doctor"].what == "school ≠ doctor"
        assert terms["age"].what == "age"
        missing = tree.explain(X[X["school"].isna()].iloc[0])
        terms = {term.feature: term for term in missing.paths[0].steps[0].terms}
        assert terms["school = doctor"].what == "school"
        assert terms["school = doctor"].term == 0.0

    def test_neighbours_are_rows_of_the_table(self, tree, table):
        X, y = table
        (path,) = tree.explain(X.iloc[3]).paths
        for neighbour in path.leaf.neighbours:
            given = X.iloc[neighbour.given]
            assert neighbour.label == y[neighbour.given]
            assert neighbour.row["work"] == (None if pd.isna(given["work"]) else given["work"])

    @pytest.mark.parametrize("change", [{"colour": "red"}, {"age": "old"}, {"work": 5}])
    def test_rows_that_are_refused(self, tree, table, change, rejects):
        row = table[0].iloc[0].to_dict() | change
        rejects(tree.explain, row)


class TestCounterfactuals:
    def test_counterfactuals_are_complete_rows_with_another_prediction(self, tree, forest, table):
        X, _ = table
        n_switched = 0
        for model in (tree, forest):
            for number in range(25):
                explanation = model.explain(X.iloc[number])
                for found in explanation.counterfactuals():
                    changed = pd.DataFrame([found.row])[X.columns.tolist()]
                    assert model.predict(changed)[0] == found.prediction != explanation.prediction
                    assert {name for name in X if not _same(found.row[name], explanation.row[name])} == set(
                        found.changes
                    )
                    for name, (before, after) in found.changes.items():
                        assert before is not None
                        if name in CATEGORIES:
                            n_switched += 1
                            assert after in model._model.encoding.categories[X.columns.get_loc(name)]
                            assert f"{name} were {after} instead of {before}" in str(found)
                    json.dumps(found.to_dict(), allow_nan=False)
        assert n_switched > 5

    def test_a_category_and_a_number_together_where_neither_suffices(self):
        generator = np.random.default_rng(0)
        X = pd.DataFrame(
            {"size": generator.uniform(size=600), "colour": generator.choice(["red", "blue"], 600)}
        )
        y = np.where((X["size"] > 0.5) & (X["colour"] == "red"), "yes", "no")
        model = LHTClassifier(direction="mixed").fit(X, y)
        explanation = model.explain({"size": 0.2, "colour": "blue"})
        (found, *_) = explanation.counterfactuals()
        assert set(found.changes) == {"size", "colour"}
        assert found.changes["colour"] == ("blue", "red")
        assert 0.5 < found.changes["size"][1] < 0.52
        assert model.predict(pd.DataFrame([found.row]))[0] == "yes"
        assert explanation.counterfactuals("colour") == []
        assert explanation.counterfactuals("size") == []


@pytest.mark.usefixtures("closing")
class TestPictures:
    def test_path_names_the_category(self, tree, table):
        X, _ = table
        ax = plot_path(tree.explain(find_row(X, school="master")), n_features=20)
        texts = [text.get_text() for text in ax.texts]
        assert "school = master" in texts
        assert "school ≠ doctor" in texts

    def test_memberships_along_columns(self, tree):
        for features, name in (("school", "school"), (2, "school"), (3, "gain")):
            assert plot_membership(tree, features=features).get_xlabel() == name


class TestReport:
    def test_facts(self, tree, table, tmp_path):
        X, y = table
        facts = read_facts(report(tree, X, y, tmp_path / "report.html"))
        assert facts["features"]["names"] == tree._model.encoding.feature_names
        assert [group["name"] for group in facts["features"]["groups"]] == ["work", "school"]
        assert facts["features"]["importance"] == tree.feature_importances_.tolist()
        (missing,) = (each["text"] for each in facts["warnings"] if each["kind"] == "missing")
        assert "work (" in missing
        assert "work =" not in missing


def _same(one, other):
    return one == other or (one != one and other != other)
