"""A draft: an answer as sentences, each with its kind and the ids of the evidence that bears it. A
connected model writes it in one structured call; nothing in it counts as proved before a judge has
seen it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from citewell.errors import PermanentError
from citewell.messages import Text
from citewell.models.base import LLM, OnToken
from citewell.models.prompt import LONGEST_TURN, ask_json, fill_prompt, load_prompt
from citewell.skills.evidence.numbered import Unit, normalize_ids, show_sentences, strip_ids
from citewell.text.markup import strip_markup
from citewell.text.sentences import detect_language
from citewell.types import Kind, Message

DraftStatus = Literal["answered", "partly", "not_told", "false_premise", "unclear"]
LONGEST_REPLY = 4_000  # tokens of a structured reply: a list of some forty items with their ids
_TEXT = re.compile(r'"text"\s*:\s*"((?:[^"\\]|\\.)*)')
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class DraftSentence(BaseModel):
    """`evidence`: ids of numbered sentences. `calculation`: an equation in figures that the
    sentence states the result of. `span`: where in `text` the answering words stand, in a sentence
    that is quoted whole.
    """

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    kind: Kind = "fact"
    evidence: list[str] = []
    calculation: str = ""
    span: SkipJsonSchema[list[int]] = []

    @field_validator("text")
    @classmethod
    def _strip_markup(cls, value: str) -> str:
        """Without Markdown and addresses of links: an answer is text, an address no proof."""
        return strip_markup(value)

    @field_validator("evidence", mode="before")
    @classmethod
    def _as_texts(cls, value: object) -> object:
        return normalize_ids(value)


class Draft(BaseModel):
    """`question_back`: of a question that is unclear, what to ask the user; where it is empty, one
    of ours is asked. `search_for`: where something is missing, other words that a document which
    tells it would use.
    """

    model_config = ConfigDict(frozen=True)

    status: DraftStatus
    sentences: list[DraftSentence] = []
    question_back: str = ""
    search_for: str = ""

    @model_validator(mode="after")
    def _correct_status(self) -> Self:
        """Some models mix up statuses: only untold sentences are no answer, and what is answered is
        not unclear.
        """
        untold = bool(self.sentences) and all(
            sentence.kind == "not_told" for sentence in self.sentences
        )
        status = self.status
        if status == "unclear" and self.sentences and not self.question_back.strip():
            status = "answered"
        if untold and status != "unclear":
            status = "not_told"
        return self if status == self.status else self.model_copy(update={"status": status})

    @property
    def text(self) -> str:
        """The sentences as running text."""
        texts = [sentence.text for sentence in self.sentences]
        return ("" if texts and detect_language(texts[0]) == "zh" else " ").join(texts)


def build_evidence_messages(
    question: str,
    units: Sequence[Unit],
    task: str,
    *,
    history: Sequence[Message] = (),
    summary: str = "",
) -> list[Message]:
    """System text, numbered evidence, conversation, question, task: what is long and lasts comes
    first, so that a prompt cache holds it for every call on a question, and for later questions of
    a conversation on the same evidence. A judge is sent no conversation.
    """
    lang = detect_language(question)
    turns = [f"{message.role}: {message.content[:LONGEST_TURN]}" for message in history]
    said = "\n".join([*([summary] if summary else []), *turns]) or "-"
    template = load_prompt(f"skills/prompts/evidence.{lang}.md")
    return fill_prompt(
        template, conversation=said, evidence=show_sentences(units), question=question, task=task
    )


async def write_draft(
    llm: LLM,
    question: str,
    units: Sequence[Unit],
    *,
    history: Sequence[Message] = (),
    summary: str = "",
    wanted: str = "",
    doubts: str = "",
    on_text: OnToken | None = None,
) -> Draft:
    """Ask for the whole answer in one structured call; `wanted` says what else the answer shall be
    like. `doubts`: what a check of an earlier draft found, for the one repair round. `on_text`
    receives the sentences' text as it is written.

    Raises what an LLM raises, and PermanentError `invalid_reply` where two replies in a row do not
    have the form, or where an answer has no sentence.
    """
    lang = detect_language(question)
    task = load_prompt(f"skills/prompts/answer.{lang}.md")[0].content
    task = "\n".join(part for part in (task, wanted, doubts) if part)
    messages = build_evidence_messages(question, units, task, history=history, summary=summary)
    stream = stream_texts(on_text) if on_text else None
    draft = await ask_json(llm, messages, Draft, max_tokens=LONGEST_REPLY, on_token=stream)
    plain = [s.model_copy(update={"text": strip_ids(s.text, units)}) for s in draft.sentences]
    sentences = [s for s in plain if re.search(r"\w", s.text)]
    if not sentences and draft.status in {"answered", "partly", "false_premise"}:
        raise PermanentError(
            Text("{name}: the reply has no sentence", name=llm.name), code="invalid_reply"
        )
    return draft.model_copy(
        update={"sentences": sentences, "question_back": strip_ids(draft.question_back, units)}
    )


def describe_doubts(draft: Draft, reasons: Sequence[str], lang: str) -> str:
    """Findings for repair: sentences with a reason are doubted, without one proved."""
    lines = []
    for sentence, reason in zip(draft.sentences, reasons, strict=True):
        mark = {"en": ("proved", "not proved"), "zh": ("已证实", "未证实")}[lang][bool(reason)]
        lines.append(
            f"- {sentence.text} ({', '.join(sentence.evidence) or '-'}): "
            f"{mark}{': ' if reason else ''}{reason}"
        )
    return fill_prompt(load_prompt(f"skills/prompts/repair.{lang}.md"), findings="\n".join(lines))[
        0
    ].content


def stream_texts(on_text: OnToken) -> Callable[[str], None]:
    """Receives pieces of a JSON reply, passes its `text` fields on as soon as there."""
    buffer, sent = "", 0

    def receive(piece: str) -> None:
        nonlocal buffer, sent
        buffer += piece
        texts = [_HALF_ESCAPE.sub("", found[1]) for found in _TEXT.finditer(buffer)]
        whole = " ".join(json.loads(f'"{text}"', strict=False) for text in texts)
        if len(whole) > sent:
            on_text(whole[sent:])
            sent = len(whole)

    return receive
