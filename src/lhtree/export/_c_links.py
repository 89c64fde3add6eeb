"""Heads in C: links and calibration, and the function that combines the members of an ensemble."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from string import Template

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.model import Model
from ..tables.labels import check_labels, check_text
from . import _walks as e
from ._walks import Walks, take_base

Texts = dict[str, str]
_MOST_TEXT = 4095  # bytes of a string that every C99 compiler takes


def doubles(name: str, values: NDArray[np.float64]) -> str:
    return array("double", name, map(repr, values.tolist()))


def array(kind: str, name: str, values: Iterable[str]) -> str:
    """An array; C does not allow empty ones, so these get an unused 0."""
    lines = textwrap.wrap(", ".join(values) or "0", 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"static const {kind} {name}[] = {{", *(f"    {line}" for line in lines), "};"])


def strings(texts: list[str]) -> str:
    return "\n".join(f"    {quote(text)}," for text in texts)


def quote(text: str) -> str:
    """Text as a C string in UTF-8; bytes other than plain characters as octal escapes."""
    data = text.encode()
    if len(data) > _MOST_TEXT:
        raise ValueError(
            f"the name {text[:20]!r}... has {len(data)} bytes, but C99 allows {_MOST_TEXT}: shorten it."
        )
    # no quotes, backslashes and trigraphs
    plain = re.compile(rb"[A-Za-z0-9 _.,:;=+*/()<>\[\]{}'!#$%&@^`|~-]")
    return '"' + "".join(chr(b) if plain.match(bytes([b])) else f"\\{b:03o}" for b in data) + '"'


@dataclass(frozen=True)
class Number:
    """A sum of numbers, of which ``value`` makes the prediction."""

    value: str
    needs_exponential: bool = False
    sort: str = ""  # the order of several numbers
    leaf_meaning = "Values"

    def write(self, fitted: Model, walks: Walks, known: Texts) -> Texts:
        """Return the parts of the file that depend on the link."""
        if fitted.outputs:
            return _write_numbers(fitted, walks, known, self.sort)
        predict = Template(NUMBER).substitute(known, n_planes=len(walks.planes), value=self.value)
        return _write_sums(fitted) | {
            "declaration": Template("double ${name}_predict(const double *x);").substitute(known),
            "result_meaning": "   Returns the predicted number, or NaN if x contains an infinite value.",
            "classes_head": "",
            "classes_body": "",
            "predict": (_write_exponential() if self.needs_exponential else "") + predict,
        }


@dataclass(frozen=True)
class RawScores:
    """Raw scores, which ``link`` turns into classes and probabilities."""

    link: str
    leaf_meaning = "Values"

    def write(self, fitted: Model, walks: Walks, known: Texts) -> Texts:
        """Return the parts of the file that depend on the link."""
        link, before = self.link, _write_exponential()
        if fitted.calibration is not None:
            link, before = CALIBRATED, _write_calibration(fitted, known)
        predict = _write_scores(walks, known, str(fitted.head.n_scores), "probabilities", link)
        return _write_sums(fitted) | _write_classes(fitted, known) | {"predict": before + predict}


@dataclass(frozen=True)
class Wolf:
    """Means of memberships and of corrected memberships, divided by their sum.

    A member of an ensemble returns its mean memberships as they are.
    """

    is_member: bool = False
    leaf_meaning = "Memberships"

    def write(self, fitted: Model, walks: Walks, known: Texts) -> Texts:
        """Return the parts of the file that depend on the link."""
        finish = DIVIDED if fitted.calibration is None else CALIBRATED_SHARES
        finish = MEMBERSHIPS if self.is_member else finish
        predict = Template(WOLF).substitute(known, finish=Template(finish).substitute(known))
        return _write_classes(fitted, known) | {
            "first_meaning": "the share of every class",
            "first": doubles("prior", fitted.prior),
            "confidence_meaning": ", and its confidence d",
            "confidence_argument": ", double *d",
            "distance": DISTANCES[fitted.confidence],
            "predict": _write_calibration(fitted, known) + predict,
        }


def _write_numbers(fitted: Model, walks: Walks, known: Texts, sort: str) -> Texts:
    """Return the parts of links that predict several numbers."""
    facts = known | {
        "n_scores": str(fitted.head.n_scores),
        "outputs": strings([check_text(name, "output", "C") for name in fitted.head.names]),
    }
    texts = {
        "declaration": "int ${name}_predict(const double *x, double *values);",
        "result_meaning": NUMBERS_RESULT,
        "classes_head": OUTPUTS_HEAD,
        "classes_body": OUTPUTS_BODY,
    }
    predict = _write_scores(walks, known, f"{known['macro']}_N_OUTPUTS", "values", sort + NUMBERS)
    written = {name: Template(text).substitute(facts) for name, text in texts.items()}
    return _write_sums(fitted) | written | {"predict": predict}


def _write_scores(walks: Walks, known: Texts, n_scores: str, result: str, finish: str) -> str:
    """Return the function that adds up several scores; ``finish`` writes the result."""
    facts = {"n_scores": n_scores, "result": result, "finish": finish, "n_planes": str(len(walks.planes))}
    add_values = ADD_TARGETS if walks.shares is None else ADD_CLASSES
    return Template(SCORES).substitute(known, add_values=add_values, **facts)


def _write_sums(fitted: Model) -> Texts:
    """Return the parts of links that add up values."""
    return {
        "first_meaning": "0, to which trees add"
        if fitted.base is None
        else "the raw scores before the first tree",
        "first": doubles("base", take_base(fitted)),
        "confidence_meaning": "",
        "confidence_argument": "",
        "distance": "",
    }


def _write_classes(fitted: Model, known: Texts) -> Texts:
    """Return the parts of links that predict classes."""
    labels = strings([check_text(str(label), "class", "C") for label in check_labels(fitted.labels, "C")])
    texts = {
        "declaration": "int ${name}_predict(const double *x, double *probabilities);",
        "result_meaning": RESULT,
        "classes_head": CLASSES_HEAD,
        "classes_body": CLASSES_BODY,
    }
    facts = known | {"n_classes": str(fitted.n_classes), "classes": labels}
    return {name: Template(text).substitute(facts) for name, text in texts.items()}


def _write_exponential() -> str:
    return Template(EXPONENTIAL).substitute(
        tail=", ".join(map(repr, e.EXP_TAIL)),
        n_tail=len(e.EXP_TAIL),
        least_exponent=e.EXP_LEAST,
        largest_exponent=e.EXP_LARGEST,
    )


def _write_calibration(fitted: Model, known: Texts) -> str:
    """Return the function that calibrates probabilities; empty without a calibration."""
    calibration = fitted.calibration
    if calibration is None:
        return ""
    is_sigmoid = calibration.kind == "sigmoid"
    start = "" if is_sigmoid else array("uint32_t", "knot_start", map(str, calibration.ptr.tolist()))
    knots = [start, doubles("knot_x", calibration.x), doubles("knot_y", calibration.y)]
    divide = "    own[0] = rest;" if fitted.n_classes == 2 else Template(DIVIDE).substitute(known)
    return (_write_exponential() if is_sigmoid else "") + Template(CALIBRATE).substitute(
        known,
        n_maps=calibration.n_maps,
        knots="\n".join(filter(None, knots)),
        one=SIGMOID if is_sigmoid else LINES,
        divide=divide,
    )


DISTANCES = {
    "last": "*d = y < 0.0 ? -y : y;",
    "path": "if ((y < 0.0 ? -y : y) < *d) *d = y < 0.0 ? -y : y;",
    None: "(void)d; /* always 1 */",
}

RESULT = """\
   probabilities: receives ${macro}_N_CLASSES numbers, in the order of ${name}_classes; may be NULL.
   Returns the index of the class, or -1 if x contains an infinite value (then nothing is written)."""

CLASSES_HEAD = """\
#define ${macro}_N_CLASSES $n_classes
extern const char *const ${name}_classes[${macro}_N_CLASSES];
"""

CLASSES_BODY = """\
const char *const ${name}_classes[${macro}_N_CLASSES] = {
$classes
};
"""

WOLF = """\
static int is_zero(const double *scores) {
    int c;
    for (c = 0; c < ${macro}_N_CLASSES; ++c)
        if (scores[c] != 0.0) return 0;
    return 1;
}

