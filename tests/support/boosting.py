"""Boosting in the core with the options of the reference, and comparisons of both."""

from itertools import pairwise

import numpy as np

from lhtree import _core
from reference.boost import Options
from reference.boosted_leaf import Leaf
from support import bridge

BEYOND = 1e31  # the offset where all values go left, and missing ones right


def core_options(options):
    """The core's `BoostOptions` for the reference's."""
    names = (
        "l2_regularization", "min_samples_leaf", "shrinkage", "growth", "max_depth", "max_features",
        "n_directions", "n_directed",
    )  # fmt: skip
    return _core.BoostOptions(
        **{name: getattr(options, name) for name in (*names, "learning_rate", "subsample")},
        leaf=options.leaf,
        is_joint=options.is_joint,
        monotonic=None if options.monotonic is None else np.array(options.monotonic, dtype=np.int8),
    )


def boost(
    X, y, options=None, *, n_rounds=5, n_classes=None, seed=0, n_threads=1, X_val=None, bins=None, **given
):
    """Boost in the core, on values that are normalised already unless `centre` and `scale` are given.

    `y` has classes, unless a `loss` of responses is given; rows of `X_val` come after those of `X`. The result has the
    bins, and is None if a value is infinite.
    """
    names = ("patience", "tol", "earlier", "first")
    of_rounds = {name: given.pop(name) for name in names if name in given}
    try:
        parts = Partitions(
            [], np.asarray(X), y, options, n_classes=n_classes, seed=seed, n_threads=n_threads,
            X_val=X_val, bins=bins, **given,
        )  # fmt: skip
    except InfiniteError:
        return None
    found = parts.boost(parts.rows[0], n_rounds=n_rounds, n_threads=n_threads, **of_rounds)
    return found | {"bins": parts.bins.arrays()}


class InfiniteError(Exception):
    """A value is infinite."""


def label(y, n_classes, loss):
    """Return the labels of rows as arguments of the core: classes, unless there is a loss of responses."""
    if loss is not None:
        response = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return {"loss": loss, "response": response, "n_responses": response.shape[1]}
    n_classes = n_classes or int(max(y)) + 1
    loss = "logistic" if n_classes == 2 else "softmax"
    return {"loss": loss, "classes": np.asarray(y, dtype=np.int32), "n_classes": n_classes}


class Partitions:
    """The rows of a table in partitions, cut at some row numbers, each of which answers messages.

    The same as the arguments of ``boost``.
    """

    def __init__(
        self,
        cuts,
        X,
        y,
        options=None,
        *,
        n_classes=None,
        loss=None,
        quantile=0.5,
        seed=0,
        weight=None,
        held=None,
        codes=None,
        levels=None,
        centre=None,
        scale=None,
        n_threads=1,
        X_val=None,
        bins=None,
    ):
        self.options, self.seed, n_rows = options or Options(), seed, len(y)
        labels = label(y, n_classes, loss)
        learned = np.ones(n_rows, dtype=bool) if held is None else held == 0
        sample = _core.sample_rows(len(X), seed)
        of_weights = {}
        if weight is not None and len(weight) == n_rows:  # the core rejects others
            known = weight[learned]
            unit = _core.find_weight_unit(known.max(), bool((known == np.floor(known)).all()), n_rows)
            of_weights = {"weight": weight[sample], "weight_unit": unit}
        m = X.shape[1] if levels is None else int(np.maximum(levels, 1).sum())
        scales = {
            "centre": np.zeros(m) if centre is None else centre,
            "scale": np.ones(m) if scale is None else scale,
        }
        if bins is None:
            self.bins = _core.learn_bins(
                X[sample],
                max_bins=self.options.max_bins,
                codes=None if codes is None else codes[sample],
                levels=levels,
                rows=np.flatnonzero(learned[sample]),
                n_threads=n_threads,
                **scales,
                **of_weights,
            )
        else:
            self.bins = _core.BoostBins(bins, levels=levels, **scales)
        if self.bins is None:
            raise InfiniteError
        coded = [self.bins.encode(X, codes, n_threads)]
        if X_val is not None:
            coded.append(self.bins.encode(X_val, None, n_threads))
        if any(some is None for some in coded):
            raise InfiniteError
        coded = np.concatenate(coded)
        self.given = {name: given for name, given in labels.items() if np.ndim(given) == 0}
        self.given["quantiles"] = [quantile] if np.ndim(quantile) == 0 else list(quantile)
        given_rows = {name: given for name, given in labels.items() if np.ndim(given)}
        given_rows |= {"weight": weight, "held": held}
        self.rows = []
        for first, last in pairwise([0, *cuts, n_rows]):
            some = slice(first, last)
            own = {name: None if given is None else given[some] for name, given in given_rows.items()}
            self.rows.append(_core.BoostRows(coded[some], self.bins, first_row=first, **self.given, **own))
        self.requests = []

    def answer(self, requests):
        """Send requests to all partitions. All answers but the first are merged."""
        self.requests += requests
        answers = [[rows.answer(request) for request in requests] for rows in self.rows]
        merged = [_core.merge_answers(list(some)) for some in zip(*answers[1:], strict=True)]
        return [*answers[:1], *([merged] if merged else [])]

    def boost(self, rows=None, *, n_rounds=5, **given):
        """Boost in the core."""
        return _core.boost_rows(
            rows or self.answer,
            self.bins,
            options=core_options(self.options),
            n_rounds=n_rounds,
            seed=self.seed,
            **{"patience": 0, "tol": 0.0} | given,
            **self.given,
        )


