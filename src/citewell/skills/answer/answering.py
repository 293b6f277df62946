"""From evidence to answer, the one way for every agent: draft, judge, one repair, decide.

A connected model writes the draft in one structured call and judges it in a second one. Without one
the documents' own sentences answer, found by the reader.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from citewell.errors import CitewellError, TransientError
from citewell.graph import emit, record_detail
from citewell.instrumentation import count_orders
from citewell.messages import Text
from citewell.models.base import LLM, Embedder, is_connected
from citewell.models.reader_base import Reader
from citewell.models.retry import TRIED
from citewell.retrieve.confidence import Logistic
from citewell.skills.answer.decision import (
    Tier,
    collect_answer_signals,
    decide,
    get_decision_model,
    get_tier,
)
from citewell.skills.answer.draft import Draft, DraftStatus, write_draft
from citewell.skills.answer.find_answer import find_answer, find_sentences
from citewell.skills.dialogue.follow_up import FollowUp
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.evidence.prompt_injection import filter_injected_units, has_prompt_injection
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.prove import Proven, judge_draft, repair_draft
from citewell.text.sentences import detect_language
from citewell.types import Event, Message

_LACKING: frozenset[DraftStatus] = frozenset({"not_told", "partly"})
_SILENT: frozenset[DraftStatus] = frozenset({"not_told", "unclear"})


class Means(Protocol):
    """What an answer is made with. `calibration`: the library's weights of the decision by tier."""

    @property
    def llm(self) -> LLM | None: ...
    @property
    def reader(self) -> Reader | None: ...
    @property
    def judge(self) -> Judge | None: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def calibration(self) -> Mapping[str, Logistic]: ...


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft over the sentences of `passages`. `reading`: the reader's signals of what was picked
    among `candidates`; `missing`: parts of the question that it found no answer to; `scores`: of
    quoted sentences, where several were asked for. `calls`: replies that a connected model was
    asked for. `warning`: why the chat model did not write it, with the code of its error in
    `failure`; `transient`: trying again may help.
    """

    question: str
    passages: list[Passage]
    draft: Draft
    tier: Tier
    reading: dict[str, float] = field(default_factory=dict)
    candidates: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    scores: list[float] = field(default_factory=list)
    calls: int = 0
    warning: str = ""
    failure: str = ""
    transient: bool = False

    @property
    def units(self) -> list[Unit]:
        """The numbered sentences that its ids name."""
        return number_sentences(self.passages)


@dataclass(frozen=True, slots=True)
class Decided:
    """A judged draft, the probability that it answers rightly, and whether it is to be shown."""

    proven: Proven
    probability: float
    shown: bool
    signals: dict[str, float]


More = Callable[[Draft], Awaitable[list[Passage]]]


async def draft_answer(
    means: Means,
    question: str,
    passages: Sequence[Passage],
    *,
    history: Sequence[Message] = (),
    summary: str = "",
    wanted: str = "",
    quoted_only: bool = False,
    most: int = 1,
    follow_up: FollowUp | None = None,
    more: More | None = None,
) -> Drafted:
    """The whole answer as a draft, streamed as `token` events while a connected model writes it.
    With `more` it reads the passages in the question's language; where these lack the answer or
    part of it, once again all of them and what `more` finds. Where it fails, and without such a
    model, the documents' own sentences are the draft. `wanted`: what else the answer shall be like.
    `quoted_only`: no chat model is asked. `most`: sentences that are quoted; with more than one the
    best of all passages. Raises ModelUnavailable of the reader or the embedder.
    """
    if orders := sum(has_prompt_injection(passage.hit.text) for passage in passages):
        record_detail(orders=orders)
        count_orders(orders)
    failed: CitewellError | None = None
    if means.llm is not None and is_connected(means.llm) and passages and not quoted_only:
        sink = emit
        write = partial(
            write_draft,
            means.llm,
            question,
            history=history,
            summary=summary,
            wanted=wanted,
            on_text=lambda text: sink(Event("token", text)),
        )
        try:
            return await _redraft_without_injection(
                write, await _draft_connected(write, question, passages, more)
            )
        except CitewellError as error:
            failed = error
    return await _draft_quoted(means, question, passages, failed, most, follow_up)


async def _draft_quoted(
    means: Means,
    question: str,
    passages: Sequence[Passage],
    failed: CitewellError | None,
    most: int,
    follow_up: FollowUp | None,
) -> Drafted:
    """The documents' own sentences as the draft. `failed`: why no chat model wrote it."""
    tier, tried = get_tier(None, means.reader), int(failed is not None)
    pick = get_decision_model("pick", means.calibration)
    decision = get_decision_model(tier, means.calibration)
    given = (question, passages, means.reader, means.embedder)
    found = (
        await find_sentences(*given, (pick, decision, get_decision_model("sentence")), most)
        if most > 1
        else await find_answer(*given, pick, decision, follow_up)
    )
    reading = {name: round(value, 2) for name, value in found.signals.items()}
    record_detail(draft=found.draft.text, reading=reading)
    drafted = Drafted(
        question,
        list(passages),
        found.draft,
        tier,
        found.signals,
        found.candidates,
        found.missing,
        found.scores,
        tried,
    )
    if failed is None:
        return drafted
    warning = Text(
        "the chat model gave no usable answer, so the evidence itself is shown: {message}",
        message=failed.message,
    )
    return replace(
        drafted,
        warning=warning,
        failure=failed.code,
        transient=isinstance(failed, TransientError) and failed.code != TRIED,
    )