int ${name}_predict(const double *x, double *probabilities) {
    $real z[${macro}_N_FEATURES];
    double wolf[${macro}_N_CLASSES], membership[${macro}_N_CLASSES], total = 0.0;
    const double *scores = wolf;
    int i, c, target, best = 0;
    if (!normalise(x, z)) return -1;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) wolf[c] = membership[c] = 0.0;
    for (i = 0; i < n_estimators; ++i)
        for (target = 0; target < n_targets; ++target) {
            double d = 1.0;
            const $kind $found = walk(i * n_targets + target, z, &d);
            if (d > 1.0) d = 1.0;
$add
        }
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        wolf[c] /= (double)n_estimators;
        membership[c] /= (double)n_estimators;
    }
    if (is_zero(scores)) scores = membership;
    if (is_zero(scores)) scores = prior;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        if (scores[c] > scores[best]) best = c;
        total += scores[c];
    }
$finish
}
"""

DIVIDED = """\
    if (probabilities != NULL)
        for (c = 0; c < ${macro}_N_CLASSES; ++c) probabilities[c] = scores[c] / total;
    return best;"""

MEMBERSHIPS = """\
    (void)total;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) probabilities[c] = membership[c];
    return best;"""

CALIBRATED_SHARES = """\
    (void)best;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) wolf[c] = scores[c] / total;
    return calibrate(wolf + (${macro}_N_CLASSES - n_maps), probabilities);"""

EXPONENTIAL = """\
/* e^x from additions, multiplications and bits in a fixed order, the same on every machine. */
static double from_bits(uint64_t bits) {
    union {
        uint64_t bits;
        double value;
    } both;
    both.bits = bits;
    return both.value;
}

