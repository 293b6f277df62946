"""The reading route: which sections of a paper serve an interest, in what order, why, and how long
they take.

The one rule: nothing irrelevant, nothing twice, and what was ticked off stays so. Where the paper
has nothing to do with the interest, the route is that of the paper in short, and its first step
says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import anyio.to_thread

from citewell.errors import CitewellError
from citewell.ingest.paper.shape import Role
from citewell.models.base import LLM, Embedder
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.skills.guide.guide_wording import resolve_language
from citewell.skills.guide.paper_name import LIMITS_HEADING
from citewell.skills.guide.quotable import Line, find_quotable_lines
from citewell.skills.guide.write import has_room
from citewell.skills.paper.reading_context import OpenPaper, Plan, PlanStep
from citewell.skills.reading_route.interest import (
    extract_interest_words,
    is_part_name,
    is_part_of_interest,
)
from citewell.skills.reading_route.readable_sections import (
    Reading,
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
WORDS = (
    2  # of an interest that one section holds: then it has to do with it, whatever the meanings say
)
NEAR = 0.6  # share of the best section's score below which another does not serve the interest
APPENDED = 0.85  # the same for an appendix: what is there is said in short in the paper proper
BEARS = 0.45  # the same for results and limits that are not asked for
# A section has to do with an interest if its best sentence comes this near. 12 interests in other
# subjects came to 0.843 of one of four English papers and 0.856 of a Chinese one in the paper's
# language, 0.814 and 0.810 across languages; 25 in the papers' own subjects 0.861 to 0.940, and
# 0.795 to 0.851 across languages, where 2 of 10 are lost so, and are told so (by a trial script,
# multilingual-e5-small).
RELATED: Final[Mapping[tuple[str, str], float]] = {
    ("en", "en"): 0.85,
    ("zh", "zh"): 0.87,
    ("zh", "en"): 0.82,
    ("en", "zh"): 0.815,
}
# how much nearer one must come of whose words the paper has none: "how forecasts are made" passed
# otherwise
STRANGE = 0.02
HALF = 0.5
# how much nearer than it is a section counts that holds more than half of the interest's words
SLACK = 0.03
LONG = 3  # sentences that make a section of its own
SAID = 90  # characters of a quote in a reason
_BEFORE = re.compile(
    r"\b(?:problem|task) (?:formulation|definition|statement)|\bpreliminar|\bnotation|"
    r"问题定义|符号",
    re.IGNORECASE,
)
NAMED = 4  # words of the interest in a reason
PLACE: Final[Mapping[Role, int]] = {
    "abstract": 0,
    "introduction": 0,
    "related_work": 1,
    "method": 1,
    "other": 1,
    "results": 2,
}


async def make_route(
    book: OpenPaper,
    interest: str,
    *,
    embedder: Embedder,
    llm: LLM | None,
    lang: str,
    before: Plan | None = None,
    now: float,
) -> Plan:
    """The route of `interest`, told in `lang`; an empty one gives the paper in short. `before`: the
    route so far, whose ticks stay with their sections.
    """
    lang, interest = resolve_language(lang), " ".join(interest.split())
    sections = await anyio.to_thread.run_sync(
        lambda: find_readable_sections(
            book, find_quotable_lines(book, extract_interest_words(interest))
        )
    )
    steps: list[PlanStep] = []
    if interest and sections:
        looked_for = await _translate_interest(book, interest, llm)
        heard = await score_sections(sections, looked_for, embedder)
        if _is_related(book, heard, looked_for):
            steps = await anyio.to_thread.run_sync(
                _plan_for_interest, book, heard, looked_for, lang
            )
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
    if llm is None or not has_room(llm) or detect_language(interest) == tongue:
        return interest
    name = {"en": {"en": "English", "zh": "Chinese"}, "zh": {"en": "英文", "zh": "中文"}}[
        resolve_language(detect_language(interest))
    ][tongue]
    messages = fill_prompt(
        load_prompt(f"skills/prompts/guide_interest.{detect_language(interest)}.md"),
        interest=interest,
        language=name,
    )
    try:
        reply = await llm.chat(messages, max_tokens=60)
    except CitewellError:
        return interest  # a search without these words is still a search
    return f"{interest} {' '.join(reply.text.split())[:200]}"


def _is_related(book: OpenPaper, sections: Sequence[Reading], interest: str) -> bool:
    """Whether any section has to do with it."""
    tongue = resolve_language(book.paper.lang)
    least = RELATED[resolve_language(detect_language(interest)), tongue]
    if resolve_language(detect_language(interest)) == tongue and not any(
        s.shared for s in sections
    ):
        least += STRANGE
    if is_part_name(interest) or any(len(s.shared) >= WORDS for s in sections):
        return True
    return any(
        s.cosine >= least - SLACK * (_compute_word_share(s, interest) > HALF) for s in sections
    )


def _compute_word_share(section: Reading, interest: str) -> float:
    """What share of the interest, in characters, its section holds."""
    return sum(len(word) for word in section.shared) / max(1, len(interest))


def _plan_for_interest(
    book: OpenPaper, sections: Sequence[Reading], interest: str, lang: str
) -> list[PlanStep]:
    """First the paper in short, then what serves the interest, then results and limits that bear on
    it.
    """
    ranked = sorted(sections, key=lambda section: -section.score)
    best = ranked[0].score
    core = [s for s in ranked if s.score >= (APPENDED if s.part.appendix else NEAR) * best][:CORE]
    chosen = {s.part.start: s for s in core}
    opening = next((s for s in sections if s.opening), None)
    if opening is not None:
        chosen.setdefault(opening.part.start, opening)
    for other in (_find_best(ranked, "results"), _find_limits(ranked)):
        if other is not None and len(chosen) < MOST and other.score >= BEARS * best:
            chosen.setdefault(other.part.start, other)
    for section in ranked:
        if len(chosen) >= FEWEST:
            break
        chosen.setdefault(section.part.start, section)
    ordered = sorted(chosen.values(), key=lambda s: (_get_reading_order(s), s.part.start))[:MOST]
    starts = [s.part.start for s in core]
    return [
        _build_step(book, s, _explain_choice(s, starts, interest, lang), s.said) for s in ordered
    ]


def _get_reading_order(section: Reading) -> int:
    return 4 if section.part.appendix else PLACE.get(section.part.role, 3)


def _find_best(ranked: Sequence[Reading], role: Role) -> Reading | None:
    return next((s for s in ranked if s.part.role == role and not s.part.appendix), None)


def _find_limits(ranked: Sequence[Reading]) -> Reading | None:
    named = next(
        (s for s in ranked if LIMITS_HEADING.search(s.part.heading) and not s.part.appendix), None
    )
    return named or _find_best(ranked, "discussion")


def _explain_choice(section: Reading, core: Sequence[int], interest: str, lang: str) -> str:
    """What in the section meets the interest."""
    said = _shorten_line(section.said)
    if section.part.start not in core:
        return format_message(_get_purpose_key(section), lang, said=said)
    if section.shared:
        quoted = [format_message("quoted", lang, word=word) for word in section.shared[:NAMED]]
        joint = "、" if lang == "zh" else ", "
        listed = (
            joint.join(quoted[:-1]) + format_message("and", lang) + quoted[-1]
            if len(quoted) > 1
            else quoted[0]
        )
        return format_message("words", lang, words=listed)
    if is_part_of_interest(section.part, interest):
        return format_message("asked", lang, said=said)
    rank = format_message("nearest" if section.part.start == core[0] else "near_too", lang)
    return format_message("near", lang, rank=rank, said=said)


def _get_purpose_key(section: Reading) -> str:
    """What a section is there for that does not serve the interest itself."""
    if section.opening:
        return "open"
    if LIMITS_HEADING.search(section.part.heading):
        return "limits"
    return {"results": "results", "discussion": "discussion"}.get(section.part.role, "beside")


def _shorten_line(line: Line | None) -> str:
    """The beginning of a sentence, cut between words."""
    text = (line.text if line else "").rstrip(".。")
    if len(text) <= SAID:
        return text
    cut = text[:SAID]
    return (cut.rpartition(" ")[0] if " " in cut[SAID // 2 :] else cut).rstrip(" ,，、;；:：") + "…"


def _plan_overview(book: OpenPaper, sections: Sequence[Reading], lang: str) -> list[PlanStep]:
    """The paper in short: abstract, introduction, the method as a whole, the main results, limits
    or the end.
    """
    whole = [s for s in sections if not s.part.appendix] or list(sections)
    proper = [s for s in whole if s.part.role != "other"]
    chosen: list[Reading] = []
    for role in ("abstract", "introduction", "method", "results"):
        of_role = [s for s in proper if s.part.role == role]
        chosen += _find_main(of_role)
    closing = [s for s in proper if s.part.role == "discussion"]
    chosen += [s for s in closing if LIMITS_HEADING.search(s.part.heading)][:1]
    chosen += [s for s in closing[-1:] if s not in chosen]
    for spare in (proper, whole):  # a report or a chapter may have no part of a paper at all
        chosen += [s for s in spare if s not in chosen][: max(0, FEWEST - len(chosen))]
    ordered = sorted(chosen, key=lambda s: s.part.start)[:MOST]
    return [_build_step(book, s, _describe_section(s, lang), find_telling_line(s)) for s in ordered]


def _find_main(sections: Sequence[Reading]) -> list[Reading]:
    """Of the sections of one role the first that is not only a line or two, and one named as
    main.
    """
    named = next(
        (
            s
            for s in sections
            if any(w in s.part.heading.casefold() for w in ("main", "overall", "主要", "总体"))
        ),
        None,
    )
    long = next(
        (s for s in sections if len(s.lines) >= LONG and not _BEFORE.search(s.part.heading)), None
    )
    first = named or long or next(iter(sections), None)
    return [first] if first else []


def _describe_section(section: Reading, lang: str) -> str:
    role = section.part.role
    if role == "abstract":
        return format_message("open_general", lang)
    said = _shorten_line(find_telling_line(section))
    return format_message(
        f"general_{role}" if said and role != "front" else "general_unsaid", lang, said=said
    )


def _build_step(book: OpenPaper, section: Reading, why: str, quoted: Line | None) -> PlanStep:
    part = section.part
    return PlanStep(
        step_id=compute_step_id(part),
        section=part.heading or part.role,
        role=part.role,
        start=part.start,
        end=part.end,
        first_page=part.first_page,
        last_page=part.last_page,
        minutes=estimate_minutes(book, part),
        why=why,
        quote=quoted.quote if quoted else "",
    )
