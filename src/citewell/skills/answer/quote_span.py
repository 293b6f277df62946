"""The sentences that are quoted for the answering words of a passage: whole, and with the list that
they introduce.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from citewell.models.reader_base import Reading
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.evidence.numbered import Unit, join_units, number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.text.line_breaks import LIST_ITEM, join_wrapped_lines
from citewell.text.table_rows import is_row

LONGEST_SENTENCE = 120  # characters of a Chinese sentence of which all clauses are quoted


def quote_span(passage: Passage, reading: Reading) -> Draft:
    """The sentences that the span touches; the nearest where it touches none to quote."""
    start, end = passage.hit.start + reading.start, passage.hit.start + reading.end
    units = number_sentences([passage])
    touched = [n for n, unit in enumerate(units) if unit.start < end and start < unit.end]
    touched = touched or [
        min(
            range(len(units)),
            key=lambda n: min(abs(units[n].start - start), abs(units[n].end - start)),
        )
    ]
    first, last = _complete_list(units, *_complete_sentence(units, touched[0], touched[-1]))
    quoted: list[list[Unit]] = []
    for unit in units[first : last + 1]:
        if quoted and _goes_on(quoted[-1][-1], unit):
            quoted[-1].append(unit)
        else:
            quoted.append([unit])
    quoted += _collect_list(units[last:])
    return Draft(status="answered", sentences=[quote_units(each, start, end) for each in quoted])


def _complete_sentence(units: Sequence[Unit], first: int, last: int) -> tuple[int, int]:
    """The first and last of these units and of the other clauses of their sentence, where Chinese
    semicolons part it: one of them says little of what holds for whom.
    """
    start, end = first, last
    while start and _goes_on(units[start - 1], units[start]):
        start -= 1
    while end + 1 < len(units) and _goes_on(units[end], units[end + 1]):
        end += 1
    short = units[end].end - units[start].start <= LONGEST_SENTENCE
    return (start, end) if short else (first, last)


def _complete_list(units: Sequence[Unit], first: int, last: int) -> tuple[int, int]:
    """The first and last item of the list of which these units are several: some of its steps say
    less than none.
    """
    if first == last or not (_is_item(units[first]) and _is_item(units[last])):
        return first, last
    while first and _is_item(units[first - 1]):
        first -= 1
    while last + 1 < len(units) and _is_item(units[last + 1]):
        last += 1
    return first, last


def _is_item(unit: Unit) -> bool:
    return bool(LIST_ITEM.match(unit.text))


def _goes_on(clause: Unit, later: Unit) -> bool:
    return clause.text.endswith("；") and clause.end == later.start


def _collect_list(units: Sequence[Unit]) -> list[list[Unit]]:
    """The items or rows behind the first unit, each with its further sentences, where it ends with
    a colon: it says what they are, and nothing without them.
    """
    items: list[list[Unit]] = []
    if not units[0].text.endswith((":", "：")):
        return items
    for before, unit in pairwise(units):
        if _is_item(unit) or is_row(unit.text):
            items.append([unit])
        elif items and "\n" not in _read_between(before, unit):
            items[-1].append(unit)
        else:
            break
    return items


def _read_between(one: Unit, later: Unit) -> str:
    hit = one.passage.hit
    return hit.text[one.end - hit.start : later.start - hit.start]


def quote_units(clauses: Sequence[Unit], start: int, end: int) -> DraftSentence:
    """Neighbours as one sentence, its wrapped lines joined. What of it lies from `start` to `end`
    of the document is marked as answering.
    """
    whole = join_units(clauses)
    inside = max(whole.start, start) - whole.start, min(whole.end, end) - whole.start
    span = []
    if inside[0] < inside[1]:
        stop = len(join_wrapped_lines(whole.text[: inside[1]]))
        span = [stop - len(join_wrapped_lines(whole.text[slice(*inside)])), stop]
    text = join_wrapped_lines(whole.text)
    return DraftSentence(text=text, evidence=[unit.id for unit in clauses], span=span)
