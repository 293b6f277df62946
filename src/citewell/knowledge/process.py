"""Processes by name, so that what one of them left can be told from what one of them is at.

The one rule: a process is said to be gone only where that is certain; of those elsewhere nothing is known.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
UNTOLD = "-"  # when a process began, on systems that do not say


@cache
def _machine() -> str:
    """The machine since it was started, and which processes are seen here: containers on it do not see each other's."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append((_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip())
    with suppress(OSError):
        parts.append(str((_PROC / "self/ns/pid").readlink()))
    return " ".join(parts)


def this_process() -> str:
    return f"{_machine()} {os.getpid()} {_started(os.getpid())}"


def gone(process: str) -> bool:
    """Whether a process that named itself so has ended, as far as it can be known here."""
    machine, _, rest = process.rpartition(" ")
    machine, _, number = machine.rpartition(" ")
    # Windows has no signal that only asks
    if os.name != "posix" or machine != _machine() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # somebody else's, and there
    return _started(int(number)) not in {rest, UNTOLD}


def _started(number: int) -> str:
    """When a process began, in ticks since the machine did: a number may be given again."""
    try:
        # the name in brackets may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
        fields = (_PROC / str(number) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return UNTOLD
    return "ended" if fields[0] in {"Z", "X"} else fields[19]
