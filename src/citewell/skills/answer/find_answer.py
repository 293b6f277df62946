"""Without a connected model: the documents' answering sentence, by reader or likeness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from citewell.models.base import Embedder
from citewell.models.reader_base import Reader, Reading
from citewell.retrieve.confidence import Logistic
from citewell.skills.answer.decision import EVEN, collect_answer_signals
from citewell.skills.answer.draft import Draft
from citewell.skills.answer.nearest_sentence import find_nearest_sentence
from citewell.skills.answer.question_parts import split_question
from citewell.skills.answer.quote_span import quote_span, quote_units
from citewell.skills.answer.rank_sentences import rank_sentences
from citewell.skills.dialogue.follow_up import FollowUp
from citewell.skills.evidence.numbered import number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.evidence.prompt_injection import (
    filter_injected_units,
    has_prompt_injection,
    remove_prompt_injections,
)
from citewell.text.sentences import detect_language
from citewell.text.tokens import tokenize_query

READ_PASSAGES = 8  # the reader looks at, best first: 0.04 CPU seconds each
NO_OTHER = -5.0  # log-odds of another document where there is none
_CERTAIN = 1e-4  # probabilities are kept this far from 0 and 1 before their log-odds are taken


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """`signals`: figures that tell how likely the draft answers, for the decision. `candidates`:
    text and figures of what the reader marked in each passage, for fitting how one is picked.
    `missing`: parts of the question that were not found. `scores`: of each sentence of a draft of
    several that were ranked.
    """

    draft: Draft
    signals: dict[str, float] = field(default_factory=dict)
    candidates: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    scores: list[float] = field(default_factory=list)


async def find_sentences(
    question: str,
    passages: Sequence[Passage],
    reader: Reader | None,
    embedder: Embedder | None,
    models: tuple[Logistic, Logistic, Logistic],
    most: int,
) -> FoundAnswer:
    """The best sentences of all passages, `most` at most, with their `scores`; the signals are
    those of `find_answer`. `models`: of a candidate, the decision, and of a sentence.
    """
    pick, decision, weigh = models
    found = await find_answer(question, passages, reader, embedder, pick, decision)
    if not passages:
        return found
    best, scores = await rank_sentences(question, passages, reader, embedder, weigh, most)
    return replace(found, draft=Draft(status="answered", sentences=best), scores=scores)


async def find_answer(
    question: str,
    passages: Sequence[Passage],
    reader: Reader | None,
    embedder: Embedder | None,
    pick: Logistic,
    decision: Logistic,
    follow_up: FollowUp | None = None,
) -> FoundAnswer:
    """The sentences that answer, quoted whole, with the answering words marked where the reader
    knows them. A question of several parts gets one sentence for each that is likelier right than
    wrong by `decision`, for the surest in any case, and the signals of the least sure of these.
    A follow-up is read in each of its wordings. `pick`: how likely a candidate is the right one.
    Raises ModelUnavailable.
    """
    if not passages:
        return FoundAnswer(Draft(status="not_told"))
    # stable: those of a search come best first
    passages = sorted(passages, key=lambda passage: -passage.hit.score)
    if reader is None:
        return FoundAnswer(await find_nearest_sentence(question, passages, embedder))
    read = partial(_read_passages, passages=passages, reader=reader, pick=pick)
    if follow_up is not None:
        found = [await read(wording) for wording in follow_up.wordings]
        best = _choose_wording(found, follow_up, decision)
        named = tokenize_query(follow_up.focus)[0] if _is_said_again(best.draft, follow_up) else ""
        given = (follow_up.wordings[0], named, passages[:READ_PASSAGES], reader, pick)
        return await _read_naming_sentences(*given) if named else best
    if asked := split_question(question):
        return _join_parts({part: await read(part) for part in asked}, decision)
    return await read(question)


def _choose_wording(
    found: Sequence[FoundAnswer], follow_up: FollowUp, decision: Logistic
) -> FoundAnswer:
    """The surest that names what the follow-up names: that tells its answer from the last one."""
    named = set(tokenize_query(follow_up.focus)) if follow_up.focus else set()
    lang = detect_language(follow_up.wordings[0])

    def rate(each: FoundAnswer) -> float:
        held = named & set(tokenize_query(each.draft.text))
        return len(held) / (len(named) or 1) + _rate_chance(each, lang, decision)

    return max(found, key=rate)


def _is_said_again(draft: Draft, follow_up: FollowUp) -> bool:
    """Whether it is the last answer, which does not name what the follow-up names: not its first
    word, by which things of a kind are told apart in both languages. Of a sentence in another
    language words do not tell.
    """
    lang = detect_language(follow_up.wordings[0])
    return bool(follow_up.focus) and all(
        sentence.text in follow_up.said
        and detect_language(sentence.text) == lang
        and tokenize_query(follow_up.focus)[0] not in tokenize_query(draft.text)
        for sentence in draft.sentences
    )


async def _read_naming_sentences(
    question: str, word: str, passages: Sequence[Passage], reader: Reader, pick: Logistic
) -> FoundAnswer:
    """The best of the sentences with this word, each read by itself; none where it has no such."""
    units = [u for u in number_sentences(passages) if word in tokenize_query(u.text)]
    units = filter_injected_units(units)
    if not units:
        return FoundAnswer(Draft(status="not_told"))
    holders = [unit.passage for unit in units]
    headings = [f"{passage.heading}\n" for passage in holders]
    readings = await reader.read(question, [unit.text for unit in units], headings)
    signals = [_collect_signals(question, n, holders, readings) for n in range(len(units))]
    best = max(range(len(units)), key=lambda n: pick(signals[n]))
    unit, reading = units[best], readings[best]
    sentence = quote_units([unit], unit.start + reading.start, unit.start + reading.end)
    return FoundAnswer(Draft(status="answered", sentences=[sentence]), signals[best])


def _rate_chance(found: FoundAnswer, lang: str, decision: Logistic) -> float:
    return decision(collect_answer_signals(0.0, lang, reading=found.signals))


def _join_parts(parts: Mapping[str, FoundAnswer], decision: Logistic) -> FoundAnswer:
    chances = {
        part: _rate_chance(each, detect_language(part), decision) for part, each in parts.items()
    }
    surest = max(chances.values())
    found = [part for part in parts if chances[part] >= min(EVEN, surest)]
    unsurest = parts[min(found, key=chances.__getitem__)]
    draft = _join_drafts([parts[part].draft for part in found])
    missing = tuple(part for part in parts if part not in found)
    return replace(unsurest, draft=draft, missing=missing)


async def _read_passages(
    question: str, passages: Sequence[Passage], reader: Reader, pick: Logistic
) -> FoundAnswer:
    read = passages[:READ_PASSAGES]
    readings = await _read_bodies(question, read, reader)
    signals = [_collect_signals(question, n, read, readings) for n in range(len(read))]
    drafts = [quote_span(passage, reading) for passage, reading in zip(read, readings, strict=True)]
    best = max(range(len(read)), key=lambda n: pick(signals[n]))
    candidates = [(draft.text, each) for draft, each in zip(drafts, signals, strict=True)]
    return FoundAnswer(drafts[best], signals[best], candidates)


def find_body_start(passage: Passage) -> int:
    """Where a passage's text goes on behind the headings that it begins with: they say what it is
    about and answer nothing.
    """
    headings, at = {passage.hit.title, *passage.hit.heading_path}, 0
    for line in passage.hit.text.splitlines(keepends=True):
        if line.strip() and line.strip() not in headings:
            return at
        at += len(line)
    return 0  # headings are all that there is


async def _read_bodies(question: str, passages: Sequence[Passage], reader: Reader) -> list[Reading]:
    """One of each passage, below its headings. One that gives orders is read without them too, and
    the surer reading counts: they must not draw the reader away from what answers.
    """
    bodies = [find_body_start(passage) for passage in passages]
    texts = [passage.hit.text[at:] for passage, at in zip(passages, bodies, strict=True)]
    headings = [f"{passage.heading}\n" for passage in passages]
    others = {
        n: remove_prompt_injections(text)
        for n, text in enumerate(texts)
        if has_prompt_injection(text)
    }
    others = {n: text for n, text in others.items() if text.strip()}
    found = list(
        await reader.read(
            question, [*texts, *others.values()], [*headings, *(headings[n] for n in others)]
        )
    )
    for n, other in zip(others, found[len(texts) :], strict=True):
        found[n] = max(found[n], other, key=lambda reading: reading.answerable)
    return [
        replace(each, start=at + each.start, end=at + each.end)
        for at, each in zip(bodies, found, strict=False)
    ]


def _collect_signals(
    question: str, n: int, read: Sequence[Passage], readings: Sequence[Reading]
) -> dict[str, float]:
    """What is known of the `n`th candidate. `margin`: how much surer the reader is than of any
    other document. `heading`: how like the question the heading right above the passage is.
    `across`: whether it is in another language than the question, where scores are other ones.
    """
    hit, lang = read[n].hit, detect_language(question)
    score, across = hit.signals.get("standing", hit.score), float(hit.lang != lang)
    odds = [compute_log_odds(reading.answerable) for reading in readings]
    others = [odds[k] for k, passage in enumerate(read) if passage.hit.doc_id != hit.doc_id]
    return {
        "answerable": odds[n],
        "span": readings[n].span_score,
        "score": score,
        "margin": odds[n] - max(others, default=NO_OTHER),
        "first": float(n == 0),
        "heading": compute_likeness(question, "".join(hit.heading_path[-1:])),
        "across": across,
        "across_score": across * score,
    }


def compute_likeness(one: str, other: str) -> float:
    """Words that two texts share, twice their number by the words of both (Dice 1945)."""
    mine, theirs = set(tokenize_query(one)), set(tokenize_query(other))
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


def compute_log_odds(probability: float) -> float:
    """Log-odds of a probability, kept finite."""
    held = min(max(probability, _CERTAIN), 1 - _CERTAIN)
    return math.log(held / (1 - held))


def _join_drafts(drafts: Sequence[Draft]) -> Draft:
    said = {sentence.text: sentence for draft in drafts for sentence in draft.sentences}
    return Draft(status="answered", sentences=list(said.values()))
