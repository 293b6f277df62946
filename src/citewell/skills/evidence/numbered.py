"""Evidence as numbered sentences: the one form in which models read it, answers name it, and judges
check against it.

A sentence or table row has the id `passage.sentence` ("2.3"), the same in every prompt of a
question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from citewell.skills.evidence.passages import Passage
from citewell.text.line_breaks import join_wrapped_lines

_ID = re.compile(r"\d+\.\d+")
_NAMED = re.compile(r"\s*[\[【]\s*(\d+\.\d+(?:\s*[,;，；、–-]\s*\d+\.\d+)*)\s*[\]】]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or table row of a passage: `text` is the document's text from `start` to `end`."""

    id: str
    passage: Passage
    start: int
    end: int
    shown: str = ""  # to a model, instead of the text

    @property
    def text(self) -> str:
        """Verbatim."""
        hit = self.passage.hit
        return hit.text[self.start - hit.start : self.end - hit.start]


def number_sentences(passages: Sequence[Passage]) -> list[Unit]:
    """Every sentence of the passages with its id, in order."""
    return [
        Unit(f"{passage.n}.{k}", passage, start, end, shown)
        for passage in passages
        for k, ((start, end), shown) in enumerate(
            zip(passage.spans, passage.shown or repeat(""), strict=False), start=1
        )
    ]


def join_units(units: Sequence[Unit]) -> Unit:
    """Neighbours of one passage as one, under the first one's id."""
    return replace(units[0], end=units[-1].end)


def show_sentences(units: Sequence[Unit]) -> str:
    """The numbered sentences as a model reads them, each passage under its title and headings."""
    lines: list[str] = []
    shown = None
    for unit in units:
        if unit.passage is not shown:
            shown = unit.passage
            lines.append(f"\n# {shown.heading}")
        lines.append(f"[{unit.id}] {unit.shown or join_wrapped_lines(unit.text)}")
    return "\n".join(lines).strip()


def pick_units(ids: Iterable[str], units: Sequence[Unit]) -> list[Unit]:
    """The sentences of these ids, in evidence order; brackets and unknown ids are ignored."""
    wanted = {found for each in ids for found in _ID.findall(each)}
    return [unit for unit in units if unit.id in wanted]


def strip_ids(text: str, units: Sequence[Unit]) -> str:
    """The text without ids in square brackets, which a model has copied from its prompt; other
    figures in brackets stay.
    """
    known = {unit.id for unit in units}
    return _NAMED.sub(
        lambda found: "" if known.issuperset(_ID.findall(found[1])) else found[0], text
    ).strip()


def normalize_ids(value: object) -> object:
    """Ids as a model writes them, as texts: numbers, or all of them in one text, or none."""
    if isinstance(value, str | int | float):
        value = _ID.findall(str(value))
    return (
        [str(each) for each in value]
        if isinstance(value, list)
        else value
        if value is not None
        else []
    )
