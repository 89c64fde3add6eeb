"""Tables of the weights of all hyperplanes, per block and per class, for normalised values and for original units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import refuse
from ..model.model import Model, choose_trees, read
from ..model.shares import find_contrast

if TYPE_CHECKING:
    import pandas as pd

PREDICTION = "prediction"  # replaces the class in a regression
UNITS = ("normalised", "user")


@dataclass(frozen=True, eq=False, repr=False)
class WeightTable:
    """The hyperplanes of all b branching blocks over m features, one row each.

    A sample goes right in a block if ``weights @ z >= offset`` for its normalised values z or, equivalently up to
    rounding, ``unit_weights @ x >= unit_offset`` for its values x in original units. In a boosted model,
    blocks of several features clip z to ±8, and blocks of one have a side for missing values (``trees_[i].missing``).

    Attributes
    ----------
    feature_names : list of str
    tree, block, depth : int array of shape (b,)
        Index of the tree in ``model.trees_``, of the block in the tree, and its depth.
    target : array of shape (b,)
        Class that the tree separates from the rest; None in a regression.
    weight : array of shape (b,)
        Sum of the sample weights in the block.
    lift : array of shape (b,)
        Share of the target on the right minus that on the left; if positive, going right is evidence for the class.
        In a boosted model, the value of the right block minus that of the left one; in a regression, the mean response.
    weights, unit_weights : array of shape (b, m)
        For normalised values and for original units; 0 where a block does not use a feature.
    offset, unit_offset : array of shape (b,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, weight_table
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> table = weight_table(LHTClassifier(gamma=50).fit(X, y), tree=0)
    >>> table.weights.shape
    (2, 13)
    >>> table.to_frame(units="user")[["block", "lift", "offset", "weights.proline"]].round(3)
       block   lift  offset  weights.proline
    0      0  0.855  26.040            0.003
    1      2  1.000  14.588            0.003
    """

    feature_names: list[str]
    classes: NDArray[Any]
    tree: NDArray[np.int64]
    block: NDArray[np.int64]
    depth: NDArray[np.int64]
    target: NDArray[Any]
    weight: NDArray[np.float64]
    lift: NDArray[np.float64]
    weights: NDArray[np.float64]
    unit_weights: NDArray[np.float64]
    offset: NDArray[np.float64]
    unit_offset: NDArray[np.float64]

    def __repr__(self) -> str:
        n_trees = len(np.unique(self.tree))
        return (
            f"WeightTable({len(self.block)} branching blocks of {n_trees} tree{'s' * (n_trees != 1)}, "
            f"{len(self.feature_names)} features)"
        )

    def per_class(self) -> dict[Any, dict[str, float]]:
        """Return the mean weight of every feature for every class, blocks weighted by their samples.

        Signs are flipped where needed so that a positive weight is evidence for the class: larger values lead to the
        side with more of it. With two classes there is one tree, and the first class has the negated means. A
        regression has one entry, "prediction".
        """
        turned = self.weights * np.sign(self.lift)[:, None]
        means = {}
        for label in self.classes.tolist() or [PREDICTION]:
            of_class = self.target == label if len(self.classes) else np.ones(len(self.target), dtype=bool)
            total = self.weight[of_class].sum()
            mean = self.weight[of_class] @ turned[of_class] / (total if total > 0.0 else 1.0)
            means[label] = mean
        if len(self.classes) == 2:
            first, second = self.classes.tolist()
            means[first] = -means[second]
        return {
            label: {name: float(value) + 0.0 for name, value in zip(self.feature_names, mean, strict=True)}
            for label, mean in means.items()
        }

    def to_frame(self, units: str = "normalised") -> pd.DataFrame:
        """Return one row per branching block: its position, its offset, and one column per feature.

        Parameters
        ----------
        units : {"normalised", "user"}, default="normalised"
            Weights and offsets for normalised values, which are comparable with each other, or for original units.
        """
        if units not in UNITS:
            raise refuse("units", units, f"one of {', '.join(map(repr, UNITS))}")
        is_user = units == "user"
        pandas = import_extra("pandas", "pandas")
        place = pandas.DataFrame(
            {
                "tree": self.tree,
                "target": self.target,
                "block": self.block,
                "depth": self.depth,
                "weight": self.weight,
                "lift": self.lift,
                "offset": self.unit_offset if is_user else self.offset,
            }
        )
        weights = pandas.DataFrame(
            self.unit_weights if is_user else self.weights, columns=self.feature_names
        ).add_prefix("weights.")
        frame: pd.DataFrame = pandas.concat([place, weights], axis=1)
        return frame


def weight_table(model: Any, tree: int | None = None) -> WeightTable:
    """Return weights and offsets of every branching block, and their means per class.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    tree : int, optional
        Index of the tree in ``model.trees_``; all trees by default.

    Returns
    -------
    WeightTable

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, weight_table
    >>> model = LHTClassifier().fit(*load_wine(return_X_y=True))
    >>> table = weight_table(model)
    >>> table.weights.shape == (len(table.block), 13)
    True
    """
    fitted = read(model, takes_numbers=True)
    return _tabulate(fitted, choose_trees(tree, fitted.trees.n_trees))


def _find_lift(fitted: Model, blocks: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the class of some branching blocks, and its outcome on the right minus its outcome on the left.

    In a tree of all classes it is the class in which the two sides differ most.
    """
    trees = fitted.trees
    if fitted.head.shares_classes:
        return find_contrast(trees, blocks, fitted.n_classes)
    tree = np.searchsorted(trees.block_ptr, blocks, side="right") - 1
    left = trees.root[blocks] + trees.left[blocks]
    return trees.target[tree], fitted.outcome[left + 1] - fitted.outcome[left]


def _tabulate(fitted: Model, chosen: range) -> WeightTable:
    trees = fitted.trees
    tree_of = np.repeat(np.arange(trees.n_trees), np.diff(trees.block_ptr))
    blocks = np.flatnonzero((trees.left >= 0) & (tree_of >= chosen.start) & (tree_of < chosen.stop))
    tree = tree_of[blocks]
    root = trees.block_ptr[tree]
    size = np.diff(trees.hyperplane_ptr)[blocks]
    at = np.repeat(np.arange(len(blocks)), size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    stored = trees.hyperplane_ptr[blocks][at] + within
    weights = np.zeros((len(blocks), fitted.n_features))
    weights[at, trees.hyperplane_feature[stored]] = trees.hyperplane_weight[stored]
    target, lift = _find_lift(fitted, blocks)
    unit_weights = np.zeros_like(weights)
    unit_weights[at, trees.hyperplane_feature[stored]] = fitted.unit_weights(stored)
    return WeightTable(
        feature_names=fitted.feature_names,
        classes=fitted.classes,
        tree=tree,
        block=blocks - root,
        depth=trees.depths()[blocks].astype(np.int64),
        target=fitted.classes[target] if fitted.labels else np.full(len(tree), None),
        weight=trees.weight[blocks],
        lift=lift,
        weights=weights,
        unit_weights=unit_weights,
        offset=trees.offset[blocks],
        unit_offset=fitted.unit_offsets(blocks, unit_weights),
    )
