"""What a scripted model says when its script is over, and how plain text takes the form that is
asked for. Deterministic, and made of what was sent alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from citewell.types import Message

UNKNOWN = "I don't know."
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_QUESTION = re.compile(r"^\s*(?:(?:last )?question|问题|问)\s*[:：]\s*", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def extract_words(text: str) -> list[str]:
    """Lower-case Latin words, numbers, pairs of Chinese characters; Search has better ones."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        if run[0] < "\u3400" or len(run) == 1:
            found.append(run)
        else:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
    return found


def quote_sentence(messages: Sequence[Message]) -> str:
    """The sentence of the last user message that shares most words with its question (the line that
    starts with `Question:` or `问题：`, else the last line with a question mark, else the last
    line). A message after it that asks nothing new, as a job that goes on from the same passages
    does, is passed over.
    """
    said = [m.content for m in reversed(messages) if m.role == "user"]
    content = next(
        (text for text in said if any(map(_QUESTION.match, text.splitlines()))),
        said[0] if said else "",
    )
    lines = [line for line in content.splitlines() if line.strip()]
    asked = [at for at, line in enumerate(lines) if _QUESTION.match(line)]
    asked = asked or [at for at, line in enumerate(lines) if line.rstrip().endswith(("?", "？"))]
    if not lines:
        return UNKNOWN
    at = asked[-1] if asked else len(lines) - 1
    wanted = set(extract_words(_QUESTION.sub("", lines[at])))
    sentences = [s.strip() for n, line in enumerate(lines) if n != at for s in _END.split(line)]
    best = max(sentences, key=lambda s: len(wanted & set(extract_words(s))), default="")
    return best if wanted & set(extract_words(best)) else UNKNOWN


def build_example(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The plainest value that fits a JSON schema."""
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return build_example(target, root)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return build_example(schema[choice][0], root)
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        return {
            name: build_example(properties[name], root)
            for name in schema.get("required", properties)
        }
    if schema.get("type") == "array":
        return [build_example(schema.get("items", {}), root)] * int(schema.get("minItems", 0))
    if schema.get("type") in {"number", "integer"}:
        return schema.get("minimum", 0)
    return {"boolean": True, "null": None}.get(str(schema.get("type")), "")


_NUMBERED = re.compile(r"^\[(\d+\.\d+)\] (.+)$", re.MULTILINE)
_STATEMENT = re.compile(r"^(\d+)\. (.+?)(?: \((\d+\.\d+(?:, \d+\.\d+)*)\))?$", re.MULTILINE)
# of a statement's words that one or two numbered sentences must hold: then it counts as borne by
# them
SHARED = 0.6


def detect_reply_kind(schema: dict[str, Any] | None) -> str:
    """Which structured reply a schema asks for: `sentences` (a draft), `verdicts` (a judge),
    `clarified_question` (a router) or "" (something else).
    """
    properties = (schema or {}).get("properties", {})
    return next(
        (name for name in ("verdicts", "sentences", "clarified_question") if name in properties), ""
    )


def build_draft(text: str, messages: Sequence[Message]) -> str:
    """Plain text as a draft, each sentence with the numbered sentences that share most words with
    it; "I don't know" as one that tells nothing.
    """
    if text.strip() == UNKNOWN:
        missing = {"text": "The documents do not tell this.", "kind": "not_told", "evidence": []}
        return json.dumps({"status": "not_told", "sentences": [missing]})
    numbered = _extract_numbered(messages)
    parts = [part.strip() for part in _END.split(text) if part.strip()]
    sentences = [
        {"text": part, "kind": "fact", "evidence": _find_support(part, numbered)[1]}
        for part in parts
    ]
    return json.dumps({"status": "answered", "sentences": sentences}, ensure_ascii=False)


def build_quote_draft(messages: Sequence[Message]) -> str:
    """A draft of the numbered sentence that shares most words with the question; of the rows of a
    table the first one tells.
    """
    numbered, asked = _extract_numbered(messages), _extract_question(messages)
    best = max(
        numbered,
        key=lambda each: len(set(extract_words(asked)) & set(extract_words(each[1]))),
        default=("", ""),
    )
    rows = any("› SQL:" in message.content for message in messages)
    return build_draft(
        best[1] if rows or set(extract_words(asked)) & set(extract_words(best[1])) else UNKNOWN,
        messages,
    )


def repeat_question(messages: Sequence[Message]) -> str:
    """A controller's reply that leaves the question as it is and chooses nobody."""
    return json.dumps(
        {"clarified_question": _extract_question(messages), "sections": []}, ensure_ascii=False
    )


def judge_words(messages: Sequence[Message]) -> str:
    """Verdicts by shared words: entailed if its words and figures stand in two sentences."""
    content, numbered = messages[-1].content, _extract_numbered(messages)
    verdicts = []
    for n, text, _ in _STATEMENT.findall(content.rpartition(_extract_question(messages))[2]):
        share, ids = _find_support(text, numbered)
        untold = "do not tell" in text
        verdict = "entailed" if untold or share >= SHARED else "not_stated"
        verdicts.append(
            {"n": int(n), "verdict": verdict, "evidence": [] if untold else ids, "reason": ""}
        )
    return json.dumps({"verdicts": verdicts})


def _extract_numbered(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [
        found
        for message in messages
        if message.role == "user"
        for found in _NUMBERED.findall(message.content)
    ]


def _extract_question(messages: Sequence[Message]) -> str:
    lines = [
        line
        for message in messages
        for line in message.content.splitlines()
        if _QUESTION.match(line)
    ]
    return _QUESTION.sub("", lines[-1]) if lines else ""


def _find_support(text: str, numbered: Sequence[tuple[str, str]]) -> tuple[float, list[str]]:
    """The share of its words and figures that the best one or two sentences hold, and their ids."""
    mine = set(extract_words(text))
    order = sorted(numbered, key=lambda each: -len(mine & set(extract_words(each[1]))))[:2]
    held: set[str] = set()
    used: list[str] = []
    for n, sentence in order:
        more = (mine & set(extract_words(sentence))) - held
        if more and (not used or len(held) < SHARED * len(mine)):
            held |= more
            used.append(n)
    figures = {word for word in mine if word.isdigit()}
    return (len(held) / len(mine) if mine and figures <= held else 0.0), used
