"""A chat model words a slot of the report: a small one from the few picked sentences, one with room from the parts that matter.

The one rule: what it writes is a draft. Only sentences that the paper proves are kept, and too few of them means none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.ingest.sentences import count_tokens, language, sentences
from citewell.models.base import LLM, Embedder
from citewell.models.prompt import fill, load
from citewell.skills.answer import quality, tidy
from citewell.skills.cite import Proof, prove
from citewell.skills.evidence import CONNECTED_TIER, Passage
from citewell.skills.guide_cues import ASKED, ROLE_WEIGHT, cue_score, measured
from citewell.skills.guide_lines import Line
from citewell.skills.guide_name import Own
from citewell.skills.guide_plain import leans
from citewell.skills.reading import OpenPaper, Slot
from citewell.types import Sentence

_BOLD = re.compile(r"\*\*")
SMALL_TOKENS, WIDE_TOKENS = 90, 400  # of a reply
WIDE_EVIDENCE = 3_000  # tokens of the paper sent for one slot to a model with room: five slots stay within a minute to prove
FINE = 0.9  # of `answer.quality`: finished, whole, without repetition
MOST_SENTENCES = {False: 3, True: 6}  # of a small model, of one with room


@dataclass(frozen=True, slots=True)
class Written:
    """`kept`: the sentences of the proof that may be shown."""

    proof: Proof
    kept: list[Sentence]


def has_room(llm: LLM | None) -> bool:
    return llm is not None and llm.evidence_tokens >= CONNECTED_TIER


async def written(
    book: OpenPaper,
    slot: Slot,
    picked: Sequence[Line],
    lines: Sequence[Line],
    own: Own,
    *,
    llm: LLM,
    embedder: Embedder,
    lang: str,
) -> Written | None:
    """Sentences of the slot with their proof; None where the draft is not good enough. Raises what a model raises."""
    wide = has_room(llm)
    tongue = lang if wide else language(picked[0].text)
    evidence = _around(slot, picked, lines, own, min(llm.evidence_tokens, WIDE_EVIDENCE)) if wide else list(picked)
    passages = [_untitled(book.passage(n, [(x.start, x.end) for x in group])) for n, group in enumerate(_by_part(evidence), 1)]
    shown = "\n\n".join(f"[{p.hit.heading_path[-1] if p.hit.heading_path else ''}]\n{p.text}" for p in passages)
    if not wide:
        shown = "\n".join(line.text for line in picked)
    prompt = load(f"skills/prompts/guide_{'write' if wide else 'state'}.{tongue}.md")
    messages = fill(prompt, title=book.paper.title, text=shown, wanted=ASKED[slot][tongue])
    reply = await llm.chat(messages, max_tokens=WIDE_TOKENS if wide else SMALL_TOKENS)
    draft = whole(tidy(_BOLD.sub("", reply.text)), finished=reply.finished)
    if quality(draft, finished=True) < FINE:
        return None
    proof = await prove(draft, "", passages, embedder if wide else None)
    kept = [s for s in proof.sentences if s.verdict == "supported" and not leans(s.text)][: MOST_SENTENCES[wide]]
    return Written(proof, kept) if _enough(slot, proof, kept, picked, wide=wide) else None


def _untitled(passage: Passage) -> Passage:
    """A title proves nothing of the paper it stands on: a small model wrote that the problem is the title, and that passed."""
    return replace(passage, hit=replace(passage.hit, title=""))


def whole(text: str, *, finished: bool) -> str:
    """A draft without the sentence that it was cut off in."""
    if finished:
        return text
    spans = sentences(text)
    return text[: spans[-1][0]].rstrip() if spans else ""


def _enough(slot: Slot, proof: Proof, kept: Sequence[Sentence], picked: Sequence[Line], *, wide: bool) -> bool:
    """A small model's draft must be proved to the last sentence, half of a wide one's; results keep their figures."""
    proved = 2 * len(kept) >= len(proof.sentences) if wide else len(kept) == len(proof.sentences)
    figures = slot != "results" or any(measured(s.text) for s in kept) or not any(measured(line.text) for line in picked)
    rests = {n for s in kept for n in s.citations}
    broad = wide or 2 * len(rests) >= len(picked)  # one draft that drops most of what was picked says less than it
    return bool(kept) and proved and figures and broad


def _around(slot: Slot, picked: Sequence[Line], lines: Sequence[Line], own: Own, budget: int) -> list[Line]:
    """The picked sentences and, while there is room, what else of the slot's parts serves it best, in the paper's order."""
    chosen = {line.order: line for line in picked}
    budget -= sum(count_tokens(line.quote) for line in picked)
    near = {line.part.start for line in picked}
    rest = [line for line in lines if line.role in ROLE_WEIGHT[slot] and not line.part.appendix and line.order not in chosen]
    for line in sorted(rest, key=lambda line: -(cue_score(slot, line, own) + 0.5 * (line.part.start in near))):
        cost = count_tokens(line.quote)
        if cost <= budget:
            chosen[line.order] = line
            budget -= cost
    return [chosen[order] for order in sorted(chosen)]


def _by_part(lines: Sequence[Line]) -> list[list[Line]]:
    groups: dict[int, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.part.start, []).append(line)
    return list(groups.values())
