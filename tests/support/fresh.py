"""Code in a fresh interpreter."""

import subprocess
import sys

# Shells have background jobs ignore Ctrl-C, nohup has them ignore hangups, and a child ignores what its parent does.
HEARING = """
import signal
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
"""


def run(code):
    """Output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout.strip()


def loaded_after(code):
    names = ("sklearn", "scipy", "pandas", "joblib", "matplotlib", "typer", "polars", "pyarrow")
    return run(f"{code}\nimport sys\nprint(*[name for name in {names!r} if name in sys.modules])").split()
