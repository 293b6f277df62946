"""Sentences about rows, worded by a model and held against the rows.

The one rule: a figure or a name that stands neither in the rows nor in the question is not said; our own sentence is kept then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.knowledge.words import STOP_EN
from citewell.models.base import LLM
from citewell.models.prompt import fill, load
from citewell.retrieve.engines.base import Rows
from citewell.skills.cell_text import cell, lines, plain_number
from citewell.skills.column_label import labels
from citewell.skills.facts import facts

_BEGINS = re.compile(r"(?:^|[.!?:;]\s+)[\"“‘(]*([A-Z][a-z]+)")
_OPENERS = frozenset({"altogether", "both", "here", "no", "only", "overall", "there", "together", "total", "yes"})
SHOWN = 20  # rows that the model sees
SHOULD_HOLD = 3  # of the first rows, each must be seen in the wording: a reply to something else holds none of them
LONGEST = 400  # characters


async def reword(question: str, rows: Rows, own: str, lang: str, llm: LLM) -> str:
    """The model's sentence, or empty where it does not stand. Raises what the model raises."""
    template = load(f"skills/prompts/tell_rows.{'zh' if lang == 'zh' else 'en'}.md")
    table = "\n".join(lines(rows, SHOWN))
    reply = await llm.chat(fill(template, question=question, rows=table, said=own), max_tokens=160)
    text = " ".join(reply.text.split()).strip()
    return text if reply.finished and holds(text, question, rows, lang) else ""


def holds(text: str, question: str, rows: Rows, lang: str) -> bool:
    """Whether all figures and names of `text` are those of the rows, and the first rows are told."""
    if not text or len(text) > LONGEST or not rows.rows:
        return False
    known = labels(rows, lang)
    told = [[cell(v, label, lang) for v, label in zip(row, known, strict=True)] for row in rows.rows[:SHOWN]]
    allowed = "\n".join([question, *lines(rows, SHOWN), *(" ; ".join(row) for row in told), " ".join(k.words for k in known)])
    there, said = facts(allowed), facts(text)
    figures = there.numbers | there.dates | {str(len(rows.rows))}
    if any(not _is_among(number, figures) for number in said.numbers | said.dates):
        return False
    if any(name not in allowed.casefold() for name in said.names | _first_words(text)):
        return False
    return all(_seen(row, rows.rows[at], text) for at, row in enumerate(told[:SHOULD_HOLD]))


def _first_words(text: str) -> set[str]:
    """Words that begin a sentence, where its capital may be that of a name."""
    words = {found[1].casefold() for found in _BEGINS.finditer(text)}
    return {word for word in words if word not in STOP_EN and word not in _OPENERS}


def _is_among(number: str, figures: set[str] | frozenset[str]) -> bool:
    """The same figure, or one that it is rounded from."""
    if number in figures:
        return True
    bare, mark = number.rstrip("%"), number.endswith("%")
    if "." not in bare:
        return bare in {figure.rstrip("%") for figure in figures} if mark else False
    half = 0.5 * 10 ** -len(bare.partition(".")[2])
    for figure in figures:
        try:
            if abs(float(figure.rstrip("%")) - float(bare)) <= half * 1.0001:
                return True
        except ValueError:
            continue
    return False


def _seen(shown: Sequence[str], raw: Sequence[object], text: str) -> bool:
    folded = text.casefold()
    values = [*shown, *(plain_number(v) if isinstance(v, int | float) else str(v) for v in raw if v is not None)]
    return any(value.casefold() in folded for value in values if value)
