"""An error that helps. Python imports this file only where the compiled core, which it prefers, is missing."""

import platform
import sys
from pathlib import Path

_BUILT = sorted(path.name for path in Path(__file__).parent.glob("_core.*") if path.suffix in (".so", ".pyd"))
raise ImportError(
    f"The compiled core of lhtree is missing for {platform.python_implementation()} "
    f"{platform.python_version()} on {sys.platform} {platform.machine()}"
    + (f" (there is {', '.join(_BUILT)})" if _BUILT else "")
    + ": install a wheel with 'pip install --force-reinstall lhtree'; "
    "in a checkout, build it with 'pip install .' and import lhtree from outside src.",
    name="lhtree._core",
)
