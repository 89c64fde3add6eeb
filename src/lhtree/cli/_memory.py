"""Whether a table is read into memory or in batches."""

from __future__ import annotations

import os
from typing import Any

from ..io.source import Reading
from ..io.streams import open_stream
from ._errors import ExitCode, Problem
from ._estimator import Kind


def is_too_large(
    path: str, reading: Reading, model: Kind, *, in_memory: bool, out_of_core: bool, others: dict[str, Any]
) -> bool:
    """Whether to fit in batches: as told, or if the table takes more than half of the free memory.

    ``others`` are options for which the whole table is needed (None: not given).
    """
    if in_memory and out_of_core:
        raise Problem("--in-memory contradicts --out-of-core: pass one of them", ExitCode.USAGE)
    obstacles = [f"{name}: omit it" for name, value in others.items() if value is not None]
    if model is not Kind.BOOST:
        obstacles.append(f"--model {model.value}: pass --model boost")
    if path == "-":
        obstacles.append("standard input, which can be read once only: pass a file")
    if out_of_core and obstacles:
        raise Problem(f"--out-of-core does not apply to {obstacles[0]}", ExitCode.USAGE)
    if in_memory or out_of_core or obstacles:
        return out_of_core
    with open_stream(path, reading) as stream:
        n_bytes, free = stream.estimate_bytes(), find_free_memory()
    return n_bytes is not None and free is not None and n_bytes > free / 2


def find_free_memory() -> int | None:
    """Bytes that programs can still get; None where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name == "MemAvailable":
                    return 1024 * int(value.split()[0])
    except OSError:
        pass  # not Linux
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
