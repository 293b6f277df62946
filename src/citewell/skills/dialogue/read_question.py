"""A question as it is read once: its intent, its entities, what is searched for and its vector. A
follow-up is searched by the joined question, and is told as less surely understood.
"""

from __future__ import annotations

import asyncio
from typing import Any

from citewell.models.base import LLM, Embedder, is_connected
from citewell.retrieve.query import Context
from citewell.skills.dialogue.follow_up import word_follow_up
from citewell.skills.dialogue.foreign_language import is_foreign
from citewell.skills.dialogue.intent import classify_intent
from citewell.skills.dialogue.overview_request import find_overview_request
from citewell.skills.dialogue.reference import Readings, build_readings, is_follow_up
from citewell.text.entities import extract_entities
from citewell.types import Message

UNDERSTOOD_ALONE, UNDERSTOOD_JOINED = 1.0, 0.85


async def read_question(
    question: str, history: list[Message], llm: LLM | None, embedder: Embedder
) -> dict[str, Any]:
    """A follow-up is searched by the joined question; a connected model reads it with the
    conversation in its answer call.
    """
    read = build_readings(question, history)
    leans = bool(history) and is_follow_up(question, history)
    standalone = read.text if leans and not is_connected(llm) else question
    intent, asked, context, follow_up = await asyncio.gather(
        classify_intent(question, embedder),
        embedder.query(question),
        _build_context(read, embedder),
        word_follow_up(question, history, embedder),
    )
    vector = asked if read.text == question else await embedder.query(read.text)
    # by the question alone: what was said before would hide that it is one
    wanted, sure = find_overview_request(asked, embedder.name)
    return {
        "intent": wanted or intent.label,
        "foreign": is_foreign(asked, embedder.name),
        "overview": sure if wanted else intent.confidence,
        "entities": [
            {"entity": e.entity, "type": e.type}
            for e in extract_entities(read.text if leans else question)
        ],
        "standalone": standalone,
        "follow_up": follow_up,
        "query": read.text,
        "vector": vector,
        "context": context,
        "confidence": round(
            min(UNDERSTOOD_JOINED if leans else UNDERSTOOD_ALONE, intent.confidence), 3
        ),
    }


async def _build_context(read: Readings, embedder: Embedder) -> Context | None:
    return (
        Context(read.context, await embedder.query(read.context), read.weight)
        if read.context
        else None
    )
