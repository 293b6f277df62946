"""From a question about tables to candidate statements: what it wants, whether the schema has it,
then SQL.

The one rule: nothing here runs a statement; what the model writes is a proposal that the guard and
the engine judge.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from citewell.models.base import LLM, Embedder, is_connected
from citewell.sql.follow_confirmed import find_confirmed, has_same_shape
from citewell.sql.mend import count_tables_read, mend_statement
from citewell.sql.model_reply import NotInTables, SQLReply, as_reply, ask_sql
from citewell.sql.plan_messages import LABELS, build_messages, select_examples, select_rules
from citewell.sql.plan_types import Analysis, Asked, Candidate
from citewell.sql.question_kind import detect_intent, find_choices
from citewell.sql.schema_link import Linked, link_question
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.types import Message

# Whether the schema can answer: a logistic of the model's log-odds and of the share of the
# question's content words that stand for nothing in it. The share alone turns away 39 of 40 English
# and 37 of 40 Chinese questions of other databases, and keeps 227 and 228 of 235 that can be
# answered (`evals/text2sql.py --links`; STANDS_OUT of name_likeness.py was chosen on 110 of the
# latter and all of the former). The built-in model's log-odds add little (AUC 0.80 on 40 and 40
# Chinese ones), so it is asked only between.
GATE = {"bias": 1.6, "log_odds": 0.35, "missing": -5.0}
ANSWERABLE = 0.5
MOST_ODDS = 2.0  # more of the model's log-odds does not count: it likes to say yes
CLEAR_YES, CLEAR_NO = 0.2, 0.46  # shares below and from which on its word would change nothing
NEARLY_SAME = 0.95  # likeness of a confirmed question from which on the tables answer this one too


async def analyze_question(asked: Asked, llm: LLM | None, embedder: Embedder) -> Analysis:
    """Intent, linked tables, columns and stored values, and whether the schema can answer it at
    all. Raises what the model raises.
    """
    linked = await link_question(
        asked.question, asked.schema, embedder, [term.term for term in asked.glossary]
    )
    kind, parameters = detect_intent(asked.question), _collect_parameters(asked.question, linked)
    follow = find_confirmed(asked.question, asked.schema, asked.known)
    if follow is not None:
        who = follow[1].item
        reasoning = LABELS[asked.lang]["confirmed"].format(item=_get_id(who))
        return Analysis(kind, parameters, reasoning, linked=linked)
    # it says itself, over the rows, that the tables do not tell
    if llm is not None and is_connected(llm):
        choices = find_choices(asked.schema, linked)
        return Analysis(
            kind,
            parameters,
            _describe_reasoning(linked, None, asked.lang),
            choices=choices,
            linked=linked,
        )
    odds = None
    if llm is not None and CLEAR_YES <= linked.share_missing < CLEAR_NO:
        odds = (await llm.yes_no(build_messages(asked, linked, llm, gate=True))).log_odds
    sure = is_answerable(
        odds, linked, alike=max((each.similarity for each in asked.known), default=0.0)
    )
    choices = find_choices(asked.schema, linked) if sure else ()
    return Analysis(
        kind,
        parameters,
        _describe_reasoning(linked, odds, asked.lang),
        answerable=sure,
        log_odds=odds,
        missing=linked.missing if not sure else (),
        choices=choices,
        linked=linked,
    )


def is_answerable(log_odds: float | None, linked: Linked, *, alike: float = 0.0) -> bool:
    """Whether the schema is likely to hold the answer. `alike`: similarity of the nearest confirmed
    question.
    """
    if alike >= NEARLY_SAME:
        return True
    share = linked.share_missing
    figure = (
        GATE["bias"]
        + GATE["log_odds"] * max(-MOST_ODDS, min(MOST_ODDS, log_odds or 0.0))
        + GATE["missing"] * share
    )
    return 1 / (1 + math.exp(-figure)) >= ANSWERABLE


async def write_candidate(
    asked: Asked, analysis: Analysis, llm: LLM | None, *, temperature: float = 0.0
) -> Candidate | NotInTables | None:
    """One candidate: a confirmed statement where one fits, else the model's. None where nobody can
    write it.
    """
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
    sent = build_messages(
        asked, analysis.linked, llm, shots=temperature == 0.0 or is_connected(llm)
    )
    return _build_proposal(await ask_sql(llm, sent, temperature=temperature), asked, analysis)


async def repair_candidate(
    asked: Asked, analysis: Analysis, llm: LLM, sql: str, problem: str
) -> Candidate | NotInTables | None:
    """The statement written anew, knowing the engine's message."""
    failed = LABELS[asked.lang]["anew" if is_connected(llm) else "failed"]
    sent = [
        *build_messages(asked, analysis.linked, llm),
        Message(role="assistant", content=as_reply(sql, llm)),
        Message(role="user", content=failed.format(problem=" ".join(problem.split())[:300])),
    ]
    return _build_proposal(await ask_sql(llm, sent), asked, analysis)


def is_sure(asked: Asked, analysis: Analysis, candidate: Candidate) -> bool:
    """Whether a statement need not be held against others: people confirmed it, or it reads one
    table and every word of the question stands for something there.
    """
    if candidate.how in {"reused", "adapted"}:
        return True
    linked = analysis.linked
    return (
        linked is not None
        and linked.share_missing == 0
        and count_tables_read(candidate.sql, asked.dialect) == 1
    )


def order_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first: those that people confirmed, then those that were written more than once, then as
    they came.
    """
    times = Counter(_fold_sql(each.sql) for each in candidates)
    return sorted(
        candidates,
        key=lambda each: (each.how not in {"reused", "adapted"}, -times[_fold_sql(each.sql)]),
    )


def _build_proposal(
    reply: SQLReply, asked: Asked, analysis: Analysis
) -> Candidate | NotInTables | None:
    question = reply.question.strip() if asked.history else ""
    if reply.status == "not_in_tables" or (not reply.sql and reply.reason.strip()):
        return NotInTables(reply.reason.strip(), question)
    return _build_candidate(reply.sql, question, asked, analysis) if reply.sql else None


def _build_candidate(sql: str, question: str, asked: Asked, analysis: Analysis) -> Candidate:
    shown = select_examples(asked.known)
    whole = mend_statement(sql, asked.schema, analysis.linked, asked.question)
    # what was only in the prompt was not followed: a statement of the same make was
    alike = [each for each in shown if has_same_shape(whole, each.item.logic)]
    rules = tuple(
        _get_id(each.item)
        for each in [*alike, *select_rules(asked.known)]
        if isinstance(each.item, Rule)
    )
    first = next((each for each in alike if isinstance(each.item, Confirmed)), None)
    return Candidate(
        whole,
        _get_id(first.item) if first else "",
        "example" if first else "",
        first.similarity if first else 0.0,
        rules,
        question,
    )


def _get_id(item: Confirmed | Rule) -> str:
    return item.item_id if isinstance(item, Confirmed) else item.rule_id


def _fold_sql(sql: str) -> str:
    return " ".join(sql.split()).rstrip("; ").casefold()


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


def _describe_reasoning(linked: Linked, odds: float | None, lang: str) -> str:
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
    if odds is not None:
        parts.append(words["odds"].format(odds=odds))
    return "; ".join(parts)
