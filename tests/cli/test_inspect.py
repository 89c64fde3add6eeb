"""``lhtree inspect``."""

import json
import re

import pytest

import lhtree
from support.shop import fit_models, make_table, shop, succeed  # noqa: F401


@pytest.mark.usefixtures("shop")
class TestInspect:
    def test_all_facts_are_shown(self, capsys):
        shown = succeed(capsys, "inspect", "model.lht").out
        facts = lhtree.inspect("model.lht")
        assert facts["sha256"] in shown
        for name in (*facts["parameters"], *facts["arrays"], *facts["feature_names"]):
            assert f"\n{name} " in shown
        assert "3 categories: blue, green, red" in shown
        assert "the shop's [first] year" in shown  # brackets are no markup
        assert f"{facts['n_blocks']}, including {facts['n_leaves']} leaves" in shown
        assert re.search("^trained on +300 rows$", shown, re.MULTILINE)

    def test_rows_are_those_of_the_table(self, capsys):
        """A round draws half of the rows, and a tree of a forest has a part of them."""
        table = make_table()
        X, y = table.drop(columns="y"), table["y"]
        for model in (
            lhtree.LHBoostClassifier(4, subsample=0.5, random_state=0),
            lhtree.LHForestClassifier(3, random_state=0),
        ):
            lhtree.save(model.fit(X, y), "new.lht")
            assert max(tree.n_samples[0] for tree in model.trees_) < 300
            assert lhtree.inspect("new.lht")["n_samples"] == 300
            assert re.search(
                "^trained on +300 rows$", succeed(capsys, "inspect", "new.lht").out, re.MULTILINE
            )

    def test_constraints_are_shown_by_column(self, capsys):
        asked = ("fit", "data.csv", "-t", "y", "-o", "new.lht", "--model", "boost", "--rounds", 2)
        succeed(capsys, *asked, "--increasing", "size", "--decreasing", "weight")
        assert '{"size": 1, "weight": -1}\n' in succeed(capsys, "inspect", "new.lht").out

    def test_json(self, capsys):
        assert json.loads(succeed(capsys, "inspect", "model.lht", "--json").out) == lhtree.inspect(
            "model.lht"
        )

    def test_tree_is_shown_completely(self, capsys):
        shown = succeed(capsys, "inspect", "model.lht", "--tree", 3).out
        tree = fit_models()[0].trees_[3]
        assert shown.startswith(f"tree for class sold: {tree.n_blocks} blocks")
        assert shown.count("leaf ") == tree.n_leaves
        text = json.loads(succeed(capsys, "inspect", "model.lht", "--tree", 3, "--json").out)
        assert text == {"tree": 3, "text": shown.rstrip("\n")}

    def test_control_characters_are_escaped(self, capsys):
        forest, _ = fit_models()
        lhtree.save(forest, "odd.lht", metadata={"\x1b[31mred": "\x07bell"})
        shown = succeed(capsys, "inspect", "odd.lht").out
        assert "\x1b" not in shown
        assert r"\x1b[31mred" in shown
        assert r"\x07bell" in shown


def test_version(capsys):
    assert succeed(capsys, "version").out == f"lhtree {lhtree.__version__}\n"
    assert succeed(capsys, "--version").out == f"lhtree {lhtree.__version__}\n"


def test_verbose_version_is_show_versions(capsys):
    shown = succeed(capsys, "version", "--verbose").out
    lhtree.show_versions()
    assert shown == capsys.readouterr().out
    assert {"Python", "numpy", "compiler", "instruction"} <= {line.split()[0] for line in shown.splitlines()}
