"""Prompts are Markdown files; replies that must have a shape are checked against a pydantic model.

    ## system
    You answer from the passages.
    ## user
    {passages}
    Question: {question}

What stands above the first heading is for the reader. `{name}` is a variable, `{{name}}` the literal text `{name}`.
The one rule: the variables given are exactly the variables of the file, and what they hold is never read as a template.
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
from citewell.models.base import LLM, OnToken
from citewell.types import Message, Role

M = TypeVar("M", bound=BaseModel)
Template = tuple[Message, ...]

_HAN = re.compile(r"[\u3400-\u9fff]")  # in the system text: it is in the question's language
_REPAIRS = (
    "That reply does not fit: {problem}. Reply again with the JSON object only.",
    "这个输出不符合要求：{problem}。请重新输出，只输出 JSON 对象。",
)
_HEADING = re.compile(r"^## (system|user|assistant)[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{([a-z_][a-z0-9_]*)\}\}|\{([a-z_][a-z0-9_]*)\}")


class PromptError(Exception):
    """A prompt file, or the variables given for it, are wrong: a programmer's mistake."""


@cache
def load(path: str) -> Template:
    """The turns of the prompt file at `path`, relative to the package (`agents/prompts/qa/answer.md`)."""
    try:
        text = resources.files("citewell").joinpath(path).read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"prompt {path}: {error.strerror}") from None
    return parse(text, path)


def parse(text: str, name: str = "prompt") -> Template:
    """The turns of a prompt file's text."""
    parts = _HEADING.split(text)[1:]
    turns = [Message(role=cast("Role", role), content=body.strip()) for role, body in zip(parts[::2], parts[1::2], strict=True)]
    if not turns:
        raise PromptError(f"{name}: no turn; write one under `## system`, `## user` or `## assistant`")
    empty = next((turn.role for turn in turns if not turn.content), None)
    if empty:
        raise PromptError(f"{name}: a turn of {empty} is empty")
    return tuple(turns)


def fill(template: Template, **variables: object) -> list[Message]:
    """The messages to send. Raises PromptError naming a variable that is missing or that the template does not have."""
    known = {found[2] for turn in template for found in _VARIABLE.finditer(turn.content) if found[2]}
    missing, extra = sorted(known - set(variables)), sorted(set(variables) - known)
    if missing:
        raise PromptError(f"prompt variable missing: {', '.join(missing)}")
    if extra:
        raise PromptError(f"prompt has no variable {', '.join(extra)}; it has {', '.join(sorted(known)) or 'none'}")

    def put(found: re.Match[str]) -> str:
        return "{" + found[1] + "}" if found[1] else str(variables[found[2]])

    return [Message(role=turn.role, content=_VARIABLE.sub(put, turn.content)) for turn in template]


async def ask_json(
    llm: LLM, messages: Sequence[Message], model: type[M], *, max_tokens: int = 256, on_token: OnToken | None = None
) -> M:
    """Ask for JSON of `model`'s schema. A reply that does not fit is sent back once with what is wrong with it; a second one
    raises PermanentError `invalid_reply`. `on_token` receives the first reply as it comes.
    """
    schema = model.model_json_schema()
    reply = await llm.chat(messages, max_tokens=max_tokens, schema=schema, on_token=on_token)
    try:
        return read_json(reply.text, model)
    except ValidationError as error:
        problem = describe(error)
    repair = _REPAIRS[any(_HAN.search(message.content) for message in messages[:1])].format(problem=problem)
    again = [*messages, Message(role="assistant", content=reply.text), Message(role="user", content=repair)]
    reply = await llm.chat(again, max_tokens=max_tokens, schema=schema)
    try:
        return read_json(reply.text, model)
    except ValidationError as error:
        problem = describe(error)
    raise PermanentError(f"{llm.name}: the reply is no valid {model.__name__}: {problem}", code="invalid_reply")


def read_json(text: str, model: type[M]) -> M:
    """Validate a reply, in a code fence or among other words or not. Raises pydantic's ValidationError."""
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, found.start())
            return model.model_validate(value)
        except ValueError:  # no JSON, or another object than the one asked for
            continue
    return model.model_validate_json(text)


def describe(error: ValidationError) -> str:
    """What does not fit, field by field, in words that a model can act on."""
    lines = [f"{'.'.join(str(part) for part in e['loc']) or 'the whole'}: {e['msg']}" for e in error.errors()]
    return "; ".join(lines[:5])
