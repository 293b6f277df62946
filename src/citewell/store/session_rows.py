"""Sessions as rows, and what a list of them tells of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from citewell.messages import load_json
from citewell.types import Shown

HISTORY = "chat_history"

AGENT = "agent"

PINNED, ARCHIVED, FOLDER = "pinned", "archived", "folder"


class SessionInfo(Shown):
    """`messages` counts what was said by both sides; `last_updated` is in seconds since the
    epoch. `archived`: kept out of the way. `folder`: the id of the one it stands in.
    """

    session_id: str
    user_id: str
    title: str
    agent: str
    current_state: str
    messages: int
    last_updated: float
    pinned: bool = False
    archived: bool = False
    folder: str = ""


def parse_data(row: Row[Any]) -> dict[str, Any]:
    return dict(load_json(row.session_data or "{}"))


def parse_info(row: Row[Any]) -> SessionInfo:
    return _build_info(row, *_list_told(parse_data(row)))


def parse_listing(row: Any) -> SessionInfo:
    """Of a row that tells the agent, the marks and the number of messages alone, or all of it."""
    told = json.loads(row.told or "{}")
    return _build_info(row, *(told if isinstance(told, list) else _list_told(told)))


def _list_told(data: dict[str, Any]) -> list[Any]:
    marks = (data.get(name) for name in (PINNED, ARCHIVED, FOLDER))
    return [data.get(AGENT), *marks, len(data.get(HISTORY, []))]


def has_words(row: Row[Any], wanted: Sequence[str]) -> bool:
    said = (str(message["content"]) for message in parse_data(row).get(HISTORY, []))
    text = "\n".join([row.title or "", *said]).casefold()
    return all(word in text for word in wanted)


def _build_info(
    row: Any, agent: Any, pinned: Any, archived: Any, folder: Any, messages: Any
) -> SessionInfo:
    return SessionInfo(
        session_id=row.session_id,
        user_id=row.user_id,
        title=row.title or "",
        agent=agent or "",
        current_state=row.current_state,
        messages=messages or 0,
        last_updated=row.last_updated,
        pinned=bool(pinned),
        archived=bool(archived),
        folder=str(folder or ""),
    )
