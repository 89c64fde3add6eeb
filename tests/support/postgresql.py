"""A PostgreSQL server of its own, in a temporary directory and without a port."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_DEBIAN = Path("/usr/lib/postgresql")


def find_programs():
    """The directory of initdb and pg_ctl; None where no server is installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    versions = [folder for folder in _DEBIAN.glob("*/bin") if (folder / "initdb").exists()]
    return max(versions, key=lambda folder: float(folder.parent.name), default=None)


def _choose_user():
    """Whom the server runs as: it refuses root."""
    if os.getuid() != 0:
        return {}
    users = {one.pw_name: one for one in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgresql_or_none():
    """How to connect (for ``psycopg.connect``); None where there is no server."""
    programs = find_programs()
    if programs is None:
        yield None
        return
    folder, user = Path(tempfile.mkdtemp(prefix="lhtree")), _choose_user()  # a short path: sockets want one
    if user:
        os.chown(folder, user["user"], user["group"])
    patience = ("-t", "600")  # seconds, on a very busy machine
    data, settings = folder / "data", f"-k {folder} -c listen_addresses='' -c fsync=off"

    def run(program, *arguments):
        command = [programs / program, "-D", data, *arguments]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, cwd=folder, check=True, **quiet, **user)

    try:
        run("initdb", "-U", "lhtree", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-w", *patience, "-l", folder / "log", "-o", settings, "start")
        try:
            yield f"host={folder} user=lhtree dbname=postgres"
        finally:
            run("pg_ctl", "-w", *patience, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgresql(postgresql_or_none):
    pytest.importorskip("psycopg")
    if postgresql_or_none is None:
        pytest.skip("no PostgreSQL server: initdb is neither in PATH nor below /usr/lib/postgresql")
    return postgresql_or_none
