"""A chat in OpenAI's form as a question of ours. Only what people and the assistant said is
history; a system message instructs where an agent has a place for it, and is never evidence.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from citewell.errors import InvalidInput
from citewell.interfaces.http.openai.openai_errors import UnknownModel, Unsupported
from citewell.interfaces.links import unlink_citations
from citewell.service.ask.agent_runners import AUTO, list_agent_names
from citewell.service.ask.options import AskOptions
from citewell.service.ask.run import AskRequest, trim_history
from citewell.types import Message

PREFIX = "citewell/"  # of every model's name
MOST_MESSAGES = 2_000
LONGEST_INSTRUCTION = 1_000  # AskOptions.instruction
INSTRUCTED = ("website", AUTO)  # agents with a place for an instruction; `auto` may choose one
_OPENS = re.compile(r"<(?:think|details\b([^<>]*+))>")  # what may be reasoning


class Ours(BaseModel):
    """The field `citewell` of a request: what OpenAI's interface has no words for.

    `draft`, `steps`: the unchecked draft and the steps come as `reasoning_content` while the answer
    is made. `sources`: the list at the end of the text. The others are those of `POST /api/ask`.
    """

    model_config = ConfigDict(extra="forbid")

    collection: str | None = None
    session_id: str | None = None
    options: dict[str, Any] = {}
    source: str = ""
    start_urls: list[str] = []
    draft: bool = False
    steps: bool = False
    sources: bool = True


class ChatMessage(BaseModel):
    """`content`: a text, or parts of which the texts count; None of an assistant that called a
    tool.
    """

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    """What is not named here (temperature, max_tokens, seed, ...) is ignored, as servers of local
    models do; `tools` may be offered, and are never called.
    """

    model: str
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    audio: Any = None
    citewell: Ours = Ours()


def to_ask_request(body: ChatRequest, user_id: str) -> tuple[AskRequest, list[str]]:
    """The request for an agent, and warnings of what of this one does not count. Raises
    InvalidInput, UnknownModel.
    """
    _check_request(body)
    agent, place = parse_model_name(body.model)
    instruction, talk = _split_messages(body.messages)
    if not talk or talk[-1].role != "user":
        raise InvalidInput(
            "the last message is not the user's",
            hint="end `messages` with the question, as role user",
        )
    ours, warnings = body.citewell, []
    options = dict(ours.options)
    if agent == "data" and place:
        options["source"] = place
    if ours.source:
        options["source"] = ours.source
    if ours.start_urls:
        options["start_urls"] = ours.start_urls
    if instruction and agent in INSTRUCTED:
        options.setdefault("instruction", instruction[:LONGEST_INSTRUCTION])
        if len(instruction) > LONGEST_INSTRUCTION:
            warnings.append(f"the system message was cut at {LONGEST_INSTRUCTION:,} characters")
    elif instruction:
        warnings.append(f"the system message was not used: the {agent} agent goes by its own rules")
    asked = AskRequest(
        question=talk[-1].content,
        agent=agent,
        collection=ours.collection or (place if agent != "data" else "") or None,
        session_id=ours.session_id,
        user_id=user_id,
        history=None if ours.session_id else trim_history(talk[:-1]),
        options=options,
    )
    return asked, warnings


def parse_model_name(model: str) -> tuple[str, str]:
    """Agent and collection (of `data`: source) that a model's name means: `citewell/qa`,
    `citewell/qa:handbooks`.
    """
    agent, _, place = model.removeprefix(PREFIX).partition(":")
    if not model.startswith(PREFIX) or agent not in list_agent_names():
        known = ", ".join(PREFIX + name for name in list_agent_names())
        raise UnknownModel(f"the model {model!r} does not exist", hint=f"there are {known}")
    return agent, place


def _check_request(body: ChatRequest) -> None:
    """Raises Unsupported for what would make the reply something else than what we answer."""
    if body.n not in (None, 1):
        raise Unsupported(
            "n",
            f"n = {body.n}: there is one answer to a question",
            hint="leave n out",
            code="unsupported_value",
        )
    if any(tool.get("type", "function") != "function" for tool in body.tools or ()):
        raise Unsupported(
            "tools", "tools of the server's own are not supported", hint="leave tools out"
        )
    if body.tool_choice not in (None, "auto", "none"):
        raise Unsupported(
            "tool_choice", "no tool is called: Citewell answers by itself", hint="leave it out"
        )
    if body.response_format is not None and body.response_format.get("type", "text") != "text":
        raise Unsupported(
            "response_format",
            "only text is answered",
            hint="the field citewell of the reply is JSON",
        )
    if body.logprobs:
        raise Unsupported(
            "logprobs",
            "log probabilities are not supported",
            hint="citewell.confidence says how sure it is",
        )
    if body.audio or any(kind != "text" for kind in body.modalities or ()):
        raise Unsupported(
            "modalities", "only text is answered", hint="leave modalities and audio out"
        )
    if body.stream_options is not None and not body.stream:
        raise Unsupported("stream_options", "stream_options is only allowed where stream is true")
    unknown = sorted(set(body.citewell.options) - set(AskOptions.model_fields))
    if unknown:
        raise Unsupported(
            f"citewell.options.{unknown[0]}",
            f"unknown options: {', '.join(unknown)}",
            code="unknown_option",
        )


def _split_messages(messages: list[ChatMessage]) -> tuple[str, list[Message]]:
    """What system messages say, and the talk of user and assistant, without what tools said to
    another model. Raises Unsupported where a tool has the last word, and for what is no text.
    """
    instructions: list[str] = []
    talk: list[Message] = []
    if messages[-1].role in ("tool", "function"):
        raise Unsupported(
            f"messages.[{len(messages) - 1}].role",
            "messages of tools are not answered",
            hint="end `messages` with the question, as role user",
        )
    for number, message in enumerate(messages):
        if message.role in ("tool", "function"):
            continue
        text = _extract_text(message, number)
        if message.role in ("system", "developer"):
            instructions.append(text.strip())
        elif message.role == "user":
            talk.append(Message(role="user", content=text))
        elif text := unlink_citations(_strip_reasoning(text)):
            talk.append(Message(role="assistant", content=text))
    return "\n\n".join(filter(None, instructions)), talk


def _strip_reasoning(text: str) -> str:
    """An earlier reply without its reasoning; one pass, whatever is left open."""
    said, at, never = list[str](), 0, set[str]()
    for begins in _OPENS.finditer(text):
        closing = "</think>" if begins[1] is None else "</details>"
        other = begins[1] is not None and 'type="reasoning"' not in begins[1]
        if other or begins.start() < at or closing in never:
            continue
        ends = text.find(closing, begins.end())
        if ends < 0:
            never.add(closing)
            continue
        said.append(text[at : begins.start()])
        at = ends + len(closing)
    return "".join([*said, text[at:]])


def _extract_text(message: ChatMessage, number: int) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    texts = []
    for at, part in enumerate(message.content):
        kind = part.get("type")
        text = part.get("refusal" if kind == "refusal" else "text")
        if kind not in ("text", "input_text", "output_text", "refusal") or not isinstance(
            text, str
        ):
            where = f"messages.[{number}].content.[{at}]"
            hint = (
                "send text; pictures and files are added to a collection, POST "
                "/api/collections/{name}/documents"
            )
            raise Unsupported(
                where,
                f"a part of type {kind!r} cannot be read",
                hint=hint,
                code="unsupported_content",
            )
        texts.append(text)
    return "\n".join(texts)
