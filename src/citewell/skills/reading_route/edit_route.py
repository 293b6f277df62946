"""Changes of a reading route by its reader, and the route as Markdown.

The one rule: pure functions. Each gives a new plan with the next revision and leaves the one it was
given as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import NotFound
from citewell.ingest.paper.shape import Part
from citewell.skills.guide.quotable import lines
from citewell.skills.guide.suggested_questions import bare
from citewell.skills.paper.reading_context import OpenPaper, Plan, PlanStep
from citewell.skills.reading_route.readable_sections import minutes, readable, step_id, telling
from citewell.skills.reading_route.route_wording import say


def tick(plan: Plan, step_id: str, done: bool, now: float) -> Plan:
    """Tick a step off, or take the tick back. One that is so already keeps its time. Raises
    NotFound.
    """
    at = _at(plan, step_id)
    step = plan.steps[at]
    done_at = (now if step.done_at is None else step.done_at) if done else None
    return _changed(
        plan,
        [*plan.steps[:at], step.model_copy(update={"done_at": done_at}), *plan.steps[at + 1 :]],
    )


def without(plan: Plan, step_id: str) -> Plan:
    """Take a step out. Raises NotFound."""
    at = _at(plan, step_id)
    return _changed(plan, [*plan.steps[:at], *plan.steps[at + 1 :]])


def moved(plan: Plan, step_id: str, place: int) -> Plan:
    """Put a step at `place`, counted from 1; beyond the ends is at the end. Raises NotFound."""
    at = _at(plan, step_id)
    rest = [*plan.steps[:at], *plan.steps[at + 1 :]]
    to = min(max(place, 1), len(plan.steps)) - 1
    return _changed(plan, [*rest[:to], plan.steps[at], *rest[to:]])


def with_section(plan: Plan, book: OpenPaper, section: str, *, why: str = "") -> Plan:
    """Put a section in, by heading (`Main Results`) or number (`4.1`), before the first step that
    stands behind it in the paper. One that is in already stays where it is. Raises NotFound with
    the sections that there are.
    """
    part = _section(book, section)
    if any(step.step_id == step_id(part) for step in plan.steps):
        return plan
    own = next(
        (
            reading
            for reading in readable(book, lines(book, parts=[part]))
            if reading.part.start == part.start
        ),
        None,
    )
    said = telling(own) if own else None
    step = PlanStep(
        step_id=step_id(part),
        section=part.heading or part.role,
        role=part.role,
        start=part.start,
        end=part.end,
        first_page=part.first_page,
        last_page=part.last_page,
        minutes=minutes(book, part),
        why=why or say("added", plan.lang),
        quote=said.quote if said else "",
    )
    to = next(
        (n for n, other in enumerate(plan.steps) if other.start > part.start), len(plan.steps)
    )
    return _changed(plan, [*plan.steps[:to], step, *plan.steps[to:]])


def route_markdown(plan: Plan) -> str:
    """The route with a box to tick before each step, in its language."""
    lang = plan.lang
    title = say("for", lang, interest=_flat(plan.interest)) if plan.interest else say("title", lang)
    left = (
        say("left", lang, minutes=_figure(plan.minutes)) if plan.minutes else say("all_done", lang)
    )
    steps = []
    for n, step in enumerate(plan.steps, 1):
        box = " " if step.done_at is None else "x"
        where = "，".join(_where(step, lang)) if lang == "zh" else ", ".join(_where(step, lang))
        bracketed = f"（{where}）" if lang == "zh" else f" ({where})"
        steps.append(f"- [{box}] {n}. **{_flat(step.section)}**{bracketed}  \n  {_flat(step.why)}")
        if step.quote and _flat(step.quote).rstrip(".。") not in _flat(step.why):
            steps.append(f"  > {_flat(step.quote)}")
    return "\n\n".join([f"# {title}", left, "\n".join(steps)]).rstrip() + "\n"


def _where(step: PlanStep, lang: str) -> Sequence[str]:
    one = step.last_page <= step.first_page
    pages = (
        say("page" if one else "pages", lang, first=step.first_page, last=step.last_page)
        if step.first_page
        else ""
    )
    return [part for part in (pages, say("minutes", lang, minutes=_figure(step.minutes))) if part]


def _figure(minutes: float) -> str:
    return f"{minutes:g}"


def _at(plan: Plan, step_id: str) -> int:
    for n, step in enumerate(plan.steps):
        if step.step_id == step_id:
            return n
    known = ", ".join(f"{step.step_id} ({step.section})" for step in plan.steps)
    raise NotFound(
        f"the route has no step {step_id!r}",
        hint=f"its steps: {known}" if known else "it has no steps",
    )


def _section(book: OpenPaper, wanted: str) -> Part:
    """By heading with or without number, or by number alone, letter case aside; else the one
    heading that holds the words.
    """
    parts = [
        part
        for part in book.paper.parts
        if part.heading and part.role not in ("front", "references")
    ]
    folded = " ".join(wanted.split()).casefold().rstrip(".")
    for names in (_whole, _bare, _number):
        for part in parts:
            if folded and folded == names(part):
                return part
    holding = [part for part in parts if folded and folded in part.heading.casefold()]
    if len(holding) == 1:
        return holding[0]
    known = "; ".join(part.heading for part in holding or parts)
    raise NotFound(f"no section {wanted!r} in this paper", hint=f"name one of: {known}")


def _whole(part: Part) -> str:
    return " ".join(part.heading.split()).casefold()


def _bare(part: Part) -> str:
    return " ".join(bare(part.heading).split()).casefold()


def _number(part: Part) -> str:
    rest = bare(part.heading)
    return part.heading.removesuffix(rest).strip(" .、").casefold()


def _changed(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    return plan.model_copy(update={"steps": list(steps), "revision": plan.revision + 1})


def _flat(text: str) -> str:
    """One line; what the paper or the reader says must not become a tag."""
    return " ".join(text.split()).replace("<", "&lt;")
