"""Ask one question and rate the answer. Only proved sentences count; a refusal says nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from citewell.errors import CitewellError
from citewell.measure import wording
from citewell.measure.dataset import Question
from citewell.measure.report import Candidate, Cited, Replied
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest, trim_history
from citewell.service.evaluate.eval_search import Asked, Shelf
from citewell.service.evaluate.eval_sets import Options
from citewell.types import Answer, Citation, Step, Verdict

_PROVED: dict[Verdict, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}


async def answer_question(shelf: Shelf, asked: Asked, options: Options) -> Replied:
    """Raises what `service.ask.stream` raises."""
    started = time.perf_counter()
    given, steps = await _ask_question(shelf, asked, options)
    seconds = time.perf_counter() - started
    question, gold = asked.question, asked.gold
    said = " ".join(
        sentence.text for sentence in given.sentences if sentence.verdict != "unsupported"
    )
    wanted, decided = _list_gold_answers(question), _find_decision(steps)
    cited = [await _rate_citation(shelf, asked, citation) for citation in given.citations]
    return Replied(
        text=given.answer,
        said=said,
        status=given.status,
        refused=given.status == "refused" or (given.status == "fallback" and not given.sentences),
        right=wording.is_right(said, question.answers, question.answer_parts),
        contains=float(wording.has_verbatim_answer(said, question.answers, question.answer_parts)),
        em=max((wording.score_exact_match(said, one) for one in wanted), default=0.0),
        f1=max((wording.compute_f1(said, one) for one in wanted), default=0.0),
        confidence=given.confidence,
        citations=cited,
        precision=sum(c.gold for c in cited) / len(cited) if cited and gold else None,
        recall=len({c.doc_id for c in given.citations} & set(gold)) / len(gold) if gold else None,
        verdicts=[sentence.verdict for sentence in given.sentences],
        signals=decided.get("signals"),
        tier=decided.get("tier", ""),
        candidate_right=wording.is_right(
            decided.get("candidate", ""), question.answers, question.answer_parts
        ),
        candidates=[
            Candidate(
                signals=signals,
                right=wording.is_right(text, question.answers, question.answer_parts),
            )
            for text, signals in decided.get("candidates", ())
        ],
        warnings=given.warnings,
        seconds=seconds,
        steps=given.usage.seconds,
        calls=given.usage.calls,
        tokens=given.usage.prompt_tokens + given.usage.completion_tokens,
        grounded=_compute_proved_share([sentence.verdict for sentence in given.sentences])
        if given.sentences
        else None,
        stop_reason=given.stop_reason,
        trace_id=given.trace_id,
    )


async def _ask_question(
    shelf: Shelf, asked: Asked, options: Options
) -> tuple[Answer, dict[str, Step]]:
    """The answer, and the last run of each step."""
    request = AskRequest(
        question=asked.question.question,
        agent=options.agent,
        collection=shelf.corpus.collection,
        history=trim_history(asked.question.history),
        keep=False,
        options={"strategy": options.strategy, **options.said},
    )
    steps: dict[str, Step] = {}
    given: Answer | None = None
    async for event in stream_answer(shelf.app, request):
        if isinstance(event.data, Step):
            steps[event.data.node] = event.data
        elif isinstance(event.data, Answer):
            given = event.data
    if given is None:
        raise CitewellError("the agent ended without an answer")
    return given, steps


def _list_gold_answers(question: Question) -> list[str]:
    """The gold answers; of one that has parts, the first wordings of all together."""
    together = " ".join(part[0] for part in question.answer_parts if part)
    return [*question.answers, together] if together else question.answers


async def _rate_citation(shelf: Shelf, asked: Asked, citation: Citation) -> Cited:
    document = await shelf.content(citation.doc_id)
    return Cited(
        n=citation.n,
        title=citation.title or citation.uri,
        page=citation.page,
        section=citation.section,
        quote=citation.quote,
        gold=await shelf.is_gold_span(asked, citation.doc_id, citation.start, citation.end),
        verbatim=document.text[citation.start : citation.end] == citation.quote,
    )


def _find_decision(steps: Mapping[str, Step]) -> dict[str, Any]:
    """What the last decision was made of, as the agent's steps tell it: `signals`, `candidate`,
    `candidates` and `tier`; of agents that decide otherwise, nothing.
    """
    found = [step for step in steps.values() if "signals" in step.detail]
    return max(found, key=lambda step: step.n).detail if found else {}


def _compute_proved_share(verdicts: Sequence[Verdict]) -> float:
    """Share of the sentences that are proved; a partly proved one counts half."""
    return sum(_PROVED[verdict] for verdict in verdicts) / len(verdicts)