async def _draft_connected(
    write: Callable[..., Awaitable[Draft]],
    question: str,
    passages: Sequence[Passage],
    more: More | None,
) -> Drafted:
    """Raises what `write` raises of the first draft; if only the second fails, the first stands."""
    own = (
        [passage for passage in passages if passage.hit.lang == detect_language(question)]
        if more
        else []
    )
    first = Drafted(question, own or list(passages), Draft(status="not_told"), "connected", calls=1)
    first = replace(first, draft=await write(first.units))
    record_detail(draft=first.draft.text, draft_status=first.draft.status)
    if first.draft.status not in _LACKING or more is None:
        return first
    try:
        found = await more(first.draft)
        both = [
            *passages,
            *(replace(passage, n=n) for n, passage in enumerate(found, start=len(passages) + 1)),
        ]
        if len(both) == len(first.passages):
            return first
        # two drafts would be one text on the page
        draft = await write(number_sentences(both), on_text=None)
    except CitewellError as error:
        record_detail(not_read_again=error.message)
        return replace(first, calls=2)
    record_detail(draft=draft.text, draft_status=draft.status, read_again=len(both))
    return Drafted(question, both, draft, "connected", calls=2)


async def _redraft_without_injection(
    write: Callable[..., Awaitable[Draft]], first: Drafted
) -> Drafted:
    """A draft that tells nothing is made once more without the passages that give orders."""
    units = filter_injected_units(first.units)
    if first.draft.status not in _SILENT or len(units) == len(first.units):
        return first
    try:
        draft = await write(units, on_text=None)
    except CitewellError as error:
        record_detail(not_read_again=error.message)
        return replace(first, calls=first.calls + 1)
    record_detail(draft=draft.text, draft_status=draft.status, without_orders=len(units))
    return replace(
        first, draft=first.draft if draft.status in _SILENT else draft, calls=first.calls + 1
    )


async def prove_answer(
    means: Means, drafted: Drafted, *, history: Sequence[Message] = (), repair: bool = True
) -> Proven:
    """The draft judged, and what the judge doubts written once more (`repair`)."""
    judge = means.judge if drafted.tier == "connected" else None  # what is quoted whole needs none
    proven = await judge_draft(drafted.draft, drafted.question, drafted.units, judge)
    note_judgements(proven)
    if (
        drafted.tier != "connected"
        or not repair
        or means.llm is None
        or proven.proved
        or proven.failure
        or not proven.judgements
    ):
        return proven
    units = filter_injected_units(drafted.units)  # what gives orders may be why nothing is proved
    again = await repair_draft(
        means.llm, means.judge, drafted.question, units, proven, history=history
    )
    record_detail(repaired=again is not proven)
    note_judgements(again)
    return again


def note_judgements(proven: Proven) -> None:
    """Tell the trace what was judged how, and why."""
    record_detail(
        verdicts=[each.verdict for each in proven.judgements],
        reasons=[each.reason for each in proven.judgements if each.reason],
    )


def decide_answer(
    means: Means,
    drafted: Drafted,
    proven: Proven,
    retrieval: float,
    *,
    recalled: float | None = None,
) -> Decided:
    """Whether the judged draft is shown, and how sure it is. `retrieval`: the search's calibrated
    confidence. `recalled`: how sure it is that what is quoted was told or confirmed for this very
    question; the fit over documents says nothing of that. A draft of which nothing is proved is
    never shown.
    """
    # what is quoted whole has scores that say nothing
    judged = proven if drafted.tier == "connected" else None
    signals = collect_answer_signals(
        retrieval, detect_language(drafted.question), judged, drafted.reading
    )
    probability, likely = decide(signals, get_decision_model(drafted.tier, means.calibration))
    if recalled is not None and drafted.tier != "connected":
        probability, likely = max(probability, recalled), True
    shown = {name: round(value, 3) for name, value in signals.items()}
    record_detail(tier=drafted.tier, candidate=proven.draft.text, probability=probability)
    record_detail(candidates=drafted.candidates, signals=shown)
    told = proven.draft.status not in {"not_told", "unclear"} or drafted.tier != "connected"
    return Decided(proven, probability, likely and told and proven.count > 0, signals)
