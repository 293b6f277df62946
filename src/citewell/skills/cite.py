"""Prove an answer: split it into sentences, bind each to the passage sentences that support it, check it, number the quotes.

Binding is done here, by words and by meaning, not by the model (measured: 28 of 28 against its 18 of 28). The one rule: a
quote is an exact span of its document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from citewell.ingest.sentences import language, sentences
from citewell.knowledge.words import index_tokens
from citewell.models.base import Embedder, Vector
from citewell.retrieve.rank import covered, stretched
from citewell.skills.evidence import Passage
from citewell.skills.facts import facts, plain_words
from citewell.skills.row_reading import as_read
from citewell.skills.table_rows import holds_for, of_another
from citewell.skills.verify import Check, verify
from citewell.types import Citation, Sentence

MOST_QUOTES = 2  # sentences of the sources that one sentence of the answer may rest on
WORDS_DECIDE = 0.75  # share of its words at which a sentence is bound without asking for meaning
CLOSER = 0.15  # by how much more of the subject's words another sentence must hold to be heard against the one cited
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|these|the)\b.{0,20}"
    r"\b(?:instructions?|questions?|prompts?|rules|directions)\b|(?:忽略|无视|忘记|不要理会).{0,12}(?:指令|指示|问题|提示|要求|规则)",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:yes|no|是的?|不是?|对|没有|可以|不可以|能|不能|会|不会)\s*[,.!，。！]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence of a passage, as it may be quoted: `text` is `document.text[start:end]`."""

    passage: Passage
    start: int
    end: int
    text: str

    @property
    def context(self) -> str:
        return self.passage.heading


@dataclass(frozen=True, slots=True)
class Proof:
    """Sentences with verdicts, and the citations they number."""

    sentences: list[Sentence]
    citations: list[Citation]


def sources(passages: Sequence[Passage]) -> list[Source]:
    """All that may be quoted, in order. A question proves nothing: on a page of questions it is the heading of its answer. Nor
    does what tells its reader to answer otherwise: a model that obeyed it would have it as proof.
    """
    found = []
    for passage in passages:
        for start, end in passage.spans:
            text = passage.hit.text[start - passage.hit.start : end - passage.hit.start]
            if not text.rstrip().endswith(("?", "？")) and not _ORDERS.search(text):
                found.append(Source(passage, start, end, text))
    return found


async def prove(answer: str, question: str, passages: Sequence[Passage], embedder: Embedder | None, named: str = "") -> Proof:
    """Bind and check every sentence of `answer`. Without an embedder words alone decide. `named` holds names that all the
    passages are known to be about, as a site's own.
    """
    claims = split_claims(answer)
    quotable = sources(passages)
    held = [
        set(index_tokens(f"{s.context}\n{as_read(s.text)}")) for s in quotable
    ]  # once: each claim is held against all of them
    bound = [_by_words(claim, question, quotable, held) for claim in claims]
    likeness = await _likeness(claims, bound, quotable, embedder)
    return _numbered(
        [_settle(c, question, quotable, held, b, m, named) for c, b, m in zip(claims, bound, likeness, strict=True)]
    )


def split_claims(answer: str) -> list[str]:
    """Sentences of an answer; a lone leading yes or no joins the sentence that explains it."""
    parts = [answer[a:b] for a, b in sentences(answer)]
    if len(parts) > 1 and _LEAD.match(parts[0]):
        joint = "" if language(answer) == "zh" else " "
        parts = [parts[0] + joint + parts[1], *parts[2:]]
    return parts


def _by_words(claim: str, question: str, quotable: Sequence[Source], words: Sequence[set[str]]) -> list[float]:
    """How well each source carries the claim's words, 0 to 1; the question's words break ties among short answers."""
    own = covered(claim, words)
    asked = covered(question, words)
    wanted = figures(claim)
    held = [_share(wanted, figures(s.text)) for s in quotable]
    return [0.6 * o + 0.15 * a + 0.25 * n for o, a, n in zip(own, asked, held, strict=True)]


def figures(text: str) -> frozenset[str]:
    """Numbers and dates of a text."""
    known = facts(text)
    return known.numbers | known.dates


