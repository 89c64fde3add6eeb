"""Random command lines, sensible and absurd: documented exit codes, one-line errors, no file left behind."""

import json
import os
import shutil
from pathlib import Path

import pytest
import typer.main as typer_main
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lhtree
from lhtree import cli
from support.shop import make_table, run, write_files

COMMANDS = {
    name: command
    for name, command in typer_main.get_command(cli.build_app()).commands.items()
    if name != "serve"  # it does not end
}
TABLES = ["data.csv", "test.csv", "new.csv", "new.parquet", "größe 名.csv", "no rows.csv", "one column.csv"]
MODELS = ["model.lht", "tree.lht", "boosted.lht", "compact.lht", "weights.lht"]
ODD_FILES = ["", "nowhere.csv", "folder", ".", "empty", "noise", "data.csv/inside", "-", "--", "\x1b[31m"]
ODD = [
    "",
    "\n",
    *["0", "-1", "1", "3", "0.5", "nan", "inf", "x", "y", "größe", "a=b", "=", "--json", "😀", "1,5"],
]
OUT = ["new.lht", "new.csv", "new.parquet", "new.html", "new.c", "new.sql", "new/", "new", "nowhere/new.csv"]
COLUMNS = ["y", "weight", "size", "colour", "shop", "Size"]
# Values by option; the others get odd values. Sizes are small, so that no fit takes long.
VALUES = {
    "target": COLUMNS,
    "drop": COLUMNS,
    "categorical": COLUMNS,
    "increasing": COLUMNS,
    "decreasing": COLUMNS,
    "keep": COLUMNS,
    "key": COLUMNS,
    "change": COLUMNS,
    "out": OUT,
    "html": OUT,
    "plot": ["new.png", "new.svg", "new.xyz"],
    "test": TABLES,
    "task": ["classification", "regression"],
    "model": ["boost", "forest", "tree", "compact", "additive"],
    "direction": ["mean_difference", "fisher", "mixed", "single"],
    "membership": ["marginal", "least_squares", "constant", "linear"],
    "loss": ["squared_error", "absolute_error", "quantile", "poisson", "gamma"],
    "calibrate": ["sigmoid", "isotonic"],
    "class_weight": ["balanced"],
    "metric": ["accuracy", "roc_auc", "r2", "mae"],
    "format": ["csv", "tsv", "parquet", "arrow"],
    "out_format": ["csv", "tsv"],  # Parquet on stdout would not be text
    "delimiter": [",", ";", "\t", "ab"],
    "decimal": [".", ","],
    "encoding": ["utf-8", "latin-1", "utf-16", "none"],
    "unseen": ["error", "missing"],
    "only": ["cart", "tree"],
    "to": ["kept", "sold", "5..", "..5", "onnx", "c", "sql"],
    "values": ["size=3", "colour=red", "colour=mauve", "size=", "shop=north"],
    "metadata": ["by=Ada", "a=b=c"],
    "dialect": ["sqlite", "duckdb", "postgresql"],
    "table": ["data", "select", 'a"b'],
    "name": ["shop", "int"],
    "row": ["0", "3", "39", "99999999999999999999"],
    "tree": ["0", "1", "-1", "99999999999999999999"],
    "seed": ["0", "7", "4294967296", "99999999999999999999"],
    "threads": ["1", "2", "-1", "0", "5000"],
    "trees": ["1", "3", "0", "x"],
    "rounds": ["1", "3", "0", "x"],
    "leaves": ["2", "4", "1"],
    "interactions": ["0", "auto", "x"],
    "steps": ["2", "1"],
    "smoothing": ["1", "0"],
    "candidates": ["1"],
    "folds": ["2"],
    "time_limit": ["0", "1"],
    "megabytes": ["0.001", "1", "0", "nan"],
}
FIXED = {"tune": ["--candidates", "1", "--folds", "2", "--time-limit", "1"], "bench": ["--only", "cart"]}
RARELY = st.sampled_from([True] + [False] * 7)


@st.composite
def command_lines(draw):
    """A command with its required parameters, mostly sensible, and a few options."""
    name = draw(st.sampled_from(list(COMMANDS)))
    words = [name, *FIXED.get(name, [])]
    for param in COMMANDS[name].params:
        is_argument = param.param_type_name == "argument"
        if not is_argument and not (param.required or draw(RARELY)):
            continue
        if is_argument:
            odd, good = ODD_FILES, MODELS if param.name == "model" else TABLES
        else:
            odd, good = ODD, VALUES.get(param.name, ODD)
            is_small = param.name in ("trees", "rounds", "candidates", "folds", "leaves")
            odd = good if is_small else odd
            words.append(draw(st.sampled_from(param.opts)))
        if is_argument or not param.is_flag:
            words.append(draw(st.sampled_from(odd if draw(RARELY) else good)))
    if draw(RARELY):
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(ODD + ODD_FILES)))
    return [word for word in words if "\0" not in word]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models, tables and files that are neither."""
    folder = tmp_path_factory.mktemp("random")
    write_files(folder)
    table = make_table()
    table.to_csv(folder / "größe 名.csv", index=False)
    table[:0].to_csv(folder / "no rows.csv", index=False)
    table[["y"]].to_csv(folder / "one column.csv", index=False)
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "noise").write_bytes(bytes(range(256)) * 9)
    X, weight = table.drop(columns=["y", "weight"]), table["weight"]
    lhtree.save(lhtree.LHForestRegressor(5, random_state=0).fit(X, weight), folder / "weights.lht")
    return folder


def list_files():
    return {path: path.stat().st_mtime_ns for path in Path().iterdir()}


@settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
)
@given(words=command_lines())
def test_random_command_lines_end_with_a_documented_code(folder, capsys, monkeypatch, words):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", open(os.devnull, encoding="utf-8"))  # noqa: SIM115  # closed with the test
    before = list_files()
    ran = run(capsys, *words)
    after = list_files()
    assert ran.code in range(5), ran
    assert "Traceback" not in ran.err, ran
    assert {path: after.get(path) for path in before} == before, "an input has changed"
    new = set(after) - set(before)
    assert not [path for path in new if path.name.endswith(".part")]
    lines = ran.err.splitlines()
    if ran.code:
        assert not new, new
        is_help = ran.out.lstrip().startswith("Usage: lhtree")
        assert is_help or (lines and lines[-1].startswith("lhtree: ")), ran
    elif "--json" in words and "--help" not in words:
        json.loads(ran.out)
    assert all(line.isprintable() for line in lines), ran
    for path in new:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
