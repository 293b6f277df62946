"""What people confirmed as evidence for another question: which of it bears on it, and whether the
documents speak against it. It is evidence like any other, graded, proved and cited by its own
words; where a document plainly says otherwise, the document counts, and that is told.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.skills.answer.duplicate_question import has_same_facts
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.evidence.passages import join_spans as joined_text
from citewell.skills.proof.judge import Claim, Judge
from citewell.skills.proof.prove import Proven
from citewell.store.confirmed.types import Confirmed, Known
from citewell.text.sentences import count_tokens, detect_language, split_sentences
from citewell.types import Citation, Followed, Hit

MOST = 2  # confirmed items or rules shown beside the documents
TOKENS = 160  # of the evidence they may take: an answer of a few sentences
ID = -1_000  # chunk ids of these, downwards: no chunk of the index has one, and no memory
_NUMBERS = re.compile(r"(?:\s*\[\d{1,2}\])+\s*$")
_LEADING = re.compile(r"(?:\[\d{1,2}\]\s*)+")
RULE = "rule:"  # how the address of a reviewed correction begins: it has no document


@dataclass(frozen=True, slots=True)
class ConfirmedEvidence:
    """`hit`: where the answer stands in its document; of a rule the correction itself. `same`: the
    question asked is just the one that it answers. `by`: who vouches for it, and since which day,
    in words. `stale`: why it does not hold any more. `disputed`: there is another confirmed answer
    that says otherwise.
    """

    hit: Hit
    followed: Followed
    same: bool
    by: str
    stale: str = ""
    disputed: bool = False


async def look_up_confirmed(
    known: Callable[[str], Awaitable[list[ConfirmedEvidence]]] | None,
    question: str,
    warnings: list[str],
) -> list[ConfirmedEvidence]:
    """What people confirmed of such questions; if that fails, documents alone, with a warning."""
    if known is None:
        return []
    try:
        return await known(question)
    except CitewellError as error:
        warnings.append(
            Text("what people confirmed was not looked at: {message}", message=error.message)
        )
        return []


def is_applicable(question: str, known: Known) -> bool:
    """Whether it may be shown for this question; that it is like enough, the search saw to."""
    return known.same or has_same_facts(question, known.item.question)


def build_followed(known: Known) -> Followed:
    """How an answer says that it rests on this."""
    item = known.item
    if isinstance(item, Confirmed):
        return Followed(
            item_id=item.item_id,
            how="evidence",
            question=item.question,
            text=item.answer,
            confirmed_by=list(dict.fromkeys(each.user_id for each in item.confirmed_by)),
            confirmed_at=max((each.at for each in item.confirmed_by), default=item.updated_at),
            similarity=known.similarity,
        )
    return Followed(
        item_id=item.rule_id,
        kind="rule",
        how="rule",
        question=item.question,
        text=item.correction,
        confirmed_by=[item.reviewed_by] if item.reviewed_by else [],
        confirmed_at=item.updated_at,
        similarity=known.similarity,
    )


async def add_confirmed_evidence(
    question: str,
    vouched: Sequence[ConfirmedEvidence],
    passages: Sequence[Passage],
    judge: Judge | None,
) -> tuple[list[Passage], list[str]]:
    """The passages with what people confirmed in front, and warnings of what documents speak
    against. Without a judge: only what answers this very question. Raises what the judge raises.
    """
    kept: list[ConfirmedEvidence] = []
    warnings: list[str] = []
    found = await find_contradictions(vouched[:MOST], question, passages, judge)
    for each, contradiction in zip(vouched[:MOST], found, strict=True):
        against = contradiction
        if against is None and each.stale:
            against = format_message(
                "confirmed_stale", detect_language(question), by=each.by, why=each.stale
            )
        if against is not None:
            warnings.append(against)
        if (against is None or each.followed.kind == "rule") and (
            judge is not None or (each.same and not each.disputed)
        ):
            kept.append(each)
            if each.disputed:
                warnings.append(
                    format_message(
                        "disputed",
                        detect_language(question),
                        by=each.by,
                        item=each.followed.item_id,
                    )
                )
    front = [passage for each in kept if (passage := _build_passage(each.hit)) is not None]
    both = [
        *front,
        *(p for p in passages if p.hit.doc_id not in {each.hit.doc_id for each in kept}),
    ]
    return [replace(passage, n=n) for n, passage in enumerate(both, start=1)], warnings


def _build_passage(hit: Hit) -> Passage | None:
    """Its first sentences, without the confirmed answer's citation numbers."""
    spans: list[tuple[int, int]] = []
    left = TOKENS
    for first, last in split_sentences(hit.text):
        leading, numbers = (
            _LEADING.match(hit.text, first, last),
            _NUMBERS.search(hit.text, first, last),
        )
        start, end = (leading.end() if leading else first), (numbers.start() if numbers else last)
        left -= count_tokens(hit.text[start:end])
        if start < end and (left >= 0 or not spans):
            spans.append((start, end))
    if not spans:
        return None
    return Passage(
        1,
        hit,
        tuple((hit.start + a, hit.start + b) for a, b in spans),
        joined_text(hit.text, spans),
    )


