"""A conversation as a file of one kind: one row a kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from citewell.runtime.app import App
from citewell.service.sessions.export.conversation import Conversation, read_conversation
from citewell.service.sessions.export.markdown import write_markdown
from citewell.service.sessions.export.pdf import write_pdf
from citewell.service.sessions.export.word import write_word
from citewell.threads import run_in_thread

WRITERS: dict[str, tuple[str, Callable[[Conversation], bytes]]] = {
    "md": ("text/markdown", write_markdown),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", write_word),
    "pdf": ("application/pdf", write_pdf),
}


@dataclass(frozen=True, slots=True)
class Exported:
    title: str
    media_type: str
    content: bytes


async def export_session(app: App, session_id: str, kind: str, user_id: str) -> Exported:
    """`kind`: a key of WRITERS. Raises NotFound, and InvalidInput for a PDF without a font."""
    talk = await read_conversation(app, session_id, user_id)
    media_type, write = WRITERS[kind]
    return Exported(talk.title, media_type, await run_in_thread(partial(write, talk)))
