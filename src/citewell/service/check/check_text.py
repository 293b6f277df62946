"""`citewell check`: any text held against documents, sentence by sentence; and claims held against
their own evidence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from citewell.errors import CitewellError, InvalidInput
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.ask_qa import widen_hits
from citewell.service.ask.locate import locate_citations
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.search import embed_query, find_hits, warn_of_waiting
from citewell.service.check.check_judge import (
    build_claim,
    explain_open,
    get_app_judge,
    get_judge_question,
    is_measured,
    list_caveats,
)
from citewell.service.check.check_types import (
    LONGEST,
    MOST_PAIRS,
    CheckedSentence,
    CheckRequest,
    CheckResult,
    Pair,
    PairsResult,
    PairVerdict,
)
from citewell.skills.answer.cite import number_citations
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import (
    Passage,
    join_spans,
    pack_passages,
    select_passages,
    sort_by_document,
)
from citewell.skills.proof.exact import find_quoted_unit
from citewell.skills.proof.judge import Claim, Judge, Judgement
from citewell.skills.proof.judge_reader import ReaderJudge
from citewell.store.index.protocol import Filter
from citewell.text.claims import find_statement_spans, strip_statement_markup
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Hit, Sentence

BATCH = 6  # sentences that are judged together, on the passages found for all of them
HITS = 4  # passages that are looked up for a sentence
AT_ONCE = 4  # pairs that a chat model judges at the same time
UNSURE = Text("unsure: judging it takes a connected chat model; compare it with the quotes")
OnChecked = Callable[[int, int], Awaitable[None]]  # sentences done, of how many


async def check_request(app: App, request: CheckRequest) -> CheckResult | PairsResult:
    """What the request names: a text, or pairs. Raises InvalidInput for both or neither."""
    if bool(request.text.strip()) == bool(request.pairs):
        raise InvalidInput(
            Text("send either a text or pairs"),
            hint=Text('{"text": ...} or {"pairs": [{"id", "claim", "evidence"}]}'),
        )
    if request.pairs:
        return await check_pairs(app, request.pairs)
    return await check_text(app, request.text, request.collections)


async def check_text(
    app: App, text: str, collections: Sequence[str] = (), on_checked: OnChecked | None = None
) -> CheckResult:
    """Each sentence of `text` looked up in the collections and judged by what was found. Raises
    InvalidInput for an empty or overlong text, NotFound for an unknown collection, and what the
    judge's model raises.
    """
    started = time.perf_counter()
    if len(text) > LONGEST:
        raise InvalidInput(
            Text(
                "the text has {text} characters, {longest} are allowed",
                text=len(text),
                longest=LONGEST,
            ),
            hint=Text("check a part at a time"),
        )
    spans = find_statement_spans(text)
    if not spans:
        raise InvalidInput(Text("the text is empty"), hint=Text("give a text of some sentences"))
    infos = [
        await app.collections.get(name)
        for name in dict.fromkeys(collections or [app.settings.collection])
    ]
    names = [info.name for info in infos]
    await app.learn_models()
    judge = get_app_judge(app)
    judgements = await _judge_spans(app, text, spans, names, judge, on_checked)
    shown = [Sentence(text=text[a:b], verdict="supported") for a, b in spans]
    proof = number_citations(
        [(s, j.evidence, j.score) for s, j in zip(shown, judgements, strict=True)]
    )
    return CheckResult(
        sentences=[
            CheckedSentence(
                text=s.text,
                start=a,
                end=b,
                verdict=j.verdict,
                score=round(j.score, 4),
                reason=j.reason,
                citations=s.citations,
            )
            for s, (a, b), j in zip(proof.sentences, spans, judgements, strict=True)
        ],
        citations=await locate_citations(app, proof.citations),
        collections=names,
        judge=judge.name if judge else "",
        measured=is_measured(app, judge),
        seconds=round(time.perf_counter() - started, 3),
        warnings=[
            *list_caveats(app, judge),
            *warn_of_waiting([(info.chunks, info.embedded) for info in infos]),
        ],
    )


async def _judge_spans(
    app: App,
    text: str,
    spans: Sequence[tuple[int, int]],
    names: Sequence[str],
    judge: Judge | None,
    on_checked: OnChecked | None,
) -> list[Judgement]:
    """One of each sentence. What is no quotation is left open without a measured judge: the reader
    may be wrong either way.
    """
    judgements: list[Judgement] = []
    for at in range(0, len(spans), BATCH):
        claims = [
            normalize_text(strip_statement_markup(text[a:b])) for a, b in spans[at : at + BATCH]
        ]
        judgements += await check_claims(app, claims, names, judge)
        if on_checked is not None:
            await on_checked(len(judgements), len(spans))
    if not is_measured(app, judge):
        judgements = [
            j if j.score == 1.0 else replace(j, verdict="not_stated", reason=UNSURE)
            for j in judgements
        ]
    return judgements


async def check_claims(
    app: App, claims: Sequence[str], names: Sequence[str], judge: Judge | None
) -> list[Judgement]:
    """One of each claim, by what is found for all of them."""
    passages = [await _look_up(app, claim, names, judge) for claim in claims]
    units = number_sentences(
        sort_by_document(_merge_passages([passage for each in passages for passage in each]))
    )
    settled: list[Judgement | None] = [
        Judgement("entailed", 1.0, (quoted,))
        if (quoted := find_quoted_unit(claim, units))
        else None
        for claim in claims
    ]
    left = [n for n, each in enumerate(settled) if each is None]
    if left and judge is not None and units:
        asked = [build_claim(claims[n], passages[n], units, judge) for n in left]
        for n, judgement in zip(
            left, await judge.judge(get_judge_question(asked[0].text), asked, units), strict=True
        ):
            settled[n] = judgement
    return [
        each or Judgement("not_stated", 0.0, reason=explain_open(judge, units)) for each in settled
    ]


async def _look_up(
    app: App, claim: str, names: Sequence[str], judge: Judge | None
) -> list[Passage]:
    """What is found for a claim; for a batch-judging chat model, its share of the prompt."""
    vector, _ = await embed_query(app.embedder, claim)
    found = await find_hits(
        app,
        SearchOptions(),
        claim,
        vector,
        extract_search_names(claim),
        Filter(collections=tuple(names)),
        HITS,
    )
    model = app.judge_llm or app.llm
    if judge is None or isinstance(judge, ReaderJudge) or model is None:
        return await select_passages(claim, found.hits, None, partial(widen_hits, app))
    share = model.evidence_tokens // BATCH
    return pack_passages(claim, await widen_hits(app, found.hits, share), share, most=HITS)


def _merge_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Passages of one chunk as one: each claim may have kept other sentences of it."""
    by_chunk: dict[tuple[str, int, int], Passage] = {}
    for passage in passages:
        hit = passage.hit
        key = (hit.doc_id, hit.start, hit.end)
        spans = sorted({*passage.spans, *(by_chunk[key].spans if key in by_chunk else ())})
        text = join_spans(hit.text, [(a - hit.start, b - hit.start) for a, b in spans])
        by_chunk[key] = replace(passage, spans=tuple(spans), text=text)
    return list(by_chunk.values())


