from decimal import Decimal
from itertools import pairwise

import matplotlib.pyplot as plt
import pytest

from lhtree import LHForestClassifier, plot_path
from lhtree.plot._path import find_rungs, find_sections, take_path
from support import pictures

pytestmark = pytest.mark.usefixtures("closing")


def test_bars_add_up_to_their_sum():
    model, X, _ = pictures.clouds(800, 9, 3, membership="least_squares", gamma=60)
    for row in X[:10]:
        for path in model.explain(row).paths:
            for n_features in (1, 4, 8, 9):
                sections = find_sections(model.trees_[path.tree], path, n_features, 1000)
                assert len(sections) == len(path.steps) + 1
                for section in sections:
                    *bars, total = section.bars
                    assert total.is_sum
                    assert sum(bar.value for bar in bars) == pytest.approx(total.value, abs=1e-9)
                    assert len(bars) <= n_features + 2


def test_bars_and_texts_equal_the_explanation():
    model, X, _ = pictures.wine(beta=0.25)
    explanation = model.explain(X.iloc[0])
    ax = plot_path(explanation, n_features=3)
    assert ax.get_title(loc="left") == "prediction: class_0, probability 100 %"
    path = take_path(explanation, explanation.prediction, 0)
    written = pictures.written(ax)
    widths = [bar.get_width() for bar in ax.patches if abs(bar.get_height()) < 1]
    values = [
        bar.value for section in find_sections(model.trees_[path.tree], path, 3, 5) for bar in section.bars
    ]
    assert len(widths) == len(values)
    assert [width > 0 for width in widths] == [value > 0 for value in values]
    for section in find_sections(model.trees_[path.tree], path, 3, 5):
        own, widths = widths[: len(section.bars)], widths[len(section.bars) :]
        largest = max(abs(bar.value) for bar in section.bars)
        numbers = section.write()
        *parts, total = map(Decimal, numbers)
        assert sum(parts) == total  # as printed
        for width, bar, number in zip(own, section.bars, numbers, strict=True):
            assert width == pytest.approx(0.5 * bar.value / largest)
            assert float(number) == pytest.approx(bar.value, abs=0.01 * largest)
            assert number.replace("-", "−") in written
            assert bar.label in written
    step = path.steps[0]
    assert f"{step.terms[0].feature} = {step.terms[0].value:.5g}" in written
    assert any(
        text.startswith(f"block 0: {step.n_target:g} of {step.weight:g} are class_0; y ≥ 0")
        for text in written
    )


def test_long_path_is_folded_in_the_middle():
    model, X, _ = pictures.clouds(1500, 4, 2, gamma=2)
    explanation = max((model.explain(row) for row in X[:20]), key=lambda e: len(e.paths[0].steps))
    steps = explanation.paths[0].steps
    assert len(steps) > 12
    sections = find_sections(model.trees_[0], explanation.paths[0], 2, 5)
    assert len(sections) == 5 + 1 + 1
    assert sections[2].title == f"… {len(steps) - 5} more blocks on the path"
    assert sections[1].title.startswith(f"block {steps[1].block}:")
    assert sections[3].title.startswith(f"block {steps[-3].block}:")
    assert pictures.find_flaws(plot_path(explanation)) == ([], [])


def test_model_with_one_leaf_has_no_blocks():
    model, X, _ = pictures.wine(gamma=10_000)
    ax = plot_path(model.explain(X.iloc[0]))
    assert not any(text.startswith("block") for text in pictures.written(ax))


def test_classes_and_trees_can_be_chosen():
    _, X, y = pictures.wine()
    model = LHForestClassifier(3, random_state=0).fit(X, y)
    explanation = model.explain(X.iloc[0])
    path = take_path(explanation, "class_2", 1)
    assert path.target == "class_2"
    assert path.tree == 5
    title = plot_path(explanation, target="class_2", tree=1).get_title(loc="left")
    assert title.endswith("(tree 1 of 3)")
    two, X, _ = pictures.clouds()
    assert take_path(two.explain(X[0]), 0, 0).target == take_path(two.explain(X[0]), 1, 0).target == 1


@pytest.mark.parametrize("make", [pictures.wine, pictures.hostile])
def test_forest_has_waterfall_of_contributions(make):
    _, X, y = make()
    explanation = LHForestClassifier(5, random_state=0).fit(X, y).explain(X.iloc[0])
    target = explanation.classes[1]
    ax = plot_path(explanation, target=target, n_features=3)
    rungs = find_rungs(explanation, target, 3)
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches] == [
        pytest.approx(rung[1:]) for rung in rungs
    ]
    assert rungs[0].end == explanation.base[target]
    assert all(above.end == below.start for above, below in pairwise(rungs[:-1]))
    assert rungs[-2].end == pytest.approx(rungs[-1].end)
    assert rungs[-1].end == explanation.membership[target]
    name, largest = max(explanation.contributions[target].items(), key=lambda part: abs(part[1]))
    assert rungs[1].label.startswith(f"{name} = ")
    assert rungs[1].end - rungs[1].start == pytest.approx(largest)
    assert rungs[-2].label.endswith(" more features")
    votes = explanation.votes[explanation.prediction]
    assert ax.get_title(loc="left").endswith(f"\n{votes} of 5 trees predict it")
    assert pictures.find_flaws(ax) == ([], [])


def test_explanation_plots_into_given_axes():
    model, X, _ = pictures.wine()
    figure, ax = plt.subplots()
    assert plot_path(model.explain(X.iloc[0]), ax=ax) is ax
    assert model.explain(X.iloc[0]).plot(ax=ax) is ax
    assert plt.get_fignums() == [figure.number]


def test_missing_value_is_labelled():
    model, X, _ = pictures.wine()
    row = X.iloc[0].copy()
    row["proline"] = float("nan")
    assert "proline = missing" in pictures.written(plot_path(model.explain(row), n_features=13))
