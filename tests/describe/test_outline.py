"""The printed text of a compact tree, evaluated by a reader, has the predictions of the model."""

import json
import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import lhtree
from lhtree.scorer import Scorer
from support.compact import NAMES, make_model

_BLOCK = re.compile(r"^( *)(?:yes: |no: )?(block|leaf) (\d+): (.*)$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


class Printed:
    """A reader of the text that is given the names of columns and categories."""

    def __init__(self, text, model):
        self.values = {}  # text of a value → column and, if it is 1 or 0, what for
        for feature, name in enumerate(model.feature_names):
            column = model.encoding.names[model.encoding.column[feature]]
            if name == column:
                self.values[name] = self.values[json.dumps(name, ensure_ascii=False)] = (column, None)
            else:
                self.values[f"[{name}]"] = (column, name)
        lines = []
        for line in text.splitlines():
            starts = (
                _BLOCK.match(line)
                or line.startswith(("compact tree", "missing numbers", "[column ="))
                or " is predicted where " in line
            )
            if starts:
                lines.append(line)
            else:
                lines[-1] += f" {line.strip()}"
        self.labels = {label if isinstance(label, str) else f"class {label}": label for label in model.labels}
        self.fills, self.ones = {}, set()
        self.blocks = iter([_BLOCK.match(line) for line in lines if _BLOCK.match(line)])
        for line in lines:
            if line.startswith("missing numbers"):
                self.read_fills(line.removeprefix("missing numbers count as: "))
            if line.startswith("[column ="):
                told = line.partition("; as 1 in ")[2]
                self.ones = {value for value in self.values if value in told}
        self.root = self.read_block()

    def read_fills(self, text):
        while text:
            name = self.take_value(text)
            number = _NUMBER.match(text, len(name) + 1)
            self.fills[self.values[name][0]] = float(number.group())
            text = text[number.end() :].removeprefix(", ")

    def take_value(self, text):
        return max((value for value in self.values if text.startswith(value)), key=len)

    def read_block(self):
        _, kind, _, told = next(self.blocks).groups()
        told = told.rpartition("  (")[0] if kind == "leaf" else told
        if kind == "leaf" and told.startswith("probability of "):
            return self.read_linear(told)
        if kind == "leaf":
            return self.labels[told]
        return self.read_condition(told), self.read_block(), self.read_block()

    def read_linear(self, text):
        text, _, high = text.rpartition(", at most ")
        text, _, low = text.rpartition(", at least ")
        start = _NUMBER.match(text.partition(" = ")[2])
        text = text.partition(" = ")[2][start.end() :]
        terms, _ = self.read_terms(text)
        return [float(start.group()), terms, float(low), float(high)]

    def read_terms(self, text):
        terms = []
        while text and not text.startswith((" < ", " > ")):
            sign = -1.0 if text.startswith((" - ", "-")) else 1.0
            text = re.sub(r"^ [-+] |^-", "", text)
            weight = _NUMBER.match(text)
            if weight and text[weight.end() :].startswith(" * "):
                size, text = float(weight.group()), text[weight.end() + 3 :]
            else:
                size = 1.0
            value = self.take_value(text)
            terms.append((sign * size, value))
            text = text[len(value) :]
        return terms, text

    def read_condition(self, text):
        if text.startswith(("[", "not [")) and text.removeprefix("not ") in self.values:
            return "not" if text.startswith("not ") else "is", [(1.0, text.removeprefix("not "))], 1.0
        terms, text = self.read_terms(text)
        return text[1], terms, float(text[3:])

    def count(self, value, row):
        column, what = self.values[value]
        cell = row[column]
        is_missing = cell is None or cell != cell
        if what is None:
            return self.fills[column] if is_missing else float(cell)
        if what == f"{column} is missing":
            return float(is_missing)
        return float(value in self.ones) if is_missing else float(what == f"{column} = {cell}")

    def predict(self, row):
        block = self.root
        while isinstance(block, tuple):
            (sign, terms, bound), yes, no = block
            total = 0.0
            for weight, value in terms:
                total += weight * self.count(value, row)
            holds = {"<": total < bound, ">": total > bound, "is": total == 1.0, "not": total == 0.0}[sign]
            block = yes if holds else no
        if not isinstance(block, list):
            return block
        total, terms, low, high = block
        for weight, value in terms:
            total += weight * self.count(value, row)
        return list(self.labels.values())[int(min(max(total, low), high) > 0.5)]


def rows_of(frame):
    return [
        {name: None if cell != cell else cell for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["text", "number", "whole"]),
    n_classes=st.integers(2, 4),
    n_leaves=st.integers(1, 9),
    digits=st.sampled_from([3, None]),
)
def test_the_printed_text_predicts(seed, kind, n_classes, n_leaves, digits):
    model, frame = make_model(seed, kind, n_classes, n_leaves, digits=digits)
    text = lhtree.export_text(Scorer(model))
    printed = Printed(text, model)
    assert [printed.predict(row) for row in rows_of(frame)] == Scorer(model).predict(frame).tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n_leaves=st.integers(2, 9))
def test_rule_of_the_leaf_has_the_prediction(seed, n_leaves):
    model, frame = make_model(seed, n_leaves=n_leaves)
    rules = Scorer(model).rules()
    assert len(rules) == n_leaves
    leaves = np.ravel(Scorer(model).apply(frame))
    by_leaf = {rule.leaf: rule.label for rule in rules}
    assert [by_leaf[leaf] for leaf in leaves.tolist()] == Scorer(model).predict(frame).tolist()
    assert str(rules).splitlines()[:n_leaves] == [f"{n}. {rule}" for n, rule in enumerate(rules, 1)]


def test_lines_are_short_and_in_plain_signs():
    model, _ = make_model(3, n_leaves=9)
    lines = lhtree.export_text(Scorer(model)).splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert all(ord(sign) < 128 or sign in "".join(NAMES) for line in lines for sign in line)


def test_other_models_have_no_rules(rejects):
    X = np.arange(40.0).reshape(20, 2)
    model = lhtree.LHTClassifier().fit(X, X[:, 0] > 20)
    rejects(model.rules)