async def check_pairs(app: App, pairs: Sequence[Pair]) -> PairsResult:
    """Each claim judged by the evidence that comes with it, in order. Raises InvalidInput for too
    many, and what the judge's model raises.
    """
    if len(pairs) > MOST_PAIRS:
        raise InvalidInput(
            Text(
                "{pairs} pairs, {most_pairs} are allowed", pairs=len(pairs), most_pairs=MOST_PAIRS
            ),
            hint=Text("check a part at a time"),
        )
    await app.learn_models()
    judge = get_app_judge(app)
    if isinstance(judge, ReaderJudge):
        found = await judge.judge(
            "", [Claim(pair.claim, evidence=tuple(_build_units(pair))) for pair in pairs], []
        )
    else:
        found = await _check_pairs_apart(pairs, judge)
    items = [
        PairVerdict(id=pair.id, verdict=j.verdict, score=round(j.score, 4))
        for pair, j in zip(pairs, found, strict=True)
    ]
    return PairsResult(
        items=items,
        judge=judge.name if judge else "",
        measured=is_measured(app, judge),
        warnings=list_caveats(app, judge),
    )


async def _check_pairs_apart(pairs: Sequence[Pair], judge: Judge | None) -> list[Judgement]:
    """One call a pair, for each has evidence of its own; the first failure ends all."""
    free = asyncio.Semaphore(AT_ONCE)

    async def check_one(pair: Pair) -> Judgement:
        async with free:
            return await _check_pair(pair, judge)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(check_one(pair)) for pair in pairs]
    except* CitewellError as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def _check_pair(pair: Pair, judge: Judge | None) -> Judgement:
    units = _build_units(pair)
    if quoted := find_quoted_unit(pair.claim, units):
        return Judgement("entailed", 1.0, (quoted,))
    if judge is None or not units:
        return Judgement("not_stated", 0.0)
    return (
        await judge.judge(
            pair.question or get_judge_question(pair.claim), [Claim(pair.claim)], units
        )
    )[0]


def _build_units(pair: Pair) -> list[Unit]:
    """The evidence texts as passages, each cut into its sentences."""
    passages = []
    for n, text in enumerate(pair.evidence, start=1):
        hit = Hit(-n, pair.id, "", "", "", (), None, 0, len(text), text, detect_language(text))
        passages.append(Passage(n, hit, tuple(split_sentences(text)), text))
    return number_sentences([passage for passage in passages if passage.spans])
