"""What differs between two traces of one question: in their steps, aligned by the names of the
nodes, and in their answers. Time is no difference. Rows, statements and texts are compared exactly;
only how sure something was may move a little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from citewell.types import Answer, Shown, Step, Trace

# How sure something was, under the names that steps note it by. A trace keeps a grade of the model
# to 3 places, a step notes it to 2: a recorded replay may round the same grade to the next
# hundredth.
SURE = frozenset({"confidence", "log_odds", "probability", "similarity"})
CLOSE = 0.011
ROWS = "rows["  # a table's, in an answer
EMPTY: tuple[object, ...] = (None, "", [], {})
MOST = 12  # differences shown of one step
LONGEST = 200  # characters of a value shown
# what is not the same twice: names of the run itself, seconds, whether a page came from the web or
# from what is kept; and what a run remembered, which a replay does not
PASSING = frozenset(
    {"trace_id", "session_id", "seconds", "how", "fetched_at", "dated", "score", "remembered"}
)


class Difference(Shown):
    """`where`: a numbered step, or `answer`; `what`: what differs. None: it was not there."""

    where: str
    what: str
    before: Any = None
    now: Any = None


def find_differences(before: Trace, now: Trace) -> list[Difference]:
    """All that differs, in the order of the steps; the answer comes last."""
    return [*_compare_steps(before.steps, now.steps), *_compare_answers(before.answer, now.answer)]


def _compare_steps(before: Sequence[Step], now: Sequence[Step]) -> Iterator[Difference]:
    names = [step.node for step in before], [step.node for step in now]
    for kind, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal":
            for old, new in zip(before[a:b], now[c:d], strict=True):
                yield from _compare_step(old, new)
            continue
        for step in before[a:b]:
            yield Difference(where=_format_step_name(step), what="step", before=step.action)
        for step in now[c:d]:
            yield Difference(where=_format_step_name(step), what="step", now=step.action)


def _compare_step(old: Step, new: Step) -> Iterator[Difference]:
    if old.action != new.action:
        yield Difference(
            where=_format_step_name(old), what="action", before=old.action, now=new.action
        )
    found = list(_compare_values("", old.detail, new.detail))
    for what, before, now in found[:MOST]:
        yield Difference(
            where=_format_step_name(old),
            what=what,
            before=_shorten_value(before),
            now=_shorten_value(now),
        )
    if len(found) > MOST:
        yield Difference(
            where=_format_step_name(old), what=f"{len(found) - MOST} more figures and texts"
        )


def _compare_answers(before: Answer, now: Answer) -> Iterator[Difference]:
    for what in ("status", "stop_reason", "route", "answer"):
        if getattr(before, what) != getattr(now, what):
            yield Difference(
                where="answer",
                what=what,
                before=_shorten_value(getattr(before, what)),
                now=_shorten_value(getattr(now, what)),
            )
    if not _is_same_value("confidence", before.confidence, now.confidence):
        yield Difference(
            where="answer", what="confidence", before=before.confidence, now=now.confidence
        )
    for what in ("source", "sql", "columns", "rows", "row_count", "truncated", "chart"):
        old, new = (before.data or {}).get(what), (now.data or {}).get(what)
        for name, one, other in _compare_values(what, old, new):
            yield Difference(
                where="answer", what=name, before=_shorten_value(one), now=_shorten_value(other)
            )
    cited = [{(c.doc_id, c.quote): c for c in answer.citations} for answer in (before, now)]
    for key in [key for key in cited[0] if key not in cited[1]]:
        yield Difference(
            where="answer",
            what="citation",
            before=_shorten_value(f"{cited[0][key].title}: {key[1]}"),
        )
    for key in [key for key in cited[1] if key not in cited[0]]:
        yield Difference(
            where="answer", what="citation", now=_shorten_value(f"{cited[1][key].title}: {key[1]}")
        )
    followed = [sorted(each.item_id for each in answer.followed) for answer in (before, now)]
    if followed[0] != followed[1]:
        yield Difference(where="answer", what="followed", before=followed[0], now=followed[1])


def _compare_values(name: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost things that differ, each with its path: `evidence[0].text`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key not in PASSING:
                yield from _compare_values(
                    f"{name}.{key}".removeprefix("."), old.get(key), new.get(key)
                )
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        for n in range(max(len(old), len(new))):
            one, other = (old[n] if n < len(old) else None), (new[n] if n < len(new) else None)
            yield from _compare_values(f"{name}[{n}]", one, other)
    elif not _is_same_value(name, old, new):
        yield name, old, new


def _is_same_value(name: str, old: Any, new: Any) -> bool:
    """An empty value is as good as none, but in a row: there an empty text is another value."""
    if name.rpartition(".")[2] in SURE and _is_number(old) and _is_number(new):
        return bool(abs(old - new) <= CLOSE)
    if isinstance(old, bool) is not isinstance(new, bool):
        return False
    return bool(old == new) or (not name.startswith(ROWS) and old in EMPTY and new in EMPTY)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _format_step_name(step: Step) -> str:
    return f"{step.n} {step.node}"


def _shorten_value(value: Any) -> Any:
    """A value as it is shown; long ones are cut."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + "…"
    if isinstance(value, dict | list | tuple):
        text = str(value)
        return value if len(text) <= LONGEST else text[:LONGEST] + "…"
    return value
