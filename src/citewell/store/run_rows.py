"""Runs that are not over, as rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from citewell.messages import load_json


@dataclass(frozen=True, slots=True)
class Saved:
    """A run after its last finished node. `next`: the node to go on from; `request` and `state` are
    what their owner gave.
    """

    trace_id: str
    user_id: str
    agent: str
    request: dict[str, Any]
    next: str
    state: dict[str, Any]
    started_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a list shows of a run: who asked what, and where it goes on. `updated_at`: when its last
    node was finished. `alive`: somebody is at work on it.
    """

    trace_id: str
    agent: str
    question: str
    next: str
    updated_at: float
    session_id: str = ""
    alive: bool = False


def parse_saved(row: Any) -> Saved:
    kept = {each.name: getattr(row, each.name) for each in fields(Saved)}
    return Saved(**kept | {"request": json.loads(row.request), "state": load_json(row.state)})


def parse_unfinished(row: Any, alive: bool) -> Unfinished:
    said = json.loads(row.request)  # not by SQLite, which makes no text of half a character
    session_id = said.get("session_id") or ""
    question = said.get("question", "")
    return Unfinished(
        row.trace_id, row.agent, question, row.next, row.updated_at, session_id, alive
    )
