"""`citewell check`: any text held against documents, sentence by sentence, and claims against evidence that comes along."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from citewell.errors import InvalidInput
from citewell.ingest.sentences import language, sentences
from citewell.knowledge.index import Filter
from citewell.service.app import App
from citewell.service.ask_qa import widener
from citewell.service.locate import locator
from citewell.service.options import SearchOptions
from citewell.service.search import find
from citewell.skills.cite import number_citations
from citewell.skills.clean import clean
from citewell.skills.entities import search_names
from citewell.skills.evidence import Passage, in_document_order, packed
from citewell.skills.numbered import Unit, number_sentences
from citewell.skills.proof.exact import is_quoted
from citewell.skills.proof.judge import Claim, Judge, Judgement
from citewell.skills.proof.judge_reader import ReaderJudge, nearest_units
from citewell.skills.proof.judges import build_judge
from citewell.types import Citation, Hit, Sentence, Shown

LONGEST = 20_000  # characters of a text
MOST_PAIRS = 10_000
BATCH = 6  # sentences that are judged together, on the passages found for all of them
HITS = 4  # passages that are looked up for a sentence
CheckVerdict = Literal["entailed", "contradicted", "not_stated"]


class CheckedSentence(Shown):
    """A sentence of the text, `text[start:end]`; `score`: probability that the documents entail it; `citations` show it."""

    text: str
    start: int
    end: int
    verdict: CheckVerdict
    score: float = Field(ge=0.0, le=1.0)
    reason: str = ""
    citations: list[int] = Field(default=[])


class CheckResult(Shown):
    """`judge`: who judged, empty where only quotations could be checked; `measured`: whether it has passed the gates."""

    sentences: list[CheckedSentence]
    citations: list[Citation] = Field(default=[])
    judge: str = ""
    measured: bool = False
    seconds: float = 0.0


class Pair(Shown):
    """A claim with its evidence. `question`: what the claim answers, where that matters."""

    id: str
    claim: str = Field(min_length=1)
    evidence: list[str]
    question: str = ""


class PairVerdict(Shown):
    """`score`: probability that the evidence entails the claim."""

    id: str
    verdict: CheckVerdict
    score: float


async def check_text(app: App, text: str, collections: Sequence[str]) -> CheckResult:
    """Each sentence of `text` looked up in the collections and judged by what was found. Raises InvalidInput for an empty or
    overlong text, NotFound for an unknown collection, and what the judge's model raises.
    """
    started = time.perf_counter()
    if not text.strip():
        raise InvalidInput("the text is empty", hint="give a text of some sentences")
    if len(text) > LONGEST:
        raise InvalidInput(f"the text has {len(text)} characters, {LONGEST} are allowed", hint="check a part at a time")
    names = [(await app.catalog.collection(name)).name for name in collections or [app.settings.collection]]
    judge = judge_of_app(app)
    spans = sentences(text)
    judged: list[tuple[tuple[int, int], Judgement]] = []
    for at in range(0, len(spans), BATCH):
        batch = spans[at : at + BATCH]
        found = await _check_batch(app, [clean(text[a:b]) for a, b in batch], names, judge)
        judged += zip(batch, found, strict=True)
    shown = [Sentence(text=text[a:b], verdict="supported") for (a, b), _ in judged]
    proof = number_citations([(s, j.evidence, j.score) for s, (_, j) in zip(shown, judged, strict=True)])
    checked = [
        CheckedSentence(
            text=text[a:b], start=a, end=b, verdict=j.verdict, score=round(j.score, 4), reason=j.reason, citations=s.citations
        )
        for s, ((a, b), j) in zip(proof.sentences, judged, strict=True)
    ]
    return CheckResult(
        sentences=checked,
        citations=await locator(app)(proof.citations),
        judge=judge.name if judge else "",
        measured=_is_measured(app, judge),
        seconds=round(time.perf_counter() - started, 3),
    )


def judge_of_app(app: App) -> Judge | None:
    """The judge of the settings; the reader also where it has not passed the gates for ticks: a check says how sure it is."""
    judge = build_judge(app.llm, app.reader, app.judge_llm)
    return judge or (ReaderJudge(app.reader) if app.reader is not None else None)


def _is_measured(app: App, judge: Judge | None) -> bool:
    return judge is not None and not (isinstance(judge, ReaderJudge) and not (app.reader is not None and app.reader.judges))


async def _check_batch(app: App, claims: Sequence[str], names: Sequence[str], judge: Judge | None) -> list[Judgement]:
    passages: list[list[Passage]] = [await _look_up(app, claim, names) for claim in claims]
    by_span = {(p.hit.doc_id, p.hit.start, p.hit.end): p for each in passages for p in each}
    units = number_sentences(in_document_order(list(by_span.values())))
    settled: list[Judgement | None] = [
        Judgement("entailed", 1.0, (quoted,)) if (quoted := is_quoted(claim, units)) else None for claim in claims
    ]
    left = [n for n, each in enumerate(settled) if each is None]
    if left and judge is not None and units:
        asked = [_claim(claims[n], passages[n], units, judge) for n in left]
        for n, judgement in zip(left, await judge.judge("", asked, units), strict=True):
            settled[n] = judgement
    return [each or Judgement("not_stated", 0.0, reason="nothing found that says it") for each in settled]


async def _look_up(app: App, claim: str, names: Sequence[str]) -> list[Passage]:
    vector = await app.embedder.query(claim)
    where = Filter(collections=tuple(names))
    found = await find(app, SearchOptions(), claim, vector, search_names(claim), where, HITS)
    return await packed(claim, found.hits, app.llm, widener(app))


def _claim(text: str, own: Sequence[Passage], units: Sequence[Unit], judge: Judge) -> Claim:
    """The reader is shown the sentences nearest to the claim among those found for it; a chat model sees all."""
    if not isinstance(judge, ReaderJudge):
        return Claim(text)
    there = {(p.hit.doc_id, p.hit.start) for p in own}
    near = [unit for unit in units if (unit.passage.hit.doc_id, unit.passage.hit.start) in there]
    return Claim(text, evidence=nearest_units(text, near or units))


async def check_pairs(app: App, pairs: Sequence[Pair]) -> list[PairVerdict]:
    """Each claim judged by the evidence that comes with it, in order. Raises InvalidInput for too many, and what the judge's
    model raises.
    """
    if len(pairs) > MOST_PAIRS:
        raise InvalidInput(f"{len(pairs)} pairs, {MOST_PAIRS} are allowed", hint="check a part at a time")
    judge = judge_of_app(app)
    if isinstance(judge, ReaderJudge) and app.reader is not None:
        bearing = [[Claim(pair.claim, evidence=tuple(_units(pair)))] for pair in pairs]
        found = await judge.judge("", [claims[0] for claims in bearing], [])
    else:
        found = [await _check_pair(pair, judge) for pair in pairs]
    return [
        PairVerdict(id=pair.id, verdict=each.verdict, score=round(each.score, 4))
        for pair, each in zip(pairs, found, strict=True)
    ]


async def _check_pair(pair: Pair, judge: Judge | None) -> Judgement:
    units = _units(pair)
    if quoted := is_quoted(pair.claim, units):
        return Judgement("entailed", 1.0, (quoted,))
    if judge is None or not units:
        return Judgement("not_stated", 0.0)
    return (await judge.judge(pair.question, [Claim(pair.claim)], units))[0]


def _units(pair: Pair) -> list[Unit]:
    """The evidence texts as passages, each cut into its sentences."""
    passages = []
    for n, text in enumerate(pair.evidence, start=1):
        hit = Hit(-n, pair.id, "", "", "", (), None, 0, len(text), text, language(text))
        passages.append(Passage(n, hit, tuple(sentences(text)), text))
    return number_sentences([passage for passage in passages if passage.spans])
