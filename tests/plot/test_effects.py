import matplotlib.pyplot as plt
import numpy as np
import pytest

from lhtree import LHBoostClassifier, LHBoostRegressor, plot_effects
from support import pictures
from support.adult import make_adult

pytestmark = pytest.mark.usefixtures("closing")


def find(ax, gid):
    return [each for each in (*ax.lines, *ax.patches) if each.get_gid() == gid]


def test_curves_equal_effects_of_all_classes():
    model, X, _ = pictures.wine()
    axes = plot_effects(model, X, ["proline", "hue"])
    effects = model.effects(X, ["proline", "hue"])
    for ax, effect in zip(axes, effects, strict=True):
        lines = find(ax, "mean")
        assert len(lines) == 3
        for code, line in enumerate(lines):
            np.testing.assert_array_equal(line.get_xdata(), effect.value)
            np.testing.assert_array_equal(line.get_ydata(), effect.mean[:, code])
        assert not ax.collections
        assert pictures.find_flaws(ax) == ([], [])
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["class_0", "class_1", "class_2"]


def test_two_classes_have_bands_and_categories():
    X, y = make_adult(300)
    model = LHBoostClassifier(6, random_state=0).fit(X, y)
    age, country = axes = plot_effects(model, X, ["age", "country"])
    assert len(age.collections) == 1  # the band
    assert len(find(age, "missing")) == 1
    assert country.get_yticklabels()[0].get_text().startswith("country ")
    assert "not shown" in country.get_xlabel()
    assert age.figure._supylabel.get_text() == "contribution to the raw score of >50K"
    for ax in axes:
        assert pictures.find_flaws(ax) == ([], [])


def test_target_and_given_axes_are_used():
    model, X, _ = pictures.hostile()
    given = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")[1]
    axes = plot_effects(model, X, target=model.classes_[1], n_columns=2, ax=given)
    assert list(axes) == list(given)
    effect = model.effects(X)[0]
    np.testing.assert_array_equal(find(axes[0], "mean")[0].get_ydata(), effect.mean[:, 1])


def test_regression_has_one_curve():
    _, X, y = pictures.clouds(200, 3, 2)
    model = LHBoostRegressor("poisson", max_iter=4).fit(X, y + 1.0)
    (ax,) = plot_effects(model, X, n_columns=1)
    assert ax.figure._supylabel.get_text() == "contribution to the log of the prediction"
    assert len(find(ax, "mean")) == 1


def test_all_requested_columns_are_drawn_in_their_order():
    model, X, _ = pictures.wine()
    columns = ["ash", "hue", "proline", "alcohol", "flavanoids", "magnesium", "malic_acid", "ash"]
    titles = [ax.get_title() for ax in plot_effects(model, X, columns)]
    assert titles == columns
    assert [ax.get_title() for ax in plot_effects(model, X, columns[:3], n_columns=1)] == columns[:3]
    assert len(plot_effects(model, X, n_columns=2)) == 2
