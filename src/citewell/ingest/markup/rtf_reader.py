"""The walk through an RTF file: which characters it shows, in which paragraphs and cells, with
which styles. What a group sets ends with the group; a destination that is not known to be shown is
not shown.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.ingest.markup.rtf_parts import (
    HIDDEN,
    INFO,
    MARKS,
    SHOWN,
    SIGNS,
    Cell,
    Paragraph,
    State,
    Writer,
)
from citewell.ingest.markup.rtf_tokens import (
    CODE_PAGES,
    Token,
    decode_bytes,
    get_code_page,
    iterate_tokens,
)
from citewell.ingest.office.package import parse_timestamp
from citewell.ingest.office.word_paragraph import format_note_mark


class Reader:
    """Reads one file into `writer`. `styles`: names and levels of styles, known beforehand."""

    def __init__(self, writer: Writer) -> None:
        self.styles: dict[int, tuple[str, int | None]] = {}
        self.title = ""
        self.dated: float | None = None
        self._writer = writer
        self._stack: list[State] = []
        self._state = State()
        self._how = Paragraph()
        self._texts: dict[str, list[str]] = {}  # by where text goes: what has come so far
        self._bytes = bytearray()  # of text, not decoded yet
        self._page = "cp1252"
        self._charsets: dict[int, str] = {}
        self._drop = 0  # bytes to step over behind a Unicode character
        self._starred = False
        self._notes: list[str] = []
        self._shown_notes = 0
        self._style: int = 0
        self._level: int | None = None
        self._cells: list[Cell] = []
        self._merged = self._header = False
        self._date: dict[str, int] = {}

    def read(self, data: bytes) -> None:
        for token in iterate_tokens(data):
            if token.kind == "text":
                self._handle_text(token)
            elif token.kind == "{":
                self._flush_bytes()
                self._stack.append(replace(self._state))
                self._drop = 0
            elif token.kind == "}":
                self._close_group()
            elif token.kind == "sign":
                self._handle_sign(token.data)
            else:
                self._handle_word(token.data, token.number)
        self._flush_bytes()
        if "".join(self._texts.get("body", [])).strip():
            self._end_paragraph()

    def _close_group(self) -> None:
        """A group ends: what it collected is put where it belongs, and what it set is forgotten."""
        self._flush_bytes()
        inner, self._state = self._state, self._stack.pop() if self._stack else State()
        self._drop = 0
        if inner.into == "styles" and self._state.into == "styles":
            self.styles[self._style] = (self._take_text("styles").strip(" ;\n"), self._level)
            self._style, self._level = 0, None
        elif inner.into == "note" and self._state.into != "note":
            text = " ".join(self._take_text("note").split())
            self._shown_notes += 1
            self._notes.append(f"{format_note_mark(self._shown_notes)} {text}")
            self._put_text(format_note_mark(self._shown_notes))
        elif inner.into == "title" and self._state.into != "title":
            self.title = " ".join(self._take_text("title").split())
        elif (
            inner.into in {"creatim", "revtim"}
            and self._date.get("yr")
            and (inner.into == "revtim" or not self.dated)
        ):
            date = {"mo": 1, "dy": 1} | self._date
            self.dated = parse_timestamp(f"{date['yr']:04}-{date['mo']:02}-{date['dy']:02}")

    # ------------------------------------------------------------ characters

    def _handle_text(self, token: Token) -> None:
        data = token.data
        if self._drop:
            dropped = min(self._drop, len(data))
            self._drop -= dropped
            data = data[dropped:]
        if self._state.into and not self._state.hidden:
            self._bytes += data

    def _flush_bytes(self) -> None:
        """Decode the bytes that have come, by the font's character set or the file's code page."""
        if self._bytes:
            page = (
                self._charsets.get(self._state.font, self._page)
                if self._state.into != "fonts"
                else self._page
            )
            self._put_text(decode_bytes(bytes(self._bytes), page))
            self._bytes.clear()

    def _put_text(self, text: str) -> None:
        if self._state.into and not self._state.hidden:
            self._texts.setdefault(self._state.into, []).append(text)

    def _take_text(self, into: str) -> str:
        return "".join(self._texts.pop(into, []))

    def _put_unicode(self, number: int) -> None:
        self._flush_bytes()
        number &= 0xFFFF
        written = self._texts.get(self._state.into, [])
        if 0xDC00 <= number < 0xE000 and written and "\ud800" <= written[-1] < "\udc00":
            number = 0x10000 + ((ord(written.pop()) - 0xD800) << 10) + number - 0xDC00
        self._put_text(chr(number))
        self._drop = self._state.skip

    def _handle_sign(self, sign: bytes) -> None:
        self._flush_bytes()
        if sign == b"*":
            self._starred = True
        elif sign in b"\\{}":
            self._put_text(sign.decode())
        elif sign in b"\r\n":
            self._end_paragraph()
        else:
            self._put_text(MARKS.get(sign, ""))

    # ------------------------------------------------------------ control words

    def _handle_word(self, word: bytes, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if word == b"u" and number is not None:
            self._put_unicode(number)
            return
        self._flush_bytes()
        self._drop = 0
        if self._open_destination(word, starred) or self._apply_setting(word, number):
            return
        if word in SIGNS:
            self._put_text(SIGNS[word])
        elif word in {b"par", b"sect"}:
            self._end_paragraph()
        elif self._state.into == "styles":
            self._define_style(word, number)
        elif self._state.into == "body":
            self._handle_structure(word)
            self._set_paragraph(word, number)
            self._define_row(word, number)

    def _open_destination(self, word: bytes, starred: bool) -> bool:
        """Whether `word` opens a destination; if so, where its text goes is set."""
        state = self._state
        if word in {b"fonttbl", b"stylesheet", b"footnote"}:
            state.into = (
                {b"fonttbl": "fonts", b"stylesheet": "styles", b"footnote": "note"}[word]
                if state.into
                else ""
            )
            if state.into == "note":
                self._texts.pop("note", None)
            return True
        if word == b"info":
            state.into = "info"
        elif word in INFO and state.into == "info":
            state.into, self._date = word.decode(), {}
        elif word == b"shptxt":
            state.into = "body"
            self._put_text("\n" if self._texts.get("body") else "")
        elif word == b"ud":
            # what the group around both goes into
            state.into = self._stack[-2].into if len(self._stack) > 1 else "body"
        elif word in HIDDEN or (starred and word not in SHOWN) or word == b"upr":
            state.into = ""
        else:
            return starred and word in SHOWN
        return True

    def _apply_setting(self, word: bytes, number: int | None) -> bool:
        """Whether `word` only changes how what follows is read."""
        state = self._state
        if word == b"f" and number is not None:
            state.font = number
        elif word == b"fcharset" and state.into == "fonts":
            page = CODE_PAGES.get(number or 0)
            if page:
                self._charsets[state.font] = page
        elif word == b"uc":
            state.skip = max(0, number if number is not None else 1)
        elif word == b"ansicpg":
            self._page = get_code_page(number)
        elif word == b"plain":
            state.hidden = False
        elif word in {b"v", b"deleted"}:
            state.hidden = number != 0
        elif word in {b"yr", b"mo", b"dy", b"hr", b"min"}:
            self._date[word.decode()] = number or 0
        else:
            return False
        return True

    def _handle_structure(self, word: bytes) -> None:
        if word == b"cell":
            self._writer.add_cell(self._take_text("body"), self._take_notes())
        elif word == b"row":
            self._writer.row(list(self._cells), header=self._header)

    def _define_style(self, word: bytes, number: int | None) -> None:
        if word == b"s":
            self._style, self._level = number or 0, None
        elif word == b"outlinelevel":
            self._level = _to_heading_level(number)

    def _set_paragraph(self, word: bytes, number: int | None) -> None:
        how = self._how
        if word == b"pard":
            self._how = Paragraph()
        elif word == b"s":
            how.style = number or 0
        elif word == b"outlinelevel":
            how.outline = _to_heading_level(number)
        elif word == b"intbl":
            how.in_table = True
        elif word == b"pagebb":
            how.page_before = True

    def _define_row(self, word: bytes, number: int | None) -> None:
        if word == b"trowd":
            self._cells, self._header, self._merged = [], False, False
        elif word == b"trhdr":
            self._header = True
        elif word == b"clvmrg":
            self._merged = True
        elif word == b"cellx":
            self._cells.append(Cell(number or 0, self._merged))
            self._merged = False

    def _end_paragraph(self) -> None:
        if self._state.into == "body":
            if self._how.in_table:
                self._put_text("\n")
            else:
                self._writer.paragraph(self._take_text("body"), self._how, self._take_notes())
        elif self._state.into == "note":
            self._put_text(" ")

    def _take_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes


def _to_heading_level(number: int | None) -> int:
    """A heading level from an outline level, which counts from 0; 9 is text."""
    return (number or 0) + 1 if (number or 0) < 9 else 0
