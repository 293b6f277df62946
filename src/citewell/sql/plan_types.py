"""What planning a statement works with: question, schema, wishes, proposals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from citewell.sql.engines.engine import Dialect, Schema
from citewell.sql.schema_link import Linked
from citewell.sql.semantics.description import Description
from citewell.store.confirmed.types import Known
from citewell.types import Message


@dataclass(frozen=True, slots=True)
class Term:
    """A line of the user's glossary: what a word of theirs means in these tables."""

    term: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Described:
    """Tables as statements run over them, and what people wrote of them. `named`: names of the
    metrics that the question names.
    """

    schema: Schema
    description: Description
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Previous:
    """The question and the statement that a follow-up changes, and the follow-up as it was put.
    `confidence`: of the answer before.
    """

    question: str
    sql: str
    follow_up: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Asked:
    """All that the jobs on one question share. `known`: confirmed items and rules, best first.
    `history`: of a follow-up that only a connected model will put in full words, the conversation;
    its last turn is the question as it was put. `previous`: of a follow-up for a small model.
    `described`: the tables as they are stored and what people wrote of them; `schema` has the
    metrics as columns. `translation`: the question in the language of the
    tables, where it is put to them so.
    """

    question: str
    lang: str
    schema: Schema
    glossary: tuple[Term, ...] = ()
    known: tuple[Known, ...] = ()
    history: tuple[Message, ...] = ()
    previous: Previous | None = None
    described: Described | None = None
    translation: str = ""

    @property
    def dialect(self) -> Dialect:
        return self.schema.dialect

    @property
    def wording(self) -> str:
        """The question as it is put to the tables."""
        return self.translation or self.question

    @property
    def wording_lang(self) -> str:
        if not self.translation:
            return self.lang
        return "en" if self.lang == "zh" else "zh"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a question wants. `parameters`: what of the question was found where: `{"tables": [...],
    "columns": [...], "values": {"column": "stored value"}, "limit": 3, ...}`. `missing`: words of
    the question that nothing in the schema stands for, where it cannot be answered (`answerable`
    False). `choices`: readings to ask back about, where several are equally likely. `log_odds`: the
    model's own judgement that the tables answer it; None where it was not asked. `changes`: it asks
    to change the tables.
    """

    intent_type: str
    parameters: dict[str, Any] = field(default_factory=dict)
    reasoning: str = ""
    answerable: bool = True
    log_odds: float | None = None
    missing: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    linked: Linked | None = None
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement. `item_id` of the confirmed item that it is (`reused`) or was made of by other
    parameters (`adapted`) or that was shown to the model (`example`); empty where nothing was
    followed. `how` is `changed` for the last statement with other values. `rules`: ids of the
    rules that were shown. `question`: a follow-up in full words, where the model that wrote the
    statement put it so. `problem`: why it cannot run as it is written; `unused`: the metric that
    the question names and the statement does not have. `log_prob`: of what the model wrote under
    a grammar, as of `Reply`.
    """

    sql: str
    item_id: str = ""
    how: str = ""
    similarity: float = 0.0
    rules: tuple[str, ...] = ()
    question: str = ""
    problem: str = ""
    unused: str = ""
    log_prob: float | None = None
