"""Errors and signals of the command line: a one-line message with a remedy, and an exit code."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from typing import Any, NoReturn

from ..tables.errors import OptionError, ReadError, TableError, TableWarning


class ExitCode(IntEnum):
    """Exit codes; ``lhtree --help`` explains them."""

    DONE = 0
    DATA = 1  # unsuitable data or model
    USAGE = 2  # Typer's own
    READ = 3  # a file cannot be read
    WRITE = 4  # output cannot be written
    DRIFT = 5  # lhtree monitor found a shift
    INTERRUPTED = 130


_received: list[int] = []  # signals; exceptions raised in finalizers and callbacks of libraries are lost


def handle_signals() -> None:
    """Install handlers of the signals that end a command, unless the caller ignores them, as nohup does."""
    _received.clear()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows lacks the last
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    sys.unraisablehook = _show_unraisable


def check_signals() -> None:
    """Raise KeyboardInterrupt if a signal was received; called in loops and before writing."""
    if _received:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def _show_unraisable(unraisable: Any) -> None:
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


class Problem(Exception):  # noqa: N818
    """An error that the user can fix: a one-line message and an exit code."""

    def __init__(self, message: str, code: ExitCode = ExitCode.DATA) -> None:
        super().__init__(message)
        self.code = code


_EXPECTED = (
    Problem,
    ValueError,  # includes ModelFileError and TableError
    TypeError,
    OSError,
    ModuleNotFoundError,
    MemoryError,
    KeyboardInterrupt,
)


class Guard:
    """Prints expected errors in one line on stderr; with ``is_debug`` the traceback is shown instead."""

    def __init__(self) -> None:
        self.is_debug = False

    def wrap(self, command: Callable[..., None]) -> Callable[..., None]:
        """Return a command whose errors are printed in one line, before Typer handles them."""

        @wraps(command)
        def guarded(*args: Any, **kwargs: Any) -> None:
            with self.handle_errors():
                check_signals()
                command(*args, **kwargs)
                sys.stdout.flush()  # may raise if the disk is full or the pipe is closed

        return guarded

    @contextmanager
    def handle_errors(self) -> Iterator[None]:
        """Print expected errors in one line and exit with their code; print warnings about tables in one line."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", TableWarning)
                warnings.showwarning = _show_warning
                yield
            check_signals()
        except SystemExit:
            raise
        except BaseException as error:
            number = _received[0] if _received else None
            if number is not None and not self.is_debug:  # even if another error replaced it
                self._leave(KeyboardInterrupt() if number == signal.SIGINT else None, 128 + number)
            if isinstance(error, BrokenPipeError):  # the reader closed the pipe: no error
                self._leave(None, ExitCode.WRITE)
            if self.is_debug or not isinstance(error, _EXPECTED):
                raise
            self._leave(error, find_code(error))

    def _leave(self, error: BaseException | None, code: int) -> NoReturn:
        _close_stdout()
        if error is not None:
            print(f"lhtree: {describe(error)}", file=sys.stderr)
        raise SystemExit(code) from None


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    if issubclass(category, TableWarning):
        print(f"lhtree: {_tidy(str(message).removeprefix('X: '))}", file=sys.stderr)
    else:
        _SHOW_WARNING(message, category, *where, **more)


_SHOW_WARNING = warnings.showwarning


def describe(error: BaseException) -> str:
    """Return the one-line message of an error."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return "not enough memory: use fewer rows or columns (--drop NAME), or a smaller model"
    message = str(error).removeprefix("path=")
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        message = f"{place}{error.strerror}"
    if isinstance(error, TableError):
        message = _write_options(error)
    return _tidy(message) or type(error).__name__


def _tidy(message: str) -> str:
    """Return one line without control characters, which names in a table may contain."""
    line = " ".join(message.split())
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)


def _write_options(error: TableError) -> str:
    """Return the message of a table error, with parameters written as options."""
    message = error.message
    if isinstance(error, OptionError):
        message = f"--{error.name} {shlex.quote(str(error.value))} {error.told}"
    options = []
    for name, value in error.options.items():
        option = f"--{name.replace('_', '-')}"
        each = value if isinstance(value, list) else [value]
        options.append(
            " ".join(option if some is True else f"{option} {shlex.quote(str(some))}" for some in each)
        )
    return f"{message} ({' or '.join(options)})" if options else message


def exit_usage(error: Any) -> NoReturn:
    """Raise a one-line error for invalid usage; show the help of a command without arguments."""
    place = error.ctx.command_path if error.ctx else "lhtree"
    if type(error).__name__ == "NoArgsIsHelpError":
        if error.message:  # empty if Typer has printed the help with rich
            print(error.message)
        raise SystemExit(ExitCode.USAGE)
    message = error.format_message().rstrip(".").replace("Value error, ", "")
    raise Problem(f"{message[:1].lower()}{message[1:]} (see {place} --help)", ExitCode.USAGE) from None


def find_code(error: BaseException) -> ExitCode:
    """Return the exit code of an error."""
    from ..files import ModelFileError

    if isinstance(error, Problem):
        return error.code
    if isinstance(error, OptionError) and error.is_usage:
        return ExitCode.USAGE
    if isinstance(error, ReadError):
        return ExitCode.READ
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if isinstance(error, OSError):
        is_write = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
        return ExitCode.WRITE if is_write else ExitCode.READ
    return ExitCode.READ if isinstance(error, ModelFileError) else ExitCode.DATA


@contextmanager
def reading(path: object) -> Iterator[None]:
    """Add the name of the file and the exit code to errors of reading."""
    try:
        yield
    except OSError as error:
        raise Problem(f"cannot read {path}: {_reason(error)}", ExitCode.READ) from error


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Add the name of the file and the exit code to errors of writing."""
    check_signals()
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Problem(f"cannot write {path}: {_reason(error)}", ExitCode.WRITE) from error


def _reason(error: OSError) -> str:
    return error.strerror or " ".join(str(error).split())


def _close_stdout() -> None:
    """Discard buffered output that could not be written, so that the interpreter does not retry at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
