"""Test that the committed stubs match the bindings."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_stubs_are_fresh(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    patterns = ROOT / "cpp" / "bindings.pat"
    command = ["--quiet", "--module", "lhtree._core", "--pattern-file", patterns, "--output-file", fresh]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", *command], check=True)
    committed = ROOT / "src" / "lhtree" / "_core.pyi"
    assert committed.read_text() == fresh.read_text(), "the bindings have changed: run `make fix`"
