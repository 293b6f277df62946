"""Sessions: list, read with their history and their answers, rename, mark, delete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.papers import delete_session as papers_delete
from citewell.store.session_rows import SessionInfo
from citewell.types import Answer, Message, Shown

LONGEST = 200  # characters of a title
READING = "paper"  # the agent whose sessions read a paper
# what of a request can be asked with again in the same session
ASKED = ("agent", "collection", "options")


@dataclass(frozen=True, slots=True)
class Session:
    info: SessionInfo
    history: list[Message]


class AnsweredQuestion(Shown):
    """A session's question and whole answer. `request`: agent, collection and options."""

    trace_id: str
    created_at: float
    question: str
    request: dict[str, Any]
    answer: Answer


@dataclass(frozen=True, slots=True)
class SessionPage:
    """`sessions`: a page of those that were wanted, and with the first page all of them that stand
    in folders. `total`: how many stand in none, on any page. `archived`, `agents`: of everything
    that the user has.
    """

    sessions: list[SessionInfo]
    total: int
    archived: int
    agents: list[str]


async def list_sessions(
    app: App,
    user_id: str,
    words: str = "",
    *,
    agent: str = "",
    archived: bool = True,
    offset: int = 0,
    limit: int | None = None,
) -> SessionPage:
    """Newest first; with `words`, those that have all of them in their title or in what was said.
    `archived`: those too. `limit`: as many that stand in no folder, from the `offset` on, those
    that are pinned first.
    """
    every = await app.sessions.list(user_id)
    found = await app.sessions.find(user_id, words.split()) if words.split() else None
    wanted = [
        each
        for each in every
        if (found is None or each.session_id in found)
        and (not agent or each.agent == agent)
        and (archived or not each.archived)
    ]
    count, agents = sum(each.archived for each in every), sorted({each.agent for each in every})
    loose = [each for each in wanted if not each.folder]
    if limit is None:
        return SessionPage(wanted, len(loose), count, agents)
    loose.sort(key=lambda each: not each.pinned)
    inside = [] if offset else [each for each in wanted if each.folder]
    return SessionPage([*loose[offset : offset + limit], *inside], len(loose), count, agents)


async def get_own_session(app: App, session_id: str, user_id: str) -> SessionInfo:
    """Raises NotFound, also for a session of somebody else: it is not told that there is one."""
    info = await app.sessions.get(session_id)
    if info.user_id != user_id:
        raise NotFound(
            Text(
                "no session {session_id!r} of user {user_id!r}",
                session_id=session_id,
                user_id=user_id,
            ),
            hint=Text("name its user, or leave it out for a new one"),
        )
    return info


async def read_session(app: App, session_id: str, user_id: str = "local") -> Session:
    """Raises NotFound."""
    return Session(
        await get_own_session(app, session_id, user_id), await app.sessions.history(session_id)
    )


async def list_exchanges(
    app: App, session_id: str, user_id: str = "local"
) -> list[AnsweredQuestion]:
    """What its traces keep of it, in order; its history goes further back. Raises NotFound."""
    await get_own_session(app, session_id, user_id)
    return [
        AnsweredQuestion.of(
            trace, request={name: trace.request[name] for name in ASKED if trace.request.get(name)}
        )
        for trace in await app.traces.list_session(session_id, user_id)
    ]


async def rename_session(
    app: App, session_id: str, title: str, user_id: str = "local"
) -> SessionInfo:
    """Raises NotFound, InvalidInput."""
    await get_own_session(app, session_id, user_id)
    await app.sessions.rename(session_id, check_title(title))
    return await app.sessions.get(session_id)


async def mark_session(
    app: App,
    session_id: str,
    user_id: str = "local",
    *,
    pinned: bool | None = None,
    archived: bool | None = None,
) -> SessionInfo:
    """Keep it at the top, or out of the way; None: as it is. Raises NotFound."""
    await get_own_session(app, session_id, user_id)
    return await app.sessions.mark(session_id, pinned=pinned, archived=archived)


def check_title(title: str) -> str:
    """Without space around it. Raises InvalidInput."""
    title = title.strip()
    if not title or len(title) > LONGEST or not title.isprintable():
        raise InvalidInput(Text("a title has 1 to {longest} printable characters", longest=LONGEST))
    return title


async def delete_session(app: App, session_id: str, user_id: str = "local") -> None:
    """With its traces, and a reading session's paper that nobody else reads. Raises NotFound."""
    await papers_delete.forget_session(app, await get_own_session(app, session_id, user_id))
