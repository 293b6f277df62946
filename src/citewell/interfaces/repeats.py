"""Lines of the log that say the same again: written a few times, then counted, so that no fault
fills the disk. Nothing is lost in silence: how often a line was left out is told a minute later, or
when the log ends. What somebody who is signed in did (`citewell.access`, `citewell.audit`) is
bounded by the limits on them, and is always written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

# lines of the same words, and tracebacks of the same place, that are written in a window
SAME: Final = 5
OF_LOGGER: Final = 300  # lines of one logger and level, whatever they say
WINDOW: Final = 60.0  # seconds
MOST: Final = 1_000  # texts that are told apart at a time
LONGEST: Final = 500  # characters by which they are
AUDIT, ACCESS = "citewell.audit", "citewell.access"

Key = tuple[str, int, str, str]


@dataclass(slots=True)
class _Count:
    """Of one key since `began`. `text`: what the line said, without secrets."""

    began: float
    text: str
    written: int = 0
    left_out: int = 0


class Repeats:
    """Says of each record whether it is written. `discreet` takes out what no log may hold."""

    def __init__(self, discreet: Callable[[str], str]) -> None:
        self._discreet = discreet
        self._counts: dict[Key, _Count] = {}  # the oldest first

    def choose_detail(self, record: logging.LogRecord) -> Literal["whole", "short", "none"]:
        """`short`: without its traceback, which was told before."""
        if record.name == AUDIT or (record.name == ACCESS and not _is_anonymous_failure(record)):
            return "whole"
        logger = self._get_count((record.name, record.levelno, "", ""), record)
        if logger.written >= OF_LOGGER:
            logger.left_out += 1
            return "none"
        key = (record.name, record.levelno, record.getMessage()[:LONGEST], _find_raise_site(record))
        same = (
            self._get_count(key, record)
            if key in self._counts or len(self._counts) < MOST
            else logger
        )
        if same is not logger and same.written >= SAME and not record.exc_info:
            same.left_out += 1
            return "none"
        logger.written += 1
        same.written += same is not logger
        return "whole" if same is logger or same.written <= SAME else "short"

    def pop_due(self, now: float = float("inf")) -> Iterator[logging.LogRecord]:
        """What is to be told of lines that were left out in windows that are over."""
        while self._counts:
            key, count = next(iter(self._counts.items()))
            if now - count.began < WINDOW:
                return
            del self._counts[key]
            if count.left_out:
                what = f": {count.text}" if key[2] else ""
                said = (
                    f"left out {count.left_out} more lines like this of {WINDOW:.0f} seconds{what}"
                )
                yield logging.LogRecord(key[0], key[1], "", 0, said, None, None)

    def _get_count(self, key: Key, record: logging.LogRecord) -> _Count:
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = _Count(
                record.created, self._discreet(record.getMessage())[:LONGEST]
            )
        return found


def _is_anonymous_failure(record: logging.LogRecord) -> bool:
    """A request that was refused, of nobody who is known: there may be any number of those."""
    return not getattr(record, "user_id", "") and getattr(record, "status", 0) >= 400


def _find_raise_site(record: logging.LogRecord) -> str:
    """The kind of the exception and the line that raised it; empty where there is none."""
    if not record.exc_info or record.exc_info[0] is None:
        return ""
    at = record.exc_info[2]
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return (
        f"{record.exc_info[0].__name__} {at.tb_frame.f_code.co_filename}:{at.tb_lineno}"
        if at
        else ""
    )
