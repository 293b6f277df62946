"""A connected model words a slot of the report from the parts that matter, as a judged draft:
proved sentences are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.models.base import LLM, is_connected
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.draft import write_draft
from citewell.skills.evidence.numbered import number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.guide.cues import ASKED, ROLE_WEIGHT, score_cues
from citewell.skills.guide.paper_name import OwnWork
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper, Slot
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.prove import judge_draft, repair_draft, show_proof
from citewell.text.sentences import count_tokens
from citewell.types import Sentence

WIDE_EVIDENCE = 3_000  # tokens of the paper sent for one slot
MOST_SENTENCES = 6


@dataclass(frozen=True, slots=True)
class Written:
    """`kept`: the sentences of the proof that may be shown, none where fewer than half are proved;
    `unproved`: those that are not.
    """

    proof: Proof
    kept: list[Sentence]
    unproved: list[Sentence]


def has_room(llm: LLM | None) -> bool:
    """Whether the model may word the report."""
    return is_connected(llm)


async def write_slot(
    book: OpenPaper,
    slot: Slot,
    picked: Sequence[Line],
    lines: Sequence[Line],
    own: OwnWork,
    *,
    llm: LLM,
    judge: Judge | None,
    lang: str,
) -> Written:
    """Sentences of the slot with their proof; what is doubted is written once more. Raises what the
    models raise.
    """
    evidence = _collect_evidence(slot, picked, lines, own, min(llm.evidence_tokens, WIDE_EVIDENCE))
    passages = [
        _remove_title(book.passage(n, [(x.start, x.end) for x in group]))
        for n, group in enumerate(_group_by_part(evidence), 1)
    ]
    template = load_prompt(f"skills/prompts/guide_write.{lang}.md")
    question = fill_prompt(template, title=book.paper.title, wanted=ASKED[slot][lang])[0].content
    units = number_sentences(passages)
    proven = await judge_draft(await write_draft(llm, question, units), question, units, judge)
    if not proven.proved and proven.judgements and not proven.failure:
        proven = await repair_draft(llm, judge, question, units, proven)
    proof = show_proof(proven)
    said = [s for s in proof.sentences if s.kind != "not_told"]
    proved = [s for s in said if s.verdict == "supported"]
    kept = proved[:MOST_SENTENCES] if 2 * len(proved) >= len(proof.sentences) else []
    return Written(proof, kept, [s for s in said if s.verdict != "supported"])


def _remove_title(passage: Passage) -> Passage:
    """A title proves nothing of the paper it stands on."""
    return replace(passage, hit=replace(passage.hit, title=""))


def _collect_evidence(
    slot: Slot, picked: Sequence[Line], lines: Sequence[Line], own: OwnWork, budget: int
) -> list[Line]:
    """The picked sentences and, while there is room, what else of the slot's parts serves it best,
    in the paper's order.
    """
    chosen = {line.order: line for line in picked}
    budget -= sum(count_tokens(line.quote) for line in picked)
    near = {line.part.start for line in picked}
    rest = [
        line
        for line in lines
        if line.role in ROLE_WEIGHT[slot] and not line.part.appendix and line.order not in chosen
    ]
    for line in sorted(
        rest, key=lambda line: -(score_cues(slot, line, own) + 0.5 * (line.part.start in near))
    ):
        cost = count_tokens(line.quote)
        if cost <= budget:
            chosen[line.order] = line
            budget -= cost
    return [chosen[order] for order in sorted(chosen)]


def _group_by_part(lines: Sequence[Line]) -> list[list[Line]]:
    groups: dict[int, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.part.start, []).append(line)
    return list(groups.values())
