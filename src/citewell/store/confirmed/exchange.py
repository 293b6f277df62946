"""Confirmed items and rules as files that work in git: the spec's document with front matter that
holds all of it. What a reader of the file sees is what is imported. The text must be just what the
front matter gives, and nothing in it is ever run: YAML is read without tags, without aliases and
within a size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import InvalidInput
from citewell.store.confirmed.item_files import (
    check_yaml_safety,
    clean_text,
    escape_block,
    escape_line,
    fence_code,
    read_front_matter,
    render_document,
    render_front_matter,
)
from citewell.store.confirmed.types import (
    LONGEST_ANSWER,
    LONGEST_LOGIC,
    LONGEST_QUESTION,
    Confirmation,
    Confirmed,
    Rule,
)
from citewell.types import IntentAnalysis

FORMAT = 1
MOST_BYTES = 1_000_000  # of one file: a confirmed answer has some thousand
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
M = TypeVar("M", bound=BaseModel)
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_FRONT = re.compile(r"\A---\n.*?^---$", re.DOTALL | re.MULTILINE)


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _By(_Closed):
    user_id: str = Field(min_length=1, max_length=100)
    trace_id: str = Field(max_length=100)
    at: float = Field(ge=0, le=1e11)


class _Place(_Closed):
    citewell: Literal[1]
    id: str = Field(max_length=120)
    title: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    category: str
    trace_id: str
    agent: str = Field(pattern=r"^[a-z_]{1,40}$")
    lang: str = Field(pattern=r"^[a-z]{0,8}$")
    source: str = Field(max_length=200)
    collection: str = Field(max_length=100)
    state: str
    logic: str = Field(max_length=LONGEST_LOGIC)
    created_at: float = Field(ge=0, le=1e11)


class _Item(_Place):
    tags: list[str] = Field(max_length=50)
    priority: Literal["high"]
    intent: dict[str, Any]
    answer: str = Field(max_length=LONGEST_ANSWER)
    fingerprint: str = Field(max_length=200)
    evidence: list[dict[str, Any]] = Field(max_length=500)
    confirmed_by: list[_By] = Field(min_length=1, max_length=1_000)


class _Correction(_Place):
    user_id: str = Field(min_length=1, max_length=100)
    wrong: str = Field(max_length=LONGEST_ANSWER)
    correction: str = Field(min_length=1, max_length=4_000)
    reviewed_by: str = Field(max_length=100)


def render_item_file(item: Confirmed) -> str:
    """An item's whole file, always the same bytes; how often it was used is not in it."""
    text = render_document(item)
    found = _FRONT.match(text)
    assert found is not None, "every document begins with its front matter"
    front = read_front_matter(text) | {
        "citewell": FORMAT,
        "trace_id": item.trace_id,
        "agent": item.agent,
        "lang": item.lang,
        "source": item.source,
        "collection": item.collection,
        "state": item.state,
        "intent": item.intent.model_dump(mode="json"),
        "logic": item.logic,
        "answer": item.answer,
        "fingerprint": item.fingerprint,
        "evidence": item.evidence,
        "created_at": item.created_at,
        "confirmed_by": [
            by.model_dump(mode="json")
            for by in sorted(item.confirmed_by, key=lambda by: (by.at, by.user_id))
        ],
    }
    return render_front_matter(_normalize_value(front)) + text[found.end() :]


def render_rule_file(rule: Rule) -> str:
    """The whole file of a correction."""
    front = {
        "id": rule.rule_id,
        "title": rule.question,
        "category": "correction",
        "citewell": FORMAT,
        "trace_id": rule.trace_id,
        "agent": rule.agent,
        "lang": rule.lang,
        "source": rule.source,
        "collection": rule.collection,
        "state": rule.state,
        "user_id": rule.user_id,
        "wrong": rule.wrong,
        "correction": rule.correction,
        "logic": rule.logic,
        "reviewed_by": rule.reviewed_by,
        "created_at": rule.created_at,
    }
    parts = [
        render_front_matter(_normalize_value(front)),
        "# 人工更正",
        f"## 用户问题\n{escape_block(rule.question)}",
        f"## 错误的内容\n{fence_code(rule.wrong, 'sql' if rule.agent == 'data' else 'text')}",
        f"## 更正\n{escape_block(rule.correction)}",
        *([f"## 正确的语句\n{fence_code(rule.logic, 'sql')}"] if rule.logic else []),
        (
            f"## 审核\n- **提出人**: {escape_line(rule.user_id)}\n"
            f"- **审核人**: {escape_line(rule.reviewed_by)}"
        ),
    ]
    return "\n\n".join(parts) + "\n"


