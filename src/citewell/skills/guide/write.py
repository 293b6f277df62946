"""A connected model writes the report in one structured call over the paper itself; each sentence
is judged, and what is doubted is written once more with the reasons. What is not proved is not
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from citewell.ingest.paper.shape import Role
from citewell.models.base import LLM
from citewell.models.prompt import ask_json, fill_prompt, load_prompt
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.draft import (
    LONGEST_REPLY,
    Draft,
    DraftSentence,
    build_evidence_messages,
    describe_doubts,
)
from citewell.skills.evidence.numbered import Unit, number_sentences, strip_ids
from citewell.skills.evidence.passages import Passage
from citewell.skills.guide.pick import SLOTS
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper, Slot
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.prove import Proven, judge_draft, show_proof
from citewell.text.sentences import count_tokens
from citewell.types import Sentence

MOST_SENTENCES = 6  # of a slot
# what is sent first where a paper is longer than the model may be sent
FIRST: Final[tuple[Role, ...]] = (
    "abstract",
    "introduction",
    "discussion",
    "results",
    "method",
    "other",
    "related_work",
)


class GuideDraft(BaseModel):
    """The report as a model writes it."""

    problem: list[DraftSentence] = []
    contributions: list[DraftSentence] = []
    method: list[DraftSentence] = []
    results: list[DraftSentence] = []
    limits: list[DraftSentence] = []

    def list_slots(self) -> list[tuple[Slot, list[DraftSentence]]]:
        return [(slot, getattr(self, slot)) for slot in SLOTS]


@dataclass(frozen=True, slots=True)
class Written:
    """A slot: `kept` are the proof's sentences that are proved; `unproved` the others."""

    proof: Proof
    kept: list[Sentence]
    unproved: list[Sentence]


async def write_report(
    book: OpenPaper, lines: Sequence[Line], *, llm: LLM, judge: Judge | None, lang: str
) -> dict[Slot, Written]:
    """The slots of which something was written, with their proof. Raises what the models raise."""
    units = number_sentences(_pack_paper(book, lines, llm.evidence_tokens))
    template = load_prompt(f"skills/prompts/guide_write.{lang}.md")
    question, task = (message.content for message in fill_prompt(template, title=book.paper.title))
    slots, proven = await _write_once(llm, judge, question, units, task)
    if proven.judgements and not proven.proved and not proven.failure:
        reasons = [
            "" if each.verdict == "entailed" else each.reason or each.verdict
            for each in proven.judgements
        ]
        doubts = describe_doubts(proven.draft, reasons, lang)
        again = await _write_once(llm, judge, question, units, f"{task}\n{doubts}")
        slots, proven = max((again, (slots, proven)), key=lambda made: made[1].count)
    return _split_slots(slots, show_proof(proven))


async def _write_once(
    llm: LLM, judge: Judge | None, question: str, units: Sequence[Unit], task: str
) -> tuple[list[Slot], Proven]:
    """The judged sentences of a draft, and the slot of each."""
    messages = build_evidence_messages(question, units, task)
    said = await ask_json(llm, messages, GuideDraft, max_tokens=LONGEST_REPLY)
    written = [
        (slot, sentence.model_copy(update={"text": strip_ids(sentence.text, units)}))
        for slot, sentences in said.list_slots()
        for sentence in sentences[:MOST_SENTENCES]
    ]
    written = [(slot, sentence) for slot, sentence in written if sentence.text]
    draft = Draft(status="answered", sentences=[sentence for _, sentence in written])
    return [slot for slot, _ in written], await judge_draft(draft, question, units, judge)


def _split_slots(slots: Sequence[Slot], proof: Proof) -> dict[Slot, Written]:
    found: dict[Slot, Written] = {}
    for slot in dict.fromkeys(slots):
        said = [s for own, s in zip(slots, proof.sentences, strict=False) if own == slot]
        said = [sentence for sentence in said if sentence.kind != "not_told"]
        kept = [sentence for sentence in said if sentence.verdict == "supported"]
        found[slot] = Written(proof, kept, [s for s in said if s.verdict != "supported"])
    return found


def _pack_paper(book: OpenPaper, lines: Sequence[Line], budget: int) -> list[Passage]:
    """The paper's sentences, in its order; of one that is too long, whole parts by what they are
    for, those of appendices last.
    """
    order = sorted(lines, key=lambda x: (x.part.appendix, FIRST.index(x.role), x.order))
    taken: list[Line] = []
    for line in order:
        budget -= count_tokens(line.quote)
        if budget < 0:
            break
        taken.append(line)
    groups: dict[int, list[Line]] = {}
    for line in sorted(taken, key=lambda line: line.order):
        groups.setdefault(line.part.start, []).append(line)
    return [
        _remove_title(book.passage(n, [(x.start, x.end) for x in group]))
        for n, group in enumerate(groups.values(), start=1)
    ]


def _remove_title(passage: Passage) -> Passage:
    """A title proves nothing of the paper it stands on."""
    return replace(passage, hit=replace(passage.hit, title=""))
