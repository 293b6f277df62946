"""Prompts are Markdown files; replies that must have a shape are checked against a pydantic model.

    ## system
    You answer from the passages.
    ## user
    {passages}
    Question: {question}

What stands above the first heading is for the reader. `{name}` is a variable, `{{name}}` the
literal text `{name}`. The one rule: the variables given are exactly the variables of the file, and
what they hold is never read as a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from citewell.errors import PermanentError
from citewell.messages import Text
from citewell.models.base import LLM, OnToken, Reply
from citewell.types import Message, Role

M = TypeVar("M", bound=BaseModel)
Template = tuple[Message, ...]
LONGEST_TURN = 2_000  # characters of an earlier message that are sent

_HAN = re.compile(r"[\u3400-\u9fff]")  # in the system text: it is in the question's language
_REPAIRS = (
    "That reply does not fit: {problem}. Reply again with the JSON object only.",
    "这个输出不符合要求：{problem}。请重新输出，只输出 JSON 对象。",
)
_SHORTER = (
    "A first reply to this was too long and was cut off. Reply with a shorter JSON object.",
    "上一次输出过长，被截断了。请输出更短的 JSON 对象。",
)
# a string of JSON, whole or cut, or a bracket
_MARK = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{}]', re.DOTALL)
_HEADING = re.compile(r"^## (system|user|assistant)[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{([a-z_][a-z0-9_]*)\}\}|\{([a-z_][a-z0-9_]*)\}")


class PromptError(Exception):
    """A prompt file, or the variables given for it, are wrong: a programmer's mistake."""


@cache
def load_prompt(path: str) -> Template:
    """The turns of the prompt file at `path` in the package (`agents/prompts/qa/answer.md`)."""
    try:
        text = resources.files("citewell").joinpath(path).read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"prompt {path}: {error.strerror}") from None
    return parse_prompt(text, path)


def parse_prompt(text: str, name: str = "prompt") -> Template:
    """The turns of a prompt file's text."""
    parts = _HEADING.split(text)[1:]
    turns = [
        Message(role=cast("Role", role), content=body.strip())
        for role, body in zip(parts[::2], parts[1::2], strict=True)
    ]
    if not turns:
        raise PromptError(
            f"{name}: no turn; write one under `## system`, `## user` or `## assistant`"
        )
    empty = next((turn.role for turn in turns if not turn.content), None)
    if empty:
        raise PromptError(f"{name}: a turn of {empty} is empty")
    return tuple(turns)


def fill_prompt(template: Template, **variables: object) -> list[Message]:
    """The messages to send. Raises PromptError for variables missing here or in the template."""
    known = {
        found[2] for turn in template for found in _VARIABLE.finditer(turn.content) if found[2]
    }
    missing, extra = sorted(known - set(variables)), sorted(set(variables) - known)
    if missing:
        raise PromptError(f"prompt variable missing: {', '.join(missing)}")
    if extra:
        raise PromptError(
            f"prompt has no variable {', '.join(extra)}; it "
            f"has {', '.join(sorted(known)) or 'none'}"
        )

    def fill_variable(found: re.Match[str]) -> str:
        return "{" + found[1] + "}" if found[1] else str(variables[found[2]])

    return [
        Message(role=turn.role, content=_VARIABLE.sub(fill_variable, turn.content))
        for turn in template
    ]


async def ask_json(
    llm: LLM,
    messages: Sequence[Message],
    model: type[M],
    *,
    max_tokens: int = 256,
    temperature: float = 0.0,
    on_token: OnToken | None = None,
) -> M:
    """Ask for JSON of `model`'s schema. A reply that does not fit is sent back once with what is
    wrong with it; of one that was cut at `max_tokens` the whole items are taken, and where these do
    not fit, a shorter one is asked for once. A second one that does not fit raises PermanentError
    `invalid_reply`. `on_token` receives the first reply as it comes.
    """
    schema, sent, problem = model.model_json_schema(), list(messages), ""
    for listen in (on_token, None):
        reply = await llm.chat(
            sent, max_tokens=max_tokens, temperature=temperature, schema=schema, on_token=listen
        )
        try:
            return (
                read_json(reply.text, model) if reply.finished else read_cut_json(reply.text, model)
            )
        except ValidationError as error:
            problem = (
                describe_errors(error)
                if reply.finished
                else Text("it was cut at {max_tokens} tokens", max_tokens=max_tokens)
            )
        sent = _build_repair_messages(messages, reply, problem)
    raise PermanentError(
        Text(
            "{name}: the reply is no valid {model_name}: {problem}",
            name=llm.name,
            model_name=model.__name__,
            problem=problem,
        ),
        code="invalid_reply",
    )


def _build_repair_messages(
    messages: Sequence[Message], reply: Reply, problem: str
) -> list[Message]:
    """The messages that ask again. What was cut is not sent back: it is long, and it is lost."""
    zh = any(_HAN.search(message.content) for message in messages[:1])
    if reply.finished:
        said = _REPAIRS[zh].format(problem=problem)
        return [
            *messages,
            Message(role="assistant", content=reply.text),
            Message(role="user", content=said),
        ]
    *before, last = messages
    return [*before, last.model_copy(update={"content": f"{last.content}\n\n{_SHORTER[zh]}"})]


def read_json(text: str, model: type[M]) -> M:
    """Validate a reply, also in a code fence or among other words. Raises ValidationError."""
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, found.start())
            return model.model_validate(value)
        except ValueError:  # no JSON, or another object than the one asked for
            continue
    return model.model_validate_json(text)


def read_cut_json(text: str, model: type[M]) -> M:
    """Validate the whole part of a cut reply: lists end at a whole object. As `read_json`."""
    try:
        return read_json(text, model)
    except ValidationError:
        return model.model_validate_json(_close_json(text[text.find("{") :]))


def _close_json(text: str) -> str:
    """JSON that was cut, up to its last whole object, with what is open there closed."""
    brackets: list[str] = []
    whole = text
    for found in _MARK.finditer(text):
        if found[0] in "[{":
            brackets.append("]" if found[0] == "[" else "}")
        elif found[0] in "]}" and brackets:
            brackets.pop()
            if found[0] == "}":
                whole = text[: found.end()] + "".join(reversed(brackets))
    return whole


def describe_errors(error: ValidationError) -> str:
    """What does not fit, field by field, in words that a model can act on."""
    lines = [
        Text(
            "{part}: {msg}",
            part=".".join(str(part) for part in e["loc"]) or "the whole",
            msg=e["msg"],
        )
        for e in error.errors()
    ]
    return Text("; ").join(lines[:5])
