"""Compact trees made by hand, with random terms over a table that has everything, and rows to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import lhtree
from lhtree.describe.outline import NUMBER, Outline, OutlineBlock, OutlineTerm
from lhtree.model.model import Model
from lhtree.model.trees import Trees

LABELS = {
    "text": ["kept", "sold", 'it\'s "lost"', "weg"],
    "number": [0, 1, 2, 7],
    "whole": [0.0, 1.0, 2.0, -7.0],
    "flag": [False, True],
}
LONG = [f"mean_concave_points_of_the_nucleus_{i}_(worst, µm)" for i in range(30)]
NAMES = ("size", "weight (kg) - net", "x * y [z]", "colour", "größe, alt", "plan")


def make_frame(random: np.random.Generator, n_rows: int) -> Any:
    """Numbers with gaps, text with gaps, categories that are numbers."""
    size, net, odd, colour, old, plan = NAMES
    frame = pd.DataFrame(
        {
            size: random.normal(50, 10, n_rows).round(1),
            net: random.gamma(2, 3, n_rows).round(2),
            odd: random.integers(-3, 4, n_rows).astype(np.float64),
            colour: random.choice(["red", "dark - green", "b'l\"ue"], n_rows, p=[0.6, 0.2, 0.2]),
            old: random.normal(0, 1e-4, n_rows),
            plan: pd.Categorical(random.choice([1, 2, 3], n_rows)),
        }
    )
    for name, share in ((size, 0.1), (odd, 0.05), (colour, 0.1), (plan, 0.1)):
        frame.loc[random.random(n_rows) < share, name] = None
    return frame


def make_customers(n_rows: int = 1500, seed: int = 0) -> tuple[Any, Any]:
    """Customers of a telephone company with long names of categories, and whether they leave."""
    random = np.random.default_rng(seed)
    pays = ("Electronic check", "Mailed check", "Bank transfer (automatic)", "Credit card (automatic)")
    frame = pd.DataFrame(
        {
            "InternetService": random.choice(["DSL", "Fiber optic", "No"], n_rows),
            "PaperlessBilling": random.choice(["Yes", "No"], n_rows, p=[0.6, 0.4]),
            "PaymentMethod": random.choice(pays, n_rows),
            "tenure": random.integers(1, 72, n_rows),
            "MonthlyCharges": random.normal(65.0, 20.0, n_rows).round(2),
        }
    )
    score = 0.03 * frame["MonthlyCharges"] - 0.05 * frame["tenure"] - 0.5
    for column, category, effect in (
        ("PaymentMethod", "Electronic check", 1.0),
        ("PaymentMethod", "Bank transfer (automatic)", -1.2),
        ("PaymentMethod", "Credit card (automatic)", 0.6),
        ("PaperlessBilling", "No", -1.5),
        ("InternetService", "Fiber optic", 1.0),
    ):
        score += effect * (frame[column] == category)
    leaves = random.random(n_rows) < 1.0 / (1.0 + np.exp(-2.0 * score))
    return frame, np.where(leaves, "leaves", "stays")


def make_model(
    seed: int,
    kind: str = "text",
    n_classes: int = 3,
    n_leaves: int = 6,
    *,
    digits: int | None = 3,
    left: list[int] | None = None,
) -> tuple[Model, Any]:
    """A model with random terms, and a frame of rows it was not made from; some trees of two classes are linear.

    ``left`` are the left children of all blocks, instead of a random tree of ``n_leaves``.
    """
    random = np.random.default_rng(seed)
    frame = make_frame(random, 60)
    labels = LABELS[kind][:n_classes]
    y = np.array(labels)[np.append(np.arange(n_classes), random.integers(n_classes, size=60 - n_classes))]
    model = lhtree.LHTClassifier(missing_indicator=True, confidence=None).fit(frame, y)._read()
    centre = np.where(np.isnan(model.normalisation.centre), 0.0, model.normalisation.centre)
    encoded = model.encode(frame)
    X = np.where(np.isnan(encoded), centre, encoded)
    left = left or draw_shape(random, n_leaves)
    return replace(model, trees=grow(random, X, n_classes, left, digits)), make_frame(random, 80)


def models() -> st.SearchStrategy[tuple[Model, Any]]:
    """Models of ``make_model`` with frames of rows."""
    return st.builds(
        make_model,
        st.integers(0, 2**32 - 1),
        st.sampled_from(["text", "number", "whole"]),
        st.integers(2, 4),
        st.integers(1, 9),
        digits=st.sampled_from([3, None]),
    )


def draw_shape(random: np.random.Generator, n_leaves: int) -> list[int]:
    """The left children of the blocks of a random tree; -1 for a leaf."""
    left, n_blocks = [-1], 1
    leaves = [0]
    while len(leaves) < n_leaves:
        block = leaves.pop(0 if random.random() < 0.7 else -1)
        left[block] = n_blocks
        left += [-1, -1]
        leaves += [n_blocks, n_blocks + 1]
        n_blocks += 2
    return left


def make_chain(n_levels: int, sides: str, *, is_forked: bool) -> list[int]:
    """The left children of a tree that continues on one side of every level; the other is a leaf, or a fork of two.

    ``sides`` are the sides of the levels in turn: "l", "r" or "lr".
    """
    left, block = [-1], 0
    for level in range(n_levels):
        first = left[block] = len(left)
        left += [-1, -1]
        block = first + (sides[level % len(sides)] == "r")
        if is_forked:
            left[2 * first + 1 - block] = len(left)
            left += [-1, -1]
    return left


CHAINS = {
    f"{sides}, {'forked' if is_forked else 'plain'}": make_chain(120, sides, is_forked=is_forked)
    for sides in ("l", "r", "lr")
    for is_forked in (False, True)
}


def grow(random: np.random.Generator, X: Any, n_classes: int, left: list[int], digits: int | None) -> Trees:
    """A tree of random lines; many bounds are the sum of a row, so that "below" and "at most" differ."""
    order = _number(left)
    features, weights, offsets = [], [], []
    for block in order:
        m = X.shape[1]
        some = np.sort(random.choice(m, size=random.integers(1, 5), replace=False))
        some = some if left[block] >= 0 else some[:0]
        own = draw_weights(random, X, some, digits)
        if len(own):
            own[random.integers(len(own))] = random.choice([1.0, -1.0])
        total = np.zeros(len(X))
        for feature, weight in zip(some, own, strict=True):
            total = total + weight * X[:, feature]
        middle = float(random.choice(total)) if len(own) else 0.0
        offsets.append(middle if random.random() < 0.5 else float(f"{middle:.3g}"))
        features.append(some)
        weights.append(own)
    n = len(order)
    number = {block: place for place, block in enumerate(order)}
    shares = random.dirichlet(np.ones(n_classes), size=n)
    weight = np.full(n, 60.0)
    unit = np.concatenate(weights)
    arrays: dict[str, Any] = {
        "target": np.array([1 if n_classes == 2 else -1], dtype=np.int32),
        "block_ptr": np.array([0, n], dtype=np.int64),
        "left": np.array([number[left[b]] if left[b] >= 0 else -1 for b in order], dtype=np.int32),
        "n_samples": np.full(n, 60, dtype=np.int32),
        "weight": weight,
        "n_target": 60.0 * (shares[:, 1] if n_classes == 2 else shares.max(axis=1)),
        "offset": np.zeros(n),
        "intercept": shares[:, 1].copy() if n_classes == 2 else shares.max(axis=1),
        "hyperplane_ptr": np.cumsum([0, *map(len, weights)]).astype(np.int64),
        "hyperplane_feature": np.concatenate(features).astype(np.int32),
        "hyperplane_weight": np.sign(unit).astype(np.float32),
        "membership_ptr": np.zeros(n + 1, dtype=np.int64),
        "membership_feature": np.zeros(0, dtype=np.int32),
        "membership_slope": np.zeros(0),
        "unit_weight": unit,
        "unit_offset": np.array(offsets),
    }
    if n_classes > 2:
        arrays |= {
            "value_ptr": np.arange(n + 1, dtype=np.int64) * n_classes,
            "value_class": np.tile(np.arange(n_classes, dtype=np.int32), n),
            "value": shares.ravel(),
        }
    elif random.random() < 0.5:
        arrays |= draw_slopes(random, X, arrays["left"] < 0, digits)
    return Trees(**arrays)


def turn_over(model: Model) -> Model:
    """The model with a root that compares a single category the other way round: the same cut, its sides exchanged."""
    trees = model.trees
    arrays = trees.arrays()
    flipped = -arrays["unit_weight"]
    assert len(flipped) == 1
    offset = arrays["unit_offset"].copy()
    offset[0] = 0.5 if flipped[0] > 0.0 else -0.5
    normalised = -arrays["hyperplane_weight"]
    changed = {"unit_weight": flipped, "unit_offset": offset, "hyperplane_weight": normalised}
    return replace(model, trees=Trees(**arrays | changed))


def draw_weights(random: np.random.Generator, X: Any, some: Any, digits: int | None) -> Any:
    """Weights of some features, so that each of them matters."""
    weights = random.normal(size=len(some)) / X[:, some].std(axis=0).clip(1e-3)
    return weights if digits is None else np.array([float(f"{weight:.{digits}g}") for weight in weights])


def draw_slopes(random: np.random.Generator, X: Any, is_leaf: Any, digits: int | None) -> dict[str, Any]:
    """Linear leaves, some of them constant, some with a range on one side of 1/2."""
    features, slopes = [], []
    for leaf in is_leaf:
        some = np.sort(random.choice(X.shape[1], size=random.integers(0, 4), replace=False))[: 4 * leaf]
        features.append(some)
        slopes.append(0.3 * draw_weights(random, X, some, digits))
    slope = np.concatenate(slopes)
    n = len(is_leaf)
    return {
        "membership_ptr": np.cumsum([0, *map(len, slopes)]).astype(np.int64),
        "membership_feature": np.concatenate(features).astype(np.int32),
        "membership_slope": slope,
        "unit_slope": slope,
        "unit_intercept": random.normal(0.5, 0.2, n).round(3),
        "intercept": np.full(n, 0.5),
        "low": random.choice([0.0, 0.3, 0.6], n),
        "high": random.choice([0.6, 0.9, 1.0], n),
    }


def _number(left: list[int]) -> list[int]:
    """The blocks breadth-first."""
    found = [0]
    for block in found:
        if left[block] >= 0:
            found += [left[block], left[block] + 1]
    return found


def make_outline(
    n_leaves: int = 16,
    n_terms: int = 8,
    n_classes: int = 3,
    names: Sequence[str] | None = None,
    *,
    is_chain: bool = False,
    seed: int = 0,
) -> Outline:
    """The outline of a tree of a size and shape, all of whose blocks have as many terms."""
    random = np.random.default_rng(seed)
    names = names or [f"feature_{i}" for i in range(30)]
    left, depth, leaves = [-1], [0], [0]
    while len(leaves) < n_leaves:
        block = leaves.pop(-1 if is_chain else int(random.integers(len(leaves))))
        left[block] = len(left)
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        depth += [depth[block] + 1] * 2
    labels = tuple(f"class_{code}" for code in range(n_classes))
    blocks = []
    for number, child in enumerate(left):
        some = np.sort(random.choice(len(names), size=n_terms, replace=False)) if child >= 0 else []
        terms = tuple(
            OutlineTerm(
                weight=float(f"{random.normal() * 10.0 ** random.integers(-5, 4):.3g}"),
                column=names[feature],
                kind=NUMBER,
                category=None,
                others=(),
                fill=float(f"{random.normal(0, 300):.4g}"),
                size=float(random.uniform(0.05, 1.0)),
            )
            for feature in some
        )
        shares = tuple(random.dirichlet(np.full(n_classes, 0.3)).tolist())
        n_rows = int(random.integers(5, 99_999)) if number else 99_999
        bound = float(f"{random.normal(0, 1e3):.5g}")
        blocks.append(
            OutlineBlock(
                number,
                depth[number],
                terms,
                bound,
                child,
                child + 1 if child >= 0 else -1,
                n_rows,
                float(n_rows),
                shares,
                labels[int(np.argmax(shares))],
            )
        )
    return Outline(tuple(blocks), labels, (1.0 / n_classes,) * n_classes, tuple(names))
