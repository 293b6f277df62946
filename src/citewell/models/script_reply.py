"""What a scripted model says when its script is over. The one rule: it is deterministic and comes from what was sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from citewell.types import Message

UNKNOWN = "I don't know."
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_QUESTION = re.compile(r"^\s*(?:question|问题|问)\s*[:：]\s*", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def words(text: str) -> list[str]:
    """Lower-case Latin words and numbers; Chinese in overlapping pairs of characters. Search has its own, better ones."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        if run[0] < "\u3400" or len(run) == 1:
            found.append(run)
        else:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
    return found


def quote(messages: Sequence[Message]) -> str:
    """The sentence of the last user message that shares most words with its question (the line that starts with `Question:` or
    `问题：`, else the last line with a question mark, else the last line). A message after it that asks nothing new, as a job
    that goes on from the same passages does, is passed over.
    """
    said = [m.content for m in reversed(messages) if m.role == "user"]
    content = next((text for text in said if any(map(_QUESTION.match, text.splitlines()))), said[0] if said else "")
    lines = [line for line in content.splitlines() if line.strip()]
    asked = [at for at, line in enumerate(lines) if _QUESTION.match(line)]
    asked = asked or [at for at, line in enumerate(lines) if line.rstrip().endswith(("?", "？"))]
    if not lines:
        return UNKNOWN
    at = asked[-1] if asked else len(lines) - 1
    wanted = set(words(_QUESTION.sub("", lines[at])))
    sentences = [s.strip() for n, line in enumerate(lines) if n != at for s in _END.split(line)]
    best = max(sentences, key=lambda s: len(wanted & set(words(s))), default="")
    return best if wanted & set(words(best)) else UNKNOWN


def example(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The plainest value that fits a JSON schema."""
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return example(target, root)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example(schema[choice][0], root)
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        return {name: example(properties[name], root) for name in schema.get("required", properties)}
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), root)] * int(schema.get("minItems", 0))
    if schema.get("type") in {"number", "integer"}:
        return schema.get("minimum", 0)
    return {"boolean": True, "null": None}.get(str(schema.get("type")), "")
