"""Ask one question of a data set, and rate the answer. The one rule: only proved sentences count; a refusal says nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping

from citewell.errors import CitewellError
from citewell.measure import wording
from citewell.measure.dataset import Question
from citewell.measure.report import Cited, Replied
from citewell.service.ask import AskRequest, stream
from citewell.service.eval_search import Asked, Shelf
from citewell.service.eval_sets import Options
from citewell.service.run import recent
from citewell.skills.confidence import answer_signals, share
from citewell.types import Answer, Citation, Step

SEARCHED = ("DocumentRetrievalNode", "retrieve_documents")
GRADED = ("AnswerGenerationNode", "grade_documents")


async def answer(shelf: Shelf, asked: Asked, options: Options) -> Replied:
    """Raises what `service.ask.stream` raises."""
    started = time.perf_counter()
    given, steps = await _ask(shelf, asked, options)
    seconds = time.perf_counter() - started
    question, gold = asked.question, asked.gold
    said = " ".join(sentence.text for sentence in given.sentences if sentence.verdict != "unsupported")
    wanted = _wanted(question)
    cited = [await _cited(shelf, asked, citation) for citation in given.citations]
    return Replied(
        text=given.answer,
        said=said,
        status=given.status,
        refused=given.status == "refused" or (given.status == "fallback" and not given.sentences),
        right=wording.right(said, question.answers, question.answer_parts),
        contains=float(wording.holds(said, question.answers, question.answer_parts)),
        em=max((wording.exact(said, one) for one in wanted), default=0.0),
        f1=max((wording.f1(said, one) for one in wanted), default=0.0),
        confidence=given.confidence,
        citations=cited,
        precision=sum(c.gold for c in cited) / len(cited) if cited and gold else None,
        recall=len({c.doc_id for c in given.citations} & set(gold)) / len(gold) if gold else None,
        verdicts=[sentence.verdict for sentence in given.sentences],
        signals=_signals(steps, given),
        warnings=given.warnings,
        seconds=seconds,
        steps=given.usage.seconds,
        calls=given.usage.calls,
        tokens=given.usage.prompt_tokens + given.usage.completion_tokens,
        grounded=share([sentence.verdict for sentence in given.sentences]) if given.sentences else None,
        stop_reason=given.stop_reason,
        trace_id=given.trace_id,
    )


async def _ask(shelf: Shelf, asked: Asked, options: Options) -> tuple[Answer, dict[str, Step]]:
    """The answer, and the last run of each step."""
    request = AskRequest(
        question=asked.question.question,
        agent=options.agent,
        collection=shelf.corpus.collection,
        history=recent(asked.question.history),
        keep=False,
        options={"strategy": options.strategy, **options.said},
    )
    steps: dict[str, Step] = {}
    given: Answer | None = None
    async for event in stream(shelf.app, request):
        if isinstance(event.data, Step):
            steps[event.data.node] = event.data
        elif isinstance(event.data, Answer):
            given = event.data
    if given is None:
        raise CitewellError("the agent ended without an answer")
    return given, steps


def _wanted(question: Question) -> list[str]:
    """The gold answers; of one that has parts, the first wordings of all together."""
    together = " ".join(part[0] for part in question.answer_parts if part)
    return [*question.answers, together] if together else question.answers


async def _cited(shelf: Shelf, asked: Asked, citation: Citation) -> Cited:
    document = await shelf.content(citation.doc_id)
    return Cited(
        n=citation.n,
        title=citation.title or citation.uri,
        page=citation.page,
        section=citation.section,
        quote=citation.quote,
        gold=await shelf.golden(asked, citation.doc_id, citation.start, citation.end),
        verbatim=document.text[citation.start : citation.end] == citation.quote,
    )


def _signals(steps: Mapping[str, Step], given: Answer) -> dict[str, float] | None:
    """What the answer's confidence was made of, as the agent's steps tell it; None for agents that do not."""
    searched, graded = (next((steps[name] for name in names if name in steps), None) for names in (SEARCHED, GRADED))
    sure = searched.detail.get("confidence") if searched else None
    if sure is None or graded is None or not given.sentences:
        return None
    return answer_signals(sure, graded.detail.get("evidence_log_odds"), share([s.verdict for s in given.sentences]))
