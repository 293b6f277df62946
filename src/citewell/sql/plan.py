"""From a question about tables to candidate statements: what it wants, whether the schema has it,
then SQL. Nothing here runs a statement; what the model writes is a proposal that the guard and the
engine judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from citewell.models.base import LLM, Embedder, is_connected
from citewell.sql.complete_grouping import make_runnable
from citewell.sql.engines.engine import Dialect
from citewell.sql.follow_confirmed import find_confirmed, fold_sql, has_same_shape
from citewell.sql.grammar.plain_names import write_plain_names
from citewell.sql.grammar.statement_grammar import build_grammar
from citewell.sql.model_reply import NotInTables, SQLReply, as_reply, ask_sql
from citewell.sql.parse_sql import parse_sql
from citewell.sql.plan_messages import LABELS, build_messages, select_examples, select_rules
from citewell.sql.plan_types import Analysis, Asked, Candidate
from citewell.sql.question_kind import detect_intent, find_choices, is_change_request
from citewell.sql.rewrite.change_value import change_value
from citewell.sql.rewrite.drop_joins import drop_joins
from citewell.sql.rewrite.keep_conditions import keep_conditions
from citewell.sql.schema_link import Linked, link_question
from citewell.sql.schema_text import choose_shown, get_token_budget
from citewell.sql.semantics.complete_statement import complete_statement, list_applied
from citewell.sql.semantics.metrics import Misnamed
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.types import Message

# Log-odds of linking (`schema_link.WEIGHTS`) from which on tables are asked. Of the questions of
# the fit, each database left out in turn, it refuses 0.98 and 0.91 of the English and Chinese ones
# that the tables cannot answer, and 0.01 and 0.06 of the others; on `unanswerable_derived` and the
# other six databases 0.95 and 0.85, and 0.00 and 0.01.
ANSWERABLE = -0.25
NEARLY_SAME = 0.95  # likeness of a confirmed question from which on the tables answer this one too


async def analyze_question(asked: Asked, llm: LLM | None, embedder: Embedder) -> Analysis:
    """Intent, linked tables, columns and stored values, and whether the schema can answer it at
    all. Raises what the model raises.
    """
    terms = [term.term for term in asked.glossary]
    linked = await link_question(asked.wording, asked.schema, embedder, terms)
    kind, parameters = detect_intent(asked.wording), _collect_parameters(asked.wording, linked)
    follow = find_confirmed(asked.question, asked.schema, asked.known)
    if follow is not None:
        who = follow[1].item
        reasoning = LABELS[asked.lang]["confirmed"].format(item=_get_id(who))
        return Analysis(kind, parameters, reasoning, linked=linked)
    said = asked.previous.follow_up if asked.previous is not None else asked.wording
    changes = await is_change_request(
        asked.history[-1].content if asked.history else said, embedder
    )
    # a connected model says itself, over the rows, that the tables do not tell
    sure = is_connected(llm) or is_answerable(
        linked, alike=max((each.similarity for each in asked.known), default=0.0)
    )
    missing = linked.missing if not sure else ()
    if missing and asked.translation:  # told in the words that the person used
        missing = (await link_question(asked.question, asked.schema, embedder, terms)).missing
    return Analysis(
        kind,
        parameters,
        _describe_reasoning(linked, asked.lang),
        answerable=sure,
        log_odds=None if is_connected(llm) else linked.log_odds,
        missing=missing,
        choices=find_choices(asked.schema, linked) if sure else (),
        linked=linked,
        changes=changes,
    )


def is_answerable(linked: Linked, *, alike: float = 0.0) -> bool:
    """Whether the schema likely has the answer. `alike`: to the nearest confirmed question."""
    return alike >= NEARLY_SAME or linked.log_odds is None or linked.log_odds >= ANSWERABLE


async def write_candidate(
    asked: Asked, analysis: Analysis, llm: LLM | None, *, temperature: float = 0.0
) -> Candidate | NotInTables | None:
    """A candidate: a confirmed statement if one fits, else the model's; None without one."""
    if (
        temperature == 0.0
        and (follow := find_confirmed(asked.question, asked.schema, asked.known)) is not None
    ):
        sql, known, how = follow
        corrected = isinstance(known.item, Rule)
        item_id, rules = ("", (_get_id(known.item),)) if corrected else (_get_id(known.item), ())
        return Candidate(sql, item_id, how, known.similarity, rules)
    if llm is None:
        return None
    if temperature == 0.0 and asked.previous is not None and asked.described is not None:
        before, schema = asked.previous, asked.described.schema
        if changed := change_value(before.sql, before.follow_up, schema):
            return Candidate(changed, how="changed")
    sent = build_messages(asked, analysis.linked, llm)
    return await _ask_proposal(asked, analysis, llm, sent, temperature)


async def _ask_proposal(
    asked: Asked, analysis: Analysis, llm: LLM, sent: list[Message], temperature: float = 0.0
) -> Candidate | NotInTables | None:
    grammar = write_grammar(asked, analysis.linked, llm)
    reply = await ask_sql(llm, sent, grammar, temperature=temperature)
    if grammar:
        plain = write_plain_names(reply.sql, asked.schema)
        reply.sql = drop_joins(plain, asked.schema, analysis.linked)
    reply.sql, problem, unused = _follow_description(reply.sql, asked)
    if asked.previous is not None and asked.described is not None:
        before, schema = asked.previous, asked.described.schema
        reply.sql = keep_conditions(reply.sql, before, schema)
    if grammar:
        reply.sql = make_runnable(reply.sql, asked.dialect)
    proposal = _build_proposal(reply, asked)
    if isinstance(proposal, Candidate):
        return replace(proposal, problem=problem, unused=unused, log_prob=reply.log_prob)
    return proposal


