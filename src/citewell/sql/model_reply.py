"""What a chat model replies where a statement is asked for: the statement, or, of a connected
model, what the tables lack. A connected model is asked in `sql_reply.*.md`; the small one in
`sql.*.md` for a statement and nothing else, and is held to a grammar unless it comes to no end
under it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, PrivateAttr

from citewell.models.base import LLM, is_connected
from citewell.models.prompt import ask_json
from citewell.types import Message

STATEMENT_TOKENS = 300
HELD_TOKENS = 200  # under a grammar, which a small model may go round in without an end
REPLY_TOKENS = 1_500  # of a connected model: a long statement, and the question in full words


class SQLReply(BaseModel):
    """A connected model's reply. `question`: in full words. `reason`: what the tables lack."""

    question: str = Field("", max_length=1_000)
    status: Literal["written", "not_in_tables"] = "written"
    sql: str
    reason: str = ""
    _log_prob: float | None = PrivateAttr(None)

    @property
    def log_prob(self) -> float | None:
        """As of `Reply`; no field, for connected models are shown the fields."""
        return self._log_prob

    def keep_log_prob(self, log_prob: float | None) -> SQLReply:
        self._log_prob = log_prob
        return self


@dataclass(frozen=True, slots=True)
class NotInTables:
    """The model says that the tables do not have what the question needs, and why."""

    reason: str
    question: str = ""


async def ask_sql(
    llm: LLM, messages: list[Message], grammar: str = "", *, temperature: float = 0.0
) -> SQLReply:
    """The model's reply; without a statement where a small one wrote none. `grammar`: what a small
    one is held to. Raises what the model raises, and of a connected one PermanentError
    `invalid_reply`.
    """
    if is_connected(llm):
        reply = await ask_json(
            llm, messages, SQLReply, max_tokens=REPLY_TOKENS, temperature=temperature
        )
        return reply.model_copy(update={"sql": _strip_semicolon(reply.sql)})
    most = HELD_TOKENS if grammar else STATEMENT_TOKENS
    written = await llm.chat(messages, max_tokens=most, temperature=temperature, grammar=grammar)
    log_prob = written.log_prob
    if grammar and not written.finished:  # written freely, it is for the engine to judge
        written = await llm.chat(messages, max_tokens=STATEMENT_TOKENS, temperature=temperature)
    reply = SQLReply(sql=_extract_statement(written.text) if written.finished else "")
    return reply.keep_log_prob(log_prob)


def as_reply(sql: str, llm: LLM) -> str:
    """A statement in the form in which this model is asked for one."""
    return SQLReply(sql=sql).model_dump_json() if is_connected(llm) else sql


def _extract_statement(text: str) -> str:
    """What the model wrote, out of a code fence where it did not keep to the grammar."""
    fenced = re.search(r"```(?:sql)?\s*(.*?)(?:```|\Z)", text, re.DOTALL)
    plain = (fenced[1] if fenced else text).strip()
    is_statement = re.match(r"(?i)\s*(select|with|explain|values)\b", plain)
    return _strip_semicolon(plain) if is_statement else ""


def _strip_semicolon(sql: str) -> str:
    return sql.strip().rstrip(";").strip()
