"""RTF cut into what it is written in: groups, control words, bytes of text. One pass, whatever the
bytes; what is no RTF comes out as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from citewell.ingest.office.word_paragraph import SYMBOLS

_TOKEN = re.compile(
    rb"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? "
    rb"?|'(?P<hex>[0-9a-fA-F]{2})|(?P<sign>[^a-zA-Z]))"
    rb"|(?P<brace>[{}])|(?P<line>[\r\n]+)|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
SYMBOLS_PAGE: Final = "symbols"  # of fonts whose letters are pictures
CODE_PAGES: Final = {  # of a font, by the number of its character set
    2: SYMBOLS_PAGE,
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}


class Token(NamedTuple):
    """`kind`: `{`, `}`, `word` (control word, with number), `sign` or `text`; `data`: bytes."""

    kind: str
    data: bytes
    number: int | None = None


def iterate_tokens(data: bytes) -> Iterator[Token]:
    """The tokens of an RTF file in order; binary data between them is stepped over."""
    at = 0
    while match := _TOKEN.search(data, at):
        at = match.end()
        kind = match.lastgroup
        if kind in {"word", "number"}:
            number = int(match["number"]) if match["number"] else None
            if match["word"] == b"bin":
                at += max(0, number or 0)
            else:
                yield Token("word", match["word"], number)
        elif kind == "brace":
            yield Token(match["brace"].decode(), b"")
        elif kind == "hex":
            yield Token("text", bytes([int(match["hex"], 16)]), 1)
        elif kind == "sign":
            yield Token("sign", match["sign"])
        elif kind == "text":
            yield Token("text", match["text"])


def decode_bytes(data: bytes, page: str) -> str:
    """`data` in a code page; in a font of symbols, the sign that each byte shows."""
    if page == SYMBOLS_PAGE:
        return "".join(
            SYMBOLS.get(f"{byte:02X}") or chr(0xF000 + byte) if byte > 32 else chr(byte)
            for byte in data
        )
    return data.decode(page, errors="replace")


def get_code_page(number: int | None) -> str:
    """Python's name of a Windows code page; Western where there is no such page."""
    import codecs

    if number == 936:
        return "gb18030"
    for name in (f"cp{number}", {10000: "mac_roman", 65001: "utf-8"}.get(number or 0, "")):
        try:
            return codecs.lookup(name).name if name else "cp1252"
        except LookupError:
            continue
    return "cp1252"
