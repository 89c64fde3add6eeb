"""`lhtree version`."""

import pytest

import lhtree
from support.shop import succeed


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert succeed(capsys, "version").out == f"lhtree {lhtree.__version__}\n"
    assert succeed(capsys, "--version").out == f"lhtree {lhtree.__version__}\n"


def test_verbose_is_show_versions(capsys: pytest.CaptureFixture[str]) -> None:
    shown = succeed(capsys, "version", "--verbose").out
    lhtree.show_versions()
    assert shown == capsys.readouterr().out
    assert {"Python", "numpy", "compiler", "instruction"} <= {line.split()[0] for line in shown.splitlines()}
