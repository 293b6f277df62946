"""Memories as tests make them. The one rule: their times count from `NOW`, in days, so that no test
looks at a clock.
"""

from __future__ import annotations

from citewell.skills.memory.remember import extract_stated_facts
from citewell.store.memory import DAY
from citewell.store.memory_rows import Kind, Memory

NOW = 1_000 * DAY


def memory(
    subject: str,
    text: str,
    kind: Kind = "fact",
    *,
    number: int = 1,
    days: float = 0.0,
    collection: str = "c",
) -> Memory:
    at = NOW - days * DAY
    return Memory(
        memory_id=f"mem_{number}",
        user_id="li",
        kind=kind,
        subject=subject,
        text=text,
        collection=collection,
        created_at=at,
        updated_at=at,
        expires_at=at + 100 * DAY,
    )


def fact(text: str, number: int = 1, days: float = 0.0) -> Memory:
    [found] = extract_stated_facts(text)
    return memory(found.subject, found.text, number=number, days=days)