def assert_same_model(one, other):
    """Two results of `boost` are equal to the bit, losses included."""
    for name in one["trees"]:
        assert one["trees"][name].tobytes() == other["trees"][name].tobytes(), name
    for name in ("first", "training_loss", "validation_loss"):
        assert one[name].tobytes() == other[name].tobytes(), name


def assert_as_reference(grown, expected, options):
    """Assert that the core and the reference grew the same blocks, to the bit."""
    unit, same, bins, trees = expected.unit, np.testing.assert_array_equal, grown["bins"], grown["trees"]
    same(grown["first"], expected.first)
    for feature, of in enumerate(expected.bins):
        begin, end = bins["ptr"][feature : feature + 2]
        same(bins["value"][begin:end], of.values)
        same(bins["edge"][begin : end - 2], of.edges)
    same(np.diff(trees["block_ptr"]), [len(tree.blocks) for tree in expected.trees])
    number = 0
    for tree in expected.trees:
        for block, sums in zip(tree.blocks, tree.sums, strict=True):
            cut, entries = block.cut, slice(*trees["hyperplane_ptr"][number : number + 2])
            ours = {
                name: trees[name][number] for name in ("left", "n_samples", "weight", "n_target", "missing")
            }
            side = 0 if cut is None or len(cut.features) > 1 else -1 if cut.is_missing_left else 1
            assert ours == {
                "left": block.left,
                "n_samples": len(block.rows),
                "weight": sums[2] * unit,
                "n_target": -sums[0] * tree.quanta[0] * unit,
                "missing": side,
            }
            assert_as_leaf(trees, number, block, options)
            assert trees["gain"][number] == (cut.gain * unit if cut else 0.0)
            same(trees["hyperplane_feature"][entries], cut.features if cut else [])
            same(trees["hyperplane_weight"][entries], np.array(cut.weights if cut else []) / 2**15)
            if cut is not None:
                assert trees["offset"][number] == offset_of(cut, expected.bins)
                spreads = np.abs(cut.weights) * np.array(cut.spreads)
                np.testing.assert_allclose(trees["hyperplane_share"][entries], spreads / spreads.sum(), 1e-6)
            number += 1


def assert_as_leaf(trees, number, block, options):
    """Assert that a block adds the same values to scores, slopes included."""
    value = block.value * options.learning_rate
    leaf = block.leaf or Leaf(value, value, value)
    if block.values is not None:
        of_scores = slice(*trees["value_ptr"][number : number + 2])
        np.testing.assert_array_equal(trees["value"][of_scores], block.values)
        np.testing.assert_array_equal(trees["value_class"][of_scores], range(len(block.values)))
        leaf = Leaf(0.0, 0.0, 0.0)
    slopes = slice(*trees["membership_ptr"][number : number + 2])
    for name in ("intercept", "low", "high"):
        assert trees[name][number] == getattr(leaf, name), name
    np.testing.assert_array_equal(trees["membership_feature"][slopes], leaf.features)
    np.testing.assert_array_equal(trees["membership_slope"][slopes], leaf.slopes)
    if leaf.features:
        np.testing.assert_array_equal(trees["membership_mean"][slopes], leaf.means)


def offset_of(cut, bins):
    """Section 8: the edge between two bins, or the least feature sum that goes right."""
    if len(cut.features) > 1:
        return cut.sum * 2.0**-27
    edges = bins[cut.features[0]].edges
    return edges[cut.code] if cut.code < len(edges) else BEYOND


def make_scorer(boosted):
    """A `Scorer` of a result of `boost` on values that are normalised already; of a response, with raw scores only."""
    n_features, n_targets = len(boosted["bins"]["missing"]), len(boosted["first"])
    n_classes, link = (2, "logistic") if n_targets == 1 else (n_targets, "softmax")
    if n_targets == 1 and boosted["trees"]["target"][0] == 0:
        n_classes, link = 0, "identity"
    return bridge.make_scorer(
        boosted["trees"],
        np.zeros(n_features),
        np.ones(n_features),
        np.full(n_classes, 1.0 / max(n_classes, 1)),
        None,
        link=link,
        base=boosted["first"],
        clip=8.0,
    )


def representatives(boosted, X):
    """Rows whose values are the representatives of the bins of X, all of which must lie in their bins."""
    bins, rows, X = boosted["bins"], np.full(X.shape, np.nan), X.astype(np.float32)
    for feature, (begin, end) in enumerate(pairwise(bins["ptr"])):
        known = ~np.isnan(X[:, feature])
        edges, values = bins["edge"][begin : end - 2], bins["value"][begin:end] * 2.0**-12
        codes = np.searchsorted(edges, X[known, feature], side="right")
        assert np.array_equal(np.searchsorted(edges, values[:-1], side="right"), np.arange(len(values) - 1))
        rows[known, feature] = values[codes]
    return rows
