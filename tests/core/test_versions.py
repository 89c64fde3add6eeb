"""Tests of the version and of the versions in bug reports."""

import re
from importlib.metadata import version
from pathlib import Path

import lhtree
from lhtree import _core, _extras
from support.fresh import loaded_after

ROOT = Path(__file__).parents[2]


def test_the_version_is_written_once():
    assert version("lhtree") == lhtree.__version__
    assert "version" not in re.findall(
        r"^(\w+) = ", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
    )


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.M) == [lhtree.__version__]


def test_the_changelog_has_a_section_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", changelog, re.M)[0] == lhtree.__version__


def test_versions_name_the_core_and_every_library():
    facts = _extras.find_versions()
    assert facts["lhtree"] == lhtree.__version__
    assert facts["numpy"] == version("numpy")
    assert facts["scikit-learn"] == version("scikit-learn")
    assert facts["compiler"] == _core.compiler()
    assert re.match(r"(GCC|Clang|MSVC) \d+", facts["compiler"])
    assert facts["instruction set"] in ("avx2", "portable")
    assert set(_extras.OPTIONAL) < set(facts)


def test_show_versions_lists_missing_packages(capsys, monkeypatch):
    monkeypatch.setattr(_extras, "OPTIONAL", ("no-such-distribution",))
    lhtree.show_versions()
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"lhtree +{re.escape(lhtree.__version__)}", lines[0])
    assert re.fullmatch(r"no-such-distribution +not installed", lines[-1])


def test_showing_versions_imports_no_library():
    code = "import contextlib, io, lhtree\nwith contextlib.redirect_stdout(io.StringIO()): lhtree.show_versions()"
    assert loaded_after(code) == []
