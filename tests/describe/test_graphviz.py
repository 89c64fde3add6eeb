"""DOT text: escaped, complete, and read back by a small reader (and by dot, where it is installed)."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import export_graphviz
from lhtree.describe.graphviz import _quote
from support import pictures

STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\]=,;]|[A-Za-z_][A-Za-z_0-9]*|-?[0-9.]+)', re.DOTALL)


def read_dot(text):
    """Return boxes and arrows of a DOT text with their labels; refuse unknown syntax."""
    tokens, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        assert match, f"not DOT: {text[at : at + 30]!r}"
        tokens.append(match.group(1))
        at = match.end()
    assert tokens[:3] == ["digraph", "lhtree", "{"]
    assert tokens.count("{") == tokens.count("}")
    boxes, arrows = {}, {}
    for i, token in enumerate(tokens):
        if not re.fullmatch(r"t\d+_\d+", token) or tokens[i - 1] == "->":
            continue
        if tokens[i + 1] == "->":
            arrows[token, tokens[i + 2]] = unquote(tokens[i + 6])
        else:
            boxes[token] = unquote(tokens[i + 4])
    return boxes, arrows


def unquote(string):
    assert STRING.fullmatch(string)
    parts = re.split(r"(\\.)", string[1:-1])
    return "".join({r"\n": "\n", r"\\": "\\", r"\"": '"'}[p] if p.startswith("\\") else p for p in parts)


def test_boxes_and_arrows_are_the_tree():
    model, *_ = pictures.wine(beta=0.25)
    boxes, arrows = read_dot(export_graphviz(model, n_features=2))
    n_arrows = 0
    for number, view in enumerate(model.trees_):
        for block in range(view.n_blocks):
            first, counts, *rest = boxes[f"t{number}_{block}"].split("\n")
            assert first == f"{'leaf' if view.is_leaf[block] else 'block'} {block}"
            assert counts == f"{view.n_target[block]:g} of {view.weight[block]:g}"
            if view.is_leaf[block]:
                assert not rest
                continue
            weights = sorted(view.weights(block).items(), key=lambda item: -abs(item[1]))
            assert rest[:2] == [f"{name} {weight:+.2f}" for name, weight in weights[:2]]
            assert rest[2] == f"{len(weights) - 2} more"
            for child, sign in ((view.left[block], "<"), (view.right[block], ">=")):
                assert (
                    arrows[f"t{number}_{block}", f"t{number}_{child}"] == f"{sign} {view.offset[block]:.3g}"
                )
                n_arrows += 1
    assert len(boxes) == sum(view.n_blocks for view in model.trees_)
    assert len(arrows) == n_arrows


def test_folding_and_choosing():
    model, *_ = pictures.clouds()
    view = model.trees_[0]
    boxes, arrows = read_dot(export_graphviz(model, tree=-1, max_depth=1))
    assert len(boxes) == (view.depth <= 1).sum()
    assert len(arrows) == 2
    folded = sum(
        int(line.split()[1]) for box in boxes.values() for line in box.split("\n") if line[:3] == "..."
    )
    assert len(boxes) + folded == view.n_blocks


@given(lines=st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_any_text_is_quoted(lines):
    quoted = _quote(*lines)
    assert unquote(quoted) == "\n".join(" ".join(line.replace("\0", "").split()) for line in lines)


def test_hostile_names():
    boxes, _ = read_dot(export_graphviz(pictures.hostile()[0], n_features=13))
    assert any("W" * 300 in box for box in boxes.values())
    assert any("<b>\"'\\ " in box for box in boxes.values())


def test_deep_trees_need_no_recursion():
    model = pictures.noise()
    boxes, _ = read_dot(export_graphviz(model, max_depth=100_000))
    assert len(boxes) == model.trees_[0].n_blocks


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's dot is not installed")
@pytest.mark.parametrize("make", [pictures.wine, pictures.hostile, pictures.clouds])
def test_dot_understands_it(make):
    text = export_graphviz(make()[0])
    done = subprocess.run(
        ["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True, timeout=600
    )
    assert not done.stderr
    assert sum(line.startswith("node") for line in done.stdout.splitlines()) == len(read_dot(text)[0])


@pytest.mark.parametrize(
    ("argument", "value"), [("tree", 3), ("tree", "a"), ("n_features", -1), ("max_depth", np.pi)]
)
def test_arguments_that_make_no_sense(argument, value, rejects):
    with rejects:
        export_graphviz(pictures.wine()[0], **{argument: value})


def test_other_objects_are_refused(rejects):
    with rejects:
        export_graphviz({})
