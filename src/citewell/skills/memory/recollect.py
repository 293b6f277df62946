"""Memories and the conversation itself as evidence, for questions about them, and as citations.
What is remembered is cited as memory, by its own words, and never passed off as a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from citewell.skills.answer.wording import format_message
from citewell.store.memory_rows import Memory
from citewell.text.sentences import detect_language
from citewell.types import Citation, Hit, Message

MEMORY, CONVERSATION = "memory:", "session:"
REMEMBERED = ("mem_", "ses_", "conversation")  # what no document's id begins with
LAST = 12  # messages of the conversation that a question about it is answered from


def format_memory(memory: Memory) -> str:
    """What a memory says: a fact its words, a settled question itself and its answer."""
    return memory.text if memory.kind == "fact" else f"{memory.subject}\n{memory.text}"


def build_memory_hits(memories: Sequence[Memory], lang: str) -> list[Hit]:
    """Memories as passages, best first."""
    return [
        _build_hit(
            n,
            memory.memory_id,
            _format_title(memory, lang),
            MEMORY + memory.memory_id,
            format_memory(memory),
        )
        for n, memory in enumerate(memories, start=1)
    ]


def build_conversation_hits(history: Sequence[Message], session_id: str, lang: str) -> list[Hit]:
    """What was said before, the latest first, each turn a passage that says who spoke."""
    said = [
        format_message("you" if m.role == "user" else "me", lang, text=m.content)
        for m in history[-LAST:]
    ]
    title = format_message("conversation", lang)
    return [
        _build_hit(n, session_id or "conversation", title, CONVERSATION + session_id, text)
        for n, text in enumerate(reversed(said), start=1)
    ]


def _build_hit(n: int, doc_id: str, title: str, uri: str, text: str) -> Hit:
    """Ids below zero: no chunk of the index has one."""
    return Hit(
        -n,
        doc_id,
        "",
        title,
        uri,
        (),
        None,
        0,
        len(text),
        text,
        detect_language(text),
        score=1.0 / n,
    )


def _format_title(memory: Memory, lang: str) -> str:
    day = datetime.fromtimestamp(memory.updated_at, UTC).strftime("%Y-%m-%d")
    return format_message("memory", lang, day=day)


def build_memory_citation(n: int, memory: Memory, lang: str) -> Citation:
    """A whole memory, cited."""
    text = format_memory(memory)
    return Citation(
        n=n,
        origin="memory",
        doc_id=memory.memory_id,
        title=_format_title(memory, lang),
        uri=MEMORY + memory.memory_id,
        quote=text,
        start=0,
        end=len(text),
        score=1.0,
    )


def mark_citation_origins(
    citations: Sequence[Citation], fetched: Mapping[str, float]
) -> list[Citation]:
    """Citations that say their origin: a memory, a web page and its time, or a document."""
    told = []
    for citation in citations:
        if citation.doc_id.startswith(REMEMBERED):
            told.append(citation.model_copy(update={"origin": "memory"}))
        elif citation.doc_id in fetched:
            told.append(
                citation.model_copy(
                    update={"origin": "web", "fetched_at": fetched[citation.doc_id]}
                )
            )
        else:
            told.append(citation)
    return told
