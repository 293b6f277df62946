"""Changes of a reading route by its reader, and the route as Markdown. Pure functions. Each gives a
new plan with the next revision and leaves the one it was given as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import NotFound
from citewell.ingest.paper.shape import Part
from citewell.messages import Text
from citewell.skills.guide.question_source import strip_heading_number
from citewell.skills.guide.quotable import find_quotable_lines
from citewell.skills.paper.reading_context import OpenPaper, Plan, PlanStep
from citewell.skills.reading_route.plan_route import build_step
from citewell.skills.reading_route.readable_sections import (
    compute_step_id,
    find_readable_sections,
    find_telling_line,
)
from citewell.skills.reading_route.route_wording import format_message


def tick_step(plan: Plan, step_id: str, done: bool, now: float) -> Plan:
    """Tick a step off, or take the tick back; a tick keeps its time. Raises NotFound."""
    at = _find_step(plan, step_id)
    step = plan.steps[at]
    done_at = (now if step.done_at is None else step.done_at) if done else None
    return _replace_steps(
        plan,
        [*plan.steps[:at], step.model_copy(update={"done_at": done_at}), *plan.steps[at + 1 :]],
    )


def remove_step(plan: Plan, step_id: str) -> Plan:
    """Take a step out. Raises NotFound."""
    at = _find_step(plan, step_id)
    return _replace_steps(plan, [*plan.steps[:at], *plan.steps[at + 1 :]])


def move_step(plan: Plan, step_id: str, place: int) -> Plan:
    """Put a step at `place`, counted from 1; beyond the ends is at the end. Raises NotFound."""
    at = _find_step(plan, step_id)
    rest = [*plan.steps[:at], *plan.steps[at + 1 :]]
    to = min(max(place, 1), len(plan.steps)) - 1
    return _replace_steps(plan, [*rest[:to], plan.steps[at], *rest[to:]])


def add_section(plan: Plan, book: OpenPaper, section: str, *, why: str = "") -> Plan:
    """Put a section in, by heading (`Main Results`) or number (`4.1`), before the first step that
    stands behind it in the paper. One that is in already stays where it is. Raises NotFound with
    the sections that there are.
    """
    part = _find_section(book, section)
    if any(step.step_id == compute_step_id(part) for step in plan.steps):
        return plan
    own = next(
        (
            reading
            for reading in find_readable_sections(book, find_quotable_lines(book, parts=[part]))
            if reading.part.start == part.start
        ),
        None,
    )
    said = find_telling_line(own) if own else None
    step = build_step(book, part, why or format_message("added", plan.lang), said)
    to = next(
        (n for n, other in enumerate(plan.steps) if other.start > part.start), len(plan.steps)
    )
    return _replace_steps(plan, [*plan.steps[:to], step, *plan.steps[to:]])


def render_route(plan: Plan) -> str:
    """The route with a box to tick before each step, in its language."""
    lang = plan.lang
    title = (
        format_message("for", lang, interest=_flatten_text(plan.interest))
        if plan.interest
        else format_message("title", lang)
    )
    left = (
        format_message("left", lang, minutes=_format_minutes(plan.minutes))
        if plan.minutes
        else format_message("all_done", lang)
    )
    steps = []
    for n, step in enumerate(plan.steps, 1):
        box = " " if step.done_at is None else "x"
        where = (
            "，".join(_describe_step(step, lang))
            if lang == "zh"
            else ", ".join(_describe_step(step, lang))
        )
        bracketed = f"（{where}）" if lang == "zh" else f" ({where})"
        steps.append(
            f"- [{box}] {n}. **{_flatten_text(step.section)}**{bracketed}  \n "
            f" {_flatten_text(step.why)}"
        )
        if step.quote and _flatten_text(step.quote).rstrip(".。") not in _flatten_text(step.why):
            steps.append(f"  > {_flatten_text(step.quote)}")
    return "\n\n".join([f"# {title}", left, "\n".join(steps)]).rstrip() + "\n"


def _describe_step(step: PlanStep, lang: str) -> Sequence[str]:
    one = step.last_page <= step.first_page
    pages = (
        format_message("page" if one else "pages", lang, first=step.first_page, last=step.last_page)
        if step.first_page
        else ""
    )
    return [
        part
        for part in (pages, format_message("minutes", lang, minutes=_format_minutes(step.minutes)))
        if part
    ]


def _format_minutes(minutes: float) -> str:
    return f"{minutes:g}"


def _find_step(plan: Plan, step_id: str) -> int:
    for n, step in enumerate(plan.steps):
        if step.step_id == step_id:
            return n
    known = Text(", ").join(
        Text("{step_id} ({section})", step_id=step.step_id, section=step.section)
        for step in plan.steps
    )
    raise NotFound(
        Text("the route has no step {step_id!r}", step_id=step_id),
        hint=Text("its steps: {known}", known=known) if known else Text("it has no steps"),
    )


def _find_section(book: OpenPaper, wanted: str) -> Part:
    """By heading or number, case aside; else the one heading that holds the words."""
    parts = [
        part
        for part in book.paper.parts
        if part.heading and part.role not in ("front", "references")
    ]
    folded = " ".join(wanted.split()).casefold().rstrip(".")
    for names in (_fold_heading, _fold_bare_heading, _get_heading_number):
        for part in parts:
            if folded and folded == names(part):
                return part
    holding = [part for part in parts if folded and folded in part.heading.casefold()]
    if len(holding) == 1:
        return holding[0]
    known = "; ".join(part.heading for part in holding or parts)
    raise NotFound(
        Text("no section {wanted!r} in this paper", wanted=wanted),
        hint=Text("name one of: {known}", known=known),
    )


def _fold_heading(part: Part) -> str:
    return " ".join(part.heading.split()).casefold()


def _fold_bare_heading(part: Part) -> str:
    return " ".join(strip_heading_number(part.heading).split()).casefold()


def _get_heading_number(part: Part) -> str:
    rest = strip_heading_number(part.heading)
    return part.heading.removesuffix(rest).strip(" .、").casefold()


def _replace_steps(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    return plan.model_copy(update={"steps": list(steps), "revision": plan.revision + 1})


def _flatten_text(text: str) -> str:
    """One line; what the paper or the reader says must not become a tag."""
    return " ".join(text.split()).replace("<", "&lt;")
