"""What a chat model replies where a statement is asked for: the statement, or, of a connected
model, what the tables lack.

The one rule: a connected model is asked in `sql_reply.*.md`, the small one in `sql.*.md` for a
statement and nothing else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from citewell.models.base import LLM, is_connected
from citewell.models.prompt import ask_json, read_json
from citewell.types import Message

STATEMENT_TOKENS = 300
REPLY_TOKENS = 1_500  # of a connected model: a long statement, and the question in full words


class Written(BaseModel):
    """A small model's reply."""

    sql: str


class SQLReply(BaseModel):
    """A connected model's reply. `question`: a follow-up in full words. `reason`: what the tables
    lack.
    """

    question: str = Field("", max_length=1_000)
    status: Literal["written", "not_in_tables"] = "written"
    sql: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NotInTables:
    """The model says that the tables do not have what the question needs, and why."""

    reason: str
    question: str = ""


async def ask_sql(llm: LLM, messages: list[Message], *, temperature: float = 0.0) -> SQLReply:
    """The model's reply; without a statement where a small one wrote none. Raises what the model
    raises, and of a connected one PermanentError `invalid_reply`.
    """
    if is_connected(llm):
        reply = await ask_json(
            llm, messages, SQLReply, max_tokens=REPLY_TOKENS, temperature=temperature
        )
        return reply.model_copy(update={"sql": _strip_semicolon(reply.sql)})
    schema = Written.model_json_schema()
    text = (
        await llm.chat(
            messages, max_tokens=STATEMENT_TOKENS, temperature=temperature, schema=schema
        )
    ).text
    return SQLReply(sql=_extract_statement(text))


def as_reply(sql: str, llm: LLM) -> str:
    """A statement in the form in which this model is asked for one."""
    reply = SQLReply(sql=sql) if is_connected(llm) else Written(sql=sql)
    return json.dumps(reply.model_dump(), ensure_ascii=False)


def _extract_statement(text: str) -> str:
    """What the model wrote, out of its JSON, or out of a code fence where it did not keep to
    that.
    """
    try:
        return _strip_semicolon(read_json(text, Written).sql)
    except ValidationError:
        fenced = re.search(r"```(?:sql)?\s*(.*?)(?:```|\Z)", text, re.DOTALL)
        plain = (fenced[1] if fenced else text).strip()
        return (
            _strip_semicolon(plain)
            if re.match(r"(?i)\s*(select|with|explain|values)\b", plain)
            else ""
        )


def _strip_semicolon(sql: str) -> str:
    return sql.strip().rstrip(";").strip()
