"""The written text of the ablations page: read from its tables, to be read anew when they change."""

from __future__ import annotations

from .report import markdown_table

SUMMARY = (
    "**In short.** Three choices matter: a direction that sees correlations (Fisher or mixed instead of the mean "
    "difference), that trees of a mixed forest do not see all features in every block, and enough trees (100; 30 "
    "give away a fraction of a point). Offset, membership, confidence and, for scaled data, normalisation are worth "
    "less than these nine sets can show. `gamma` and `min_samples_split` should grow with the noise of the labels. "
    "Two splits of cut sets are a first look (the full run is the default): less than half a point is noise here."
)
NOTES = {
    "direction": (
        "The largest effect of all. In the mixed setting, where blocks see few features, the mean difference alone "
        "loses several points, most of them on EEG; Fisher is level with mixed and costs less than half of its time. "
        "In the paper's setting Fisher alone gains a little. `mixed` needs `offset='gini'`, so there two things change."
    ),
    "offset": (
        "Level in the paper's setting. The mixed direction refuses `purity`, as it compares Gini cuts; so the offset "
        "is changed in the Fisher forest, to be compared with the row above it."
    ),
    "membership": (
        "Trees of the mixed forest end in pure leaves, where every membership is constant: it makes no difference at "
        "all there. In the paper's forest the three are level."
    ),
    "confidence": "Level: whether d is taken at the last block, over the path, or left out hardly matters.",
    "normalize": (
        "Among scaled features level; without any scale the paper's direction follows the feature with the largest "
        "unit, and loses on wine and spambase. The mixed forest hardly cares, since Fisher's direction does "
        "not depend on units. What robust scaling is for is not seen in these rows: the four absurd rows of EEG are "
        "rarely among the rows drawn here. [Reproduction](../reproduction.md) shows the whole of EEG, and "
        "[when](../when.md) a picture."
    ),
    "gamma": (
        "`min_samples_split` follows `gamma` by default, so they change together. Large values help where labels are "
        "noisy (rice, MAGIC) and hurt where boundaries are fine (EEG) or rows few (seeds). Gini cuts do not ask for "
        "`gamma`: for the mixed forest `min_samples_split` does its work, and hardly matters up to 20."
    ),
    "beta": (
        "The schedule and any fixed `beta` up to a half are level in the paper's forest. In the mixed forest "
        "features are drawn anyway, and `beta` takes away more of them: the schedule or a half cost about a point."
    ),
    "n_estimators": "Ten trees give away about a point, thirty a third of one, 300 gain nothing that can be seen.",
    "max_features": (
        "The mixed forest lives on the draws of features: every tree sees every row, so with `max_features=None` all "
        "its trees are the same, and it is one tree. In the paper's forest, whose trees see other rows and other "
        "`beta`, draws make little difference."
    ),
}
RECOMMENDATIONS = markdown_table(
    ["your data looks like this", "these settings"],
    [
        ["anything, and accuracy counts most", '`LHForestClassifier(direction="mixed")`'],
        [
            "many features or many rows, and time counts",
            '`direction="fisher"`: level in accuracy, less than half of the time to fit',
        ],
        [
            "predictions must be quick or the model small",
            "`n_estimators=30`: a third of both, for a third of a point",
        ],
        [
            "noisy labels, classes that overlap (nobody gets much above 90 %)",
            "mixed: `min_samples_split=20`; paper's: `gamma=50`",
        ],
        ["fine boundaries, few wrong labels", "the defaults; `gamma` of at most 10"],
        ["strange values, units that differ", '`normalize="robust"`, the default'],
        [
            "two features",
            '`direction="mixed", max_features=None, max_samples=0.8`: by default a block draws one of the two, and no '
            "hyperplane is oblique",
        ],
        [
            "the model must be read",
            '`LHTClassifier(direction="mixed", min_samples_split=100, min_samples_leaf=5, membership="least_squares", '
            "shrinkage=0.03)`; `beta=0.5` for fewer features per block",
        ],
        [
            "the paper must be followed",
            '`LHForestClassifier()`; `direction="fisher"` is the gentlest improvement',
        ],
    ],
)
