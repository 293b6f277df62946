"""Models that follow a script: for Citewell's tests and yours, for demonstrations and load tests.

    llm = ScriptedLLM()
    llm.enqueue("Paris.", TransientError("busy"), "Again.")   # chat: in order, errors are raised
    llm.enqueue_yes_no(2.5, -1.0)                             # yes_no: log odds in order
    ...
    assert "capital" in llm.calls[0].messages[-1].content

Same script, same calls, same replies; with no script left, chat quotes the passages it was sent.
Where a structured answer is asked for, plain text of the script takes its form; a judge is scripted
with `{"verdicts": [...]}` or goes by shared words.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from citewell.config import Settings
from citewell.models.base import OnToken, Reply, Tokens, Vector, YesNo
from citewell.models.observed import observe_call
from citewell.models.script_lines import Line, Pace, read_script
from citewell.models.script_reply import (
    build_draft,
    build_example,
    build_quote_draft,
    detect_reply_kind,
    extract_words,
    judge_words,
    quote_sentence,
    repeat_question,
)
from citewell.types import Message

DIM = 384
POSITIVE = 3.0  # log odds of a yes_no without a script
CALLS = 1_000  # remembered; a server under load asks without end


@dataclass(frozen=True, slots=True)
class Call:
    """What a scripted model was asked: `kind` is `chat` or `yes_no`."""

    kind: str
    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    max_tokens: int = 0


class ScriptedLLM:
    """Implements `LLM`. `calls` records what it was asked, in order. `delay`: seconds before a
    reply; `pace`: before each of its tokens.
    """

    evidence_tokens = 6_000

    def __init__(
        self,
        *replies: str | Exception | Line,
        name: str = "scripted",
        delay: float = 0.0,
        pace: float = 0.0,
    ) -> None:
        self.name = name
        self.calls: list[Call] = []
        self.closed = False
        self._delay = delay
        self._pace = pace
        self._chat: deque[Line] = deque()
        self._yes_no: deque[Line] = deque()
        self._reply: Callable[[Sequence[Message]], str] | None = None
        self._judge: Callable[[Sequence[Message]], float] | None = None
        self.enqueue(*replies)

    @classmethod
    def from_settings(cls, settings: Settings) -> ScriptedLLM:
        """Reads `scripted_replies`, a JSON list. A text is for chat, a number for yes_no,
        `{"error": kind, "message": text}` is raised by chat, `{"reply": text or number, "delay":
        seconds}` comes late. `{"pace": seconds, "delay": seconds}`: how long each token, and each
        reply beyond the script, takes.
        """
        llm = cls()
        for line in read_script(settings.scripted_replies) if settings.scripted_replies else []:
            if isinstance(line, Pace):
                llm._pace, llm._delay = line.token, line.delay
                continue
            (llm.enqueue_yes_no if isinstance(line.value, float) else llm.enqueue)(line)
        return llm

    def enqueue(self, *replies: str | Exception | Line) -> None:
        """Add to the script of `chat`."""
        self._chat += [r if isinstance(r, Line) else Line(r, self._delay) for r in replies]

    def enqueue_yes_no(self, *figures: float | Exception | Line) -> None:
        """Add to the script of `yes_no`: log odds, above 0 means yes."""
        self._yes_no += [f if isinstance(f, Line) else Line(f, self._delay) for f in figures]

    def reply_with(self, function: Callable[[Sequence[Message]], str]) -> None:
        """Answer chats beyond the script by `function`."""
        self._reply = function

    def judge_with(self, function: Callable[[Sequence[Message]], float]) -> None:
        """Answer yes_no beyond the script by `function`."""
        self._judge = function

    @observe_call("chat")
    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,  # noqa: ARG002 - part of the protocol
        schema: dict[str, Any] | None = None,
        grammar: str = "",  # noqa: ARG002 - part of the protocol
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        self._record_call(Call("chat", tuple(messages), schema, max_tokens))
        wanted = detect_reply_kind(schema)
        script = (
            self._chat if wanted in {"", "sentences"} or self._is_next(wanted) else deque[Line]()
        )
        text = str(await self._take_line(script, lambda: self._make_reply(messages, schema)))
        if wanted == "sentences" and '"sentences"' not in text:
            text = build_draft(text, messages)
        for mark in stop:
            text = text.partition(mark)[0]
        pieces = re.findall(r"\s*[a-zA-Z0-9]+|\s*.", text, re.DOTALL)
        finished, pieces = len(pieces) <= max_tokens, pieces[:max_tokens]
        for piece in pieces if on_token else ():
            await asyncio.sleep(self._pace)
            on_token(piece)  # type: ignore[misc]
        return Reply("".join(pieces), Tokens(count_words(messages), 0, len(pieces)), finished)

    @observe_call("yes_no")
    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        self._record_call(Call("yes_no", tuple(messages)))
        figure = await self._take_line(
            self._yes_no, lambda: self._judge(messages) if self._judge else POSITIVE
        )
        return YesNo(float(figure), Tokens(count_words(messages), 0, 1))

    async def close(self) -> None:
        self.closed = True

    def _record_call(self, call: Call) -> None:
        self.calls.append(call)
        if len(self.calls) > 2 * CALLS:
            del self.calls[:-CALLS]

    async def _take_line(
        self, script: deque[Line], otherwise: Callable[[], str | float]
    ) -> str | float:
        line = script.popleft() if script else Line(otherwise(), self._delay)
        await asyncio.sleep(line.delay)
        if isinstance(line.value, Exception):
            raise line.value
        return line.value

    def _is_next(self, wanted: str) -> bool:
        """Whether the next line of the script is such a reply, for a judge or who routes: plain
        text is for whoever writes.
        """
        line = self._chat[0].value if self._chat else ""
        return isinstance(line, Exception) or f'"{wanted}"' in str(line)

    def _make_reply(self, messages: Sequence[Message], schema: dict[str, Any] | None) -> str:
        if detect_reply_kind(schema) == "verdicts":
            return judge_words(messages)
        if detect_reply_kind(schema) == "clarified_question":
            return repeat_question(messages)
        if self._reply is not None:
            return self._reply(messages)
        if detect_reply_kind(schema) == "sentences":
            return build_quote_draft(messages)
        return json.dumps(build_example(schema)) if schema is not None else quote_sentence(messages)


class ScriptedEmbedder:
    """Implements `Embedder` by hashing words (Chinese: pairs) to 384 dimensions."""

    name = "scripted"
    dim = DIM

    def __init__(self) -> None:
        self.embedded: list[str] = []  # every passage ever asked for

    @observe_call("embeddings")
    async def query(self, text: str) -> Vector:
        return hash_words(text)

    @observe_call("embeddings")
    async def passages(self, texts: Sequence[str]) -> Vector:
        self.embedded += texts
        return (
            np.stack([hash_words(text) for text in texts])
            if texts
            else np.empty((0, DIM), np.float32)
        )

    async def close(self) -> None:
        """Nothing is held."""


def hash_words(text: str) -> Vector:
    """Signed feature hashing, scaled to length 1; a text without words has a fixed direction."""
    vector = np.zeros(DIM, np.float32)
    for word in extract_words(text) or [""]:
        number = int.from_bytes(
            blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little"
        )
        vector[number % DIM] += 1.0 if number >> 63 else -1.0
    length = float(np.linalg.norm(vector))
    if length == 0.0:  # words that cancel each other out
        vector[0] = length = 1.0
    return vector / np.float32(length)


def count_words(messages: Sequence[Message]) -> int:
    return sum(len(extract_words(message.content)) for message in messages)
