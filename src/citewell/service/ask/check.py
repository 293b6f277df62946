"""`citewell check`: any text held against documents, sentence by sentence; and claims held against
their own evidence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from citewell.errors import CitewellError, InvalidInput
from citewell.runtime.app import App
from citewell.service.ask.ask_qa import make_widener
from citewell.service.ask.check_types import (
    LONGEST,
    MOST_PAIRS,
    CheckedSentence,
    CheckRequest,
    CheckResult,
    Pair,
    PairsResult,
    PairVerdict,
)
from citewell.service.ask.locate import make_locator
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.search import embed_query, find_hits, warn_of_waiting
from citewell.skills.answer.cite import number_citations
from citewell.skills.answer.wording import format_message
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
from citewell.skills.proof.judge_reader import ReaderJudge, find_nearest_units
from citewell.skills.proof.judges import build_judge
from citewell.store.index.base import Filter
from citewell.text.claims import find_statement_spans, strip_statement_markup
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Hit, Sentence

__all__ = [
    "CheckRequest",
    "CheckResult",
    "Pair",
    "PairVerdict",
    "PairsResult",
    "check_pairs",
    "check_request",
    "check_text",
]

BATCH = 6  # sentences that are judged together, on the passages found for all of them
HITS = 4  # passages that are looked up for a sentence
AT_ONCE = 4  # pairs that a chat model judges at the same time
UNSURE = "unsure: judging it takes a connected chat model; compare it with the quotes"
OnChecked = Callable[[int, int], Awaitable[None]]  # sentences done, of how many


async def check_request(app: App, request: CheckRequest) -> CheckResult | PairsResult:
    """What the request names: a text, or pairs. Raises InvalidInput for both or neither, and what
    they raise.
    """
    if bool(request.text.strip()) == bool(request.pairs):
        raise InvalidInput(
            "send either a text or pairs",
            hint='{"text": ...} or {"pairs": [{"id", "claim", "evidence"}]}',
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
            f"the text has {len(text)} characters, {LONGEST} are allowed",
            hint="check a part at a time",
        )
    spans = find_statement_spans(text)
    if not spans:
        raise InvalidInput("the text is empty", hint="give a text of some sentences")
    infos = [
        await app.catalog.collection(name)
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
        citations=await make_locator(app)(proof.citations),
        collections=names,
        judge=judge.name if judge else "",
        measured=_is_measured(app, judge),
        seconds=round(time.perf_counter() - started, 3),
        warnings=[
            *_list_caveats(app, judge),
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
        judgements += await _check_batch(app, claims, names, judge)
        if on_checked is not None:
            await on_checked(len(judgements), len(spans))
    if not _is_measured(app, judge):
        judgements = [
            j if j.score == 1.0 else replace(j, verdict="not_stated", reason=UNSURE)
            for j in judgements
        ]
    return judgements


def get_app_judge(app: App) -> Judge | None:
    """The judge of the settings; the reader also where it has not passed the gates for ticks: a
    check says how sure it is.
    """
    judge = build_judge(app.llm, None, app.judge_llm)
    if judge is not None:  # no need of the reader, which is not light
        return judge
    return ReaderJudge(app.reader) if app.reader is not None else None


def _is_measured(app: App, judge: Judge | None) -> bool:
    if isinstance(judge, ReaderJudge):
        return app.reader is not None and app.reader.judges
    return judge is not None


def _list_caveats(app: App, judge: Judge | None) -> list[str]:
    if judge is None:
        return ["only quotations can be checked: there is no connected chat model and no reader"]
    return (
        []
        if _is_measured(app, judge)
        else [
            (
                "only quotations are judged: the small reader guesses too often, and no chat model "
                "is connected"
            )
        ]
    )


async def _check_batch(
    app: App, claims: Sequence[str], names: Sequence[str], judge: Judge | None
) -> list[Judgement]:
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
        asked = [_build_claim(claims[n], passages[n], units, judge) for n in left]
        for n, judgement in zip(
            left, await judge.judge(_get_judge_question(asked[0].text), asked, units), strict=True
        ):
            settled[n] = judgement
    return [
        each or Judgement("not_stated", 0.0, reason=_explain_open(judge, units)) for each in settled
    ]


def _get_judge_question(claim: str) -> str:
    """What a chat model reads as the question, where there is none."""
    return format_message("which_hold", detect_language(claim))


def _explain_open(judge: Judge | None, units: Sequence[Unit]) -> str:
    reason = "no quotation of the documents" if judge is None else "nothing found that says it"
    return reason if units else "nothing was found"


async def _look_up(
    app: App, claim: str, names: Sequence[str], judge: Judge | None
) -> list[Passage]:
    """What is found for a claim; for a chat model that judges a batch, as much as its share of the
    prompt holds.
    """
    vector, _ = await embed_query(app, claim)
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
        return await select_passages(claim, found.hits, None, make_widener(app))
    share = model.evidence_tokens // BATCH
    return pack_passages(claim, await make_widener(app)(found.hits, share), share, most=HITS)


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


def _build_claim(text: str, own: Sequence[Passage], units: Sequence[Unit], judge: Judge) -> Claim:
    """The reader is shown the sentences nearest to the claim among those found for it; a chat model
    sees all.
    """
    if not isinstance(judge, ReaderJudge):
        return Claim(text)
    there = {(p.hit.doc_id, p.hit.start) for p in own}
    near = [unit for unit in units if (unit.passage.hit.doc_id, unit.passage.hit.start) in there]
    return Claim(text, evidence=find_nearest_units(text, near or units))


async def check_pairs(app: App, pairs: Sequence[Pair]) -> PairsResult:
    """Each claim judged by the evidence that comes with it, in order. Raises InvalidInput for too
    many, and what the judge's model raises.
    """
    if len(pairs) > MOST_PAIRS:
        raise InvalidInput(
            f"{len(pairs)} pairs, {MOST_PAIRS} are allowed", hint="check a part at a time"
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
        measured=_is_measured(app, judge),
        warnings=_list_caveats(app, judge),
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
            pair.question or _get_judge_question(pair.claim), [Claim(pair.claim)], units
        )
    )[0]


def _build_units(pair: Pair) -> list[Unit]:
    """The evidence texts as passages, each cut into its sentences."""
    passages = []
    for n, text in enumerate(pair.evidence, start=1):
        hit = Hit(-n, pair.id, "", "", "", (), None, 0, len(text), text, detect_language(text))
        passages.append(Passage(n, hit, tuple(split_sentences(text)), text))
    return number_sentences([passage for passage in passages if passage.spans])
