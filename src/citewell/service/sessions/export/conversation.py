"""What every kind of file is written from: titles, blocks of words, footnotes. Words of people,
documents and models stay words: no writer reads them as its own markup; and the same conversation
gives the same file, whenever it is exported.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from citewell import __version__
from citewell.messages import Text, translate
from citewell.runtime.app import App
from citewell.service.sessions.exchanges import Exchange, read_exchanges
from citewell.service.sessions.export.blocks import Block, parse_blocks
from citewell.service.sessions.sessions import get_own_session
from citewell.sql.cell_text import format_plain_number
from citewell.store.session_rows import SessionInfo
from citewell.text.language import detect_language
from citewell.types import Answer, Citation

MOST_ROWS = 50  # of a table in a conversation; all of them are a CSV file's to hold
# control characters, marks that turn the reading direction, halves of characters
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

_ADDRESS = re.compile(r"https?://[^\s<>\x00-\x20\x7f]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """`blocks`: the answer, its footnotes numbered as in the conversation's `notes`. `remarks`:
    what its reader has to know. `table`: its rows, the headings first.
    """

    question: str
    asked: str
    blocks: list[Block]
    remarks: list[str]
    table: list[list[str]]
    sql: str


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote. `address`: of a page of the web, else empty."""

    place: str
    address: str
    quote: str

    @property
    def words(self) -> str:
        """All of it as plain text."""
        return f"{self.place}{f' <{self.address}>' if self.address else ''}: “{self.quote}”"


@dataclass(frozen=True, slots=True)
class Conversation:
    title: str
    lang: str
    turns: list[Turn]
    notes: list[Note]
    made: str


async def read_conversation(app: App, session_id: str, user_id: str) -> Conversation:
    """Raises NotFound."""
    info = await get_own_session(app, session_id, user_id)
    return build_conversation(info, await read_exchanges(app, info))


def build_conversation(info: SessionInfo, exchanges: Sequence[Exchange]) -> Conversation:
    """Its few words around are in the language of most of it."""
    lang = detect_language(" ".join(f"{each.question} {each.said}" for each in exchanges))
    notes: list[Note] = []
    turns = [_build_turn(each, notes, lang) for each in exchanges]
    at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(info.last_updated))
    made = Text("Exported from Citewell {version}; last changed {at}.", version=__version__, at=at)
    title = clean_text(info.title) or translate(Text("Conversation"), lang)
    return Conversation(title, lang, turns, notes, translate(made, lang))


def clean_text(text: str) -> str:
    """Without what no file may hold, on one line."""
    return " ".join(_CONTROLS.sub("", text).split())


def _build_turn(exchange: Exchange, notes: list[Note], lang: str) -> Turn:
    answer, numbers = exchange.answer, dict[int, int]()
    for citation in answer.citations if answer else ():
        numbers[citation.n] = len(notes)
        notes.append(_build_note(citation, lang))
    text = _CONTROLS.sub("", answer.answer if answer else exchange.said).strip()
    asked = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(exchange.at)) if exchange.at else ""
    return Turn(
        question=clean_text(exchange.question),
        asked=asked,
        blocks=parse_blocks(text, numbers),
        remarks=_list_remarks(answer, lang),
        table=_format_table(answer, lang),
        sql=_CONTROLS.sub("", str((answer.data or {}).get("sql") or "")) if answer else "",
    )


def _list_remarks(answer: Answer | None, lang: str) -> list[str]:
    """What a reader has to know of an answer that is not wholly proved."""
    if answer is None:
        return [translate(Text("The sources of this answer are no longer kept."), lang)]
    doubtful = [
        Text("Only partly proved: “{sentence}”", sentence=clean_text(each.text))
        if each.verdict == "partly"
        else Text("Not proved: “{sentence}”", sentence=clean_text(each.text))
        for each in answer.sentences
        if each.verdict != "supported"
    ]
    if answer.status == "fallback":
        doubtful.insert(0, Text("This answer is not certain."))
    return [translate(each, lang) for each in doubtful]


def _format_table(answer: Answer | None, lang: str) -> list[list[str]]:
    """The heading's row first; empty where the answer has no rows."""
    data = (answer.data if answer else None) or {}
    columns, rows = data.get("columns") or [], data.get("rows") or []
    if not columns or not rows:
        return []
    table = [[clean_text(str(each)) for each in columns]]
    table += [[clean_text(_format_cell(value)) for value in row] for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        more = Text("… and {left} more rows", left=len(rows) - MOST_ROWS)
        table.append([translate(more, lang), *[""] * (len(columns) - 1)])
    return table


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    return format_plain_number(value) if isinstance(value, int | float) else str(value)


def _build_note(citation: Citation, lang: str) -> Note:
    """Title, page and heading, the address of a web page, and the quote."""
    title = clean_text(citation.title or citation.uri)
    page = translate(Text("p. {page}", page=citation.page), lang) if citation.page else ""
    headings = [each for each in citation.section.split(" › ") if each not in {"", title}]
    place = " · ".join(filter(None, [title, page, clean_text(headings[-1]) if headings else ""]))
    address = citation.uri if _ADDRESS.fullmatch(citation.uri) else ""
    return Note(place, address, clean_text(citation.quote))