def read_item(data: bytes, stem: str) -> Confirmed:
    """Raises InvalidInput, which says what is wrong. `stem`: the file's name, no suffix."""
    text = _decode_text(data)
    known = _validate_front_matter(_Item, text)
    if known.trace_id != stem or known.id != f"qa_confirmed_{stem}" or not ID.fullmatch(stem):
        raise InvalidInput(
            f"its id {known.id!r} is not that of its name",
            hint="a file is named after its trace: TRACE_ID.md",
        )
    if known.state not in {"active", "pending"}:
        raise InvalidInput(
            f"its state is {known.state!r}", hint="only active and pending items are exchanged"
        )
    try:
        intent = IntentAnalysis(**known.intent)
    except (ValidationError, TypeError):
        raise InvalidInput(
            "its intent is none", hint="intent_type, parameters, reasoning"
        ) from None
    item = Confirmed(
        item_id=known.id,
        trace_id=known.trace_id,
        agent=known.agent,
        question=known.title,
        lang=known.lang,
        source=known.source,
        collection=known.collection,
        intent=intent,
        logic=known.logic,
        answer=known.answer,
        tags=known.tags,
        state="active" if known.state == "active" else "pending",
        fingerprint=known.fingerprint,
        evidence=known.evidence,
        confirmed_by=[Confirmation(**by.model_dump()) for by in known.confirmed_by],
        created_at=known.created_at,
        updated_at=known.created_at,
    )
    _check_round_trip(text, render_item_file(item))
    return item


def read_rule(data: bytes, stem: str) -> Rule:
    """Raises InvalidInput, which says what is wrong with the file."""
    text = _decode_text(data)
    known = _validate_front_matter(_Correction, text)
    if known.id != stem or not re.fullmatch(r"rule_[0-9a-f]{1,64}", stem):
        raise InvalidInput(
            f"its id {known.id!r} is not that of its name",
            hint="a file is named after its rule: rule_....md",
        )
    if known.state not in {"active", "waiting"}:
        raise InvalidInput(
            f"its state is {known.state!r}",
            hint="only active and waiting corrections are exchanged",
        )
    fields = known.model_dump(exclude={"citewell", "id", "title", "category", "state"})
    state: Literal["active", "waiting"] = "active" if known.state == "active" else "waiting"
    rule = Rule(
        rule_id=known.id, question=known.title, state=state, updated_at=known.created_at, **fields
    )
    _check_round_trip(text, render_rule_file(rule))
    return rule


def _decode_text(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise InvalidInput(
            f"{len(data):,} bytes is more than the {MOST_BYTES:,} allowed",
            hint="no confirmed answer is so long",
        )
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")  # git may write other line ends
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: {error.reason} at byte {error.start}") from None
    if _CONFLICT.search(text):
        raise InvalidInput(
            "there are merge conflict markers in it", hint="settle the merge in git first"
        )
    if clean_text(text) != text:
        raise InvalidInput(
            "there are control or invisible characters in it", hint="export it again"
        )
    return text


def _validate_front_matter(kind: type[M], text: str) -> M:
    """The front matter as fields. No tag and no alias is resolved: neither is ever written."""
    found = _FRONT.match(text)
    if found is None:
        raise InvalidInput(
            "it has no front matter", hint="`citewell knowledge export` writes such files"
        )
    try:
        check_yaml_safety(found.group(0).strip("-\n"))
        return kind(**read_front_matter(text))
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise InvalidInput(
            f"its front matter cannot be read: {_describe_error(error)}", hint="export it again"
        ) from None


def _describe_error(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
    return " ".join(str(error).split())[:200]


def _check_round_trip(text: str, again: str) -> None:
    """Whatever is not just what would be written may show its reader one thing and mean another."""
    if text.rstrip("\n") != again.rstrip("\n"):
        mine, theirs = text.split("\n"), again.split("\n")
        pairs = enumerate(zip(mine, theirs, strict=False), 1)
        at = next((n for n, (one, other) in pairs if one != other), min(len(mine), len(theirs)) + 1)
        hint = "edit both alike, or confirm the right answer in Citewell and export it again"
        raise InvalidInput(f"its text and its front matter do not agree (line {at})", hint=hint)


def _normalize_value(value: Any) -> Any:
    """As YAML and strict types read it back: texts cleaned, figures finite, tuples as lists."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _normalize_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_value(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float) or value is None else str(value)
