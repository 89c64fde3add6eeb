"""The files around the code agree with it: workflows, configuration of wheels, templates and policies."""

import re
from pathlib import Path

import pytest

import lhtree
from lhtree.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
needs_checkout = pytest.mark.skipif(not WORKFLOWS, reason="not in an sdist")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_wheels_classifiers_and_tests_cover_the_same_pythons():
    project = read("pyproject.toml")
    built = re.search(r'^build = "(cp310.*?)"', project, re.M)[1].split()
    stable = re.search(r'^wheel.py-api = "(cp.*?)"', project, re.M)[1]  # its wheel is for all later versions
    tags = [f"cp{version.replace('.', '')}" for version in PYTHONS]
    assert built[:-1] == [f"{tag}-*" for tag in tags[: tags.index(stable) + 1]]
    assert built[-1] == f"{tags[-1]}t-*"  # free-threaded
    assert re.findall(r"Python :: (3\.\d+)", project) == PYTHONS
    assert re.search(r'requires-python = ">=(.+)"', project)[1] == PYTHONS[0]


@needs_checkout
def test_the_conda_recipe_has_the_requirements_of_the_project():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(read("packaging/conda/recipe.yaml"))
    assert recipe["context"]["version"] == lhtree.__version__
    project = read("pyproject.toml")
    needed = re.search(r"^dependencies = \[(.*)\]$", project, re.M)[1]
    spelled = {text.strip('" ').replace(">=", " >=") for text in needed.split(",")}
    assert set(recipe["requirements"]["run"]) == {"python", *spelled}
    built = re.search(r"^requires = \[(.*)\]$", project, re.M)[1]
    spelled = {text.strip('" ').replace(">=", " >=") for text in built.split(",")}
    assert set(recipe["requirements"]["host"]) == {"python", "pip", *spelled}


@needs_checkout
def test_the_test_workflow_runs_every_python_on_three_systems():
    workflow = read(".github/workflows/tests.yml")
    assert re.search(r"python: \[(.*)\]", workflow)[1] == ", ".join(f'"{version}"' for version in PYTHONS)
    assert re.search(r"system: \[(.*)\]", workflow)[1] == "ubuntu-latest, macos-latest, windows-latest"


@needs_checkout
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_targets_and_files_that_exist(path):
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.M)) | {"docs"}
    assert set(re.findall(r"\bmake ([a-z]+)", text)) <= targets
    for name in re.findall(r"uses: \./(\S+)", text):
        assert (ROOT / name).is_file()


@needs_checkout
def test_workflows_may_write_only_where_they_publish():
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert re.search(r"^permissions:\n  contents: read$", text, re.M), path.name
        if path.stem not in ("docs", "release"):
            assert ": write" not in text, path.name


@needs_checkout
def test_pre_commit_has_the_versions_of_lint():
    hooks = dict(re.findall(r"repo: \S+/(\S+)\n    rev: v(\S+)", read(".pre-commit-config.yaml")))
    pinned = dict(re.findall(r'"(ruff|clang-format)==([^"]+)"', read("pyproject.toml")))
    assert (hooks["ruff-pre-commit"], hooks["mirrors-clang-format"]) == (
        pinned["ruff"],
        pinned["clang-format"],
    )


@needs_checkout
def test_the_bug_template_asks_for_the_versions():
    assert "version" in COMMANDS
    assert "`lhtree version --verbose`" in read(".github/ISSUE_TEMPLATE/bug.yml")


def test_quick_tests_exist():
    names = re.findall(r'^    "(\S+\.py)"', read("tests/quick.py"), re.M)
    assert len(names) > 5
    assert all((ROOT / "tests" / name).is_file() for name in names)


def test_extensions_of_compilers_are_in_one_file():
    extension = re.compile(
        r"__builtin|__attribute__|vector_size|__int128|\b_mm\d*_|#pragma (?!once)|__asm|immintrin|cpuid"
    )
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("lhtree", "bindings", "tests")  # the fuzzer needs Clang anyway
        for path in (ROOT / "cpp" / folder).rglob("*.?pp")
        if extension.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"cpp/lhtree/shared/compiler.hpp"}
