"""The reading route: which sections of a paper serve an interest, in what order, why, and how long
they take. Nothing irrelevant, nothing twice, and what was ticked off stays so. Where the paper has
nothing to do with the interest, the route is that of the paper in short, and its first step says
so.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import anyio.to_thread

from citewell.errors import CitewellError
from citewell.ingest.paper.shape import Part, Role
from citewell.models.base import LLM, Embedder, is_connected
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.retrieve.query import Found
from citewell.skills.guide.guide_wording import resolve_language
from citewell.skills.guide.paper_name import LIMITS_HEADING
from citewell.skills.guide.plain_sentence import shorten_sentence
from citewell.skills.guide.quotable import Line, find_quotable_lines
from citewell.skills.paper.reading_context import OpenPaper, Plan, PlanStep
from citewell.skills.reading_route.interest import Interest, read_interest
from citewell.skills.reading_route.readable_sections import (
    Reading,
    add_nearest_sentences,
    compute_step_id,
    estimate_minutes,
    find_readable_sections,
    find_telling_line,
    list_nonempty_sections,
    score_sections,
)
from citewell.skills.reading_route.route_wording import format_message
from citewell.text.sentences import detect_language

FEWEST, MOST = 3, 8  # steps
CORE = 5  # sections that serve the interest itself
NEAR = 0.6  # how far up from the worst score to the best a section must be to serve the interest
APPENDED = 0.85  # the same for an appendix: what is there is said in short in the paper proper
BEARS = 0.45  # the same for results and limits that are not asked for
# A paper has to do with an interest that names a kind of part; else where the search is so sure, or
# its best passage comes so near, by the languages of interest and paper. Of 30 pairs of a paper and
# an interest in another subject one passed; of 44 with an interest in its own subject or in one of
# its parts one was lost. (By words and cosines of sentences: none passed, seven were lost.) Of
# Chinese papers only our sample was tried.
SURE = 0.13
RELATED: Final[Mapping[tuple[str, str], float]] = {
    ("en", "en"): 0.825,
    ("zh", "zh"): 0.845,
    ("zh", "en"): 0.795,
    ("en", "zh"): 0.795,
}
LONG = 3  # sentences that make a section of its own
SAID = 90  # characters of a quote in a reason
_BEFORE = re.compile(
    r"\b(?:problem|task) (?:formulation|definition|statement)|\bpreliminar|\bnotation|"
    r"问题定义|符号",
    re.IGNORECASE,
)
_MAIN = re.compile("main|overall|主要|总体", re.IGNORECASE)
PLACE: Final[Mapping[Role, int]] = {
    "abstract": 0,
    "introduction": 0,
    "related_work": 1,
    "method": 1,
    "other": 1,
    "results": 2,
}

Find = Callable[[str], Awaitable[Found]]


async def make_route(
    book: OpenPaper,
    interest: str,
    *,
    find: Find,
    embedder: Embedder,
    llm: LLM | None,
    lang: str,
    before: Plan | None = None,
    now: float,
) -> Plan:
    """The route of `interest`, told in `lang`; an empty one gives the paper in short. `find`
    searches the paper. `before`: the route so far, whose ticks stay with their sections.
    """
    lang, interest = resolve_language(lang), " ".join(interest.split())
    sections = await anyio.to_thread.run_sync(
        lambda: find_readable_sections(book, find_quotable_lines(book))
    )
    steps: list[PlanStep] = []
    if interest and sections:
        looked_for = await _translate_interest(book, interest, llm)
        asked, found = await read_interest(looked_for, embedder), await find(looked_for)
        if _is_related(book, asked, found, looked_for):
            scored = score_sections(sections, found.hits, asked)
            chosen = await add_nearest_sentences(
                book, _choose_sections(scored), looked_for, embedder
            )
            steps = [build_step(book, s.part, _explain_choice(s, lang), s.said) for s in chosen]
    if not steps:
        steps = await anyio.to_thread.run_sync(
            lambda: _plan_overview(book, sections or list_nonempty_sections(book), lang)
        )
        if interest and steps:
            first = steps[0]
            why = format_message("unrelated", lang, interest=interest, why=first.why)
            steps = [first.model_copy(update={"why": why}), *steps[1:]]
    done = {step.step_id: step.done_at for step in before.steps} if before else {}
    steps = [step.model_copy(update={"done_at": done.get(step.step_id)}) for step in steps]
    return Plan(
        interest=interest,
        lang=lang,
        steps=steps,
        revision=before.revision + 1 if before else 1,
        made_at=now,
    )


async def _translate_interest(book: OpenPaper, interest: str, llm: LLM | None) -> str:
    """The interest with words of the paper's language beside it, where a chat model with room is
    there to find them. They serve to search only; without them the multilingual embedder must do.
    """
    tongue = resolve_language(book.paper.lang)
    if llm is None or not is_connected(llm) or detect_language(interest) == tongue:
        return interest
    own = detect_language(interest)
    names = {"en": "English", "zh": "Chinese"} if own == "en" else {"en": "英文", "zh": "中文"}
    template = load_prompt(f"skills/prompts/guide_interest.{own}.md")
    messages = fill_prompt(template, interest=interest, language=names[tongue])
    try:
        reply = await llm.chat(messages, max_tokens=60)
    except CitewellError:
        return interest  # a search without these words is still a search
    return f"{interest} {' '.join(reply.text.split())[:200]}"


def _is_related(book: OpenPaper, asked: Interest, found: Found, interest: str) -> bool:
    """Whether the paper has to do with it."""
    tongues = resolve_language(detect_language(interest)), resolve_language(book.paper.lang)
    near = max((hit.signals.get("cosine", 0.0) for hit in found.hits), default=0.0)
    sure = tongues[0] == tongues[1] and found.confidence >= SURE
    return asked.named >= 1.0 or sure or near >= RELATED[tongues]


def _choose_sections(sections: Sequence[Reading]) -> list[Reading]:
    """First the paper in short, then what serves the interest, then results and limits that bear on
    it, in a sane order.
    """
    ranked = sorted(sections, key=lambda section: -section.score)
    best, worst = ranked[0].score, ranked[-1].score
    shares = {s.part.start: (s.score - worst) / ((best - worst) or 1.0) for s in ranked}
    core = [s for s in ranked if shares[s.part.start] >= (APPENDED if s.part.appendix else NEAR)][
        :CORE
    ]
    chosen = {s.part.start: replace(s, core=True) for s in core}
    opening = next((s for s in sections if s.opening), None)
    if opening is not None:
        chosen.setdefault(opening.part.start, opening)
    for other in (_find_best(ranked, "results"), _find_limits(ranked)):
        if other is not None and len(chosen) < MOST and shares[other.part.start] >= BEARS:
            chosen.setdefault(other.part.start, other)
    for section in ranked:
        if len(chosen) >= FEWEST:
            break
        chosen.setdefault(section.part.start, section)
    return sorted(chosen.values(), key=lambda s: (_get_reading_order(s), s.part.start))[:MOST]


def _get_reading_order(section: Reading) -> int:
    return 4 if section.part.appendix else PLACE.get(section.part.role, 3)


def _find_best(ranked: Sequence[Reading], role: Role) -> Reading | None:
    return next((s for s in ranked if s.part.role == role and not s.part.appendix), None)


def _find_limits(ranked: Sequence[Reading]) -> Reading | None:
    named = (s for s in ranked if LIMITS_HEADING.search(s.part.heading) and not s.part.appendix)
    return next(named, None) or _find_best(ranked, "discussion")


def _explain_choice(section: Reading, lang: str) -> str:
    """What in the section meets the interest."""
    key = "asked" if section.asked else "near" if section.core else _get_purpose_key(section)
    return format_message(key, lang, said=_shorten_line(section.said))


def _get_purpose_key(section: Reading) -> str:
    """What a section is there for that does not serve the interest itself."""
    if section.opening:
        return "open"
    if LIMITS_HEADING.search(section.part.heading):
        return "limits"
    return {"results": "results", "discussion": "discussion"}.get(section.part.role, "beside")


def _shorten_line(line: Line | None) -> str:
    return shorten_sentence((line.text if line else "").rstrip(".。"), SAID)


def _plan_overview(book: OpenPaper, sections: Sequence[Reading], lang: str) -> list[PlanStep]:
    """The paper in short: abstract, introduction, method, main results, limits or the end."""
    whole = [s for s in sections if not s.part.appendix] or list(sections)
    proper = [s for s in whole if s.part.role != "other"]
    chosen: list[Reading] = []
    for role in ("abstract", "introduction", "method", "results"):
        chosen += _find_main([s for s in proper if s.part.role == role])
    closing = [s for s in proper if s.part.role == "discussion"]
    chosen += [s for s in closing if LIMITS_HEADING.search(s.part.heading)][:1]
    chosen += [s for s in closing[-1:] if s not in chosen]
    for spare in (proper, whole):  # a report or a chapter may have no part of a paper at all
        chosen += [s for s in spare if s not in chosen][: max(0, FEWEST - len(chosen))]
    ordered = sorted(chosen, key=lambda s: s.part.start)[:MOST]
    return [
        build_step(book, s.part, _describe_section(s, lang), find_telling_line(s)) for s in ordered
    ]


def _find_main(sections: Sequence[Reading]) -> list[Reading]:
    """Of the sections of one role the first of more than a line or two, and one named as main."""
    named = [s for s in sections if _MAIN.search(s.part.heading)]
    long = [s for s in sections if len(s.lines) >= LONG and not _BEFORE.search(s.part.heading)]
    return [*named, *long, *sections][:1]


def _describe_section(section: Reading, lang: str) -> str:
    role = section.part.role
    if role == "abstract":
        return format_message("open_general", lang)
    said = _shorten_line(find_telling_line(section))
    key = f"general_{role}" if said and role != "front" else "general_unsaid"
    return format_message(key, lang, said=said)


def build_step(book: OpenPaper, part: Part, why: str, quoted: Line | None) -> PlanStep:
    """A step to read a part of the paper."""
    return PlanStep.of(
        part,
        step_id=compute_step_id(part),
        section=part.heading or part.role,
        minutes=estimate_minutes(book, part),
        why=why,
        quote=quoted.quote if quoted else "",
    )
