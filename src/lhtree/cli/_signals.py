"""Signals that end a command: remembered as well as raised, since other libraries swallow exceptions.

A handler may run anywhere: in a weak reference's callback, in an import within an extension module, in a finaliser.
What it raises there is lost, and the command would go on to its end.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

_received: list[int] = []


def install() -> None:
    """Handle the signals that end a command, unless the caller ignores them, as nohup does."""
    _received.clear()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows lacks the last
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    sys.unraisablehook = _tell_unraisable


def find_received() -> int | None:
    """The signal received so far, if any."""
    return _received[0] if _received else None


def check() -> None:
    """Raise a signal again that may have been swallowed; called in loops and before writing."""
    if _received:
        raise KeyboardInterrupt


def _stop(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def _tell_unraisable(unraisable: Any) -> None:
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