def _follow_description(sql: str, asked: Asked) -> tuple[str, str, str]:
    """The statement with what people wrote of the tables in it; why it cannot be had; a metric that
    the question names and it does not have.
    """
    said = asked.described
    if said is None or not sql:
        return sql, "", ""
    try:
        sql = complete_statement(sql, said.schema, said.description)
    except Misnamed as error:
        return sql, error.message, ""
    used = {
        each.name
        for each in list_applied(sql, said.schema, said.description)
        if each.kind == "metric"
    }
    return sql, "", "" if not said.named or used & set(said.named) else said.named[0]


def write_grammar(asked: Asked, linked: Linked | None, llm: LLM) -> str:
    """What a small model is held to: statements over the tables that it is shown."""
    if is_connected(llm):
        return ""
    shown = choose_shown(asked.schema, linked, get_token_budget(llm))
    return build_grammar(shown, asked.wording, linked.tables if linked is not None else {})


async def repair_candidate(
    asked: Asked, analysis: Analysis, llm: LLM, sql: str, problem: str
) -> Candidate | NotInTables | None:
    """The statement written anew, knowing the engine's message."""
    failed = LABELS[asked.wording_lang]["anew" if is_connected(llm) else "failed"]
    sent = [
        *build_messages(asked, analysis.linked, llm),
        Message(role="assistant", content=as_reply(sql, llm)),
        Message(role="user", content=failed.format(problem=" ".join(problem.split())[:300])),
    ]
    return await _ask_proposal(asked, analysis, llm, sent)


def is_sure(asked: Asked, analysis: Analysis, candidate: Candidate) -> bool:
    """Whether a statement need not be held against others: people confirmed it, a follow-up only
    changed values of the last one, or it reads one table and every word of the question stands for
    something there.
    """
    if candidate.how in {"reused", "adapted", "changed"}:
        return True
    linked = analysis.linked
    return (
        linked is not None
        and linked.share_missing == 0
        and _count_tables_read(candidate.sql, asked.dialect) == 1
    )


def order_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first: confirmed ones, then those written more than once, then in order."""
    times = Counter(fold_sql(each.sql) for each in candidates)
    return sorted(
        candidates,
        key=lambda each: (each.how not in {"reused", "adapted"}, -times[fold_sql(each.sql)]),
    )


def _build_proposal(reply: SQLReply, asked: Asked) -> Candidate | NotInTables | None:
    question = reply.question.strip() if asked.history else ""
    if reply.status == "not_in_tables" or (not reply.sql and reply.reason.strip()):
        return NotInTables(reply.reason.strip(), question)
    return _build_candidate(reply.sql, question, asked) if reply.sql else None


def _build_candidate(sql: str, question: str, asked: Asked) -> Candidate:
    shown = select_examples(asked.known)
    # what was only in the prompt was not followed: a statement of the same make was
    alike = [each for each in shown if has_same_shape(sql, each.item.logic)]
    rules = tuple(
        _get_id(each.item)
        for each in [*alike, *select_rules(asked.known)]
        if isinstance(each.item, Rule)
    )
    first = next((each for each in alike if isinstance(each.item, Confirmed)), None)
    return Candidate(
        sql,
        _get_id(first.item) if first else "",
        "example" if first else "",
        first.similarity if first else 0.0,
        rules,
        question,
    )


def _get_id(item: Confirmed | Rule) -> str:
    return item.item_id if isinstance(item, Confirmed) else item.rule_id


def _count_tables_read(sql: str, dialect: Dialect) -> int:
    """How many times a statement names a table; 0 where it cannot be parsed."""
    from sqlglot import exp

    tree = parse_sql(sql, dialect)
    return len(list(tree.find_all(exp.Table))) if tree is not None else 0


def _collect_parameters(question: str, linked: Linked) -> dict[str, Any]:
    scores = linked.tables
    found: dict[str, Any] = {"tables": sorted(scores, key=lambda name: -scores[name])[:5]}
    columns = sorted((each for each in linked.links if each.column), key=lambda each: -each.score)
    if columns:
        found["columns"] = list(dict.fromkeys(f"{each.table}.{each.column}" for each in columns))[
            :8
        ]
    if linked.values:
        found["values"] = {f"{each.table}.{each.column}": each.value for each in linked.values[:6]}
    if numbers := re.findall(r"\d+(?:\.\d+)?", question):
        found["numbers"] = [float(each) if "." in each else int(each) for each in numbers[:6]]
    return found


def _describe_reasoning(linked: Linked, lang: str) -> str:
    """In words, for the trace and for the document that a confirmed answer becomes."""
    words = LABELS[lang]
    best: dict[str, tuple[float, str]] = {}
    for each in linked.links:
        target = f"{each.table}.{each.column}" if each.column else each.table
        best[each.word] = max(best.get(each.word, (0.0, "")), (each.score, target))
    parts = [f"{word} → {target}" for word, (_, target) in best.items()]
    parts += [
        words["stored"].format(value=each.value, place=f"{each.table}.{each.column}")
        for each in linked.values[:4]
    ]
    if linked.missing:
        parts.append(words["nothing"].format(words=", ".join(linked.missing)))
    if linked.log_odds is not None:
        parts.append(words["odds"].format(odds=linked.log_odds))
    return "; ".join(parts)
