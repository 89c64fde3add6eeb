"""Tests of the include directions of the C++ core."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

CPP = Path(__file__).parents[2] / "cpp"
# Rows store samples, statistics are mergeable sums over them, decisions are functions of statistics. The folder grow
# itself has the kernels.
ALLOWED = {
    "shared": {"shared"},
    "score": {"shared", "score"},
    "grow/rows": {"shared", "grow/rows"},
    "grow": {"shared", "grow/rows", "grow"},
    "grow/statistics": {"shared", "grow/rows", "grow", "grow/statistics"},
    "grow/decisions": {"shared", "grow", "grow/statistics", "grow/decisions"},
    "grow/boost": {"shared", "grow", "grow/decisions", "grow/boost"},
    "grow/compact": {"shared", "grow", "grow/decisions", "grow/compact"},
    "grow/trees": {"shared", "grow/rows", "grow", "grow/statistics", "grow/decisions", "grow/trees"},
}


def read_includes():
    """Return the names in the include lines of every file below cpp/."""
    files = [path for path in CPP.rglob("*.[ch]pp") if path.is_file()]
    pattern = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
    return {
        path.relative_to(CPP).as_posix(): pattern.findall(path.read_text(encoding="utf-8")) for path in files
    }


INCLUDES = read_includes()
CORE = {name: includes for name, includes in INCLUDES.items() if name.startswith("lhtree/")}


def layer(name):
    """Return the folder of the core that a file belongs to."""
    folders = name.split("/")[1:-1]
    return "/".join(folders[:2] if folders[0] == "grow" else folders[:1])


def test_every_file_is_in_a_layer():
    assert {layer(name) for name in CORE} == set(ALLOWED)


def test_includes_point_in_allowed_directions():
    wrong = [
        f"{name} includes {included}"
        for name, includes in CORE.items()
        for included in includes
        if included.startswith("lhtree/") and layer(included) not in ALLOWED[layer(name)]
    ]
    assert not wrong


def test_includes_of_the_core_exist_and_have_no_cycle():
    graph = {name: [i for i in includes if i.startswith("lhtree/")] for name, includes in CORE.items()}
    assert {included for includes in graph.values() for included in includes} <= set(graph)
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)  # raises CycleError


def test_only_bindings_include_python():
    python = re.compile(r"nanobind/|numpy/|Python\.h")
    users = {name for name, includes in INCLUDES.items() if any(map(python.match, includes))}
    assert users
    assert all(name.startswith("bindings/") for name in users - {"tests/pieces.cpp"})


def test_the_core_includes_its_own_files_by_their_whole_name():
    names = {Path(name).name for name in CORE}
    assert not [name for name, includes in CORE.items() if names & set(includes)]