def _share(wanted: frozenset[str], there: frozenset[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0


async def _likeness(
    claims: Sequence[str], bound: Sequence[list[float]], quotable: Sequence[Source], embedder: Embedder | None
) -> list[Vector | None]:
    """Cosines of each claim with every source, for the claims that words leave open; None for the others."""
    open_ones = [i for i, scores in enumerate(bound) if scores and max(scores) < WORDS_DECIDE]
    if embedder is None or not open_ones:
        return [None] * len(claims)
    vectors = await embedder.passages([claims[i] for i in open_ones] + [s.text for s in quotable])
    mine, theirs = vectors[: len(open_ones)], vectors[len(open_ones) :]
    cosines = dict(zip(open_ones, mine @ theirs.T, strict=True))
    return [cosines.get(i) for i in range(len(claims))]


@dataclass(frozen=True, slots=True)
class _Bound:
    claim: str
    quotes: list[tuple[Source, float]]
    check: Check


def _settle(
    claim: str,
    question: str,
    quotable: Sequence[Source],
    held: Sequence[set[str]],
    words: list[float],
    meaning: Vector | None,
    named: str,
) -> _Bound:
    """Take the best source, and a second one where it adds words that the first lacks."""
    if not quotable:
        return _Bound(claim, [], verify(claim, []))
    scores = np.asarray(words, dtype=np.float64)
    if meaning is not None:
        scores = scores + stretched(meaning)
    order = [int(i) for i in np.argsort(-scores, kind="stable")]
    chosen = [order[0]]
    check = _checked(claim, question, quotable, chosen, meaning, named)
    for second in order[1:6]:
        if check.verdict == "supported" or len(chosen) == MOST_QUOTES:
            break
        other = _checked(claim, question, quotable, [*chosen, second], meaning, named)
        if (len(other.problems), -other.coverage) < (len(check.problems), -check.coverage):
            chosen, check = [*chosen, second], other
    if check.verdict == "unsupported":  # the wording may stand in a source that scored lower on its own
        for single in order[1:6]:
            other = _checked(claim, question, quotable, [single], meaning, named)
            if other.verdict != "unsupported":
                chosen, check = [single], other
                break
    if check.verdict != "unsupported" and _closer_says_otherwise(claim, question, quotable, held, chosen):
        check = replace(check, verdict="unsupported", problems=("a passage closer to the question gives another figure",))
    problem = _only_for(claim, question, [quotable[i] for i in chosen], named) if check.verdict != "unsupported" else ""
    if problem:
        check = replace(check, verdict="partly", problems=(*check.problems, problem))
    return _Bound(claim, [(quotable[i], float(scores[i])) for i in sorted(chosen)], check)


def _closer_says_otherwise(
    claim: str, question: str, quotable: Sequence[Source], held: Sequence[set[str]], chosen: Sequence[int]
) -> bool:
    """A figure may stand in the source, but with another subject: 14 days for domestic orders proves nothing of others.

    So it is where another sentence holds clearly more of the claim's and question's words, has figures, and not these.
    """
    wanted = figures(claim) - figures(question)
    if not wanted:
        return False
    subject = plain_words(f"{claim} {question}")
    near = covered(subject, held)
    mine = max(near[i] for i in chosen)
    return any(
        near[i] > mine + CLOSER and figures(s.text) and not wanted & figures(s.text)
        for i, s in enumerate(quotable)
        if i not in chosen
    )


def _only_for(claim: str, question: str, quoted: Sequence[Source], named: str) -> str:
    """What is wrong where a row proves the claim, and the claim says it of all rows or of something else."""
    for source in quoted:
        if key := holds_for(claim, question, source.text, source.passage.hit.text):
            return f"the row of the table holds for {key} only; other rows give other figures"
    there = "\n".join([named, *(f"{s.context}\n{s.passage.text}" for s in quoted)])
    keys = (of_another(claim, question, source.text, there) for source in quoted)
    key = next((key for key in keys if key), "")
    return f"the row of the table is about {key}, which the sentence does not name" if key else ""


def _checked(
    claim: str, question: str, quotable: Sequence[Source], chosen: Sequence[int], meaning: Vector | None, named: str
) -> Check:
    context = "\n".join(quotable[i].context for i in chosen)
    cosine = max((float(meaning[i]) for i in chosen), default=None) if meaning is not None else None
    around = "\n".join([named, *(quotable[i].passage.text for i in chosen)])
    quotes = [quotable[i].text for i in chosen]
    return verify(claim, quotes, question=question, context=context, around=around, cosine=cosine)


def _numbered(bound: Sequence[_Bound]) -> Proof:
    """Number the quotes in the order of first use; neighbouring sentences of one passage become one quote."""
    citations: list[Citation] = []
    numbers: dict[tuple[str, int, int], int] = {}
    shown: list[Sentence] = []
    for each in bound:
        used = []
        if each.check.verdict != "unsupported":
            for source, score in each.quotes:
                key = (source.passage.hit.doc_id, source.start, source.end)
                if key not in numbers:
                    numbers[key] = len(numbers) + 1
                    citations.append(_citation(numbers[key], source, score, each.check))
                used.append(numbers[key])
        shown.append(Sentence(text=each.claim, citations=used, verdict=each.check.verdict, problems=list(each.check.problems)))
    return Proof(shown, citations)


def _citation(n: int, source: Source, score: float, check: Check) -> Citation:
    hit = source.passage.hit
    return Citation(
        n=n,
        doc_id=hit.doc_id,
        title=hit.title,
        uri=hit.uri,
        page=hit.page,
        section=" › ".join(hit.heading_path),
        quote=source.text,
        start=source.start,
        end=source.end,
        score=round(min(1.0, score), 4),
        status="verified" if check.verdict == "supported" else "weak",
    )


def renumber(proof: Proof, kept: Sequence[Sentence]) -> Proof:
    """The proof of fewer sentences: citations that none of them uses are left out, the others numbered anew."""
    used = sorted({n for s in kept for n in s.citations})
    new = {old: i + 1 for i, old in enumerate(used)}
    sentences_ = [s.model_copy(update={"citations": [new[n] for n in s.citations]}) for s in kept]
    citations = [c.model_copy(update={"n": new[c.n]}) for c in proof.citations if c.n in new]
    return replace(proof, sentences=sentences_, citations=citations)


def proved(proof: Proof) -> Proof:
    """What of an answer may be shown: the sentences that the sources prove, in whole or in part."""
    return renumber(proof, [sentence for sentence in proof.sentences if sentence.verdict != "unsupported"])


def left_out(proof: Proof, kept: Proof) -> list[str]:
    """What to warn of where `proved` kept less than all."""
    dropped, of = len(proof.sentences) - len(kept.sentences), len(proof.sentences)
    warning = f"left out {dropped} of the draft's {of} sentences: not proved by what was read"
    return [warning] if dropped else []