async def find_contradictions(
    vouched: Sequence[ConfirmedEvidence],
    question: str,
    passages: Sequence[Passage],
    judge: Judge | None,
) -> list[str | None]:
    """What a document says otherwise than each of them, in words; None where none does, or where no
    judge is at hand. One call of the judge for all.
    """
    units, against = number_sentences(passages), dict[int, str]()
    shown = [
        (n, passage)
        for n, each in enumerate(vouched)
        if (passage := _build_passage(each.hit)) is not None
    ]
    claims = [(n, Claim(unit.text)) for n, passage in shown for unit in number_sentences([passage])]
    if judge is not None and units and claims:
        judged = await judge.judge(question, [claim for _, claim in claims], units)
        for (n, claim), found in zip(claims, judged, strict=True):
            if found.verdict == "contradicted" and n not in against:
                other = found.evidence[0] if found.evidence else units[0]
                against[n] = _describe_contradiction(
                    vouched[n], claim, other, detect_language(question)
                )
    return [against.get(n) for n in range(len(vouched))]


def _describe_contradiction(
    vouched: ConfirmedEvidence, claim: Claim, other: Unit, lang: str
) -> str:
    key = "rule_against" if vouched.followed.kind == "rule" else "confirmed_against"
    title, text = other.passage.hit.title, other.text.strip()
    return format_message(
        key, lang, by=vouched.by, claim=claim.text.strip(), title=title, text=text
    )


def mark_confirmed_citations(
    citations: Sequence[Citation], vouched: Sequence[ConfirmedEvidence]
) -> list[Citation]:
    """Citations that say so where they quote what people confirmed."""
    ours = {each.hit.doc_id for each in vouched}
    return [
        c.model_copy(update={"origin": "confirmed"}) if c.doc_id in ours else c for c in citations
    ]


def find_followed(
    citations: Sequence[Citation], vouched: Sequence[ConfirmedEvidence]
) -> list[Followed]:
    """Those that an answer's citations quote, each once."""
    cited = {citation.doc_id for citation in citations}
    return [each.followed for each in vouched if each.hit.doc_id in cited]


def adjust_confidence(vouched: Sequence[ConfirmedEvidence], found: float, least: float) -> float:
    """How sure the evidence is to hold the answer: of this very question as sure as the likeness;
    of one like it, sure enough that a model looks at it, which is what `least` asks of a search.
    """
    if not vouched:
        return found
    good = [each for each in vouched if not each.stale]
    same = max(
        (each.followed.similarity for each in good if each.same and not each.disputed), default=0.0
    )
    return max(found, same, least) if good else found


def get_quoted_similarity(vouched: Sequence[ConfirmedEvidence], proven: Proven) -> float | None:
    """Of what people confirmed for this very question and the draft quotes, how like the questions
    are; None where it quotes nothing of the kind.
    """
    quoted = {
        unit.passage.hit.doc_id for judgement in proven.judgements for unit in judgement.evidence
    }
    held = [each for each in vouched if each.same and not each.stale and not each.disputed]
    return max(
        (each.followed.similarity for each in held if each.hit.doc_id in quoted), default=None
    )
