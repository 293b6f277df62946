"""Processes by name, so that what one of them left can be told from what one of them is at. A
process is said to be gone only where that is certain; of those elsewhere nothing is known.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
# when a process began, on systems that do not say; or which start of the machine it was
UNTOLD = "-"


@cache
def _get_machine() -> str:
    return platform.node().replace(" ", "_") or UNTOLD


@cache
def _get_boot_id() -> str:
    """Which of the machine's starts this is: nothing of an earlier one lives. Containers on one
    machine have it in common.
    """
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return UNTOLD


@cache
def _get_pid_namespace() -> str:
    """Which processes are seen: containers on one machine do not see each other's."""
    try:
        return str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return UNTOLD


def name_this_process() -> str:
    return name_process(os.getpid())


def name_process(number: int) -> str:
    """The name of a process here: machine, its start, what sees it, number, and its begin."""
    return (
        f"{_get_machine()} {_get_boot_id()} {_get_pid_namespace()} "
        f"{number} {_get_start_time(number)}"
    )


def get_clock_mark() -> str:
    """What names of processes share whose monotonic clock is ours."""
    return f"{_get_machine()} {UNTOLD} " if _get_boot_id() == UNTOLD else f" {_get_boot_id()} "


def has_died(process: str) -> bool:
    """Whether a process whose lease ran out ended by itself, as far as is known: it is not seen
    here, and the machine ran on. Of one on another machine its silence is all that is known: it
    counts as a death, so that what kills its process is not carried from machine to machine.
    """
    if not process.startswith(f"{_get_machine()} "):
        return True
    here = process.startswith(f"{_get_machine()} {_get_boot_id()} {_get_pid_namespace()} ")
    return get_clock_mark() in process and (has_ended(process) or not here)


def has_ended(process: str) -> bool:
    """Whether a process that named itself so has ended, as far as it can be known here."""
    if process.count(" ") != 4:
        return False
    machine, start, seen, number, began = process.split(" ")
    if machine != _get_machine():
        return False
    if start != _get_boot_id():
        return True  # the machine was started anew since
    # Windows has no signal that only asks
    if os.name != "posix" or seen != _get_pid_namespace() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # somebody else's, and there
    return _get_start_time(int(number)) not in {began, UNTOLD}


def _get_start_time(number: int) -> str:
    """When a process began, in ticks since the machine did: a number may be given again."""
    try:
        # the name in brackets may hold anything:
        # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
        fields = (
            (_PROC / str(number) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        )
    except OSError:
        return UNTOLD
    return "ended" if fields[0] in {"Z", "X"} else fields[19]
