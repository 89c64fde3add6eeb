"""Errors about tables, worded for both Python and the command line."""

from __future__ import annotations

from typing import Any


class TableError(ValueError):
    """A table that cannot be used as it is; each of ``options`` is a parameter that would help."""

    def __init__(self, message: str, **options: Any) -> None:
        super().__init__(message)
        self.message, self.options = message, options

    def __str__(self) -> str:
        told = " or ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.message} ({told})" if told else self.message


class TableWarning(UserWarning):
    """A table of which a part is not used."""


class ReadError(TableError):
    """A file that cannot be read: it does not exist, is damaged, or is in another format."""


class OptionError(TableError):
    """A parameter with an invalid value; ``is_usage`` if it is invalid for every table."""

    def __init__(self, name: str, value: Any, told: str, *, is_usage: bool = True, **options: Any) -> None:
        super().__init__(f"{name}={value!r} {told}", **options)
        self.name, self.value, self.told, self.is_usage = name, value, told, is_usage
        self.args = (name, value, told)  # what pickle makes it anew of
