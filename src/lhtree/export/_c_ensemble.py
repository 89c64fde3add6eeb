"""Ensembles in C: the files of both members in one, with names of their own, and a function that combines them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from string import Template

from .. import _core
from ..model.model import Model
from ..tables.labels import check_labels, check_text
from ._c_links import strings

_STATIC = re.compile(r"^static (?:const )?\w+ \*?(?:const )?\**(\w+)[\[(]", re.MULTILINE)
_ENUM = re.compile(r"^enum \{(.*)\};", re.MULTILINE)
_TEXT = r'"(?:[^"\\]|\\.)*"'


def write_ensemble(fitted: Model, name: str, write: Callable[..., str]) -> str:
    """Return the text of a file; ``write`` returns that of a member, given the prefix of its public names."""
    pool = fitted.pool
    assert pool is not None
    members = {"boost": replace(fitted, pool=None), "forest": pool.forest}
    texts = [
        _rename(write(member, f"{name}_{role}", is_member=True), f"{name}_{role}")
        for role, member in members.items()
    ]
    known = {
        "name": name,
        "macro": name.upper(),
        "n_features": str(fitted.n_features),
        "n_classes": str(fitted.n_classes),
        "features": strings([check_text(text, "feature", "C") for text in fitted.feature_names]),
        "weight": repr(pool.weight),
        "least": repr(_core.LEAST_MEMBERSHIP),
        "look_up": _LOOK_UP if fitted.encoding.counted else "",
    }
    if fitted.head.labels:
        labels = [check_text(str(label), "class", "C") for label in check_labels(fitted.labels, "C")]
        known["classes"] = strings(labels)
    known["look_up"] = Template(known["look_up"]).substitute(known)
    texts.append(Template(_CLASSES if fitted.head.labels else _NUMBER).substitute(known))
    return "\n".join(texts)


def _rename(text: str, prefix: str) -> str:
    """Add a prefix to all names that a file keeps to itself, except in strings."""
    constants = [part.partition("=")[0].strip() for part in ",".join(_ENUM.findall(text)).split(",") if part]
    names = "|".join(sorted({*_STATIC.findall(text), *constants}, key=len, reverse=True))
    return re.sub(
        rf"{_TEXT}|\b({names})\b", lambda found: f"{prefix}_{found[1]}" if found[1] else found[0], text
    )


_HEAD = """\
/* The ensemble of both models above. The arguments of ${name}_predict are those of its members. Link with -lm. */
#define ${macro}_N_FEATURES $n_features
const char *const ${name}_features[${macro}_N_FEATURES] = {
$features
};
$look_up"""
_LOOK_UP = """
double ${name}_look_up(int feature, const char *category) {
    return ${name}_boost_look_up(feature, category);
}
"""
_CLASSES = (
    _HEAD
    + """
#define ${macro}_N_CLASSES $n_classes
const char *const ${name}_classes[${macro}_N_CLASSES] = {
$classes
};

/* Memberships of the forest, raised to the power of its weight, multiply probabilities of the boosted trees. */
int ${name}_predict(const double *x, double *probabilities) {
    double boost[${macro}_N_CLASSES], forest[${macro}_N_CLASSES], total = 0.0;
    int c, best = 0;
    if (${name}_boost_predict(x, boost) < 0) return -1;
    ${name}_forest_predict(x, forest);
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        boost[c] *= pow(forest[c] < $least ? $least : forest[c], $weight);
        if (boost[c] > boost[best]) best = c;
        total += boost[c];
    }
    if (probabilities != NULL)
        for (c = 0; c < ${macro}_N_CLASSES; ++c) probabilities[c] = boost[c] / total;
    return best;
}
"""
)
_NUMBER = (
    _HEAD
    + """
double ${name}_predict(const double *x) {
    return ${name}_boost_predict(x) + $weight * ${name}_forest_predict(x);
}
"""
)
