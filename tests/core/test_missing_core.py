"""Tests of the error that a missing compiled core raises."""

import platform
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lhtree

PACKAGE = Path(lhtree.__file__).parent


@pytest.fixture
def bare(tmp_path):
    """A copy of the package without its core."""
    core = shutil.ignore_patterns("_core.*.so", "_core.*.pyd", "_core.so", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "lhtree", ignore=core)
    return tmp_path


def run(code, folder):
    """Run code in a new interpreter whose lhtree is the one in a folder, even if another is installed."""
    places = [str(folder), *(path for path in sys.path if path.endswith("-packages"))]
    code = f"import sys; sys.path[:0] = {places!r}\n{code}"  # without site, and so without editable installs
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["LHTClassifier", "load_scorer", "export_text"])
def test_the_error_names_python_and_the_remedy(name, bare):
    ran = run(f"import lhtree; lhtree.{name}", bare)
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ImportError: The compiled core of lhtree is missing for ")
    assert platform.python_implementation() in last
    assert platform.python_version() in last
    assert "pip install --force-reinstall lhtree" in last
    assert "there is" not in last


def test_the_error_names_a_core_for_another_python(bare):
    (bare / "lhtree" / "_core.cpython-39-unknown.so").touch()
    ran = run("import lhtree._core", bare)
    assert "(there is _core.cpython-39-unknown.so)" in ran.stderr


def test_versions_are_shown_without_the_core(bare):
    ran = run("import lhtree; lhtree.show_versions()", bare)
    assert ran.returncode == 0, ran.stderr
    assert "The compiled core of lhtree is missing" in ran.stdout


def test_python_prefers_the_compiled_core():
    from lhtree import _core

    assert Path(_core.__file__).suffix in (".so", ".pyd")
    with pytest.raises(ImportError, match="compiled core") as caught:
        runpy.run_path(str(PACKAGE / "_core.py"))
    assert caught.value.name == "lhtree._core"