static double exponential(double x) {
    static const double coefficient[] = {$tail};
    const double rounder = 0x1.8p52;
    double rounded, k, high, low, r, tail, power;
    int64_t whole, half;
    int i;
    if (x < $least_exponent) x = $least_exponent;
    if (x > $largest_exponent) x = $largest_exponent;
    rounded = x * 0x1.71547652b82fep0 + rounder;
    k = rounded - rounder; /* x = k ln 2 + r */
    high = x - k * 0x1.62e42feep-1;
    low = k * 0x1.a39ef35793c76p-33;
    r = high - low;
    tail = coefficient[0];
    for (i = 1; i < $n_tail; ++i) tail = tail * r + coefficient[i];
    power = 1.0 + (high + (r * r * tail - low));
    whole = (int64_t)k;
    half = whole / 2;
    return power * from_bits((uint64_t)(half + 1023) << 52) * from_bits((uint64_t)(whole - half + 1023) << 52);
}

"""

ADD_TARGETS = """\
        for (target = 0; target < n_scores; ++target) raw[target] += walk(i * n_scores + target, z);"""

ADD_CLASSES = """\
        const int32_t leaf = walk(i, z);
        uint32_t s;
        for (s = share_start[leaf]; s < share_start[leaf + 1]; ++s) raw[share_class[s]] += share[s];"""

SCORES = """\
enum { n_scores = $n_scores };

