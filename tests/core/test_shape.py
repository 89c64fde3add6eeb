"""Imports of the package point one way, including lazy imports; readers of a model do not need scikit-learn."""

import ast
from pathlib import Path

import pytest

from support.fresh import loaded_after

ROOT = Path(__file__).parents[2] / "src" / "lhtree"
# A folder may import the folders before it. CONTRIBUTING.md shows the same order.
LAYERS = (
    *("_core", "_extras", "_parameters", "_write", "tables", "io", "model", "files", "describe"),
    *("export", "explain", "evaluation", "draw", "plot", "interpret", "scorer", "serve"),
    *("grow", "estimators", "mlflow", "dask", "selection", "reports", "cli"),
)
READERS = LAYERS[: LAYERS.index("grow")]


def find_imports(path):
    """Modules that a file imports anywhere in it, those for type checkers aside: of lhtree as "lhtree.layer.module"."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    package = ("lhtree", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{name.name}" for name in node.names)


def find_layer(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return None if parts == ("__init__",) else parts[0]


FILES = [path for path in sorted(ROOT.rglob("*.py")) if find_layer(path)]


def test_every_module_is_in_a_layer():
    assert {find_layer(path) for path in FILES} | {"_core"} == set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    layer = find_layer(path)
    for name in find_imports(path):
        parts = name.split(".")
        if parts[0] == "lhtree" and len(parts) > 1 and parts[1] in LAYERS:
            assert LAYERS.index(parts[1]) <= LAYERS.index(layer), f"{layer} imports {name}"
        if layer in READERS:
            lazily = path.name == "_parameters.py"  # draws seeds for estimators
            assert lazily or parts[0] not in ("sklearn", "scipy", "joblib"), f"{layer} imports {name}"


def test_no_import_cycles():
    names = {".".join(("lhtree", *path.relative_to(ROOT).with_suffix("").parts)): path for path in FILES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    left = {}
    for name, path in names.items():  # an imported name is a module, or is defined in one
        found = {one if one in names else one.rpartition(".")[0] for one in find_imports(path)}
        left[name] = {one for one in found if one in names and one != name}
    while free := [name for name, others in left.items() if not others]:
        left = {name: others - set(free) for name, others in left.items() if name not in free}
    assert not left


def test_reading_a_model_needs_no_scikit_learn():
    code = f"""
import numpy as np
import lhtree
scorer = lhtree.load_scorer({str(Path(__file__).parents[1] / "models" / "forest.lht")!r})
row = np.zeros(4)
str(scorer.explain(row)), scorer.explain(row).counterfactuals(), scorer.predict_or_abstain(row[None], threshold=0.5)
lhtree.export_text(scorer), lhtree.weight_table(scorer), lhtree.export_sql(scorer, table="t")
lhtree.evaluate(scorer, np.zeros((3, 4)), [0, 1, 2])
"""
    assert loaded_after(code) == []


def test_drawing_a_model_needs_no_scikit_learn():
    code = f"""
import matplotlib
matplotlib.use("agg")
import lhtree
scorer = lhtree.load_scorer({str(Path(__file__).parents[1] / "models" / "tree.lht")!r})
lhtree.plot_tree(scorer), lhtree.plot_path(scorer.explain([0.0] * 4))
"""
    assert "sklearn" not in loaded_after(code)
