"""Boosted models that nobody fitted: random trees, valid in all that the core and files check."""

import re
from collections import deque
from dataclasses import replace

import numpy as np

from lhtree import LHBoostClassifier
from lhtree.model.model import Model
from lhtree.model.records import ResponseRecord
from lhtree.model.trees import Trees
from lhtree.tables.encoding import Encoding
from lhtree.tables.normalise import Normalisation, Span
from support.adult import make_adult
from support.clouds import make_clouds


def boosted_model(
    rng,
    n_features,
    n_classes,
    rounds,
    depth,
    *,
    max_terms=4,
    share_oblique=0.5,
    share_leaves=0.2,
    n_slopes=0,
    is_symmetric=False,
    clip=8.0,
    names=None,
    link=None,
):
    """A random boosted `Model`; of a regression with a `link` and no classes.

    Blocks use a single feature, with a side for missing values, or up to `max_terms` features in weights of
    1/32768; so many are oblique, so many above `depth` are leaves. Leaves with `n_slopes` are linear. Symmetric trees
    have one cut per level and no leaf above `depth`.
    """
    n_targets = 1 if n_classes in (0, 2) else n_classes
    targets = np.arange(n_targets) + (n_classes == 2)
    trees = None
    for target in np.tile(targets, rounds):
        cuts = _Cuts(rng, n_features, max_terms, share_oblique, is_symmetric)
        tree = _random_tree(
            rng, target, n_features, depth, cuts, 0.0 if is_symmetric else share_leaves, n_slopes
        )
        trees = tree if trees is None else trees + tree
    if link == "mean":
        trees = replace(trees, n_target=trees.n_samples / 2.0)
    centre, scale = rng.normal(size=n_features), rng.uniform(0.5, 2.0, n_features)
    prior = rng.uniform(0.5, 1.5, n_classes)
    return Model(
        trees=trees,
        encoding=Encoding.plain(n_features, names),
        normalisation=Normalisation(centre, scale),
        span=Span(centre - 12.0 * scale, centre + 12.0 * scale, np.zeros(len(centre), dtype=bool)),
        classes=np.arange(n_classes),
        prior=prior / prior.sum(),
        confidence=None,
        seed=0,
        link=link or ("logistic" if n_classes == 2 else "softmax"),
        base=None if link == "mean" else rng.normal(size=n_targets),
        response=None if link is None else ResponseRecord(-1.0, 2.0, 0.5),
        clip=clip,
    )


def boosted_rows(rng, model, n_rows, dtype=np.float64):
    """Rows for a model: most values ordinary, some missing, some far beyond the clip, shape (n, m)."""
    centre, scale = model.normalisation
    z = rng.normal(size=(n_rows, len(centre))) * rng.choice(
        [1.0, 1.0, 1.0, 6.0, 1e3, 1e35], (n_rows, len(centre))
    )
    z[rng.uniform(size=z.shape) < 0.15] = np.nan
    return (centre + scale * z).astype(dtype)


def fit_boosted(kind, growth="free"):
    """A model with its rows and classes: "adult" has two classes, categories and gaps, "clouds" three classes.

    Of "adult linear" and "clouds linear" the leaves are linear; "clouds joint" has a tree of all classes per round.
    """
    table, _, leaf = kind.partition(" ")
    if table == "adult":
        X, y = make_adult(400)
    else:
        X, y = make_clouds(300, 5, 3)
        X[::7, 1] = np.nan
        X[3] *= 50.0  # beyond the clip
    model = LHBoostClassifier(
        8,
        learning_rate=0.3,
        growth=growth,
        multi_class="one_tree" if leaf == "joint" else "one_per_class",
        min_samples_leaf=5,
        leaf="linear" if leaf == "linear" else "constant",
        random_state=0,
    )
    return model.fit(X, y), X, y


def find_wrong_words(text):
    """Words that have no meaning in a boosted model."""
    return re.findall(r"wolf|membership|confidence|logit|μ", text, flags=re.IGNORECASE)


