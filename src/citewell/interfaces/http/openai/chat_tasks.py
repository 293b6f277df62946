"""What chat programs such as Open WebUI ask a model for themselves: the title, the tags, the next
questions of a conversation. Such a request holds the conversation in `<chat_history>` and names the
JSON that it wants; no document answers it, so it is made of the conversation and of questions that
the documents were found to answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from citewell.interfaces.http.openai.openai_errors import Unsupported
from citewell.interfaces.links import SOURCES, truncate_text
from citewell.runtime.app import App
from citewell.service.ask.default_collection import FROM_DOCUMENTS
from citewell.service.ask.run import AskRequest
from citewell.service.library.offered_questions import Place, list_suggestions

MOST = 3  # questions to go on with, or tags
LONGEST_TITLE = 60
_OPENS, _CLOSES = "<chat_history>", "</chat_history>"
_WANTED = re.compile(r'\{\s*"([a-z_]{1,40})"\s*:')
_SPEAKER = re.compile(r"^(USER|ASSISTANT|SYSTEM|TOOL): ", re.MULTILINE)
_CITED = re.compile(r"#/source/(doc_\w{1,64})\?(?:page=\d{1,9}&)?start=(\d{1,12})&end=(\d{1,12})")
_SOURCE = re.compile(r"^\d{1,3}\. \[((?:\\.|[^\]\\\n])+)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ChatTask:
    """`wanted`: the key of the JSON. `questions` and `replies`: what was said, in order."""

    wanted: str
    questions: list[str]
    replies: list[str]


def parse_chat_task(text: str) -> ChatTask | None:
    """What a message of such a program wants; None of a person's message."""
    before, opens, rest = text.partition(_OPENS)
    history, closes, after = rest.rpartition(_CLOSES)
    wanted = _WANTED.search(f"{before}\n{after}")
    if not opens or not closes or wanted is None:
        return None
    parts = _SPEAKER.split(history)
    said = list(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    return ChatTask(
        wanted[1],
        [words for speaker, words in said if speaker == "USER" and words],
        [words for speaker, words in said if speaker == "ASSISTANT" and words],
    )


async def answer_chat_task(app: App, task: ChatTask, asked: AskRequest) -> str:
    """The JSON that is wanted. `asked`: agent and collection. Raises Unsupported, NotFound."""
    make = MAKERS.get(task.wanted)
    if make is None:
        raise Unsupported(
            "messages",
            f"{task.wanted!r} of a conversation is not made here; made are {', '.join(MAKERS)}",
            hint="name another model for it (Open WebUI: Admin Panel, Settings, Interface, Task "
            "Model)",
        )
    return json.dumps({task.wanted: await make(app, task, asked)}, ensure_ascii=False)


async def _make_title(_app: App, task: ChatTask, _asked: AskRequest) -> str:
    """The question that the conversation began with, as on our own page."""
    return truncate_text(task.questions[0], LONGEST_TITLE) if task.questions else ""


async def _make_tags(_app: App, task: ChatTask, _asked: AskRequest) -> list[str]:
    """The titles of the sources that the last answers name."""
    lists = [words[found.start() :] for words in task.replies if (found := SOURCES.search(words))]
    titles = [re.sub(r"\\(.)", r"\1", title) for each in lists for title in _SOURCE.findall(each)]
    return list(dict.fromkeys(reversed(titles)))[:MOST]


async def _list_next_questions(app: App, task: ChatTask, asked: AskRequest) -> list[str]:
    """Questions with known answers that are nearest to the last one, those of cited documents
    first; none that what was cited answers.
    """
    if not task.questions or asked.agent not in FROM_DOCUMENTS:
        return []
    cited = [
        Place(doc_id, int(start), int(end))
        for doc_id, start, end in _CITED.findall("\n".join(task.replies))
    ]
    offered = await list_suggestions(
        app,
        asked.collection or app.settings.collection,
        limit=MOST,
        near=task.questions[-1],
        documents=[place.doc_id for place in cited],
        shown=cited,
    )
    return [each.question for each in offered]


async def _list_queries(_app: App, task: ChatTask, _asked: AskRequest) -> list[str]:
    return task.questions[-1:]


MAKERS: dict[str, Callable[[App, ChatTask, AskRequest], Awaitable[str | list[str]]]] = {
    "title": _make_title,
    "tags": _make_tags,
    "follow_ups": _list_next_questions,
    "queries": _list_queries,
}
