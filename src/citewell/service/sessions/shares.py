"""Links by which others read a conversation: make, list, revoke, read. A link shows questions,
answers and the quotes below them as far as the conversation went when it was made; nothing of how
an answer came about, and of a document that its reader may not see no more than the quote and its
title. With sign-in nobody reads it who has not signed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.sessions.exchanges import Exchange, read_exchanges
from citewell.service.sessions.sessions import get_own_session
from citewell.store.conversations.shares import Share, build_dead_link
from citewell.store.dialects.fence import lift_fence
from citewell.store.users.identity import get_person_key, normalize_user_id
from citewell.types import Answer, Citation, Shown, Usage

LONGEST_DAYS = 365
MOST_READERS = 50


class SharedExchange(Shown):
    """`answer`: None where only its words are kept."""

    question: str
    said: str
    at: float
    answer: Answer | None


class SharedSession(Shown):
    title: str
    shared_by: str
    created_at: float
    expires_at: float
    exchanges: list[SharedExchange]


async def create_share(
    app: App, session_id: str, user_id: str, *, days: int, readers: Sequence[str] = ()
) -> Share:
    """`readers`: users of this server; none: whoever may ask it. Raises NotFound, InvalidInput."""
    info = await get_own_session(app, session_id, user_id)
    if not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(Text("a link lasts 1 to {most} days", most=LONGEST_DAYS))
    if not info.messages:
        raise InvalidInput(Text("nothing has been said in this conversation yet"))
    named = [name for name in map(normalize_user_id, readers) if name]
    if (readers and not named) or len(named) > MOST_READERS:
        raise InvalidInput(Text("name 1 to {most} users, or nobody", most=MOST_READERS))
    if app.settings.auth == "none" and named:
        raise InvalidInput(
            Text("without sign-in a link cannot be for certain people"),
            hint=Text('set auth = "token", or leave the names out'),
        )
    await _check_known(app, named)
    return await app.shares.create(session_id, user_id, info.messages, days, named)


async def list_shares(app: App, session_id: str, user_id: str) -> list[Share]:
    """The newest first. Raises NotFound."""
    await get_own_session(app, session_id, user_id)
    return await app.shares.list(session_id)


async def revoke_share(app: App, session_id: str, share_id: str, user_id: str) -> None:
    """From now on it leads nowhere. Raises NotFound."""
    await get_own_session(app, session_id, user_id)
    await app.shares.revoke(session_id, share_id)


async def read_shared_session(app: App, share_id: str, user_id: str) -> SharedSession:
    """`app`: as this reader may see it. Raises NotFound, in the same words for a link that is
    unknown, revoked, over, or for others.
    """
    share = await app.shares.get(share_id)
    readers = {get_person_key(each) for each in (share.user_id, *share.readers)}
    if share.readers and get_person_key(user_id) not in readers:
        raise build_dead_link()
    with lift_fence():  # what is shared is another's
        info = await app.sessions.get(share.session_id)
        exchanges = await read_exchanges(app, info, share.messages)
    return SharedSession(
        title=info.title,
        shared_by=share.user_id,
        created_at=share.created_at,
        expires_at=share.expires_at,
        exchanges=[await _strip_exchange(app, exchange) for exchange in exchanges],
    )


async def _check_known(app: App, names: Sequence[str]) -> None:
    """A mistyped name would share with nobody, or a later user of it. Raises InvalidInput."""
    if not names:
        return
    known = {get_person_key(each.user_id) for each in await app.users.list()}
    for name in names:
        if get_person_key(name) not in known:
            raise InvalidInput(
                Text("there is no user {name!r} here", name=name[:64]),
                hint=Text("ask them for the name they sign in with"),
            )


async def _strip_exchange(app: App, exchange: Exchange) -> SharedExchange:
    answer = exchange.answer
    if answer is not None:
        citations = [await _strip_citation(app, each) for each in answer.citations]
        answer = answer.model_copy(
            update={
                "citations": citations,
                "agent_reason": "",
                "route": "",
                "session_id": "",
                "trace_id": "",
                "usage": Usage(
                    seconds={k: v for k, v in answer.usage.seconds.items() if k == "total"}
                ),
                "followed": [],
                "choices": [],
            }
        )
    return SharedExchange(
        question=exchange.question, said=exchange.said, at=exchange.at, answer=answer
    )


async def _strip_citation(app: App, citation: Citation) -> Citation:
    if await _may_open(app, citation):
        return citation
    return citation.model_copy(update={"doc_id": "", "uri": "", "boxes": []})


async def _may_open(app: App, citation: Citation) -> bool:
    """Whether this reader would find the source itself."""
    if citation.origin == "memory":
        return False
    try:
        if citation.origin == "table":
            await app.sources.get(citation.doc_id)
        else:
            await app.catalog.document(citation.doc_id)
    except NotFound:
        return False
    return True
