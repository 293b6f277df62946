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
from citewell.text.markup import flatten_text


def tick_step(plan: Plan, step_id: str, done: bool, now: float) -> Plan:
    """Tick a step off, or take the tick back; a tick keeps its time. Raises NotFound."""
    at = _find_step(plan, step_id)
    step = plan.steps[at]
    done_at = (now if step.done_at is None else step.done_at) if done else None
    step = step.model_copy(update={"done_at": done_at})
    return _replace_steps(plan, [*plan.steps[:at], step, *plan.steps[at + 1 :]])


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
    own = find_readable_sections(book, find_quotable_lines(book, parts=[part]))
    said = find_telling_line(own[0]) if own else None
    step = build_step(book, part, why or format_message("added", plan.lang), said)
    behind = [n for n, other in enumerate(plan.steps) if other.start > part.start]
    to = min(behind, default=len(plan.steps))
    return _replace_steps(plan, [*plan.steps[:to], step, *plan.steps[to:]])


def render_route(plan: Plan) -> str:
    """The route with a box to tick before each step, in its language."""
    lang, interest = plan.lang, flatten_text(plan.interest)
    title = format_message("for" if interest else "title", lang, interest=interest)
    left = format_message("left" if plan.minutes else "all_done", lang, minutes=f"{plan.minutes:g}")
    steps = []
    for n, step in enumerate(plan.steps, 1):
        box = " " if step.done_at is None else "x"
        section, why, quote = map(flatten_text, (step.section, step.why, step.quote))
        where = _describe_step(step, lang)
        bracketed = f"（{where}）" if lang == "zh" else f" ({where})"
        steps.append(f"- [{box}] {n}. **{section}**{bracketed}  \n  {why}")
        if quote and quote.rstrip(".。") not in why:
            steps.append(f"  > {quote}")
    return "\n\n".join([f"# {title}", left, "\n".join(steps)]).rstrip() + "\n"


def _describe_step(step: PlanStep, lang: str) -> str:
    """Its pages, where there are any, and its minutes."""
    shown = [format_message("minutes", lang, minutes=f"{step.minutes:g}")]
    if step.first_page:
        key = "page" if step.last_page <= step.first_page else "pages"
        shown.insert(0, format_message(key, lang, first=step.first_page, last=step.last_page))
    return ("，" if lang == "zh" else ", ").join(shown)


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
    names = [_list_names(part) for part in parts]
    for called in zip(*names, strict=True):
        if folded and folded in called:
            return parts[called.index(folded)]
    holding = [part for part in parts if folded and folded in part.heading.casefold()]
    if len(holding) == 1:
        return holding[0]
    known = "; ".join(part.heading for part in holding or parts)
    raise NotFound(
        Text("no section {wanted!r} in this paper", wanted=wanted),
        hint=Text("name one of: {known}", known=known),
    )


def _list_names(part: Part) -> tuple[str, ...]:
    """Its heading, that without its number, and the number."""
    rest = strip_heading_number(part.heading)
    names = part.heading, rest, part.heading.removesuffix(rest).strip(" .、")
    return tuple(" ".join(name.split()).casefold() for name in names)


def _replace_steps(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    return plan.model_copy(update={"steps": list(steps), "revision": plan.revision + 1})