class _Cuts:
    """Random cuts: offset, side of missing values and weights by feature."""

    def __init__(self, rng, n_features, max_terms, share_oblique, is_symmetric):
        self.rng, self.n_features, self.max_terms = rng, n_features, max_terms
        self.share_oblique, self.of_level = share_oblique, {} if is_symmetric else None

    def draw(self, level):
        """Return a cut; that of the level if the tree is symmetric."""
        return self._draw() if self.of_level is None else self.of_level.setdefault(level, self._draw())

    def _draw(self):
        rng, n_features, most = self.rng, self.n_features, min(self.max_terms, self.n_features)
        if most > 1 and rng.uniform() < self.share_oblique:
            row = _draw(rng, n_features, rng.integers(2, most + 1))
            row = {feature: np.round(w * 2**15) / 2**15 or 1.0 for feature, w in row.items()}
            return rng.normal(), 0, row
        side = rng.choice([-1, 1])
        return rng.normal(), side, {int(rng.integers(n_features)): 1.0}


def _random_tree(rng, target, n_features, depth, cuts, share_leaves, n_slopes):
    parts = {name: [] for name in ("left", "n_samples", "offset", "intercept", "missing", "gain")}
    weights, slopes = [], []
    work = deque([(0, 1000 * 2**depth)])  # depth and rows of blocks to come, breadth-first
    while work:
        level, n_samples = work.popleft()
        is_leaf = level == depth or (level > 0 and rng.uniform() < share_leaves)
        offset, side, row = 0.0, 0, {}
        if not is_leaf:
            offset, side, row = cuts.draw(level)
            n_left = int(n_samples * rng.uniform(0.25, 0.75))
            work.extend([(level + 1, n_left), (level + 1, n_samples - n_left)])
        parts["left"].append(-1 if is_leaf else len(parts["left"]) + len(work) - 1)
        parts["n_samples"].append(n_samples)
        parts["offset"].append(offset)
        parts["intercept"].append(0.3 * rng.normal())
        parts["missing"].append(side)
        parts["gain"].append(0.0 if is_leaf else rng.exponential())
        weights.append(row)
        slopes.append(_draw(rng, n_features, min(n_slopes, n_features)) if is_leaf else {})
    intercept, n_samples = np.array(parts["intercept"]), np.array(parts["n_samples"], dtype=np.int32)
    width = np.where(np.array(parts["left"]) < 0, 0.5 if n_slopes else 0.0, 0.0)
    return Trees(
        target=np.array([target], dtype=np.int32),
        block_ptr=np.array([0, len(intercept)]),
        left=np.array(parts["left"], dtype=np.int32),
        n_samples=n_samples,
        weight=n_samples.astype(np.float64),
        offset=np.array(parts["offset"]),
        intercept=intercept,
        **_as_rows("hyperplane", "weight", weights, np.float32),
        **_as_rows("membership", "slope", slopes, np.float64),
        low=intercept - width,
        high=intercept + width,
        missing=np.array(parts["missing"], dtype=np.int8),
        gain=np.array(parts["gain"]),
        **({"hyperplane_share": _share(weights)} if cuts.of_level is not None else {}),
    )


def _draw(rng, n_features, n):
    features = np.sort(rng.choice(n_features, n, replace=False))
    return dict(zip(features.tolist(), rng.uniform(-1.0, 1.0, n).tolist(), strict=True))


def _as_rows(name, value, rows, dtype):
    """Dicts as a CSR matrix."""
    return {
        f"{name}_ptr": np.cumsum([0, *map(len, rows)]),
        f"{name}_feature": np.array([feature for row in rows for feature in row], dtype=np.int32),
        f"{name}_{value}": np.array([v for row in rows for v in row.values()], dtype=dtype),
    }


def _share(rows):
    """Equal shares of the features of every block."""
    return np.array([1.0 / len(row) for row in rows for _ in row], dtype=np.float32)