int ${name}_predict(const double *x, double *$result) {
    $real z[$n_planes * ${macro}_N_FEATURES];
    double raw[n_scores];
    int i, target;
    if (!normalise(x, z)) return -1;
    for (target = 0; target < n_scores; ++target) raw[target] = base[target];
    for (i = 0; i < n_estimators; ++i) {
$add_values
    }
$finish
}
"""

NUMBER = """\
double ${name}_predict(const double *x) {
    $real z[$n_planes * ${macro}_N_FEATURES];
    double sum = base[0];
    int i;
    if (!normalise(x, z)) return NAN;
    for (i = 0; i < n_estimators; ++i) sum += walk(i, z);
    return $value;
}
"""

NUMBERS_RESULT = """\
   values: receives ${macro}_N_OUTPUTS numbers, in the order of ${name}_outputs.
   Returns 0, or -1 if x contains an infinite value (then nothing is written)."""

OUTPUTS_HEAD = """\
#define ${macro}_N_OUTPUTS $n_scores
extern const char *const ${name}_outputs[${macro}_N_OUTPUTS];
"""

OUTPUTS_BODY = """\
const char *const ${name}_outputs[${macro}_N_OUTPUTS] = {
$outputs
};
"""

NUMBERS = """\
    for (target = 0; target < n_scores; ++target) values[target] = raw[target];
    return 0;"""

SORT = """\
    for (i = 1; i < n_scores; ++i) {
        const double value = raw[i];
        for (target = i; target > 0 && value < raw[target - 1]; --target) raw[target] = raw[target - 1];
        raw[target] = value;
    }
"""

LOGISTIC = """\
    i = raw[0] > 0.0;
    if (probabilities != NULL) {
        const double e = exponential(i ? -raw[0] : raw[0]);
        probabilities[i] = 1.0 / (1.0 + e);
        probabilities[1 - i] = e / (1.0 + e);
    }
    return i;"""

SOFTMAX = """\
    for (i = 0, target = 1; target < n_scores; ++target)
        if (raw[target] > raw[i]) i = target;
    if (probabilities != NULL) {
        double total = 0.0;
        for (target = 0; target < n_scores; ++target) {
            probabilities[target] = exponential(raw[target] - raw[i]);
            total += probabilities[target];
        }
        for (target = 0; target < n_scores; ++target) probabilities[target] /= total;
    }
    return i;"""

CALIBRATED = "    return calibrate(raw, probabilities);"

SIGMOID = """\
static double calibrate_one(int target, double score, double *rest) {
    const double raw = knot_x[target] * score + knot_y[target];
    const double e = exponential(raw > 0.0 ? -raw : raw);
    *rest = raw > 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
    return raw > 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}
"""

LINES = """\
static double calibrate_one(int target, double score, double *rest) {
    uint32_t k = knot_start[target];
    const uint32_t last = knot_start[target + 1] - 1;
    double value = knot_y[k];
    if (score > knot_x[k]) {
        while (k < last && !(score < knot_x[k + 1])) ++k;
        value = knot_y[k];
        if (k < last) value += (score - knot_x[k]) / (knot_x[k + 1] - knot_x[k]) * (knot_y[k + 1] - knot_y[k]);
    }
    *rest = 1.0 - value;
    return value;
}
"""

CALIBRATE = """\
/* Calibrated probabilities: a map of the score of the second of two classes, or of every class. */
enum { n_maps = $n_maps };
$knots

$one
static int calibrate(const double *scores, double *probabilities) {
    double own[${macro}_N_CLASSES], total = 0.0, rest = 0.0;
    int c, target, best = 0;
    for (target = 0; target < n_maps; ++target)
        own[${macro}_N_CLASSES - n_maps + target] = calibrate_one(target, scores[target], &rest);
$divide
    (void)total;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        if (own[c] > own[best]) best = c;
        if (probabilities != NULL) probabilities[c] = own[c];
    }
    return best;
}

"""

DIVIDE = """\
    for (c = 0; c < ${macro}_N_CLASSES; ++c) total += own[c];
    for (c = 0; c < ${macro}_N_CLASSES; ++c)
        own[c] = total == 0.0 ? 1.0 / (double)${macro}_N_CLASSES : own[c] / total;"""

LINKS: dict[str, Number | RawScores | Wolf] = {
    "wolf": Wolf(),
    "logistic": RawScores(LOGISTIC),
    "softmax": RawScores(SOFTMAX),
    "mean": Number("sum / (double)n_estimators"),
    "identity": Number("sum"),
    "sorted": Number("sum", sort=SORT),
    "log": Number("exponential(sum)", needs_exponential=True),
}


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
