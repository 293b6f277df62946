"""How far a long job is, told while it runs. The one rule: telling is awaited, so a teller may write it down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` files (phase `read`) or passages (phase `embed`); `name` is the file in hand."""

    phase: Literal["read", "embed"]
    done: int
    total: int
    name: str = ""


OnProgress = Callable[[Progress], Awaitable[None]]


async def silent(progress: Progress) -> None:
    """For callers that do not watch."""
