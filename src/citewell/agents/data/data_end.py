"""How a run of the `data` agent ends: the rows told, a refusal that says why, or a question back.
An answer is made of the rows by our own code; a model may word it, and is held against them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.agents.data.data_confidence import compute_confidence
from citewell.agents.data.data_proof import build_proof, build_rows_passage
from citewell.agents.data.data_state import DataState, Deps, Lacking
from citewell.errors import CitewellError
from citewell.graph import emit, record_detail
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.skills.answer.answering import note_judgements
from citewell.skills.answer.chart import choose_chart
from citewell.skills.answer.data_wording import format_message, quote_words
from citewell.skills.answer.draft import Draft, write_draft
from citewell.skills.answer.format import format_with_markers
from citewell.skills.answer.tell_rows import describe_rows, is_empty_result
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.proof.exact import find_quoted_unit
from citewell.skills.proof.prove import Proven, judge_draft, repair_draft, show_proof
from citewell.sql.arrange_rows import arrange_rows
from citewell.sql.engines.engine import Rows
from citewell.sql.plan_types import Candidate
from citewell.sql.semantics.complete_statement import list_applied
from citewell.sql.source_fit import outline_schema
from citewell.sql.stored_values import Absent, find_replaced_name
from citewell.store.confirmed.types import Confirmed, Known
from citewell.types import Event, Followed, How, Sentence

OUTLINED = 3  # tables that a refusal names
LONGEST_REASON = 400  # characters of a model's reason

UNASKED = 0.1  # that a refused question could have been answered, where no model was asked


def refuse_question(state: DataState, reason: str, text: str) -> None:
    """No answer, and why."""
    state.status, state.stop_reason, state.final_answer = "refused", reason, text
    state.execution_status = state.execution_status or reason


def refuse_all(state: DataState, asked: Sequence[Lacking]) -> None:
    """No answer of any source that was asked; the conversation stays with the first source."""
    state.source, state.source_name = asked[0].source, asked[0].source.name
    refuse_question(
        state, "not_in_data", ("" if state.lang == "zh" else " ").join(each.text for each in asked)
    )


def build_lacking(state: DataState, missing: Sequence[str] = (), *, reason: str = "") -> Lacking:
    """That the tables in hand do not have it: what is missing, or the model's own reason, and what
    there is.
    """
    assert state.source is not None
    lang, source = state.lang, state.source
    key = "not_in_data_reason" if reason else "not_in_data" if missing else "not_in_data_bare"
    first = format_message(
        key,
        lang,
        source=source.name,
        missing=quote_words(missing, lang),
        reason=" ".join(reason.split())[:LONGEST_REASON],
    )
    there = outline_schema(source.schema, OUTLINED, state.standalone, source.glossary)
    return Lacking(
        source,
        first + ("" if lang == "zh" else " ") + format_message("they_have", lang, outline=there),
    )


def ask_for_clarification(state: DataState, text: str, choices: Sequence[str]) -> None:
    """A question back, and what may be meant."""
    state.choices = list(choices)
    state.status, state.stop_reason, state.final_answer = "clarify", "ambiguous", text
    state.execution_status = "ambiguous"


async def finish_run(state: DataState, deps: Deps) -> None:
    """Write the end of the run into the state, and show its citations."""
    if state.final_answer:
        state.confidence = _estimate_false_refusal(state)
        return
    if state.kept is not None:  # nothing better was found
        state.candidates, state.rows = [state.kept.candidate], state.kept.rows
        state.generated_logic, state.execution_status = state.kept.candidate.sql, "success"
    assert state.rows is not None, "Execute leaves rows or a refusal"
    assert state.source is not None
    assert state.chosen is not None, "rows come of a statement"
    schema = state.source.schema
    rows = arrange_rows(state.rows, state.generated_logic, schema, state.lang)
    state.rows = rows
    told = await _write_sentences(state, rows, deps)
    if state.status == "refused":  # the rows do not tell what was asked
        state.confidence = UNASKED
        return
    state.proof = build_proof(state, rows, told)
    state.chart = choose_chart(rows, state.standalone, state.lang)
    state.followed = list_followed(state.chosen, state.known)
    took = _find_replaced_name(state, rows)
    state.confidence = compute_confidence(state, other_name=took is not None)
    if took is not None:
        state.remarks.append(
            format_message(
                "taken", state.lang, value=took.value, column=took.column, same=took.same
            )
        )
    state.status = "answered"
    joint = "" if state.lang == "zh" else " "
    state.final_answer = joint.join(
        [
            *state.remarks,
            format_with_markers(state.proof.sentences, state.lang),
            *_describe_description(state),
        ]
    )
    for citation in state.proof.citations:
        emit(Event("citation", citation))


def _describe_description(state: DataState) -> list[str]:
    """What the statement has of what people wrote of the tables."""
    assert state.source is not None
    source = state.source
    found = list_applied(state.generated_logic, source.schema, source.description)
    if state.chosen is not None and state.chosen.unused:
        name = state.chosen.unused
        state.warnings.append(
            Text("the statement does not use the metric {name} that the question names", name=name)
        )
    return [
        format_message(f"described_{each.kind}", state.lang, name=each.name, sql=each.sql)
        for each in found
    ]


async def _write_sentences(state: DataState, rows: Rows, deps: Deps) -> list[Sentence]:
    """Our own sentences, whose figures are cells; a connected model's instead, where its judge
    finds them proved by the rows and the statement, at the second try at the latest. Where only
    some are proved, they stand before ours.
    """
    own = [
        Sentence(text=each.text, verdict="supported") for each in describe_rows(rows, state.lang)
    ]
    if deps.llm is None or not is_connected(deps.llm):
        return own
    units = number_sentences([build_rows_passage(state, rows)])
    try:
        draft = await write_draft(deps.llm, state.standalone, units, history=state.history)
    except CitewellError as error:
        record_detail(worded=error.message)
        return own
    proven = await _prove_draft(state, deps, draft, units)
    if any(find_quoted_unit(sentence.text, units) for sentence in proven.draft.sentences):
        return own  # a row that is copied is not worded
    if not proven.proved:
        told = [
            s
            for s in show_proof(proven).sentences
            if s.verdict != "unsupported" and s.kind != "not_told"
        ]
        return [*(s.model_copy(update={"citations": []}) for s in told), *own]
    if proven.draft.status == "not_told":
        if is_empty_result(rows):
            return own
        refuse_question(state, "not_in_data", proven.draft.text)
    return [s.model_copy(update={"citations": []}) for s in show_proof(proven).sentences]


async def _prove_draft(state: DataState, deps: Deps, draft: Draft, units: Sequence[Unit]) -> Proven:
    """The draft judged, and where some of it is doubted, written once more with the reasons."""
    if any(find_quoted_unit(sentence.text, units) for sentence in draft.sentences):
        return Proven(draft, [])
    proven = await judge_draft(draft, state.standalone, units, deps.judge)
    note_judgements(proven)
    if proven.proved or proven.failure or not proven.judgements or deps.llm is None or deps.late():
        return proven
    again = await repair_draft(
        deps.llm, deps.judge, state.standalone, units, proven, history=state.history
    )
    record_detail(repaired=again is not proven)
    note_judgements(again)
    return again


def list_followed(candidate: Candidate, known: list[Known]) -> list[Followed]:
    """The confirmed item and the rules that the statement came from."""
    found = []
    for each in known:
        item = each.item
        if isinstance(item, Confirmed):
            if item.item_id == candidate.item_id and candidate.how:
                found.append(_build_confirmed(item, candidate, each.similarity))
        elif item.rule_id in candidate.rules:
            text = item.correction
            people = [item.reviewed_by] if item.reviewed_by else []
            found.append(
                Followed(
                    item_id=item.rule_id,
                    kind="rule",
                    how="rule",
                    question=item.question,
                    text=text,
                    confirmed_by=people,
                    confirmed_at=item.updated_at,
                    similarity=_clamp_similarity(each.similarity),
                )
            )
    return found


def _build_confirmed(item: Confirmed, candidate: Candidate, similarity: float) -> Followed:
    hows: dict[str, How] = {"reused": "reused", "adapted": "adapted"}
    return Followed(
        item_id=item.item_id,
        how=hows.get(candidate.how, "example"),
        question=item.question,
        text=item.logic,
        confirmed_by=[each.user_id for each in item.confirmed_by],
        confirmed_at=max((each.at for each in item.confirmed_by), default=0.0),
        similarity=_clamp_similarity(candidate.similarity or similarity),
    )


def _clamp_similarity(similarity: float) -> float:
    return round(max(0.0, min(1.0, similarity)), 4)


def _find_replaced_name(state: DataState, rows: Rows) -> Absent | None:
    """A stored name that the statement has in the place of one that the question quotes."""
    assert state.source is not None
    assert state.chosen is not None
    if is_empty_result(rows) or state.chosen.how in {"reused", "adapted"}:
        return None
    return find_replaced_name(
        f"{state.question} {state.standalone}", state.generated_logic, state.source.schema
    )


def _estimate_false_refusal(state: DataState) -> float:
    """As of every agent: that there was an answer after all."""
    analysis = state.intent_analysis
    if analysis is None or analysis.log_odds is None or analysis.changes:
        return UNASKED
    return round(1 / (1 + math.exp(-max(-10.0, min(10.0, analysis.log_odds)))), 4)
