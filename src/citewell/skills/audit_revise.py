"""The one revision of a draft that failed its audit: what failed is worded anew from the passages, the rest is left as it is.

The one rule: a sentence that passed survives to the letter, and a new one stands only if the rules let it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.errors import CitewellError
from citewell.ingest.sentences import language
from citewell.models.base import LLM, Embedder
from citewell.skills.answer import says_unknown, tidy
from citewell.skills.audit import Audit, asking, audit
from citewell.skills.audit_words import Line, bare, lines, names_of, plain, telling
from citewell.skills.cite import sources
from citewell.skills.evidence import Passage
from citewell.skills.verify import SAME_MEANING

SAME_SUBJECT = 0.5  # share of a claim's telling words that a sentence must hold to be what it meant to say
SOME_SUBJECT = 0.34  # that a new wording must hold: that of verify.SUBJECT_COVERED
MAX_TOKENS = 80  # of one sentence worded anew
MOST_TOKENS = 400
_NUMBERED = re.compile(r"^\s*[\[(（]?(\d{1,2})[\])）]?\s*[.:：、)）-]?\s*(.*)$")


async def revise(
    question: str,
    draft: str,
    audited: Audit,
    passages: Sequence[Passage],
    *,
    llm: LLM | None,
    embedder: Embedder | None,
) -> str:
    """`draft` with what failed corrected: by the model where its words pass, else by the sentence of the passages that says
    what was meant; where there is none, the claim stays. A failing model is as none.
    """
    text, order = tidy(draft), sorted(audited.amiss)
    wrong = [audited.proof.sentences[i].text for i in order]
    if not wrong:
        return draft
    said = await _reworded(question, wrong, passages, llm) if llm is not None else {}
    kept = [s.text for i, s in enumerate(audited.proof.sentences) if i not in audited.amiss]
    evidence = lines(sources(passages))
    at = 0
    for n, claim in enumerate(wrong, 1):
        found = _place(text, claim, at)
        if found is None:
            continue
        new = await _passing(said.get(n, ""), claim, question, passages, embedder)
        new = new or await _meant(claim, evidence, embedder) or claim
        if new != claim and any(plain(new) == plain(other) for other in kept):
            new = ""  # it is said already
        start, end = found
        text, at = text[:start] + new + text[end:], start + len(new)
        kept.append(new)
    return re.sub(r"[ \t]{2,}", " ", text).strip() or draft


def _place(text: str, claim: str, at: int) -> tuple[int, int] | None:
    """Where a claim stands; a leading `Yes.` may be joined to it with another space."""
    pattern = r"\s*".join(re.escape(word) for word in claim.split())
    match = re.compile(pattern).search(text, at)
    return match.span() if match else None


async def _reworded(question: str, wrong: Sequence[str], passages: Sequence[Passage], llm: LLM) -> dict[int, str]:
    """The model's new wording by number; none where it fails."""
    failed = "\n".join(f"{n}. {claim}" for n, claim in enumerate(wrong, 1))
    room = min(MOST_TOKENS, MAX_TOKENS * len(wrong))
    try:
        reply = await llm.chat(asking(question, passages, "revise", failed=failed), max_tokens=room)
    except CitewellError:
        return {}  # the passages' own sentences stand in; that the model fails is said by the audit
    found: dict[int, str] = {}
    for line in reply.text.splitlines():
        match = _NUMBERED.match(line)
        if match and 1 <= int(match[1]) <= len(wrong):
            found.setdefault(int(match[1]), tidy(match[2]).strip())
    if not found and len(wrong) == 1 and reply.finished:
        found[1] = tidy(reply.text)
    return found


async def _passing(new: str, claim: str, question: str, passages: Sequence[Passage], embedder: Embedder | None) -> str:
    """The new wording, if it says something and the rules let it stand; else nothing."""
    if not re.search(r"\w", new) or plain(new) == plain(claim) or says_unknown(new) or language(new) != language(claim):
        return ""
    words = telling(bare(claim))
    if len(words & telling(new)) < SOME_SUBJECT * len(words):
        return ""  # it may stand in the passages, and speaks of something else
    judged = await audit(question, new, passages, llm=None, embedder=embedder)
    return new if judged.passed and judged.proof.sentences else ""


async def _meant(claim: str, evidence: Sequence[Line], embedder: Embedder | None) -> str:
    """The sentence of the passages that speaks of the same; nothing where none does."""
    said = bare(claim)
    words, names = telling(said), names_of(said)
    if not evidence:
        return ""
    shares = [
        len(words & telling(line.text)) / max(1, len(words)) + 0.1 * len(names & names_of(line.text)) for line in evidence
    ]
    best = max(range(len(evidence)), key=shares.__getitem__)
    if len(words) >= 2 and shares[best] >= SAME_SUBJECT:
        return evidence[best].source.text
    if embedder is not None and language(claim) != language(evidence[0].text):
        vectors = await embedder.passages([said, *(line.text for line in evidence)])
        cosines = vectors[1:] @ vectors[0]
        nearest = int(cosines.argmax())
        return evidence[nearest].source.text if cosines[nearest] >= SAME_MEANING else ""
    return ""
