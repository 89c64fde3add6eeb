"""Merging of steps: the values of merged cells, and the held-out loss that limits the merging."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lhtree import AdditiveLHTRegressor
from lhtree.grow import additive
from lhtree.grow.additive.bags import Axis, Bags, TermValues
from lhtree.grow.additive.merging import find_paths, flatten_bags, merge_cells
from reference import additive as slow


@st.composite
def terms(draw):
    """Draw a curve or a surface of two bags, with its Hessians, and a cost."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(2, 7), min_size=1, max_size=2))
    axes = tuple(
        Axis(slot, range(slot, slot + 1), draw(st.booleans()), np.arange(size, dtype=np.uint8))
        for slot, size in enumerate(sizes)
    )
    values = random.normal(size=(2, *sizes, draw(st.integers(1, 2))))
    hessian = random.uniform(0.1, 2.0, sizes) * (random.random(sizes) < draw(st.sampled_from([0.7, 1.0])))
    return TermValues(axes, values), hessian, draw(st.sampled_from([0.0, 0.1, 1.0, 1e9]))


@given(terms())
def test_every_bag_has_the_means_of_cells_that_its_own_values_merge(drawn):
    term, hessian, cost = drawn
    paths = [find_paths(term.axes, values, hessian) for values in term.values]
    (flat,) = flatten_bags([term], [hessian], [paths], cost)
    assert flat.axes == term.axes
    is_ordered = [axis.is_ordered for axis in term.axes]
    for own, values in zip(flat.values, term.values, strict=True):
        groups = slow.group_cells(values, hessian, is_ordered, cost)
        if hessian.all():  # cells of no weight are merged for nothing, in any order
            np.testing.assert_allclose(own, slow.flatten(values, hessian, groups), rtol=1e-9, atol=1e-12)


@given(terms())
def test_merged_terms_have_the_means_of_the_cells_merged_by_all_bags(drawn):
    term, hessian, cost = drawn
    groups = [path.group(cost) for path in find_paths(term.axes, term.values.mean(axis=0), hessian)]
    merged = merge_cells(term, hessian, groups)
    listed = [
        [np.flatnonzero(group == number).tolist() for number in range(group.max() + 1)] + [[len(group)]]
        for group in groups
    ]
    assert merged.shape == tuple(len(own) for own in listed)
    back = np.ix_(*(axis.cell for axis in merged.axes))
    for own, values in zip(merged.values, term.values, strict=True):
        expected = slow.flatten(values, hessian, listed)
        np.testing.assert_allclose(own[back], expected, rtol=1e-9, atol=1e-12)


def test_the_held_out_loss_of_merging_is_that_of_other_rows(monkeypatch):
    """Merges by the mean of all bags, most of which learn from the rows held out from a bag, seem to gain."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_300, 20))
    y = X[:, 0] + random.normal(size=len(X))
    found = []
    original = Bags.measure

    def measure(self, terms):
        found.append(original(self, terms))
        return found[-1]

    def merge_steps(bags, terms):
        monkeypatch.setattr(Bags, "measure", measure)
        return original_merge(bags, terms)

    original_merge = additive.merge_steps
    monkeypatch.setattr(additive, "merge_steps", merge_steps)
    losses = {}
    for share in (0.0, 0.02):
        monkeypatch.setattr(additive.merging, "_MERGE_SHARES", (share,))
        found.clear()
        model = AdditiveLHTRegressor(interactions=0, random_state=0, l2_regularization=1.0)
        model.fit(X[:300], y[:300])
        losses[share] = found[0], np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    (held, other), (held_merged, other_merged) = losses.values()
    assert abs(held_merged / held - other_merged / other) < 0.03
